"""Write a game as Tenhou's mjlog, which Tenhou's viewer and other three-player programs read.

The format is described at `engine.records.mjlog`. It distinguishes the four copies of a tile, which mjai does not: a
seat that discards one of two equal tiles from its hand discards the copy that it has held longer. Dice are written as 1
and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import zip_longest
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from engine.common.complete import require_rows
from engine.mjai.messages import Message
from engine.mjai.schema import EVENTS
from engine.records.filling import require_result, with_results
from engine.records.mjlog import MELD_KAKAN, MELD_NUKI, MELD_PON, RANKS, tile_name
from engine.records.model import (
    OF_TENHOU,
    GameRecord,
    RecordError,
    assumed_rules,
    record_errors,
    round_name,
    written_index,
)
from engine.records.tenhou_rules import GO_NO_REDS, display_of, rules_of_type, type_of
from engine.records.wall import dice_of
from engine.records.yaku_names import UNPLAYED
from engine.rules import RIICHI_STICK
from engine.ryukyoku import RYUKYOKU
from engine.scoring.yaku import BY_NUMBER, CHUN, HAKU, HATSU, YAKU, YAKUMAN_HAN
from engine.table import N_SEATS
from engine.tiles import MJAI_TILES, SANMA_KINDS, WINDS

Attributes = dict[str, Any]

# mjai name -> number of the yaku; dragons and winds follow from the hand, and nukidora are dora.
_NUMBERS = {yaku.mjai: yaku.tenhou for yaku in YAKU} | {name: number for name, (number, _) in UNPLAYED.items()}
_LIMITS = ((13, 5), (11, 4), (8, 3), (6, 2), (5, 1))  # minimum han -> number of the limit
_MANGAN_POINTS = 2000  # base points
# kind -> number of the yaku of its triplet
_DRAGONS = {MJAI_TILES[name]: BY_NUMBER[yaku].tenhou for name, yaku in (("P", HAKU), ("F", HATSU), ("C", CHUN))}
_OF_RESULTS = {
    "hora": ("fu", "fan", "yakus", "hora_points", "scores", "deltas"),
    "ryukyoku": ("reason", "tenpais", "scores", "deltas"),
}
_TYPES = {way.mjai: way.mjlog for way in RYUKYOKU}
_NO_PLAYER = {"dan": "0", "rate": "1500.00", "sx": "C"}  # the absent fourth


def write(record: GameRecord) -> str:
    """Return the XML of a game. Raises RecordError if a tile is hidden, or mjlog has no type for the rules.

    Keys of wins and draws that the record lacks are computed by the rules; one that names no rules is taken for a game
    by Tenhou's.
    """
    start, end = record.events[0], record.events[-1]
    kept: Message = start.get(OF_TENHOU, {})
    rules = assumed_rules(record)
    go_type = type_of(rules, kept.get("rule"))
    named = display_of(kept.get("rule"))
    if rules != rules_of_type(go_type) or (record.rules is None and named and "喰" not in named):
        raise RecordError(record.source, "rules", "mjlog has no type for them: write .json (tenhou.net/6) or .mjson")
    record = with_results(record, _OF_RESULTS)
    tags = list(_head(start, kept, go_type))
    rounds = record.rounds()
    for events, dice in zip_longest(rounds, dice_of(kept)[: len(rounds)]):
        with record_errors(record.source, round_name(events[0])):
            tags += _Round(events, dice or (1, 1), not go_type & GO_NO_REDS).tags()
    with record_errors(record.source, "scores"):
        scores = end.get("scores") or _final_scores(record)
        points = end.get("points") or rules.final_points(scores)
        finals = [f"{_hundreds(score)},{each:.1f}" for score, each in zip(scores, points, strict=True)]
        tags[-1][1]["owari"] = ",".join([*finals, "0,0"])
    return (
        f"<mjloggm ver={quoteattr(str(kept.get('ver', 2.3)))}>" + "".join(_xml(*tag) for tag in tags) + "</mjloggm>\n"
    )


def _final_scores(record: GameRecord) -> list[int]:
    """Return the scores after the last round, with the remaining riichi sticks added to the top seat's."""
    events = record.rounds()[-1]
    scores = list(next(event["scores"] for event in reversed(events) if event["type"] in _OF_RESULTS))
    if all(event["type"] != "hora" for event in events):
        sticks = events[0]["kyotaku"] + sum(event["type"] == "reach_accepted" for event in events)
        scores[scores.index(max(scores))] += RIICHI_STICK * sticks
    return scores


