"""The yaku bot: the cost of each hand type, and what the bot does with it."""

from __future__ import annotations

import json
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.base import ActionValues, Annotating
from agents.bots.yaku.bot import PLACEMENTS, hand_type_costs
from agents.bots.yaku.frequencies import FREQUENCIES
from agents.bots.yaku.search import OUT_OF_REACH, TILE_COST
from agents.bots.yaku.targets import HAND_TYPES, N_TYPES, NAMES, SETS, TRIPLETS, Set
from agents.registry import make
from engine.table import PON_MELD, TABLE, raw_bytes
from engine.tiles import KIND_OF, N_KINDS, SANMA_KINDS, mpsz
from tests.support import scripted_positions
from tests.support.scenario import Scenario
from tests.support.scripted_positions import answer

HANDS = st.permutations([int(kind) for kind in SANMA_KINDS for _ in range(4)])


def view_of(tiles: list[int], ponned: tuple[int, ...] = ()) -> np.ndarray:
    """A view of east in the first round: TABLE[1]. It holds `tiles` (kinds) and melds of the kinds `ponned`."""
    view = np.zeros(1, dtype=TABLE)
    seat = view["seat"][0, 0]
    seat["hand"] = np.bincount(tiles, minlength=N_KINDS)
    seat["n_melds"], seat["open"] = len(ponned), bool(ponned)
    seat["meld_kind"][: len(ponned)] = ponned
    seat["meld_type"][: len(ponned)] = PON_MELD
    view["seen"][0] = 3 * np.bincount(ponned, minlength=N_KINDS) if ponned else 0
    return view


def costs_of(view: np.ndarray) -> dict[str, float]:
    costs = np.empty((1, N_TYPES))
    hand_type_costs(raw_bytes(view), 1, costs)
    return dict(zip(NAMES, costs[0].tolist(), strict=True))


def kinds(text: str) -> list[int]:
    return [int(KIND_OF[tile]) for tile in mpsz(text)]


@pytest.mark.parametrize(
    ("hand", "made"),
    [
        ("123p456p77p234s678s", {"riichi", "pinfu"}),
        ("234p456p77p234s678s", {"riichi", "pinfu", "tanyao"}),
        ("123p456p22p789s555z", {"riichi", "yakuhai"}),
        ("123p456p22p789s222z", {"riichi"}),  # south is no value tile of east in an east round
        ("223344p567p55s678s", {"riichi", "iipeikou", "tanyao", "pinfu"}),
        ("113355p2244s66s77z", {"chiitoitsu"}),
        ("222p555p888s22s333z", {"riichi", "toitoi", "sanankou"}),
        ("123456789p22p333z", {"riichi", "ittsu", "honitsu"}),
        ("123456789p22p345p", {"riichi", "pinfu", "ittsu", "honitsu", "chinitsu"}),
        ("123p789p123s99s555z", {"riichi", "yakuhai", "chanta"}),
        ("123p789p123s999s11p", {"riichi", "chanta", "junchan"}),
        ("111m999p111s44z555z", {"riichi", "yakuhai", "toitoi", "sanankou", "chanta", "honroutou"}),
        ("111m111p111s567p22z", {"riichi", "sanankou", "sanshoku doukou"}),
        ("555z666z77z234p678s", {"riichi", "yakuhai", "shousangen"}),
        ("19m19p19s12345677z", {"kokushi"}),
        ("111999m44455566z", {"riichi", "yakuhai", "toitoi", "sanankou", "chanta", "honroutou", "honitsu"}),
    ],
)
def test_a_complete_hand_costs_nothing(hand: str, made: set[str]) -> None:
    costs = costs_of(view_of(kinds(hand)))
    assert {name for name, cost in costs.items() if cost == 0} == made


def test_an_open_hand_has_no_closed_hand_types() -> None:
    costs = costs_of(view_of(kinds("234p678s22s34s"), (31,)))  # a pon of haku
    assert {name for name, cost in costs.items() if cost == OUT_OF_REACH} >= {
        hand_type.name for hand_type in HAND_TYPES if hand_type.closed
    }
    assert costs["tanyao"] == costs["chinitsu"] == costs["junchan"] == OUT_OF_REACH
    assert costs["yakuhai"] == pytest.approx(0.8)


@given(HANDS)
@settings(deadline=None, max_examples=100)
def test_one_more_tile_makes_no_hand_type_dearer(tiles: list[int]) -> None:
    hand, drawn = tiles[:13], tiles[13]
    before, after = costs_of(view_of(hand)), costs_of(view_of([*hand, drawn]))
    assert all(after[name] <= before[name] + 1e-9 for name in NAMES)


