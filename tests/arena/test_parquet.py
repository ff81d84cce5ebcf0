"""The Parquet files of a run: against its saved games, with any number of jobs, and when it is resumed."""

from __future__ import annotations

import resource
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pytest
from pyarrow import parquet
from rich.console import Console

import arena.run
from arena.checkpoint import Checkpoint
from arena.chunk import ChunkResult
from arena.cli import main
from arena.parquet import COLUMNS, GAME, PLAYER, RECORD, ParquetFiles, rows_of
from arena.parquet_rows import WHERE
from arena.run import ArenaRun
from arena.schedule import RunSettings
from arena.stopping import Until
from engine.common.program import missing
from engine.records.files import find_records, read_records
from engine.ryukyoku import EXHAUSTIVE, KYUSHU_KYUHAI, NAGASHI_MANGAN
from engine.statistics.rounds import ROUND
from nukidora import play
from tests.support.arena_runs import Arena
from tests.support.folders import folder_bytes

BOTS = ("efficiency", "random", "rule")
SETTINGS = RunSettings(BOTS, 36, 3, "tenhou", "east")
NOTES = Console(quiet=True)
KINDS = ("games", "rounds", "decisions")


def rows_at(folder: Path, kind: str) -> list[dict[str, Any]]:
    return parquet.read_table(folder / f"{kind}.parquet").to_pylist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a run, and the games it saved, in ``games``."""
    folder = tmp_path_factory.mktemp("rows")
    run = ArenaRun(SETTINGS, 0, save=folder / "games", parquet=folder, decisions=True)
    run.play(NOTES)
    run.finish()
    assert sorted(path.name for path in folder.iterdir()) == [
        "decisions.parquet",
        "games",
        "games.parquet",
        "rounds.parquet",
    ]
    return folder


def plain_round(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the rows of a round should say, of its mjai messages."""
    start = events[0]
    seats: list[dict[str, Any]] = [
        {"seat": seat, "start_score": start["scores"][seat], "change": 0, "won": False, "dealt_in": False, "yaku": None,
         "points": None, "win_turn": None, "deal_in_points": None, "riichi_turn": None, "open": False, "nukidora": 0,
         "tenpai": None, "dealer": start["oya"], "honba": start["honba"], "sticks": start["kyotaku"],
         "round_wind": start["bakaze"]}
        for seat in range(3)
    ]  # fmt: skip
    discards, declared = [0, 0, 0], [0, 0, 0]
    for event in events:
        kind, own = event["type"], seats[event.get("actor", 0)]
        if kind == "dahai":
            discards[event["actor"]] += 1
        elif kind == "reach":
            declared[event["actor"]] = discards[event["actor"]] + 1
        elif kind == "reach_accepted":
            own["riichi_turn"] = declared[event["actor"]]
        elif kind in ("pon", "daiminkan"):
            own["open"] = True
        elif kind == "nukidora":
            own["nukidora"] += 1
        elif kind == "hora":
            tsumo = event["actor"] == event["target"]
            own |= {"won": True, "points": event["hora_points"], "fu": event["fu"]}
            own["win_turn"] = max(discards[event["actor"]] + tsumo, 1)
            if not tsumo:
                loser = seats[event["target"]]
                loser["dealt_in"] = True
                loser["deal_in_points"] = (loser["deal_in_points"] or 0) + event["hora_points"]
        elif kind == "ryukyoku" and event["reason"] == "fanpai":
            for seat, tenpai in zip(seats, event["tenpais"], strict=True):
                seat["tenpai"] = tenpai
    return seats


def test_rounds_are_those_of_the_saved_games(folder: Path) -> None:
    rows = rows_at(folder, "rounds")
    by_round: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    seeds = {row["wall"]: row["wall_seed"] for row in rows_at(folder, "games")}
    for row in rows:
        by_round.setdefault((seeds[row["wall"]], row["rotation"], row["round"]), []).append(row)
    results: Counter[str] = Counter()
    n_rounds = 0
    for path in find_records([str(folder / "games")]):
        record = read_records(path)
        rounds = record.rounds()
        seed, rotation = path.name.removesuffix(".mjson.gz").split("-")
        for number, events in enumerate(rounds):
            found = by_round[seed, int(rotation), number]
            after = rounds[number + 1][0]["scores"] if number + 1 < len(rounds) else None
            for row, expected in zip(found, plain_round(events), strict=True):
                if after is not None:
                    assert row["start_score"] + row["change"] == after[row["seat"]]
                for key in ("change", "yaku", "fu"):
                    expected.pop(key, None)
                assert {key: row[key] for key in expected} == expected
                assert row["bot"] == record.events[0]["names"][row["seat"]]
            results[found[0]["result"]] += 1
        n_rounds += len(rounds)
    assert len(rows) == 3 * n_rounds
    assert {"tsumo", "ron", "no tiles left"} <= set(results)


