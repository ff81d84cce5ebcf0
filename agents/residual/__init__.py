"""The bot `residual`: the bot `rule` with a small network that adds to its action values, learned by playing.

- `features`: the input of the network: the features of `selfplay`, the estimates of `rule`, the rivers (`rivers`), and
  what two draws can make of the hand (`draws`)
- `bot` plays; `agents.rl` has the network and its training
"""
