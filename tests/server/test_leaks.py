"""Every byte that bots are sent, compared with the record: nobody is told what its seat may not know.

What a seat may know is written down here once more, on its own: nothing of the server's decides what is a leak.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from engine import mjai
from engine.actions import actions_of
from engine.tiles import MJAI_NAMES
from server import guest as guest_module
from server.running import Running
from tests.server.bots import (
    NOTHING,
    Answer,
    Bot,
    Chooser,
    Message,
    play_all,
    play_in_storms,
    serving,
    stored_games,
    stored_lines,
    together,
)

WIRE_NAMES = ("tcp", "websocket")
REPLIES = ("always", "when_asked")
DIALECTS = ("mjai3p", "libriichi3p", "kita")
HIDDEN_HAND = ["?"] * 13
OWN_KEYS = frozenset({"id", "resume", "can_act", "possible_actions", "cannot_dahai"})
PADDED = {"names": "", "scores": 0, "tehais": HIDDEN_HAND, "deltas": 0}
# Dialects' words for what the record says.
TYPES = {"kita": "nukidora"}
KEYS = {"ura_markers": "uradora_markers"}
REASONS = {"exhaustive_draw": "fanpai", "kyushu_kyuhai": "kyushukyuhai", "suukansansen": "sukaikan"}
# What a dialect adds that follows from the event itself.
IMPLIED: dict[tuple[str, str], Callable[[Message], Any]] = {
    ("hora", "tsumo"): lambda event: event["actor"] == event["target"],
    ("ankan", "pai"): lambda event: event["consumed"][-1],
}
TILES = set(MJAI_NAMES)


class Leak(AssertionError):
    """A bot was told what it may not know."""


def visible(event: Message, seat: int) -> Message:
    """What `seat` may know of an event of the record."""
    shown = {key: value for key, value in event.items() if key not in ("wall_seed", "ext_bot")}
    if event["type"] == "start_kyoku":
        shown["tehais"] = [hand if place == seat else HIDDEN_HAND for place, hand in enumerate(event["tehais"])]
    if event["type"] == "tsumo" and event["actor"] != seat:
        shown["pai"] = "?"
    return shown


def check_message(message: Message, event: Message, seat: int) -> None:
    """A message, in whatever dialect, says nothing but what `seat` may know of the event."""
    shown = visible(event, seat)
    if TYPES.get(message["type"], message["type"]) != event["type"]:
        raise Leak(f"{message} for {event}")
    for key, value in message.items():
        name = KEYS.get(key, key)
        if name in OWN_KEYS or name == "type":
            continue
        if name in PADDED and isinstance(value, list) and len(value) == 4:
            if value[3] != PADDED[name]:
                raise Leak(f"a fourth seat in {message}")
            value = value[:3]
        implied = IMPLIED.get((event["type"], name))
        known = shown[name] if name in shown else implied(event) if implied else Leak
        if plain(name, value) != plain(name, known):
            raise Leak(f"seat {seat}: {key} is {value}, may be {known}")


def plain(name: str, value: Any) -> Any:
    """A value whatever the dialect's order and words."""
    if name == "consumed":
        return sorted(value)
    return REASONS.get(value, value) if name == "reason" else value


def own_tiles(events: list[Message], seat: int) -> list[set[str]]:
    """After each event, the tiles that what `seat` may do can be about: its hand, its melds, the tile on offer."""
    hand: list[str] = []
    melded: set[str] = set()
    known = []
    for event in events:
        kind, own = event["type"], event.get("actor") == seat
        if kind == "start_kyoku":
            hand, melded = list(event["tehais"][seat]), set()
        if own and kind == "tsumo":
            hand.append(event["pai"])
        for tile in gone(event) if own else ():
            hand.remove(tile)
            melded |= {tile, event.get("pai", tile)}
        offered = {event["pai"]} if "pai" in event and not own and kind != "tsumo" else set()
        known.append({*hand, *melded, *offered, *(event.get("consumed", ()) if kind == "ankan" else ())})
    return known


def gone(event: Message) -> list[str]:
    """The tiles that leave the actor's hand."""
    kind = event["type"]
    if kind in ("dahai", "nukidora", "kakan"):
        return [event["pai"]]
    return list(event["consumed"]) if kind in ("pon", "daiminkan", "ankan") else []


