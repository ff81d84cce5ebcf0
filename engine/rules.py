"""The configurable rules as data, and the presets. docs/rules.md lists all rules."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal

N_SEATS = 3
MAX_INDICATORS = 5  # of dora; as many of ura
START_POINTS = 35_000
TARGET_POINTS = 40_000  # points the top seat needs for the game to end after the last scheduled round
TOTAL_POINTS = N_SEATS * START_POINTS
Scores = tuple[int, int, int]
EVEN_SCORES: Scores = (START_POINTS, START_POINTS, START_POINTS)
RIICHI_STICK = 1_000
NOTEN_POOL = 2_000  # points paid at an exhaustive draw by the seats without tenpai, all together
N_DRAWS = 55  # draws in a round that ends in an exhaustive draw, replacement draws included


@dataclass(frozen=True, slots=True)
class Rules:
    """One set of three-player rules.

    `name`: of the preset. `length`: scheduled rounds. `red_fives`: one red 5p and one red 5s. `kokushi_robs_ankan`:
    kokushi may win on an ankan. `double_yakuman`: four patterns count as two yakuman. `pao_covers_all`: the liable seat
    pays for the whole hand, not only for the pao yakuman. `uma`: in thousands, first rank first. `base_points`: the
    score that is zero final points.
    """

    name: str
    length: Literal["east", "hanchan"] = "hanchan"
    red_fives: bool = True
    kokushi_robs_ankan: bool = False
    double_yakuman: bool = False
    pao_covers_all: bool = True
    uma: tuple[int, int, int] = (20, 0, -20)
    base_points: int = 40_000

    def __post_init__(self) -> None:
        if self.length not in ("east", "hanchan"):
            raise ValueError(f"length {self.length!r}: choose east or hanchan")

    def with_length(self, length: Literal["east", "hanchan"]) -> Rules:
        """The same rules, East-only or hanchan."""
        return replace(self, length=length)

    def ranks(self, scores: list[int]) -> list[int]:
        """Rank 1-3 of each seat. Ties go to the seat nearer the first dealer."""
        order = sorted(range(3), key=lambda seat: (-scores[seat], seat))
        return [order.index(seat) + 1 for seat in range(3)]

    def final_points(self, scores: list[int]) -> list[float]:
        """Final points of each seat: (score - base_points) / 1,000 + uma, and the oka to the top seat."""
        oka = 3 * (self.base_points - START_POINTS) // 1_000
        points = []
        for seat, rank in enumerate(self.ranks(scores)):
            bonus = self.uma[rank - 1] + (oka if rank == 1 else 0)
            points.append((scores[seat] - self.base_points + 1_000 * bonus) / 1_000)
        return points


TENHOU = Rules("tenhou")
MAJSOUL = Rules(
    "majsoul",
    kokushi_robs_ankan=True,
    double_yakuman=True,
    pao_covers_all=False,
    uma=(15, 0, -15),
    base_points=35_000,
)
PRESETS: dict[str, Rules] = {rules.name: rules for rules in (TENHOU, MAJSOUL)}


# The fields of Rules that compiled code uses, in this order (`engine.table.RULES`): all boolean ones.
COMPILED_SWITCHES = tuple(field.name for field in fields(Rules) if field.type == "bool")
# The fields of Rules for which records have no separate key; written if they differ from the preset.
SWITCHES = tuple(field.name for field in fields(Rules) if field.name not in ("name", "length", "red_fives"))


def base_of(name: str) -> Rules:
    """Return the preset `name`; if there is none, Tenhou's rules under that name."""
    return PRESETS.get(name) or replace(TENHOU, name=name)


def switches_of(rules: Rules) -> dict[str, Any]:
    """Return the switches in which the rules differ from `base_of` their name."""
    base = base_of(rules.name)
    return {name: value for name in SWITCHES if (value := getattr(rules, name)) != getattr(base, name)}


def with_switches(rules: Rules, switches: Any) -> Rules:
    """Return the rules with `switches` from JSON applied. Raises ValueError for an unknown switch or invalid value."""
    if not isinstance(switches, dict):
        raise ValueError(f'switches must be an object, such as {{"uma": [15, 0, -15]}}, not {switches!r}')
    given: dict[str, Any] = {}
    for name, value in switches.items():
        if name not in SWITCHES:
            raise ValueError(f"there is no switch {name!r}: choose from {', '.join(SWITCHES)}")
        given[name] = tuple(value) if isinstance(value, list) else value
        present = getattr(rules, name)
        if _shape(given[name]) != _shape(present):
            raise ValueError(f"switch {name} {value!r}: expected a value like {present!r}")
    return replace(rules, **given)


def _shape(value: Any) -> Any:
    """Return the type of a value; for a tuple, the types of its entries."""
    return tuple(map(type, value)) if isinstance(value, tuple) else type(value)


def rules_named(rules: Rules | str) -> Rules:
    """Return the preset of that name, or the Rules passed. Raises ValueError or TypeError, which list the presets."""
    if isinstance(rules, Rules):
        return rules
    if not isinstance(rules, str):
        raise TypeError(
            f"rules must be one of {', '.join(map(repr, PRESETS))}, or an engine.rules.Rules, not {rules!r}"
        )
    return preset(rules)


def preset(name: str, length: Literal["east", "hanchan"] = "hanchan") -> Rules:
    """The preset `name` with `length`. Raises ValueError, which lists the presets, for an unknown name."""
    if name not in PRESETS:
        raise ValueError(f"unknown rules {name!r}: choose one of {', '.join(PRESETS)}")
    return PRESETS[name].with_length(length)
