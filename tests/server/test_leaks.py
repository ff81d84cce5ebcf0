"""No bot, and no spectator of closed hands, is sent hidden information; each leak built in on purpose is found."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import events
from engine.actions import actions_of
from engine.common.error_text import ErrorText
from engine.events import Event
from engine.mjai import round_events
from engine.mjai.messages import dumps, hand_names
from engine.mjai.possible_actions import possible_actions
from engine.mjai.round_events import RoundReader
from engine.table import URA_AT
from engine.tiles import MJAI_NAMES
from server.broadcast import closed_frames
from server.connection.bot_connection import BotConnection
from server.connection.websocket import text_frame
from server.game.live_game import LiveGame
from tests.support.leak_detector import HINTS, leaks, with_other_tiles
from tests.support.observed_games import SEED, TABLES, PlayedGame, RecordingBot, played, seat_bots
from tests.support.server_bots import PATIENT, Message, serving
from tests.support.stored_records import replay_of

# Tests ----------------------------------------------------------------------------------------------------------------

KEPT = 600.0  # seconds that games are kept once they are over: until the last one is, and was looked at
# These games are played as fast as they can be, and all of them are watched: a small share would not suffice.
WATCHED = replace(PATIENT, spectators_share=1.0, kept_time=KEPT)


@pytest.mark.slow
async def test_no_bot_is_sent_hidden_information(tmp_path: Path) -> None:
    async with serving(
        tmp_path, limits=WATCHED, seed=SEED, access="token", resume_timeout=KEPT, max_faults=4
    ) as server:
        bots = await seat_bots(server, TABLES)
        games = await played(server, bots)
    assert leaks(bots, games) == []
    for game in games.values():
        assert replay_of(game.lines).check() == []
    check_everything_occurred(bots, list(games.values()))


@pytest.mark.slow
async def test_closed_hands_are_the_same_bytes_for_all_hidden_tiles(tmp_path: Path) -> None:
    async with serving(
        tmp_path, limits=WATCHED, seed=SEED, access="token", resume_timeout=KEPT, max_faults=10_000
    ) as server:
        bots = await seat_bots(server, 2, dialect="mjai3p", reply="always", resume=True, bad=0.03, drops=0.0)
        games = await played(server, bots)
    for number, game in enumerate(games.values()):
        lines = with_other_tiles(game.lines, random.Random(number))
        changed = Counter(one["type"] for one, other in zip(lines, game.lines, strict=True) if one != other)
        assert min(changed[kind] for kind in ("start_kyoku", "tsumo", "dahai", "error")) > 0
        shown = b"".join(closed_frames(dumps(line).encode() for line in lines))
        assert {b"".join(map(text_frame, frames)) for frames in game.closed} == {shown}


def check_everything_occurred(bots: Sequence[RecordingBot], games: Sequence[PlayedGame]) -> None:
    """Every kind of event occurred often enough for the test to mean something."""
    lines = [line for game in games for line in game.lines]
    happened = Counter(line["type"] for line in lines)
    for kind in ("reach", "pon", "daiminkan", "ankan", "kakan", "nukidora", "dora", "hora", "ryukyoku", "error"):
        assert happened[kind] >= 5, happened
    assert sum("ext_bot" in line for line in lines) > 1_000
    assert sum(line["type"] == "error" and "plays this seat" in line["message"] for line in lines) >= 5
    assert sum("legal: " in error for bot in bots for error in bot.errors) > 20
    sent = Counter(key for bot in bots for data in bot.raw for key in json.loads(data))
    assert min(sent[key] for key in HINTS) > 20
    assert sum(data.startswith(b'{"type":"resumed"') for bot in bots for data in bot.raw) > 50


# Leaks ---------------------------------------------------------------------------------------------------------------

Sabotage = Callable[[pytest.MonkeyPatch], None]
BOTS, LEGAL = "server.connection.bot_connection", "server.game.live_game.legal_action"
ANNOTATIONS = "server.game.history.without_annotation"


def replaced(target: str, value: Any) -> Sabotage:
    """Puts something else in the place of a function or constant."""
    return lambda patch: patch.setattr(target, value)


def unchanged(message: Message) -> Message:
    return message


def open_to_all(message: Message, seat: int) -> Message:
    """Like `for_seat`, but hides nothing."""
    return message | {"id": seat} if message["type"] == "start_game" else message


def hides_nothing_when_sent_again(patch: pytest.MonkeyPatch) -> None:
    send = BotConnection.resend_messages

    def sending(self: BotConnection, messages: list[Message], table: np.record, legal: list[int]) -> None:
        with pytest.MonkeyPatch.context() as now:
            now.setattr(f"{BOTS}.for_seat", open_to_all)
            send(self, messages, table, legal)

    patch.setattr(BotConnection, "resend_messages", sending)


def actions_of_the_next_seat(t: np.record, seat: int, message: Message, _: Sequence[int]) -> Message:
    other = (seat + 1) % 3
    return possible_actions(t, other, message, actions_of(*t.legal[other].tolist()))


def also_the_next_seats_win(t: np.record, seat: int, message: Message, legal: Sequence[int]) -> Message:
    hints = possible_actions(t, seat, message, legal)
    return {key: [*value, {"type": "hora", "actor": (seat + 1) % 3}] for key, value in hints.items()}


def errors_of_everybody(patch: pytest.MonkeyPatch) -> None:
    fault = LiveGame.fault

    def sent_to_all(self: LiveGame, seat: int, text: ErrorText, kind: str, is_decision: bool) -> None:
        for other in self.seats:
            if other.index != seat and other.connection is not None:
                other.connection.send_error(text)
        fault(self, seat, text, kind, is_decision)

    patch.setattr(LiveGame, "fault", sent_to_all)


def refusal_with_the_next_hand(t: np.record, seat: int, *_: Any) -> int:
    raise ValueError(f"the next seat holds {hand_names(t.seat[(seat + 1) % 3])}")


def refusal_with_another_menu(*_: Any) -> int:
    raise ValueError("may not do that; legal: pon, ron, daiminkan")


def shows_ura(patch: pytest.MonkeyPatch) -> None:
    read = round_events.READERS[events.HORA]

    def reading(self: RoundReader, event: Event) -> Message:
        return read(self, event) | {"uradora_markers": [MJAI_NAMES[self.wall[URA_AT[0]]]]}

    patch.setitem(round_events.READERS, events.HORA, reading)


def tells(more: Callable[[LiveGame, int], Message]) -> Sabotage:
    """Adds keys to every start_game, which depend on the game and the seat."""
    send = BotConnection.send_messages

    def sending(self: BotConnection, messages: list[Message], *rest: Any, **named: Any) -> None:
        assert isinstance(self._game, LiveGame)
        extra = more(self._game, self._seat)
        send(self, [line | extra if line["type"] == "start_game" else line for line in messages], *rest, **named)

    return lambda patch: patch.setattr(BotConnection, "send_messages", sending)


SABOTAGES: dict[str, tuple[Sabotage, str]] = {  # what leaks -> how, and what the check reports
    "hides nothing": (replaced(f"{BOTS}.for_seat", open_to_all), r"sent .*'type': 'tsumo'.* may know .*'pai': '\?'"),
    "hides nothing when sent again": (hides_nothing_when_sent_again, r"sent .*'start_kyoku'.* may know .*'\?'"),
    "next seat's hints": (replaced(f"{BOTS}.possible_actions", actions_of_the_next_seat), r"hint possible_actions of"),
    "others' wins": (replaced(f"{BOTS}.possible_actions", also_the_next_seats_win), r"hint possible_actions of"),
    "annotations sent again": (replaced(ANNOTATIONS, unchanged), r"was sent an annotation"),
    "errors of everybody": (errors_of_everybody, r"error about no fault of its own"),
    "errors with hands": (replaced(LEGAL, refusal_with_the_next_hand), r"error names \["),
    "errors with menus": (replaced(LEGAL, refusal_with_another_menu), r"error names actions that are not its own"),
    "errors with more values": (
        replaced(f"{BOTS}.coded", lambda _: {"code": "late", "values": {"hand": "1m 9m"}}),
        r"error has the value '1m 9m', which its text has not",
    ),
    "shows noten hands": (replaced("engine.mjai.round_events.hidden_hand", hand_names), r"hand of seat . shown"),
    "shows ura": (shows_ura, r"ura shown"),
    "spectators' hands": (
        replaced("server.broadcast.for_public", unchanged), r"a spectator was sent .*tsumo.* may know .*\?",
    ),
    "spectators' errors": (replaced("server.broadcast.ERROR", "no such type"), r"a spectator was sent .*error"),
    "spectators' annotations": (
        replaced("server.broadcast.ANNOTATION", b"no such key"), r"a spectator was sent an annotation",
    ),
    "tells the seed": (tells(lambda of, _: {"wall_seed": of.start.seed}), r"was sent a game's seed"),
    "tells others' secrets": (tells(lambda of, seat: {"key": of.seats[seat - 1].secret}), r"was sent a secret$"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("wrong", SABOTAGES)
async def test_a_leak_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    sabotage, complaint = SABOTAGES[wrong]
    sabotage(monkeypatch)
    async with serving(
        tmp_path, limits=WATCHED, seed=SEED, access="token", resume_timeout=KEPT, max_faults=10_000
    ) as server:
        bots = await seat_bots(server, 1, dialect="mjai3p", reply="always", resume=True, bad=0.03, drops=0.01)
        found = leaks(bots, await played(server, bots))
    assert any(re.search(complaint, leak) for leak in found), found[:5]
