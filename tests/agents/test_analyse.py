"""Analyses of positions: they agree with the engine, with reviews, and with themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.analyse.analysis import Analysis, analyse
from agents.analyse.cli import main
from agents.registry import make
from agents.review.decisions import SeatDecisions, seat_decisions
from agents.review.review import make_review
from engine.actions import RON, TSUMO
from engine.mjai.messages import rules_of
from engine.positions.position import Position
from engine.records.files import read_records
from engine.rules import preset
from engine.shanten import shanten_of
from engine.tiles import KIND_OF, MJAI_TILES, N_KINDS, mpsz
from tests.support.played_positions import decisions
from tests.support.position_writing import position_of

GAME = Path(__file__).resolve().parents[2] / "examples" / "game.mjson"
HAND = "123p456s11z99m2256p"
READY = "123p456s111z99m223p"


def analysed(*bots: str, **fields: Any) -> Analysis:
    return analyse(Position.from_json(fields), {bot: make(bot) for bot in bots})


def test_ukeire_are_the_tiles_that_lower_the_shanten() -> None:
    for fields in ({"hand": HAND}, {"hand": "12366p456s", "melds": "P505s M1111z"}, {"hand": "19m19p19s123456z1z7z"}):
        found = analysed(**fields)
        n_melds = len(found.position.own_melds)
        counts = np.bincount(KIND_OF[mpsz(fields["hand"])], minlength=N_KINDS)
        assert found.shanten == shanten_of(counts.tolist(), n_melds)
        assert len(found.hands) > 5
        for each in found.hands:
            left = counts.copy()
            left[KIND_OF[each.hand.tile]] -= 1
            assert each.hand.shanten == shanten_of(left.tolist(), n_melds)
            lowering = set()
            for kind in [0, *range(8, N_KINDS)]:
                if left[kind] < 4:
                    left[kind] += 1
                    if shanten_of(left.tolist(), n_melds) < each.hand.shanten:
                        lowering.add(kind)
                    left[kind] -= 1
            assert set(each.hand.ukeire) == lowering
            assert each.hand.left == sum(each.hand.ukeire.values())


def test_tiles_left_are_those_that_the_seat_does_not_see() -> None:
    found = analysed(hand=READY, rivers=["9m_1s", "2z", "4z P1s 2s"], dora="4p")
    (after_2p,) = (each for each in found.hands if each.hand.tile == MJAI_TILES["2p"])
    assert after_2p.hand.ukeire == {MJAI_TILES["1p"]: 3, MJAI_TILES["4p"]: 3}
    (after_1p,) = (each for each in found.hands if each.hand.tile == MJAI_TILES["1p"])
    assert after_1p.hand.ukeire[MJAI_TILES["9m"]] == 1
    assert (after_2p.furiten, after_1p.furiten) == (False, True)


def test_danger_is_none_for_what_a_riichi_has_passed() -> None:
    found = analysed(hand="223406p567s1199s6p", rivers=["1s_9s", "2z R3z", "4z 1s"])
    danger = {each.hand.tile: each.hand.danger for each in found.hands}
    assert danger.pop(MJAI_TILES["1s"]) < 0.02, "only the seat that is not in riichi may wait for it"
    assert all(chance > 0.02 for chance in danger.values())


@pytest.mark.parametrize("rules", ["tenhou", "majsoul"])
def test_wins_now_are_what_the_engine_pays(rules: str) -> None:
    seen = set()
    for seed in range(6):
        for game, messages, seat, view, legal in decisions(seed, rules, share=1.0):
            won = TSUMO if TSUMO in legal else RON
            if won not in legal or view["seat"][seat]["riichi"] or len(game.asked) > 1:
                continue  # of a riichi, ura dora are not known
            found = analyse(position_of(messages, seat, preset(rules)), {}).win
            before = game.snapshot()
            game.act(seat, won)
            (win,) = (each for each in game.new_messages(seat) if each["type"] == "hora")
            assert found is not None
            score = found.score
            assert (score.points, score.han, score.fu) == (win["hora_points"], win["fan"], win["fu"])
            seen.add(won)
            game.restore(before)
    assert seen == {TSUMO, RON}


def test_values_are_those_of_a_review() -> None:
    record = read_records(GAME)
    decisions, rules = seat_decisions(record, 0), rules_of(record.events[0])
    assert rules is not None
    starts = [index for index, event in enumerate(record.events) if event["type"] == "start_kyoku"]
    chosen = range(0, len(decisions.decisions), 9)
    part = SeatDecisions(
        record, decisions.names, 0, [decisions.decisions[at] for at in chosen], decisions.views[list(chosen)], []
    )
    bots = {"rule": make("rule")}
    review = make_review(part, bots, lambda n: None).as_json()
    assert len(review["decisions"]) > 5
    for decision in review["decisions"]:
        start = starts[decision["round"]]
        position = position_of(record.events[start : decision["message"] + 1], 0, rules)
        found = analyse(position, bots).as_json()
        assert found["kind"] == decision["kind"]
        assert found["shanten"] == decision["shanten"]
        (expected,) = decision["reviews"]
        by_action = {json.dumps(each["action"]): each["value"] for each in expected["actions"]}
        for each in found["bots"][0]["actions"]:
            assert each["value"] == by_action.get(json.dumps(each["action"]), each["value"])
        assert found["bots"][0]["actions"][0]["value"] == expected["actions"][0]["value"]


def test_forced_moves_ask_no_bot() -> None:
    forced = {"hand": "123p456s111z99m23p3z", "rivers": ["R2p", "2z", "3z"], "dora": "5z"}
    found = analysed("rule", **forced)
    assert found.opinions == {}
    assert [MJAI_TILES["W"]] == [each.hand.tile for each in found.hands]
    assert {win.riichi for each in found.hands for wait in each.waits for win in wait.wins} == {True}


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main([READY, "--bot", "rule", "--dora", "1p"]) == 0
    text = capsys.readouterr().out
    assert "1p×2 4p×4" in text
    assert "riichi, tsumo" in text
    assert "menzen tsumo 1" in text
    file = tmp_path / "analysis.json"
    assert main([READY, "--bot", "rule", "--dora", "1p", "--json", str(file)]) == 0
    expected = analysed("rule", hand=READY, dora="1p").as_json()
    assert json.loads(file.read_text()) == json.loads(json.dumps(expected))
