"""A packed bot plays like the bot that was packed, with nothing installed but Python, numpy and numba."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from agents.external.adapters import AgentBot
from agents.external.framing import FRAMINGS
from agents.external.mjai_bot import NONE, OPENING, BotError
from agents.external.subprocess_bot import SubprocessBot
from agents.pack.archive import write_archive
from agents.pack.contents import contents_of
from agents.pack.player import make_parser, packed_spec, play
from agents.registry import make
from engine.game import Game
from engine.mjai.dialects import DIALECTS, write
from engine.mjai.possible_actions import legal_action
from engine.mjai.reading import canonical

# What lies in site-packages of an installation of numpy and numba.
NEEDED = ("numpy", "numpy.libs", "numba", "llvmlite", "llvmlite.libs")
DISCARD = {"type": "dahai", "actor": 0, "pai": "6p", "tsumogiri": True}  # what tsumogiri replies to OPENING


def replies_to(*lines: Any, bot: str = "tsumogiri", dialect: str = "mjai3p", seat: int | None = None) -> list[Any]:
    """What a bot replies to lines, which are given as JSON values."""
    written = BytesIO()
    play(AgentBot(make(bot)), [json.dumps(line).encode() + b"\n" for line in lines], written, dialect, seat)
    return [json.loads(line) for line in written.getvalue().splitlines()]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_events_of_every_dialect_and_framing_get_replies(dialect: str) -> None:
    events = [write(message, dialect) for message in OPENING]
    asked = [event | {"can_act": number == 2} for number, event in enumerate(events)]
    assert replies_to(*events) == [NONE, NONE, DISCARD]
    assert replies_to(events) == [DISCARD]
    assert replies_to(*asked) == [DISCARD]


def test_several_games_and_messages_that_are_no_events() -> None:
    end = {"type": "end_game", "scores": [35000] * 3}
    drawn = [{"type": "ryukyoku", "reason": "fanpai", "deltas": [0] * 3}, {"type": "end_kyoku"}]
    assert replies_to({"type": "hello"}, [*OPENING], [*drawn, end], [*OPENING]) == [NONE, DISCARD, NONE, DISCARD]


def test_the_seat_may_be_an_argument() -> None:
    """As for mjai.app and mjai-reviewer, whose start_game may have no id; where it has one, that counts."""
    start, *others = OPENING
    unseated = {key: value for key, value in start.items() if key != "id"}
    hidden, drawn = others[0] | {"tehais": [["?"] * 13, ["?"] * 13, others[0]["tehais"][0]]}, others[1]
    for_last = [{"type": "start_game", "id": 2, "names": start["names"]}, hidden | {"oya": 2}, drawn | {"actor": 2}]
    assert replies_to([unseated, *others], seat=0) == [DISCARD]
    assert replies_to(for_last, seat=0) == [DISCARD | {"actor": 2}]
    with pytest.raises(BotError, match="start_game needs 'id', a seat 0 to 2, not None"):
        replies_to([unseated, *others])
    assert make_parser("bot.pyz", "rule").parse_args(["2"]).seat == 2


@pytest.mark.parametrize("line", [b"nonsense\n", b"3\n", b'{"type":7}\n', b"[[]]\n", b'{"type":"tsumo","actor":[]}\n'])
def test_what_is_no_event_is_told_in_one_line(line: bytes) -> None:
    with pytest.raises((ValueError, BotError)) as error:
        play(AgentBot(make("tsumogiri")), [line], BytesIO(), "mjai3p")
    assert "\n" not in str(error.value)


def test_paths_in_a_spec_become_those_of_the_unpacked_archive() -> None:
    parts = ["", "bot/my_bot.py", ":Mine:", "data/settings.txt", "@-300"]
    assert packed_spec(parts, Path("/root")) == f"/root/bot/my_bot.py:Mine:{Path('/root/data/settings.txt')}@-300"
    assert packed_spec(["rule"], Path("/root")) == "rule"


@dataclass
class Packed:
    """A packed bot, and an environment that has no more than it needs."""

    archive: Path
    variables: dict[str, str]

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-S", str(self.archive)]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Packed:
    """`efficiency`, packed, an empty cache, and a Python that finds numpy and numba alone."""
    folder = tmp_path_factory.mktemp("packed")
    site = folder / "site"
    site.mkdir()
    for name in NEEDED:
        installed = Path(sysconfig.get_path("platlib")) / name
        if installed.exists():
            (site / name).symlink_to(installed)
    write_archive(contents_of("efficiency"), folder / "bot.pyz")
    cache = {"NUKIDORA_CACHE": str(folder / "cache"), "PYTHONPATH": str(site)}
    return Packed(folder / "bot.pyz", {"PATH": os.environ["PATH"], "HOME": str(folder)} | cache)


@pytest.fixture
def environment(packed: Packed, monkeypatch: pytest.MonkeyPatch) -> Packed:
    for name, value in packed.variables.items():
        monkeypatch.setenv(name, value)
    return packed


@pytest.mark.slow
def test_nothing_but_numpy_and_numba_is_there(environment: Packed) -> None:
    for package, found in (("numba", 0), ("rich", 1), ("pydantic", 1), ("websockets", 1), ("engine", 1)):
        command = [sys.executable, "-S", "-c", f"import {package}"]
        done = subprocess.run(command, cwd=environment.archive.parent, capture_output=True, check=False)
        assert (package, done.returncode) == (package, found)


@pytest.mark.long
def test_three_processes_start_at_once_with_an_empty_cache(environment: Packed) -> None:
    """One of them compiles, and all play."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = [subprocess.Popen(environment.command, **pipes) for _ in range(3)]
    asked = json.dumps(OPENING).encode() + b"\n"
    (first, told), *others = [process.communicate(asked) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], told
    assert json.loads(first)["type"] == "dahai"
    assert [out for out, _ in others] == [first, first]
    compiled = [b"compiling" in error for error in (told, *(error for _, error in others))]
    assert sum(compiled) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("framing", "dialect"), list(zip(FRAMINGS, [*DIALECTS, "mjai3p"], strict=True)))
