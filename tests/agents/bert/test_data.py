"""Training files: the same positions from self-play, records and live views, read back whole and in fair batches."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agents.bert.data import build, records, selfplay, sources, workers
from agents.bert.data.dataset import HELD_OUT_OF, Dataset
from agents.bert.data.decisions import Decisions, parse
from agents.bert.data.records import Fault
from agents.bert.data.shards import DTYPES, Shard, exists, load, save
from agents.bert.data.sources import SourceError
from engine.records.files import write_record
from engine.records.model import Event, GameRecord
from engine.rules import TENHOU
from tests.agents.bert.games import BOTS, SEED, Played, Row, play, rows_in

REPOSITORY = Path(__file__).resolve().parents[3]
N_GAMES = 6
NEEDS_PROC = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
SELF_PLAY = ("--selfplay", ",".join(BOTS), "--games", str(N_GAMES), "--seed", str(SEED), "--jobs", "1")


@pytest.fixture(scope="module")
def live() -> list[Played]:
    return [play(number) for number in range(N_GAMES)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same games from self-play, in three shards."""
    folder = tmp_path_factory.mktemp("data")
    bots = selfplay.make_bots(BOTS, SEED)
    for number, first in enumerate(range(0, N_GAMES, 2)):
        save(selfplay.play(bots, BOTS, SEED, first, 2, Decisions()), folder, number)
    return folder


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "CHUNK", 2)


def chosen(games: list[Played], wanted: Callable[[Played, int], bool] = lambda game, decision: True) -> Counter[Row]:
    """What is to be learned from the decisions that are `wanted`."""
    return Counter(
        row
        for game in games
        for decision, (row, is_open) in enumerate(zip(game.rows, game.open, strict=True))
        if is_open and wanted(game, decision)
    )


def saved(shard: Shard, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    save(shard, folder, 0)
    return folder


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_self_play_is_what_live_views_encode(live: list[Played], folder: Path) -> None:
    rows = rows_in(folder)
    assert Counter(rows) == chosen(live)
    assert len(rows) > 1000
    assert len({row[3] for row in rows}) > 30  # labels


@pytest.mark.parametrize("ending", [".mjson", ".mjson.gz", ".json", ".json.gz"])
def test_records_give_what_live_views_encode(ending: str, live: list[Played], tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}{ending}" for number in range(N_GAMES)]
    for game, path in zip(live, paths, strict=True):
        write_record(game.record, path)
    shard, faults = records.gather(paths, Decisions())
    assert faults == []
    expected = chosen(live, lambda game, decision: game.recorded[decision])
    assert Counter(rows_in(saved(shard, tmp_path / "data"))) == expected
    assert expected != chosen(live), "no ron hides a call: the test does not see what becomes of it"


def test_a_game_is_told_by_its_file_name(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    names = ("a.json", "a.mjson.gz", "sub/a.xml", "b.json", "a.b.json")
    ids = [records.identity(tmp_path / name) for name in names]
    assert ids[0] == ids[1] == ids[2]
    assert len(set(ids)) == 3
    assert all(0 <= identity < 1 << 64 for identity in ids)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("all", lambda game, seat: True),
        ("winners", lambda game, seat: game.game.ranks[seat] == 1),
        ("rank:2", lambda game, seat: game.game.ranks[seat] == 2),
        ("rank:3", lambda game, seat: game.game.ranks[seat] == 3),
        ("player:random", lambda game, seat: game.names[seat] == "random"),
        ("player:rule", lambda game, seat: game.names[seat] == "rule"),
    ],
)
def test_whose_decisions_count(
    text: str, wanted: Callable[[Played, int], bool], live: list[Played], tmp_path: Path
) -> None:
    def is_wanted(game: Played, decision: int) -> bool:
        return wanted(game, int(game.views[decision]["viewer"][0]))

    shard = selfplay.play(selfplay.make_bots(BOTS, SEED), BOTS, SEED, 0, N_GAMES, parse(text))
    assert Counter(rows_in(saved(shard, tmp_path / "played"))) == chosen(live, is_wanted)
    paths = [tmp_path / f"{number}.mjson" for number in range(N_GAMES)]
    for game, path in zip(live, paths, strict=True):
        write_record(game.record, path)
    shard, _ = records.gather(paths, parse(text))
    recorded = chosen(live, lambda game, decision: game.recorded[decision] and is_wanted(game, decision))
    assert Counter(rows_in(saved(shard, tmp_path / "recorded"))) == recorded


