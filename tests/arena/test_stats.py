"""Statistics of players from records: those of the arena's own games, and what becomes of records that do not count."""

from __future__ import annotations

import gzip
import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from arena.api import play
from arena.cli import main
from arena.record_games import count_record
from arena.record_stats import open_count
from engine.common.program import FAILED, OK
from engine.records.files import find_records, read_records
from engine.records.model import RecordError
from tests.conftest import DATA
from tests.support.handmade_records import of_march_2009

BOTS = ["rule", "efficiency", "random"]
# By walls in the arena, where luck is taken out; here by games.
OF_WALLS = {"bot", "player", "placement", "final_points", "luck_ratio"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games that the arena has saved, its statistics of them, `arena.json`, and its Parquet files, in `rows`."""
    folder = tmp_path_factory.mktemp("games")
    match = play(BOTS, games=12, seed=5, control_variates=False, save=folder, parquet=folder / "rows")
    (folder / "arena.json").write_text(json.dumps(match.document))
    return folder


def interrupt(*arguments: object) -> None:
    """Press Ctrl-C."""
    raise KeyboardInterrupt


def counted(folder: Path, *words: str, code: int = OK) -> dict[str, Any]:
    """The document of ``--json``; the command ends with `code`."""
    file = folder / "stats.json"
    assert main(["stats", *words, "--json", str(file)]) == code
    document: dict[str, Any] = json.loads(file.read_bytes())
    return document


def test_the_games_of_the_arena_have_its_statistics(folder: Path, tmp_path: Path) -> None:
    theirs = {row["bot"]: row for row in json.loads((folder / "arena.json").read_bytes())["bots"]}
    document = counted(tmp_path, str(folder / "*.gz"))
    together, *players = document["players"]
    assert (document["games"], document["faults"], together["games"]) == (12, [], 36)
    assert {row["player"] for row in players} == set(BOTS)
    for row in players:
        own = theirs[row["player"]]
        assert {key: row[key] for key in row.keys() - OF_WALLS} == {key: own[key] for key in row.keys() - OF_WALLS}
        for key in ("placement", "final_points"):
            assert row[key]["mean"] == pytest.approx(own[key]["mean"])
            assert row[key]["interval"] is not None
    assert together["placement"] == {"mean": pytest.approx(2), "interval": None}


def rows_at(folder: Path, kind: str) -> list[dict[str, Any]]:
    return parquet.read_table(folder / f"{kind}.parquet").to_pylist()


def test_the_games_of_the_arena_have_its_rows(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(folder / "*.gz"), "--parquet", str(tmp_path / "rows")]) == OK
    assert f"games and rounds as Parquet in {tmp_path / 'rows'}" in capsys.readouterr().out.splitlines()
    assert {path.name for path in (tmp_path / "rows").iterdir()} == {"games.parquet", "rounds.parquet"}
    own, theirs = ({kind: rows_at(at / "rows", kind) for kind in ("games", "rounds")} for at in (tmp_path, folder))
    records = {row["game"]: Path(row["record"]).name for row in own["games"]}
    seeds = {row["wall"]: row["wall_seed"] for row in theirs["games"]}
    assert sorted(records) == list(range(12))
    for kind, rows in own.items():
        expected: dict[str, list[dict[str, Any]]] = {}
        for row in theirs[kind]:
            seed, rotation = seeds[row.pop("wall")], row.pop("rotation")
            row.pop("wall_seed", None)
            row["player"] = row.pop("bot")
            expected.setdefault(f"{seed}-{rotation}.mjson.gz", []).append(row)
        found: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            row.pop("record", None)
            found.setdefault(records[row.pop("game")], []).append(row)
        assert found == expected
        assert [row["seat"] for row in rows[:3]] == [0, 1, 2]


def test_an_interrupted_count_goes_on_with_its_rows(folder: Path, tmp_path: Path) -> None:
    """In parts of five records; and not without the rows that are kept."""
    words = ["stats", str(folder / "*.gz"), "--json", str(tmp_path / "a.json")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.record_stats.CHECKPOINT", 5)
        assert main([*words, "--parquet", str(tmp_path / "whole")]) == OK
        patch.setattr("arena.record_stats.write_json", interrupt)
        with pytest.raises(KeyboardInterrupt):
            main([*words, "--parquet", str(tmp_path / "rows")])
    kept = tmp_path / "a.json.partial.rows"
    assert [path.name for path in sorted(kept.iterdir())] == [f"rounds-{n:06}.npy" for n in (0, 5, 10)]
    (kept / "rounds-000012.npy").write_bytes(b"half of a part")
    part = (kept / "rounds-000005.npy").read_bytes()
    (kept / "rounds-000005.npy").unlink()
    with pytest.raises(SystemExit):
        main([*words, "--parquet", str(tmp_path / "rows")])
    (kept / "rounds-000005.npy").write_bytes(part)
    (kept / "rounds-000012.npy").write_bytes(b"half of a part")
    assert main([*words, "--parquet", str(tmp_path / "rows")]) == OK
    for kind in ("games", "rounds"):
        assert rows_at(tmp_path / "rows", kind) == rows_at(tmp_path / "whole", kind)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "rows", "whole"]


def test_the_tables_show_the_players_that_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["stats", str(folder / "*.gz"), "--player", "rule", "--player", "random", "--statistics"]
    assert main(words) == OK
    out = capsys.readouterr().out
    assert "Results: 12 games of 3 players" in out
    assert "other players 1" in out
    assert "Yaku, % of wins" in out
    assert "efficiency" not in out
    assert main(["stats", str(folder / "*.gz"), *(f"--player={bot}" for bot in BOTS), "--player=rule"]) == OK
    assert "other players" not in capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 100


def test_one_game_is_no_games(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(min(folder.glob("*.gz")))]) == OK
    assert "Results: 1 game of 3 players" in capsys.readouterr().out


def test_a_name_that_nobody_has_is_answered_with_close_ones(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["stats", str(folder / "*.gz"), "--player", "ruel"])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert "Results: 12 games of 3 players" in printed.out, "they were counted, after all"
    error = printed.err.splitlines()[-1]
    assert "--player ruel" in error
    assert "there are rule" in error


def test_what_does_not_count_is_named_and_the_rest_is_counted(folder: Path, tmp_path: Path) -> None:
    """A game that the rules deny, one that does not end, one that is damaged; and a seat that another has played."""
    first, second, third, fourth = find_records([folder])[:4]
    lines = gzip.decompress(first.read_bytes()).decode().splitlines()
    number, won = next((at, json.loads(line)) for at, line in enumerate(lines) if '"type":"hora"' in line)
    denied = [*lines[:number], json.dumps(won | {"hora_points": won["hora_points"] + 100}), *lines[number + 1 :]]
    (tmp_path / "denied.mjson").write_text("\n".join(denied))
    lines = gzip.decompress(second.read_bytes()).decode().splitlines()
    rounds = [at for at, line in enumerate(lines) if '"type":"end_kyoku"' in line]
    (tmp_path / "no_end.mjson").write_text("\n".join([*lines[: rounds[1] + 1], '{"type":"end_game"}']))
    (tmp_path / "damaged.mjson").write_bytes(third.read_bytes()[:500])
    lines = gzip.decompress(fourth.read_bytes()).decode().splitlines()
    seat = json.loads(lines[0])["names"].index("rule")
    error = {"type": "error", "actor": seat, "message": "gone", "played_by": "safe defaults"}
    (tmp_path / "handed_over.mjson").write_text("\n".join([*lines[:9], json.dumps(error), *lines[9:]]))
    rows = tmp_path / "rows"
    document = counted(tmp_path, str(tmp_path / "*.mjson"), "--parquet", str(rows), code=FAILED)
    assert document["games"] == 1
    assert {Path(fault.split(":")[0]).name for fault in document["faults"]} == {
        "denied.mjson", "no_end.mjson", "damaged.mjson",
    }  # fmt: skip
    assert {row["player"] for row in document["players"][1:]} == {"efficiency", "random"}
    assert {row["player"] for row in rows_at(rows, "rounds")} == {"efficiency", "random", None}
    assert [row["player"] for row in rows_at(rows, "games")].count(None) == 1


def test_a_game_that_goes_on_after_its_end_is_not_counted() -> None:
    """As some did on Tenhou in March 2009: a leading dealer was tenpai in the last round."""
    with pytest.raises(RecordError, match="the game continues after its end by the rules"):
        count_record(of_march_2009("234678p3337746s"), "own")


def test_no_record_leaves_the_file_that_was_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.json").write_text("of last week")
    assert main(["stats", str(tmp_path / "empty"), "--json", str(tmp_path / "a.json")]) == FAILED
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "empty"]
    assert (tmp_path / "a.json").read_text() == "of last week"
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_count_does_not_go_on_with_other_sources(folder: Path, tmp_path: Path) -> None:
    options, paths = Namespace(json=tmp_path / "a.json", parquet=None), find_records([folder / "*.gz"])
    open_count(options, paths)
    open_count(options, paths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.record_stats.digest_of_sources", lambda *packages: "others")
        with pytest.raises(ValueError, match="is of another job"):
            open_count(options, paths)


@pytest.mark.parametrize(
    "change",
    [
        {"names": ["a", "b", 3]}, {"names": ["a"]}, {"counts": [[1 << 40] * 11] * 3}, {"counts": 3}, {"tallies": "?"},
        {"placements": [[], 1, 2]}, {"points": None}, {"record": 3},
    ],
)  # fmt: skip
def test_a_journal_of_a_stranger_is_one_error(
    folder: Path, tmp_path: Path, change: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["stats", str(folder / "*.gz"), "--json", str(tmp_path / "a.json")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.record_stats.Count.keep", lambda count: None)
        patch.setattr("arena.record_stats.write_json", interrupt)
        with pytest.raises(KeyboardInterrupt):
            main(words)
    first = count_record(read_records(find_records([folder / "*.gz"])[0]), "x")
    entry = {"done": 1, "left_out": 0, "games": [first.as_json() | change], "faults": []}
    with (tmp_path / "a.json.partial").open("a") as file:
        file.write(json.dumps(entry) + "\n")
    with pytest.raises(SystemExit):
        main(words)
    assert "a.json.partial is damaged" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("start", ['{"type":"start_game"}', '{"type":"start_game","names":["A","",""]}'])
def test_a_record_without_names_is_counted_as_far_as_they_go(tmp_path: Path, start: str) -> None:
    lines = (DATA / "records" / "phoenix_2020_1.mjson").read_text().splitlines()
    (tmp_path / "a.mjson").write_text("\n".join([start, *lines[1:]]))
    document = counted(tmp_path, str(tmp_path / "a.mjson"))
    assert document["games"] == 1
    assert [row["player"] for row in document["players"]] == (["all players", "A"] if "A" in start else [])


def test_names_cannot_change_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (DATA / "records" / "phoenix_2020_1.mjson").read_text().replace('"A"', '"\\u001b[2JA"', 1)
    (tmp_path / "a.mjson").write_text(text)
    assert main(["stats", str(tmp_path / "a.mjson"), "--statistics"]) == OK
    out = capsys.readouterr().out
    assert "?[2JA" in out
    assert "\x1b" not in out


def test_other_records_and_games_of_four(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    four = (DATA / "records" / "phoenix_2018_1.xml").read_bytes().replace(b'type="185"', b'type="169"')
    (tmp_path / "four.xml").write_bytes(four)
    document = counted(tmp_path, str(DATA / "records" / "phoenix*"), str(tmp_path / "four.xml"))
    assert (document["left_out"], document["faults"]) == (1, [])
    assert "games of four 1" in capsys.readouterr().out
    assert document["games"] > 3
    together = document["players"][0]
    assert together["games"] == 3 * document["games"]
    assert together["first"] == pytest.approx(1 / 3)


def test_no_games_are_a_failure_and_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.mjson").write_text("")
    words = [str(tmp_path / "empty.mjson"), "--parquet", str(tmp_path), "--html", str(tmp_path / "a.html")]
    document = counted(tmp_path, *words, code=FAILED)
    assert (document["games"], document["players"]) == (0, [])
    assert rows_at(tmp_path, "games") == rows_at(tmp_path, "rounds") == []
    assert not (tmp_path / "a.html").exists()
    assert "no games were counted" in capsys.readouterr().out
