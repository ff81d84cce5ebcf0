"""Bots in child processes: framing detection, faults, and that no process is left behind."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from agents.external.mjai_bot import OPENING as FIRST_DECISION
from agents.external.mjai_bot import BotError
from agents.external.process import LineProcess, ready
from agents.external.subprocess_bot import SubprocessBot, find_framing
from agents.external.traffic import STDERR
from tests.support.external_bots import command

OPENING = list(FIRST_DECISION)  # seat 0 has drawn a 6p
PATIENCE = 60.0  # seconds for what a bot does in a moment, unless the machine is busy
DISCARD = {"type": "dahai", "actor": 0, "pai": "6p", "tsumogiri": True}
END = [{"type": "end_kyoku"}, {"type": "end_game", "scores": [35000, 35000, 35000]}]


def next_turn(tile: str) -> list[dict[str, object]]:
    """The events of one turn of every seat, up to the next draw of seat 0."""
    events: list[dict[str, object]] = [DISCARD]
    for seat in (1, 2):
        events.append({"type": "tsumo", "actor": seat, "pai": "?"})
        events.append({"type": "dahai", "actor": seat, "pai": "9p", "tsumogiri": True})
    return [*events, {"type": "tsumo", "actor": 0, "pai": tile}]


def exits_soon(pid: int) -> bool:
    """Whether the process exits soon; its bots would run for ten minutes."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with suppress(FileNotFoundError, ProcessLookupError):  # there is no /proc, or it has exited by now
            if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return True
        time.sleep(0.02)
    return False


def running(bot: SubprocessBot) -> LineProcess:
    """The process of a bot that plays."""
    assert bot._process is not None
    return bot._process


OpenBot = Callable[..., SubprocessBot]


@pytest.fixture
def open_bot(tmp_path: Path) -> Iterator[OpenBot]:
    """Opens bots by their framing and their fault, or by their program; closes them at the end of a test."""
    with ExitStack() as opened:

        def open_one(
            framing: str = "auto", fault: str = "-", program: str = "", dialect: str = "mjai3p"
        ) -> SubprocessBot:
            bot = SubprocessBot(program or command(tmp_path, framing, fault), dialect, framing, timeout=PATIENCE)
            opened.callback(bot.close)
            return bot

        yield open_one


@pytest.mark.parametrize("given", ["auto", "named"])
@pytest.mark.parametrize("framing", ["array", "event", "asked"])
def test_bots_of_every_framing_play(tmp_path: Path, open_bot: OpenBot, framing: str, given: str) -> None:
    bot = open_bot("auto" if given == "auto" else framing, program=command(tmp_path, framing))
    assert bot.name == "tsumogiri_bot"
    assert bot.react(OPENING) == DISCARD
    assert bot.react(next_turn("E")) == DISCARD | {"pai": "E"}
    assert bot.react([{"type": "dahai", "actor": 1, "pai": "9p", "tsumogiri": True}]) == {"type": "none"}
    assert bot.react(END) == {"type": "none"}
    assert bot.react(OPENING) == DISCARD, "the next game"


# What real bots do with the wrong framing, other than to fail.
ODD_BOTS = {
    # reads arrays; accepts a lone event as an array of one
    "array": "events = events if isinstance(events, list) else [events]\nprint(reply(events[-1]))",
    # reads events; replies none to anything else
    "event": 'print(reply(events) if isinstance(events, dict) else \'{"type":"none"}\')',
    # reads events; prints errors on stdout
    "event ": "print(reply(events) if isinstance(events, dict) else 'error: no type')",
    # reads events, replies only to questions; prints errors on stdout and goes on
    "asked": "reply(events) != NONE and print(reply(events)) if isinstance(events, dict) else print('error')",
}