def test_games_without_the_player_are_left_out(live: list[Played], tmp_path: Path) -> None:
    paths = [tmp_path / "with.mjson", tmp_path / "without.mjson"]
    write_record(renamed(live[0].record, ["a", "b", "c"]), paths[0])
    write_record(renamed(live[1].record, ["d", "e", "f"]), paths[1])
    shard, faults = records.gather(paths, parse("player:b"))
    assert faults == []
    assert shard.games["id"].tolist() == [records.identity(paths[0])]
    assert set(shard.positions["seat"].tolist()) == {1}
    assert shard.games["n_positions"].tolist() == [len(shard.positions)]


def renamed(record: GameRecord, names: list[str]) -> GameRecord:
    return GameRecord([record.events[0] | {"names": names}, *record.events[1:]], TENHOU, "own")


@pytest.mark.parametrize("text", ["", "al", "rank:0", "rank:4", "rank", "player:", "player", "winners:1"])
def test_other_words_for_whose_decisions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"none of all, winners, player:NAME"):
        parse(text)


# -- record files of no use


def changed(record: GameRecord, number: int, **keys: object) -> GameRecord:
    """The record with some keys of one event changed."""
    events: list[Event] = [*record.events]
    events[number] = events[number] | keys
    return GameRecord(events, TENHOU, "own")


def third_discard(record: GameRecord, number: int) -> int:
    """The event that is the third discard of round `number`."""
    start = [place for place, event in enumerate(record.events) if event["type"] == "start_kyoku"][number]
    return [place for place, event in enumerate(record.events) if event["type"] == "dahai" and place > start][2]


def test_bad_files_are_listed_and_cost_nothing_else(live: list[Played], tmp_path: Path) -> None:
    good = [tmp_path / "0.mjson", tmp_path / "9.mjson"]
    for path, game in zip(good, live, strict=False):
        write_record(game.record, path)
    ended = live[2].record
    write_record(GameRecord([*ended.events[:-1], {"type": "end_game"}], TENHOU, "own"), tmp_path / "unended.mjson")
    write_record(changed(ended, 1, scores=[10**30] * 3), tmp_path / "odd.mjson")
    write_record(changed(ended, len(ended.events) - 1, scores=["a", "b"]), tmp_path / "scores.mjson")
    halfway, place = [*ended.events], third_discard(ended, 2)
    halfway[place] = {key: value for key, value in halfway[place].items() if key != "pai"}
    write_record(GameRecord(halfway, TENHOU, "own"), tmp_path / "halfway.mjson")
    open_round = [event for event in ended.events if event["type"] != "end_kyoku"]
    write_record(GameRecord(open_round, TENHOU, "own"), tmp_path / "open.mjson")
    (tmp_path / "text.mjson").write_text("hello")
    (tmp_path / "gone.mjson").symlink_to(tmp_path / "nowhere")
    names = ("0", "gone", "halfway", "odd", "open", "scores", "text", "unended", "9")
    shard, faults = records.gather([tmp_path / f"{name}.mjson" for name in names], Decisions())
    assert Counter(rows_in(saved(shard, tmp_path / "data"))) == chosen(live[:2], lambda game, i: game.recorded[i])
    assert shard.games["id"].tolist() == list(map(records.identity, good))
    assert [Path(fault.file).stem for fault in faults] == list(names[1:-1])
    assert all(fault.what.startswith("left out: ") for fault in faults)
    assert faults[-1] == Fault(
        str(tmp_path / "unended.mjson"), "end_game", "left out: the final scores are not recorded"
    )


def test_where_a_record_departs_the_rest_of_the_round_is_lost(live: list[Played], tmp_path: Path) -> None:
    game = live[3]
    event = third_discard(game.record, 1)
    tile = "1m" if game.record.events[event]["pai"] != "1m" else "9m"
    path = tmp_path / "cheat.mjson"
    write_record(changed(game.record, event, pai=tile), path)
    shard, faults = records.gather([path], Decisions())
    assert [(fault.file, fault.what.split()[0]) for fault in faults] == [(str(path), "recorded")]
    kept = Counter(rows_in(saved(shard, tmp_path / "data")))
    others = chosen([game], lambda game, decision: game.rounds[decision] != 1)
    assert kept > others  # what came before that event is kept, with the round's result
    assert kept < chosen([game])


