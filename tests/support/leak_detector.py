"""Finds whatever a bot was told that is hidden from it, in every byte that it was sent.

What a seat may know is said anew here and not taken from the server: the tiles of others' hands and draws are hidden,
and so are remarks, seeds, tokens and others' secrets. Hints and complaints must follow from the seat's own view, as
`engine.mjai.player_state` rebuilds it from what the seat may know.
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

from engine.actions import ANKAN, DAIMINKAN, KYUSHU_KYUHAI, action_name
from engine.game import Game
from engine.mjai import dialects
from engine.mjai.messages import hand_names
from engine.mjai.player_state import PlayerState
from engine.mjai.possible_actions import possible_actions
from engine.mjai.schema import KEYS
from engine.tiles import KIND_OF, MJAI_TILES
from server.running import Running
from tests.support.server_bots import (
    NOTHING,
    WIRES,
    Answer,
    Bot,
    Chooser,
    Message,
    decision_of,
    play_all,
    stored_lines,
    until,
)

SEED = 16045690984503111693  # of all rooms: long, so that no other number holds its digits
TABLES = 24
# How bots play: dialect, transport, what they reply to.
WAYS = list(itertools.product(dialects.DIALECTS, WIRES, ("always", "when_asked")))
RARE = (DAIMINKAN, KYUSHU_KYUHAI)  # beside the other kans
REMARK = "thought-nobody-may-read"
WRONG: tuple[Message | bytes, ...] = (
    b"what?", {"type": "hora"}, {"type": "reach"}, {"type": "nukidora"}, {"type": "pon", "consumed": ["5s", "5sr"]},
    {"type": "dahai", "pai": "9p"}, {"type": "dahai", "pai": "?"}, {"type": "dahai", "pai": "C", "tsumogiri": True},
    {"type": "ankan", "consumed": ["E"] * 4}, {"type": "kakan", "pai": "1m"}, {"type": "dahai"},
)  # fmt: skip
HINTS = frozenset({"possible_actions", "cannot_dahai", "can_act", "resume"})
HELLO = {"type": "hello", "protocol": "mjsonp", "protocol_version": 3}
TILE = re.compile(r"\b(?:[1-9][mps]r?|[ESWNPFC])\b")
EXAMPLES = re.compile(r"(must be|needs) .*")  # what is said about any such message, whatever the hand


# Bots -----------------------------------------------------------------------------------------------------------------


class Witness(Bot):
    """A bot that loses its connection now and then and comes back; it remembers what it has said, and when."""

    def __init__(self, server: Running, name: str, seed: int, *, bad: float, drops: float, **join: Any) -> None:
        """`bad`: how often a decision is answered wrongly; `drops`: how often a message is followed by a loss."""
        super().__init__(server, name, Unruly(server, seed, bad), **join)
        self.said: dict[int, Answer] = {}  # by the number of messages it had been sent
        self._chance, self._drops = random.Random(seed), drops

    async def say(self, answer: Answer) -> None:
        """See `Bot`."""
        self.said[len(self.raw)] = answer
        await super().say(answer)

    def _keep(self, message: Message) -> None:
        """What is sent again replaces what was sent first; whether it may differ is for `leaks` to say."""
        if self.place < len(self.game):
            self.game[self.place] = message
        super()._keep(message)

    async def play(self, resume: int | None = None) -> Bot:
        """Play to the end, or until a house bot sits there and this one cannot come back."""
        await self.connect(resume)
        while True:
            message = await self.next()
            may_come_back = bool(self.secret) and not self.ended
            if message is None:
                await self.leave()
                if not may_come_back:
                    return self
                await self.connect(len(self.game))
            elif may_come_back and self.place == len(self.game) and self._chance.random() < self._drops:
                self.drop()
                await self.connect(self._chance.randint(0, len(self.game)))
            else:
                await self.answer(message)


class Keen(Chooser):
    """A `Chooser` that hardly lets anything rare pass."""

    def choose(self, game: Game, seat: int) -> int:
        """See `Chooser`."""
        rare = [action for action in game.legal(seat) if action in RARE or action >= ANKAN]
        return rare[0] if rare else super().choose(game, seat)


class Unruly:
    """A script that plays keenly, or wrongly, and thinks aloud."""

    def __init__(self, server: Running, seed: int, bad: float) -> None:
        self._server, self._chooser, self._bad = server, Keen(server, seed), bad
        self._chance = random.Random(seed)

    def __call__(self, bot: Bot, message: Message) -> Answer:
        """See `Script`."""
        if message["type"] == "error":
            return NOTHING
        asked = decision_of(self._server, bot) is not None
        wrong = asked and self._chance.random() < self._bad
        answer = self._chance.choice(WRONG) if wrong else self._chooser(bot, message)
        return answer | {"ext_bot": {REMARK: bot.name}} if isinstance(answer, dict) else answer


async def seat_bots(server: Running, n_tables: int, **same: Any) -> list[Witness]:
    """Bots for tables in rooms of their own; every fourth table has one bot and two house bots.

    What `same` does not say for all, each has of its own.
    """
    bots: list[Witness] = []
    for table in range(n_tables):
        alone = table % 4 == 3
        for _ in range(1 if alone else 3):
            number = len(bots)
            chance = random.Random(number)
            own = dict(zip(("dialect", "wire", "reply"), WAYS[number % len(WAYS)], strict=True)) | {
                "resume": chance.random() < 0.7,
                "bad": chance.choice([0.0, 0.02, 0.06]),
                "drops": chance.choice([0.0, 0.005, 0.01]),
            }
            name, room = f"bot{number}", f"table{table}" + "+rule+random" * alone
            token = await server.lobby.store.add_token(name)
            bots.append(Witness(server, name, number, room=room, token=token, **own | same))
    return bots


# What a seat may know -------------------------------------------------------------------------------------------------


def seen_by(message: Message, seat: int) -> Message:
    """What `seat` may know of a message of the record."""
    kind = message["type"]
    shown = {"type": kind} | {key: message[key] for key in KEYS[kind] if key in message and key != "wall_seed"}
    if kind == "start_game":
        return shown | {"id": seat}
    if kind == "start_kyoku":
        return shown | {"tehais": [hand if of == seat else ["?"] * 13 for of, hand in enumerate(message["tehais"])]}
    if kind == "tsumo" and message["actor"] != seat:
        return shown | {"pai": "?"}
    return shown


@dataclass
class Moment:
    """What a seat knows after a message."""

    message: Message  # in the canonical dialect
    legal: list[int]  # empty where the seat is not asked
    view: np.record | None  # where it is asked


def moments_of(lines: Sequence[Message], seat: int) -> list[Moment]:
    """The game of a record as `seat` gets to know it."""
    state, moments = PlayerState(), []
    for line in lines:
        if line["type"] != "error":
            message = seen_by(line, seat)
            state.update(message)
            legal = state.legal
            moments.append(Moment(message, legal, state.view if legal else None))
    return moments


@dataclass
class Played:
    """A game that is over, and what only the server knows of it."""

    lines: list[Message]  # of its record, notes of faults among them
    secrets: list[str]  # each seat's, to come back with
    hidden: dict[str, str]  # texts nobody may be sent -> what they are


# Leaks ----------------------------------------------------------------------------------------------------------------


class Inspection:
    """Everything one bot was sent, read again beside what its seat may know."""

    def __init__(self, bot: Witness, game: Played) -> None:
        self.bot, self.game = bot, game
        self.seat: int = game.lines[0]["names"].index(bot.name)
        self.moments = moments_of(game.lines, self.seat)
        self.faults = {line["message"] for line in game.lines if line["type"] == "error" and line["actor"] == self.seat}
        self.place = 0  # of the next message of the game
        self.said: Answer = None  # last

    def leaks(self) -> Iterator[str]:
        """What the bot should not have been told, one line each."""
        for number, data in enumerate(self.bot.raw):
            self.said = self.bot.said.get(number, self.said)
            message = json.loads(data)
            if json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() != data:
                yield f"more than a message: {data!r}"
            for leak in self._message(message):
                yield f"{self.bot.name}, seat {self.seat}, place {self.place}: {leak}"

    def _message(self, message: Message) -> Iterator[str]:
        kind = message["type"]
        if kind == "hello":
            yield from [] if message == HELLO else [f"hello says {message}"]
        elif kind == "error":
            yield from self._error(message)
        elif kind == "resumed":
            yield from [] if message.keys() == {"type", "from"} else [f"resumed says {message}"]
            self.place = message["from"]
        else:
            yield from self._event(message)
            self.place += 1

    def _event(self, message: Message) -> Iterator[str]:
        """A message of the game: the event as the seat may see it, and hints that follow from what it knows."""
        moment, join = self.moments[self.place], self.bot.join
        told = {key: value for key, value in message.items() if key not in HINTS}
        if told != (expected := dialects.write(moment.message, join["dialect"])):
            yield f"told {told}, may know {expected}"
        may: dict[str, list[Any]] = {}  # the values a hint may have
        if join["dialect"] == "mjai3p":
            for legal in ([], moment.legal):
                for key, value in possible_actions(moment.view, self.seat, moment.message, legal).items():
                    may.setdefault(key, []).append(value)
        if join["reply"] == "when_asked" and moment.legal:
            may["can_act"] = [True]
        if join["resume"] and message["type"] == "start_game":
            may["resume"] = [self.game.secrets[self.seat]]
        for key in HINTS & message.keys():
            if message[key] not in may.get(key, []):
                yield f"hint {key} of {message['type']} is {message[key]}, may be {may.get(key, 'none')}"

    def _error(self, message: Message) -> Iterator[str]:
        """An error: about the seat's own fault, naming its own tiles, what is offered to it, and what it said."""
        text = message["message"]
        if message.keys() != {"type", "message"} or text not in self.faults:
            yield f"error about no fault of its own: {message}"
        moment = self.moments[max(self.place - 1, 0)]
        known = set(TILE.findall(str(self.said))) | {moment.message.get("pai")}
        if moment.view is not None:
            known |= set(hand_names(moment.view.seat[self.seat]))
        if foreign := set(TILE.findall(EXAMPLES.sub("", text))) - known:
            yield f"error names {sorted(foreign)}: {text}"
        _, _, menu = text.partition("; legal: ")
        if menu and set(menu.split(", ")) - set(map(action_name, moment.legal)):
            yield f"error names actions that are not its own: {text}"