@pytest.mark.parametrize("framing", ODD_BOTS)
def test_detects_the_framing_of_bots_that_survive_the_wrong_one(tmp_path: Path, framing: str) -> None:
    script = tmp_path / "odd.py"
    script.write_text(
        f'import json, sys\nNONE = \'{{"type":"none"}}\'\n'
        f"def reply(event):\n    return {json.dumps(json.dumps(DISCARD))} if event['type'] == 'tsumo' else NONE\n"
        "for line in sys.stdin:\n    events = json.loads(line)\n    "
        + ODD_BOTS[framing].replace("\n", "\n    ")
        + "\n    sys.stdout.flush()\n"
    )
    assert find_framing([sys.executable, str(script)], "mjai3p", PATIENCE) == framing.strip()


def test_a_program_that_is_no_bot_is_reported_with_exit_code_and_stderr(open_bot: OpenBot) -> None:
    bot = open_bot(program=f"{sys.executable} -c \"import sys; sys.exit('no config.toml')\"")
    trial = r"^failed the trial before the first game \(dialect mjai3p; it is dealt a hand and must discard\): it "
    with pytest.raises(BotError, match=trial + r"has exited \(exit code 1\); stderr: no config.toml$"):
        bot.prepare()
    silent = SubprocessBot("sleep 60", timeout=0.1)
    with pytest.raises(
        BotError, match=trial + r"did not reply within 0\.1 s \(it must flush .* longer, .*--timeout SECONDS\)$"
    ):
        silent.prepare()


# A bot as PyPI's mjai 0.2.1 makes them: it catches what goes wrong, prints it to stderr and answers none.
CATCHING = """
import json, sys, traceback
def think(events):
    {deep}
for line in sys.stdin:
    try:
        found = json.loads(line)
        think(found if isinstance(found, list) else [found])
        print({reply!r}, flush=True)
    except Exception:
        traceback.print_exc()
        print('{{"type":"none"}}', flush=True)
"""


def catching(folder: Path, reply: str = "", deep: str = "pass") -> str:
    """The command of such a bot, which replies with a line, or fails."""
    script = folder / "catching.py"
    script.write_text(CATCHING.format(reply=reply, deep=deep))
    return f"{sys.executable} {script}"


def test_a_bot_that_replies_none_in_the_trial_is_told_what_it_was_asked_and_what_it_said(
    tmp_path: Path, open_bot: OpenBot
) -> None:
    bot = open_bot(program=catching(tmp_path, deep="raise KeyError('no model')"), dialect="kita")
    with pytest.raises(BotError) as caught:
        bot.prepare()
    told = str(caught.value)
    assert told.startswith(
        "failed the trial before the first game (dialect kita; it is dealt a hand and must discard):"
    )
    assert 'given the events as one array, it replied \'{"type":"none"}\' where it must discard; stderr: ' in told
    assert f'File "{tmp_path}/catching.py", line 4, in think' in told, "the whole traceback, of a short one"
    assert "--framing event" in told
    assert "\n" not in told
    whole = Path(re.findall(r"\(whole, \d+ lines: (\S+)\)", told)[-1]).read_text()  # of three events, one each
    assert whole.count("Traceback (most recent call last):") == 3
    assert whole.count("    raise KeyError('no model')\nKeyError: 'no model'\n") == 3


def test_a_long_crash_in_the_trial_is_not_taken_for_a_framing(tmp_path: Path, open_bot: OpenBot) -> None:
    """Both trials fail in the same way, though what they said on stderr is in two files."""
    (tmp_path / "crash.py").write_text("import sys\nsys.exit('\\n'.join(f'line {i}' for i in range(30)))")
    bot = open_bot(program=f"{sys.executable} {tmp_path}/crash.py")
    with pytest.raises(BotError, match="line 29") as caught:
        bot.prepare()
    assert "framing" not in str(caught.value)


