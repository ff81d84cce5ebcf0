"""The state part that `encode` writes, in scripted positions that cover every row of the reference table."""

from __future__ import annotations

import numpy as np
import pytest

from agents.bert.encoding import MAX_TOKENS, encode
from engine.rules import MAJSOUL, TENHOU, Rules
from engine.table import TABLE
from tests.support.encoded_positions import IN_USE, indices, state_of
from tests.support.reference_encoder import FIRST, ROWS, delta, values
from tests.support.scenario import Scenario
from tests.support.scripted_positions import SCATTERED, view_of
from tests.support.sides import State

NO_YAKU_3S = "23456799p67824s"  # waits for 3s
NINE_KINDS = "19m19p19s123z"
FOUR_KANS = "1112223334445p"
CAN = [row.name for row in ROWS if row.name.startswith("can_")]


def dealt(dealer: int = 0, scores: tuple[int, int, int] = (35_000,) * 3, **state: int) -> Scenario:
    """A round just begun; the dealer is to act."""
    wind, honba, sticks = (state.get(name, 0) for name in ("wind", "honba", "sticks"))
    return Scenario([], state=State(wind, dealer, honba, sticks, scores))


def can(scenario: Scenario, seat: int) -> set[str]:
    """The names of a seat's tokens can_*, without that prefix."""
    return {name.removeprefix("can_") for name in CAN if name in state_of(scenario, seat)}


# The situation of the game --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "style"), [(TENHOU, 1), (MAJSOUL, 1), (TENHOU.with_length("east"), 0), (MAJSOUL.with_length("east"), 0)]
)
def test_style(rules: Rules, style: int) -> None:
    assert state_of(Scenario([], rules=rules), 0)["style"] == [style]


@pytest.mark.parametrize("wind", [0, 1, 2])
@pytest.mark.parametrize("dealer", [0, 1, 2])
def test_round_and_player(wind: int, dealer: int) -> None:
    scenario = dealt(dealer, wind=wind)
    for seat in range(3):
        state = state_of(scenario, seat)
        assert (state["bakaze"], state["kyoku"], state["player_id"]) == ([wind], [dealer], [seat])


@pytest.mark.parametrize(("honba", "value"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (21, 3)])
def test_honba_is_capped(honba: int, value: int) -> None:
    assert state_of(dealt(honba=honba), 0)["honba"] == [value]


@pytest.mark.parametrize(("sticks", "value"), [(0, 0), (1, 1), (2, 2), (3, 2), (9, 2)])
def test_kyotaku_is_capped(sticks: int, value: int) -> None:
    assert state_of(dealt(sticks=sticks), 0)["kyotaku"] == [value]


def test_an_accepted_riichi_counts_at_once() -> None:
    scenario = Scenario([SCATTERED, SCATTERED, NO_YAKU_3S], "1m1m7z").do("tsumogiri", "tsumogiri", "riichi")
    assert (state_of(scenario, 2)["kyotaku"], state_of(scenario, 2)["delta_score_after"]) == ([0], [48])
    state = state_of(scenario.do("7z"), 0)
    assert (state["kyotaku"], state["delta_score_before"], state["delta_score_after"]) == ([1], [49], [48])


