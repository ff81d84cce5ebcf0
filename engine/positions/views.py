"""The view of a position: made by the messages that lead there, or laid out in the middle of a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import table_kernels
from engine.actions import ACTIONS, N_ACTIONS
from engine.common.error_text import error_text
from engine.mjai.messages import Message
from engine.positions.history import replayed, told
from engine.positions.middle import check_own, laid_out
from engine.positions.notation import CALLS, NUKIDORA, PositionError, Step
from engine.positions.position import Position, check_copies
from engine.tiles import NORTH, WINDS, wind_text


@dataclass(frozen=True)
class Placed:
    """A position as its seat sees it."""

    view: Any  # TABLE record
    legal: list[int]  # actions
    messages: list[Message]  # that lead there, canonical, as the seat was sent them; none where rivers are not known


def place(position: Position) -> Placed:
    """The view of a position. Raises PositionError, which names the field, for one that cannot be."""
    check(position)
    if position.has_rivers:
        state, messages = replayed(position)
        view, legal = state.view, state.legal
        if position.left not in (None, int(view["live_left"])):
            why = "these rivers leave {n} draws; leave it out"
            raise PositionError("left", error_text("left_told", why, n=int(view["live_left"])))
    else:
        view, messages = laid_out(position), []
        legal = legal_of(view)
    if not legal:
        why = "{seat} has nothing to decide here: it may not call or win on that tile"
        raise PositionError("hand", error_text("nothing_to_decide", why, seat=wind_text(position.seat)))
    return Placed(view, legal, messages)


def check(position: Position) -> None:
    """Raise PositionError for what is wrong with the texts and the numbers of tiles.

    That is quick, for it needs no compiled functions; what these find, such as a riichi without tenpai, only `place`
    tells.
    """
    check_tiles(position)
    if not position.has_rivers:
        check_own(position)
        return
    if position.melds or position.norths:
        where = "melds" if position.melds else "norths"
        why = "with rivers, calls and norths stand where they were made in them (P5s, N)"
        raise PositionError(where, error_text("rivers_tell", why))
    told(position)


def check_tiles(position: Position) -> None:
    """Raise PositionError where more tiles of a kind are seen than there are."""
    steps = position.steps  # first: what cannot be read
    parts = {"hand": position.tiles, "dora": position.indicators}
    for wind, river in zip(WINDS, steps, strict=True):
        parts[f"river of {wind}"] = [tile for step in river for tile in shown_tiles(step)]
    parts["melds"] = [tile for step in position.own_melds for tile in step.tiles]
    parts["norths"] = [NORTH] * position.norths
    check_copies(parts)


def shown_tiles(step: Step) -> tuple[int, ...]:
    """The tiles that a step shows, without those that another river has: a called tile."""
    if step.what in CALLS:
        return step.tiles[1:]
    return step.tiles if step.what != NUKIDORA else (NORTH,)


def legal_of(view: Any) -> list[int]:
    """The legal actions of the viewer, ascending."""
    menu = np.zeros(N_ACTIONS, dtype=np.int64)
    raw = np.frombuffer(view.tobytes(), dtype=np.uint8).copy()
    n = table_kernels.legal_actions(raw, 0, int(view["viewer"]), menu)
    legal: list[int] = ACTIONS[menu[:n]].tolist()
    return legal