def whispers(bot: Witness, game: Played) -> Iterator[str]:
    """Things that have no place anywhere in what the bot was sent."""
    secret = game.secrets[game.lines[0]["names"].index(bot.name)]
    everything = b"\n".join(bot.raw)
    for text, what in game.hidden.items():
        if text != secret and text.encode() in everything:
            yield f"{bot.name} was sent {what}"
    if any(secret.encode() in data and b'"start_game"' not in data for data in bot.raw):
        yield f"{bot.name} was sent its secret outside of start_game"


def is_tenpai(names: Sequence[str]) -> bool:
    """Whether another library finds a concealed hand one tile short."""
    counts = np.bincount([KIND_OF[MJAI_TILES[name]] for name in names], minlength=34)
    return bool(Shanten().calculate_shanten(counts.tolist()) == 0)


def shown_hands(line: Message, turn: int) -> Iterator[tuple[int, list[str], bool]]:
    """The hands that an end of a round shows: the seat, its hand, whether the rules show it; `turn` drew last."""
    if line["type"] == "hora":
        yield line["actor"], line["hora_tehais"], True
    if line["type"] == "ryukyoku":
        for seat, hand in enumerate(line["tehais"]):
            if set(hand) != {"?"}:
                by_declaration = line["reason"] == "kyushukyuhai" and seat == turn
                yield seat, hand, by_declaration or (line["reason"] in ("fanpai", "nagashimangan") and is_tenpai(hand))


