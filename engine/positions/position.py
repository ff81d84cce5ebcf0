"""A position as it is written: a few texts and numbers, each checked by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from engine.checks import whole_number
from engine.common.error_text import error_text, line_of
from engine.positions.notation import PositionError, Step, checked_tile, melds_of, river_steps, text_too_long
from engine.rules import (
    MAX_INDICATORS,
    N_DRAWS,
    N_SEATS,
    PRESETS,
    RIICHI_STICK,
    TENHOU,
    TOTAL_POINTS,
    Rules,
    preset,
)
from engine.tiles import KIND_OF, MPSZ_NAMES, N_KINDS, WINDS, mpsz

ROUNDS = tuple(f"{wind}{number}" for wind in WINDS for number in (1, 2, 3))
LENGTHS = ("hanchan", "east")
COPIES = 4
MAX_HONBA = 99
MAX_HAND_TEXT = 60  # characters
USUAL_LEFT = 36  # draws left where neither rivers nor a number tell: each seat has discarded some six tiles


@dataclass(frozen=True, kw_only=True)
class Position:
    """A position as a seat sees it. Seats are winds of this round, lists go by them: E, S, W.

    `hand`: concealed tiles in mpsz, the one just drawn is the last. `scores`: as they are shown now; what they lack to
    105,000 are riichi sticks. `dora`: indicators, in the order in which they were shown. `rivers`: see
    `engine.positions.notation`. Where all are empty, the position is somewhere in a round whose discards nobody knows:
    `left` draws are left then, and `melds` and `norths` are those of the seat.
    """

    hand: str
    seat: str = "E"
    round: str = "E1"
    honba: int = 0
    scores: tuple[int, int, int] | None = None  # None: the round began with 35,000 each
    dora: str = "5z"
    rivers: tuple[str, str, str] = ("", "", "")
    melds: str = ""
    norths: int = 0
    left: int | None = None
    rules: str = TENHOU.name
    length: str = "hanchan"

    def __post_init__(self) -> None:
        """Check each field by itself. Raises PositionError."""
        for field, most in (("hand", MAX_HAND_TEXT), ("dora", MAX_HAND_TEXT)):
            check_text(getattr(self, field), field, most)
        for field, choices in (("seat", (*WINDS,)), ("round", ROUNDS), ("rules", (*PRESETS,)), ("length", LENGTHS)):
            value = getattr(self, field)
            if not isinstance(value, str) or value not in choices:
                why = "choose one of {choices}, not {given}"
                raise PositionError(
                    field, error_text("not_of_choices", why, choices=", ".join(choices), given=shown(value))
                )
        check_number(self.honba, "honba", MAX_HONBA)
        check_number(self.norths, "norths", COPIES)
        if self.left is not None:
            check_number(self.left, "left", N_DRAWS - 1)
        check_text(self.melds, "melds")
        if not isinstance(self.rivers, tuple) or len(self.rivers) != N_SEATS:
            raise PositionError("rivers", error_text("three_rivers", "give three texts, those of East, South and West"))
        for wind, river in zip(WINDS, self.rivers, strict=True):
            check_text(river, f"river of {wind}")
        if self.scores is not None:
            self._check_scores(self.scores)

    def _check_scores(self, scores: Any) -> None:
        if not isinstance(scores, tuple) or len(scores) != N_SEATS:
            raise PositionError(
                "scores", error_text("three_scores", "give three numbers, the points of East, South and West")
            )
        for score in scores:
            check_number(score, "scores", TOTAL_POINTS)
            if score % 100:
                raise PositionError(
                    "scores", error_text("score_hundreds", "{score} is no multiple of 100", score=score)
                )
        missing = TOTAL_POINTS - sum(scores)
        if missing < 0 or missing % RIICHI_STICK:
            why = "with {stick:,} for each riichi stick on the table they must add up to {total:,}; "
            why += "{scores} add up to {n:,}"
            given = ", ".join(f"{score:,}" for score in scores)
            line = error_text("scores_sum", why, stick=RIICHI_STICK, total=TOTAL_POINTS, scores=given, n=sum(scores))
            raise PositionError("scores", line)

    @property
    def dealer(self) -> int:
        """The seat that deals: 0 is the first dealer."""
        return ROUNDS.index(self.round) % N_SEATS

    @property
    def viewer(self) -> int:
        """The seat whose position it is, as mjai counts: 0 is the first dealer."""
        return (self.dealer + WINDS.index(self.seat)) % N_SEATS

    @property
    def game_rules(self) -> Rules:
        """The preset with the length."""
        return preset(self.rules, "east" if self.length == "east" else "hanchan")

    @property
    def tiles(self) -> list[int]:
        """tile37 of the hand, in the order of the text. Raises PositionError."""
        return read_tiles(self.hand, "hand")

    @property
    def indicators(self) -> list[int]:
        """tile37 of the dora indicators. Raises PositionError."""
        found = read_tiles(self.dora, "dora")
        if not 1 <= len(found) <= MAX_INDICATORS:
            why = "there are 1 to {most} indicators, not {n}"
            raise PositionError("dora", error_text("indicators", why, most=MAX_INDICATORS, n=len(found)))
        return found

    @property
    def steps(self) -> list[list[Step]]:
        """What the rivers say. Raises PositionError."""
        return [river_steps(river, f"river of {wind}") for wind, river in zip(WINDS, self.rivers, strict=True)]

    @property
    def own_melds(self) -> list[Step]:
        """The melds of a position without rivers. Raises PositionError."""
        return melds_of(self.melds, "melds")

    @property
    def has_rivers(self) -> bool:
        """Whether it tells what was discarded: at the start of a round that is nothing."""
        return any(river.strip() for river in self.rivers) or self.left == N_DRAWS - 1

    @classmethod
    def from_json(cls, value: Any) -> Position:
        """The position in an object with the fields as keys. Raises PositionError."""
        if not isinstance(value, Mapping):
            why = "give an object, such as {example}"
            raise PositionError("position", error_text("no_object", why, example='{"hand": "123p456s11z99m2256p"}'))
        names = [field.name for field in fields(cls)]
        for key in value:
            if key not in names:
                why = "it has no field {given}; choose from {names}"
                raise PositionError("position", error_text("no_field", why, given=shown(key), names=", ".join(names)))
        if "hand" not in value:
            why = "it is missing; give 14 tiles, such as 123p456s11z99m2256p"
            raise PositionError("hand", error_text("hand_missing", why))
        lists = {key: tuple(value[key]) for key in ("scores", "rivers") if isinstance(value.get(key), list)}
        return cls(**{**value, **lists})

    def as_json(self) -> dict[str, Any]:
        """The fields that differ from their defaults, and the hand."""
        return {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default or field.name == "hand"
        }


def shown(value: object) -> str:
    """A value in few characters."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "…"


