"""The features of `linear` and `softmax`: name, starting weight, meaning.

The value of an action is the sum of the features of the hand after it, each times its weight. The unit is a **point of
value**: a step towards tenpai is worth 10,000 at the start.

The starting weights are those of a published design for four players, which has no defence. What three players change:

* Manzu has no runs, so that ittsu, iipeikou and the energy of neighbours exist in pinzu and souzu only.
* A sanshoku of runs cannot occur. The triplets of 1 or 9 in all three suits (sanshoku doukou) take its place.
* North is nobody's wind: it counts as a dora once it is set aside (nukidora), which also draws another tile.

Added, with the starting weight 0 unless the bot could not play without it: what riichi, kan, nukidora and an aborted
round are worth, and the danger of the discard, by which a trained bot folds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.tiles import EAST, HONOUR, KIND_1M, KIND_9M, N_KINDS, PIN


class Feature(NamedTuple):
    """One summand of the value."""

    name: str
    start: float  # its starting weight, in points of value
    meaning: str


COUNTS = 3  # one, two, three tiles of a kind; four count as three
# Energy of a lone tile by its distance from the end of the suit: 1 9, 2 8, 3 7, 4 6, 5. The published table is not
# public: these are ours. An adjacent tile adds twice that amount, a tile two away the same amount.
RANK_ENERGY = (20.0, 60.0, 110.0, 120.0, 130.0)
SET_ENERGY = (0.0, 200.0, 600.0)  # for one, two, three of a kind
RANK_NAMES = ("1 9", "2 8", "3 7", "4 6", "5")
COUNT_NAMES = ("one", "two", "three or four")


def _number_energies() -> list[Feature]:
    features = []
    for rank, lone in enumerate(RANK_ENERGY):
        for count in range(COUNTS):
            for near in (0, 1):
                for gap in (0, 1):
                    start = lone * (1 + 2 * near + gap) + SET_ENERGY[count]
                    beside = " with an adjacent tile" * near + " with" * (gap and not near) + " and" * (near and gap)
                    meaning = f"{COUNT_NAMES[count]} of a {RANK_NAMES[rank]}{beside}{' one two away' * gap}"
                    name = f"energy_{RANK_NAMES[rank].replace(' ', '')}_x{count + 1}{'_near' * near}{'_gap' * gap}"
                    features.append(Feature(name, start, meaning))
    return features


def _other_energies() -> list[Feature]:
    return [
        Feature(f"energy_{name}_x{count + 1}", lone + SET_ENERGY[count], f"{COUNT_NAMES[count]} of a kind: {what}")
        for name, lone, what in (("19m", 15.0, "1m 9m"), ("honour", 5.0, "honours but north"), ("north", 0.0, "north"))
        for count in range(COUNTS)
    ]


FEATURES: tuple[Feature, ...] = (
    Feature("progress", 10_000, "6 - shanten"),
    Feature("tenpai", 0, "the hand is tenpai"),
    Feature("iishanten", 0, "the hand is one from tenpai"),
    Feature("useful_0", 100, "unseen winning tiles of a tenpai hand"),
    Feature("useful_1", 100, "useful unseen tiles one from tenpai"),
    Feature("useful_2", 100, "useful unseen tiles two from tenpai"),
    Feature("useful_3", 100, "useful unseen tiles farther from tenpai; none of all these after a step back"),
    *_number_energies(),
    *_other_energies(),
    Feature("dora", 5_000, "dora held"),
    Feature("dora_near", 1_000, "dora kinds not held, with an adjacent tile"),
    Feature("dora_gap", 500, "dora kinds not held, with a tile two away but none adjacent"),
    Feature("red", 5_000, "red fives"),
    Feature("nukidora", 5_000, "norths set aside"),
    Feature("value_triplet", 5_000, "triplets of a value tile; a double wind counts twice"),
    Feature("value_pair", 1_000, "pairs of a value tile of which one is unseen"),
    Feature("value_lone", 10, "lone value tiles of which two are unseen"),
    Feature("tanyao_0", 5_000, "tanyao takes no more steps than the nearest hand"),
    Feature("tanyao_1", 2_500, "tanyao takes one step more"),
    Feature("one_suit_0", 10_000, "a half flush takes no more steps than the nearest hand"),
    Feature("one_suit_1", 5_000, "a half flush takes one step more"),
    Feature("one_suit_2", 1_000, "a half flush takes two steps more"),
    Feature("seven_pairs_nearer", 10_000, "seven pairs are nearer than four sets and a pair"),
    Feature("seven_pairs_as_near", 5_000, "seven pairs are as near as four sets and a pair"),
    Feature("toitoi_triplets", 2_500, "triplets of a hand at most three from toitoi"),
    Feature("toitoi_pairs", 1_000, "pairs of a hand at most three from toitoi"),
    Feature("kokushi_0", 100_000, "all thirteen kinds of kokushi"),
    Feature("kokushi_1", 50_000, "kokushi lacks one kind"),
    Feature("kokushi_2", 30_000, "kokushi lacks two kinds"),
    Feature("kokushi_3", 10_000, "kokushi lacks three kinds"),
    Feature("kokushi_4", 2_000, "kokushi lacks four kinds"),
    Feature("ittsu_9", 10_000, "nine tiles of ittsu in place"),
    Feature("ittsu_8", 8_000, "eight tiles of ittsu in place"),
    Feature("ittsu_7", 4_000, "seven tiles of ittsu in place"),
    Feature("ittsu_6", 1_000, "six tiles of ittsu in place"),
    Feature("sanshoku_9", 10_000, "nine tiles of sanshoku doukou (1 or 9) in place"),
    Feature("sanshoku_8", 8_000, "eight tiles of sanshoku doukou in place"),
    Feature("sanshoku_7", 4_000, "seven tiles of sanshoku doukou in place"),
    Feature("sanshoku_6", 1_000, "six tiles of sanshoku doukou in place"),
    Feature("chanta_0", 10_000, "chanta takes no more steps than the nearest hand"),
    Feature("chanta_1", 1_000, "chanta takes one step more"),
    Feature("iipeikou_6", 5_000, "six tiles of iipeikou in place, closed"),
    Feature("iipeikou_5", 3_000, "five tiles of iipeikou in place, closed"),
    Feature("iipeikou_4", 500, "four tiles of iipeikou in place, closed"),
    Feature("closed", 5_000, "the hand is closed"),
    Feature("callable", 1_000, "a closed hand that has a yaku in sight after a call"),
    Feature("open_no_yaku", 0, "an open hand with no yaku in sight: it also loses energies, dora and red fives"),
    Feature("open_detour", 0, "steps that an open hand's nearest yaku takes more than its nearest shape, at most 3"),
    Feature("furiten", 0, "tenpai, and a winning tile lies in the own river"),
    Feature("keiten", 0, "tenpai with 12 draws or fewer to come"),
    Feature("replacement", 10_000, "the action draws another tile (nukidora, kan)"),
    Feature("kan", 0, "the action is a kan"),
    Feature("kan_threat", 0, "the action is a kan while an opponent threatens"),
    Feature("riichi", 10_000, "the hand is in riichi"),
    Feature("riichi_useful", 0, "unseen winning tiles of a hand in riichi"),
    Feature("riichi_dora", 0, "dora, red fives and nukidora of a hand in riichi"),
    Feature("riichi_late", 0, "in riichi with 15 draws or fewer to come"),
    Feature("riichi_threat", 0, "in riichi while an opponent threatens"),
    Feature("open_threat", 0, "an open hand while an opponent threatens"),
    Feature("danger_0", 0, "chance in 1,000 that the discard deals in, of a tenpai hand"),
    Feature("danger_1", 0, "chance in 1,000 that the discard deals in, one from tenpai"),
    Feature("danger_2", 0, "chance in 1,000 that the discard deals in, farther from tenpai"),
    Feature("abort", 24_000, "the round is aborted (kyushu kyuhai); no other feature counts then"),
)
NAMES: tuple[str, ...] = tuple(feature.name for feature in FEATURES)
N_FEATURES = len(FEATURES)
START = np.array([feature.start for feature in FEATURES])
INDEX = {name: index for index, name in enumerate(NAMES)}
# What an open hand with no yaku in sight does not count.
LOST_OPEN = np.array(
    [index for name, index in INDEX.items() if name.startswith(("energy", "dora", "red"))], dtype=np.int64
)

# kind -> index of the energy feature of one tile of it without neighbours; the others follow, by count and neighbours.
ENERGY_AT = np.zeros(N_KINDS, dtype=np.int64)
for _kind in range(N_KINDS):
    if _kind in (KIND_1M, KIND_9M):
        ENERGY_AT[_kind] = INDEX["energy_19m_x1"]
    elif PIN <= _kind < HONOUR:
        _rank = (_kind - PIN) % 9
        ENERGY_AT[_kind] = INDEX["energy_19_x1"] + min(_rank, 8 - _rank) * COUNTS * 4
    elif _kind >= HONOUR:
        ENERGY_AT[_kind] = INDEX["energy_north_x1" if _kind == EAST + 3 else "energy_honour_x1"]
