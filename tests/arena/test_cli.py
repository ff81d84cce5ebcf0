"""The command line of the arena: output, errors, exit codes, Ctrl-C, resuming."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from arena.results import Results
from arena.run import ArenaRun
from arena.running import next_steps, run
from arena.schedule import RunSettings
from engine.contests.seating import ROTATIONS, seating
from tests.support.arena_runs import Arena, without_speed
from tests.support.folders import folder_bytes
from tests.support.processes import group_is_gone, start_group, wait_for

RANDOM = ("--bots", "random,tsumogiri,random")
ONLY_HERE = """
from multiprocessing import parent_process

from agents.registry import make

def eager(seed):
    if parent_process() is not None:
        raise MemoryError("no room")
    return make("efficiency", seed)
"""


@pytest.mark.slow
def test_tables_are_plain_text_and_fit_and_the_last_line_says_how_to_keep_the_results(arena: Arena) -> None:
    done = arena(*RANDOM, "--games", 10, "--length", "east", "--rules", "majsoul", "--seed", 3)
    assert "Results: 4 walls in 3 rotations, majsoul east, seed 3" in done.stdout
    assert "12 games" in done.stderr
    assert "random#2" in done.stdout
    assert "games/s" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "…" not in done.stdout, "something was cut"
    assert re.search(r"--json FILE .*--save FOLDER ", done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bot", "seat", "what"),
    [
        ("illegal", 2, r"may not answer 127; legal: (tsumogiri|discard|nine|pass|pon|riichi|nukidora|ankan)"),
        ("raising", 1, r"raised ZeroDivisionError: out of ideas \(visiting_bots.py, line \d+\)"),
    ],
)
def test_a_failing_bot_is_named_with_game_and_seat(arena: Arena, bot: str, seat: int, what: str) -> None:
    settings = RunSettings(("random", bot, "tsumogiri"), 30, 0, "tenhou", "hanchan")
    done = arena("--bots", ",".join(settings.bots), "--games", settings.games, "--jobs", 1, code=1)
    assert done.stdout == "no games finished yet\n"
    line = done.stderr.splitlines()[-1]
    location = rf"game (\d+) \(wall seed ([0-9a-f]{{16}}), rotation ([012])\), seat {seat}"
    found = re.fullmatch(rf"arena: bot {bot}, {location}: {what}.*", line)
    assert found, line
    assert "Traceback" not in done.stderr
    wall, rotation = divmod(int(found[1]), ROTATIONS)
    assert [int(found[2], 16)] == settings.wall_seeds([wall])
    assert rotation == int(found[3])
    assert seating([wall])[0, rotation, seat] == 1


@pytest.fixture
def small(tmp_path: Path) -> tuple[object, ...]:
    """The options of a short run."""
    return (*RANDOM, "--games", 6, "--length", "east", "--jobs", 1, "--json", tmp_path / "new" / "results.json")


@pytest.mark.slow
def test_finished_results_are_printed_again_and_never_replaced(
    arena: Arena, small: tuple[object, ...], tmp_path: Path
) -> None:
    json = tmp_path / "new" / "results.json"
    first = arena(*small)
    assert first.stdout.splitlines()[-1] == f"results in {json}"
    before = json.read_bytes()
    again = arena(*small)
    assert again.stdout.splitlines()[:-1] == first.stdout.splitlines()[:-1]
    assert again.stdout.splitlines()[-1].startswith(f"{json} ")
    for options, what in (("--seed", 8), "seed"), (("--games", 9), "games"), (("--bots", "random,rule,rule"), "bots"):
        other = arena(*small, *options, code=2)
        assert other.stderr.startswith(f"arena: {json} ")
        assert what in other.stderr
    assert json.read_bytes() == before
    assert [path.name for path in json.parent.iterdir()] == [json.name]


@pytest.mark.slow
def test_the_statistics_are_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred thousand games, that takes more than a second."""
    document, calls = Results.document, 0

    def counted(*arguments: Any) -> dict[str, Any]:
        nonlocal calls
        calls += 1
        return document(*arguments)

    monkeypatch.setattr(Results, "document", counted)
    settings = RunSettings(("random", "random", "random"), 6, 0, "tenhou", "east")
    notes = Console(quiet=True)
    assert run(ArenaRun(settings, 0, tmp_path / "r.json", html=tmp_path / "r.html"), notes, notes) == 0
    assert calls == 1
    assert ArenaRun(settings, 0, tmp_path / "r.json").match.games[-1].rotation == 2