def test_an_illegal_action_is_told_with_the_question_the_reply_and_stderr(tmp_path: Path, open_bot: OpenBot) -> None:
    reply = '{"type":"dahai","actor":0,"pai":"9s","tsumogiri":false}'
    bot = open_bot("array", program=catching(tmp_path, reply, "print('9s, I think', file=sys.stderr)"))
    bot.react(OPENING)
    told = str(bot.reject("may not discard 9s"))
    assert re.fullmatch(
        r"may not discard 9s; it was asked by '{\"type\":\"tsumo\",.*\"6p\"}' \(dialect mjai3p, framing array\), "
        r"replied '{\"type\":\"dahai\",.*\"9s\".*}'; stderr: 9s, I think",
        told,
    )


@pytest.mark.parametrize("framing", ["auto", "array", "event"])
def test_a_banner_on_stdout_is_told_that_it_belongs_on_stderr(open_bot: OpenBot, framing: str) -> None:
    program = "print('My bot 1.0, loading', flush=True)\nfor line in open(0): print('{}', flush=True)"
    bot = open_bot(framing, program=shlex.join([sys.executable, "-c", program]))
    with pytest.raises(BotError) as caught:
        bot.react(OPENING)
    assert "stdout is for replies alone: print banners and logs to stderr" in str(caught.value)
    assert "'My bot 1.0, loading'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_banner_written_before_the_first_event_is_shown_without_its_line_end() -> None:
    program = "print('My bot 1.0, loading', flush=True)\nopen(0).read()"
    process = LineProcess([sys.executable, "-c", program], timeout=PATIENCE)
    assert ready(process._stdout, select.POLLIN, PATIENCE)
    with pytest.raises(BotError, match=r"stdout is for replies alone: .*: 'My bot 1\.0, loading'$"):
        process.write(b"{}")


def test_an_extra_line_on_stdout_is_a_fault(open_bot: OpenBot) -> None:
    bot = open_bot("array", "extra-line")
    bot.react(OPENING)
    bot.react(next_turn("E"))
    bot.react(next_turn("S"))  # the extra line is taken for the reply
    process = running(bot)
    assert process._unread or ready(process._stdout, select.POLLIN, PATIENCE)
    with pytest.raises(BotError, match=r"wrote a line that is no reply .* '\{\"type\": \"dahai\""):
        bot.react(next_turn("W"))


def test_much_output_on_stderr_does_not_block(open_bot: OpenBot) -> None:
    bot = open_bot("event", "much-stderr")
    bot.react(OPENING)
    bot.react(next_turn("E"))
    assert bot.react(next_turn("S")) == DISCARD | {"pai": "S"}


def test_a_process_is_restarted_for_another_seat(open_bot: OpenBot) -> None:
    bot = open_bot("array")
    bot.react(OPENING)
    bot.react(END)
    start = [OPENING[0] | {"id": 2}, OPENING[1], {"type": "tsumo", "actor": 2, "pai": "6p"}]
    assert bot.react(start) == DISCARD | {"actor": 2}


def test_a_process_may_exit_at_the_end_of_a_game(open_bot: OpenBot) -> None:
    bot = open_bot("array", "exit")
    for _ in range(2):
        assert bot.react(OPENING) == DISCARD
        assert bot.react(END) == {"type": "none"}


@pytest.mark.parametrize("framing", ["array", "event"])
def test_a_reply_to_the_end_of_a_game_need_not_be_json(open_bot: OpenBot, framing: str) -> None:
    bot = open_bot(framing, "farewell")
    for _ in range(2):
        assert bot.react(OPENING) == DISCARD
        assert bot.react(END) == {"type": "none"}


@pytest.mark.parametrize("framing", ["array", "event", "asked"])
def test_a_process_still_exiting_when_the_next_game_begins_is_replaced(open_bot: OpenBot, framing: str) -> None:
    bot = open_bot(framing, "slow-exit")
    for _ in range(2):
        assert bot.react(OPENING) == DISCARD
        process = running(bot)
        assert bot.react(END) == {"type": "none"}
        assert bot._process is process
        assert process.running


