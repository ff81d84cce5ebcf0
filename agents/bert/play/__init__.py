"""``python -m agents.bert.play``: a network at a server, with the command line of wahaha; see `cli`."""