@pytest.mark.slow
def test_saved_games_of_another_run_are_not_replaced(arena: Arena, tmp_path: Path) -> None:
    run = partial(arena, *RANDOM, "--games", 3, "--length", "east", "--save", tmp_path / "a" / "b")
    done = run()
    games = folder_bytes(tmp_path / "a" / "b")
    first = min(games, key=lambda name: name.split("-")[1])
    expected = f"3 games in {tmp_path / 'a' / 'b'}; to see one: python -m engine show {tmp_path / 'a' / 'b' / first}"
    assert done.stdout.splitlines()[-1] == expected
    for options in ("--bots", "random,rule,random"), ("--rules", "majsoul"), ("--scores", "25000,35000,45000"):
        refused = run(*options, code=2)
        assert re.fullmatch(r"arena: .*/a/b/\w{16}-0\.mjson\.gz .*\n", refused.stderr)
    assert folder_bytes(tmp_path / "a" / "b") == games
    run()
    assert folder_bytes(tmp_path / "a" / "b") == games, "the same run gives the same games"
    before = gzip.decompress(games[first])
    (tmp_path / "a" / "b" / first).write_bytes(
        gzip.compress(re.sub(rb'"wall_seed":"(\d+)"', rb'"wall_seed":\1', before))
    )
    assert folder_bytes(tmp_path / "a" / "b") != games, "as earlier versions wrote the seed"
    run()
    assert folder_bytes(tmp_path / "a" / "b") == games
    run("--seed", 1)
    assert folder_bytes(tmp_path / "a" / "b").items() > games.items(), "games on other walls are kept"


@pytest.mark.slow
def test_the_first_table_says_how_to_read_it_and_how_to_go_on(arena: Arena) -> None:
    done = arena("--games", 6, "--length", "east", "--jobs", 1)
    lines = done.stdout.splitlines()
    assert "lower placement is better" in lines[1]
    assert len(lines[-1]) <= 80
    assert "\n".join(lines).endswith(next_steps())
    assert "instead of" not in done.stderr


def test_how_to_go_on_begins_with_the_virtual_environment_where_it_is_not_activated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "activate").touch()
    (programs / "python").touch(0o755)
    monkeypatch.setattr(sys, "prefix", str(programs.parent))
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin")
    assert next_steps().startswith("next (first: . .venv/bin/activate):\n")
    monkeypatch.setenv("PATH", str(programs))
    assert next_steps().startswith("next:\n")