def _xml(name: str, attributes: Attributes) -> str:
    return f"<{name}{''.join(f' {key}={quoteattr(str(value))}' for key, value in attributes.items())}/>"


def _head(start: Message, kept: Message, go_type: int) -> Iterator[tuple[str, Attributes]]:
    """The tags before the first round."""
    if "seed" in kept:
        yield "SHUFFLE", {"seed": kept["seed"], "ref": kept.get("ref", "")}
    lobby = kept.get("lobby")
    yield "GO", {"type": go_type, "lobby": lobby if type(lobby) is int else 0}
    names = [*start.get("names", [""] * N_SEATS), ""]
    players: Attributes = {f"n{seat}": quote(name, safe="") for seat, name in enumerate(names)}
    for key, write_one in _PLAYERS.items():
        given = kept.get(key)
        with suppress(TypeError, ValueError):  # of other programs: left out
            if isinstance(given, list) and len(given) >= N_SEATS:
                players[key] = ",".join([*map(write_one, given[:N_SEATS]), _NO_PLAYER[key]])
    yield "UN", players
    yield "TAIKYOKU", {"oya": 0}


# Key of the players' lists -> the text of an entry; raises TypeError or ValueError for one of another kind.
_PLAYERS: dict[str, Callable[[Any], str]] = {
    "dan": lambda rank: str(RANKS.index(rank) if rank in RANKS else 0),
    "rate": lambda rate: f"{float(rate):.2f}",
    "sx": "".join,
}


def _hundreds(points: int) -> int:
    """Return points in hundreds. Raises ValueError for others."""
    if points % 100:
        raise ValueError(f"{points} points: mjlog has hundreds only; write .json (tenhou.net/6) or .mjson")
    return points // 100


def _seats(values: list[int]) -> str:
    """Return the points of the seats in hundreds, and 0 for the absent fourth."""
    return ",".join([*(str(_hundreds(value)) for value in values), "0"])


