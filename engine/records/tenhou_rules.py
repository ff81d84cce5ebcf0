"""The rules of Tenhou's formats: the bits of a game's type, the text of a rule, and the rules of a tournament lobby.

A rule text consists of the number of players, the room, the length and the switches: "三鳳南喰赤". Programs that
convert games of Mahjong Soul write its rooms there: "三玉の間南喰赤", "三友人戦東喰赤", "Jade Room South Red Fives".
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Literal

from engine.records.model import length_by_end
from engine.rules import MAJSOUL, START_POINTS, TARGET_POINTS, TENHOU, Rules

# Bits of the type of a game. NO_… bits switch a rule off.
GO_ONLINE, GO_NO_REDS, GO_NO_OPEN_TANYAO, GO_HANCHAN, GO_SANMA, GO_FAST = 0x01, 0x02, 0x04, 0x08, 0x10, 0x40
GO_CHIPS = 0x600
_CHIPS = {0: 0x400, 2: 0x200, 5: 0x600}  # number of them -> bits
# The two bits of the type that name the room -> what the text of the rules has for it.
GO_ROOM = 0xA0
_ROOMS = {0x00: "般", 0x80: "上", 0x20: "特", 0xA0: "鳳"}
REDS = ("aka51", "aka52", "aka53")

_DISPLAY = {TENHOU.name: "三{length}喰{reds}", MAJSOUL.name: "三の間{length}喰{reds}"}
_LENGTHS = {"east": "東", "hanchan": "南"}
_UNKNOWN_RULES = "三人麻雀"
_TENHOU_ROOM = re.compile(r"三[般上特鳳][東南]")
_CHIPS_TEXT = re.compile(r"祝(\d?)")
# Rooms of Mahjong Soul: ranked, friends', tournaments', events', in the languages of the converters.
_MAJSOUL_ROOM = re.compile(r"の間|友人戦|大会戦|特別対局|Room|Friendly|Tou?r?nament|Event|Casual Match")
_MAJSOUL_REF = re.compile(r"(\d{6}-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # Tenhou's is a log id
_EAST, _SOUTH = re.compile("東|East"), re.compile("南|South")
_REDS, _NO_REDS = re.compile("赤|Red"), re.compile("No Red")

# The rules of a tournament lobby, `csrule`: two words of flags in hex, and numbers. Their meaning is taken from two
# programs that set them (tenhou.net itself does not document them). Flags for draws that three players do not have
# (winds, riichi, three wins) and for clocks are left out.
_FLAGS: tuple[dict[int, str], dict[int, str]] = (
    {
        0x1: "no nagashi mangan",
        0x2: "kiriage mangan",
        0x4: "play goes on below zero points",
        0x8: "dora of every kan at once",
        0x10: "no dora",
        0x20: "no kan dora",
        0x40: "no ura dora",
        0x80: "no ura dora of kans",
        0x200: "no draw by four kans",
        0x800: "no kyushu kyuhai",
        0x2000: "only one win on a discard",
        0x4000: "a leading dealer plays on after a win",
        0x8000: "a leading dealer plays on after tenpai",
        0x10000: "the dealer changes after a win",
        0x20000: "the dealer changes after tenpai",
        0x40000: "rounded final points",
        0x80000: "no ippatsu",
        0x100000: "two winds in a round",
        0x200000: "no rounds after the last scheduled one",
        0x400000: "no nukidora",
        0x800000: "no tsumo loss",
        0x1000000: "renhou",
        0x2000000: "riichi without a draw left",
    },
    {
        0x1: "2 fu for a pair of the double wind",
        0x2: "ties shared",
        0x4: "riichi sticks left at the end are nobody's",
        0x8: "another pao",
        0x10: "no kazoe yakuman",
    },
)
# Index in `csrule` -> the value supported here, and its meaning.
_NUMBERS = {
    4: (START_POINTS, "points at the start"),
    5: (TARGET_POINTS, "points to end the game"),
    7: (0, "points that end the game at once"),
    10: (1000, "points of a riichi stick"),
    11: (100, "points of a honba"),
    16: (1000, "noten payment of one"),
    17: (2000, "noten payments of two"),
}
_RETURN, _UMA, _UMA_ROWS = 6, 21, 5  # indices of the base points, and of the uma of ranks 2, 3 (and 4) in five rows
_DEFAULT_UMA = TENHOU.uma[1:]


def room_of(go_type: int) -> str:
    """The room in a game's type, as the text of the rules names it."""
    return _ROOMS[go_type & GO_ROOM]


def rule_text(go_type: int) -> str:
    """The rules in a game's type as a text, such as 三鳳南喰赤."""
    marks = {GO_NO_OPEN_TANYAO: "喰", GO_NO_REDS: "赤"}
    length = "南" if go_type & GO_HANCHAN else "東"
    switches = "".join(mark for bit, mark in marks.items() if not go_type & bit) + "速" * bool(go_type & GO_FAST)
    chips = "".join(f"祝{number}" for number, bits in _CHIPS.items() if go_type & GO_CHIPS == bits)
    return f"三{room_of(go_type)}{length}{switches}{chips}"


