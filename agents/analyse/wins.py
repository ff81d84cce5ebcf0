"""What a tenpai hand wins on, and what each win is worth: without ippatsu, ura dora and the last tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents.analyse.discards import Hand, Look
from engine.actions import RIICHI, RON, TSUMO
from engine.mjai.messages import tile_names
from engine.rules import Rules
from engine.scoring.api import MELD_TYPES, SITUATIONS, Score, score
from engine.table import DORA_AT, RIICHI_DISCARD
from engine.tiles import KIND_OF, MJAI_TILES, MPSZ_NAMES, N_KINDS, RED_5P, RED_INDEX, WINDS

MELD_NAMES = {number: name for name, number in MELD_TYPES.items()}


@dataclass(frozen=True, slots=True)
class Win:
    """A way to win: by which tile, how, and the score."""

    tsumo: bool
    riichi: bool
    score: Score  # of no yaku where the hand may not win so


@dataclass(frozen=True, slots=True)
class Wait:
    """A kind that completes the hand."""

    kind: int
    left: int  # tiles of it that the seat does not see
    wins: list[Win]  # those with a yaku


class Scorer:
    """Scores the hand of a view's seat."""

    def __init__(self, view: Any, legal: list[int], rules: Rules) -> None:
        self._view = view
        self._own = view["seat"][view["viewer"]]
        self._legal = legal
        self._keys: dict[str, Any] = {
            "melds": [self._meld(index) for index in range(int(self._own["n_melds"]))],
            "seat_wind": WINDS[(int(view["viewer"]) - int(view["dealer"])) % len(WINDS)],
            "round_wind": WINDS[int(view["round_wind"])],
            "dora": [int(view["wall"][at]) for at in DORA_AT[: int(view["n_indicators"])]],
            "nukidora": int(self._own["nukidora"]),
            "rules": rules,
        }

    def _meld(self, index: int) -> str:
        own = self._own
        name, kind = MELD_NAMES[int(own["meld_type"][index])], int(own["meld_kind"][index])
        tiles = tile_names(kind, 3 if name == "pon" else 4, int(own["meld_red"][index]))
        names = [MPSZ_NAMES[MJAI_TILES[tile]] for tile in tiles]
        return f"{name} {''.join(each[0] for each in names)}{names[0][1]}"

    def _tiles(self, without: int = -1) -> list[int]:
        """The concealed tiles, without one of them."""
        own = self._own
        tiles: list[int] = []
        for kind in range(N_KINDS):
            reds = int(own["red"][RED_INDEX[kind]]) if RED_INDEX[kind] >= 0 else 0
            tiles += [RED_5P + int(RED_INDEX[kind])] * reds + [kind] * (int(own["hand"][kind]) - reds)
        if without >= 0:
            tiles.remove(without)
        return tiles

    def now(self, look: Look) -> Win | None:
        """The win that the seat may take now."""
        tsumo = TSUMO in self._legal
        if not tsumo and RON not in self._legal:
            return None
        tile = int(self._view["drawn"] if tsumo else self._view["offer"])
        held = self._tiles(tile) if tsumo else self._tiles()
        situation: dict[str, Any] = {name: bool(look.situation & bit) for name, bit in SITUATIONS.items()}
        found = score(held, MPSZ_NAMES[tile], **self._keys, **situation)
        return Win(tsumo, bool(self._own["riichi"]), found)

    def waits(self, hand: Hand) -> list[Wait]:
        """The waits of a hand that is tenpai, none of any other."""
        if hand.shanten != 0:
            return []
        held = self._tiles(hand.tile)
        return [Wait(kind, left, self._wins(held, kind) if left else []) for kind, left in hand.ukeire.items()]

    def furiten(self, hand: Hand) -> bool:
        """Whether the seat may not win by ron after the discard: for the discards of its own, or all of riichi."""
        discarded = int(self._own["discarded"]) | (1 << int(KIND_OF[hand.tile]) if hand.tile >= 0 else 0)
        passed = bool(self._own["riichi_furiten"])
        if hand.tile < 0:
            passed = passed or bool(self._own["temporary_furiten"])
        return passed or any(discarded >> kind & 1 for kind in hand.ukeire)

    def _wins(self, held: list[int], kind: int) -> list[Win]:
        in_riichi = int(self._own["riichi"])
        declaring = int(self._view["phase"]) == RIICHI_DISCARD
        double = in_riichi == 2 or (not in_riichi and bool(self._view["first_turn"]) and not int(self._own["n_river"]))
        choices = [True] if in_riichi or declaring else [False, True] if RIICHI in self._legal else [False]
        wins = [
            Win(tsumo, riichi, score(held, MPSZ_NAMES[kind], **self._keys, tsumo=tsumo, **riichi_keys(riichi, double)))
            for riichi in choices
            for tsumo in (False, True)
        ]
        return [win for win in wins if win.score.yaku]


def riichi_keys(riichi: bool, double: bool) -> dict[str, Any]:
    """The situation of a win in riichi."""
    return {"double_riichi" if double else "riichi": True} if riichi else {}
