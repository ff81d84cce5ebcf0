"""Games as one seat receives them over mjai, with what the engine says of each question: for the pages' own rules."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from agents.base import Agent
from agents.registry import make
from engine.actions import RON, TSUMO
from engine.game import Game
from engine.mjai.actions import action_message
from engine.mjai.messages import Message
from engine.mjai.possible_actions import possible_actions, safe_default
from engine.rules import preset
from engine.tiles import MJAI_NAMES, N_KINDS
from tests.support.views import unseen

BOTS = ("rule", "efficiency", "random", "rule", "tsumogiri")
DECLINED = 0.7  # of the wins, so that there is furiten


@cache
def seat_questions(seed: int, rules: str) -> list[list[Message]]:
    """A game between three of BOTS, as each seat receives it. Questions have ``can_act``, and the engine's answers.

    These are under ``expected``: legal ``replies``, ``waits``, how many of each are ``unseen``, ``temporary`` and
    ``riichi`` (furiten), ``discarded`` (a wait has been discarded).
    """
    game = Game(seed, preset(rules, "east"))
    bots = [make(BOTS[(seed + seat) % len(BOTS)], seed) for seat in range(3)]
    rng = random.Random(seed)
    seen: list[list[Message]] = [[], [], []]
    while True:
        asked = game.asked
        for seat in range(3):
            seen[seat] += _received(game, seat, game.legal(seat) if seat in asked else [])
        if game.over:
            return seen
        chosen = [(seat, _choice(game, seat, bots[seat], rng)) for seat in asked]
        for seat, action in chosen:
            if seat in game.asked:
                game.act(seat, action)


def _choice(game: Game, seat: int, bot: Agent, rng: random.Random) -> int:
    """What a bot plays, but it declines most wins."""
    action = int(bot.act(np.array([game.view(seat)]))[0])
    declines = action in (RON, TSUMO) and rng.random() < DECLINED
    return safe_default(game.legal(seat)) if declines else action


def _received(game: Game, seat: int, legal: list[int]) -> Iterator[Message]:
    fresh = game.new_messages(seat)
    for number, message in enumerate(fresh, 1):
        asked = legal if number == len(fresh) else []
        yield (
            message
            | possible_actions(game.table, seat, message, asked)
            | ({"can_act": True, "expected": _expected(game, seat, asked)} if asked else {})
        )


def _expected(game: Game, seat: int, legal: list[int]) -> dict[str, Any]:
    view = game.view(seat)
    own = view.seat[seat]
    waits = int(own.waits)
    return {
        "replies": [action_message(view, seat, action) for action in legal],
        "waits": [MJAI_NAMES[kind] for kind in range(N_KINDS) if waits >> kind & 1],
        "unseen": [unseen(view, kind) for kind in range(N_KINDS) if waits >> kind & 1],
        "temporary": bool(own.temporary_furiten),
        "riichi": bool(own.riichi_furiten),
        "discarded": bool(waits & int(own.discarded)),
    }
