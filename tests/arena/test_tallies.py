"""The statistics of `arena.tallies`: recounted from saved games, additive, and computed from their counts."""

from __future__ import annotations

import gzip
import json
import re
import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arena.bot_games import COUNTS, BotGames
from arena.chunk import ChunkResult, play_chunk
from arena.columns import as_json
from arena.observers import Fault
from arena.recorder import file_name
from arena.results import Results
from arena.schedule import RunSettings, games_of
from arena.statistic import median
from arena.stopping import Until
from arena.tallies.counts import BLOCKS, HISTOGRAMS, INDEX, N_TALLIES, block
from arena.tallies.labels import SHAPES
from arena.tallies.observer import pack, unpack
from engine.compiling import kernel
from engine.hand import has_kind
from engine.shanten import hand_keys, waits
from engine.statistics import waits as wait_shapes
from engine.statistics.waits import shape_of
from engine.tiles import KIND_OF, MJAI_NAMES, N_KINDS, mpsz
from tests.conftest import Scale
from tests.support import plain_statistics
from tests.support.arena_runs import last_update
from tests.support.plain_statistics import recount

# Bots, rules, and how many of 500 games.
MATCHES = [
    (("rule", "efficiency", "yaku"), "tenhou", 0.5),
    (("random", "softmax", "rule"), "majsoul", 0.25),
    (("random", "random", "tsumogiri"), "tenhou", 0.25),
]
N_GAMES = {"quick": 48, "long": 504}
# A statistic, what it counts, and of what it is the share or the mean.
RATES = [
    *((f"{name}_rate", f"{name}s", "rounds") for name in ("win", "tsumo", "deal_in", "riichi", "call", "draw")),
    ("riichi_win_rate", "riichi_wins", "riichis"),
    ("nukidora", "nukidora", "rounds"),
    ("win_points", "win_points", "wins"),
    ("deal_in_points", "deal_in_points", "deal_ins"),
]
# What does not happen in 500 games for sure.
RARE = re.compile(r"wins_by_yaku|kazoe|four_kan|nagashi|by_shape|furiten|double|yakumans|games_by_places.[13]_to_[31]")


def chunk_of(settings: RunSettings, walls: list[int], folder: Path | None = None) -> ChunkResult:
    return last_update(play_chunk(settings, settings.make_bots(), walls, folder))


def recounted(settings: RunSettings, folder: Path) -> list[list[Counter[str]]]:
    """What is counted for each bot at each seat, from the saved games."""
    counts = [[Counter[str]() for _ in range(3)] for _ in range(3)]
    for game in games_of(settings, range(settings.n_walls)):
        text = gzip.decompress((folder / file_name(game)).read_bytes()).decode()
        for seat, own in enumerate(recount([json.loads(line) for line in text.splitlines()])):
            counts[game.seats[seat]][seat].update(own)
    return counts