def test_a_new_process_that_exits_at_once_is_a_fault(tmp_path: Path, open_bot: OpenBot) -> None:
    starts = tmp_path / "starts"
    once = f"echo >> {starts}; test $(wc -l < {starts}) = 1 || exit 3; exec {command(tmp_path, 'array', 'slow-exit')}"
    bot = open_bot("array", program=f"sh -c '{once}'")
    bot.react(OPENING)
    bot.react(END)
    with pytest.raises(BotError, match=r"has exited \(exit code 3\)"):
        bot.react(OPENING)
    assert starts.read_text() == "\n\n"


def test_exiting_after_a_reply_is_a_fault(open_bot: OpenBot) -> None:
    bot = open_bot("event", "crash")  # at its third draw
    bot.react(OPENING)
    bot.react(next_turn("E"))
    bot.react(END)
    with pytest.raises(BotError, match=r"has exited \(exit code 3\)"):
        bot.react(OPENING)


def test_a_process_is_ended_when_its_reply_is_rejected(open_bot: OpenBot) -> None:
    bot = open_bot("array")
    bot.react(OPENING)
    pid = running(bot).pid
    bot.reject("may not discard 6p")
    assert exits_soon(pid)
    with pytest.raises(BotError, match="sits out until the next game"):
        bot.react(next_turn("E"))
    assert bot.react(OPENING) == DISCARD


def test_an_interrupted_game_ends_the_process(open_bot: OpenBot) -> None:
    """The bot would crash at the third draw of a process, so each of these games must have its own process."""
    bot = open_bot("array", "crash")
    for _ in range(2):
        bot.react(OPENING)
        bot.react(next_turn("E"))


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["grandchild", "daemon", "unstoppable"])
def test_no_process_is_left_behind(open_bot: OpenBot, fault: str) -> None:
    bot = open_bot("array", fault)
    bot.react(OPENING)
    bot.react(next_turn("E"))
    process = running(bot)
    process._timeout = 1.0
    with pytest.raises(BotError, match="did not reply") as caught:
        bot.react(next_turn("S"))
    assert exits_soon(process.pid)
    if fault == "grandchild" or (fault == "daemon" and sys.platform == "linux"):
        assert exits_soon(int(caught.value.stderr[-1]))


STAYS = """
import json, signal, sys, time
from pathlib import Path

def end(*_):
    Path(sys.argv[1]).touch()
    sys.exit()

signal.signal(signal.SIGTERM, end)
sys.stdin.readline()
print(json.dumps({"type": "dahai", "actor": 0, "pai": "6p"}), flush=True)
while True:
    time.sleep(1)
"""


@pytest.mark.slow
def test_a_program_that_does_not_heed_its_stdin_can_clean_up(tmp_path: Path) -> None:
    (tmp_path / "stays.py").write_text(STAYS)
    bot = SubprocessBot(f"{sys.executable} {tmp_path}/stays.py {tmp_path}/cleaned", framing="array", timeout=PATIENCE)
    bot.react(list(OPENING))
    assert not (tmp_path / "cleaned").exists()
    bot.close()
    assert (tmp_path / "cleaned").exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_process_does_not_outlive_its_parent(tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys, time\nfrom agents.external.mjai_bot import OPENING\n"
        "from agents.external.subprocess_bot import SubprocessBot\n"
        f"bot = SubprocessBot({command(tmp_path, 'array', 'unstoppable')!r}, framing='array')\n"
        "bot.react(list(OPENING))\nprint(bot._process.pid, flush=True)\ntime.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": "."}
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(number)
    parent.wait()
    parent.stdout.close()
    assert exits_soon(pid)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("{python} A/bot.py", "A"), ("{python} -u {here}/B/main.py {{id}}", "B"), ("A/bot", "A"),
        ("{python} bot.pyz", "here"), ("{python} A/clever.py", "clever"), ("cat", "cat"),
    ],
)  # fmt: skip
def test_a_bot_whose_script_is_called_as_others_are_is_named_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str
) -> None:
    here = tmp_path / "here"
    for script in ("A/bot.py", "B/main.py", "A/bot", "bot.pyz", "A/clever.py"):
        (here / script).parent.mkdir(parents=True, exist_ok=True)
        (here / script).touch(mode=0o755)
    monkeypatch.chdir(here)
    assert SubprocessBot(command.format(python=sys.executable, here=here)).name == name


