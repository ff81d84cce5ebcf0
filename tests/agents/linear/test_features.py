"""The features of the hand after an action."""

from __future__ import annotations

import numpy as np
import pytest

from agents.linear import kernels
from agents.linear.data import SelfPlay, choices_of
from agents.linear.features import FEATURES, INDEX, N_FEATURES, NAMES
from engine.actions import ACTION_NAMES, DISCARD, N_ACTIONS, PASS, RON, TSUMO, TSUMOGIRI, actions_of
from engine.shanten import shanten_of
from engine.table import raw_bytes
from engine.tiles import KIND_OF, MPSZ_NAMES
from tests.support.scenario import Scenario
from tests.support.scripted_positions import SCATTERED, view_of


def features(scenario: Scenario, seat: int, move: str) -> dict[str, float]:
    """The features that are not 0 of the hand of `seat` after a move; a discard is named in mpsz."""
    views = view_of(scenario.side.raw, seat)
    before = views.tobytes()
    counts = np.array([len(actions_of(*views["legal"][0, seat].tolist()))])
    actions = np.full(N_ACTIONS, -1)
    phi = np.zeros((N_ACTIONS, N_FEATURES), dtype=np.float32)
    kernels.write_features(raw_bytes(views), 1, counts, actions, phi)
    assert views.tobytes() == before, "the view stays as it is"
    names = [*MPSZ_NAMES, *ACTION_NAMES[TSUMOGIRI:]]
    action = names.index(move)
    if action not in actions:
        assert move == MPSZ_NAMES[scenario.t.drawn]
        action = TSUMOGIRI
    row = phi[actions.tolist().index(action)]
    return {name: float(value) for name, value in zip(NAMES, row, strict=True) if value}


def test_features_have_distinct_names_and_a_meaning() -> None:
    assert len(INDEX) == N_FEATURES == len(FEATURES)
    assert all(feature.meaning for feature in FEATURES)


@pytest.mark.parametrize(
    ("hand", "drawn", "discard", "expected"),
    [
        ("123456p23s55s567s", "9m", "9m", {"progress": 6, "tenpai": 1, "closed": 1, "iipeikou_4": 1}),
        ("123456789p1s46s5z", "9m", "9m", {"ittsu_9": 1}),
        ("12345679p11s46s5z", "9m", "9m", {"ittsu_8": 1}),
        ("112233p1s46s5z99s", "9m", "9m", {"iipeikou_6": 1}),
        ("11m11p111s234s567p", "9m", "9m", {"sanshoku_7": 1}),
        ("19m19p19s1234567z", "5p", "5p", {"kokushi_0": 1, "progress": 6}),
        ("19m19p19s123456z2s", "5p", "5p", {"kokushi_1": 1}),
        ("1199m1199p1199s5z", "5p", "5p", {"seven_pairs_nearer": 1, "tenpai": 1}),
        ("234567p23467s22s", "9m", "9m", {"tanyao_0": 1, "one_suit_0": 0}),
        ("1234567p1123z99p", "9m", "9m", {"one_suit_0": 1}),
        ("123p789p123s11z99s", "5p", "5p", {"chanta_0": 1}),
        ("555z66z7z123p456s9m", "1m", "1m", {"value_triplet": 1, "value_pair": 1, "value_lone": 1}),
        ("111z22z123p456s99m", "1m", "1m", {"value_triplet": 2}),  # East is the wind of the round and of the dealer
        ("111p222s333p44s55z", "9m", "9m", {"toitoi_triplets": 3, "toitoi_pairs": 2}),
        ("046p046s123789p9s", "9m", "9m", {"red": 2}),
    ],
)
def test_the_hand_after_a_discard(hand: str, drawn: str, discard: str, expected: dict[str, float]) -> None:
    found = features(Scenario([hand, "", ""], drawn), 0, discard)
    assert {name: found.get(name, 0.0) for name in expected} == expected


def test_energies_depend_on_the_count_and_on_neighbours() -> None:
    found = features(Scenario(["1p3p55p678s5z5z1m9m2z2z", "", ""], "9m"), 0, "2z")
    assert {name: value for name, value in found.items() if name.startswith("energy")} == {
        "energy_19_x1_gap": 1, "energy_37_x1_gap": 1, "energy_5_x2_gap": 1,
        "energy_46_x1_near_gap": 1, "energy_37_x1_near": 1, "energy_28_x1_near_gap": 1,
        "energy_19m_x1": 1, "energy_19m_x2": 1, "energy_honour_x2": 1, "energy_honour_x1": 1,
    }  # fmt: skip


def test_a_step_back_has_no_useful_tiles() -> None:
    scenario = Scenario(["123456p23s55s567s", "", ""], "9m")
    assert features(scenario, 0, "9m")["useful_0"] > 0
    assert not any(name.startswith("useful") for name in features(scenario, 0, "5s"))


