"""Evaluation: metrics of small arrays, the report, and the command on games of bots."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents.bert.cli import main
from agents.bert.evaluation.metrics import (
    Agreement,
    Bin,
    Calibration,
    KindMetrics,
    LabelMetrics,
    PlacementMetrics,
    PointsMetrics,
    agreement,
    calibration,
    cross_entropy,
    likeliest,
    placement_metrics,
    points_metrics,
)
from agents.bert.evaluation.records import (
    UNKNOWN_LEVEL,
    LevelMetrics,
    RecordMetrics,
    by_level,
    evaluate_records,
    read_decisions,
)
from agents.bert.evaluation.report import Report
from agents.bert.evaluation.validation import ValidationMetrics, choose_samples, evaluate_validation, mean_regret
from agents.bert.evaluation.wahaha import WAHAHA_ACCURACY, WAHAHA_LABELS
from agents.bert.inference import Predictions
from agents.bert.labels import HORA_LABEL, LABEL_NAMES, N_LABELS, NONE_LABEL, REACH_LABEL
from agents.bert.training.data.dataset import VALIDATION_ONE_IN, Dataset
from agents.bert.training.data.selfplay import SelfPlayConfig, play
from agents.bert.training.data.shards import UNKNOWN_REGRET, save
from agents.bert.vocabulary import EOS, SEP
from engine.records.files import read_records, write_record
from engine.rules import TENHOU
from tests.support import small_games

N_GAMES, N_VALIDATION = 8, 2  # in two shards

# Metrics ------------------------------------------------------------------------------------------------------------


def test_labels_are_counted_as_played_predicted_and_both() -> None:
    true = np.array([0, 0, 0, REACH_LABEL, NONE_LABEL])
    predicted = np.array([0, REACH_LABEL, 0, REACH_LABEL, HORA_LABEL])
    result = agreement(true, predicted, games=np.array([0, 0, 1, 1, 2]))
    assert (result.samples, result.accuracy) == (5, 0.6)
    rest = np.array([1 - 2 * 0.6, 2 - 2 * 0.6, 0 - 1 * 0.6]) / (
        5 / 3
    )  # of each game, Student's t with 2 degrees of freedom
    assert result.interval == pytest.approx(4.303 * rest.std(ddof=1) / math.sqrt(3), rel=1e-3)
    assert agreement(true, predicted, games=np.zeros(5)).interval is None
    assert result.labels == [
        LabelMetrics("dahai 5mr", 3, 2, 2),
        LabelMetrics("reach", 1, 2, 1),
        LabelMetrics("hora", 0, 1, 0),
        LabelMetrics("none", 1, 0, 0),
    ]
    assert [(each.recall, each.precision) for each in result.labels] == [(2 / 3, 1), (1, 1 / 2), (None, 0), (0, None)]


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(ValueError, match="no samples"):
        agreement(*3 * [np.array([], dtype=np.int64)])


def test_only_legal_labels_are_chosen_and_have_probability() -> None:
    logits, legal = np.zeros((2, N_LABELS)), np.zeros((2, N_LABELS), dtype=bool)
    logits[:, 5] = 100.0  # illegal
    legal[:, [1, 3]] = True
    logits[:, 3] = [0.0, math.log(3)]
    logits[0, 1] = 1e-9
    logits += 1000.0
    assert likeliest(logits, legal).tolist() == [1, 3]
    assert cross_entropy(logits, legal, np.array([1, 3])) == pytest.approx((math.log(2) + math.log(4 / 3)) / 2)


def test_calibration_compares_probability_and_frequency() -> None:
    probability = np.array([0.02, 0.08, 1.0, 0.9, 0.95, 0.95])
    result = calibration(probability, np.array([False, False, True, True, False, False]))
    low, high = result.bins
    assert (low, high.index, high.n, high.actual) == (Bin(0, 2, pytest.approx(0.05), 0.0), 9, 4, 0.5)
    assert high.predicted == pytest.approx(0.95)
    assert result.error == pytest.approx((2 * 0.05 + 4 * 0.45) / 6)


def test_placement_metrics() -> None:
    placement = np.array([0, 0, 1, 2])
    probability = np.array([[0.85, 0.1, 0.05], [0.55, 0.25, 0.2], [0.25, 0.6, 0.15], [0.25, 0.35, 0.4]])
    result = placement_metrics(probability, placement)
    assert result.log_loss == pytest.approx(-np.log([0.85, 0.55, 0.6, 0.4]).mean())
    assert result.base_log_loss == pytest.approx(-np.log([0.5, 0.5, 0.25, 0.25]).mean())
    first = result.ranks[0]
    assert [(each.index, each.n, each.actual) for each in first.bins] == [(2, 2, 0.0), (5, 1, 1.0), (8, 1, 1.0)]
    assert first.error == pytest.approx((0.15 + 0.45 + 0.25 + 0.25) / 4)


def test_points_are_compared_by_decile_of_the_prediction() -> None:
    predicted = np.arange(20.0) * 7 % 20
    result = points_metrics(predicted, predicted + 3)
    assert result.deciles == [Bin(index, 2, 2 * index + 0.5, 2 * index + 3.5) for index in range(10)]
    assert result.error == pytest.approx(3.0)
    assert result.base_error == pytest.approx(np.arange(20).std())


# Printing -----------------------------------------------------------------------------------------------------------


def printed(part: Callable[[Report], None]) -> list[str]:
    """The lines that a report prints, with single spaces."""
    screen = Console(file=StringIO(), width=100)
    part(Report(screen))
    return [" ".join(line.split()) for line in screen.file.getvalue().splitlines()]


def test_report_of_validation() -> None:
    policy = Agreement(2000, 0.5, 0.022, [LabelMetrics("reach", 1000, 10, 5), LabelMetrics("none", 0, 3, 0)])
    ranks = [
        Calibration([Bin(0, 1200, 0.04, 0.03), Bin(9, 7, 0.95, 1.0)], 0.0123),
        Calibration([Bin(1, 11, 0.15, 0.2)], 0.02),
        Calibration([], 0.0),
    ]
    points = PointsMetrics([Bin(0, 200, -40.04, -38.0), Bin(1, 200, 0.5, 1.0)], 30.123, 44.0)
    kinds = [KindMetrics("discard", 1900, 0.614), KindMetrics("pon", 100, 0.9)]
    result = ValidationMetrics(12, policy, kinds, 1.25, 0.00123, PlacementMetrics(ranks, 0.9, 1.1), points)
    lines = printed(lambda report: report.validation(result))
    for line in (
        "Validation: 2,000 samples of 12 games",
        "accuracy 50.0 % ± 2.2, loss 1.2500",
        "mean regret of the likeliest label, in placement: 0.0012",
        "by kind of decision: discard 61.4 % of 1,900, pon 90.0 % of 100",
        "reach 1,000 10 0.5 50.0",
        "none 0 3 – 0.0",
        "0-10 1,200 4.0 3.0 0 – – 0 – –",
        "10-20 0 – – 11 15.0 20.0 0 – –",
        "90-100 7 95.0 100.0 0 – – 0 – –",
        "expected calibration error: 1st 0.0123, 2nd 0.0200, 3rd 0.0000",
        "log loss 0.9000; 1.1000 if the frequencies are predicted",
        "1 200 -40.0 -38.0",
        "2 200 +0.5 +1.0",
        "root mean square error 30.12; 44.00 if the mean is predicted",
    ):
        assert line in lines


def test_report_of_records_shows_network_rule_bot_and_wahaha() -> None:
    network = Agreement(300, 0.5, 0.05, [LabelMetrics("pon", 100, 50, 25), LabelMetrics("hora", 0, 3, 0)])
    baseline = Agreement(300, 0.6, 0.04, [LabelMetrics("kakan", 0, 9, 0), LabelMetrics("pon", 100, 90, 75)])
    levels = [LevelMetrics("七段", 200, 0.55, 0.07, 0.65), LevelMetrics("天鳳位", 100, 0.4, None, 0.5)]
    confidence = Calibration([Bin(9, 200, 0.95, 0.9)], 0.04)
    lines = printed(lambda report: report.records(RecordMetrics(2, 1, 3, network, 1.5, confidence, baseline, levels)))
    assert "Recorded players: 300 decisions in 2 games" in lines
    assert "network 50.0 % ± 5.0, loss 1.5000" in lines
    assert "rule bot 60.0 % ± 4.0" in lines
    assert "pon 100 25.0 50.0 75.0 83.3 84.6 85.2" in lines
    assert "7 dan 200 55.0 7.0 65.0" in lines
    assert "tenhoui 100 40.0 – 50.0" in lines
    assert "90-100 200 95.0 90.0" in lines
    assert "expected calibration error: 0.0400" in lines
    (wahaha,) = (line for line in lines if line.startswith("wahaha"))
    assert wahaha.startswith("wahaha 79.7 %, loss 0.5290: as published")
    assert wahaha.endswith("has seen none")
    (left_out,) = (line for line in lines if line.startswith("left out"))
    assert "1 damaged records, and the rest of 3 rounds" in left_out
    assert [line for line in lines if line.startswith(("hora", "kakan"))] == []


def test_what_was_published_of_wahaha_agrees_with_its_accuracy() -> None:
    for count in (sum(each.played for each in WAHAHA_LABELS), sum(each.predicted for each in WAHAHA_LABELS)):
        assert sum(each.correct for each in WAHAHA_LABELS) / count == pytest.approx(WAHAHA_ACCURACY, abs=5e-5)
    assert len({each.label for each in WAHAHA_LABELS} & set(LABEL_NAMES)) == len(WAHAHA_LABELS)


def test_levels_are_those_of_the_players_and_ascend() -> None:
    dan, label = np.array(["九段", "八段", "七段", "七段", "七段"]), np.array([1, 1, 2, 3, 4])
    found = by_level(
        dan, label, network=np.array([2, 1, 2, 3, 9]), baseline=np.array([1, 9, 2, 9, 9]), games=np.arange(5)
    )
    assert [(each.dan, each.samples, each.network, each.baseline) for each in found] == [
        ("七段", 3, pytest.approx(2 / 3), pytest.approx(1 / 3)),
        ("八段", 1, 1.0, 0.0),
        ("九段", 1, 0.0, 1.0),
    ]
    assert found[0].interval == pytest.approx(4.303 / 3, rel=1e-3)  # Student's t with 2 degrees of freedom
    assert found[1].interval is None


# Games --------------------------------------------------------------------------------------------------------------


class ConstantPredictor:
    """A network that always predicts the same."""

    def __init__(self, label: int) -> None:
        self.policy = np.zeros(N_LABELS, dtype=np.float32)
        self.policy[label] = 5.0

    def __call__(self, input_ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> Predictions:
        """The same for all sequences, which must be as the encoder makes them."""
        n = len(input_ids)
        assert (input_ids[np.arange(n), n_state] == SEP).all()
        assert (input_ids[np.arange(n), lengths - 1] == EOS).all()
        certain = np.tile(np.array([1.0, 0.0, 0.0], dtype=np.float32), (n, 1))
        return Predictions(np.tile(self.policy, (n, 1)), certain, np.full(n, 10.0, dtype=np.float32))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two shards of games, each with one for validation."""
    folder = tmp_path_factory.mktemp("data")
    config = SelfPlayConfig(("rule",) * 3)
    for number in range(2):
        first, n = number * N_GAMES // 2, N_GAMES // 2
        shard = play(config, first, n, TENHOU.with_length("east"))
        shard.games["id"] = np.arange(first, first + n) * VALIDATION_ONE_IN * N_VALIDATION // N_GAMES
        save(shard, folder, number)
    return folder


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game of rule bots, as mjai."""
    path = tmp_path_factory.mktemp("records") / "game.mjson"
    write_record(small_games.play(0, ("rule",) * 3).record, path)
    return path


def test_the_same_random_samples_are_chosen_every_time(data: Path) -> None:
    validation = Dataset(data, validation=True)
    assert choose_samples(validation, 10**9).tolist() == validation.indices.tolist()
    some = choose_samples(validation, 100)
    assert len(np.unique(some)) == 100
    assert set(some) < set(validation.indices.tolist())
    assert some.tolist() == choose_samples(validation, 100).tolist()


def test_metrics_of_validation_games(data: Path) -> None:
    validation, done = Dataset(data, validation=True), []
    indices = choose_samples(validation, 10**9)
    result = evaluate_validation(ConstantPredictor(NONE_LABEL), validation, indices, done.append)
    true = validation.batch(indices)
    assert result.games == N_VALIDATION
    assert sum(done) == result.policy.samples == len(indices)
    (none,) = (each for each in result.policy.labels if each.label == "none")
    assert (none.played, none.recall) == ((true.label == NONE_LABEL).sum(), 1.0)
    assert none.predicted == true.legal[:, NONE_LABEL].sum() > none.played
    first = (true.placement == 0).mean()
    assert [(each.index, each.n) for each in result.placement.ranks[0].bins] == [(9, len(indices))]
    assert result.placement.ranks[0].error == pytest.approx(1 - first, abs=1e-6)
    assert result.placement.log_loss == pytest.approx(-(1 - first) * math.log(np.finfo(np.float32).tiny), rel=1e-6)
    assert result.points.error == pytest.approx(np.sqrt(np.square(true.points - 10.0).mean()), rel=1e-5)
    assert result.points.base_error == pytest.approx(true.points.std(), rel=1e-5)
    assert result.regret is None  # the data has no action values


def test_mean_regret_is_of_samples_with_several_known_labels() -> None:
    known = np.full((4, N_LABELS), np.inf, dtype=np.float32)
    known[0, :2] = 0.0, 0.02
    known[1, :3] = 0.04, 0.0, 0.01
    known[2, 5] = 0.0  # one known label
    known[3, :2] = 0.0, 0.1
    assert mean_regret(known, np.array([1, 0, 7, 0])) == pytest.approx(0.06 / 3)
    assert mean_regret(known, np.array([0, 1, 5, 9])) == pytest.approx(UNKNOWN_REGRET / 3)
    assert mean_regret(known[2:3], np.array([5])) is None


def test_recorded_decisions_have_several_legal_labels(record: Path) -> None:
    result = read_decisions(read_records(record))
    assert result.departures == 0
    assert len(result.label) > 100
    assert result.legal.sum(axis=1).min() > 1
    assert result.legal[np.arange(len(result.label)), result.label].all()


def test_recorded_players_are_compared_with_network_and_rule_bot(record: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mjson"
    broken.write_text(record.read_text()[:3000])
    done, warnings = [], []
    result = evaluate_records(ConstantPredictor(NONE_LABEL), [broken, record], lambda: done.append(1), warnings.append)
    assert (result.games, result.damaged, result.departures, len(done)) == (1, 1, 0, 2)
    assert len(warnings) == 1
    assert warnings[0].startswith("broken.mjson: ")
    assert result.baseline.accuracy == 1.0  # rule bots played
    none = {each.label: each for each in result.network.labels}["none"]
    assert none.recall == 1.0
    [level] = result.levels
    assert (level.dan, level.samples, level.network) == (UNKNOWN_LEVEL, result.network.samples, result.network.accuracy)
    assert level.baseline == 1.0
    assert sum(each.n for each in result.confidence.bins) == result.network.samples
    right = sum(each.n * each.actual for each in result.confidence.bins)
    assert right == pytest.approx(result.network.samples * result.network.accuracy)
    odds = math.exp(5.0)  # of the label that the predictor prefers, where it is legal, against another
    assert max(each.predicted for each in result.confidence.bins) == pytest.approx(odds / (odds + 1), abs=1e-3)
    assert result.network.accuracy < 0.9


def test_a_decision_has_the_dan_of_its_player(record: Path, tmp_path: Path) -> None:
    start, *rest = record.read_text().splitlines()
    named = tmp_path / "named.mjson"
    named.write_text(
        "\n".join([json.dumps(json.loads(start) | {"tenhou": {"dan": ["七段", "八段", "九段", "新人"]}}), *rest])
    )
    result = read_decisions(read_records(named))
    assert (result.dan == np.array(["七段", "八段", "九段"])[result.views["viewer"]]).all()


def test_departures_from_the_rules_are_counted(record: Path, tmp_path: Path) -> None:
    lines = record.read_text().splitlines()
    number = next(number for number, line in enumerate(lines) if '"end_kyoku"' in line) - 1
    result = json.loads(lines[number])
    result["deltas"] = [1, 2, 3]
    changed = tmp_path / "changed.mjson"
    changed.write_text("\n".join([*lines[:number], json.dumps(result), *lines[number + 1 :]]))
    assert read_decisions(read_records(changed)).departures == 1


# The command --------------------------------------------------------------------------------------------------------


def test_the_command_prints_and_writes_all_metrics(
    network: Path, data: Path, record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "metrics.json"
    arguments = [str(network), "--data", str(data), "--records", str(record), "--samples", "300", "--json", str(file)]
    assert main(["evaluate", *arguments]) == 0
    out = capsys.readouterr().out
    metrics = json.loads(file.read_text())
    assert f"300 samples of {N_VALIDATION} games" in out
    assert f"accuracy {100 * metrics['validation']['policy']['accuracy']:.1f} %" in out
    assert f"loss {metrics['validation']['loss']:.4f}" in out
    assert f"log loss {metrics['validation']['placement']['log_loss']:.4f}" in out
    assert f"root mean square error {metrics['validation']['points']['error']:.2f}" in out
    assert "rule bot  100.0 %" in out
    assert "wahaha    79.7 %" in out
    assert "has seen none" in out
    for each in metrics["validation"]["policy"]["labels"]:
        assert each["label"] in LABEL_NAMES
        assert each["label"] in out
    assert metrics["records"]["network"]["samples"] == metrics["records"]["baseline"]["samples"]
    assert metrics["wahaha"]["accuracy"] == 0.7973
    assert out.endswith(f"wrote {file}; next:\n  python -m arena --games 300 --bots bert:{network},rule,random\n")


def test_parts_that_are_not_asked_for_are_null(network: Path, record: Path, tmp_path: Path) -> None:
    file = tmp_path / "metrics.json"
    assert main(["evaluate", str(network), "--records", str(record.parent), "--json", str(file)]) == 0
    metrics = json.loads(file.read_text())
    assert metrics["validation"] is None
    assert metrics["records"]["games"] == 1