def type_of(rules: Rules | None, rule: Any) -> int:
    """Return the type of a game under Tenhou's `rules`, in the room of `rule`.

    If `rules` is None, `rule` also gives the length, by default a hanchan.
    """
    text = display_of(rule)
    room = next((bits for bits, name in _ROOMS.items() if f"三{name}" in text), 0)
    hanchan = rules.length == "hanchan" if rules else not _EAST.search(text)
    bits = {
        GO_NO_REDS: rules is not None and not rules.red_fives,
        GO_NO_OPEN_TANYAO: _TENHOU_ROOM.search(text) and "喰" not in text,
        GO_HANCHAN: hanchan,
        GO_FAST: "速" in text,
    }
    found = _CHIPS_TEXT.search(text)
    chips = _CHIPS.get(int(found[1] or 2), 0) if found else 0
    return GO_ONLINE | GO_SANMA | room | chips | sum(bit for bit, is_set in bits.items() if is_set)


def rules_of_type(go_type: int) -> Rules:
    """Return the rules of a game's type, without those of `custom_of_type`."""
    rules = TENHOU.with_length("hanchan" if go_type & GO_HANCHAN else "east")
    return replace(rules, red_fives=not go_type & GO_NO_REDS)


def custom_of_type(go_type: int) -> list[str]:
    """The rules in a game's type that are not supported here."""
    return ["no open tanyao"] * bool(go_type & GO_NO_OPEN_TANYAO) + ["chips"] * bool(go_type & GO_CHIPS)


def rule_of(rules: Rules | None) -> dict[str, Any]:
    """The ``rule`` of a game under `rules`."""
    has_reds = rules is None or rules.red_fives
    display = _UNKNOWN_RULES
    if rules is not None and rules.name in _DISPLAY:
        display = _DISPLAY[rules.name].format(length=_LENGTHS[rules.length], reds="赤" if has_reds else "")
    return {"disp": display, **dict.fromkeys(REDS, int(has_reds))}


def display_of(rule: Any) -> str:
    """Return the text of a ``rule``; for a tournament lobby, a list with the game's type in hex as third entry."""
    if isinstance(rule, list):
        return rule_text(int(str(rule[2]), 16))
    return str(rule.get("disp", "")) if isinstance(rule, dict) else ""


def read_rules(document: dict[str, Any]) -> tuple[Rules | None, list[str]]:
    """Return the rules of a tenhou.net/6 record, None if it names none supported here, and the unsupported rules."""
    rule = document.get("rule")
    rules = rules_of_type(int(str(rule[2]), 16)) if isinstance(rule, list) else _rules_of_text(document)
    custom = custom_of_type(type_of(rules, rule))
    if rules is not None and document.get("csrule"):
        rules, more = _of_lobby(rules, document["csrule"])
        custom += more
    return rules, custom


def _rules_of_text(document: dict[str, Any]) -> Rules | None:
    rule = document.get("rule")
    display = display_of(rule)
    given = [rule[key] for key in ("aka", *REDS) if key in rule] if isinstance(rule, dict) else []
    has_reds = any(given) if given else bool(_REDS.search(display)) and not _NO_REDS.search(display)
    if _is_majsoul(display, str(document.get("ref", ""))):
        rules = MAJSOUL.with_length(_length(display, document["log"]))
    elif _TENHOU_ROOM.search(display) or ("喰" in display and (_EAST.search(display) or _SOUTH.search(display))):
        rules = TENHOU.with_length(_length(display, document["log"]))
    else:
        return None
    return replace(rules, red_fives=has_reds)


def _is_majsoul(display: str, ref: str) -> bool:
    """Return whether a game is from Mahjong Soul: by its room, or by its id if the room is not one of Tenhou's."""
    if _TENHOU_ROOM.search(display):
        return False
    return bool(_MAJSOUL_ROOM.search(display) or _MAJSOUL_REF.match(ref))


def _length(display: str, log: list[Any]) -> Literal["east", "hanchan"]:
    """Return the length, by the text or by the end."""
    if _SOUTH.search(display) or _EAST.search(display):
        return "hanchan" if _SOUTH.search(display) else "east"
    last = log[-1]
    after = [sum(changes) for changes in zip(last[1], *last[-1][1::2], strict=False)]  # of each winner, or of the draw
    return length_by_end(last[0][0], after)


def _of_lobby(rules: Rules, csrule: Any) -> tuple[Rules, list[str]]:
    """Return the rules of a tournament lobby, and those that are not supported here."""
    fields = [str(field).strip() for field in (csrule.split(",") if isinstance(csrule, str) else csrule)]
    custom: list[str] = []
    for names, text in zip(_FLAGS, fields, strict=False):
        flags = int(text or "0", 16)
        custom += [name for bit, name in names.items() if flags & bit]

    def number(at: int, default: int) -> int:
        return int(fields[at] or default) if at < len(fields) else default

    custom += [
        f"{number(at, played)} {what}" for at, (played, what) in _NUMBERS.items() if number(at, played) != played
    ]
    rows = {tuple(number(_UMA + 3 * row + i, uma) for i, uma in enumerate(_DEFAULT_UMA)) for row in range(_UMA_ROWS)}
    if len(rows) > 1:
        return replace(rules, base_points=number(_RETURN, rules.base_points)), [
            *custom,
            "an uma that depends on scores",
        ]
    ((second, third),) = rows
    uma = (-second - third, second, third)
    return replace(rules, base_points=number(_RETURN, rules.base_points), uma=uma), custom
