"""The bot `residual`: the bot `rule` with a small network that adds to its action values, learned by playing.

- `features`: the input of the network: the features of `selfplay`, the estimates of `rule`, the rivers (`rivers`), what
  two draws can make of the hand (`draws`), the position kind by kind and what is left of plans (`plans`)
- `bot` plays; `agents.rl` has the network and its training
"""