def tiles_in(value: Any) -> set[str]:
    """All tiles named anywhere in a value."""
    if isinstance(value, dict):
        return {tile for key, part in value.items() if key != "type" for tile in tiles_in(part)}
    if isinstance(value, list):
        return {tile for part in value for tile in tiles_in(part)}
    return {value} & TILES if isinstance(value, str) else set()


class Checker:
    """All that one bot was told, byte by byte."""

    def __init__(self, bot: Bot, records: list[list[Message]]) -> None:
        """`records`: of its games, in order."""
        self.n_messages = self.n_hints = self.n_errors = 0
        self._bot = bot
        self._records = iter(records)
        self._events: list[Message] = []
        self._place = 0
        self._seat = -1

    def check(self) -> None:
        """Raises Leak."""
        for raw in self._bot.raw:
            self._check(json.loads(raw))

    def _check(self, message: Message) -> None:
        kind = message["type"]
        if kind == "hello":
            self._keys(message, {"type", "protocol", "protocol_version"})
        elif kind == "resumed":
            self._keys(message, {"type", "from"})
            self._place = message["from"]
        elif kind == "error":
            self._keys(message, {"type", "message", "retry"})
            self._check_error(message["message"])
        else:
            if kind == "start_game" and self._place == len(self._events):
                self._begin(message)
            self._check_event(message)

    def _keys(self, message: Message, allowed: set[str]) -> None:
        if not message.keys() <= allowed:
            raise Leak(str(message))

    def _begin(self, start: Message) -> None:
        self._events, self._place, self._seat = next(self._records), 0, start["id"]
        self._tiles = own_tiles(self._events, self._seat)
        if start["names"][self._seat] != self._bot.name:
            raise Leak(f"{self._bot.name} is told of the seat of another: {start}")

    def _check_event(self, message: Message) -> None:
        self.n_messages += 1
        check_message(message, self._events[self._place], self._seat)
        for action in message.get("possible_actions", ()):
            self.n_hints += 1
            if action["actor"] != self._seat:
                raise Leak(f"seat {self._seat} is told what seat {action['actor']} may do: {message}")
            self._only(tiles_in(action), message)
        self._only(set(message.get("cannot_dahai", ())), message)
        self._place += 1

    def _check_error(self, text: str) -> None:
        """What was legal is told by tiles of its own."""
        self.n_errors += 1
        for part in re.findall(r"(?:legal: |can only be )(.*)", text):
            self._only(set(re.findall(r"\b(?:[1-9][mps]r?|[ESWNPFC])\b", part)), text, at=self._place - 1)

    def _only(self, tiles: set[str], said: Any, at: int | None = None) -> None:
        own = self._tiles[self._place if at is None else at]
        if not tiles <= own:
            raise Leak(f"seat {self._seat} is told of {sorted(tiles - own)}: {said}")


# Playing ----------------------------------------------------------------------------------------------------------------


class Troublemaker(Chooser):
    """Plays oddly, gives wrong answers of all kinds now and then, and remarks on each action what only it may read."""

    def __init__(self, server: Running, seed: int, wrong: float = 0.03) -> None:
        super().__init__(server, seed, odd=0.4)
        self._wrong = wrong

    def __call__(self, bot: Bot, message: Message) -> Answer:
        """See `tests.server.bots.Script`."""
        if self.chance.random() < self._wrong:
            own = bot.seat if bot.games else 0
            pon = {"type": "pon", "actor": own, "target": (own + 1) % 3, "pai": "P", "consumed": ["P", "P"]}
            return self.chance.choice((b"?", {"type": "dahai", "actor": own, "pai": "9m"}, pon, NOTHING))
        answer = super().__call__(bot, message)
        return answer | {"ext_bot": {"from": marker(bot)}} if isinstance(answer, dict) else answer


def marker(bot: Bot) -> str:
    """What a bot remarks to itself."""
    return f"only {bot.name} may read this"


