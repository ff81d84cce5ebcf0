"""Score a hand given as text, in one line of Python.

>>> print(score("123456789p11s23s", "4s", riichi=True, dora="9p"))
riichi 1, pinfu 1, ittsu 2, dora 1: 5 han 30 fu, 12000
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.checks import whole_number
from engine.rules import MAX_INDICATORS, TENHOU, Rules, rules_named
from engine.scoring import yaku as y
from engine.scoring.batch import HAND, score_batch
from engine.scoring.points import payments
from engine.table import ANKAN_MELD, DAIMINKAN_MELD, KAKAN_MELD, MAX_MELDS, PON_MELD, WIN
from engine.tiles import KIND_OF, MPSZ_NAMES, N_KINDS, N_TILES, NORTH, SANMA_KINDS, WINDS, mpsz

MELD_TYPES = {"pon": PON_MELD, "daiminkan": DAIMINKAN_MELD, "ankan": ANKAN_MELD, "kakan": KAKAN_MELD}
HAND_SIZE = 14
MAX_NUKIDORA = 4
TILE_NUMBER = "text such as '19m055p123s77z', or numbers of engine.tiles from 0 to 36"
SITUATIONS = {
    "tsumo": y.BY_TSUMO,
    "riichi": y.IN_RIICHI,
    "double_riichi": y.IN_DOUBLE_RIICHI,
    "ippatsu": y.WITH_IPPATSU,
    "last_tile": y.LAST_TILE,
    "rinshan": y.AFTER_REPLACEMENT,
    "chankan": y.ROBBING_KAN,
    "first_turn": y.FIRST_TURN,
}


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a hand; all zero if the hand is incomplete or has no yaku.

    `yaku`: han by name, bonus tiles last. `yakuman`: number of yakuman by pattern; a kazoe yakuman has 0 here and at
    least 13 han. `payments`: what the two other seats pay, without honba; on tsumo the dealer's payment first, on ron
    the discarder's and 0.
    """

    yaku: dict[str, int]
    han: int
    fu: int
    yakuman: int
    payments: tuple[int, int]

    @property
    def points(self) -> int:
        """Points of the winner, without honba and riichi sticks."""
        return sum(self.payments)

    def __str__(self) -> str:
        """E.g. ``riichi 1, menzen tsumo 1: 2 han 30 fu, 1000-500``."""
        if not self.yaku:
            return "no win"
        paid = "-".join(str(points) for points in self.payments if points)
        return f"{', '.join(f'{name} {han}' for name, han in self.yaku.items())}: {self.han} han {self.fu} fu, {paid}"


def score(
    hand: str | Sequence[int],
    win: str | int,
    melds: Iterable[str] = (),
    *,
    seat_wind: str = "E",
    round_wind: str = "E",
    dora: str | Sequence[int] = "",
    ura: str | Sequence[int] = "",
    nukidora: int = 0,
    rules: Rules | str = TENHOU,
    **situation: bool,
) -> Score:
    """Score the concealed tiles `hand` with the winning tile `win`, which is not among them.

    Tiles are mpsz text (``"19m055p123s77z"``) or tile37 numbers, melds texts like ``"pon 055p"`` or ``"ankan 1111z"``.
    Winds are ``"E"``, ``"S"`` or ``"W"``. `dora` and `ura` are indicators; `ura` counts only in riichi. `situation`:
    keywords of SITUATIONS, e.g. ``tsumo=True, riichi=True``; ``last_tile`` is haitei or houtei, ``first_turn`` tenhou
    or chiihou. Whether they can occur together is not checked. `rules`: also the name of a preset.

    Raises:
        ValueError: for unreadable text, a wrong number of tiles, or tiles that do not exist with three players.
        TypeError: for an unknown situation, or tiles that are neither text nor numbers.
    """
    if unknown := situation.keys() - SITUATIONS.keys():
        raise TypeError(f"unknown situation {', '.join(sorted(unknown))}: choose from {', '.join(SITUATIONS)}")
    if isinstance(melds, str):
        raise TypeError(f"melds must be a list of texts, such as [{melds!r}], not one text")
    bits = sum(SITUATIONS[name] for name, holds in situation.items() if holds)
    held, winning = _tiles(hand, "hand"), _tiles(win, "winning tile")
    called = [_meld(text) for text in melds]
    concealed = [*held, *winning]
    tiles = [*concealed, *(tile for _, meld in called for tile in meld)]
    nukidora = whole_number(nukidora, "nukidora", "the number of norths set aside, 0 to 4", MAX_NUKIDORA)
    _check_size(len(held), len(called), winning)
    _check_tiles(tiles, nukidora)

    hands = np.zeros(1, dtype=HAND)
    packed = hands[0]
    np.add.at(packed.hand, KIND_OF[concealed], 1)
    packed.n_melds = len(called)
    for i, (meld_type, meld) in enumerate(called):
        packed.meld_type[i], packed.meld_kind[i] = meld_type, KIND_OF[meld[0]]
    packed.win_kind, packed.situation = KIND_OF[concealed[-1]], bits
    packed.seat_wind, packed.round_wind = _wind(seat_wind, "seat wind"), _wind(round_wind, "round wind")
    packed.red, packed.nuki = sum(tile >= N_KINDS for tile in tiles), nukidora
    packed.n_dora = _put(packed.dora, dora, "dora")
    packed.n_ura = _put(packed.ura, ura if bits & (y.IN_RIICHI | y.IN_DOUBLE_RIICHI) else "", "ura")
    wins = np.zeros(1, dtype=WIN)
    score_batch(hands, rules_named(rules).double_yakuman, wins)
    return _read(wins[0], dealer=seat_wind == "E", tsumo=bool(bits & y.BY_TSUMO))


