"""External bots in the arena: they play the same games as built-in bots; their failures are reported."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import socket
import time
from contextlib import suppress
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from agents.client.cli import make_parser as client_parser
from agents.external.process import TIMEOUT_HINT
from agents.review.decisions import seat_decisions
from arena.bot_games import SCORE
from arena.chunk import ChunkResult, play_chunk
from arena.cli import make_parser as arena_parser
from arena.run import ArenaRun
from arena.running import run, url_to_join
from arena.schedule import RunSettings
from engine.common.program import FAILED
from engine.records.files import read_records
from engine.records.show import show_game
from tests.support.arena_runs import Arena, last_update, without_speed
from tests.support.external_bots import command, still_running
from tests.support.processes import start_group, wait_for


def settings_of(*bots: str, timeout: float = 60.0) -> RunSettings:
    """A short run."""
    return RunSettings(bots, 6, 4, "tenhou", "east", timeout)


def played(settings: RunSettings, walls: list[int], folder: Path | None = None) -> ChunkResult:
    """The games on some walls, played in this process."""
    bots = settings.make_bots()
    try:
        return last_update(play_chunk(settings, bots, walls, folder))
    finally:
        for bot in bots:
            if settings.has_external_bots and hasattr(bot.agent, "bot"):
                bot.agent.bot.close()


def records(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The messages of every game saved, the names left out."""
    found = {}
    for path in folder.iterdir():
        messages = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
        del messages[0]["names"]
        found[path.name] = messages
    return found


@pytest.mark.slow
def test_an_external_bot_plays_the_same_games_as_the_same_bot_in_this_process(tmp_path: Path) -> None:
    external = settings_of(f"exec+array:{command(tmp_path, 'array')}", "random", f"exec:{command(tmp_path, 'asked')}")
    own = settings_of("tsumogiri", "random", "tsumogiri")
    for name in ("external", "own"):
        (tmp_path / name).mkdir()
    ours, theirs = played(own, [0, 1], tmp_path / "own"), played(external, [0, 1], tmp_path / "external")
    assert theirs.faults == []
    assert np.array_equal(theirs.counts, ours.counts)
    assert theirs.decisions == ours.decisions
    assert len(records(tmp_path / "own")) == 6
    assert records(tmp_path / "external") == records(tmp_path / "own")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "what"),
    [
        ("crash", r"has exited \(exit code 3\); stderr: .*ValueError: no idea"),
        ("hang", r"did not reply within 0.4 s"),
        ("illegal", r"may not discard [19]m; legal: .*tsumogiri"),
        ("garbage", r"sent an invalid reply: not JSON: 'thinking ...'"),
    ],
)
def test_a_faulty_bot_costs_its_seat_and_nothing_else(tmp_path: Path, fault: str, what: str) -> None:
    """What it plays until then, and what is played for it then, is tsumogiri."""
    bot = command(tmp_path, "event", fault)
    settings = settings_of("random", f"exec+event:{bot}", "random", timeout=0.4 if fault == "hang" else 30)
    chunk = played(settings, [1])
    assert [(found.bot, found.wall, found.rotation) for found in chunk.faults] == [(1, 1, 0), (1, 1, 1), (1, 1, 2)]
    assert sorted(found.seat for found in chunk.faults) == [0, 1, 2]
    for found in chunk.faults:
        assert re.search(what, found.what), found.what
        assert "\n" not in found.what
    ours = played(settings_of("random", "tsumogiri", "random"), [1])
    assert np.array_equal(chunk.counts, ours.counts)
    assert chunk.counts[..., SCORE].any()


def test_a_saved_game_says_where_each_of_two_bots_failed(tmp_path: Path) -> None:
    """Both at their third draw of the same round."""
    bot = f"exec+event:{command(tmp_path, 'event', 'crash')}"
    settings = RunSettings((bot, "random", bot), 3, 4, "tenhou", "east")
    (tmp_path / "games").mkdir()
    played(settings, [0], tmp_path / "games")
    for path in (tmp_path / "games").iterdir():
        lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        faults = [number for number, line in enumerate(lines) if line["type"] == "error"]
        assert len(faults) == 2
        assert "end_kyoku" not in [line["type"] for line in lines[: faults[1]]]
        for number in faults:
            assert (lines[number - 1]["type"], lines[number - 1]["actor"]) == ("tsumo", lines[number]["actor"])