def check_text(value: object, field: str, most: int | None = None) -> None:
    """Raise PositionError unless it is a text, with at most so many characters."""
    if not isinstance(value, str):
        raise PositionError(field, error_text("no_text", "give a text, not {given}", given=shown(value)))
    if most is not None and len(value) > most:
        raise text_too_long(value, field, most)


def check_number(value: object, field: str, greatest: int, least: int = 0) -> None:
    """Raise PositionError unless it is a whole number in this range."""
    try:
        whole_number(value, field, f"a number from {least} to {greatest}", greatest, least)
    except (TypeError, ValueError):
        why = "give a number from {least} to {most}, not {given}"
        line = error_text("number_range", why, least=least, most=greatest, given=shown(value))
        raise PositionError(field, line) from None


def read_tiles(text: str, field: str) -> list[int]:
    """tile37 of an mpsz text. Raises PositionError."""
    try:
        tiles = mpsz(text)
    except ValueError as error:
        raise PositionError(field, line_of(error)) from None
    return [checked_tile(MPSZ_NAMES[tile], field) for tile in tiles]


def check_copies(parts: Mapping[str, list[int]]) -> None:
    """Raise PositionError, which names the part, where tile37 of all `parts` together are more than there are."""
    kinds: Counter[int] = Counter()
    reds: Counter[int] = Counter()
    for field, tiles in parts.items():
        kinds.update(int(KIND_OF[tile]) for tile in tiles)
        reds.update(tile for tile in tiles if tile >= N_KINDS)
        for kind, count in kinds.items():
            if count > COPIES:
                why = "{n} tiles {tile} are seen in all: there are four"
                raise PositionError(field, error_text("five_tiles", why, n=count, tile=MPSZ_NAMES[kind]))
        for tile, count in reds.items():
            if count > 1:
                why = "{n} red fives {tile}: there is one of each suit"
                raise PositionError(field, error_text("two_reds", why, n=count, tile=MPSZ_NAMES[tile]))
