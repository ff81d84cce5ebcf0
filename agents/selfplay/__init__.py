"""The bot `selfplay`: a small network that started at random and learned from games against itself.

- `features`: what the network sees of a position and of each legal action
- `bot` plays; `agents.rl` has the network and its training
"""
