"""The bot `residual`: the bot `rule` with a small network that adds to its action values, learned by playing.

- `features`: what the network sees: the features of `selfplay`, and what `rule` thinks; `rivers`: and the rivers;
  `draws`: and what two draws can make of the hand
- `bot` plays; `agents.rl` has the network and its training
"""
