"""The vector environment beside RiichiEnv's environment."""