def test_windows_is_told_what_to_do_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ValueError, match=r"^'python bot\.py' cannot be run: on Windows, .* over TCP alone [^\n]*$"):
        SubprocessBot("python bot.py")


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        ("[]", "no object with a type"),
        ('{"type":["dahai"]}', "no object with a type"),
        ('{"type":"tsumo","actor":0,"pai":"1m"}', "type is 'tsumo'; type must be one of "),
        ('{"type":"dahai","actor":1,"pai":"1m"}', "another seat than 0"),
        ('{"type":"dahai","actor":0,"pai":"2m"}', "dahai: pai is '2m'; pai must be a tile"),
        ('{"type":"dahai","actor":0,"pai":[["1m"]]}', "pai is a list of 1; pai must be a tile"),
        (
            '{"type":"pon","actor":0,"target":7,"pai":"1m","consumed":["1m","1m"]}',
            "pon: target is 7; target must be the seat that discarded",
        ),
        ('{"type":"dahai","actor":0}', "dahai: pai is missing; pai must be a tile"),
        ('{"type":"dahai","actor":0,"pai":"6p","tsumogiri":1}', "tsumogiri is 1; tsumogiri must be true or false"),
        ('{"type":"dahai","actor":0,"pai":"6p","ext_bot":{"sure":NaN}}', "ext_bot is an object with NaN"),
        ('{"type":"dahai","actor":0,"pai":"6p","ext_bot":{"a":"%s"}}' % ("x" * 5000), "ext_bot is too big"),
        ('{"type":"dahai","actor":0,"pai":"6p","ext_bot":[]}', r"ext_bot is \[\]; ext_bot must be an object"),
        ("[" * 60_000, "not JSON"),
        ("\\xff\\xfe", "not JSON"),
        ("x" * 70_000, "wrote a line of more than 65,536 bytes"),
    ],
)
def test_invalid_replies(tmp_path: Path, open_bot: OpenBot, reply: str, what: str) -> None:
    (tmp_path / "reply").write_text(reply + "\n")
    bot = open_bot("array", program=f"sh -c 'read line; cat {tmp_path}/reply; cat'")
    with pytest.raises(BotError, match=what) as caught:
        bot.react(OPENING)
    assert len(str(caught.value)) < 400


def test_ending_a_program_waits_for_what_it_wrote_to_stderr() -> None:
    noted = []

    def slowly(mark: str, line: bytes) -> None:
        if mark == STDERR:
            time.sleep(0.1)
            noted.append(line)

    program = "import sys; print(*'abc', sep='\\n', file=sys.stderr, flush=True); print('done', flush=True)"
    process = LineProcess([sys.executable, "-c", program], PATIENCE, slowly)
    assert process.read() == b"done"
    process.end()
    assert noted == [b"a", b"b", b"c"]


def open_pipes() -> set[int]:
    """Inodes of this process's pipes."""
    pipes = set()
    for descriptor in Path("/dev/fd").iterdir():
        with suppress(OSError):  # that of the listing is closed by now
            status = os.fstat(int(descriptor.name))
            if stat.S_ISFIFO(status.st_mode):
                pipes.add(status.st_ino)
    return pipes


def test_a_program_whose_arguments_are_too_long_is_one_clear_error() -> None:
    before = open_pipes()
    with pytest.raises(BotError, match=r"^cannot start [^\n]*: Argument list too long$"):
        LineProcess([sys.executable, "x" * 3_000_000], PATIENCE)
    assert open_pipes() <= before
