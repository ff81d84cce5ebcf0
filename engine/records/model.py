"""A game as a list of canonical mjai events: what every record format is read into and written from.

The dialect is the three-player mjai of the Ruby server: three entries in every list of seats, ``nukidora`` for north,
``uradora_markers`` in ``hora``. A list goes from ``start_game`` to ``end_game``. **A key that is absent is unknown**:
readers fill in only what the file makes certain (scores after a delta, the tile a win took), never a guess.

Order where it is easily got wrong: ``ankan, dora, tsumo``; ``daiminkan|kakan, tsumo, dora, dahai``;
``reach, dahai, reach_accepted`` before whatever follows that discard; double ron is two ``hora`` in turn order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from engine.rules import PRESETS, RIICHI_STICK, Rules, preset
from engine.tiles import MJAI_TILES

Event = dict[str, Any]

SEATS = 3
WINDS = "ESW"

# Keys of every event type in the order they are written; keys not named here follow in the order they came.
KEYS: dict[str, tuple[str, ...]] = {
    "start_game": ("names", "rules", "length", "aka_flag", "wall_seed"),
    "start_kyoku": ("bakaze", "kyoku", "honba", "kyotaku", "oya", "dora_marker", "scores", "tehais"),
    "tsumo": ("actor", "pai"),
    "dahai": ("actor", "pai", "tsumogiri"),
    "reach": ("actor",),
    "reach_accepted": ("actor", "deltas", "scores"),
    "pon": ("actor", "target", "pai", "consumed"),
    "daiminkan": ("actor", "target", "pai", "consumed"),
    "kakan": ("actor", "pai", "consumed"),
    "ankan": ("actor", "consumed"),
    "nukidora": ("actor", "pai"),
    "dora": ("dora_marker",),
    "hora": (
        "actor", "target", "pai", "uradora_markers", "hora_tehais", "yakus", "fu", "fan", "hora_points", "pao",
        "deltas", "scores",
    ),
    "ryukyoku": ("reason", "tehais", "tenpais", "deltas", "scores"),
    "end_kyoku": (),
    "end_game": ("scores", "points"),
}  # fmt: skip


class RecordError(ValueError):
    """A record that cannot be read or written: one line with the file, the place in it, and what is wrong."""

    def __init__(self, file: str, place: str, what: str) -> None:
        super().__init__(file, place, what)
        self.file, self.place, self.what = file, place, what

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.what}"


@contextmanager
def located(file: str, place: str) -> Iterator[None]:
    """Turns what a parser stumbles over into a RecordError at `place` of `file`."""
    try:
        yield
    except RecordError:
        raise
    except ValueError as error:
        raise RecordError(file, place, str(error)) from error
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        what = f"garbled or incomplete ({type(error).__name__}: {error}); fetch or export the file again"
        raise RecordError(file, place, what) from error


@dataclass
class GameRecord:
    """One game. `rules` is None where the file does not tell them or no preset describes them."""

    events: list[Event]
    rules: Rules | None
    source: str  # file name for messages

    def rounds(self) -> list[list[Event]]:
        """The events of each round, ``start_kyoku`` to ``end_kyoku``. Raises RecordError where one is not closed."""
        rounds: list[list[Event]] = []
        current: list[Event] | None = None
        for number, event in enumerate(self.events, 1):
            if event["type"] == "start_kyoku":
                if current is not None:
                    raise RecordError(self.source, f"event {number}", "a round starts before the last one's end_kyoku")
                current = []
            if current is not None:
                current.append(event)
            if event["type"] == "end_kyoku":
                if current is None:
                    raise RecordError(self.source, f"event {number}", "end_kyoku without a start_kyoku")
                rounds.append(current)
                current = None
        if current is not None:
            raise RecordError(self.source, round_name(current[0]), "the record ends without this round's end_kyoku")
        return rounds


def round_name(start_kyoku: Event) -> str:
    """A round in words, like ``"E3 honba 1"``."""
    return f"{start_kyoku['bakaze']}{start_kyoku['kyoku']} honba {start_kyoku['honba']}"


def make(kind: str, **fields: Any) -> Event:
    """An event of type `kind` with its keys in the written order; fields that are None are left out."""
    given = {key: value for key, value in fields.items() if value is not None}
    known = {key: given.pop(key) for key in KEYS[kind] if key in given}
    return {"type": kind, **known, **given}


def start_game(names: list[str], rules: Rules | None) -> Event:
    """The ``start_game`` of a game under `rules`; the rules are left out where unknown."""
    if rules is None:
        return make("start_game", names=names)
    no_reds = None if rules.red_fives else False
    return make("start_game", names=names, rules=rules.name, length=rules.length, aka_flag=no_reds)


def rules_of(start: Event) -> Rules | None:
    """The rules a ``start_game`` names, or None. Raises ValueError for a preset or length that does not exist."""
    if start.get("rules") not in PRESETS:
        if "rules" in start:
            preset(start["rules"])  # raises, naming the presets there are
        return None
    rules = preset(start["rules"], start.get("length", "hanchan"))
    return rules if start.get("aka_flag", True) else replace(rules, red_fives=False)


def start_kyoku(
    index: int, honba: int, kyotaku: int, indicator: str, scores: list[int], tehais: list[list[str]]
) -> Event:
    """The ``start_kyoku`` of round `index`, which steps 4 per wind (E1-E3 = 0-2, S1-S3 = 4-6), as Tenhou counts."""
    wind, oya = divmod(index, 4)
    if not (0 <= wind < len(WINDS) and oya < SEATS):
        raise ValueError(f"round index {index} does not exist with three players (0-2, 4-6 or 8-10)")
    if [len(hand) for hand in tehais] != [13] * SEATS:
        raise ValueError(f"the three hands must have 13 tiles each, not {[len(hand) for hand in tehais]}")
    return make(
        "start_kyoku", bakaze=WINDS[wind], kyoku=oya + 1, honba=honba, kyotaku=kyotaku, oya=oya, dora_marker=indicator,
        scores=scores, tehais=tehais,
    )  # fmt: skip


def round_index(start: Event) -> int:
    """The Tenhou index of a round: 4 per wind."""
    return 4 * WINDS.index(start["bakaze"]) + int(start["kyoku"]) - 1


def sort_tiles(tiles: list[str]) -> list[str]:
    """Tile names in kind order, red fives last: the canonical order of ``consumed``."""
    return sorted(tiles, key=lambda name: MJAI_TILES[name])


def complete(events: list[Event]) -> list[Event]:
    """The same events with what is certain filled in: a riichi's deltas, scores after a change, the tile a win took.

    A discard right after a pon is never tsumogiri; some writers compare it with the tile drawn before.
    """
    scores: list[int] | None = None
    tile: str | None = None
    filled: list[Event] = []
    for event in events:
        kind, added = event["type"], Event()
        if kind == "dahai" and filled and filled[-1]["type"] == "pon":
            event = event | {"tsumogiri": False}
        if kind == "hora" and tile is not None:
            added["pai"] = tile
        if kind == "reach_accepted":
            added["deltas"] = [-RIICHI_STICK if seat == event["actor"] else 0 for seat in range(SEATS)]
        deltas = (added | event).get("deltas")
        if deltas is not None and scores is not None:
            added["scores"] = [score + delta for score, delta in zip(scores, deltas, strict=True)]
        event = make(kind, **(added | {key: value for key, value in event.items() if key != "type"}))
        scores = event.get("scores", scores)
        tile = event["consumed"][0] if kind == "ankan" else event.get("pai", tile)
        filled.append(event)
    return filled
