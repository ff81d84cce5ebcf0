"""The cost of the web pages: for those who open them, and for the games that are watched."""
