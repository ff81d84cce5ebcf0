"""Reviews of recorded games: the decisions, the bots' opinions, and the figures."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.base import Probabilities
from agents.registry import make
from agents.review.decisions import SeatDecisions, seat_decisions
from agents.review.opinions import BotFailedError
from agents.review.review import MAX_PARTS, Review, make_review
from engine.actions import N_ACTIONS, PASS, TSUMOGIRI, actions_of
from engine.common.error_text import coded, line_of
from engine.mjai.actions import action_of
from engine.records.files import parse_record, read_records
from engine.records.mjai import write
from engine.records.model import GameRecord, HandedOver, RecordError
from engine.records.replay import Replay
from tests.support import small_games

SEATS = (0, 1, 2)


def review_of(record: GameRecord, seat: int, *bots: str) -> Review:
    return make_review(seat_decisions(record, seat), {bot: make(bot) for bot in bots}, lambda n: None)


@pytest.fixture(scope="module")
def records(records_dir: Path) -> list[GameRecord]:
    """All real records there are."""
    return [read_records(path) for path in sorted(records_dir.iterdir())]


@pytest.fixture(scope="module")
def reviews(records: list[GameRecord]) -> list[Review]:
    """Of each real record by two bots, of one seat after the other."""
    return [review_of(record, number % 3, "bert", "rule") for number, record in enumerate(records)]


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["rule", "bert"])
def test_a_bot_agrees_with_itself(bot: str) -> None:
    record = small_games.play(0, (bot,) * 3).record
    for seat in SEATS:
        summary = review_of(record, seat, bot).summary(0)
        assert summary["decisions"] > 30
        assert (summary["agreed"], summary["accuracy"]) == (summary["decisions"], 1.0)
        assert (summary["mean_loss"], summary["unknown"]) == (0.0, 0)


@pytest.mark.slow
def test_every_decision_with_a_choice_is_reviewed(records: list[GameRecord]) -> None:
    for record in records:
        for seat in SEATS:
            found = seat_decisions(record, seat)
            asked = {d.n_before - 1: (int(d.view.drawn), d.legal) for d in Replay(record) if d.seat == seat}
            reviewed = {each.message for each in found.decisions}
            assert reviewed <= asked.keys()
            for message in asked.keys() - reviewed:  # one action, or the same tile drawn and in the hand
                drawn, legal = asked[message]
                assert len({drawn if action == TSUMOGIRI else action for action in legal}) == 1


@pytest.mark.slow
def test_indices_point_to_the_message_before_the_decision(reviews: list[Review]) -> None:
    for review in reviews:
        events, seat, document = review.of.record.events, review.of.seat, review.as_json()
        starts = [number for number, event in enumerate(events) if event["type"] == "start_kyoku"]
        for decision, view in zip(document["decisions"], review.of.views, strict=True):
            message = decision["message"]
            assert starts[decision["round"]] < message
            assert message < [*starts, len(events)][decision["round"] + 1]
            actual = decision["actual"]
            played = [e for e in events[message + 1 :] if e.get("actor") == seat or e["type"] == "ryukyoku"]
            if actual["type"] != "none":
                assert actual == {key: (played[0] | {"actor": seat})[key] for key in actual}
            assert action_of(view, seat, actual) in actions_of(*view["legal"][seat].tolist())


def test_the_loss_is_zero_where_nothing_is_better_and_only_there(reviews: list[Review]) -> None:
    for review in reviews:
        for decision in review.as_json()["decisions"]:
            for opinion in decision["reviews"]:
                values = [each["value"] for each in opinion["actions"]]
                known = [value for value in values if value is not None]
                assert known == sorted(known, reverse=True)
                assert values[: len(known)] == known
                assert opinion["best"] == 0
                assert opinion["actions"][opinion["actual"]]["action"] == decision["actual"]
                assert (opinion["loss"] == 0) == (opinion["actual"] == 0)
                if opinion["loss"] is None:
                    assert values[opinion["actual"]] is None
                else:
                    assert opinion["loss"] == pytest.approx(known[0] - values[opinion["actual"]], abs=2e-5, rel=1e-3)


def test_every_legal_action_is_listed_once(reviews: list[Review]) -> None:
    for review in reviews:
        for decision, view in zip(review.as_json()["decisions"], review.of.views, strict=True):
            seat = review.of.seat
            menu = actions_of(*view["legal"][seat].tolist())
            legal = {int(view.drawn) if action == TSUMOGIRI else action for action in menu}
            for opinion in decision["reviews"]:
                actions = [action_of(view, seat, each["action"]) for each in opinion["actions"]]
                listed = [int(view.drawn) if action == TSUMOGIRI else action for action in actions]
                assert sorted(listed) == sorted(legal)


def test_probabilities_are_the_bot_s(reviews: list[Review]) -> None:
    for review in reviews:
        for decision in review.as_json()["decisions"]:
            of_bert, of_rule = decision["reviews"]
            assert sum(each["prob"] for each in of_bert["actions"]) == pytest.approx(1, abs=1e-3)
            assert {each["prob"] for each in of_rule["actions"]} == {None}


def test_berts_probabilities_are_those_it_annotates(records: list[GameRecord]) -> None:
    review = review_of(records[0], 0, "bert")
    bert: Any = make("bert:?top=46")
    assert isinstance(bert, Probabilities)
    for decision, view in zip(review.as_json()["decisions"], review.of.views, strict=True):
        bert.act(np.array([view]))
        top = bert.annotate()["candidate"][0]
        assert decision["reviews"][0]["actions"][0]["prob"] == pytest.approx(top["prob"], abs=2e-3)


def test_the_summary_adds_up(reviews: list[Review]) -> None:
    for review in reviews:
        document = review.as_json()
        kinds = Counter(decision["kind"] for decision in document["decisions"])
        assert kinds.keys() <= {"win", "abort", "riichi", "kan", "nukidora", "call", "discard"}
        for bot, summary in enumerate(document["summary"]):
            assert {kind: row["decisions"] for kind, row in summary["by_kind"].items()} == kinds
            assert summary["decisions"] == len(document["decisions"])
            assert summary["agreed"] == sum(row["agreed"] for row in summary["by_kind"].values())
            losses = [decision["reviews"][bot]["loss"] for decision in document["decisions"]]
            known = [loss for loss in losses if loss is not None]
            assert summary["unknown"] == len(losses) - len(known)
            assert summary["mean_loss"] == pytest.approx(sum(known) / len(known), rel=1e-3)


def test_passes_are_reviewed(reviews: list[Review]) -> None:
    passed = [d for review in reviews for d in review.of.decisions if d.action == PASS]
    assert len(passed) > 20
    assert {each.kind for each in passed} == {"call"}


def test_a_round_that_departs_from_the_rules_is_left_out_and_told(records: list[GameRecord]) -> None:
    lines = write(records[0]).splitlines()
    number = next(n for n, line in enumerate(lines) if '"dahai"' in line and n > 20)
    lines[number] = json.dumps(json.loads(lines[number]) | {"actor": (json.loads(lines[number])["actor"] + 1) % 3})
    found = seat_decisions(parse_record("\n".join(lines).encode(), "bad"), 0)
    assert len(found.problems) == 1
    assert f"event {number + 1}" in found.problems[0]
    assert {each.round for each in found.decisions if each.message >= number - 1}.isdisjoint(
        {max(each.round for each in found.decisions if each.message < number)}
    )
    written = make_review(found, {"rule": make("rule")}, lambda n: None).as_json()
    assert written["problems"] == found.problems
    (problem,) = written["problem_codes"]
    assert (problem["code"], problem["values"]["n"]) == ("mismatch", number + 1)
    assert problem["codes"]["round"]["code"] == "round_name"
    assert problem["codes"]["rules"]["code"] in ("seat_acts", "seat_may_not")


def test_what_somebody_else_played_is_told(records: list[GameRecord]) -> None:
    """Nobody needs all parts of a game that was handed over and back all the time."""
    parts = [HandedOver(0, "rule", n, n + 1) for n in range(0, 4 * MAX_PARTS, 2)]
    record = replace(records[0], handed_over=[*parts, HandedOver(2, "\x1brule", 20)])
    first, second, third = (review_of(record, seat, "rule").as_json() for seat in SEATS)
    assert first["handed_over_parts"][1] == {"who": "rule", "first": 3, "last": 3}
    assert len(first["handed_over_parts"]) == MAX_PARTS
    assert first["handed_over"].startswith("played by rule from event 1 to 1; played by rule from event 3 to 3; ")
    assert (second["handed_over_parts"], second["handed_over"]) == ([], "")
    (part,) = third["handed_over_parts"]
    assert part == {"who": "?rule", "first": 21, "last": None}


def test_why_nothing_can_be_reviewed_has_a_code(records: list[GameRecord]) -> None:
    record = replace(records[0], handed_over=[HandedOver(0, "rule", 0)])
    with pytest.raises(ValueError, match="seat 0 has no decision to review: played by rule from event 1 on") as caught:
        review_of(record, 0, "rule")
    found = coded(line_of(caught.value))
    assert (found["code"], found["codes"]["why"]["code"]) == ("no_decision", "because")


# Bots -----------------------------------------------------------------------------------------------------------------


class Valued:
    """A bot that returns these values."""

    name = "valued"

    def __init__(self, values: Any) -> None:
        self.values = values

    def act(self, views: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def action_values(self, views: np.ndarray) -> Any:
        return self.values(views)


@pytest.fixture(scope="module")
def decisions(records: list[GameRecord]) -> SeatDecisions:
    return seat_decisions(records[0], 0)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (lambda views: np.zeros((len(views), 3)), "shape"),
        (lambda views: np.full((len(views), N_ACTIONS), np.nan), "NaN or infinity"),
        (lambda views: np.full((len(views), N_ACTIONS), np.inf), "NaN or infinity"),
        (lambda views: np.full((len(views), N_ACTIONS), -np.inf), "no legal action"),
        (lambda views: 1 / 0, "ZeroDivisionError"),
        (lambda views: "x", "cannot evaluate"),
    ],
)
def test_a_bot_that_breaks_its_promise_is_told_of(decisions: SeatDecisions, values: Any, told: str) -> None:
    with pytest.raises(BotFailedError, match=told) as failed:
        make_review(decisions, {"mine": Valued(values)}, lambda n: None)
    assert "the bot mine" in str(failed.value)
    assert str(failed.value).isprintable()


def test_where_all_values_are_equal_what_was_played_is_as_good_as_the_best(decisions: SeatDecisions) -> None:
    equal = Valued(lambda views: np.zeros((len(views), N_ACTIONS)))
    assert make_review(decisions, {"equal": equal}, lambda n: None).summary(0)["accuracy"] == 1.0


def test_progress_adds_up(decisions: SeatDecisions) -> None:
    done: list[int] = []
    make_review(decisions, {"rule": make("rule"), "bert": make("bert")}, done.append)
    assert sum(done) == 2 * len(decisions.decisions)


def test_a_record_cut_off_is_refused(records: list[GameRecord]) -> None:
    cut = [event for event in records[0].events if event["type"] != "end_kyoku"]
    with pytest.raises(RecordError):
        seat_decisions(GameRecord(cut, None, "cut"), 0)
