"""The logs of what bots are sent, send and say on stderr."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from agents.client.cli import main as client
from agents.external.external_agent import ExternalAgent
from agents.external.mjai_bot import OPENING
from agents.external.subprocess_bot import SubprocessBot
from agents.external.traffic import TrafficLog
from arena.chunk import play_chunk
from arena.schedule import RunSettings
from arena.worker import start_external
from tests.support.arena_runs import last_update
from tests.support.external_bots import command
from tests.support.fake_server import START_GAME, FakeServer, serves


def lines_of(log: Path) -> list[list[str]]:
    """Name, mark and text of each line."""
    return [line.split(" ", 2) for line in log.read_text().splitlines()]


def test_both_directions_and_stderr_are_kept_until_the_log_is_closed(tmp_path: Path) -> None:
    (tmp_path / "hm.py").write_text(
        "import sys\nfor line in sys.stdin:\n    print('hm', file=sys.stderr, flush=True)\n"
        '    print(\'{"type":"none"}\', flush=True)'
    )
    bot = SubprocessBot(f"{sys.executable} {tmp_path}/hm.py", framing="event")
    log = TrafficLog(tmp_path / "game.log", {"hm": bot})
    bot.react(list(OPENING))
    bot.close()  # what it said on stderr has been read then
    log.close()
    bot.react(list(OPENING))
    bot.close()
    found = lines_of(tmp_path / "game.log")
    assert {name for name, *_ in found} == {"hm"}
    assert [json.loads(text)["type"] for _, mark, text in found if mark == "->"] == [each["type"] for each in OPENING]
    assert [text for _, mark, text in found if mark == "<-"] == ['{"type":"none"}'] * 3
    assert [text for _, mark, text in found if mark == "2>"] == ["hm"] * 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is /dev/full of Linux")
def test_a_log_that_cannot_be_written_ends_and_the_game_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "none.py").write_text('for line in open(0):\n    print(\'{"type":"none"}\', flush=True)')
    bot = SubprocessBot(f"{sys.executable} {tmp_path}/none.py", framing="event")
    log = TrafficLog(Path("/dev/full"), {"none": bot})
    assert bot.react(list(OPENING)) == {"type": "none"}
    bot.close()
    log.close()
    assert capfd.readouterr().err == "--log: /dev/full: No space left on device; it ends here\n"


def test_the_arena_keeps_a_log_for_each_game_it_saves_and_one_of_the_trial(tmp_path: Path) -> None:
    settings = RunSettings(("random", f"exec:{command(tmp_path, 'event')}", "random"), 3, 4, "tenhou", "east", 60.0)
    saved, logs = tmp_path / "saved", tmp_path / "logs"
    saved.mkdir()
    logs.mkdir()
    bots = settings.make_bots()
    with ExitStack() as stack:
        agent = bots[1].agent
        assert isinstance(agent, ExternalAgent)
        start_external(bots[1].label, agent, stack, logs)
        last_update(play_chunk(settings, bots, [0], saved, log=logs))
    games = {path.name.partition(".")[0] for path in saved.iterdir()}
    assert {path.stem for path in logs.iterdir()} == games | {f"trial-tsumogiri_bot-{os.getpid()}"}
    for game in games:
        sent = [json.loads(text)["type"] for name, mark, text in lines_of(logs / f"{game}.log") if mark == "->"]
        assert (sent[0], sent[-1], sent.count("start_game")) == ("start_game", "end_game", 1)
    trial = lines_of(logs / f"trial-tsumogiri_bot-{os.getpid()}.log")
    assert trial[1][:2] == ["tsumogiri_bot", "2>"], "asked for an array, it has failed"
    assert [mark for _, mark, _ in trial][-6:] == ["->"] * 3 + ["<-"] * 3, "asked for one event a line, it has replied"


@pytest.mark.parametrize("place", [{}, {"game": "g1", "resume": "s3cret"}])
def test_the_client_names_the_log_by_the_game(tmp_path: Path, place: dict[str, str]) -> None:
    with FakeServer(partial(serves, start=START_GAME | place)) as server:
        log = str(tmp_path / "logs")
        assert client(["--exec", command(tmp_path, "array"), "--framing", "array", "--log", log, server.url]) == 0
    found = lines_of(tmp_path / "logs" / f"{place.get('game', 'game-1')}.log")
    assert [mark for _, mark, _ in found] == ["->", "<-"] * 3
