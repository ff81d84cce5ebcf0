"""The planes beside the engine's view, at every decision of games."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from agents.bert.encoding import encode
from agents.cnn.planes import (
    ASK_DISCARD,
    ASK_PON,
    ASK_RIICHI,
    DORA,
    HAND,
    MELDS,
    N_TURNS,
    NUKIDORA,
    PER_MOMENT,
    REDS,
    RIICHI,
    RIVERS,
    planes_of,
)
from agents.registry import make
from engine.actions import PON, PON_RED, TSUMOGIRI, actions_of
from engine.actions import RIICHI as RIICHI_ACTION
from engine.table import DORA_AT, KAKAN_MELD, PON_MELD, RIVER_TILE
from engine.tables import Tables
from engine.tiles import DORA_OF, KIND_OF, N_KINDS, NORTH


def moment_of(view: np.ndarray) -> np.ndarray:
    """int64[PER_MOMENT, 34]: the counts that the planes of this decision show, from the view."""
    counts = np.zeros((PER_MOMENT, N_KINDS), dtype=np.int64)
    viewer = int(view["viewer"])
    counts[HAND] = view["seat"][viewer]["hand"]
    for player in range(3):
        seat = view["seat"][(viewer + player) % 3]
        for meld in range(seat["n_melds"]):
            counts[MELDS + player, seat["meld_kind"][meld]] += 3 if seat["meld_type"][meld] == PON_MELD else 4
        for entry in seat["river"][: seat["n_river"]]:
            counts[RIVERS + player, KIND_OF[entry & RIVER_TILE]] += 1
        counts[NUKIDORA + player, NORTH] = seat["nukidora"]
    for tile in view["wall"][DORA_AT[: view["n_indicators"]]]:
        counts[DORA, DORA_OF[KIND_OF[tile]]] += 1
    return np.minimum(counts, 4)


@pytest.mark.slow
def test_planes_are_those_of_the_view_at_every_decision() -> None:
    bots = [make(name, seed=2) for name in ("random", "efficiency", "random")]
    turns: dict[tuple[int, ...], list[np.ndarray]] = defaultdict(list)  # of a seat in a round
    seen = {"kakan": 0, "turns": 0, "indicators": 0}

    def act(views: np.ndarray, seat: int) -> np.ndarray:
        actions = bots[seat].act(views)
        planes, asked = planes_of(encode(views).input_ids)
        counted = planes.astype(np.int64).sum(axis=3)
        for view, count, questions, plane, action in zip(views, counted, asked, planes, actions, strict=True):
            check(view, count, questions, plane, int(action))
        return actions

    def check(view: np.ndarray, count: np.ndarray, questions: np.ndarray, plane: np.ndarray, action: int) -> None:
        viewer = int(view["viewer"])
        now = moment_of(view)
        assert (count[:PER_MOMENT] == now).all()
        assert (np.diff(plane[: PER_MOMENT * (N_TURNS + 1)], axis=2) <= 0).all()  # the first columns of a row
        own = view["seat"][viewer]
        assert count[REDS].sum() == own["red"].sum()
        riichi = [view["seat"][(viewer + player) % 3]["riichi"] > 0 for player in range(3)]
        assert [bool(count[RIICHI + player].any()) for player in (1, 2)] >= riichi[1:]
        legal = actions_of(*view["legal"][viewer].tolist())
        asks = [min(legal) <= TSUMOGIRI, bool({PON, PON_RED} & set(legal)), RIICHI_ACTION in legal]
        assert questions[[ASK_DISCARD, ASK_PON, ASK_RIICHI]].tolist() == asks
        rounds = tuple(int(view[name]) for name in ("round_wind", "dealer", "honba"))
        past = turns[(*rounds, viewer)]
        for back, earlier in enumerate(reversed(past[-N_TURNS:])):
            then = count[PER_MOMENT * (back + 1) : PER_MOMENT * (back + 2)]
            assert (then[MELDS:DORA] == earlier[MELDS:DORA]).all()
            assert (then[DORA] >= earlier[DORA]).all()
            assert (then[HAND] >= earlier[HAND]).all()  # with the tiles drawn since
            if back == 0 and not questions[ASK_DISCARD]:
                assert (then[HAND] == earlier[HAND]).all()
            seen["turns"] += 1
        assert not count[PER_MOMENT * (len(past) + 1) : PER_MOMENT * (N_TURNS + 1)].any()
        if action <= TSUMOGIRI:
            past.append(now)
        seen["kakan"] += int((own["meld_type"] == KAKAN_MELD).any())
        seen["indicators"] += int(view["n_indicators"] > 1)

    policies = [lambda views, seat=seat: act(views, seat) for seat in range(3)]
    for seed in range(16):  # one table at a time: a view does not say which table it is of
        turns.clear()
        for _ in Tables([seed]).play(policies, np.arange(3, dtype=np.int8)[None]):
            pass
    assert min(seen.values()) > 10
