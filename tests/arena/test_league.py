"""``python -m arena league``: who meets next, ratings, and a league that stops and goes on."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, takewhile
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from arena.bot_games import N_COUNTS, estimate
from arena.leagues import cli, run, running
from arena.leagues.api import league
from arena.leagues.games import LeagueSettings, Meeting
from arena.leagues.league import League, as_text, print_league
from arena.leagues.run import LeagueRun
from arena.leagues.standings import league_of
from arena.leagues.store import Store, identity_of
from engine.common.line_file import ResumeError
from engine.common.program import BAD_ARGUMENTS, FAILED, INTERRUPTED, OK
from engine.common.workers import open_pool
from engine.contests.estimates import mean_by_walls
from engine.contests.observations import PLACE
from engine.contests.ratings import POINTS, SAMPLES
from engine.contests.schedule import MAX_BATCH, PART, Batch, Schedule, walls_of_pairs
from engine.contests.seating import ROTATIONS
from tests.support.external_bots import command
from tests.support.fake_server import PATIENCE
from tests.support.loopback import free_url, play_without_end
from tests.support.processes import start_group

BOTS = ["efficiency", "tsumogiri", "random", "rule"]
FILE_BOT = "from agents.registry import make\n\n\ndef eager(seed):\n    return make('efficiency', seed)\n"
SETTINGS = LeagueSettings(seed=1, rules="tenhou", length="east")


@pytest.fixture(autouse=True)
def _one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games that one worker would play are played in this process, which is faster than to start another."""
    monkeypatch.setattr(run, "open_pool", lambda start, jobs: open_pool(start, jobs if jobs > 1 else 0))
    monkeypatch.setenv("NUKIDORA_JOBS", "1")


@pytest.fixture
def file_bot(tmp_path: Path) -> str:
    (tmp_path / "my_bot.py").write_text(FILE_BOT)
    return f"{tmp_path}/my_bot.py:eager"


def play(path: Path, *more: str, bots: Sequence[str] = BOTS, games: int = 24) -> int:
    arguments = ["--length", "east", "--seed", "1", "--games", str(games), "--json", str(path)]
    return cli.main([*arguments, *(["--bots", ",".join(bots)] if bots else []), *more])


