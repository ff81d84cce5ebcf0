"""The built-in bots without a neural network; each module has a factory `make` for `agents.registry`.

From simple to strong: `random`, `tsumogiri`, `efficiency` (a whole compiled bot in one file: start there), `rule`.
"""
