"""The wall of a recorded round: that of the record's seed, or else the recorded tiles, filled up with the rest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from engine import table_kernels
from engine.mjai.messages import Message
from engine.records.model import OF_TENHOU, GameRecord
from engine.rules import N_DRAWS, TENHOU, Rules
from engine.seeds import MAX_SEED
from engine.table import (
    DEALT,
    DORA_AT,
    EVERYTHING,
    N_SEATS,
    REPLACEMENT_AT,
    TABLE,
    URA_AT,
    WALL_SIZE,
    packed_rules,
)
from engine.tenhou_walls import TenhouWalls
from engine.tiles import FULL_SET, KIND_OF, MJAI_NAMES, MJAI_TILES, UNKNOWN, WINDS

_SEED = re.compile(r"[0-9]{1,20}")
_REPLACED = frozenset({"ankan", "kakan", "daiminkan", "nukidora"})
_LIVE = range(DEALT, DEALT + N_DRAWS)
# Parts of a wall -> their places in it, in the order of play. Each replacement takes the last live draw away; the last
# two indicators lie where the last live draws were.
PARTS = {"draws": [*_LIVE], "replacements": REPLACEMENT_AT.tolist(), "dora": DORA_AT.tolist(), "ura": URA_AT.tolist()}


class WallError(ValueError):
    """The tiles of a round do not fit into one wall; `index` is that of the first event that does not fit."""

    def __init__(self, index: int, what: str) -> None:
        super().__init__(index, what)
        self.index, self.what = index, what


class RecordedWalls:
    """The walls of the rounds of a record, in order. `note`: why the seed of the record is not used, else ``""``."""

    def __init__(self, record: GameRecord, rules: Rules) -> None:
        kept = record.events[0].get(OF_TENHOU) if record.events else None
        self.n_true = 0  # rounds so far with the wall of the seed
        self.note = ""
        self._rules = rules
        self._dice = dice_of(kept)
        self._of_seed: TenhouWalls | None = None
        self._fits = False  # whether a deal has matched the seed
        self._n_rounds = 0
        seed = kept.get("seed") if isinstance(kept, dict) else None
        if isinstance(seed, str) and seed:
            try:
                self._of_seed = TenhouWalls(seed, red_fives=rules.red_fives)
            except ValueError as error:
                self.note = f"{error}; it is not used"

    def next(self, events: list[Message]) -> tuple[list[int], WallError | None]:
        """Return the wall of the next round, and where the record differs from its seed; the seed is then not used.

        Raises WallError if the tiles of the round do not fit into one wall.
        """
        number, self._n_rounds = self._n_rounds, self._n_rounds + 1
        of_seed = None if self._of_seed is None else next(self._of_seed)
        wall = reconstruct_wall(events, self._rules)
        if of_seed is None:
            return wall, None
        true = list(of_seed.tiles)
        differs = difference(events, true)
        if not self._fits and differs is not None and differs.index == 0:
            self._of_seed, self.note = None, f"its seed gives another first deal ({differs.what}); it is not used"
            return wall, None
        self._fits = True
        if differs is None and number < len(self._dice) and self._dice[number] != of_seed.dice:
            differs = WallError(0, f"dice {of_seed.dice}")
        if differs is None:
            self.n_true += 1
            return true, None
        return wall, differs

    def skip(self) -> None:
        """Skip a round."""
        self._n_rounds += 1
        if self._of_seed is not None:
            next(self._of_seed)

    def next_true(self, events: list[Message]) -> list[int] | None:
        """Return the wall of the next round by the seed, or None without a usable seed."""
        before = self.n_true
        with suppress(WallError):
            wall, _ = self.next(events)
        return wall if self.n_true > before else None


def true_walls(record: GameRecord) -> list[dict[str, list[str]] | None]:
    """Return the wall of each round by the record's seed, as `PARTS` -> mjai names; None where it is not known.

    The seed is Tenhou's, or ``wall_seed`` of nukidora's games. Earlier versions laid the dead wall differently, so
    ``wall_seed`` counts only where the whole game agrees.
    """
    rules, rounds = record.rules or TENHOU, record.rounds()
    walls = RecordedWalls(record, rules)
    found = [walls.next_true(events) for events in rounds]
    seed = _seed_of(record.events[0]) if rounds else None
    if seed is not None and not any(found):
        shuffled = [shuffled_wall(seed, events[0], rules) for events in rounds]
        if all(map(agrees, rounds, shuffled)):
            found = [*shuffled]
    return [
        None if wall is None else {part: [MJAI_NAMES[wall[at]] for at in places] for part, places in PARTS.items()}
        for wall in found
    ]


def _seed_of(start: Message) -> int | None:
    """Return the ``wall_seed`` of a ``start_game``; earlier versions wrote an integer. None if there is none."""
    given = start.get("wall_seed")
    if type(given) is str and _SEED.fullmatch(given):
        given = int(given)
    return given if type(given) is int and 0 <= given <= MAX_SEED else None


def shuffled_wall(seed: int, start: Message, rules: Rules) -> list[int]:
    """Return the wall that `engine.game.Game` shuffles from its `seed` for the round of a ``start_kyoku``."""
    raw = np.zeros(TABLE.itemsize, dtype=np.uint8)
    table = raw.view(TABLE)
    table["rules"] = packed_rules(rules)
    table["viewer"], table["seed"] = EVERYTHING, seed
    table["round_wind"] = WINDS.index(start["bakaze"])
    table["dealer"], table["honba"] = start["oya"], start["honba"]
    table_kernels.start_round(raw, 0)
    wall: list[int] = table["wall"][0].tolist()
    return wall


def agrees(events: list[Message], wall: list[int]) -> bool:
    """Return whether all tiles of a round are those of `wall`."""
    try:
        return difference(events, wall) is None
    except WallError:
        return False


def dice_of(kept: object) -> list[tuple[int, int]]:
    """Return the two dice of each round from a record's Tenhou keys; empty if they are missing or invalid."""
    dice = kept.get("dice") if isinstance(kept, dict) else None
    if not isinstance(dice, list) or not all(map(_are_dice, dice)):
        return []
    return [(first, second) for first, second in dice]


