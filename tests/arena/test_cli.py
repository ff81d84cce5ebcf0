"""The command line of the arena: output, errors, exit codes, Ctrl-C, resuming."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.columns import PLAY, RESULTS
from arena.schedule import ROTATIONS, RunSettings, seating
from tests.support.arena_runs import REPOSITORY, Arena, without_speed

RANDOM = ("--bots", "random,tsumogiri,random")


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """Content of every file."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_jobs_change_nothing_but_the_speed(arena: Arena, tmp_path: Path) -> None:
    for jobs in (1, 2):
        done = arena(
            *RANDOM, "--games", 60, "--jobs", jobs, "--json", tmp_path / f"{jobs}.json", "--save", tmp_path / f"{jobs}"
        )
        assert done.returncode == 0, done.stderr
    assert without_speed(tmp_path / "1.json") == without_speed(tmp_path / "2.json")
    assert (tmp_path / "1.json").read_bytes().split(b'"speed"')[0] == (tmp_path / "2.json").read_bytes().split(
        b'"speed"'
    )[0]
    assert folder_bytes(tmp_path / "1") == folder_bytes(tmp_path / "2")
    assert len(folder_bytes(tmp_path / "1")) == 60


def test_tables_are_plain_text_and_fit(arena: Arena) -> None:
    done = arena(*RANDOM, "--games", 10, "--length", "east", "--rules", "majsoul", "--seed", 3)
    assert done.returncode == 0, done.stderr
    assert "Results: 4 walls in 3 rotations, majsoul east, seed 3" in done.stdout
    assert "12 games instead of 10" in done.stderr
    assert "random#2" in done.stdout
    assert "games/s" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "…" not in done.stdout, "something was cut"


def test_help_defines_the_columns(arena: Arena) -> None:
    done = arena("--help")
    assert done.returncode == 0
    for word in ("placement", "deal-in", "riichi", "nukidora", "FILE.partial"):
        assert word in done.stdout
    for statistic in (*RESULTS, *PLAY):
        heading = " ".join(statistic.heading.split())
        assert f" {heading} {statistic.help} " in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--bots", "rule,ruel,random"), "unknown bot 'ruel'"),
        (("--bots", "random,random"), "names 2 bots"),
        (("--games", "0"), "'0' is not a positive integer"),
        (("--games", "many"), "'many' is not a positive integer"),
        (("--jobs", "-1"), "'-1' is not a positive integer"),
        (("--rules", "ruby"), "invalid choice: 'ruby'"),
        (("--json", "/dev/null/results.json"), "/dev/null/results.json.partial: Not a directory"),
        (("--json", "."), ".: is a folder"),
        (("--save", "/dev/null/games"), "/dev/null/games: Not a directory"),
        (("--swords",), "unrecognized arguments: --swords"),
    ],
)
def test_a_bad_argument_is_one_line(arena: Arena, arguments: tuple[str, ...], what: str) -> None:
    done = arena(*RANDOM, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("arena: ")
    assert what in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("bot", "seat", "what"),
    [
        ("illegal", 2, r"may not answer 127; legal: (tsumogiri|discard|nine|pass|pon|riichi|nukidora|ankan)"),
        ("raising", 1, r"raised ZeroDivisionError: out of ideas \(visiting_bots.py, line \d+\)"),
    ],
)
def test_a_failing_bot_is_named_with_game_and_seat(arena: Arena, bot: str, seat: int, what: str) -> None:
    settings = RunSettings(("random", bot, "tsumogiri"), 30, 0, "tenhou", "hanchan")
    done = arena("--bots", ",".join(settings.bots), "--games", settings.games, "--jobs", 1)
    assert done.returncode == 1
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


def test_statistics_so_far_are_printed_when_a_bot_fails(arena: Arena) -> None:
    done = arena("--bots", "random,raising:1500,random", "--games", 3000, "--jobs", 1, "--length", "east")
    assert done.returncode == 1
    assert "bot raising" in done.stderr
    games = ROTATIONS * int(re.search(r"Results: ([\d,]+) walls", done.stdout)[1].replace(",", ""))  # type: ignore[index]
    assert 0 < games < 3000


def test_a_worker_that_dies_ends_the_run_with_one_line(arena: Arena) -> None:
    done = arena("--bots", "random,dying,random", "--games", 30, "--jobs", 2)
    assert done.returncode == 1
    expected = "arena: a worker process ended unexpectedly; if memory ran out, try fewer --jobs"
    assert done.stderr.splitlines()[-1] == expected
    assert "Traceback" not in done.stderr


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    """Wait until `condition` holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.02)


def group_is_gone(group: int) -> bool:
    """Whether no process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def restore_interrupts() -> None:
    """Handle Ctrl-C even if the shell has started this process with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_prints_the_statistics_and_the_run_can_be_resumed(
    arena: Arena, environment: dict[str, str], tmp_path: Path
) -> None:
    options = ["--bots", "random,slow,tsumogiri", "--games", "1200", "--length", "east", "--jobs", "2"]
    json, partial = tmp_path / "results.json", tmp_path / "results.json.partial"
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", *options, "--json", str(json)],
        env=environment | {"SLOW": "1"},
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=restore_interrupts,
    )
    wait_for(lambda: partial.exists() and partial.read_bytes().count(b"\n") >= 2, 300)
    process.send_signal(signal.SIGSTOP)  # so that the workers have time to react to the interrupt, if they do
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    time.sleep(0.3)
    process.send_signal(signal.SIGCONT)
    started = time.monotonic()
    stdout, stderr = process.communicate(timeout=60)
    assert time.monotonic() - started < 5
    assert process.returncode == 130
    assert re.search(r"Results: [\d,]+ walls", stdout)
    assert stderr.splitlines()[-1] == "arena: interrupted; run the same command again to resume"
    assert "Traceback" not in stdout + stderr
    assert not json.exists()
    wait_for(lambda: group_is_gone(process.pid), 10)

    refused = arena(*options, "--seed", 9, "--json", json)
    assert refused.returncode == 2
    assert "belongs to a run with different seed" in refused.stderr

    resumed = arena(*options, "--json", json)
    assert resumed.returncode == 0
    assert re.search(r"resuming: [\d,]+ of 1,200 games are finished", resumed.stderr)
    assert not partial.exists()

    whole = arena(*options, "--json", tmp_path / "whole.json")
    assert whole.returncode == 0
    assert without_speed(json) == without_speed(tmp_path / "whole.json")


def test_a_run_interrupted_before_its_last_step_plays_nothing_again(arena: Arena, tmp_path: Path) -> None:
    """All chunks are in the checkpoint, but the JSON file could not be written."""
    options = [*RANDOM, "--games", 6, "--json", tmp_path / "results.json"]
    blocked = tmp_path / "results.json.tmp"
    blocked.mkdir()
    failed = arena(*options)
    assert failed.returncode == 1
    assert "results.json.tmp: Is a directory" in failed.stderr
    blocked.rmdir()
    done = arena(*options)
    assert done.returncode == 0, done.stderr
    assert "resuming: 6 of 6 games are finished" in done.stderr
    assert "0 games in 0.0 s" in done.stdout
    assert len(without_speed(tmp_path / "results.json")["games"]) == 6
