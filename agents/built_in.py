"""The built-in bots: what makes them, how they came to be, and how strong they are."""

from __future__ import annotations

from typing import NamedTuple


class BuiltIn(NamedTuple):
    """A built-in bot."""

    factory: str  # as an entry point names it: `agents.base.Factory`
    origin: str  # how it was made, in Markdown
    rating: int | None  # points, that of docs/ladder.md; None for one that has not played there
    slow: bool  # tens of milliseconds a decision: the ladder leaves it out, and only flags of the server may name it


BUILT_IN = {
    "random": BuiltIn("agents.bots.random:make", "a random legal action", -513, slow=False),
    "tsumogiri": BuiltIn("agents.bots.tsumogiri:make", "discards what it draws", -507, slow=False),
    "efficiency": BuiltIn(
        "agents.bots.efficiency:make", "lowest shanten, then highest ukeire; written by hand", 40, slow=False
    ),
    "rule": BuiltIn(
        "agents.bots.rule:make", "speed, value and danger of every action; written by hand", 120, slow=False
    ),
    "yaku": BuiltIn(
        "agents.bots.yaku:make",
        "a search for the hand to go for; how often hands are won was measured in self-play",
        7,
        slow=False,
    ),
    "linear": BuiltIn(
        "agents.linear.bot:make_linear",
        "a weighted sum of features, learned from games of a better bot (`experiments/linear.sh`)",
        94,
        slow=False,
    ),
    "softmax": BuiltIn(
        "agents.linear.bot:make_softmax",
        "the features of `linear` as a policy, learned by its gradient (`experiments/linear.sh`)",
        33,
        slow=False,
    ),
    "bert": BuiltIn(
        "agents.bert:make",
        "a transformer, learned from `rule`, rollouts, `residual`, `ensemble` and people"
        " (`experiments/bundled_network.sh`)",
        154,
        slow=False,
    ),
    "human": BuiltIn(
        "agents.human:make",
        "the network of `bert`, which imitates people of Tenhou's phoenix room (`experiments/human.sh`)",
        143,
        slow=False,
    ),
    "cnn": BuiltIn(
        "agents.cnn:make", "convolution over tiles, imitates a better bot (`experiments/cnn.sh`)", -2, slow=False
    ),
    "selfplay": BuiltIn(
        "agents.selfplay.bot:make",
        "a small network that began at random and played itself (`experiments/selfplay.sh`)",
        120,
        slow=False,
    ),
    "residual": BuiltIn(
        "agents.residual.bot:make",
        "`rule` and a small network on top, learned by games and from people (`experiments/distil_ensemble.py`)",
        154,
        slow=False,
    ),
    "ensemble": BuiltIn(
        "agents.ensemble:make",
        "the action that `human` and a network of `residual` find most probable together",
        157,
        slow=False,
    ),
    "search": BuiltIn(
        "agents.search.bot:make",
        "tries what `residual` considers in sampled worlds, by a critic that sees all hands and by playouts",
        None,
        slow=True,
    ),
}