def _read(win: Any, dealer: bool, tsumo: bool) -> Score:
    """The Score of a WIN record."""
    bonus_last = sorted((int(number) for number in np.flatnonzero(win.yaku)), key=lambda number: number in y.BONUS)
    yaku = {y.BY_NUMBER[number].name: int(win.yaku[number]) for number in bonus_last}
    first, second = payments(int(win.basic), dealer, tsumo)
    return Score(yaku, int(win.han), int(win.fu), int(win.yakuman), (int(first), int(second)))


def _tiles(tiles: str | int | Sequence[int], what: str) -> list[int]:
    """Return the tile37 numbers of a text, a number or several numbers; `what` describes them in messages."""
    if isinstance(tiles, str):
        try:
            return mpsz(tiles)
        except ValueError as error:
            raise ValueError(f"{what} {error}") from None
    given = list(tiles) if isinstance(tiles, Iterable) else [tiles]
    return [whole_number(tile, what, TILE_NUMBER, N_TILES - 1) for tile in given]


def _wind(name: str, what: str) -> int:
    if not isinstance(name, str) or len(name) != 1 or name not in WINDS:
        raise ValueError(f"{what} {name!r}: choose 'E', 'S' or 'W' (no seat and no round is North)")
    return WINDS.index(name)


def _meld(text: str) -> tuple[int, list[int]]:
    """Return the type and the tiles of a meld written like ``"pon 055p"``."""
    name, _, tiles = text.partition(" ")
    if name in MELD_TYPES:
        meld = _tiles(tiles, f"meld {text!r}:")
        if len(meld) == (3 if name == "pon" else 4) and len(set(KIND_OF[meld])) == 1:
            return MELD_TYPES[name], meld
    raise ValueError(f"meld {text!r}: write 3 equal tiles 'pon 055p' or 4 'ankan 1111z' ({', '.join(MELD_TYPES)})")


def _check_size(concealed: int, melds: int, winning: list[int]) -> None:
    """Raise ValueError unless hand, winning tile and melds make 14 tiles, each meld counted as three."""
    if len(winning) != 1:
        given = " ".join(MPSZ_NAMES[tile] for tile in winning) or "none"
        raise ValueError(f"the winning tile must be one tile, such as '4s' or '0p' (a red five), not {given}")
    if melds > MAX_MELDS:
        raise ValueError(f"there are {melds} melds, a hand has at most {MAX_MELDS}")
    expected = HAND_SIZE - 1 - 3 * melds
    if concealed != expected:
        beside = f" beside {melds} meld{'s' * (melds > 1)}" if melds else ""
        mend = ": do not list the winning tile in it" if concealed == expected + 1 else ""
        raise ValueError(f"the hand has {concealed} tiles, it must have {expected}{beside}{mend}")


def _check_tiles(tiles: list[int], nukidora: int) -> None:
    """Raise ValueError for tiles that cannot exist together with three players."""
    held = Counter([int(KIND_OF[tile]) for tile in tiles] + [NORTH] * nukidora)
    _check_kinds(held)
    for kind, count in held.items():
        if count > 4:
            raise ValueError(f"{count} tiles {MPSZ_NAMES[kind]} in hand, melds and nukidora: there are four")
    for tile, count in Counter(tile for tile in tiles if tile >= N_KINDS).items():
        if count > 1:
            raise ValueError(f"{count} tiles {MPSZ_NAMES[tile]}: there is one red five of each suit")


def _check_kinds(tiles: Iterable[int]) -> None:
    """Raise ValueError for a tile that three players do not have."""
    for tile in tiles:
        if KIND_OF[tile] not in SANMA_KINDS:
            raise ValueError(f"{MPSZ_NAMES[tile]}: three players have no 2m-8m")


def _put(indicators: np.ndarray, given: str | Sequence[int], what: str) -> int:
    """Write the `given` indicators into their array; return their number. `what` describes them in messages."""
    tiles = _tiles(given, what)
    if len(tiles) > MAX_INDICATORS:
        raise ValueError(f"{what} has {len(tiles)} indicators, there are at most {MAX_INDICATORS}")
    _check_kinds(tiles)
    indicators[: len(tiles)] = tiles
    return len(tiles)
