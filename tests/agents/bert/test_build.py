"""The command `python -m agents.bert data`: bad arguments, resuming, what it says. Ctrl-C: see test_interruptions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from agents.bert.cli import main
from agents.bert.training.data import selfplay, sources, workers
from agents.bert.training.data.selfplay import SelfPlayConfig
from agents.bert.training.data.sources import SelfPlayChunk, SourceError
from engine.common import progress
from engine.records.files import write_record
from tests.support.folders import folder_bytes
from tests.support.small_games import BOTS, SEED, chosen, play, rows_in

N_GAMES = 6
SELF_PLAY = ("--selfplay", ",".join(BOTS), "--games", str(N_GAMES), "--seed", str(SEED))


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MIN_CHUNK", 2)


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUKIDORA_JOBS", "1")


@pytest.fixture(autouse=True)
def no_progress_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """No progress lines on stderr, even if the machine is slow."""
    monkeypatch.setattr(progress, "MIN_LINE_SECONDS", 3600.0)


def make(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command; returns exit code, stdout and stderr."""
    code = main(["data", *map(str, arguments)])
    return code, *capsys.readouterr()


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The line with which the command refuses its arguments."""
    with pytest.raises(SystemExit) as stop:
        main(["data", *map(str, arguments)])
    out, line = capsys.readouterr()
    assert (stop.value.code, out, line.count("\n")) == (2, "", 1)
    assert line.startswith("agents.bert data: ")
    return line


@pytest.mark.usefixtures("small_shards")
def test_a_finished_command_says_so_and_clears_up(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = make(capsys, tmp_path, *SELF_PLAY)
    assert (code, err) == (0, "")
    assert f"{N_GAMES} games (1 for validation)" in out
    assert "bytes a sample" in out
    made = folder_bytes(tmp_path)
    (tmp_path / "000001.games.npy").unlink()
    (tmp_path / "000001.state.npy.tmp").touch()  # as after a kill
    code, again, err = make(capsys, tmp_path, *SELF_PLAY)
    assert (code, again) == (0, out)
    assert f"4 of {N_GAMES} games" in err
    assert make(capsys, tmp_path, *SELF_PLAY)[:2] == (0, out)
    assert folder_bytes(tmp_path) == made


@pytest.mark.usefixtures("small_shards")
def test_records_and_self_play_in_one_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    live = [play(number) for number in range(N_GAMES)]
    archive, out = tmp_path / "archive", tmp_path / "out"
    archive.mkdir()
    for number, game in enumerate(live[:3]):
        write_record(game.record, archive / f"{number}.mjson.gz")
    (archive / "bad.json").write_text("{}")
    (archive / "note.txt").write_text("no record")
    assert make(capsys, out, *SELF_PLAY)[0] == 0
    line = refusal(capsys, out, "--records", archive)
    assert "--selfplay random,random,rule --seed 9 --decisions all" in line
    assert "--add" in line
    code, printed, _ = make(capsys, out, "--records", archive, "--add")
    assert code == 0
    assert "9 games" in printed
    assert f"1 files unusable, in whole or in part: see {out / 'bad_files.txt'}" in printed
    (line,) = (out / "bad_files.txt").read_text().splitlines()
    assert line.split("\t")[:2] == [str(archive / "bad.json"), "head"]
    recorded = chosen(live[:3], lambda game, decision: game.recorded[decision])
    assert Counter(rows_in(out)) == chosen(live) + recorded
    before = folder_bytes(out)
    code, printed_again, _ = make(capsys, out, "--records", archive)
    assert (code, printed_again) == (0, printed)
    assert folder_bytes(out) == before
    write_record(live[3].record, archive / "3.mjson")
    assert "4 files" in refusal(capsys, out, "--records", archive, "--add")
    assert "6 games" in refusal(capsys, out, *SELF_PLAY, "--games", 7)


def test_several_self_plays_in_one_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ("--selfplay", "random,random,random", "--selfplay", 'tsumogiri,"random",random', "--games", 2)
    code, out, _ = make(capsys, tmp_path / "out", *arguments)
    assert code == 0
    assert "4 games" in out
    parts = json.loads((tmp_path / "out" / "manifest.json").read_text())["parts"]
    assert [part["options"].split()[1] for part in parts] == ["random,random,random", "tsumogiri,random,random"]


def test_an_archive_of_bad_files_is_a_failure_and_leaves_the_folder_free(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.json").write_text("{}")
    out = tmp_path / "out"
    code, printed, err = make(capsys, out, "--records", tmp_path / "bad.json")
    assert code == 1
    assert str(out) in err
    assert f"see {out / 'bad_files.txt'}" in printed
    assert (out / "bad_files.txt").read_text().startswith(str(tmp_path / "bad.json"))
    write_record(play(0).record, tmp_path / "good.mjson")
    code, printed, _ = make(capsys, out, "--records", tmp_path / "good.mjson")
    assert code == 0
    assert "unusable" not in printed
    assert sorted(path.name for path in out.glob("*.games.npy")) == ["000000.games.npy"]


def test_options_of_a_command_that_made_nothing_can_be_changed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(folder: Path, number: int, chunk: sources.Chunk) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(workers, "fill", interrupted)
        assert make(capsys, tmp_path, *SELF_PLAY)[0] == 130
    code, printed, _ = make(capsys, tmp_path, *SELF_PLAY, "--games", 2)
    assert code == 0
    assert "2 games" in printed


@pytest.mark.parametrize(
    ("games", "last_line"),
    [
        (N_GAMES, "  python -m agents.bert train 'my data' runs/first --from tiny --batch-size 128"),
        (1, "wrote my data, which has no game for validation (one in twenty is for validation): add games with --add"),
    ],
)
def test_the_last_line_says_what_to_do_next(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, games: int, last_line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, printed, _ = make(capsys, "my data", *SELF_PLAY, "--games", games)
    assert code == 0
    assert "wrote my data" in printed
    assert printed.splitlines()[-1] == last_line


@pytest.mark.parametrize(("games", "chunks"), [(1, 1), (16, 1), (33, 3), (1024, 32), (8192, 32), (25_600, 100)])
def test_small_jobs_are_cut_for_several_cores(games: int, chunks: int) -> None:
    made = sources.SelfPlay(SelfPlayConfig(("rule",) * 3, games=games)).chunks()
    assert len(made) == chunks
    assert [chunk.first for chunk in made] == [made[0].n_games * index for index in range(chunks)]
    assert sum(chunk.n_games for chunk in made) == games


def test_data_of_another_version_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert make(capsys, tmp_path, *SELF_PLAY)[0] == 0
    monkeypatch.setattr(sources, "MIN_CHUNK", 2)
    assert str(tmp_path) in refusal(capsys, tmp_path, *SELF_PLAY)


def test_a_bot_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        name = "broken"

        def act(self, views: np.ndarray) -> np.ndarray:
            raise RuntimeError("out of ideas")

    monkeypatch.setattr(selfplay, "cached_bots", lambda specs, seed: [Broken()] * 3)
    with pytest.raises(SourceError, match=r"^bot a, game 256, seat 0: raised RuntimeError: out of ideas"):
        SelfPlayChunk(SelfPlayConfig(("b", "c", "a")), first=256, n_games=1).collect()


def test_a_bot_that_a_worker_cannot_make_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text("def eager():\n    raise MemoryError('no room')\n")
    chunk = SelfPlayChunk(SelfPlayConfig((f"{tmp_path}/my_bot.py:eager", "rule", "rule")), first=0, n_games=1)
    with pytest.raises(SourceError, match=r"my_bot\.py:eager cannot be made: .*no room"):
        chunk.collect()
