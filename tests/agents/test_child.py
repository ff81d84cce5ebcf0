"""Bots in child processes: framings found out, faults told, nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.external import child as child_module
from agents.external.child import Child
from agents.external.mjai_bot import OPENING as FIRST_DECISION
from agents.external.mjai_bot import BotError
from tests.support.external_bots import command

OPENING = list(FIRST_DECISION)  # seat 0 has drawn a 6p
DISCARD = {"type": "dahai", "actor": 0, "pai": "6p", "tsumogiri": True}
END = [{"type": "end_kyoku"}, {"type": "end_game", "scores": [35000, 35000, 35000]}]


def next_turn(tile: str) -> list[dict[str, object]]:
    """A turn of everybody, up to the next draw of seat 0."""
    events: list[dict[str, object]] = [DISCARD]
    for seat in (1, 2):
        events.append({"type": "tsumo", "actor": seat, "pai": "?"})
        events.append({"type": "dahai", "actor": seat, "pai": "9p", "tsumogiri": True})
    return [*events, {"type": "tsumo", "actor": 0, "pai": tile}]


def wait_until_gone(pid: int) -> bool:
    """Whether a process is gone within a few seconds."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def children() -> Iterator[list[Child]]:
    """Children to be closed at the end of a test."""
    opened: list[Child] = []
    yield opened
    for each in opened:
        each.close()