@pytest.mark.parametrize(("result", "known"), [(EXHAUSTIVE, True), (NAGASHI_MANGAN, True), (KYUSHU_KYUHAI, False)])
def test_tenpai_is_known_when_no_tiles_are_left(result: int, known: bool) -> None:
    (column,) = (each for each in COLUMNS["rounds"] if each.name == "tenpai")
    rows = np.zeros(1, ROUND)
    rows["result"] = result
    assert column.null is not None
    assert column.null(rows).tolist() == [not known]


def test_yaku_and_han_are_those_of_the_winning_hands(folder: Path) -> None:
    won = [row for row in rows_at(folder, "rounds") if row["won"]]
    assert won
    for row in won:
        assert row["yaku"]
        assert row["han"] >= len(row["yaku"])
        if not row["yakuman"]:  # which counts without other yaku
            assert (row["riichi_turn"] is not None) == bool({"riichi", "double riichi"} & set(row["yaku"]))
            assert ("nukidora" in row["yaku"]) == (row["nukidora"] > 0)
    assert all(
        row["yaku"] is row["han"] is row["points"] is None for row in rows_at(folder, "rounds") if not row["won"]
    )


def test_games_are_the_results(folder: Path) -> None:
    match = play(BOTS, games=36, seed=3, length="east")
    rows = iter(rows_at(folder, "games"))
    for game in match.games:
        for seat, bot, score, placement in zip(range(3), game.seats, game.scores, game.placements, strict=True):
            row = next(rows)
            assert row.pop("final_points") == pytest.approx(row["score"] / 1000 - 40 + [35, 0, -20][placement - 1])
            assert row == {"wall": game.wall, "rotation": game.rotation, "wall_seed": game.wall_seed,
                           "seat": seat, "bot": bot, "score": score, "placement": placement}  # fmt: skip
    assert next(rows, None) is None


def test_decisions_are_those_of_the_saved_games(folder: Path) -> None:
    rows = rows_at(folder, "decisions")
    played: Counter[tuple[str, str]] = Counter()
    for path in find_records([str(folder / "games")]):
        record = read_records(path)
        for event in record.events:
            if event["type"] in ("dahai", "reach", "pon", "daiminkan", "nukidora"):
                played[record.events[0]["names"][event["actor"]], event["type"]] += 1
    names = {"tsumogiri": "dahai", "discard": "dahai", "riichi": "reach", "pon": "pon", "daiminkan": "daiminkan"}
    chosen = Counter((row["bot"], names.get(row["action"].split()[0], row["action"])) for row in rows)
    for bot in BOTS:
        for kind in ("dahai", "reach", "nukidora"):
            assert chosen[bot, kind] == played[bot, kind] > 0
        for kind in ("pon", "daiminkan"):  # another's win comes before a call
            assert chosen[bot, kind] >= played[bot, kind]
    assert {row["phase"] for row in rows} == {"turn", "after pon", "riichi discard", "response"}
    assert all(row["n_legal"] >= 1 for row in rows)
    assert all(row["n_legal"] >= 2 for row in rows if row["phase"] == "response")


@pytest.mark.slow
def test_jobs_change_nothing(arena: Arena, folder: Path, tmp_path: Path) -> None:
    done = arena(
        "--bots", ",".join(BOTS), "--games", 36, "--seed", 3, "--length", "east", "--jobs", 2,
        "--parquet", tmp_path / "rows", "--decisions", "--save", tmp_path / "games",
    )  # fmt: skip
    assert f"games, rounds and decisions as Parquet in {tmp_path / 'rows'}" in done.stdout.splitlines()
    assert folder_bytes(tmp_path / "rows") == folder_bytes(folder)
    assert folder_bytes(tmp_path / "games") == folder_bytes(folder / "games")


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], ArenaRun]:
    """Opens a run that was interrupted after the second, the fourth and the sixth pair of its walls."""
    split = arena.run.split_walls
    monkeypatch.setattr(arena.run, "split_walls", lambda walls, *ignored: split(walls, 1, 2)[1::2])

    def opened() -> ArenaRun:
        return ArenaRun(SETTINGS, 0, tmp_path / "r.json", parquet=tmp_path / "rows", decisions=True)

    run = opened()
    handle, n_chunks = run._handle, 0

    def stop_after_three(update: Any, progress: Any) -> None:
        nonlocal n_chunks
        handle(update, progress)
        n_chunks += isinstance(update, ChunkResult)
        if n_chunks == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(run, "_handle", stop_after_three)
    with pytest.raises(KeyboardInterrupt):
        run.play(NOTES)
    assert run.games == 18
    assert not folder_bytes(tmp_path / "rows")
    monkeypatch.setattr(arena.run, "split_walls", split)
    return opened