@pytest.mark.parametrize(
    ("difference", "value"),
    [
        (0, 48), (900, 48), (1_000, 49), (1_900, 49), (47_900, 95), (48_000, 96), (48_900, 96), (49_000, 96),
        (130_000, 96), (-100, 48), (-900, 48), (-1_000, 47), (-1_900, 47), (-47_000, 1), (-47_900, 1), (-48_000, 0),
        (-48_900, 0), (-49_000, 0), (-130_000, 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_delta_scores(difference: int, value: int, seat: int) -> None:
    """Cut towards zero to whole thousands, and at 48 of them; the seat before comes first."""
    for step, name, other in (
        (1, "delta_score_after", "delta_score_before"),
        (2, "delta_score_before", "delta_score_after"),
    ):
        scores = [60_000] * 3
        scores[(seat + step) % 3] = 60_000 - difference
        a, b, c = scores
        state = state_of(dealt(seat, (a, b, c)), seat)
        assert (state[name], state[other]) == ([value], [48])


def test_delta_scores_of_all_kinds() -> None:
    view = view_of(dealt().side.raw, 0)
    views = np.repeat(view, 3_000)
    scores = np.random.default_rng(1).integers(-500, 1_300, (len(views), 3)) * 100
    views["seat"]["score"] = scores
    ids = encode(views).input_ids.astype(np.int64)
    assert (ids[:, 7] - FIRST["delta_score_before"]).tolist() == [
        delta(own, before) for own, _, before in scores.tolist()
    ]
    assert (ids[:, 8] - FIRST["delta_score_after"]).tolist() == [delta(own, after) for own, after, _ in scores.tolist()]


@pytest.mark.parametrize(("left", "value"), [(54, 11), (12, 11), (11, 11), (10, 10), (9, 9), (2, 2), (1, 1), (0, 0)])
def test_live_tiles_are_capped(left: int, value: int) -> None:
    scenario = Scenario([]).quiet_until(left)
    assert int(scenario.t.live_left) == left
    assert state_of(scenario, int(scenario.t.turn))["num_pipais"] == [value]


# Tiles ----------------------------------------------------------------------------------------------------------------


def test_one_to_five_dora_markers() -> None:
    scenario = Scenario([FOUR_KANS], "1p", replacements="2p3p4p9s", indicators="0p1m9m7z0s")
    assert state_of(scenario, 0)["dora_marker"] == indices("0p")
    shown = ["0p1m", "0p1m9m", "0p1m9m7z", "0p1m9m7z0s"]
    for kind, markers in zip(range(1, 5), shown, strict=True):
        state = state_of(scenario.do(f"ankan {kind}p"), 0)
        assert state["dora_marker"] == indices(markers)
        assert len(state["tehai"]) == 14 - 3 * kind
    assert state_of(scenario.do("9s"), 1)["dora_marker"] == indices("0p1m9m7z0s")


@pytest.mark.parametrize("tile", IN_USE)
def test_every_tile_as_marker_in_hand_and_drawn(tile: str) -> None:
    as_marker = Scenario([], indicators=tile)
    assert state_of(as_marker, 0)["dora_marker"] == indices(tile)
    held = Scenario([tile], "9s" if tile != "9s" else "8s")
    assert indices(tile)[0] in state_of(held, 0)["tehai"]
    assert state_of(held, 0)["tsumo"] != indices(tile)
    drawn = Scenario([], tile)
    assert state_of(drawn, 0)["tsumo"] == indices(tile)
    assert indices(tile)[0] in state_of(drawn, 0)["tehai"]


def test_the_hand_is_sorted_and_includes_the_drawn_tile() -> None:
    state = state_of(Scenario(["1199m0555p1177z0s"], "5s"), 0)
    assert state["tehai"] == indices("1m1m9m9m0p5p5p5p0s5s1z1z7z7z")
    assert state["tsumo"] == indices("5s")


def test_the_hand_is_without_melds_and_norths_and_nothing_is_drawn_after_a_call() -> None:
    scenario = Scenario(["5p", "550p19m19s122346z"], "9p7z7z7z", replacements="6s").do("5p")
    asked = state_of(scenario, 1)
    assert asked["tehai"] == indices("1m9m0p5p5p1s9s1z2z2z3z4z6z")
    assert "tsumo" not in asked
    ponned = state_of(scenario.do("pon with red"), 1)
    assert ponned["tehai"] == indices("1m9m5p1s9s1z2z2z3z4z6z")
    assert "tsumo" not in ponned
    later = state_of(scenario.do("3z", "tsumogiri", "tsumogiri"), 1)
    assert later["tsumo"] == indices("7z")
    laid = state_of(scenario.do("nukidora"), 1)
    assert laid["tehai"] == indices("1m9m5p1s6s9s1z2z2z6z7z")
    assert laid["tsumo"] == indices("6s")


def test_the_drawn_tile_is_encoded_until_it_is_discarded() -> None:
    scenario = Scenario([NO_YAKU_3S], "7z")
    for _ in range(2):  # before and after declaring riichi
        assert state_of(scenario, 0)["tsumo"] == indices("7z")
        scenario.do("riichi") if "riichi" in scenario.menu(0) else None
    assert "tsumo" not in state_of(scenario.do("7z"), 0)


def test_a_replacement_tile_counts_as_drawn() -> None:
    scenario = Scenario(["7z", "777z"], "1m", replacements="8s").do("7z", "daiminkan")
    assert state_of(scenario, 1)["tsumo"] == indices("8s")


def test_an_opponents_draw_is_hidden() -> None:
    for seat in (1, 2):
        assert "tsumo" not in state_of(Scenario([], "7z"), seat)


# Possible actions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "drawn", "options"),
    [
        ("", "7z", {"dahai"}),
        ("4z", "7z", {"dahai"}),  # nukidora has no token
        (NO_YAKU_3S, "7z", {"dahai", "reach"}),
        (NO_YAKU_3S, "3s", {"dahai", "reach", "hora"}),
        (NINE_KINDS, "7z", {"dahai", "ryukyoku"}),
        *((f"{name[0] * 3}{name[1]}", name, {"dahai", "ankan"}) for name in ("1m", "9m", "1p", "8p", "9p", "1s", "7z")),
    ],
)
def test_possible_actions_on_a_turn(hand: str, drawn: str, options: set[str]) -> None:
    scenario = Scenario([hand], drawn, indicators="2s")
    assert can(scenario, 0) == options
    assert can(scenario, 1) == can(scenario, 2) == set()


@pytest.mark.parametrize(
    ("discard", "hand", "options"),
    [
        ("5p", "55p19m19s1234567z", {"pon"}),
        ("5p", "50p19m19s1234567z", {"pon"}),
        ("5p", "550p19m19s123456z", {"pon", "daiminkan"}),
        ("7z", "777z", {"pon", "daiminkan"}),
        ("5s", "234678p2288846s", {"hora"}),
        ("7z", "234678p22888s77z", {"hora", "pon"}),
    ],
)
def test_possible_actions_on_a_discard(discard: str, hand: str, options: set[str]) -> None:
    for seat in (1, 2):
        hands = [discard, "", ""]
        hands[seat] = hand
        scenario = Scenario(hands).do(discard)
        assert can(scenario, seat) == options
        assert can(scenario, 0) == can(scenario, 3 - seat) == set()


def test_after_riichi_and_after_a_pon_there_is_only_the_discard() -> None:
    assert can(Scenario([NO_YAKU_3S], "7z").do("riichi"), 0) == {"dahai"}
    assert can(Scenario([NO_YAKU_3S], "7z").do("riichi", "7z").quiet(2), 0) == {"dahai"}
    assert can(Scenario(["7z", "77z"]).do("7z", "pon"), 1) == {"dahai"}


@pytest.mark.parametrize("tile", ["1m", "9m", "1p", "9p", "1s", "9s", "1z", "7z"])
def test_kakan(tile: str) -> None:
    scenario = Scenario([tile, tile[0] * 2 + tile[1] + "6z"], f"2p2s3p{tile}", indicators="2s")
    scenario.do(tile, "pon", "6z", "tsumogiri", "tsumogiri")
    assert can(scenario, 1) == {"dahai", "kakan"}


def test_a_declared_north_can_only_be_won_on() -> None:
    robbed = Scenario(["4z", "19m19p19s1235677z"]).do("nukidora")
    assert can(robbed, 1) == {"hora"}
    assert can(robbed, 2) == set()


# Padding, attention mask and position ids -----------------------------------------------------------------------------


def test_position_ids_and_attention_mask() -> None:
    scenarios = [Scenario([]).quiet(n) for n in range(5)]
    views = np.concatenate([view_of(scenario.side.raw, int(scenario.t.turn)) for scenario in scenarios])
    encoded = encode(views)
    assert encoded.input_ids.shape == encoded.attention_mask.shape == encoded.position_ids.shape == (5, MAX_TOKENS)
    assert encoded.input_ids.dtype == np.uint16
    for n, (ids, mask, positions) in enumerate(
        zip(encoded.input_ids, encoded.attention_mask, encoded.position_ids, strict=True)
    ):
        state = 1 + 9 + 1 + 14 + 1 + 1  # [CLS], single values, marker, hand, tile drawn, can_dahai
        record = n  # discards so far
        padding = MAX_TOKENS - state - record - 2
        assert encoded.n_state[n] == state
        assert encoded.lengths[n] == state + record + 2
        assert (ids[0], ids[state], ids[state + record + 1]) == (1, 2, 3)
        assert (ids != 0).tolist() == mask.tolist() == [True] * (state + record + 2) + [False] * padding
        assert positions.tolist() == [*[0] * state, *range(1, record + 3), *[0] * padding]


def test_a_seat_that_is_not_to_act_and_no_views() -> None:
    assert values(encode(view_of(Scenario([]).side.raw, 2)).input_ids[0, :11].tolist()).keys() >= {
        "[CLS]",
        "num_pipais",
    }
    empty = encode(np.zeros(0, dtype=TABLE))
    assert (len(empty.input_ids), len(empty.attention_mask), len(empty.position_ids)) == (0, 0, 0)