@pytest.mark.parametrize("fault", ["crash", "long-crash"])
def test_a_saved_game_says_where_a_bot_failed_and_what_follows_is_not_judged(tmp_path: Path, fault: str) -> None:
    """At its third draw; until then it has drawn twice, and what follows is left out by show and review."""
    settings = RunSettings(
        ("random", f"exec+event:{command(tmp_path, 'event', fault)}", "random"), 3, 4, "tenhou", "east"
    )
    (tmp_path / "games").mkdir()
    chunk = played(settings, [0], tmp_path / "games")
    for found in chunk.faults:
        assert ("/" in found.what) == (fault == "long-crash"), "the file with all that it said"
        (path,) = (tmp_path / "games").glob(f"*-{found.rotation}.mjson.gz")
        lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        ((number, error),) = [(number, line) for number, line in enumerate(lines) if line["type"] == "error"]
        said = error.pop("message")
        assert "; stderr: " in said if fault == "crash" else said.endswith("line 27 | line 28 | line 29")
        assert error == {"type": "error", "actor": found.seat, "played_by": "safe defaults"}
        draws = [line for line in lines[:number] if line["type"] == "tsumo" and line["actor"] == found.seat]
        assert len(draws) == 3
        assert lines[number - 1] == draws[-1]
        record = read_records(path)
        told = f"played by safe defaults from event {number + 1} on"
        show_game(record, Console(file=(text := StringIO()), width=150))
        assert f"tsumogiri_bot: {told}\n" in text.getvalue()
        reviewed = seat_decisions(record, found.seat)
        assert {decision.message < number - 1 for decision in reviewed.decisions} <= {True}
        assert seat_decisions(record, (found.seat + 1) % 3).decisions[-1].message > number
        assert record.describe_handover(found.seat) == told
        assert record.describe_handover((found.seat + 1) % 3) == ""


@pytest.mark.slow
def test_the_command_line_plays_external_bots_and_reports_their_faults(arena: Arena, tmp_path: Path) -> None:
    good, bad = command(tmp_path, "array"), command(tmp_path, "asked", "long-crash")
    bots = f'"exec:{good}",exec+kita+asked:{bad},random'
    options = ["--bots", bots, "--games", 12, "--length", "east", "--seed", 4]
    for jobs in (1, 2):
        files = ["--json", tmp_path / f"{jobs}.json", "--save", tmp_path / f"{jobs}"]
        done = arena(*options, "--jobs", jobs, *files, code=1)
        assert done.stderr.splitlines()[-1] == "arena: failed in every game: tsumogiri_bot#2"
    line = (
        r"bot tsumogiri_bot#2: failed in 12 of 12 games, which went on without it; "
        r"first: game 0, seat 1: has exited \(exit"
    )
    assert re.search(line, done.stdout)
    assert "bot tsumogiri_bot:" not in done.stdout
    assert len(re.findall(r"^bot tsumogiri_bot#2, game \d+, seat \d: has exited", done.stderr, re.MULTILINE)) == 12
    document = without_speed(tmp_path / "1.json")
    assert document == without_speed(tmp_path / "2.json")
    assert len(document["faults"]) == 12
    assert document["faults"][4].items() >= {"bot": "tsumogiri_bot#2", "wall": 1, "rotation": 1}.items()
    arena("--bots", "tsumogiri,tsumogiri,random", *options[2:], "--json", tmp_path / "own.json")
    assert without_speed(tmp_path / "own.json")["games"] == [
        game | {"seats": [seat.replace("_bot", "") for seat in game["seats"]]} for game in document["games"]
    ]


@pytest.mark.slow
def test_ctrl_c_leaves_no_child_and_faults_are_kept_for_later(
    arena: Arena, environment: dict[str, str], tmp_path: Path
) -> None:
    bot = command(tmp_path, "event", "crash")
    options = ["--bots", f"exec+event:{bot},random,random", "--games", "3000", "--length", "east", "--jobs", "2"]
    results, partial = tmp_path / "results.json", tmp_path / "results.json.partial"
    process = start_group("-m", "arena", *options, "--json", results, environment=environment)
    wait_for(lambda: partial.exists() and partial.read_bytes().count(b"\n") >= 3)
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback (most recent call last):\n" not in stderr
    games = int(re.search(r"failed in ([\d,]+) of \1 games", stdout)[1].replace(",", ""))  # type: ignore[index]
    assert games >= 6
    wait_for(lambda: not still_running(tmp_path), 60)  # one that was just being started ends as its stdin is closed
    kept = [json.loads(line) for line in partial.read_text().splitlines()[1:]]
    assert sum(len(line["faults"]) for line in kept) == games