def test_a_resumed_run_writes_the_same_files(interrupted: Callable[[], ArenaRun], folder: Path, tmp_path: Path) -> None:
    (tmp_path / "r.json.partial.rows" / "rounds-000000.npy").write_bytes(b"half of a part")  # of no finished chunk
    run = interrupted()
    assert run.results.finished == [2, 3, 6, 7, 10, 11]  # the others are one chunk
    run.play(NOTES)
    run.finish()
    assert folder_bytes(tmp_path / "rows") == folder_bytes(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "rows"]


@pytest.mark.slow
def test_a_run_whose_report_cannot_be_written_is_resumed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*ignored: object) -> None:
        raise OSError("no space left")

    def opened() -> ArenaRun:
        return ArenaRun(
            SETTINGS, 0, tmp_path / "r.json", html=tmp_path / "r.html", parquet=tmp_path / "rows", decisions=True
        )

    run = opened()
    run.play(NOTES)
    with monkeypatch.context() as patched:
        patched.setattr(arena.run, "write_page", full)
        with pytest.raises(OSError, match="no space left"):
            run.finish()
    del run
    run = opened()
    assert run.games == 36
    run.finish()
    assert folder_bytes(tmp_path / "rows") == folder_bytes(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.html", "r.json", "rows"]


def test_a_long_run_of_an_external_bot_has_more_parts_than_files_may_be_open(tmp_path: Path) -> None:
    for wall in range(200):
        rows = np.zeros(3, WHERE)
        rows["wall"] = wall
        np.save(tmp_path / f"rounds-{wall:06}.npy", rows)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, before[1]))
    try:
        groups = list(rows_of("rounds", sorted(tmp_path.iterdir()), np.arange(0, 200, 2)))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert np.concatenate(groups)["wall"].tolist() == np.repeat(np.arange(0, 200, 2), 3).tolist()


def test_a_run_whose_rows_are_gone_is_not_resumed(interrupted: Callable[[], ArenaRun], tmp_path: Path) -> None:
    gone = sorted((tmp_path / "r.json.partial.rows").iterdir())[0]
    gone.unlink()
    with pytest.raises(ValueError, match=rf"{gone.name} is missing, without which the run cannot be resumed"):
        interrupted()


def test_a_run_that_is_refused_for_its_rows_leaves_its_checkpoint_to_others(
    interrupted: Callable[[], ArenaRun], tmp_path: Path
) -> None:
    blocked = tmp_path / "rows" / "rounds.parquet"
    blocked.mkdir()
    with pytest.raises(ValueError, match=r"rounds\.parquet") as refused:
        interrupted()
    blocked.rmdir()
    assert interrupted().games == 18
    del refused  # a notebook keeps the last error, and with it the run


def test_a_run_without_rows_is_not_resumed_with_them(interrupted: Callable[[], ArenaRun], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="different rows"):
        ArenaRun(SETTINGS, 0, tmp_path / "r.json", parquet=tmp_path / "rows")


def test_walls_after_the_one_that_decides_have_no_rows(tmp_path: Path) -> None:
    match = play(["random", "rule", "random"], games=300, length="east", stop=Until(0.2), parquet=tmp_path)
    walls = {row["wall"] for row in rows_at(tmp_path, "rounds")}
    assert walls == {row["wall"] for row in rows_at(tmp_path, "games")} == {game.wall for game in match.games}
    assert len(walls) < 100
    assert {path.name for path in tmp_path.iterdir()} == {"games.parquet", "rounds.parquet"}