def test_a_packed_bot_plays_exactly_like_the_bot(environment: Packed, framing: str, dialect: str) -> None:
    command = " ".join(environment.command)
    ours = [AgentBot(make(name, seed=3)) for name in ("efficiency", "rule", "efficiency")]
    decisions = 0
    with closing(SubprocessBot(command, dialect, framing, timeout=300.0)) as theirs:
        theirs.prepare()
        for seed in (1, 2):
            game = Game(seed=seed)
            while not game.over:
                for seat in game.asked:
                    messages = game.new_messages(seat)
                    reply = canonical(ours[seat].react(messages))
                    if seat == 0:
                        assert theirs.react(messages) == (NONE if reply["type"] == "none" else reply)
                        decisions += 1
                    game.act(seat, legal_action(game.table, seat, reply, game.legal(seat)))
            theirs.react(game.new_messages(0))
    assert decisions > 150


@pytest.mark.slow
def test_the_packed_program_says_what_is_wrong_in_one_line(environment: Packed) -> None:
    for arguments, text, code in [
        ([], "bot.pyz: no event of mjai: 'nonsense\\n'", 1),
        (["--seed", "x"], "bot.pyz: argument --seed: 'x' is not a seed", 2),
    ]:
        done = subprocess.run([*environment.command, *arguments], input=b"nonsense\n", capture_output=True, check=False)
        (line,) = done.stderr.decode().splitlines()
        assert line.startswith(text)
        assert (done.returncode, done.stdout) == (code, b"")
    shown = subprocess.run([*environment.command, "--help"], capture_output=True, check=True, text=True).stdout
    assert "efficiency" in shown
    assert "--prepare" in shown
