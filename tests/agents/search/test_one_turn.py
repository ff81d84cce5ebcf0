"""The critic in worlds: it says what the networks of the run say, at the next choice or the end of the round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from agents.registry import make
from agents.residual.features import FEATURES
from agents.rl.critic import NAMES, CriticWeights, load_critic, save_critic
from agents.rl.oracle import N_ORACLE, ORACLE, write_oracle
from agents.rl.ppo import Learner
from agents.rl.rows import encode
from agents.rl.settings import Hyperparameters
from agents.rl.situation import situations_of
from agents.search.fit import positions
from agents.search.one_turn import OneTurn
from engine import kernels
from engine.actions import actions_of
from engine.rules import TENHOU
from engine.table import GAME_OVER, N_SEATS
from engine.tables import Tables
from tests.support.small_rl import weights_of
from tests.support.views import views_of_games


def learner() -> Learner:
    """Networks at random, whose outputs are not 0."""
    found = Learner(weights_of(), Hyperparameters(), seed=4)
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for layer in (found.critic.layers[-1], found.situation.layers[-1]):
            layer.weight.normal_(0, 0.2, generator=generator)
    return found


def slow_values(run: Learner, tables: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """What `OneTurn.values` returns for the viewers of whole tables, by the networks of the run and `Tables.play`."""
    n, seats = len(tables), tables["viewer"].astype(int)
    played, players = Tables.from_records(tables, TENHOU), np.ones((n, N_SEATS), dtype=np.int8)
    values, nobody = np.full(n, np.nan), np.zeros((n, N_SEATS), dtype=np.int8)
    every, dealt = np.arange(n), tables.copy()
    dealt["seat"]["score"] = tables["seat"]["start_score"]
    dealt["sticks"] = (105_000 - tables["seat"]["start_score"].sum(axis=1)) // 1000
    with torch.no_grad():
        start = run.situation(torch.from_numpy(situations_of(dealt, nobody))).numpy()[every, seats]
    first = np.ones(n, dtype=bool)

    def own(views: np.ndarray) -> np.ndarray:
        of = played.asked_tables[: len(views)]
        forced, rows = encode(FEATURES, views)
        chosen = of[rows.view][~first[of[rows.view]]]
        oracle = np.empty((len(chosen), N_ORACLE), dtype=np.float32)
        write_oracle(played.raw, nobody, chosen, seats[chosen].astype(np.int8), oracle)
        states = torch.from_numpy(rows.states[~first[of[rows.view]]])
        with torch.no_grad():
            values[chosen] = start[chosen] + run.critic(states, torch.from_numpy(oracle)).numpy()
        forced[rows.view] = rows.numbers[rows.first[:-1]]
        answers = np.where(first[of], actions[of], forced)
        first[of] = False
        players[chosen] = 2  # nobody plays on there
        return answers

    players[every, seats] = 0
    played.play_round([own, make("rule").act, None], players)  # type: ignore[list-item]
    kernels.next_rounds(played.raw)
    with torch.no_grad():
        after = run.situation(torch.from_numpy(situations_of(played.records, nobody))).numpy()
    for i in np.flatnonzero(np.isnan(values)).tolist():
        over = played.records["phase"][i] == GAME_OVER
        rank = TENHOU.ranks(played.records["seat"]["score"][i].tolist())[seats[i]]
        values[i] = 2 - rank if over else after[i, seats[i]]
    return values


@pytest.mark.slow
def test_values_are_those_of_the_networks(tmp_path: Path) -> None:
    """Also where the round or the game ends before; half precision changes them by less than 0.01."""
    tables = positions(("rule", "efficiency", "rule"), 40, 3)
    alone = np.array([sum(bool(menu.any()) for menu in table["legal"]) == 1 for table in tables])
    tables = tables[alone]  # where others decide too, the two ways let them decide in another order
    random = np.random.default_rng(1)
    actions = np.array([random.choice(actions_of(*t["legal"][t["viewer"]].tolist())) for t in tables])
    run = learner()
    save_critic(tmp_path / "critic.npz", run.critic_weights())
    critic = OneTurn(load_critic(tmp_path / "critic.npz", FEATURES.n_state))
    expected = slow_values(run, tables, actions)
    seats = tables["viewer"].astype(np.int8)
    found = critic.values(tables.copy(), seats, actions, critic.start_values(tables, seats))
    assert len(found) > 500
    assert found == pytest.approx(expected, abs=0.01)
    assert expected.std() > 0.05


def zeros() -> CriticWeights:
    """A critic that values everything alike, until the game is over."""
    return {name: np.zeros_like(array) for name, array in learner().critic_weights().items()}


def test_the_prior_counts_as_much_as_60_worlds(tmp_path: Path) -> None:
    """Worlds in which all candidates are alike leave 60 / (60 + worlds) of the gap of the prior."""
    save_critic(tmp_path / "critic.npz", zeros())
    views = views_of_games(2)
    short, prior = make(f"search:n=10&critic={tmp_path / 'critic.npz'}"), make("residual")
    found = []
    for view in views:
        values = short.action_values(np.array([view]))[0]  # type: ignore[attr-defined]
        tried = np.flatnonzero(np.isfinite(values))
        if short.annotate()["worlds"] == 10 and (tried < 48).all():  # type: ignore[attr-defined]
            priors = prior.action_values(np.array([view]))[0, tried]  # type: ignore[attr-defined]
            found.append((values[tried].min(), (priors - priors.max()).min()))
    gaps = np.array(found)
    assert len(gaps) > 20
    assert np.median(gaps[:, 0] / gaps[:, 1]) == pytest.approx(60 / 70, abs=0.001)


def test_an_action_that_is_not_legal_is_refused() -> None:
    tables = positions(("rule", "rule", "rule"), 1, 3)[:4]
    critic = OneTurn(zeros())
    with pytest.raises(ValueError, match=r"seat \d may not play action 127 in world 0"):
        critic.values(tables, tables["viewer"].astype(np.int8), np.full(4, 127), np.float32(0))


NOT_NUMBERS = {
    "critic.0.weight": np.full((720, 256), np.nan),
    "critic.1.bias": np.full(128, "a"),
    "situation.0.bias": np.full(64, 1e300),
    "situation.2.bias": np.full(1, np.inf),
}


def test_weights_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path, right = tmp_path / "critic.npz", zeros()
    save_critic(path, right)
    assert set(load_critic(path, FEATURES.n_state)) == set(NAMES)
    with pytest.raises(ValueError, match="layer 0 of 'critic' is missing or does not fit"):
        load_critic(path, FEATURES.n_state + 1)
    for name, array in NOT_NUMBERS.items():
        np.savez(path, **right | {name: array.reshape(right[name].shape)})
        with pytest.raises(ValueError, match=r"critic\.npz: .*(does not fit|not finite, or too large)"):
            load_critic(path, FEATURES.n_state)


def test_what_the_critic_has_not_seen_in_training_does_not_count() -> None:
    """With critic_sees=view, the weights of hidden tiles are what they were drawn as."""
    run = Learner(weights_of(), Hyperparameters(critic_sees="view"), seed=4)
    hidden = run.critic_weights()["critic.0.weight"][-N_ORACLE:][: ORACLE.line_up]
    assert not hidden.any()
    assert learner().critic_weights()["critic.0.weight"][-N_ORACLE:][: ORACLE.line_up].all()
    assert run.critic.layers[0].weight.detach().numpy()[:, -N_ORACLE:].all()