async def play_games(folder: Path, seed: int, dialects: Iterable[str], n_games: int) -> list[Checker]:
    """Three troublemakers play some games, losing their connections now and then; all that they were sent is checked."""
    async with serving(folder, max_faults=10_000, length="hanchan") as server:
        tokens = [await server.lobby.store.add_token(name) for name in "abc"]
        bots = [
            Bot(
                server, name, Troublemaker(server, seed + place), wire=WIRE_NAMES[(seed + place) % 2], dialect=dialect,
                reply=REPLIES[(seed + place) % 3 // 2], games=n_games, resume=True, token=token,
            )
            for place, (name, dialect, token) in enumerate(zip("abc", dialects, tokens, strict=True))
        ]  # fmt: skip
        chance = random.Random(seed)
        await together(*(play_in_storms(bot, chance, calm=150) for bot in bots))
        records = [await stored_lines(server, game.id) for game in reversed(await stored_games(server))]
    assert len(records) == n_games
    private = {bot.name: [bot.join["token"], marker(bot), *bot.secrets] for bot in bots}
    seeds = [str(record[0]["wall_seed"]) for record in records]
    events = [[line for line in record if line["type"] != "error"] for record in records]
    checkers = [Checker(bot, events) for bot in bots]
    for bot, checker in zip(bots, checkers, strict=True):
        checker.check()
        others = [text for name, texts in private.items() if name != bot.name for text in texts]
        check_strings(bot, [*others, *seeds, bot.join["token"], marker(bot), "ext_bot"])
    return checkers


def check_strings(bot: Bot, private: Iterable[str]) -> None:
    """None of these may stand anywhere in what a bot was sent."""
    everything = b"\n".join(bot.raw)
    for text in private:
        if text.encode() in everything:
            raise Leak(f"{bot.name} was sent {text!r}")


@pytest.mark.parametrize(
    ("seed", "dialects"),
    [
        (0, ["mjai3p"] * 3),
        (1, DIALECTS),
        (2, DIALECTS[::-1]),
        (3, ["kita"] * 3),
        (4, ["libriichi3p", "kita", "mjai3p"]),
    ],
)
async def test_nobody_is_told_what_its_seat_may_not_know(tmp_path: Path, seed: int, dialects: list[str]) -> None:
    checkers = await play_games(tmp_path, seed, dialects, n_games=2)
    assert all(checker.n_messages > 300 for checker in checkers)
    assert sum(checker.n_errors for checker in checkers) > 20
    assert sum(checker.n_hints for checker in checkers) > 20 or "mjai3p" not in dialects


# The check itself ---------------------------------------------------------------------------------------------------------


def show_everything(message: Message, seat: int) -> Message:
    """In place of `engine.mjai.for_seat`."""
    return message | {"id": seat} if message["type"] == "start_game" else message


def show_one_more_tile(message: Message, seat: int) -> Message:
    """In place of `engine.mjai.for_seat`: of all hidden tiles one draw is shown, of the next seat."""
    shown = FOR_SEAT(message, seat)
    if message["type"] == "tsumo" and message["actor"] == (seat + 1) % 3 and message["pai"] == "5pr":
        return message
    return shown


def hint_at_others(table: Any, seat: int, message: Message, menu: list[int]) -> Message:
    """In place of `hints`: what the seat that draws may do is told to all."""
    if message["type"] == "tsumo":
        actor = message["actor"]
        return HINTS(table, actor, message, actions_of(*table.legal[actor].tolist()))
    return HINTS(table, seat, message, menu)


FOR_SEAT, HINTS = mjai.for_seat, guest_module.hints


@pytest.mark.parametrize(
    ("place", "name", "broken"),
    [
        (mjai, "for_seat", show_everything),
        (mjai, "for_seat", show_one_more_tile),
        (guest_module, "hints", hint_at_others),
    ],
)
async def test_leaks_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, broken: Any
) -> None:
    monkeypatch.setattr(place, name, broken)
    with pytest.raises(Leak):
        await play_games(tmp_path, 0, ["mjai3p"] * 3, n_games=2)


async def test_secrets_and_walls_would_be_found(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        bots = [Bot(server, name, resume=True) for name in "abc"]
        await play_all(bots)
    bots[0].raw.append(json.dumps({"type": "error", "message": bots[1].secret}).encode())
    with pytest.raises(Leak):
        check_strings(bots[0], bots[1].secrets)
    check_strings(bots[2], [*bots[0].secrets, *bots[1].secrets])
