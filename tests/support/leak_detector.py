"""Finds hidden information in the messages that bots, and spectators of closed hands, were sent.

What a seat may know is defined here, independently of the server: the tiles of other hands and draws are hidden, and so
are annotations, seeds, tokens and secrets of others. Hints and errors must follow from the seat's own view, which
`engine.mjai.player_state` builds from what the seat may know.
"""

from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mahjong.shanten import Shanten

from engine.actions import action_name
from engine.mjai import dialects
from engine.mjai.messages import dumps, hand_names
from engine.mjai.player_state import PlayerState
from engine.mjai.possible_actions import possible_actions
from engine.mjai.schema import KEYS
from engine.tiles import KIND_OF, MJAI_TILES
from tests.support.observed_games import PlayedGame, RecordingBot
from tests.support.server_bots import Answer, Message

NOBODY = -1  # a seat
HINTS = frozenset({"possible_actions", "cannot_dahai", "can_act", "resume", "game", "http_port"})
HELLO = {"type": "hello", "protocol": "mjsonp", "protocol_version": 3}
TILE = re.compile(r"\b(?:[1-9][mps]r?|[ESWNPFC])\b")
EXAMPLES = re.compile(r"(must be|needs) .*")  # the part of an error that is the same for every hand


# What a seat may know -------------------------------------------------------------------------------------------------


def seen_by(message: Message, seat: int) -> Message:
    """A message of the record as `seat` may know it."""
    kind = message["type"]
    shown = {"type": kind} | {key: message[key] for key in KEYS[kind] if key in message and key != "wall_seed"}
    if kind == "start_game":
        return shown | {"id": seat}
    if kind == "start_kyoku":
        return shown | {"tehais": [hand if of == seat else ["?"] * 13 for of, hand in enumerate(message["tehais"])]}
    if kind == "tsumo" and message["actor"] != seat:
        return shown | {"pai": "?"}
    return shown


def seen_by_all(message: Message) -> Message:
    """A message of the record as everybody may know it at once."""
    shown = seen_by(message, NOBODY)
    shown.pop("id", None)
    return shown


def with_other_tiles(lines: Sequence[Message], chance: random.Random) -> list[Message]:
    """A record with the same public events as another: concealed tiles, annotations and errors are others."""
    found: list[Message] = []
    for line in lines:
        other = line | {"ext_bot": chance.random()} if "ext_bot" in line else dict(line)
        match line["type"]:
            case "start_game":
                del other["wall_seed"]  # it is in stored records only
            case "start_kyoku":
                other["tehais"] = [chance.choices(list(MJAI_TILES), k=13) for _ in line["tehais"]]
            case "tsumo":
                other["pai"] = chance.choice(list(MJAI_TILES))
            case "error":
                other["message"] = f"may not discard {chance.choice(list(MJAI_TILES))}"
        found.append(other)
    return found


@dataclass
class Knowledge:
    """What a seat knows after a message."""

    message: Message  # in the canonical dialect
    legal: list[int]  # empty if the seat is not asked
    view: np.record | None  # if it is asked


def knowledge_of(lines: Sequence[Message], seat: int) -> list[Knowledge]:
    """What `seat` knows after each message of a record."""
    state, known = PlayerState(), []
    for line in lines:
        if line["type"] != "error":
            message = seen_by(line, seat)
            state.update(message)
            legal = state.legal
            known.append(Knowledge(message, legal, state.view if legal else None))
    return known


# Leaks ----------------------------------------------------------------------------------------------------------------


class Inspection:
    """Compares everything one bot was sent with what its seat may know."""

    def __init__(self, bot: RecordingBot, game: PlayedGame) -> None:
        self.bot, self.game = bot, game
        self.seat: int = game.lines[0]["names"].index(bot.name)
        self.known = knowledge_of(game.lines, self.seat)
        self.faults = {line["message"] for line in game.lines if line["type"] == "error" and line["actor"] == self.seat}
        self.next_index = 0  # of the next message of the game
        self.last_answer: Answer = None  # its last reply

    def leaks(self) -> Iterator[str]:
        """What the bot should not have been sent, one line each."""
        for number, data in enumerate(self.bot.raw):
            self.last_answer = self.bot.answers.get(number, self.last_answer)
            message = json.loads(data)
            if json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() != data:
                yield f"more than a message: {data!r}"
            for leak in self._message(message):
                yield f"{self.bot.name}, seat {self.seat}, message {self.next_index}: {leak}"

    def _message(self, message: Message) -> Iterator[str]:
        kind = message["type"]
        if kind == "hello":
            yield from [] if message == HELLO else [f"hello says {message}"]
        elif kind == "error":
            yield from self._error(message)
        elif kind == "resumed":
            yield from [] if message.keys() - {"taken_over"} == {"type", "from"} else [f"resumed says {message}"]
            self.next_index = message["from"]
        else:
            yield from self._event(message)
            self.next_index += 1

    def _event(self, message: Message) -> Iterator[str]:
        """A message of the game: the event as the seat may know it, and hints that follow from that."""
        knowledge, join = self.known[self.next_index], self.bot.join
        sent = {key: value for key, value in message.items() if key not in HINTS}
        if sent != (expected := dialects.write(knowledge.message, join["dialect"])):
            yield f"sent {sent}, may know {expected}"
        may: dict[str, list[Any]] = {}  # the values a hint may have
        if join["dialect"] == "mjai3p":
            for legal in ([], knowledge.legal):
                for key, value in possible_actions(knowledge.view, self.seat, knowledge.message, legal).items():
                    may.setdefault(key, []).append(value)
        if join["reply"] == "when_asked" and (knowledge.legal or message["type"] == "start_game"):
            may["can_act"] = [message["type"] != "start_game"]
        if join["resume"] and message["type"] == "start_game":
            may["resume"] = [self.game.secrets[self.seat]]
            may |= self.game.place
        for key in HINTS & message.keys():
            if message[key] not in may.get(key, []):
                yield f"hint {key} of {message['type']} is {message[key]}, may be {may.get(key, 'none')}"

    def _error(self, message: Message) -> Iterator[str]:
        """An error is about the seat's own fault and names only its own tiles, the offered tile and what it sent."""
        text = message["message"]
        if message.keys() - {"code", "values"} != {"type", "message"} or text not in self.faults:
            yield f"error about no fault of its own: {message}"
        for value in message.get("values", {}).values():
            written = [value] if isinstance(value, str) else [f"{value:g}", f"{value:,}"]
            if not any(each in text for each in written):
                yield f"error has the value {value!r}, which its text has not: {message}"
        knowledge = self.known[max(self.next_index - 1, 0)]
        may_name = set(TILE.findall(str(self.last_answer))) | {knowledge.message.get("pai")}
        if knowledge.view is not None:
            may_name |= set(hand_names(knowledge.view.seat[self.seat]))
        if unknown := set(TILE.findall(EXAMPLES.sub("", text))) - may_name:
            yield f"error names {sorted(unknown)}: {text}"
        _, _, legal_actions = text.partition("; legal: ")
        if legal_actions and set(legal_actions.split(", ")) - set(map(action_name, knowledge.legal)):
            yield f"error names actions that are not its own: {text}"