def document(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return read


def all_batches(schedule: Schedule, walls: int) -> list[Batch]:
    """What is played until every two bots have met as often. A batch without walls would come for ever."""
    batches: list[Batch] = []
    for batch in schedule.batches(walls):
        assert batch.walls
        batches.append(batch)
    return batches


def games_of_pairs(batches: Sequence[Batch]) -> Counter[tuple[str, str]]:
    games: Counter[tuple[str, str]] = Counter()
    for batch in batches:
        games.update(dict.fromkeys(combinations(batch.bots, 2), len(batch.walls)))
    return games


@pytest.mark.slow
@given(n_bots=st.integers(3, 14), walls=st.integers(1, 150), stop=st.integers(1, 200))
@settings(deadline=None, max_examples=60)
def test_every_two_bots_meet_equally_often_at_any_time(n_bots: int, walls: int, stop: int) -> None:
    bots = [f"bot{number}" for number in range(n_bots)]
    size = min(MAX_BATCH, 1 + walls // PART)
    batches = all_batches(Schedule(bots), walls)
    every = set(combinations(bots, 2))
    met = games_of_pairs(batches)
    assert set(met) == every
    assert walls == min(met.values()) <= max(met.values()) <= walls + 1.5 * size
    early = games_of_pairs(batches[:stop])
    assert max(early.values()) - min(early[pair] for pair in every) <= 2 * size
    played = [(batch.bots, wall) for batch in batches for wall in batch.walls]
    assert len(set(played)) == len(played)
    walls_of_bot = [{wall for three, wall in played if bot in three} for bot in bots]
    assert len(set.intersection(*walls_of_bot)) >= 0.5 * max(map(len, walls_of_bot)) - size  # shared walls


@pytest.mark.slow
@given(n_bots=st.integers(3, 10), walls=st.integers(1, 60), n_new=st.integers(1, 3))
@settings(deadline=None, max_examples=40)
def test_a_new_bot_is_in_every_match_until_it_has_met_all_as_often(n_bots: int, walls: int, n_new: int) -> None:
    bots = [f"bot{number}" for number in range(n_bots)]
    new = [f"new{number}" for number in range(n_new)]
    before = all_batches(Schedule(bots), walls)
    schedule = Schedule([*bots, *new])
    for batch in before:
        schedule.add(batch.bots, batch.walls)
    after = all_batches(schedule, walls)
    assert all(set(new).intersection(batch.bots) for batch in after)
    assert min(games_of_pairs(before + after)[pair] for pair in combinations([*bots, *new], 2)) >= walls


def test_the_number_of_games_is_about_the_one_asked_for() -> None:
    for n_bots, games in ((3, 60), (4, 60), (7, 1000), (12, 660), (12, 30_000)):
        bots = [f"bot{number}" for number in range(n_bots)]
        batches = all_batches(Schedule(bots), walls_of_pairs(games, n_bots))
        played = ROTATIONS * sum(len(each.walls) for each in batches)
        assert games <= played <= 1.2 * games + 30


@pytest.mark.timeout(20)  # seconds; a second is enough
def test_a_long_schedule_takes_no_longer_for_each_batch() -> None:
    walls = 500_000
    assert sum(len(batch.walls) for batch in Schedule(["a", "b", "c"]).batches(walls)) == walls


def simulated(rng: np.random.Generator, true: np.ndarray, walls: int) -> League:
    """A league whose orders are drawn from the model; those of the three rotations of a wall are the same."""
    bots = [f"bot{number}" for number in range(len(true))]
    meetings: dict[tuple[str, ...], Meeting] = {}
    for batch in Schedule(bots).batches(walls):
        strengths = true[[bots.index(bot) for bot in batch.bots]] / POINTS
        orders = (strengths + rng.gumbel(size=(len(batch.walls), 3))).argsort(axis=1)[:, ::-1]
        thrice = np.repeat(orders[:, np.newaxis], ROTATIONS, axis=1)
        of_batch = Meeting(batch.bots, dict(zip(batch.walls, thrice)), np.zeros((3, N_COUNTS), int), np.zeros(3, int))
        meetings.setdefault(batch.bots, Meeting.empty(batch.bots)).add(of_batch)
    return league_of(SETTINGS, bots, list(meetings.values()), samples=100)


@pytest.mark.slow
def test_ratings_recover_known_strengths_and_intervals_hold_them() -> None:
    """Rotations that repeat each other would make intervals too narrow if each game were an observation."""
    true = np.array([250.0, 120.0, 40.0, -10.0, -100.0, -300.0])
    rng = np.random.default_rng(1)
    held, errors = [], []
    for _ in range(60):
        result = simulated(rng, true, 60)
        for number, asked in enumerate(true.tolist()):
            rating = result.ratings[f"bot{number}"]
            assert rating.interval is not None
            errors.append(rating.mean - asked)
            held.append(abs(rating.mean - asked) <= rating.interval)
        pair = result.pairs["bot0", "bot5"]
        assert pair.rating.mean == pytest.approx(result.ratings["bot0"].mean - result.ratings["bot5"].mean)
    assert abs(np.mean(errors)) < 1e-6
    assert np.abs(np.mean(np.reshape(errors, (60, -1)), axis=0)).max() < 12
    assert np.mean(held) == pytest.approx(0.95, abs=0.035)


def test_means_by_walls_are_those_of_the_arena_where_all_walls_have_as_many_games() -> None:
    values = np.random.default_rng(2).integers(1, 4, size=(40, 3))
    ours = mean_by_walls(values.ravel(), np.repeat(np.arange(40), 3), PLACE)
    theirs = estimate(values, PLACE)
    assert (ours.mean, ours.interval) == (pytest.approx(theirs.mean), pytest.approx(theirs.interval))
    alike = mean_by_walls(np.ones(12), np.repeat(np.arange(4), 3), PLACE)
    assert (
        alike.interval
        == pytest.approx(estimate(np.ones((4, 3)), PLACE).interval)
        == pytest.approx(3.1824 / 4, rel=1e-4)
    )


@pytest.mark.slow
def test_the_file_does_not_depend_on_jobs_and_says_what_was_played(tmp_path: Path) -> None:
    for jobs in (1, 2):
        result = league(BOTS, 48, 1, length="east", jobs=jobs, json=tmp_path / f"{jobs}.json")
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()
    assert not list(tmp_path.glob("*.partial"))
    found = document(tmp_path / "1.json")
    assert found["games"] == result.games == ROTATIONS * sum(len(match["walls"]) for match in found["matches"])
    assert [row["bot"] for row in found["bots"]] == BOTS
    assert found["bots"][3]["rating"]["mean"] == result.ratings["rule"].mean > result.ratings["random"].mean + 200
    ahead = 0
    for match in found["matches"]:
        if {"rule", "random"} <= set(match["bots"]):
            first, second = (str(match["bots"].index(bot)) for bot in ("rule", "random"))
            ahead += sum(order.index(first) < order.index(second) for o in match["orders"] for order in o.split())
    pair = result.pairs["rule", "random"]
    assert ahead / pair.games == pair.ahead.mean == 1 - result.pairs["random", "rule"].ahead.mean
    assert pair.games >= 24


def interrupted_after(games: int) -> Callable[..., None]:
    handle = LeagueRun._handle

    def stop(league_run: LeagueRun, *update: Any) -> None:
        handle(league_run, *update)
        if league_run.games >= games:
            raise KeyboardInterrupt

    return stop


@pytest.mark.slow
def test_an_interrupted_league_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(tmp_path / "whole.json") == OK
    for games in (6, 18):
        with monkeypatch.context() as patch:
            patch.setattr(LeagueRun, "_handle", interrupted_after(games))
            assert play(tmp_path / "parts.json") == INTERRUPTED
        said = capsys.readouterr()
        assert "1 rule" in said.out or "1 efficiency" in said.out  # the table so far
        assert said.err.splitlines()[-1].startswith("arena league: ")
        assert not (tmp_path / "parts.json").exists()
    # a chunk that another job was playing when the league was interrupted
    partial = tmp_path / "parts.json.partial"
    lines = partial.read_text().splitlines(keepends=True)
    lost = next(line for line in lines if "orders" in line)
    partial.write_text("".join(line for line in lines if line != lost))
    assert play(tmp_path / "parts.json") == OK
    assert re.search(r"\d+ of 24 games", capsys.readouterr().err)
    assert (tmp_path / "parts.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    partial.write_text("".join(lines))  # as if it had been killed when the file was written
    assert play(tmp_path / "parts.json") == OK
    assert (tmp_path / "parts.json").read_bytes() == (tmp_path / "whole.json").read_bytes()


def test_an_interrupted_batch_of_a_bot_that_plays_no_more_is_not_played(tmp_path: Path) -> None:
    batches = [Batch(("rule", "efficiency", "random"), (0,)), Batch(("rule", "efficiency", "tsumogiri"), (0, 1))]
    store = Store(tmp_path / "league.json", SETTINGS)
    store.join(["rule", "efficiency", "random", "tsumogiri"])
    for batch in batches:
        store.take(batch)
    store.close()
    store = Store(tmp_path / "league.json", SETTINGS)
    assert store.taken == batches
    store.join(["rule", "efficiency", "tsumogiri"])
    assert store.taken == batches[1:]
    store.close()


def test_an_interrupted_league_goes_on_in_the_same_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: Any = {"games": 12, "length": "east", "seed": 1, "json": tmp_path / "league.json"}
    bots = ["efficiency", "random", "tsumogiri"]
    with monkeypatch.context() as patch:
        patch.setattr(LeagueRun, "_handle", interrupted_after(3))
        with pytest.raises(KeyboardInterrupt) as kept:  # as a notebook keeps the last exception, with all its frames
            league(bots, **settings)
    assert len(league(bots, **settings).standings) == 3
    assert kept.traceback


@pytest.mark.slow
def test_a_finished_league_goes_on_with_more_games_and_with_a_new_bot(
    tmp_path: Path, file_bot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "league.json"
    assert play(path) == OK
    first = path.read_bytes()
    capsys.readouterr()
    assert play(path) == OK
    assert "24 games" in capsys.readouterr().err
    assert path.read_bytes() == first

    before = {tuple(match["bots"]): match for match in document(path)["matches"]}
    fewest = min(pair["games"] for pair in document(path)["pairs"])
    assert play(path, bots=[file_bot, *BOTS]) == OK
    after = {tuple(match["bots"]): match for match in document(path)["matches"]}
    assert {bots: match for bots, match in after.items() if file_bot not in bots} == before
    met = {(pair["bot"], pair["against"]): pair["games"] for pair in document(path)["pairs"]}
    assert min(met[file_bot, bot] for bot in BOTS) >= fewest  # as often as the others had met
    assert [row["bot"] for row in document(path)["bots"]] == [*BOTS, file_bot]

    with pytest.raises(SystemExit):
        play(path, bots=[], games=90)  # a bot in a file must be named
    assert play(path, bots=[*BOTS, file_bot], games=90) == OK
    more = {tuple(match["bots"]): match for match in document(path)["matches"]}
    assert all(set(match["walls"]) <= set(more[bots]["walls"]) for bots, match in after.items())
    assert document(path)["games"] >= 90


@pytest.mark.slow
def test_workers_are_those_for_all_bots_that_play(
    tmp_path: Path, file_bot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that all bots, those that are named in the file of the league alone included, are sent to a cluster."""
    asked: list[list[str]] = []
    monkeypatch.setattr(running, "workers_for", lambda options, bots: asked.append(list(bots)) or 1)
    with_file = [*BOTS[:2], file_bot]
    assert play(tmp_path / "files.json", bots=with_file, games=3) == OK
    assert play(tmp_path / "league.json", games=3) == OK
    assert play(tmp_path / "league.json", bots=[], games=6) == OK
    assert asked == [with_file, BOTS, BOTS]


@pytest.mark.parametrize("given", ["hours", "timeout"])
@pytest.mark.parametrize(
    ("value", "error"),
    [(0, ValueError), (-1.0, ValueError), (float("nan"), ValueError), ("1", TypeError), (True, TypeError)],
)
def test_hours_and_seconds_are_positive_numbers(given: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"{given} must be a positive number.*, not {value!r}$"):
        league(BOTS, **{given: value})


def test_a_league_that_is_refused_leaves_its_file_to_others(tmp_path: Path) -> None:
    """As in a notebook, which keeps the last error, and with it everything that its functions held."""
    options: dict[str, Any] = {"games": 6, "length": "east", "json": tmp_path / "league.json"}
    kept = []
    for bots in (["efficiency", "random", "random"], ["random", "efficiency"], ["random", "efficiency", "nobody"]):
        with pytest.raises(ValueError, match=r"twice|three bots|nobody") as caught:
            league(bots, **options)
        kept.append(caught.value)
    assert len(league(["efficiency", "random", "tsumogiri"], **options).standings) == 3


def test_a_league_plays_for_some_time(tmp_path: Path) -> None:
    for _ in range(2):
        result = league(["tsumogiri", "random", "efficiency"], hours=1e-5, length="east", json=tmp_path / "l.json")
    assert result.games >= 2 * ROTATIONS  # at least a batch each time
    assert not (tmp_path / "l.json.partial").exists()


@pytest.mark.slow
def test_twelve_bots_one_of_them_external(tmp_path: Path, file_bot: str) -> None:
    external = f"exec:{command(tmp_path, 'asked')}"
    dialled = [f"rule@-{points}" for points in (50, 100, 200, 300)]
    bots = ["random", "tsumogiri", "efficiency", "rule", "linear", "softmax", *dialled, file_bot, external]
    result = league(bots, 66, 1, length="east", json=tmp_path / "league.json")
    assert sorted(result.ratings) == sorted(bots)
    assert set(result.pairs) == {(a, b) for a in bots for b in bots if a != b}
    assert result.failed == []
    assert {standing.bot for standing in result.standings[-3:]} == {"random", "tsumogiri", external}
    met = [pair.games for pair in result.pairs.values()]
    assert max(met) - min(met) <= ROTATIONS
    for width in (60, 80, 120):
        console = Console(width=width, color_system=None, record=True, file=(tmp_path / "out").open("w"))
        print_league(console, result)
        lines = console.export_text().splitlines()
        assert max(map(len, lines)) <= width
        assert "12 " in "".join(lines)
    assert str(result) == as_text(result)


def test_the_final_standings_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    samples: list[int] = []
    monkeypatch.setattr(run, "league_of", lambda *of: samples.append(of[-1]) or league_of(*of))
    result = league(BOTS[:3], games=6, length="east")
    assert result.games == 6
    assert samples.count(SAMPLES) == 1


def test_a_bot_that_connects_plays_all_its_matches(capsys: pytest.CaptureFixture[str]) -> None:
    url = free_url()
    league_run = LeagueRun(SETTINGS, [url, *BOTS[:3]], 0, games=24)
    arena = Thread(target=league_run.play, args=(Console(quiet=True),), daemon=True)
    arena.start()
    assert play_without_end("tsumogiri", url) == 0
    assert re.search(r"^played 1[89] games as tsumogiri: ", capsys.readouterr().out, re.MULTILINE)
    arena.join(PATIENCE)
    played = league_run.league()
    assert {pair for pair in played.pairs if url in pair}
    assert not played.failed


@pytest.mark.slow
def test_the_client_that_the_league_suggests_ends_with_it(environment: dict[str, str]) -> None:
    """The matches are played in a process that is terminated at the end."""
    url = free_url()
    options = ("--bots", ",".join([url, *BOTS[:3]]), "--length", "east", "--games", "24")
    arena = start_group("-m", "arena", "league", *options, environment=environment)
    told = list(takewhile(f"waiting for a bot at {url}\n".__ne__, arena.stderr))
    assert f"a bot can join at {url}, for example: python -m agents.client rule {url} --games 0\n" in told
    client = start_group("-m", "agents.client", "tsumogiri", url, "--games", "0", environment=environment)
    out, _ = client.communicate(timeout=PATIENCE)
    assert client.returncode == OK
    assert out.splitlines()[-2] == "the server says: all games are played"
    arena.communicate(timeout=PATIENCE)
    assert arena.returncode == OK


@pytest.mark.slow
def test_a_bot_that_fails_in_every_game_is_named_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = f"exec+event:{command(tmp_path, 'event', 'crash')}"
    path = tmp_path / "league.json"
    assert play(path, bots=["efficiency", "tsumogiri", "random", bad]) == FAILED
    said = capsys.readouterr()
    assert f"bot {bad}: " in said.out
    assert said.err.splitlines()[-1].endswith(bad)
    found = document(path)
    assert [row["failed"] for row in found["bots"]] == [False, False, False, True]
    assert "rating" not in found["bots"][3]
    assert found["bots"][0]["games"] == ROTATIONS * sum(
        len(match["walls"]) for match in found["matches"] if bad not in match["bots"]
    )


def test_a_bot_that_has_changed_is_another_bot(
    tmp_path: Path, file_bot: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "league.json"
    assert play(path, bots=[*BOTS[:2], file_bot], games=3) == OK
    kept = path.read_bytes()
    (tmp_path / "my_bot.py").write_text(FILE_BOT.replace("'efficiency'", "'random'"))
    with pytest.raises(SystemExit) as stopped:
        play(path, bots=[*BOTS, file_bot])
    assert stopped.value.code == BAD_ARGUMENTS
    said = capsys.readouterr().err.splitlines()[-1]
    assert [word for word in (file_bot, str(path), "--json") if word not in said] == []
    assert path.read_bytes() == kept
    assert list(tmp_path.glob("*.partial")) == []
    assert play(path, games=12) == OK  # without it
    assert file_bot in [row["bot"] for row in document(path)["bots"]]


def test_a_bot_that_has_not_played_yet_may_change(
    tmp_path: Path, file_bot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = [*BOTS[:2], file_bot]
    with monkeypatch.context() as patch:
        patch.setattr(LeagueRun, "play", interrupted_at_once)
        assert play(tmp_path / "league.json", bots=bots, games=3) == INTERRUPTED
    changed = FILE_BOT.replace("'efficiency'", "'random'")
    (tmp_path / "my_bot.py").write_text(changed)
    assert play(tmp_path / "league.json", bots=bots, games=3) == OK
    assert play(tmp_path / "league.json", bots=bots, games=6) == OK


def interrupted_at_once(*ignored: object) -> None:
    raise KeyboardInterrupt


FORGED: list[tuple[str, Any]] = [
    ("bots", ["efficiency", "random", "nobody"]),
    ("bots", ["efficiency", "random", "random"]),
    ("bots", ["efficiency", "random", "tsumogiri", "random"]),
    ("bots", [["efficiency"], "random", "tsumogiri"]),
    ("walls", [0, 0]),
    ("walls", [0, -1]),
    ("walls", [0, "1"]),
    ("walls", None),
    ("orders", [1, 2]),
    ("orders", ["012 012 012", "012 012 013"]),
    ("totals", [[0]]),
    ("totals", [[10**30] * N_COUNTS] * 3),
    ("faults", []),
]


@pytest.mark.parametrize(("key", "value"), FORGED)
@pytest.mark.parametrize("in_file", [True, False])
def test_forged_games_are_one_error(tmp_path: Path, in_file: bool, key: str, value: Any) -> None:
    bots, settings = ["efficiency", "random", "tsumogiri"], {"seed": 1, "rules": "tenhou", "length": "east"}
    games = {"bots": bots, "walls": [0, 1], "orders": ["012 012 012"] * 2}
    games |= {"totals": np.zeros((3, N_COUNTS), int).tolist(), "faults": [0] * 3}
    joined = [{"bot": bot, "identity": identity_of(bot)} for bot in bots]
    path = tmp_path / "league.json"

    def opened(matches: list[Any]) -> Store:
        if in_file:
            path.write_text(json.dumps({"league": settings, "bots": joined, "matches": matches}))
        else:
            lines = [settings, *joined, *matches]
            path.with_name("league.json.partial").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return Store(path, SETTINGS)

    assert opened([games]).games.n_games == 2 * ROTATIONS
    with pytest.raises(ResumeError, match=r"or name another file|another --json FILE"):
        opened([games | {key: value}])
