"""The arena for Python callers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arena.api
import nukidora
from agents.registry import make
from arena.api import play
from arena.bot_statistics import BotStatistics, PairStatistics
from arena.chunk import GameError
from arena.tallies.attributes import source
from engine.actions import actions_of
from engine.records.files import find_records, read_records
from engine.records.replay import Replay
from tests.support.arena_runs import Arena, without_speed


class First:
    """Plays its first legal action."""

    name = "first"

    def act(self, views: np.ndarray) -> list[int]:
        return [actions_of(*view.legal[view.viewer].tolist())[0] for view in views]


class Raising(First):
    """Fails at once."""

    def act(self, views: np.ndarray) -> list[int]:
        raise RuntimeError("no idea")


@pytest.mark.slow
def test_a_match_has_the_results_of_the_command_line(arena: Arena, tmp_path: Path) -> None:
    done = arena(
        "--bots", "random,tsumogiri,random", "--games", 9, "--length", "east", "--seed", 3, "--json", tmp_path / "r"
    )
    document = without_speed(tmp_path / "r")
    own: list[Any] = ["random", make("tsumogiri"), "random"]
    match = nukidora.play(own, games=9, length="east", seed=3)
    assert list(match.bots.values()) == [BotStatistics(row) for row in document["bots"]]
    assert match.comparisons == [PairStatistics(row) for row in document["comparisons"]]
    assert [asdict(game) for game in match.games] == document["games"]
    tables = done.stdout.split(" games in ")[0]
    assert [line.rstrip() for line in tables.splitlines()] == str(match).split(" games in ")[0].splitlines()
    assert repr(match) == str(match)


def test_a_bot_of_ones_own_plays(tmp_path: Path) -> None:
    match = play([First(), "random", First()], games=3, length="east", save=tmp_path / "games")
    assert list(match.bots) == ["first", "random", "first#2"]
    assert len(match.games) == len(list((tmp_path / "games").iterdir())) == 3
    assert match.faults == []


@pytest.mark.slow
def test_bots_by_name_play_in_worker_processes() -> None:
    names = ["random", "tsumogiri", "random"]
    one, two = (play(names, games=6, length="east", jobs=jobs) for jobs in (1, 2))
    assert one.bots == two.bots
    assert two.document["speed"]["jobs"] == 2


def test_a_bot_that_fails_is_named() -> None:
    with pytest.raises(
        GameError, match=r"bot first, game 0 .*: raised RuntimeError: no idea \(test_api\.py, line \d+\)"
    ):
        play([Raising(), "random", "random"], games=3)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"bots": "rule,rule,rule"}, "three bots play"),
        ({"bots": ["rule", "rule"]}, "three bots play"),
        ({"bots": [First, "rule", "rule"]}, r"First is a class: give an object, First\(\)"),
        ({"bots": [3, "rule", "rule"]}, "3 is not a bot: int has no method act"),
        ({"bots": ["ruel", "rule", "rule"]}, "unknown bot 'ruel'"),
        ({"bots": [First(), "rule", "rule"], "jobs": 2}, "play in this process alone"),
        ({"games": 0}, "games must be an integer from 1 to 10000000, not 0"),
        ({"games": 10**7 + 1}, "games must be an integer from 1 to 10000000, not 10000001"),
        ({"games": "3"}, "games must be an integer from 1 to 10000000, not '3'"),
        ({"jobs": 0}, "jobs must be a positive integer, not 0"),
        ({"seed": -1}, "seed must be an integer from 0 .*, not -1"),
        ({"seed": 1.5}, "seed must be an integer from 0 .*, not 1.5"),
        ({"scores": (1, 2)}, "scores must be three"),
        ({"rules": "ruby"}, "unknown rules 'ruby'"),
        ({"length": "short"}, "length 'short'"),
        ({"timeout": "x"}, "timeout must be a positive number of seconds, not 'x'"),
        ({"timeout": True}, "timeout must be a positive number of seconds, not True"),
        ({"timeout": 0}, "timeout must be a positive number of seconds, not 0"),
        ({"timeout": 10**400}, "timeout must be a positive number of seconds, not 10{400}$"),
        ({"timeout": float("inf")}, "timeout must be a positive number of seconds, not inf"),
        ({"stop": 0.01}, r"stop must be a rule, such as Sprt\(0, -0.02\) or Until\(0.01\), or None, not 0.01"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_played(changed: dict[str, Any], what: str) -> None:
    options: dict[str, Any] = {"bots": ["rule", "rule", "rule"], "games": 3} | changed
    with pytest.raises((ValueError, TypeError), match=what):
        play(**options)


def test_a_bot_keeps_its_starting_score_in_all_rotations(tmp_path: Path) -> None:
    scores = {"tsumogiri": 5_000, "random": 40_000, "random#2": 60_000}
    match = play(
        ["tsumogiri", "random", "random"], games=6, length="east", scores=tuple(scores.values()), save=tmp_path
    )
    assert "starting scores 5,000, 40,000, 60,000" in str(match).splitlines()[0]
    assert match.document["settings"]["scores"] == (5_000, 40_000, 60_000)
    files = find_records([tmp_path])
    assert len(files) == 6
    for file in files:
        replay = Replay(read_records(file))
        start, first = replay.record.events[:2]
        assert first["scores"] == [scores[name] for name in start["names"]]
        assert replay.check() == []


def test_the_attributes_are_those_of_the_tables_of_statistics() -> None:
    """After a change there: python -m arena.tallies.attributes arena/bot_statistics.py."""
    assert Path(arena.bot_statistics.__file__).read_text(encoding="utf-8") == source()


def test_statistics_are_attributes_of_their_types() -> None:
    match = play(["efficiency", "random", "tsumogiri"], games=9, length="east", seed=2)
    bot, row = match.bots["efficiency"], match.document["bots"][0]
    assert set(BotStatistics.__annotations__) == set(dict(bot)) == set(row)
    assert (bot.placement.mean, bot.placement.interval) == tuple(row["placement"].values())
    assert (bot.games, bot.win_rate, bot.yakuman_kazoe) == (9, row["win_rate"], row["yakuman_kazoe"])
    assert "riichi_turn" in dir(bot)
    for name, hint in BotStatistics.__annotations__.items():
        kinds = {kind.split("[")[0] for kind in hint.split(" | ")}
        value = getattr(bot, name)
        assert ("None" if value is None else type(value).__name__) in kinds, name
    with pytest.raises(AttributeError, match="no statistic 'win_rat': did you mean 'win_rate'"):
        bot.win_rat  # noqa: B018
    pair = match.comparisons[0]
    assert set(PairStatistics.__annotations__) == set(dict(pair))
    assert pair.significant == pair.difference.differs_from_zero


def test_data_frames_have_the_statistics_and_the_games() -> None:
    match = play(["efficiency", "random", "tsumogiri"], games=9, length="east", seed=2)
    frame = match.dataframe()
    assert list(frame.index) == ["efficiency", "random", "tsumogiri"]
    assert frame.loc["random", "placement"] == match.bots["random"].placement.mean
    assert frame.loc["random", "placement_interval"] == match.bots["random"].placement.interval
    assert {"win_rate", "riichi_win_rate", "yaku_tanyao"} <= set(frame.columns)
    games = match.games_dataframe()
    assert len(games) == 27
    placements = games.groupby("bot")["placement"].mean()
    played = play(["efficiency", "random", "tsumogiri"], games=9, length="east", seed=2, control_variates=False)
    assert {bot: row.placement.mean for bot, row in played.bots.items()} == pytest.approx(placements.to_dict())
    assert games.groupby(["wall", "rotation"])["score"].sum().eq(105_000).all()