@pytest.mark.slow
def test_an_encoding_without_the_characters_of_the_tables_loses_nothing(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(
        "from agents.registry import make as make_built_in\n\n\n"
        "def make(seed):\n    bot = make_built_in('random', seed)\n    bot.name = '雀士'\n    return bot\n"
    )
    done = arena(
        "--bots", f"{tmp_path}/bot.py:make,random,random", "--games", 6, "--length", "east", PYTHONIOENCODING="ascii"
    )
    assert done.stdout.isascii()
    assert done.stdout.count(" +/- ") == 10
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_statistics_so_far_are_printed_when_a_bot_fails(arena: Arena) -> None:
    done = arena("--bots", "random,raising:1500,random", "--games", 3000, "--jobs", 1, "--length", "east", code=1)
    assert "bot raising" in done.stderr
    games = ROTATIONS * int(re.search(r"Results: ([\d,]+) walls", done.stdout)[1].replace(",", ""))  # type: ignore[index]
    assert 0 < games < 3000


@pytest.mark.slow
def test_a_worker_that_dies_ends_the_run_with_one_line(arena: Arena) -> None:
    done = arena("--bots", "random,dying,random", "--games", 30, "--jobs", 2, code=1)
    assert "NUKIDORA_JOBS" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_bot_that_only_workers_cannot_make_ends_the_run_with_one_line(arena: Arena, tmp_path: Path) -> None:
    bot = f"{tmp_path}/my_bot.py:eager"
    (tmp_path / "my_bot.py").write_text(ONLY_HERE)
    done = arena("--bots", f"{bot},random,tsumogiri", "--games", 30, "--jobs", 2, code=1)
    assert "my_bot.py:eager cannot be made" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_ctrl_c_prints_the_statistics_and_the_run_can_be_resumed(
    arena: Arena, environment: dict[str, str], tmp_path: Path
) -> None:
    options = ["--bots", "random,hanging,tsumogiri", "--games", "1200", "--length", "east", "--jobs", "2"]
    json, partial = tmp_path / "results.json", tmp_path / "results.json.partial"
    process = start_group(
        "-m", "arena", *options, "--json", json, environment=environment | {"CHECKPOINT": str(partial)}
    )
    wait_for(lambda: len(list(tmp_path.glob("*.hanging"))) == 2, 300)
    for worker in tmp_path.glob("*.hanging"):  # a terminal interrupts the whole group; in this order, workers have time
        os.kill(int(worker.stem), signal.SIGINT)  # to react to it, if they do
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)  # the chunks that were begun would take ten minutes
    assert process.returncode == 130
    assert re.search(r"Results: [\d,]+ walls", stdout)
    assert "Traceback" not in stdout + stderr
    assert not json.exists()
    wait_for(lambda: group_is_gone(process.pid), 60)

    refused = arena(*options, "--seed", 9, "--json", json, code=2)
    assert "seed" in refused.stderr

    resumed = arena(*options, "--json", json)
    assert re.search(r"[\d,]+ of 1,200 games", resumed.stderr)
    assert not partial.exists()

    arena(*options, "--json", tmp_path / "whole.json")
    assert without_speed(json) == without_speed(tmp_path / "whole.json")


@pytest.mark.slow
def test_a_run_interrupted_before_its_last_step_plays_nothing_again(arena: Arena, tmp_path: Path) -> None:
    """All chunks are in the checkpoint, but the JSON file could not be written."""
    options = [*RANDOM, "--games", 6, "--json", tmp_path / "results.json"]
    blocked = tmp_path / "results.json.tmp"
    blocked.mkdir()
    failed = arena(*options, code=1)
    assert "results.json.tmp: Is a directory" in failed.stderr
    blocked.rmdir()
    done = arena(*options)
    assert "6 of 6 games" in done.stderr
    assert "0 games in 0.0 s" in done.stdout
    assert len(without_speed(tmp_path / "results.json")["games"]) == 6


@pytest.mark.slow
@pytest.mark.parametrize("module", ["numpy", "arena.run"])
def test_ctrl_c_while_it_starts_is_one_line(environment: dict[str, str], module: str) -> None:
    """As soon as it has imported a module, which Python says with ``-X importtime``."""
    process = start_group(
        *("-X", "importtime", "-m", "arena", *RANDOM, "--games", 300_000),
        environment=environment,
        stdout=subprocess.DEVNULL,
        text=False,
        bufsize=0,  # lines that are read ahead, the last of them in part, would not be in what `communicate` returns
    )
    assert process.stderr is not None
    assert any(line.decode().split("|")[-1].strip() == module for line in process.stderr)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    stderr = errors.decode()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    (line,) = (line for line in stderr.splitlines() if "import time:" not in line)
    # Of the start, or, where that was over already, of the run.
    assert line in ("interrupted", "arena: interrupted; with --json FILE, a run can be resumed")
    wait_for(lambda: group_is_gone(process.pid), 60)
