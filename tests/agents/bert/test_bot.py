"""The BERT bot plays its network's most probable legal label, and annotates its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.base import ActionValues, Agent, Probabilities
from agents.bert.bot import CLOSE, Bert, Options
from agents.bert.checkpoint import REGRET_UNIT
from agents.bert.encoding import Encoded, encode
from agents.bert.gumbel import gumbel_noise
from agents.bert.inference import Predictions, load, softmax
from agents.bert.labels import LABEL_NAMES, N_LABELS, labels_of, legal_table
from agents.bert.symmetries import LABEL_MAPS, SUITS_SWAPPED, variant_of
from agents.external.adapters import AgentBot
from agents.registry import make
from engine.game import Game
from engine.mjai.actions import action_message
from engine.mjai.bot_messages import parse_reply


class ConstantPredictor:
    """A predictor whose outputs do not depend on the input; `batch_sizes` are those of its calls."""

    def __init__(self, policy: np.ndarray) -> None:
        self.policy = policy.astype(np.float32)
        self.batch_sizes: list[int] = []

    def __call__(self, input_ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> Predictions:
        n = len(input_ids)
        self.batch_sizes.append(n)
        placement = np.tile(np.array([0.5, 0.3, 0.2], dtype=np.float32), (n, 1))
        return Predictions(np.tile(self.policy, (n, 1)), placement, np.full(n, 12.34567, dtype=np.float32))


def constant_bot(policy: np.ndarray, seed: int = 0, **options: Any) -> tuple[Bert, ConstantPredictor]:
    predictor = ConstantPredictor(policy)
    return Bert(predictor, "bert", Options(**options), seed), predictor  # type: ignore[arg-type]


def spec(network: Path, options: str = "") -> str:
    return f"bert:{network}{options}"


RANDOM_POLICY = np.random.default_rng(5).normal(0, 3, N_LABELS)
RANDOM_POLICIES = RANDOM_POLICY[None], RANDOM_POLICY[None]  # of the view, and with the suits swapped


def mean_policy(first: np.ndarray, swapped: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """float[n, N_LABELS]: the augmented logits, from those of views and of the views with suits swapped."""
    own = np.where(legal, first, -np.inf)
    back = np.where(legal, swapped[:, LABEL_MAPS[SUITS_SWAPPED]], -np.inf)
    return np.where(close(own)[:, None], (own + back) / 2, own)


def close(logits: np.ndarray) -> np.ndarray:
    """bool[n]: the second most probable label is at least CLOSE times as probable as the first."""
    probabilities = np.sort(softmax(logits), axis=1)
    return probabilities[:, -2] >= CLOSE * probabilities[:, -1]


def policy_of(network: Path, views: np.ndarray) -> np.ndarray:
    """The same for a network."""
    predictor, encoded = load(network), encode(views)
    swapped = variant_of(encoded, SUITS_SWAPPED)
    first, second = (predictor(each.input_ids, each.lengths, each.n_state).policy for each in (encoded, swapped))
    return mean_policy(first, second, legal_table(views))


# Choosing an action ---------------------------------------------------------------------------------------------------


def test_action_values_are_scaled_log_probabilities(network: Path, views: np.ndarray) -> None:
    """softmax(values / REGRET_UNIT) is the policy: the inverse of what training does with a teacher's values."""
    bert = make(spec(network))
    assert isinstance(bert, ActionValues)
    values, legal = bert.action_values(views), legal_table(views)
    assert np.array_equal(np.isfinite(values).sum(axis=1), legal.sum(axis=1))
    n = len(views)
    assert (values[np.arange(n), bert.act(views)] >= values.max(axis=1)).all()
    policy = policy_of(network, views)
    for i in np.flatnonzero(legal.sum(axis=1) > 1)[:200]:
        labels = np.flatnonzero(legal[i])
        actions = np.flatnonzero(np.isfinite(values[i]))
        action_of = dict(zip(labels_of(views[[i] * len(actions)], actions).tolist(), actions, strict=True))
        probabilities = softmax(np.array([values[i, action_of[label]] for label in labels]) / REGRET_UNIT)
        assert np.allclose(probabilities, softmax(policy[i, labels]), atol=1e-4)