@pytest.mark.slow
def test_a_bot_that_never_plays_ends_the_run(arena: Arena) -> None:
    done = arena("--bots", "exec:false,random,random", "--jobs", 1, code=1)
    assert re.search(
        r"^arena: bot false: failed the trial .*: it has exited \(exit code 1\)$", done.stderr, re.MULTILINE
    )


def test_a_run_fails_if_a_bot_failed_in_every_game(tmp_path: Path) -> None:
    settings = RunSettings(
        ("random", f"exec+event:{command(tmp_path, 'event', 'crash')}", "random"), 3, 4, "tenhou", "east"
    )
    quiet = Console(quiet=True)
    assert run(ArenaRun(settings, 0), quiet, quiet) == FAILED


@pytest.mark.slow
def test_a_port_in_use_is_said_with_what_to_change(arena: Arena) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        url = f"mjsonp://127.0.0.1:{door.getsockname()[1]}/chair"
        done = arena("--bots", f"{url},random,random", "--games", 3, code=1)
    joining, *_, last = done.stderr.splitlines()
    assert joining == f"a bot can join at {url}, for example: python -m agents.client rule {url} --games 0"
    assert last.startswith(f"arena: bot chair: {url}: Address already in use")
    assert last.endswith("; another program listens at this port, or another arena: choose another port")


def test_programs_that_start_bots_have_the_option_that_a_slow_bot_is_told() -> None:
    option = re.search(r"--\w+", TIMEOUT_HINT)
    assert option is not None
    for parser in (arena_parser(), client_parser()):
        assert f"{option[0]} SECONDS" in parser.format_help()


@pytest.mark.parametrize(
    ("spec", "url"),
    [
        ("mjsonp://localhost", "mjsonp://localhost:11600/default"),
        ("mjsonp://0.0.0.0/a", "mjsonp://localhost:11600/a"),
        ("mjsonp://[::1]:99/a", "mjsonp://[::1]:99/a"),
    ],
)
def test_the_url_to_join_has_a_host_and_a_port(spec: str, url: str) -> None:
    assert url_to_join(spec) == url


def run_client(port: int, received: list[dict[str, Any]]) -> None:
    """A tsumogiri bot in the Ruby style: three games, one connection a game, a reply to every message."""
    while True:
        try:
            connected = socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.02)
            continue
        with suppress(ConnectionError), connected, connected.makefile("rw") as line:
            seat = -1
            for text in line:
                message = json.loads(text)
                received.append(message)
                reply: dict[str, Any] = {"type": "none"}
                if message["type"] == "hello":
                    reply = {"type": "join", "name": "ruby", "room": "chair"}
                elif message["type"] == "start_game":
                    seat = message["id"]
                elif message["type"] == "tsumo" and message["actor"] == seat:
                    reply = {"type": "dahai", "actor": seat, "pai": message["pai"], "tsumogiri": True}
                line.write(json.dumps(reply) + "\n")
                line.flush()
        if len([message for message in received if message["type"] == "end_game"]) == 3:
            return


def test_a_bot_that_connects_plays(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    received: list[dict[str, Any]] = []
    client = Thread(target=run_client, args=(port, received), daemon=True)
    client.start()
    settings = settings_of("random", f"mjsonp://127.0.0.1:{port}/chair", "random")
    assert [bot.label for bot in settings.make_bots()] == ["random", "chair", "random#2"]
    assert settings.max_jobs == 1
    chunk = played(settings, [0])
    client.join(60)
    assert not client.is_alive()
    assert chunk.faults == []
    assert np.array_equal(chunk.counts, played(settings_of("random", "tsumogiri", "random"), [0]).counts)
    assert f"waiting for a bot at mjsonp://127.0.0.1:{port}/chair\n" in capfd.readouterr().err
    own_draws = [message for message in received if message["type"] == "tsumo" and message["pai"] != "?"]
    assert all("possible_actions" in message for message in own_draws)
    assert {"nukidora", "reach"} & {action["type"] for draw in own_draws for action in draw["possible_actions"]}