@pytest.mark.parametrize("given", ["auto", "told"])
@pytest.mark.parametrize("framing", ["array", "event", "asked"])
def test_a_bot_of_each_framing_plays(tmp_path: Path, children: list[Child], framing: str, given: str) -> None:
    bot = Child(command(tmp_path, framing), framing="auto" if given == "auto" else framing, timeout=5)
    children.append(bot)
    assert bot.name == "tsumogiri_bot"
    assert bot.react(OPENING) == DISCARD
    assert bot.react(next_turn("E")) == DISCARD | {"pai": "E"}
    assert bot.react([{"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True}]) == {"type": "none"}
    assert bot.react(END) == {"type": "none"}
    assert bot.react(OPENING) == DISCARD, "the next game"


# Bots of other people do worse things with the wrong framing than to fail.
ODD_BOTS = {
    # reads arrays, and takes an object for one of one event
    "array": "events = events if isinstance(events, list) else [events]\nprint(reply(events[-1]))",
    # reads events, and has a word for what it does not know
    "event": 'print(reply(events) if isinstance(events, dict) else \'{"type":"none"}\')',
    # reads events, and complains on stdout
    "event ": "print(reply(events) if isinstance(events, dict) else 'error: no type')",
    # reads events, speaks only when it must, and goes on after an error
    "asked": "reply(events) != NONE and print(reply(events)) if isinstance(events, dict) else print('error')",
}


@pytest.mark.parametrize("framing", ODD_BOTS)
def test_framing_of_bots_that_do_not_fail_on_the_wrong_one(tmp_path: Path, framing: str) -> None:
    script = tmp_path / "odd.py"
    script.write_text(
        f'import json, sys\nNONE = \'{{"type":"none"}}\'\n'
        f"def reply(event):\n    return {json.dumps(json.dumps(DISCARD))} if event['type'] == 'tsumo' else NONE\n"
        "for line in sys.stdin:\n    events = json.loads(line)\n    "
        + ODD_BOTS[framing].replace("\n", "\n    ")
        + "\n    sys.stdout.flush()\n"
    )
    assert child_module.find_framing([sys.executable, str(script)], "mjai3p", 5) == framing.strip()


def test_a_bot_that_knows_neither_framing_is_named_with_what_it_did(children: list[Child]) -> None:
    bot = Child(f"{sys.executable} -c \"import sys; sys.exit('no config.toml')\"", timeout=5)
    children.append(bot)
    with pytest.raises(BotError, match=r"^has (ended|closed its stdin) \(exit code 1\); stderr: no config.toml$"):
        bot.prepare()
    silent = Child("sleep 60", timeout=0.1)
    with pytest.raises(BotError, match=r"did not answer within 0.1 s"):
        silent.prepare()


@pytest.mark.parametrize(
    ("framing", "fault", "what"),
    [
        ("event", "crash", r"has ended \(exit code 3\); stderr: Traceback .* \| ValueError: no idea"),
        ("array", "hang", r"did not answer within 1 s"),
        ("event", "garbage", r"answered nonsense: not JSON: 'thinking ...'"),
        ("array", "long", r"wrote a line of more than 65,536 bytes"),
    ],
)
def test_a_fault_is_told_and_the_next_game_starts_a_new_child(
    tmp_path: Path, children: list[Child], framing: str, fault: str, what: str
) -> None:
    bot = Child(command(tmp_path, framing, fault), framing=framing, timeout=1 if fault == "hang" else 10)
    children.append(bot)
    assert bot.react(OPENING) == DISCARD
    assert bot.react(next_turn("E")) == DISCARD | {"pai": "E"}
    with pytest.raises(BotError, match=what) as caught:
        bot.react(next_turn("S"))
    assert "\n" not in str(caught.value)
    with pytest.raises(BotError, match="sits out until the next game"):
        bot.react(next_turn("S"))
    assert bot.react(OPENING) == DISCARD


def test_more_lines_than_messages_are_a_fault(tmp_path: Path, children: list[Child]) -> None:
    bot = Child(command(tmp_path, "array", "chatter"), framing="array", timeout=5)
    children.append(bot)
    bot.react(OPENING)
    bot.react(next_turn("E"))
    bot.react(next_turn("S"))  # the line too many is taken for the reply
    time.sleep(0.1)
    with pytest.raises(BotError, match=r"wrote more lines than it was asked for .* '\{\"type\": \"dahai\""):
        bot.react(next_turn("W"))


def test_stderr_is_read_however_much_there_is(tmp_path: Path, children: list[Child]) -> None:
    bot = Child(command(tmp_path, "event", "flood"), framing="event", timeout=5)
    children.append(bot)
    bot.react(OPENING)
    bot.react(next_turn("E"))
    assert bot.react(next_turn("S")) == DISCARD | {"pai": "S"}


def test_a_child_is_told_its_seat_and_restarted_for_another(tmp_path: Path, children: list[Child]) -> None:
    bot = Child(command(tmp_path, "array"), framing="array", timeout=5)
    children.append(bot)
    bot.react(OPENING)
    bot.react(END)
    start = [OPENING[0] | {"id": 2}, OPENING[1], {"type": "tsumo", "actor": 2, "pai": "6p"}]
    assert bot.react(start) == DISCARD | {"actor": 2}


def test_a_child_may_leave_with_the_end_of_the_game(tmp_path: Path, children: list[Child]) -> None:
    bot = Child(command(tmp_path, "array", "leave"), framing="array", timeout=5)
    children.append(bot)
    for _ in range(2):
        assert bot.react(OPENING) == DISCARD
        assert bot.react(END) == {"type": "none"}


@pytest.mark.parametrize("framing", ["array", "event", "asked"])
def test_a_child_still_leaving_when_the_next_game_begins_does_not_lose_it(
    tmp_path: Path, children: list[Child], framing: str
) -> None:
    bot = Child(command(tmp_path, framing, "linger"), framing=framing, timeout=5)
    children.append(bot)
    for _ in range(2):
        assert bot.react(OPENING) == DISCARD
        process = bot._process
        assert bot.react(END) == {"type": "none"}
        assert process is not None
        assert bot._process is process
        assert process.running


def test_a_new_child_that_ends_at_once_is_a_fault(tmp_path: Path, children: list[Child]) -> None:
    starts = tmp_path / "starts"
    once = f"echo >> {starts}; test $(wc -l < {starts}) = 1 || exit 3; exec {command(tmp_path, 'array', 'linger')}"
    bot = Child(f"sh -c '{once}'", framing="array", timeout=5)
    children.append(bot)
    bot.react(OPENING)
    bot.react(END)
    with pytest.raises(BotError, match=r"has (ended|closed its stdin) \(exit code 3\)"):
        bot.react(OPENING)
    assert starts.read_text() == "\n\n"


def test_a_child_that_leaves_once_it_has_spoken_is_a_fault(tmp_path: Path, children: list[Child]) -> None:
    bot = Child(command(tmp_path, "event", "crash"), framing="event", timeout=5)  # crashes with its third draw
    children.append(bot)
    bot.react(OPENING)
    bot.react(next_turn("E"))
    bot.react(END)
    with pytest.raises(BotError, match=r"has ended \(exit code 3\)"):
        bot.react(OPENING)


def test_a_child_whose_answer_is_refused_is_ended(tmp_path: Path, children: list[Child]) -> None:
    bot = Child(command(tmp_path, "array"), framing="array", timeout=5)
    children.append(bot)
    bot.react(OPENING)
    assert bot._process is not None
    pid = bot._process._child.pid
    bot.refuse("may not discard 6p")
    assert wait_until_gone(pid)
    with pytest.raises(BotError, match="sits out until the next game"):
        bot.react(next_turn("E"))
    assert bot.react(OPENING) == DISCARD


def test_a_game_broken_off_is_not_gone_on_with(tmp_path: Path, children: list[Child]) -> None:
    """The third draw of a process would crash it: each game has a process of its own here."""
    bot = Child(command(tmp_path, "array", "crash"), framing="array", timeout=5)
    children.append(bot)
    for _ in range(2):
        bot.react(OPENING)
        bot.react(next_turn("E"))


@pytest.mark.parametrize("fault", ["family", "deaf"])
def test_nothing_of_a_child_is_left(tmp_path: Path, fault: str) -> None:
    bot = Child(command(tmp_path, "array", fault), framing="array", timeout=1)
    bot.react(OPENING)
    bot.react(next_turn("E"))
    assert bot._process is not None
    pid = bot._process._child.pid
    with pytest.raises(BotError, match="did not answer") as caught:
        bot.react(next_turn("S"))
    assert wait_until_gone(pid)
    if fault == "family":
        assert wait_until_gone(int(caught.value.stderr[-1]))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_does_not_outlive_us(tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys, time\nfrom agents.external.mjai_bot import OPENING\nfrom agents.external.child import Child\n"
        f"bot = Child({command(tmp_path, 'array', 'deaf')!r}, framing='array')\n"
        "bot.react(list(OPENING))\nprint(bot._process._child.pid, flush=True)\ntime.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": "."}
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(number)
    parent.wait()
    parent.stdout.close()
    assert wait_until_gone(pid)


@pytest.mark.parametrize("text", ["", "no-such-program-here", "'unbalanced"])
def test_a_command_that_cannot_be_run(text: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be run|quotation"):
        Child(text)


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        ("[]", "no object with a type"),
        ('{"type":["dahai"]}', "no object with a type"),
        ('{"type":"tsumo","actor":0,"pai":"1m"}', "no action"),
        ('{"type":"dahai","actor":1,"pai":"1m"}', "another seat than 0"),
        ('{"type":"dahai","actor":0,"pai":"2m"}', "there is no tile '2m'"),
        ('{"type":"dahai","actor":0,"pai":[["1m"]]}', "unhashable"),
        ('{"type":"pon","actor":0,"target":7,"pai":"1m","consumed":["1m","1m"]}', "target 7"),
        ("[" * 60_000, "not JSON"),
        ("\\xff\\xfe", "not JSON"),
    ],
)
def test_nonsense_replies(tmp_path: Path, children: list[Child], reply: str, what: str) -> None:
    (tmp_path / "reply").write_text(reply + "\n")
    bot = Child(f"sh -c 'read line; cat {tmp_path}/reply; cat'", framing="array", timeout=5)
    children.append(bot)
    with pytest.raises(BotError, match=f"answered nonsense: .*{what}") as caught:
        bot.react(OPENING)
    assert len(str(caught.value)) < 400


def test_replies_are_read_liberally(tmp_path: Path, children: list[Child]) -> None:
    (tmp_path / "reply").write_text('{"type":"kita","actor":0}\n')
    bot = Child(f"sh -c 'read line; cat {tmp_path}/reply; cat'", framing="array", timeout=5)
    children.append(bot)
    assert bot.react(OPENING) == {"type": "nukidora", "actor": 0, "pai": "N"}


def test_events_are_written_in_the_dialect_of_the_bot(tmp_path: Path, children: list[Child]) -> None:
    script = tmp_path / "listening.py"
    script.write_text(
        "import sys\nfor line in sys.stdin:\n    print(line, file=open(sys.argv[1], 'a'))\n"
        '    print(\'{"type":"none"}\', flush=True)\n'
    )
    for framing in ("array", "event"):
        bot = Child(f"{sys.executable} {script} {tmp_path / framing}", "libriichi3p", framing, timeout=5)
        children.append(bot)
        bot.react(OPENING)
    (array,) = (json.loads(line) for line in (tmp_path / "array").read_text().splitlines() if line)
    events = [json.loads(line) for line in (tmp_path / "event").read_text().splitlines() if line]
    assert array == events
    assert [event["type"] for event in events] == ["start_game", "start_kyoku", "tsumo"]
    assert len(events[0]["names"]) == 4
