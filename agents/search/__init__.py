"""The bot `search`: Monte Carlo search over sampled worlds.

- `worlds` samples hidden hands and walls that fit what a seat sees; `tiles` has the features of its model of discards
- `model`: the weights of that model and their file; `fit` fits them to games (``python -m agents.search fit``)
- `tree`: the search of one decision; `bot` plays
"""
