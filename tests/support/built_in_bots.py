"""The names of the bots that come along, in the order of `agents.registry` (which takes seconds to import)."""

BOTS = ("random", "tsumogiri", "efficiency", "rule", "yaku", "linear", "softmax", "bert", "cnn", "selfplay", "residual")