class _Round:
    """Assigns numbers to the tiles of a round, and writes its events."""

    def __init__(self, events: list[Message], dice: tuple[int, int], red_fives: bool) -> None:
        self.events, self.start, self.dice, self.red_fives = events, events[0], dice, red_fives
        self.copies: dict[str, list[int]] = {}  # those not seen yet
        for kind in SANMA_KINDS.tolist():
            for number in range(4 * kind, 4 * kind + 4):
                self.copies.setdefault(tile_name(number, red_fives), []).append(number)
        self.hands: list[list[int]] = [[] for _ in range(N_SEATS)]
        self.melds: list[list[int]] = [[] for _ in range(N_SEATS)]  # codes, latest first, including nukidora
        self.pons: dict[tuple[int, int], tuple[int, int, int]] = {}  # seat, kind -> relative, called, unused
        self.triplets: list[list[int]] = [[] for _ in range(N_SEATS)]  # kinds of these melds and of kans
        self.indicators: list[int] = []
        self.ura: list[int] = []
        self.sticks: int = self.start["kyotaku"]
        self.drawn = self.offered = -1

    def take(self, name: str) -> int:
        """Take a copy of a tile that has not been used."""
        if not self.copies.get(name):
            raise ValueError(f"{name}: a hidden tile, or one more than there are")
        return self.copies[name].pop(0)

    def leave(self, seat: int, name: str) -> int:
        """Remove a copy from a hand: the one held longest."""
        found = next((tile for tile in self.hands[seat] if tile_name(tile, self.red_fives) == name), None)
        if found is None:
            raise ValueError(f"seat {seat} has no {name}")
        self.hands[seat].remove(found)
        return found

    def tags(self) -> Iterator[tuple[str, Attributes]]:
        """The tags of the round."""
        yield "INIT", self.init()
        for event in self.events[1:]:
            require_result(event, _OF_RESULTS)
            if event["type"] in _WRITERS:
                yield _WRITERS[event["type"]](self, event)

    def init(self) -> Attributes:
        start = self.start
        self.indicators.append(self.take(start["dora_marker"]))
        for hand, names in zip(self.hands, start["tehais"], strict=True):
            hand += map(self.take, names)
        dice = [die - 1 for die in self.dice]
        numbers = [written_index(start), start["honba"], start["kyotaku"], *dice, self.indicators[0]]
        hands = {f"hai{seat}": _listed(hand, False) for seat, hand in enumerate(self.hands)}
        scores = _seats(start["scores"])
        return {"seed": _listed(numbers, False), "ten": scores, "oya": start["oya"], **hands, "hai3": ""}

    def tsumo(self, event: Message) -> tuple[str, Attributes]:
        self.drawn = self.take(event["pai"])
        self.hands[event["actor"]].append(self.drawn)
        return f"{'TUV'[event['actor']]}{self.drawn}", {}

    def dahai(self, event: Message) -> tuple[str, Attributes]:
        seat = event["actor"]
        if event["tsumogiri"] and self.drawn in self.hands[seat]:
            self.offered = self.drawn
            self.hands[seat].remove(self.drawn)
        else:
            self.offered = self.leave(seat, event["pai"])
        return f"{'DEF'[seat]}{self.offered}", {}

    def reach(self, event: Message) -> tuple[str, Attributes]:
        return "REACH", {"who": event["actor"], "step": 1}

    def reach_accepted(self, event: Message) -> tuple[str, Attributes]:
        self.sticks += 1
        return "REACH", {"who": event["actor"], "ten": _seats(event["scores"]), "step": 2}

    def dora(self, event: Message) -> tuple[str, Attributes]:
        self.indicators.append(self.take(event["dora_marker"]))
        return "DORA", {"hai": self.indicators[-1]}

    def call(self, event: Message) -> tuple[str, Attributes]:
        seat = event["actor"]
        code = _MELDS[event["type"]](self, seat, event)
        if event["type"] != "kakan":
            self.melds[seat].insert(0, code)
        if event["type"] not in ("kakan", "nukidora"):
            self.triplets[seat].append(self.offered // 4)
        return "N", {"who": seat, "m": code}

    def pon(self, seat: int, event: Message) -> int:
        tiles = sorted([self.offered, *(self.leave(seat, name) for name in event["consumed"])])
        kind = self.offered // 4
        (unused,) = {4 * kind + copy for copy in range(4)} - set(tiles)
        made = (event["target"] - seat) % 4, tiles.index(self.offered), unused % 4
        self.pons[seat, kind] = made
        return _pon_code(kind, MELD_PON, *made)

    def kakan(self, seat: int, event: Message) -> int:
        kind = self.leave(seat, event["pai"]) // 4
        made = self.pons[seat, kind]
        self.offered = 4 * kind + made[2]
        code = _pon_code(kind, MELD_KAKAN, *made)
        self.melds[seat][self.melds[seat].index(_pon_code(kind, MELD_PON, *made))] = code
        return code

    def daiminkan(self, seat: int, event: Message) -> int:
        for name in event["consumed"]:
            self.leave(seat, name)
        return self.offered << 8 | (event["target"] - seat) % 4

    def ankan(self, seat: int, event: Message) -> int:
        self.offered = min(self.leave(seat, name) for name in event["consumed"])
        return self.offered << 8

    def nukidora(self, seat: int, event: Message) -> int:
        self.offered = self.leave(seat, event["pai"])
        return self.offered << 8 | MELD_NUKI

    def hora(self, event: Message) -> tuple[str, Attributes]:
        """A win. The winning tile is the one drawn or on offer, also for a second winner."""
        seat, tsumo = event["actor"], event["actor"] == event["target"]
        tile = self.drawn if tsumo else self.offered
        hand = self.hands[seat] if tsumo else [*self.hands[seat], tile]
        found: Attributes = {"ba": f"{self.start['honba']},{self.sticks}", "hai": _listed(hand)}
        if self.melds[seat]:
            found["m"] = _listed(self.melds[seat], False)
        found |= {"machi": tile, "ten": f"{event['fu']},{event['hora_points']},{_limit(event)}"}
        found |= self.yaku(event, hand) | {"doraHai": _listed(self.indicators, False)}
        if markers := event.get("uradora_markers"):
            self.ura = self.ura or [self.take(name) for name in markers]  # a second winner has the same ones
            found["doraHaiUra"] = _listed(self.ura, False)
        found |= {"who": seat, "fromWho": event["target"]}
        if event.get("pao") is not None:
            found["paoWho"] = event["pao"]
        self.sticks = 0  # a second winner receives none, nor the honba, which Tenhou writes all the same
        return "AGARI", found | _changes(event)

    def yaku(self, event: Message, hand: list[int]) -> Attributes:
        """The numbers of the yaku, with their han."""
        kinds = [*(tile // 4 for tile in hand), *3 * self.triplets[event["actor"]]]
        dragons = [number for kind, number in _DRAGONS.items() if kinds.count(kind) >= 3]
        if [name for name, _ in event["yakus"]].count("sangenpai") > len(dragons):
            raise ValueError("sangenpai without a triplet of dragons")
        winds = {"jikaze": (event["actor"] - self.start["oya"]) % N_SEATS, "bakaze": WINDS.index(self.start["bakaze"])}
        han: dict[int, int] = {}
        for name, worth in event["yakus"]:
            number = dragons.pop(0) if name == "sangenpai" else _NUMBERS[name] + winds.get(name, 0)
            han[number] = han.get(number, 0) + worth
        if all(worth >= YAKUMAN_HAN for worth in han.values()):
            return {"yakuman": _listed(list(han), False)}
        return {"yaku": ",".join(f"{number},{worth}" for number, worth in han.items())}

    def ryukyoku(self, event: Message) -> tuple[str, Attributes]:
        found: Attributes = {"type": kind} if (kind := _TYPES[event["reason"]]) else {}
        found["ba"] = f"{self.start['honba']},{self.sticks}"
        hands = {f"hai{seat}": _listed(self.hands[seat]) for seat in range(N_SEATS) if event["tenpais"][seat]}
        return "RYUUKYOKU", found | _changes(event) | hands


def _listed(tiles: list[int], sort: bool = True) -> str:
    return ",".join(map(str, sorted(tiles) if sort else tiles))


def _pon_code(kind: int, bit: int, relative: int, called: int, unused: int) -> int:
    return (3 * kind + called) << 9 | unused << 5 | bit | relative


def _limit(event: Message) -> int:
    """The number of the limit: 0 none, 1 mangan, to 5 yakuman."""
    by_han = next((limit for han, limit in _LIMITS if event["fan"] >= han), 0)
    return by_han or int(event["fu"] << (2 + event["fan"]) >= _MANGAN_POINTS)


def _changes(event: Message) -> Attributes:
    """Return the old score and the change of each seat, in hundreds."""
    pairs = zip(event["scores"], event["deltas"], strict=True)
    return {"sc": ",".join([*(f"{_hundreds(score - delta)},{_hundreds(delta)}" for score, delta in pairs), "0,0"])}


_MELDS: dict[str, Callable[[_Round, int, Message], int]] = {
    "pon": _Round.pon, "kakan": _Round.kakan, "daiminkan": _Round.daiminkan, "ankan": _Round.ankan,
    "nukidora": _Round.nukidora,
}  # fmt: skip
_WRITERS: dict[str, Callable[[_Round, Message], tuple[str, Attributes]]] = {
    "tsumo": _Round.tsumo, "dahai": _Round.dahai, "reach": _Round.reach, "reach_accepted": _Round.reach_accepted,
    "dora": _Round.dora, "hora": _Round.hora, "ryukyoku": _Round.ryukyoku, **dict.fromkeys(_MELDS, _Round.call),
}  # fmt: skip
_NO_TAG = ("start_game", "start_kyoku", "end_kyoku", "end_game")  # what they say stands in other tags
require_rows(
    "_WRITERS of engine/records/mjlog_writing.py", (*_WRITERS, *_NO_TAG), EVENTS, "EVENTS of engine/mjai/schema.py"
)
