"""Analyses: what can be said about one position, and what bots think of it.

`discards` looks at the hand after each discard, `wins` scores what it can win on, `analysis` puts both together with
the values that bots give to the actions, and `report` prints it. `running` does all of it, as the options of `cli` say;
the server does the same for its page.
"""