def hidden_texts(bot: RecordingBot, game: PlayedGame) -> Iterator[str]:
    """Texts that must not occur anywhere in what the bot was sent."""
    secret = game.secrets[game.lines[0]["names"].index(bot.name)]
    everything = b"\n".join(bot.raw)
    for text, what in game.hidden.items():
        if text != secret and text.encode() in everything:
            yield f"{bot.name} was sent {what}"
    if any(secret.encode() in data and b'"start_game"' not in data for data in bot.raw):
        yield f"{bot.name} was sent its secret outside of start_game"


def leaks_to_spectators(game: PlayedGame) -> Iterator[str]:
    """What spectators of closed hands should not have been sent."""
    events = [line for line in game.lines if line["type"] != "error"]
    may_know = [dumps(seen_by_all(line)).encode() for line in events]
    for frames in game.closed:
        for sent, expected in itertools.zip_longest(frames, may_know):
            if sent != expected:
                yield f"a spectator was sent {sent!r}, may know {expected!r}"
        everything = b"\n".join(frames)
        yield from (f"a spectator was sent {what}" for text, what in game.hidden.items() if text.encode() in everything)


def is_tenpai(names: Sequence[str]) -> bool:
    """Whether a concealed hand is tenpai, by another library."""
    counts = np.bincount([KIND_OF[MJAI_TILES[name]] for name in names], minlength=34)
    return bool(Shanten().calculate_shanten(counts.tolist()) == 0)


def revealed_hands(line: Message, turn: int) -> Iterator[tuple[int, list[str], bool]]:
    """The hands that a win or draw reveals: seat, hand, whether the rules reveal it; seat `turn` drew last."""
    if line["type"] == "hora":
        yield line["actor"], line["hora_tehais"], True
    if line["type"] == "ryukyoku":
        for seat, hand in enumerate(line["tehais"]):
            if set(hand) != {"?"}:
                by_declaration = line["reason"] == "kyushukyuhai" and seat == turn
                yield seat, hand, by_declaration or (line["reason"] in ("fanpai", "nagashimangan") and is_tenpai(hand))


def unlawful_reveals(lines: Sequence[Message]) -> Iterator[str]:
    """What the ends of rounds reveal against the rules: noten hands, ura indicators without riichi."""
    got: list[Counter[str]] = []  # every tile each seat was dealt or drew
    riichi: set[int] = set()
    n_indicators, turn = 0, 0
    for line in lines:
        kind = line["type"]
        if kind == "start_kyoku":
            got, riichi, n_indicators = [Counter(hand) for hand in line["tehais"]], set(), 1
        elif kind == "tsumo":
            turn = line["actor"]
            got[turn][line["pai"]] += 1
        elif kind == "reach":
            riichi.add(line["actor"])
        elif kind == "dora":
            n_indicators += 1
        elif kind == "hora" and len(line["uradora_markers"]) > n_indicators * (line["actor"] in riichi):
            yield f"ura shown: {line}"
        for seat, hand, by_rules in revealed_hands(line, turn):
            if not by_rules:
                yield f"hand of seat {seat} shown: {line}"
            if Counter(hand) - got[seat]:
                yield f"seat {seat} never had all of what it shows: {line}"


def leaks(bots: Sequence[RecordingBot], games: dict[str, PlayedGame]) -> list[str]:
    """All leaks to all bots, one line each; `games` by room."""
    found = [leak for game in games.values() for leak in unlawful_reveals(game.lines)]
    found += [leak for game in games.values() for leak in leaks_to_spectators(game)]
    for bot in bots:
        game = games[bot.join["room"]]
        found += [*Inspection(bot, game).leaks(), *hidden_texts(bot, game)]
    return found