@pytest.mark.parametrize(("options", "temperature"), [("", 1.0), ("?temperature=0", 1.0), ("?temperature=2", 2.0)])
def test_probabilities_are_those_that_are_played(network: Path, options: str, temperature: float) -> None:
    agent = make(spec(network, options))
    assert isinstance(agent, Probabilities)
    assert agent.value_temperature == REGRET_UNIT * temperature


@pytest.mark.parametrize("temperature", [0.0, 1.0, 1e300])
def test_no_illegal_label_is_ever_played(views: np.ndarray, temperature: float) -> None:
    legal = legal_table(views)
    for label in range(N_LABELS):
        policy = np.where(np.arange(N_LABELS) == label, 1e30, 0)
        agent, _ = constant_bot(policy, temperature=temperature)
        labels = labels_of(views, agent.act(views))
        assert legal[np.arange(len(views)), labels].all()
        if temperature <= 1:
            assert (labels == label)[legal[:, label]].all()


def test_the_network_is_run_only_where_there_is_a_choice(views: np.ndarray) -> None:
    agent, predictor = constant_bot(1e6 * RANDOM_POLICY)
    choices = legal_table(views).sum(axis=1)
    assert {1, 2} <= set(choices.tolist())
    agent.act(views)
    assert predictor.batch_sizes == [(choices > 1).sum()]
    agent.act(views[choices == 1])
    assert predictor.batch_sizes == [(choices > 1).sum()]
    assert len(agent.act(views[:0])) == 0


