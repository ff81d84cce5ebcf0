"""The statistics of `arena.tallies`: recounted from saved games, additive, and computed from their counts."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from arena.columns import as_json
from arena.play import ChunkResult, play_chunk
from arena.recorder import file_name
from arena.results import Results
from arena.schedule import RunSettings, games_of
from arena.statistics import COUNTS, BotGames
from arena.tallies.names import HISTOGRAMS, INDEX, block
from tests.conftest import Scale
from tests.support.arena_runs import last_update
from tests.support.plain_statistics import recount

# Bots, rules, and how many of 500 games.
MATCHES = [
    (("rule", "efficiency", "yaku"), "tenhou", 0.5),
    (("random", "softmax", "rule"), "majsoul", 0.25),
    (("random", "random", "tsumogiri"), "tenhou", 0.25),
]
N_GAMES = {"quick": 48, "long": 504}
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


@pytest.mark.parametrize(
    ("bots", "rules", "share"), MATCHES, ids=lambda value: "+".join(value) if isinstance(value, tuple) else str(value)
)
def test_a_slow_recount_of_saved_games_agrees_in_every_count(
    bots: tuple[str, str, str], rules: str, share: float, scale: Scale, tmp_path: Path
) -> None:
    settings = RunSettings(bots, int(N_GAMES[scale] * share) // 3 * 3, 11, rules, "hanchan")
    results = Results(settings, [bot.label for bot in settings.make_bots()])
    results.add(chunk_of(settings, list(range(settings.n_walls)), tmp_path))
    seen: Counter[str] = Counter()
    for games, at_seats in zip(results.by_bot(), recounted(settings, tmp_path), strict=True):
        expected: Counter[str] = Counter()
        for own in at_seats:
            expected.update(own)
        assert tallied(games) == {name: n for name, n in expected.items() if n}
        seen.update(expected)
        row = as_json(games)
        for seat, own in zip(("east", "south", "west"), at_seats, strict=True):
            assert row[f"win_rate_{seat}"] == pytest.approx(own["wins"] / own["rounds"])
            assert row[f"deal_in_rate_{seat}"] == pytest.approx(own["deal_ins"] / own["rounds"])
            assert row[f"score_{seat}"] == pytest.approx(own["score"] / settings.n_walls)
            first = sum(n for name, n in own.items() if re.fullmatch(r"games_by_places\.._to_1", name))
            assert row[f"first_{seat}"] == pytest.approx(first / settings.n_walls)
    if scale == "long" and bots[0] == "rule":
        assert [name for name in INDEX if not seen[name] and not RARE.search(name)] == ["daiminkans"]
