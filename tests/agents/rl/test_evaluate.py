"""What the learner makes of an experience: values, and advantages that come to how the round ended for each seat."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from agents.rl import learning
from agents.rl.acting import Experience
from agents.rl.learning import Learner
from agents.rl.oracle import N_ORACLE
from agents.rl.settings import Hyperparameters
from agents.rl.situation import N_SITUATION
from tests.support.small_rl import weights_of

GOES_ON = 1  # the table whose game is not over
OVER = np.array([True, False, True])
RANKS = np.array([[2, 1, 3], [0, 0, 0], [1, 3, 2]], dtype=np.float32)
PLACED = {(0, 0): 0, (0, 1): 1, (0, 2): -1, (2, 0): 1, (2, 1): -1, (2, 2): 0}  # table and seat -> 2 - rank
pytestmark = pytest.mark.usefixtures("one_thread")


def experience(table: np.ndarray, seat: np.ndarray) -> Experience:
    """The choices of these seats at these of three tables, in order; features are random."""
    rng, weights, n = np.random.default_rng(2), weights_of(), len(seat)

    def random(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(np.float32)

    return Experience(
        states=random(n, weights["state"].shape[0]),
        oracle=random(n, N_ORACLE),
        actions=random(2 * n, weights["action"].shape[0]),
        prior_logits=random(2 * n),
        counts=np.full(n, 2, dtype=np.int64),
        chosen=rng.integers(2, size=n),
        log_probability=np.full(n, np.log(0.5), dtype=np.float32),
        table=table,
        seat=seat,
        before=random(3, 3, N_SITUATION),
        after=random(3, 3, N_SITUATION),
        over=OVER,
        ranks=RANKS,
    )


def four_choices_of_each_seat() -> Experience:
    """Four choices of each seat at three tables, in a random order."""
    of = np.random.default_rng(1).permutation(np.repeat(np.arange(9), 4))
    return experience(of // 3, of % 3)


def learner_of(gae_lambda: float) -> Learner:
    """A learner that has values of all kinds: those of fresh networks are the same everywhere."""
    learner, rng = Learner(weights_of(), Hyperparameters(gae_lambda=gae_lambda)), np.random.default_rng(3)

    def change(network: nn.Module, scale: float) -> None:
        with torch.no_grad():
            for each in network.parameters():
                each.add_(torch.from_numpy(scale * rng.standard_normal(tuple(each.shape))).float())

    change(learner.critic, 0.1)
    change(learner.situation, 0.3)
    return learner


def situation_values(learner: Learner, situations: np.ndarray) -> np.ndarray:
    """The values of situations float32[3, 3, N_SITUATION], which are not all alike: float32[3, 3]."""
    with torch.no_grad():
        values = learner.situation(torch.from_numpy(situations)).numpy()
    assert values.std() > 0.1
    return values


def test_in_a_game_that_is_over_each_choice_leads_to_the_rank_of_its_seat() -> None:
    part = four_choices_of_each_seat()
    choices = learner_of(gae_lambda=1.0).evaluate(part)
    ends = (choices.value + choices.advantage).numpy()
    for (table, seat), placed in PLACED.items():
        mine = (part.table == table) & (part.seat == seat)
        assert mine.sum() == 4
        assert ends[mine] == pytest.approx(placed, abs=1e-3)


def test_in_a_game_that_goes_on_each_choice_leads_to_the_next_situation_of_its_seat() -> None:
    part, learner = four_choices_of_each_seat(), learner_of(gae_lambda=1.0)
    choices = learner.evaluate(part)
    ends, after = (choices.value + choices.advantage).numpy(), situation_values(learner, part.after)
    for seat in range(3):
        mine = (part.table == GOES_ON) & (part.seat == seat)
        assert mine.sum() == 4
        assert ends[mine] == pytest.approx(float(after[GOES_ON, seat]), abs=1e-3)


def test_a_choice_starts_from_the_situation_of_its_seat_before_the_round() -> None:
    part, learner = four_choices_of_each_seat(), learner_of(gae_lambda=0.6)
    before, start = situation_values(learner, part.before), learner.evaluate(part).start.numpy()
    for i, (table, seat) in enumerate(zip(part.table.tolist(), part.seat.tolist())):
        assert start[i] == pytest.approx(float(before[table, seat]), abs=1e-5)


def test_a_value_is_that_of_the_situation_and_the_change_that_the_critic_expects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learning, "CRITIC_BATCH", 16)  # of 36 choices
    part, learner = four_choices_of_each_seat(), learner_of(gae_lambda=0.6)
    choices = learner.evaluate(part)
    with torch.no_grad():
        changes = learner.critic(torch.from_numpy(part.states), torch.from_numpy(part.oracle)).numpy()
    assert changes.std() > 0.1
    np.testing.assert_allclose((choices.value - choices.start).numpy(), changes, rtol=0, atol=1e-4)


def test_advantages_are_those_computed_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seats 1 and 2 of a game that is over, in ranks 1 and 3, and seat 0 of one that goes on; lambda is 0.5."""
    part = experience(np.array([0, 1, 0, 0, 1, 0, 0]), np.array([1, 0, 2, 1, 0, 2, 1]))
    part.before[0, 1, 0], part.before[0, 2, 0], part.before[1, 0, 0] = 0.2, -0.5, 0.1
    part.after[1, 0, 0] = -0.4
    part.oracle[:, 0] = [0.1, 0.2, 0.5, -0.3, 0.0, -0.25, 0.4]
    learner = Learner(weights_of(), Hyperparameters(gae_lambda=0.5))
    monkeypatch.setattr(learner, "situation", lambda situations: situations[..., 0])
    monkeypatch.setattr(learner, "critic", lambda states, oracle: oracle[:, 0])
    choices = learner.evaluate(part)
    assert choices.start.numpy() == pytest.approx([0.2, 0.1, -0.5, 0.2, 0.1, -0.5, 0.2], abs=1e-5)
    assert choices.value.numpy() == pytest.approx([0.3, 0.3, 0.0, -0.1, 0.1, -0.75, 0.6], abs=1e-5)
    # The values of seat 1 go 0.3, -0.1, 0.6 and end in 1: they rise by -0.4, 0.7 and 0.4, so that the advantages are
    # 0.4, then 0.7 + 0.4 / 2 = 0.9, then -0.4 + 0.9 / 2 = 0.05. Those of seat 2 go 0, -0.75 and end in -1; those of
    # seat 0 at the other table go 0.3, 0.1 and end in -0.4.
    assert choices.advantage.numpy() == pytest.approx([0.05, -0.45, -0.875, 0.9, -0.5, -0.25, 0.4], abs=1e-5)