def test_actions_add_their_own_features() -> None:
    riichi = features(Scenario(["123456p23s55s567s", "", ""], "9m"), 0, "riichi")
    assert riichi["riichi"] == riichi["tenpai"] == 1
    assert riichi["riichi_useful"] == riichi["useful_0"]
    north = features(Scenario(["123456p23s55s567s", "", ""], "4z"), 0, "nukidora")
    assert north["nukidora"] == north["replacement"] == 1
    kan = features(Scenario(["123456p23s8888s1z", "", ""], "9m"), 0, "ankan 8s")
    assert kan["kan"] == kan["replacement"] == kan["closed"] == 1
    abort = features(Scenario(["19m19p19s12345p12z", "", ""], "3z"), 0, "kyushu kyuhai")
    assert abort == {"abort": 1.0}


def test_a_red_five_that_a_kakan_adds_is_kept() -> None:
    scenario = Scenario([SCATTERED, "55p12346789s222z", ""], "9m3z4z0p").do("5p", "pon", "9s").quiet(2)
    kakan, thrown = features(scenario, 1, "kakan 5p"), features(scenario, 1, "0p")
    assert kakan["red"] == 1
    assert "red" not in thrown


def test_a_pon_is_judged_with_its_best_discard() -> None:
    scenario = Scenario([SCATTERED, "55z11p123456p237s", ""], "1m").do("5z")
    pon, passed = features(scenario, 1, "pon"), features(scenario, 1, "pass")
    assert pon["value_triplet"] == 1
    assert pon["progress"] == passed["progress"] + 1
    assert "closed" not in pon
    assert passed["closed"] == passed["value_pair"] == 1


def test_an_open_hand_without_a_yaku_in_sight_loses_energies_and_dora() -> None:
    scenario = Scenario([SCATTERED, "99p1234p678s0p149s", ""], "1m").do("9p")
    pon, passed = features(scenario, 1, "pon"), features(scenario, 1, "pass")
    assert pon["open_no_yaku"] == 1
    assert not any(name.startswith(("energy", "dora", "red")) for name in pon)
    assert passed["red"] == 1


def test_danger_is_there_only_under_threat() -> None:
    scenario = Scenario(["123456p23s55s567s", "159p289s1234567z", ""], "9m9m")
    scenario.do("9m")
    quiet = features(scenario, 1, "1z")
    assert not any(name.startswith("danger") for name in quiet)
    scenario = Scenario(["123456p23s55s567s", "159p289s1234567z", ""], "9m9m").do("riichi", "9m")
    while "1z" not in scenario.menu(1):
        scenario.do("pass")
    honour, five, safe = (features(scenario, 1, tile) for tile in ("1z", "5p", "9m"))
    assert five["danger_2"] > honour["danger_2"] > 0
    assert "danger_2" not in safe


def test_the_shanten_of_every_discard_in_real_positions() -> None:
    """Against the public function, on positions of self-play; and the chosen action is among the candidates."""
    views, actions, games, _ = next(SelfPlay(("efficiency",) * 3, 4, seed=3).views(print))
    choices = choices_of(views, actions, games)
    assert len(choices.chosen) == len(choices.game) > 500
    row = checked = 0
    for view in views:
        menu = actions_of(*view.legal[view.viewer].tolist())
        if {TSUMO, RON} & set(menu) or len({_same(view, action) for action in menu}) < 2:
            continue
        for action in sorted({_same(view, action) for action in menu}):
            assert choices.action[row] == action
            if action <= TSUMOGIRI and checked < 3000:
                p = view.seat[view.viewer]
                hand = p.hand.astype(int)
                hand[KIND_OF[view.drawn if action == TSUMOGIRI else action - DISCARD]] -= 1
                assert choices.phi[row, INDEX["progress"]] == 6 - shanten_of(hand.tolist(), int(p.n_melds))
                checked += 1
            elif action == PASS:
                assert choices.phi[row, INDEX["replacement"]] == 0
            row += 1
    assert row == len(choices.action)
    assert checked == 3000


def _same(view: np.record, action: int) -> int:
    """TSUMOGIRI for the discard of the tile drawn."""
    return TSUMOGIRI if action == view.drawn and TSUMOGIRI in actions_of(*view.legal[view.viewer].tolist()) else action


def test_every_win_is_taken_and_every_answer_is_legal_with_any_weights() -> None:
    """Also with weights that would rather not."""
    rng = np.random.default_rng(1)
    for views, _, _, _ in SelfPlay(("rule", "efficiency", "random"), 8, seed=4).views(print):
        answers = np.empty(len(views), dtype=np.int64)
        weights = rng.normal(size=N_FEATURES)
        kernels.choose_all(raw_bytes(views), len(views), np.uint64(0), weights, 0.0, answers)
        for view, action in zip(views[::7], answers[::7], strict=True):
            menu = actions_of(*view.legal[view.viewer].tolist())
            assert action in menu
            assert action in (TSUMO, RON) or not {TSUMO, RON} & set(menu)


def test_suits_may_be_swapped() -> None:
    """Pinzu and souzu are alike: a hand and the same hand with the suits swapped have the same features."""
    one = features(Scenario(["123456p23s55s567s", "", ""], "9m"), 0, "9m")
    other = features(Scenario(["123456s23p55p567p", "", ""], "9m"), 0, "9m")
    neutral = [name for name in NAMES if not name.startswith(("dora", "red", "useful"))]
    assert {name: one.get(name) for name in neutral} == {name: other.get(name) for name in neutral}