def test_pandas_polars_and_duckdb_read_the_files(folder: Path) -> None:
    rows = rows_at(folder, "rounds")
    wins = Counter(row["bot"] for row in rows if row["won"])
    frame = pandas.read_parquet(folder / "rounds.parquet")
    assert frame[frame.won].groupby("bot", observed=True).size().to_dict() == wins
    lazy = polars.scan_parquet(folder / "rounds.parquet").filter("won").group_by("bot").len().collect()
    assert dict(lazy.iter_rows()) == wins
    found = duckdb.sql(f"SELECT bot, count(*) FROM '{folder}/rounds.parquet' WHERE won GROUP BY bot").fetchall()
    assert dict(found) == wins


@pytest.mark.parametrize("kind", KINDS)
def test_each_column_says_what_it_means(folder: Path, kind: str) -> None:
    schema = parquet.read_schema(folder / f"{kind}.parquet")
    assert schema.names == [column.name for column in COLUMNS[kind]]
    for column in COLUMNS[kind]:
        assert schema.field(column.name).metadata == {b"help": column.help.encode()}
    page = (Path(__file__).parents[2] / "docs/arena.md").read_text(encoding="utf-8")
    for column in (*COLUMNS[kind], GAME, RECORD, PLAYER):
        assert f"| `{column.name}` | {column.type} | {column.help} |" in page


@pytest.mark.parametrize("words", [["--bots", "random,random,random", "--games", "3"], ["stats", "nowhere"]])
@pytest.mark.parametrize(("option", "package"), [("html", "matplotlib"), ("parquet", "pyarrow")])
def test_a_missing_package_is_told_before_games_are_played_or_read(
    option: str, package: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError) as raised:
        main([*words, f"--{option}", str(tmp_path / "out")])
    assert f"{package} is not installed" in (missing(raised.value) or "")
    assert "'.[report]'" in (missing(raised.value) or "")
    assert list(tmp_path.iterdir()) == []


def test_results_that_are_there_already_are_not_enough_for_a_report(tmp_path: Path) -> None:
    def opened(**files: Path) -> ArenaRun:
        return ArenaRun(SETTINGS, 0, tmp_path / "r.json", **files)

    run = opened()
    run.play(NOTES)
    run.finish()
    for option in ("html", "parquet"):
        with pytest.raises(ValueError, match=f"--{option}: .*r.json has these results already"):
            opened(**{option: tmp_path / option})
    (tmp_path / "html").write_text("a report")
    with pytest.raises(ValueError, match=r"--html: .*r\.json has these results already"):
        opened(html=tmp_path / "html")


def test_a_report_of_another_run_does_not_belong_to_results_that_are_there_already(tmp_path: Path) -> None:
    """Nor do rows of another run, or a file without a part of the rows."""

    def opened(place: str, seed: int, decisions: bool = False, files: str = "") -> ArenaRun:
        settings, at = replace(SETTINGS, seed=seed, games=3), tmp_path / (files or place)
        return ArenaRun(settings, 0, tmp_path / f"{place}.json", html=at / "html", parquet=at, decisions=decisions)

    for place, seed in (("a", 1), ("b", 2)):
        run = opened(place, seed)
        run.play(NOTES)
        run.finish()
    again = opened("a", 1)
    assert again.finished is not None
    before = folder_bytes(tmp_path / "a")
    again.finish()
    assert folder_bytes(tmp_path / "a") == before
    with pytest.raises(ValueError, match=r"--html: .*a\.json has these results already"):
        opened("a", 1, files="b")
    (tmp_path / "b" / "html").write_bytes((tmp_path / "a" / "html").read_bytes())
    with pytest.raises(ValueError, match=r"--parquet: .*b/games\.parquet is not made of them"):
        opened("a", 1, files="b")
    with pytest.raises(ValueError, match=r"--parquet: .*a/decisions\.parquet is not made of them"):
        opened("a", 1, decisions=True)
    (tmp_path / "a" / "rounds.parquet").write_bytes(b"no rows")
    with pytest.raises(ValueError, match=r"--parquet: .*a/rounds\.parquet is not made of them"):
        opened("a", 1)


def test_a_run_that_was_killed_when_it_had_written_its_results_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened() -> ArenaRun:
        return ArenaRun(replace(SETTINGS, games=3), 0, tmp_path / "r.json", parquet=tmp_path / "rows")

    run = opened()
    run.play(NOTES)
    with monkeypatch.context() as patched:
        patched.setattr(Checkpoint, "delete", Checkpoint.close)
        patched.setattr(ParquetFiles, "delete_parts", lambda files: None)
        run.finish()
    assert {path.name for path in tmp_path.iterdir()} > {"r.json.partial", "r.json.partial.rows"}
    opened().finish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "rows"]
