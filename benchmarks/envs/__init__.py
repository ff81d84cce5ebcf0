"""The vector environment compared with RiichiEnv's environment."""
