"""Tenhou's mjlog format: a game as XML, one tag for each event. `engine.records.mjlog_writing` writes it.

Tiles are 0-135 (``kind * 4 + copy``; 16, 52 and 88 are the red fives, unless the type of the game excludes them),
points are in hundreds, and relative seats are counted with four players; the fourth is absent. Only three-player games
are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.parsers.expat import errors

from engine.common.error_text import error_text
from engine.mjai.kinds import TILES, no_tile, sort_tiles
from engine.mjai.messages import Message, complete, make, start_game, start_kyoku
from engine.records.model import (
    BEGINNING,
    FOUR_NAMED,
    OF_TENHOU,
    GameRecord,
    NotThreePlayersError,
    RecordError,
    at_line,
    custom_rules,
    no_end_of_round,
    no_result,
    record_errors,
    round_name,
    unknown_yaku,
)
from engine.records.tenhou_rules import GO_NO_REDS, GO_SANMA, REDS, custom_of_type, rule_text, rules_of_type
from engine.records.yaku_names import MJAI_BY_TENHOU
from engine.rules import Rules
from engine.ryukyoku import MJAI_BY_MJLOG
from engine.scoring.yaku import YAKUMAN_HAN
from engine.table import N_SEATS
from engine.tiles import MJAI_NAMES, from_tile136

# Bits of the meld code of N.
MELD_CHI, MELD_PON, MELD_KAKAN, MELD_NUKI = 0x04, 0x08, 0x10, 0x20

N_TILES = 136  # tile numbers, including those that three players do not use
_DRAW = re.compile(r"([TUVW])(\d+)")
_DISCARD = re.compile(r"([DEFG])(\d+)")
# The errors of expat for a truncated file.
_CUT_OFF = frozenset(
    errors.codes[message]
    for message in (
        errors.XML_ERROR_NO_ELEMENTS,
        errors.XML_ERROR_UNCLOSED_TOKEN,
        errors.XML_ERROR_PARTIAL_CHAR,
        errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
# Reconnections and the first dealer (always seat 0) are not needed.
_IGNORED = frozenset({"TAIKYOKU", "BYE"})
# Ranks of players by their numbers in UN, as tenhou.net/6 names them.
RANKS = ("新人", *(f"{kyu}級" for kyu in range(9, 0, -1)), *(f"{dan}段" for dan in "初二三四五六七八九十"), "天鳳位")
# Attributes of UN that tenhou.net/6 also has -> function that reads an entry.
_READ_PLAYERS: dict[str, Callable[[str], str | float]] = {
    "dan": lambda text: RANKS[int(text)],
    "rate": float,
    "sx": str,
}


def read(text: str, source: str) -> GameRecord:
    """Read the game in the `text` of an mjlog file; `source`: file name, for messages. Raises RecordError."""
    if "<!DOCTYPE" in text:  # entity definitions could expand a few bytes to gigabytes
        what = error_text("doctype", "XML with definitions (DOCTYPE), which no mjlog has")
        raise RecordError(source, BEGINNING, what)
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        why = error.msg.split(":")[0]
        if error.code in _CUT_OFF:
            what = error_text("xml_cut", "incomplete XML ({why}); the file was cut off, download it again", why=why)
        else:
            said = "no XML ({why}): the program that wrote the file, or changed it, is at fault"
            what = error_text("xml_wrong", said, why=why)
        raise RecordError(source, at_line(line, column + 1), what) from error
    reader = _Reader({"ver": root.attrib["ver"]} if "ver" in root.attrib else {})
    for number, tag in enumerate(root, 1):
        location = error_text("at_tag", "tag {n} <{tag}>", n=number, tag=tag.tag)
        if reader.round:
            location = error_text("in_round", "{place} in {round}", place=location, round=reader.round)
        with record_errors(source, location):
            reader.read_tag(tag.tag, dict(tag.attrib))
    if not reader.events or reader.events[-1]["type"] != "end_game":
        what = error_text("mjlog_cut", "the log ends before the game does (no owari); download it again")
        raise RecordError(source, error_text("after_tag", "tag {n}", n=len(root)), what)
    with record_errors(source, "scores"):
        return GameRecord(complete(reader.events), reader.rules, source, reader.notes)


def tile_name(number: int, red_fives: bool = True) -> str:
    """Return the mjai name of a 0-135 tile. Raises ValueError if it is not a tile of a three-player game."""
    name = MJAI_NAMES[from_tile136(number) if red_fives else number // 4] if 0 <= number < N_TILES else ""
    if name not in TILES:
        raise ValueError(no_tile(number))
    return name


def meld(who: int, code: int, red_fives: bool = True) -> Message:
    """The call of seat `who` with meld code ``m`` = `code`. Raises ValueError for a chi."""

    def name(tile: int) -> str:
        return tile_name(tile, red_fives)

    relative, target = code & 3, (who + (code & 3)) % 4
    if code & MELD_CHI:
        raise ValueError(error_text("chi", "m={code} is a chi, which three players do not have", code=str(code)))
    if code & (MELD_PON | MELD_KAKAN):
        kind, called = divmod(code >> 9, 3)
        unused = code >> 5 & 3
        tiles = [4 * kind + copy for copy in range(4) if copy != unused]
        if code & MELD_KAKAN:
            return make("kakan", actor=who, pai=name(4 * kind + unused), consumed=sort_tiles([*map(name, tiles)]))
        pai = name(tiles.pop(called))
        return make("pon", actor=who, target=target, pai=pai, consumed=sort_tiles([*map(name, tiles)]))
    called = code >> 8
    if code & MELD_NUKI:
        return make("nukidora", actor=who, pai=name(called))
    tiles = [4 * (called // 4) + copy for copy in range(4)]
    if relative == 0:
        return make("ankan", actor=who, consumed=sort_tiles([*map(name, tiles)]))
    tiles.remove(called)
    consumed = sort_tiles([*map(name, tiles)])
    return make("daiminkan", actor=who, target=target, pai=name(called), consumed=consumed)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")] if text else []


class _Reader:
    """Reads tags one after another into `events`."""

    def __init__(self, kept: Message) -> None:
        """`kept`: attributes without an mjai key, under their names in tenhou.net/6."""
        self.kept = kept
        self.events: list[Message] = []
        self.rules: Rules | None = None
        self.red_fives = True
        self.notes: list[str] = []
        self.round = ""
        self.drawn = -1  # 0-135 number of the tile drawn last, -1 after a discard or call
        self.melds = [0] * N_SEATS
        self.handlers: dict[str, Callable[[dict[str, str]], None]] = {
            "SHUFFLE": self.shuffle,
            "GO": self.go,
            "UN": self.names,
            "INIT": self.init,
            "N": self.call,
            "REACH": self.reach,
            "DORA": self.dora,
            "AGARI": self.win,
            "RYUUKYOKU": self.draw_game,
        }

    def read_tag(self, tag: str, attributes: dict[str, str]) -> None:
        """Read one tag. Raises ValueError, KeyError or IndexError for a tag that does not make sense."""
        if tag in self.handlers:
            self.handlers[tag](attributes)
        elif drawn := _DRAW.fullmatch(tag):
            self.drawn = int(drawn[2])
            self.events.append(make("tsumo", actor=_seat("TUVW".index(drawn[1])), pai=self.tile(self.drawn)))
        elif discarded := _DISCARD.fullmatch(tag):
            tile = int(discarded[2])
            seat = _seat("DEFG".index(discarded[1]))
            self.events.append(make("dahai", actor=seat, pai=self.tile(tile), tsumogiri=tile == self.drawn))
            self.drawn = -1
        elif tag not in _IGNORED:
            raise ValueError(error_text("unknown_tag", "unknown tag"))

    def tile(self, number: int) -> str:
        return tile_name(number, self.red_fives)

    def tiles(self, text: str) -> list[str]:
        return [self.tile(number) for number in _numbers(text)]

    def shuffle(self, attributes: dict[str, str]) -> None:
        self.kept |= {key: attributes[key] for key in ("seed", "ref") if key in attributes}

    def go(self, attributes: dict[str, str]) -> None:
        go_type = int(attributes["type"])
        if not go_type & GO_SANMA:
            raise NotThreePlayersError(error_text("go_type", "GO type {n} is no three-player game", n=str(go_type)))
        self.rules = rules_of_type(go_type)
        self.red_fives = not go_type & GO_NO_REDS
        self.notes += custom_rules(custom_of_type(go_type))
        self.kept["rule"] = {"disp": rule_text(go_type), **dict.fromkeys(REDS, int(self.red_fives))}
        if "lobby" in attributes:
            self.kept["lobby"] = int(attributes["lobby"])

    def names(self, attributes: dict[str, str]) -> None:
        """The names of the players; a later UN is a reconnection."""
        if not self.events:
            if attributes.get("n3"):
                raise NotThreePlayersError(FOUR_NAMED)
            players = {key: attributes[key].split(",") for key in _READ_PLAYERS if attributes.get(key)}
            self.kept |= {key: [_READ_PLAYERS[key](text) for text in texts] for key, texts in players.items()}
            names = [unquote(attributes[f"n{seat}"]) for seat in range(N_SEATS)]
            self.events.append(start_game(names, self.rules) | ({OF_TENHOU: self.kept} if self.kept else {}))

    def init(self, attributes: dict[str, str]) -> None:
        if not self.events:
            raise ValueError(error_text("round_unnamed", "a round starts before the players are named"))
        self.close_round()
        index, honba, sticks, first, second, indicator = _numbers(attributes["seed"])
        self.kept.setdefault("dice", []).append([first + 1, second + 1])
        hands = [self.tiles(attributes[f"hai{seat}"]) for seat in range(N_SEATS)]
        scores = [100 * score for score in _numbers(attributes["ten"])[:N_SEATS]]
        self.events.append(start_kyoku(index, honba, sticks, self.tile(indicator), scores, hands))
        self.round = round_name(self.events[-1])
        self.drawn = -1
        self.melds = [0] * N_SEATS

    def close_round(self) -> None:
        if self.events[-1]["type"] in ("hora", "ryukyoku"):
            self.events.append(make("end_kyoku"))
        elif self.events[-1]["type"] != "start_game":
            raise ValueError(no_result(self.round))

    def call(self, attributes: dict[str, str]) -> None:
        event = meld(_seat(int(attributes["who"])), int(attributes["m"]), self.red_fives)
        if "target" in event:
            _seat(event["target"])
        self.melds[event["actor"]] += event["type"] not in ("nukidora", "kakan")
        self.events.append(event)
        self.drawn = -1

    def reach(self, attributes: dict[str, str]) -> None:
        """Read a riichi: step 1 is the declaration, step 2 the payment once nobody has won on the discard."""
        who = _seat(int(attributes["who"]))
        if attributes["step"] == "1":
            self.events.append(make("reach", actor=who))
            return
        scores = [100 * score for score in _numbers(attributes.get("ten", ""))[:N_SEATS]]
        self.events.append(make("reach_accepted", actor=who, scores=scores or None))

    def dora(self, attributes: dict[str, str]) -> None:
        self.events.append(make("dora", dora_marker=self.tile(int(attributes["hai"]))))

    def win(self, attributes: dict[str, str]) -> None:
        hand = _numbers(attributes["hai"])
        hand.remove(int(attributes["machi"]))
        fu, points, _ = _numbers(attributes["ten"])
        yakus = self.yakus(attributes)
        self.events.append(
            make(
                "hora",
                actor=_seat(int(attributes["who"])),
                target=_seat(int(attributes["fromWho"])),
                pai=self.tile(int(attributes["machi"])),
                uradora_markers=self.tiles(attributes.get("doraHaiUra", "")),
                hora_tehais=[self.tile(tile) for tile in hand],
                yakus=yakus,
                fu=fu,
                fan=None if yakus is None else sum(han for _, han in yakus),
                hora_points=points,
                pao=_seat(int(attributes["paoWho"])) if "paoWho" in attributes else None,
                **_changes(attributes),
            )
        )
        self.end_game(attributes)

    def yakus(self, attributes: dict[str, str]) -> list[list[Any]] | None:
        """Names and han of the yaku; None, with a note, if one is unknown.

        Yakuman are numbers alone, other yaku pairs of number and han (0 han: left out).
        """
        if "yakuman" in attributes:
            found = [(number, YAKUMAN_HAN) for number in _numbers(attributes["yakuman"])]
        else:
            pairs = _numbers(attributes["yaku"])
            found = [(number, han) for number, han in zip(pairs[::2], pairs[1::2], strict=True) if han]
        unknown = [str(number) for number, _ in found if number not in MJAI_BY_TENHOU]
        if unknown:
            self.notes += unknown_yaku(self.round, unknown)
            return None
        return [[MJAI_BY_TENHOU[number], han] for number, han in found]

    def draw_game(self, attributes: dict[str, str]) -> None:
        kind = attributes.get("type")
        if kind not in MJAI_BY_MJLOG:
            raise ValueError(no_end_of_round(f"type {kind!r}"))
        shown = [f"hai{seat}" in attributes for seat in range(N_SEATS)]
        hands = [
            self.tiles(attributes[f"hai{seat}"]) if shown[seat] else ["?"] * (13 - 3 * self.melds[seat])
            for seat in range(N_SEATS)
        ]
        reason = MJAI_BY_MJLOG[kind]
        self.events.append(make("ryukyoku", reason=reason, tehais=hands, tenpais=shown, **_changes(attributes)))
        self.end_game(attributes)

    def end_game(self, attributes: dict[str, str]) -> None:
        """End the game if the result has ``owari``: score and final points of each seat in turn."""
        if "owari" in attributes:
            owari = attributes["owari"].split(",")
            self.events.append(make("end_kyoku"))
            scores = [100 * int(score) for score in owari[: 2 * N_SEATS : 2]]
            points = [float(point) for point in owari[1 : 2 * N_SEATS : 2]]
            self.events.append(make("end_game", scores=scores, points=points))


def _seat(seat: int) -> int:
    if not 0 <= seat < N_SEATS:
        raise ValueError(error_text("seat_plays", "seat {n} plays; only three-player games can be read", n=str(seat)))
    return seat


def _changes(attributes: dict[str, str]) -> dict[str, list[int]]:
    """Read deltas and new scores from ``sc``: for each seat the old score and its change, in hundreds."""
    changes = _numbers(attributes["sc"])[: 2 * N_SEATS]
    before, deltas = changes[::2], changes[1::2]
    return {
        "deltas": [100 * delta for delta in deltas],
        "scores": [100 * (score + delta) for score, delta in zip(before, deltas, strict=True)],
    }