def _are_dice(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(type(die) is int and 1 <= die <= 6 for die in pair)


def difference(events: list[Message], wall: list[int]) -> WallError | None:
    """Return the first difference between the tiles of a round and `wall`, with the wall's tile; None if all agree."""
    start, hand_size = events[0], DEALT // N_SEATS
    for seat, hand in enumerate(start["tehais"]):
        first = hand_size * ((seat - start["oya"]) % N_SEATS)
        dealt = wall[first : first + hand_size]
        if sorted(dealt) != sorted(MJAI_TILES[name] for name in hand):
            return WallError(0, f"seat {seat} is dealt {' '.join(MJAI_NAMES[tile] for tile in sorted(dealt))}")
    for index, position, name in known_tiles(events):
        if position >= DEALT and wall[position] != MJAI_TILES[name]:
            return WallError(index, f"{MJAI_NAMES[wall[position]]}, not {name}")
    return None


def left_in_wall(events: list[Message], wall: list[int]) -> dict[str, list[int]]:
    """Return the tiles left in the wall of a round, in the order of play: live draws, replacements, ura."""
    used = {position for _, position, _ in known_tiles(events)}
    replacements = [at for at in REPLACEMENT_AT.tolist() if at not in used]
    n_replaced = len(REPLACEMENT_AT) - len(replacements)
    return {
        "next draws": [wall[at] for at in _LIVE[: len(_LIVE) - n_replaced] if at not in used],
        "next replacements": [wall[at] for at in replacements],
        "ura indicators": [wall[at] for dora, at in zip(DORA_AT.tolist(), URA_AT.tolist()) if dora in used],
    }


def reconstruct_wall(events: list[Message], rules: Rules) -> list[int]:
    """Return a wall, 108 tile37, that gives these deals, draws and indicators (layout: `engine.table.WALL_SIZE`).

    The rest of the wall gets the remaining tiles in order. Raises WallError if the tiles do not fit into one wall.
    """
    full = FULL_SET if rules.red_fives else KIND_OF[FULL_SET]
    left = Counter(full.tolist())
    wall = [UNKNOWN] * WALL_SIZE
    for index, position, name in known_tiles(events):
        tile = MJAI_TILES[name]
        if tile == UNKNOWN:
            raise WallError(index, "a hidden tile; only games with all hands shown can be replayed")
        if wall[position] == tile:
            continue  # the ura indicators of a second winner
        if wall[position] != UNKNOWN:
            raise WallError(index, f"{name} cannot lie where {MJAI_NAMES[wall[position]]} lies already")
        if left[tile] == 0:
            raise WallError(index, f"no {name} is left; all there are have been dealt, drawn or shown")
        left[tile] -= 1
        wall[position] = tile
    rest = left.elements()
    return [next(rest) if tile == UNKNOWN else tile for tile in wall]


def known_tiles(events: list[Message]) -> Iterator[tuple[int, int, str]]:
    """Yield index of the event, index in the wall and name of each tile that the events of a round show.

    Raises WallError for more draws or indicators than a wall has.
    """
    start = events[0]
    for seat, hand in enumerate(start["tehais"]):
        first = DEALT // N_SEATS * ((seat - start["oya"]) % N_SEATS)
        yield from ((0, first + i, name) for i, name in enumerate(hand))
    places = {"live draws": iter(_LIVE), "replacements": iter(REPLACEMENT_AT), "dora indicators": iter(DORA_AT)}

    def place(what: str, index: int, name: str) -> tuple[int, int, str]:
        at = next(places[what], None)
        if at is None:
            raise WallError(index, f"more {what} than a wall has")
        return index, int(at), name

    yield place("dora indicators", 0, start["dora_marker"])
    replaced = False
    for index, event in enumerate(events):
        kind = event["type"]
        if kind == "tsumo":
            yield place("replacements" if replaced else "live draws", index, event["pai"])
        elif kind == "dora":
            yield place("dora indicators", index, event["dora_marker"])
        elif kind == "hora":
            places["ura indicators"] = iter(URA_AT)  # a second winner shows the same ones
            yield from (place("ura indicators", index, name) for name in event.get("uradora_markers", []))
        replaced = kind in _REPLACED or (replaced and kind == "dora")
