"""The analysis of a position: the hand after each discard, its waits and wins, and the bots' values of each action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from agents.analyse.discards import Hand, Look
from agents.analyse.wins import Scorer, Wait, Win
from agents.base import Agent
from agents.review.decisions import kind_of, options_of
from agents.review.opinions import RatedOption, check_reviewer, rated_options, values_of
from agents.review.review import Json, round_to_digits
from engine.mjai.actions import action_message
from engine.positions.position import Position
from engine.positions.views import Placed, place
from engine.rules import preset
from engine.scoring.yaku import YAKU
from engine.tiles import MJAI_NAMES

MJAI_YAKU = {yaku.name: yaku.mjai for yaku in YAKU}


@dataclass(frozen=True)
class Analysed:
    """A hand between two draws, with its waits."""

    hand: Hand
    waits: list[Wait]
    furiten: bool


@dataclass(frozen=True)
class Analysis:
    """What is known of a position, and what bots think of it."""

    position: Position
    placed: Placed
    kind: str  # of the decision, see `agents.review.decisions`
    shanten: int  # of the hand as it is, with the tile just drawn
    win: Win | None  # that may be taken now
    hands: list[Analysed]  # after each discard; the hand as it is where it answers another seat's tile
    opinions: dict[str, list[RatedOption]]  # by bot: best first

    def as_json(self) -> Json:
        """The analysis as it is written; docs/web.md has its keys."""
        return {
            "position": self.position.as_json(),
            "seat": self.position.viewer,
            "messages": self.placed.messages,
            "left": int(self.placed.view["live_left"]),
            "kind": self.kind,
            "shanten": self.shanten,
            "win": None if self.win is None else win_json(self.win),
            "hands": [self._hand_json(hand) for hand in self.hands],
            "bots": [
                {"bot": bot, "actions": [self._action_json(option) for option in options]}
                for bot, options in self.opinions.items()
            ],
        }

    def _hand_json(self, of: Analysed) -> Json:
        hand = of.hand
        return {
            "discard": MJAI_NAMES[hand.tile] if hand.tile >= 0 else None,
            "shanten": hand.shanten,
            "ukeire": {MJAI_NAMES[kind]: left for kind, left in hand.ukeire.items()},
            "left": hand.left,
            "danger": round_to_digits(hand.danger, 4),
            "furiten": of.furiten,
            "waits": [
                {"tile": MJAI_NAMES[wait.kind], "left": wait.left, "wins": [win_json(win) for win in wait.wins]}
                for wait in of.waits
            ],
        }

    def _action_json(self, option: RatedOption) -> Json:
        view = self.placed.view
        return {
            "action": action_message(view, int(view["viewer"]), option.action),
            "value": round_to_digits(option.value, 6),
            "prob": round_to_digits(option.probability, 4),
        }


def win_json(win: Win) -> Json:
    """A win, its yaku by their names in mjai."""
    score = win.score
    return {
        "tsumo": win.tsumo,
        "riichi": win.riichi,
        "yakus": [[MJAI_YAKU[name], han] for name, han in score.yaku.items()],
        "fan": score.han,
        "fu": score.fu,
        "yakuman": score.yakuman,
        "points": score.points,
        "payments": [*score.payments],
    }


def analyse(position: Position, bots: Mapping[str, Agent]) -> Analysis:
    """Analyse a position. Bots are asked only where there is a choice.

    Raises PositionError, ValueError for a bot without action values, BotFailedError.
    """
    for spec, bot in bots.items():
        check_reviewer(bot, spec)
    placed = place(position)
    view, legal = placed.view, placed.legal
    look, scorer = Look(view, legal), Scorer(view, legal, preset(position.rules))
    hands = look.discards or [look.as_it_is()]
    options = options_of(view, legal)
    opinions: dict[str, list[RatedOption]] = {}
    for spec, bot in bots.items() if len(options) > 1 else ():
        (values,) = values_of(bot, spec, np.array([view]))
        opinions[spec] = rated_options(bot, spec, options, values)
    return Analysis(
        position,
        placed,
        kind_of(legal),
        look.shanten,
        scorer.now(look),
        [Analysed(hand, scorer.waits(hand), hand.shanten == 0 and scorer.furiten(hand)) for hand in hands],
        opinions,
    )
