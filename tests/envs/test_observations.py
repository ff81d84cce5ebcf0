"""What the observations hold, beside a plain reading of the views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agents.bert.encoding import encode
from agents.registry import make
from engine import table_kernels
from engine.actions import ANKAN, KAKAN, PASS, TSUMOGIRI, actions_of
from engine.shanten import shanten_of
from engine.table import (
    ANKAN_MELD,
    DORA_AT,
    GAME_OVER,
    MAX_RIVER,
    PON_MELD,
    RESPONSE,
    RIVER_CALLED,
    RIVER_TILE,
    RIVER_TSUMOGIRI,
    TABLE,
)
from engine.tables import Tables
from engine.tiles import DORA_OF, KIND_OF, N_KINDS, SANMA_KINDS
from nukidora.envs.observations import (
    CHANNELS,
    N_CHANNELS,
    OBSERVATIONS,
    SEAT_CHANNELS,
    TABLE_CHANNELS,
    action_masks,
    planes,
    write_views,
)

GAMES, SHARE = 24, 23  # games, and one of how many views is looked at


def play(look: Callable[[Tables, np.ndarray], None], seed: int) -> None:
    """Play games of three different bots, and look at the views of every decision."""
    bots = [make(name, seed=2) for name in ("random", "efficiency", "rule")]
    tables = Tables(range(seed, seed + GAMES))
    players = np.arange(3 * GAMES).reshape(GAMES, 3) % 4 % 3

    def policy(bot: Any) -> Callable[[np.ndarray], np.ndarray]:
        def act(views: np.ndarray) -> np.ndarray:
            look(tables, views)
            actions: np.ndarray = bot.act(views)
            return actions

        return act

    for _ in tables.play([policy(bot) for bot in bots], players):
        pass


def lowest_after(hand: np.ndarray, n_melds: int) -> dict[int, int]:
    """kind -> shanten after its discard."""
    return {int(kind): shanten_of(list(hand - (np.arange(N_KINDS) == kind)), n_melds) for kind in np.flatnonzero(hand)}


def lowering(hand: np.ndarray, n_melds: int) -> list[int]:
    """The kinds that lower the shanten of a hand that is to draw."""
    now = shanten_of(list(hand), n_melds)
    drawn = [int(kind) for kind in SANMA_KINDS if hand[kind] < 4]
    return [kind for kind in drawn if shanten_of(list(hand + (np.arange(N_KINDS) == kind)), n_melds) < now]


def expected_of_table(view: Any) -> dict[str, np.ndarray]:
    """The groups of TABLE_CHANNELS of a view, each float[n, 34]."""
    found = {group.name: np.zeros((group.n, N_KINDS)) for group in TABLE_CHANNELS}
    viewer, own = int(view.viewer), view.seat[int(view.viewer)]
    hand, n_melds = np.array(own.hand, dtype=np.int64), int(own.n_melds)
    legal = [int(action) for action in actions_of(*view.legal[viewer].tolist())]
    unseen = 4 - hand - view.seen
    for kind in SANMA_KINDS:
        found["hand"][: hand[kind], kind] = 1
        found["unseen"][0, kind] = unseen[kind] / 4
    found["red"][0, [13, 22]] = own.red > 0
    if view.drawn >= 0:
        found["drawn"][0, KIND_OF[view.drawn]] = 1
    if view.phase == RESPONSE:
        found["offer"][0, KIND_OF[view.offer]] = 1
    for tile in view.wall[DORA_AT[: view.n_indicators]]:
        found["dora"][0, DORA_OF[KIND_OF[tile]]] += 1 / 4
    found["round_wind"][0, 27 + view.round_wind] = 1
    found["own_wind"][0, 27 + (viewer - view.dealer) % 3] = 1
    for action in legal:
        if action <= TSUMOGIRI:
            found["may_discard"][0, KIND_OF[action if action < TSUMOGIRI else view.drawn]] = 1
        if TSUMOGIRI <= action <= PASS:
            found["may"][action - TSUMOGIRI] = 1
        elif action >= KAKAN:
            found["may_kakan"][0, action - KAKAN] = 1
        elif action >= ANKAN:
            found["may_ankan"][0, action - ANKAN] = 1
    found["shanten"][:] = max(shanten_of(list(hand), n_melds), 0) / 6
    found["waits"][0] = [int(own.waits) >> kind & 1 for kind in range(N_KINDS)]
    found["furiten"][:] = bool(own.temporary_furiten or own.riichi_furiten or int(own.waits) & int(own.discarded))
    if view.phase == RESPONSE:
        found["accepts"][0, lowering(hand, n_melds)] = 1
    elif view.turn == viewer:
        after = lowest_after(hand, n_melds)
        for kind, shanten in after.items():
            if shanten == min(after.values()) and found["may_discard"][0, kind]:
                kept = hand - (np.arange(N_KINDS) == kind)
                tiles = sum(unseen[other] for other in lowering(kept, n_melds))
                found["keeps"][0, kind], found["ukeire"][0, kind] = 1, min(tiles / 40, 1)
    found["progress"][:] = min((3 * view.round_wind + view.dealer) / 6, 1)
    found["honba"][:], found["sticks"][:] = min(view.honba / 10, 1), min(view.sticks / 10, 1)
    found["draws"][:] = view.live_left / 55
    return found


def expected_of_seat(view: Any, seat: int) -> dict[str, np.ndarray]:
    """The groups of SEAT_CHANNELS of a seat."""
    found = {group.name: np.zeros((group.n, N_KINDS)) for group in SEAT_CHANNELS}
    p = view.seat[seat]
    for kind, meld, red in list(zip(p.meld_kind.tolist(), p.meld_type.tolist(), p.meld_red.tolist()))[: p.n_melds]:
        found["pon" if meld == PON_MELD else "ankan" if meld == ANKAN_MELD else "kan"][0, kind] = 1
        found["meld_red"][0, kind] = max(red, found["meld_red"][0, kind])
    copies = [0] * N_KINDS
    for turn, entry in enumerate(p.river[: p.n_river].tolist()):
        kind = int(KIND_OF[entry & RIVER_TILE])
        found["discarded"][0, kind] = 1
        found["river"][copies[kind], kind] = (turn + 1) / MAX_RIVER
        found["tsumogiri"][copies[kind], kind] = bool(entry & RIVER_TSUMOGIRI)
        found["river_red"][0, kind] = max(found["river_red"][0, kind], entry & RIVER_TILE >= 34)
        found["called"][0, kind] = max(found["called"][0, kind], bool(entry & RIVER_CALLED))
        if p.riichi and turn == p.riichi_river:
            found["riichi_tile"][0, kind] = 1
        copies[kind] += 1
    constants = {
        "nukidora": p.nukidora / 4,
        "riichi": p.riichi > 0,
        "ippatsu": p.ippatsu,
        "dealer": seat == view.dealer,
    }
    for name, value in (constants | {"score": np.clip(p.score / 105_000, -1, 1)}).items():
        found[name][:] = value
    return found


@pytest.mark.slow
def test_the_planes_are_those_of_the_view() -> None:
    ever = np.zeros(N_CHANNELS, dtype=bool)
    count = 0

    def look(tables: Tables, views: np.ndarray) -> None:
        nonlocal count
        found = planes(views)
        ever[:] |= (found != 0).any(axis=(0, 2))
        for view, x in zip(views, found, strict=True):
            count += 1
            if count % SHARE:
                continue
            for name, expected in expected_of_table(view).items():
                np.testing.assert_allclose(x[CHANNELS[name]], expected, atol=1e-6, err_msg=name)
            for player in range(3):
                for name, expected in expected_of_seat(view, (int(view.viewer) + player) % 3).items():
                    np.testing.assert_allclose(x[CHANNELS[f"{name} {player}"]], expected, atol=1e-6, err_msg=name)

    play(look, 100)
    assert count > 5_000
    rare = {f"{name} {player}" for name in ("kan", "ankan", "meld_red", "river", "tsumogiri") for player in range(3)}
    never = {name for name, part in CHANNELS.items() if not ever[part].all()}
    assert never - rare <= {"may", "may_kakan"}  # kyushu kyuhai, and what needs luck


def test_channels_are_numbered_without_a_gap() -> None:
    covered = sorted(channel for part in CHANNELS.values() for channel in range(part.start, part.stop))
    assert covered == list(range(N_CHANNELS))


def test_masks_are_the_legal_actions() -> None:
    def look(tables: Tables, views: np.ndarray) -> None:
        for view, mask in zip(views, action_masks(views), strict=True):
            assert np.flatnonzero(mask).tolist() == actions_of(*view.legal[view.viewer].tolist())

    play(look, 200)


def test_the_mask_of_a_game_that_is_over_allows_pass_alone() -> None:
    tables = Tables(range(3))
    bot = make("random")
    for _ in tables.play([bot.act], np.zeros((3, 3), dtype=np.int8)):
        pass
    assert (tables.records["phase"] == GAME_OVER).all()
    views = np.zeros(3, dtype=TABLE)
    write_views(tables.raw, np.arange(3, dtype=np.int8), views.view(np.uint8))
    assert [np.flatnonzero(mask).tolist() for mask in action_masks(views)] == [[PASS]] * 3
    assert all(np.isfinite(row.encode(views)).all() for row in OBSERVATIONS.values())


def test_views_are_those_of_the_engine() -> None:
    seats = np.arange(5, dtype=np.int8) % 3
    tables, views, expected = Tables(range(5)), np.zeros(5, dtype=TABLE), np.zeros(5, dtype=TABLE)
    write_views(tables.raw, seats, views.view(np.uint8))
    for i, seat in enumerate(seats.tolist()):
        table_kernels.write_view(tables.raw, i, seat, expected.view(np.uint8), i)
    assert views.tobytes() == expected.tobytes()
    assert OBSERVATIONS["view"].encode(views).tobytes() == views.tobytes()
    assert (OBSERVATIONS["tokens"].encode(views) == encode(views).input_ids).all()


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_are_of_the_stated_shape_and_within_bounds(name: str) -> None:
    row = OBSERVATIONS[name]

    def look(tables: Tables, views: np.ndarray) -> None:
        before = views.tobytes()
        found = row.encode(views)
        assert (found.shape, found.dtype) == ((len(views), *row.shape), row.dtype)
        assert row.low <= found.min() <= found.max() <= row.high
        assert views.tobytes() == before

    play(look, 400)