def test_unsure_predictions_are_averaged_with_those_of_swapped_suits(views: np.ndarray) -> None:
    calls: list[Encoded] = []

    class Recorder(ConstantPredictor):
        def __call__(self, input_ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> Predictions:
            calls.append(Encoded(input_ids, n_state, lengths))
            return super().__call__(input_ids, lengths, n_state)

    views = views[legal_table(views).sum(axis=1) > 1]
    legal = legal_table(views)
    Bert(Recorder(RANDOM_POLICY), "bert", Options(), seed=0).act(views)  # type: ignore[arg-type]
    rows = close(np.where(legal, RANDOM_POLICY, -np.inf))
    assert 0 < rows.sum() < len(views)
    swapped = variant_of(encode(views[rows]), SUITS_SWAPPED)
    assert len(calls) == 2
    assert all((found == wanted).all() for found, wanted in zip(calls[1], swapped, strict=True))
    assert not (calls[1].input_ids == calls[0].input_ids[rows]).all(axis=1).any()


# Temperature ----------------------------------------------------------------------------------------------------------


def frequencies(view: np.ndarray, temperature: float, n: int = 4000) -> np.ndarray:
    """How often each label is played over many seeds."""
    labels = []
    for seed in range(n):
        agent, _ = constant_bot(RANDOM_POLICY, seed, temperature=temperature)
        labels.append(int(labels_of(view, agent.act(view))[0]))
    return np.bincount(labels, minlength=N_LABELS) / n


@pytest.fixture(scope="module")
def wide_choice(views: np.ndarray) -> np.ndarray:
    """TABLE[1]: the view with the most legal labels."""
    most = int(legal_table(views).sum(axis=1).argmax())
    return views[most : most + 1]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_labels_are_sampled_with_their_probabilities(wide_choice: np.ndarray, temperature: float) -> None:
    legal = legal_table(wide_choice)[0]
    assert legal.sum() >= 12
    expected = softmax(mean_policy(*RANDOM_POLICIES, legal[None])[0] / temperature)
    found = frequencies(wide_choice, temperature)
    tolerance = 5 * np.sqrt(expected * (1 - expected) / 4000) + 1e-9
    assert (np.abs(found - expected) <= tolerance).all()


def test_low_temperatures_are_greedy(wide_choice: np.ndarray) -> None:
    best = mean_policy(*RANDOM_POLICIES, legal_table(wide_choice))[0].argmax()
    for temperature in (0.0, 1e-9, 1e-300):
        assert frequencies(wide_choice, temperature, n=50)[best] == 1


def test_noise_depends_on_view_and_seed_only(views: np.ndarray) -> None:
    noise = gumbel_noise(views, seed=1)
    assert (gumbel_noise(views[::-1], seed=1)[::-1] == noise).all()
    assert (gumbel_noise(views, seed=(1 << 64) - 1) != noise).all()
    assert np.isfinite(noise).all()
    assert len(np.unique(noise)) > 0.9 * noise.size
    assert abs(noise.mean() - np.euler_gamma) < 0.05
    assert abs(noise.var() - np.pi**2 / 6) < 0.1


# Annotations ----------------------------------------------------------------------------------------------------------


def replies(agent: Agent, seed: int = 5) -> list[dict[str, Any]]:
    """Its mjai replies as seat 0 of a game."""
    players = [AgentBot(agent), *(AgentBot(make("efficiency")) for _ in range(2))]
    game, sent = Game(seed), []
    while not game.over:
        for seat in game.asked:
            legal = game.legal(seat)
            reply = players[seat].react(game.new_messages(seat))
            if seat == 0:
                sent.append(reply)
                reply = {key: value for key, value in reply.items() if key != "ext_bot"}
            game.act(seat, next(action for action in legal if action_message(game.table, seat, action) == reply))
    return sent


def test_replies_carry_annotations(network: Path) -> None:
    bots = make(spec(network)), make(spec(network, "?top=3"))
    plain, annotating = ([*replies(bot), *replies(bot, seed=3)] for bot in bots)
    assert not any("ext_bot" in reply for reply in plain)
    assert plain == [{key: value for key, value in reply.items() if key != "ext_bot"} for reply in annotating]
    annotated = [reply for reply in annotating if "ext_bot" in reply]
    assert len(annotated) > 100
    for reply in annotated:
        annotation = reply["ext_bot"]
        candidates = annotation["candidate"]
        assert 2 <= len(candidates) <= 3
        assert candidates[0] == {"token": annotation["token"], "prob": annotation["prob"]}
        shares = [candidate["prob"] for candidate in candidates]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1.001
        assert sum(annotation["placement"]) == pytest.approx(1, abs=0.001)
        assert isinstance(annotation["points"], float)
        named = reply["type"] if reply["type"] != "dahai" else f"dahai {reply['pai']}"
        assert annotation["token"] == named


def test_the_content_of_an_annotation(views: np.ndarray) -> None:
    agent, predictor = constant_bot(RANDOM_POLICY, top=N_LABELS)
    open_rows = np.flatnonzero(legal_table(views).sum(axis=1) > 1)
    for row in open_rows[::10]:
        (label,) = labels_of(views[row : row + 1], agent.act(views[: row + 1])[-1:])
        legal = legal_table(views[row : row + 1])
        shares = softmax(mean_policy(*RANDOM_POLICIES, legal)[0])
        expected = sorted(np.flatnonzero(legal).tolist(), key=lambda each: -shares[each])
        n_calls = len(predictor.batch_sizes)
        annotation = agent.annotate()
        assert len(predictor.batch_sizes) == n_calls, "annotate does not run the network"
        assert [each["token"] for each in annotation["candidate"]] == [LABEL_NAMES[each] for each in expected]
        assert [each["prob"] for each in annotation["candidate"]] == pytest.approx(shares[expected], abs=1e-4)
        assert annotation["token"] == LABEL_NAMES[label]
        assert (annotation["placement"], annotation["points"]) == ([0.5, 0.3, 0.2], 12.3457)
        assert parse_reply(json.dumps({"type": "none", "ext_bot": annotation}))["ext_bot"] == annotation


def test_forced_answers_are_not_annotated(views: np.ndarray) -> None:
    choices = legal_table(views).sum(axis=1)
    lone, wide = (views[rows[0] : rows[0] + 1] for rows in map(np.flatnonzero, (choices == 1, choices > 1)))
    agent, _ = constant_bot(RANDOM_POLICY, top=1)
    assert agent.annotate() == {}
    agent.act(wide)
    assert agent.annotate() != {}
    agent.act(np.concatenate([wide, lone]))
    assert agent.annotate() == {}
    agent.act(wide)
    agent.act(lone)
    assert agent.annotate() == {}


def test_the_sampled_label_is_annotated_even_if_others_are_more_probable(wide_choice: np.ndarray) -> None:
    tokens = set()
    for seed in range(30):
        agent, _ = constant_bot(RANDOM_POLICY, seed, temperature=5.0, top=1)
        (label,) = labels_of(wide_choice, agent.act(wide_choice))
        annotation = agent.annotate()
        assert annotation["token"] == LABEL_NAMES[label]
        assert annotation["prob"] <= annotation["candidate"][0]["prob"]
        tokens.add(annotation["token"])
    assert len(tokens) > 5