# -- reading


def test_the_split_is_by_game(folder: Path) -> None:
    train, held_out = Dataset(folder), Dataset(folder, held_out=True)
    assert not set(train.places) & set(held_out.places)
    games = np.concatenate([np.array(load(folder, number).games) for number in range(3)])
    of_game = np.repeat(np.arange(N_GAMES), games["n_positions"])
    is_held_out = games["id"] % HELD_OUT_OF == 0
    assert 0 < is_held_out.sum() < N_GAMES
    assert np.array_equal(held_out.places, np.flatnonzero(is_held_out[of_game]))
    assert np.array_equal(train.places, np.flatnonzero(~is_held_out[of_game]))
    assert (len(train), len(held_out)) == (len(train.places), len(held_out.places))


def test_positions_of_a_shard_follow_game_after_game(folder: Path) -> None:
    for number in range(3):
        shard = load(folder, number)
        counts = shard.games["n_positions"]
        assert np.array_equal(shard.positions["game"], np.repeat(np.arange(len(counts)), counts))
        assert (
            shard.games["n_tokens"].sum()
            == (shard.positions["n_state"].astype(int) + shard.positions["n_record"] + 2).sum()
        )


@pytest.mark.parametrize("mixed", [1, 16])
def test_an_epoch_has_every_position_once(mixed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.bert.data.dataset.MIXED_SHARDS", mixed)
    data = Dataset(folder)
    size = 32
    missed: list[int] = []
    for epoch in range(8):
        places = np.concatenate(list(data.batches(size, seed=1, epoch=epoch)))
        assert len(np.unique(places)) == len(places) == len(data) // size * size
        assert np.isin(places, data.places).all()
        missed += np.setdiff1d(data.places, places).tolist()
    assert len(set(missed)) > len(missed) // 2  # not always the same
    assert abs(data.lengths(np.array(missed)).mean() - data.lengths(data.places).mean()) < 5  # nor only long ones


def test_the_order_is_that_of_seed_and_epoch(folder: Path) -> None:
    def order(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in Dataset(folder).batches(64, seed, epoch)]

    assert order(1, 0) == order(1, 0)
    assert sorted(order(1, 0)) != sorted(order(1, 1))
    assert sorted(order(1, 0)) != sorted(order(2, 0))


def test_batches_share_out_positions_by_length(folder: Path) -> None:
    data = Dataset(folder)
    batches = list(data.batches(32, seed=0, epoch=0))
    spread = np.mean([np.ptp(data.lengths(batch)) for batch in batches])
    assert spread < np.ptp(data.lengths(data.places)) / 4
    longest = [data.lengths(batch).max() for batch in batches]
    assert longest != sorted(longest)  # the batches themselves come in any order
    for batch in batches:
        ids = data.batch(batch).ids
        assert data.lengths(batch).max() <= ids.shape[1] < data.lengths(batch).max() + 8


def test_few_positions_make_one_batch(folder: Path) -> None:
    data = Dataset(folder, held_out=True)
    (batch,) = data.batches(100_000, seed=0, epoch=0)
    assert sorted(batch) == data.places.tolist()


def test_what_is_no_training_data_is_said_so(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no training files here"):
        Dataset(tmp_path)
    for name, content in folder_bytes(folder).items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "000001.state.npy").write_bytes(folder_bytes(folder)["000001.state.npy"][:-50])
    with pytest.raises(ValueError, match=r"000001\.state\.npy: damaged or missing"):
        Dataset(tmp_path)
    np.save(tmp_path / "000001.state.npy", np.zeros(10))
    with pytest.raises(ValueError, match=r"000001\.state\.npy: made by another version"):
        Dataset(tmp_path)


# -- the command


def make(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command: exit code, what it prints, and its notes."""
    code = build.main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line with which the command refuses its arguments."""
    with pytest.raises(SystemExit) as stop:
        build.main([str(argument) for argument in arguments])
    out, line = capsys.readouterr()
    assert (stop.value.code, out, line.count("\n")) == (2, "", 1)
    assert line.startswith("agents.bert data: ")
    return line


@pytest.mark.usefixtures("small_shards")
def test_an_interrupted_command_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, interrupted = tmp_path / "whole", tmp_path / "interrupted"
    code, told, notes = make(capsys, whole, *SELF_PLAY)
    assert (code, notes) == (0, "")
    assert f"{N_GAMES} games (1 held out)" in told
    assert "bytes a position" in told
    fill = workers.fill

    def fill_first(folder: Path, number: int, chunk: sources.Chunk) -> int:
        if number == 1:
            (folder / "000001.state.unfinished").touch()
            raise KeyboardInterrupt
        return fill(folder, number, chunk)

    with monkeypatch.context() as patch:
        patch.setattr(workers, "fill", fill_first)
        code, _, notes = make(capsys, interrupted, *SELF_PLAY)
    assert (code, notes) == (130, "agents.bert data: interrupted; the same command goes on\n")
    assert [exists(interrupted, number) for number in range(3)] == [True, False, False]
    code, told_later, notes = make(capsys, interrupted, *SELF_PLAY)
    assert (code, notes) == (0, "going on from 2 of 6 games\n")
    assert told_later == told.replace(str(whole), str(interrupted))
    assert folder_bytes(interrupted) == folder_bytes(whole)
    code, told_again, notes = make(capsys, interrupted, *SELF_PLAY)
    assert (code, told_again, notes) == (0, told_later, f"{interrupted}: finished already\n")
    assert folder_bytes(interrupted) == folder_bytes(whole)


@pytest.mark.usefixtures("small_shards")
def test_records_and_self_play_in_one_folder(
    capsys: pytest.CaptureFixture[str], live: list[Played], folder: Path, tmp_path: Path
) -> None:
    archive, out = tmp_path / "archive", tmp_path / "out"
    archive.mkdir()
    for number, game in enumerate(live[:3]):
        write_record(game.record, archive / f"{number}.mjson.gz")
    (archive / "bad.json").write_text("{}")
    (archive / "note.txt").write_text("no record")
    assert make(capsys, out, *SELF_PLAY)[0] == 0
    line = refusal(capsys, out, "--records", archive)
    assert "has other data (--selfplay random,random,rule --seed 9 --decisions all)" in line
    assert "--add" in line
    code, told, _ = make(capsys, out, "--records", archive, "--add", "--jobs", 1)
    assert code == 0
    assert "9 games" in told
    assert f"1 files of no use, in whole or in part: see {out / 'bad_files.txt'}" in told
    (line,) = (out / "bad_files.txt").read_text().splitlines()
    assert line.split("\t")[:2] == [str(archive / "bad.json"), "head"]
    recorded = chosen(live[:3], lambda game, decision: game.recorded[decision])
    assert Counter(rows_in(out)) == Counter(rows_in(folder)) + recorded
    before = folder_bytes(out)
    code, told_again, notes = make(capsys, out, "--records", archive, "--jobs", 1)
    assert (code, told_again, notes) == (0, told, f"{out}: finished already\n")
    assert folder_bytes(out) == before
    write_record(live[3].record, archive / "3.mjson")
    assert "was begun with 4 files" in refusal(capsys, out, "--records", archive, "--add")
    assert "was begun with 6 games" in refusal(capsys, out, *SELF_PLAY, "--games", 7)


def test_several_mixes_in_one_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("--selfplay", "random,random,random", "--selfplay", 'tsumogiri,"random",random', "--games", 2)
    code, told, _ = make(capsys, tmp_path / "out", *arguments, "--jobs", 1)
    assert code == 0
    assert "4 games" in told
    parts = json.loads((tmp_path / "out" / "data.json").read_text())["parts"]
    assert [part["options"].split()[1] for part in parts] == ["random,random,random", "tsumogiri,random,random"]


def test_an_archive_of_bad_files_is_a_failure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{}")
    code, _, notes = make(capsys, tmp_path / "out", "--records", tmp_path)
    assert (code, notes) == (1, f"agents.bert data: {tmp_path / 'out'}: nothing to learn from\n")


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "give --records PATH or --selfplay A,B,C"),
        (("--selfplay", "rule,ruel,rule"), "unknown bot 'ruel'"),
        (("--selfplay", "rule,rule"), "names 2 bots"),
        (("--selfplay", '"rule,rule,rule'), "unexpected end of data"),
        (("--selfplay", "rule,rule,rule", "--games", "0"), "'0' is not a whole number from 1 up"),
        (("--selfplay", "rule,rule,rule", "--decisions", "rank:4"), "'rank:4' is none of all, winners"),
        (("--selfplay", "rule,rule,rule", "--decisions", "player:me"), "no such bot plays"),
        (("--records", "/nowhere"), "/nowhere: no such file or folder"),
        (("--records", "."), "no game records in ."),
    ],
)
def test_a_bad_argument_is_one_line(
    arguments: tuple[str, ...], what: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert what in refusal(capsys, tmp_path / "out", *arguments)
    assert not (tmp_path / "out").exists()


def test_a_place_that_cannot_be_is_one_line(capsys: pytest.CaptureFixture[str], folder: Path, tmp_path: Path) -> None:
    assert "Not a directory" in refusal(capsys, "/dev/null/data", *SELF_PLAY)
    assert "no data.json that tells of what" in refusal(capsys, folder, *SELF_PLAY)
    (tmp_path / "data.json").write_text("{")
    assert "data.json is damaged" in refusal(capsys, tmp_path, *SELF_PLAY)


# -- processes


@dataclass(frozen=True)
class Fatal:
    """A chunk on which a worker dies."""

    n: int = 1

    def gather(self) -> tuple[Shard, list[Fault]]:
        """Die as if memory had run out."""
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


@dataclass(frozen=True)
class Waiting:
    """A chunk without positions that takes some time."""

    seconds: float
    n: int = 1

    def gather(self) -> tuple[Shard, list[Fault]]:
        """Wait."""
        time.sleep(self.seconds)
        return Shard(*(np.empty(0, dtype=dtype) for dtype in DTYPES)), []


def test_who_stops_does_not_wait_for_the_workers(tmp_path: Path) -> None:
    filled = workers.fill_all(tmp_path, [(0, Waiting(0)), (1, Waiting(0)), (2, Waiting(100))], jobs=2)
    assert [next(filled), next(filled)] == [1, 1]
    start = time.monotonic()
    filled.close()
    assert time.monotonic() - start < 50
    assert [exists(tmp_path, number) for number in range(3)] == [True, True, False]


def test_a_worker_that_dies_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="a worker process ended unexpectedly"):
        list(workers.fill_all(tmp_path, [(0, Fatal()), (1, Fatal())], jobs=2))
    assert list(tmp_path.iterdir()) == []


