"""The decisions of a seat in a recorded game, with the options that it had."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from engine.actions import (
    ANKAN,
    DAIMINKAN,
    KYUSHU_KYUHAI,
    N_ACTIONS,
    NUKIDORA,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
    require_actions,
)
from engine.mjai.kinds import sort_tiles
from engine.mjai.messages import Message, hand_names, tile_name
from engine.records.model import GameRecord
from engine.records.replay import Replay
from engine.shanten import shanten_batch
from engine.table import N_SEATS, TABLE

# Kind of a decision -> the actions of which one is legal; the first that fits. All others are about a discard.
KINDS: dict[str, frozenset[int]] = {
    "win": frozenset({TSUMO, RON}),
    "abort": frozenset({KYUSHU_KYUHAI}),
    "riichi": frozenset({RIICHI}),
    "kan": frozenset(range(ANKAN, N_ACTIONS)),  # each ankan, then each kakan
    "nukidora": frozenset({NUKIDORA}),
    "call": frozenset({PON, PON_RED, DAIMINKAN}),
}
DISCARD_KIND = "discard"
require_actions(
    "KINDS of agents/review/decisions.py", {PASS, *(each for kind in KINDS.values() for each in kind if each < ANKAN)}
)

Option = tuple[int, ...]  # actions that have the same effect: a tile discarded from the hand, and the same tile drawn


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision with more than one option."""

    message: int  # index of the event after which the seat decides
    round: int  # from 0
    turn: int  # of the seat, from 1: one more than the tiles it has discarded
    kind: str  # one of KINDS, or DISCARD_KIND
    shanten: int  # of the hand, with the tile just drawn
    action: int  # that was played
    options: tuple[Option, ...]


@dataclass(frozen=True)
class SeatDecisions:
    """The decisions of a seat, in order, and what it saw."""

    record: GameRecord
    names: tuple[str, str, str]
    seat: int
    decisions: list[Decision]
    views: np.ndarray  # TABLE[n]: of each decision
    problems: list[str]  # where the record departs from the rules: the rest of such a round is left out


def seat_decisions(record: GameRecord, seat: int) -> SeatDecisions:
    """Replay a game. Raises RecordError if the record is incomplete."""
    starts = [index for index, event in enumerate(record.events) if event["type"] == "start_kyoku"]
    found: list[Decision] = []
    views: list[np.record] = []
    replay = Replay(record)
    for each in replay:
        if each.seat != seat or record.is_handed_over(seat, each.n_before):
            continue
        legal, view = each.legal, each.view
        options = options_of(view, legal)
        if len(options) > 1:
            views.append(view)
            found.append(
                Decision(
                    message=each.n_before - 1,
                    round=bisect_right(starts, each.n_before - 1) - 1,
                    turn=int(view["seat"][seat]["n_river"]) + 1,
                    kind=kind_of(legal),
                    shanten=shanten_of_viewer(view),
                    action=int(each.action),
                    options=options,
                )
            )
    names = names_of(record.events[0])
    return SeatDecisions(
        record, names, seat, found, np.array(views, dtype=TABLE), [each.line for each in replay.mismatches]
    )


def options_of(view: np.record, legal: list[int]) -> tuple[Option, ...]:
    """The legal actions, those with the same effect together."""
    options: dict[int, Option] = {}
    for action in map(int, legal):
        effect = int(view["drawn"]) if action == TSUMOGIRI else action
        options[effect] = (*options.get(effect, ()), action)
    return tuple(options.values())


def kind_of(legal: list[int]) -> str:
    """What a decision with these legal actions is about."""
    return next((kind for kind, actions in KINDS.items() if actions.intersection(legal)), DISCARD_KIND)


def shanten_of_viewer(view: np.record) -> int:
    """Shanten of the viewer's hand, with the tile just drawn."""
    own = view["seat"][view["viewer"]]
    return int(shanten_batch(np.array([own["hand"]]), np.array([own["n_melds"]]))[0])


def hand_of_viewer(view: np.record) -> list[str]:
    """The tiles of the viewer's concealed hand in order; the one just drawn is the last."""
    own, drawn = view["seat"][view["viewer"]], int(view["drawn"])
    return sort_tiles(hand_names(own, drawn)) + ([tile_name(drawn)] if drawn >= 0 else [])


def names_of(start_game: Message) -> tuple[str, str, str]:
    """The names of the players; those that the record does not tell are ``seat 0`` and so on."""
    names = [str(name) for name in start_game.get("names") or []][:N_SEATS]
    first, second, third = (name or f"seat {seat}" for seat, name in enumerate(names + [""] * (N_SEATS - len(names))))
    return first, second, third