def brute_force(hand: np.ndarray, unseen: np.ndarray, sets: int, allowed: list[Set], pairs: list[int]) -> float:
    """The cost of the cheapest completion, by trying all."""
    best = OUT_OF_REACH
    for chosen in combinations_with_replacement(allowed, sets):
        demand = np.bincount([kind for tiles in chosen for kind in tiles], minlength=N_KINDS)
        for pair in pairs:
            demand[pair] += 2
            missing = np.maximum(demand - hand, 0)
            cost = sum(
                float(TILE_COST[max(unseen[kind] - drawn, 0)])
                for kind in np.flatnonzero(missing)
                for drawn in range(missing[kind])
            )
            demand[pair] -= 2
            best = min(best, cost)
    return best


@pytest.mark.slow
@given(HANDS, st.sampled_from(["tanyao", "toitoi", "chanta", "junchan", "honroutou"]))
@settings(deadline=None, max_examples=12)
def test_the_search_finds_the_cheapest_of_all_completions(tiles: list[int], name: str) -> None:
    """With two melds of the hand type two sets are missing: few enough to try all."""
    (target,) = HAND_TYPES[NAMES.index(name)].targets
    ponned = tuple(triplet[0] for triplet in TRIPLETS if target.allows(triplet))[2:4]
    hand = [kind for kind in tiles if kind not in ponned][:8]
    view = view_of(hand, ponned)
    held = view["seat"]["hand"][0, 0].astype(np.int64)
    allowed = [tiles for tiles in SETS if target.allows(tiles)]
    pairs = [tiles[0] for tiles in TRIPLETS if target.allows_pair(tiles)]
    expected = brute_force(held, 4 - held - view["seen"][0], 2, allowed, pairs)
    assert costs_of(view)[name] == pytest.approx(expected)


def test_every_hand_type_has_a_frequency() -> None:
    assert set(FREQUENCIES) == set(NAMES)
    assert all(0 < share < 1 for share in FREQUENCIES.values())
    assert len(set(NAMES)) == N_TYPES >= 16


@pytest.mark.parametrize(
    ("hand", "drawn", "discards"),
    [
        ("1199m1199p1199s1z", "5p", {"1z", "5p"}),  # seven pairs
        ("19m19p19s123567z9s", "5p", {"5p"}),  # thirteen orphans
        ("123456p789p22p4s1z", "5p", {"1z"}),  # ittsu is made: the honour goes before 5p and 4s
    ],
)
def test_discards_what_the_hand_type_does_not_take(hand: str, drawn: str, discards: set[str]) -> None:
    scenario = Scenario([hand, "", ""], drawn)
    if "riichi" in scenario.menu(0):
        scenario.do("riichi")
    assert answer("yaku", scenario, 0) in discards


def test_annotates_what_it_goes_for_and_what_each_hand_type_costs() -> None:
    scenario = Scenario(["222p555p88s22s33z9s", "", ""], "1m")
    bot = make("yaku")
    assert isinstance(bot, Annotating)
    assert isinstance(bot, ActionValues)
    assert bot.annotate() == {}
    views = scripted_positions.view_of(scenario.side.raw, 0)
    bot.act(views)
    annotation = bot.annotate()
    assert len(json.dumps(annotation)) < 4096
    costs = annotation["costs"]
    assert list(costs.values()) == sorted(costs.values())
    assert costs["toitoi"] == pytest.approx(2.0)  # two of the third 8s, 2s and 3z, of which two are unseen each
    assert "kokushi" not in costs or costs["kokushi"] < OUT_OF_REACH
    assert annotation["goes_for"] == min(costs, key=lambda name: costs[name] - FREQUENCIES[name])


def test_a_discard_that_is_needed_is_worth_less_by_what_it_costs_to_draw_again() -> None:
    scenario = Scenario(["234p567p24s66s78s1z", "", ""], "1m")
    bot = make("yaku")
    values = bot.action_values(scripted_positions.view_of(scenario.side.raw, 0))[0]  # type: ignore[attr-defined]
    assert answer("yaku", scenario, 0) in {"1z", "1m"}
    needed, spare = values[mpsz("5p")[0]], values[mpsz("1z")[0]]
    assert spare - needed == pytest.approx(PLACEMENTS * 0.9, abs=0.001)  # three 5p are unseen