def test_a_bot_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        name = "broken"

        def act(self, views: np.ndarray) -> np.ndarray:
            raise RuntimeError("out of ideas")

    monkeypatch.setattr(sources, "bots_of", lambda specs, seed: [Broken()] * 3)
    with pytest.raises(SourceError, match=r"^bot a, game 256, seat 0: raised RuntimeError: out of ideas"):
        sources.Games(("b", "c", "a"), 0, "all", 256, 1).gather()


@pytest.fixture
def command(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Far more self-play than a test has time for, with two workers, in a process group of its own."""
    code = "import sys; from agents.bert.data.build import main; sys.exit(main(sys.argv[1:]))"
    arguments = [str(tmp_path / "out"), "--selfplay", "tsumogiri,tsumogiri,tsumogiri", "--games", "100000"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments, "--jobs", "2"],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300  # a cold cache is filled first
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def processes(group: int) -> int:
    """How many processes of the group live."""
    n = 0
    for stat in [path / "stat" for path in Path("/proc").iterdir() if path.name.isdigit()]:
        try:
            state, _, of_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        n += int(of_group) == group and state != "Z"
    return n


@NEEDS_PROC
@pytest.mark.parametrize("n_whole", [0, 3])
def test_ctrl_c_leaves_whole_shards_and_no_processes(
    n_whole: int, command: subprocess.Popen[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    wait_for(lambda: exists(out, n_whole - 1) if n_whole else processes(command.pid) == 3)  # a worker is starting
    os.killpg(command.pid, signal.SIGINT)
    told, notes = command.communicate(timeout=30)
    assert command.returncode == 130
    assert notes.splitlines()[-1] == "agents.bert data: interrupted; the same command goes on"
    assert "Traceback" not in notes
    whole = [number for number in range(400) if exists(out, number)]
    assert len(whole) >= n_whole
    assert f"{256 * len(whole):,} games" in told
    assert all(len(load(out, number).positions) for number in whole)
    wait_for(lambda: processes(command.pid) == 0)


@NEEDS_PROC
def test_workers_end_with_a_command_that_is_killed(command: subprocess.Popen[str], tmp_path: Path) -> None:
    wait_for(lambda: exists(tmp_path / "out", 1))
    os.kill(command.pid, signal.SIGKILL)
    command.wait()
    wait_for(lambda: processes(command.pid) == 0)