def tallied(games: BotGames) -> dict[str, int]:
    """Everything that was counted for a bot, by the names of `tests.support.plain_statistics`; zeros are left out."""
    found = {name: games.total(name) for name in (*COUNTS, *INDEX)}
    for name, values in HISTOGRAMS.items():
        found |= {f"{name}.{value}": int(n) for value, n in zip(values, block(games.tallied, name), strict=True)}
    return {name: n for name, n in found.items() if n}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bots", "rules", "share"), MATCHES, ids=lambda value: "+".join(value) if isinstance(value, tuple) else str(value)
)
def test_a_slow_recount_of_saved_games_agrees_in_every_count(
    bots: tuple[str, str, str], rules: str, share: float, scale: Scale, tmp_path: Path
) -> None:
    settings = RunSettings(bots, int(N_GAMES[scale] * share) // 3 * 3, 11, rules, "hanchan")
    results = Results(settings, [bot.label for bot in settings.make_bots()])
    results.add(chunk_of(settings, list(range(settings.n_walls)), tmp_path))
    seen: set[str] = set()
    for games, at_seats in zip(results.by_bot(), recounted(settings, tmp_path), strict=True):
        expected: Counter[str] = Counter()
        for own in at_seats:
            expected.update(own)
        assert tallied(games) == {name: n for name, n in expected.items() if n}
        seen |= tallied(games).keys()
        row = as_json(games)
        for key, count, of in RATES:
            assert row[key] == (pytest.approx(expected[count] / expected[of]) if expected[of] else None), key
        for seat, own in zip(("east", "south", "west"), at_seats, strict=True):
            assert row[f"win_rate_{seat}"] == pytest.approx(own["wins"] / own["rounds"])
            assert row[f"deal_in_rate_{seat}"] == pytest.approx(own["deal_ins"] / own["rounds"])
            assert row[f"score_{seat}"] == pytest.approx(own["score"] / settings.n_walls)
            first = sum(n for name, n in own.items() if re.fullmatch(r"games_by_places\.._to_1", name))
            assert row[f"first_{seat}"] == pytest.approx(first / settings.n_walls)
    if scale == "long" and bots[0] == "rule":
        assert [name for name in INDEX if name not in seen and not RARE.search(name)] == ["daiminkans"]


def test_every_block_is_named_place_by_place_or_a_histogram() -> None:
    assert {*HISTOGRAMS, *(name.partition(".")[0] for name in INDEX if "." in name)} == BLOCKS.keys()


def test_shapes_are_named_in_the_order_of_their_numbers() -> None:
    assert [getattr(wait_shapes, shape.upper()) for shape in SHAPES] == list(range(len(SHAPES)))


def test_tallies_add_up_over_chunks_and_walls() -> None:
    settings = RunSettings(("rule", "efficiency", "random"), 18, 3, "tenhou", "east")
    whole = chunk_of(settings, list(range(6)))
    parts = [chunk_of(settings, walls) for walls in ([4, 1], [0, 2, 3, 5])]
    assert whole.tallies is not None
    assert whole.tallies.shape == (1, 3, N_TALLIES)
    assert np.array_equal(whole.tallies, sum(part.tallies for part in parts if part.tallies is not None))
    by_wall = chunk_of(replace(settings, stop=Until(0.01)), list(range(6))).tallies
    assert by_wall is not None
    assert by_wall.shape == (6, 3, N_TALLIES)
    assert np.array_equal(by_wall.sum(axis=0, keepdims=True), whole.tallies)


def test_a_run_that_stops_within_a_chunk_has_the_statistics_of_its_walls() -> None:
    settings = RunSettings(("rule", "efficiency", "random"), 18, 3, "tenhou", "east", stop=Until(0.01))
    results = [Results(settings, list(settings.bots)) for _ in range(2)]
    results[0].add(chunk_of(settings, list(range(6))))
    results[0].drop_after(4)
    results[1].add(chunk_of(settings, list(range(4))))
    rows = [[as_json(games) for games in each.by_bot()] for each in results]
    assert rows[0] == rows[1]


def test_a_run_that_stops_within_a_chunk_has_the_failures_on_its_walls() -> None:
    settings = RunSettings(("rule", "efficiency", "random"), 18, 3, "tenhou", "east", stop=Until(0.01))
    results = Results(settings, list(settings.bots))
    faults = [Fault(1, wall, 0, 2, "late") for wall in range(6)]
    results.add(ChunkResult(list(range(6)), np.zeros((6, 3, 3, len(COUNTS)), np.int32), 0, faults))
    results.drop_after(4)
    assert results.finished == [0, 1, 2, 3]
    assert results.faults == [("efficiency", faults[:4])]


def test_the_tallies_of_many_chunks_take_no_more_memory_than_those_of_one() -> None:
    settings = RunSettings(("rule", "efficiency", "random"), 900, 3, "tenhou", "east", control_variates=False)
    results = Results(settings, list(settings.bots))
    counts, tallies = np.ones((1, 3, 3, len(COUNTS)), np.int32), np.ones((1, 3, N_TALLIES), np.int32)
    tracemalloc.start()
    for wall in range(300):
        results.add(ChunkResult([wall], counts, 0, tallies=tallies))
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 100_000
    assert results.by_bot()[0].tallied.tolist() == [300] * N_TALLIES


def test_packed_tallies_are_short_and_come_back() -> None:
    tallies = np.zeros((86, 3, N_TALLIES), dtype=np.int32)
    tallies[3, 1, 7] = -1_000_000
    assert np.array_equal(unpack(pack(tallies)), tallies)
    assert len(pack(tallies)) < tallies.nbytes / 500
    for damaged in ("", "no tallies", pack(tallies)[:-5], pack(tallies[..., :-1]), 7):
        with pytest.raises((ValueError, TypeError)):
            unpack(damaged)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("histogram", "expected"),
    [([0, 0, 0], None), ([1, 0, 0], 10.0), ([1, 0, 1], 20.0), ([1, 1, 0], 15.0), ([5, 1, 3], 10.0), ([0, 2, 9], 30.0)],
)
def test_medians(histogram: list[int], expected: float | None) -> None:
    assert median(np.array(histogram), [10, 20, 30]) == expected


# Waits ---------------------------------------------------------------------------------------------------------------


@kernel("int8[::1], int32[::1], int64")
def compiled_shape(hand: np.ndarray, keys: np.ndarray, n_melds: int) -> int:
    hand_keys(hand, keys)
    kinds = np.uint64(waits(hand, keys, n_melds))
    n = np.int64(0)
    for kind in range(N_KINDS):
        n += 1 if has_kind(kinds, kind) else 0
    return shape_of(hand, keys, n_melds, kinds, n)


def shapes(text: str, n_melds: int = 0) -> set[str]:
    """The shape of a wait, compiled and in plain Python."""
    kinds = [int(KIND_OF[tile]) for tile in mpsz(text)]
    counts = np.bincount(kinds, minlength=N_KINDS).astype(np.int8)
    hand = Counter(MJAI_NAMES[kind] for kind in kinds)
    compiled = compiled_shape(counts, np.zeros(3, dtype=np.int32), n_melds)
    return {list(SHAPES)[compiled], plain_statistics.shape_of(hand, plain_statistics.waits_of(hand))}


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("123456p45s77z111s", "ryanmen"),
        ("123456p46s77z111s", "kanchan"),
        ("123456p12s77z999s", "penchan"),
        ("123456p89s77z111s", "penchan"),
        ("123456p5577s111z", "shanpon"),
        ("123456p111222z9s", "tanki"),
        ("1122p3344s5566z7z", "tanki"),  # seven pairs
        ("19m19p19s1234567z", "multi"),  # thirteen orphans on thirteen kinds
        ("19m19p19s1123456z", "tanki"),  # thirteen orphans on one kind
        ("123p111222z4567s", "multi"),  # nobetan
        ("111222z34567s55p", "multi"),  # three kinds
        ("1112345678999p", "multi"),
        ("12356777789p11z", "multi"),  # 4p, and E with a 7p in a run
        ("3345566667789p", "ryanmen"),  # on 3p alone: all 6p are in the hand
        ("12233334888p22z", "shanpon"),  # on S alone: all 3p are in the hand
        ("2223p111z222z333z", "multi"),  # 1p 4p, and 3p
        ("1112p111z222z333z", "multi"),  # 2p, and 3p
        ("1222p111z222z333z", "multi"),
        ("12333p123s123s55s", "shanpon"),  # 3p, also of 12p beside 333p, and 5s
    ],
)
def test_shapes_of_waits(text: str, shape: str) -> None:
    assert shapes(text) == {shape}
