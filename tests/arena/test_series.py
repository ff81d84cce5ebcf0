"""A series of matches: the games are those of the arena, whoever plays them and however often it is interrupted."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from rich.console import Console

from arena.chunk import GameError
from arena.run import ArenaRun
from arena.schedule import Bot, RunSettings
from arena.series import Series, open_series_worker
from arena.worker import WARM_UP
from tests.support.external_bots import command
from tests.support.fake_server import PATIENCE
from tests.support.loopback import free_url, play_without_end

QUIET = Console(quiet=True)
MATCHES = [
    RunSettings(("efficiency", "random", "tsumogiri"), 12, 3, "tenhou", "east"),
    RunSettings(("random", "random", "tsumogiri"), 6, 3, "tenhou", "east"),
]


def test_the_games_are_those_of_the_arena() -> None:
    series = Series(MATCHES, jobs=0)
    series.play(QUIET)
    assert series.games == 18
    for match, results in zip(MATCHES, series.results):
        alone = ArenaRun(match, jobs=0)
        alone.play(QUIET)
        assert list(results.games()) == list(alone.results.games())


@pytest.mark.slow
def test_processes_change_nothing() -> None:
    first, second = Series(MATCHES, jobs=0), Series(MATCHES, jobs=2)
    for series in (first, second):
        series.play(QUIET)
    assert [list(a.games()) for a in first.results] == [list(b.games()) for b in second.results]


def test_the_first_games_can_be_played_first(tmp_path: Path) -> None:
    series = Series(MATCHES[:1], jobs=0, folder=tmp_path / "games")
    series.play(QUIET, 6)
    assert series.games == 6
    del series  # its checkpoints are locked while they are open, as those of a process that has not ended
    again = Series(MATCHES[:1], jobs=0, folder=tmp_path / "games")
    assert again.games == 6
    again.play(QUIET)
    assert again.games == 12
    once = Series(MATCHES[:1], jobs=0)
    once.play(QUIET)
    assert list(again.results[0].games()) == list(once.results[0].games())
    again.delete_games()
    assert list(tmp_path.iterdir()) == []


def test_a_bot_that_fails_in_every_game_is_no_player(tmp_path: Path) -> None:
    bot = f"exec+event:{command(tmp_path, 'event', 'crash')}"
    match = RunSettings((bot, "random", "tsumogiri"), 3, 3, "tenhou", "east")
    with pytest.raises(GameError, match="failed in every game of "):
        Series([match], jobs=1).play(QUIET)


def test_a_bot_that_connects_stays_for_all_matches_and_calls(capfd: pytest.CaptureFixture[str]) -> None:
    """As balance calls it: what is left of a match, in the same workers, then a match of another series."""
    url = free_url()
    matches = [RunSettings((url, "random", other), 6, 3, "tenhou", "east") for other in ("random", "tsumogiri")]
    series, without, last = Series(matches, jobs=0), Series(MATCHES[1:], jobs=0), Series(matches[:1], jobs=0)

    def play() -> None:
        with series.open_pool() as pool:
            series.play(QUIET, 3, pool)
            without.play(QUIET, pool=pool)
            series.play(QUIET, pool=pool)
            last.play(QUIET, pool=pool)

    arena = Thread(target=play, daemon=True)
    arena.start()
    assert play_without_end("tsumogiri", url) == 0
    told = capfd.readouterr()
    assert told.out.splitlines()[-1].startswith("played 18 games as tsumogiri: ")
    assert told.err.count("waiting for a bot") == 1
    arena.join(PATIENCE)
    assert (series.games, without.games, last.games) == (12, 6, 6)
    assert not any(results.faults for results in (*series.results, *last.results))


def test_games_of_another_series_are_not_resumed(tmp_path: Path) -> None:
    Series(MATCHES, jobs=0, folder=tmp_path)
    with pytest.raises(ValueError, match=r"another run: delete it, or finish that run \(.* with different bots, games"):
        Series(MATCHES[::-1], jobs=0, folder=tmp_path)


def test_a_bot_that_a_worker_cannot_make_fails_the_series() -> None:
    def bots_of(match: RunSettings) -> list[Bot]:
        raise ValueError("no room")

    with open_series_worker(bots_of) as run, pytest.raises(GameError, match="no room"):
        list(run((MATCHES[0], WARM_UP)))


def test_orders_name_the_bots_and_share_the_walls() -> None:
    series = Series(MATCHES, jobs=0)
    series.play(QUIET)
    orders, walls = series.orders([(0, 1, 2), (1, 3, 2)])
    assert walls.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 0, 0, 1, 1, 1]
    assert (np.sort(orders[:12], axis=1) == [0, 1, 2]).all()
    assert (np.sort(orders[12:], axis=1) == [1, 2, 3]).all()
    bots = ["efficiency", "random", "tsumogiri"]
    games = list(series.results[0].games())
    for order, game in zip(orders.tolist(), games):
        by_placement = np.array(game["seats"])[np.argsort(game["placements"])]
        assert [bots[bot] for bot in order] == by_placement.tolist()