def showings(lines: Sequence[Message]) -> Iterator[str]:
    """What the ends of rounds show although the rules do not: noten hands, ura of a win without riichi."""
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
        for seat, hand, by_rules in shown_hands(line, turn):
            if not by_rules:
                yield f"hand of seat {seat} shown: {line}"
            if Counter(hand) - got[seat]:
                yield f"seat {seat} never had all of what it shows: {line}"


def leaks(bots: Sequence[Witness], games: dict[str, Played]) -> list[str]:
    """All that anybody was told and may not know, one line each; `games` by room."""
    found = [leak for game in games.values() for leak in showings(game.lines)]
    for bot in bots:
        game = games[bot.join["room"]]
        found += [*Inspection(bot, game).leaks(), *whispers(bot, game)]
    return found


async def played(server: Running, bots: Sequence[Witness]) -> dict[str, Played]:
    """Let all play; gives the games by their rooms."""
    await play_all(bots)
    sittings = list(server.lobby.sittings.values())
    assert {sitting.start.room for sitting in sittings} == {bot.join["room"] for bot in bots}
    await until(lambda: all(sitting.announced for sitting in sittings))
    hidden = {str(SEED): "the room's seed", "seed": "something of a seed"}
    hidden |= {REMARK: "a remark", "ext_bot": "a remark's key"} | {bot.join["token"]: "a token" for bot in bots}
    for sitting in sittings:
        hidden[str(sitting.start.seed)] = "a game's seed"
        hidden |= {seat.secret: "a secret" for seat in sitting.seats}
        hidden |= {seat.player.secret_hash: "a secret's hash" for seat in sitting.guests}
    return {
        sitting.start.room: Played(
            await stored_lines(server, sitting.id), [seat.secret for seat in sitting.seats], hidden
        )
        for sitting in sittings
    }
