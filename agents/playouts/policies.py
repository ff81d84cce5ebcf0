"""The compiled policies that play playouts. They see whole tables, but read only what the acting seat may know."""

from __future__ import annotations

import numpy as np

from agents.base import Agent
from agents.bots.rule.bot import choose as rule_action
from agents.bots.rule.context import CONTEXT as RULE_CONTEXT
from agents.linear.context import CONTEXT as LINEAR_CONTEXT
from agents.linear.context import MENU
from agents.linear.kernels import evaluate
from agents.linear.weights import BUNDLED, load_weights
from agents.playouts.quick import choose as quick_action
from agents.playouts.quick import make as make_quick
from agents.registry import make
from engine.compiling import inner
from engine.table import record

# Name -> number, from the strongest to the fastest. `linear` plays with the bundled weights.
POLICIES = {"rule": 0, "linear": 1, "quick": 2}
RULE, QUICK = POLICIES["rule"], POLICIES["quick"]

SCRATCH = record(
    [
        ("rule", RULE_CONTEXT),
        ("linear", LINEAR_CONTEXT),
        ("menu", "i8", MENU),
        ("values", "f8", MENU),
    ]
)


def policy_bot(policy: str) -> Agent:
    """The bot that plays as a policy of POLICIES does."""
    return make_quick(None, 0) if policy == "quick" else make(policy)


def linear_weights() -> np.ndarray:
    """The weights of the bot `linear`, float64[N_FEATURES]."""
    return load_weights(str(BUNDLED / "linear.json")).values


@inner
def choose(t: np.record, policy: int, weights: np.ndarray, scratch: np.record) -> int:
    """The action of the viewer by a policy of POLICIES; `weights` are those of `linear`."""
    if policy == RULE:
        return rule_action(t, scratch.rule)
    if policy == QUICK:
        return quick_action(t, scratch.linear)
    count = evaluate(t, scratch.linear, weights, scratch.menu, scratch.values)
    return scratch.menu[np.argmax(scratch.values[:count])]
