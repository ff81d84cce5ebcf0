"""Acting: the experience that actors collect."""

from __future__ import annotations

import pickle
from threading import Event

import numpy as np
import pytest

pytest.importorskip("torch")

from agents.rl.families import FAMILIES
from agents.rl.oracle import OPPONENT, ORACLE
from agents.rl.rollouts import Actor, StoppedError
from agents.rl.settings import Games
from agents.rl.suits import by_kind
from agents.selfplay.layout import STATE
from engine.tiles import N_SANMA
from tests.support.small_rl import GAMES, played, weights_of


@pytest.mark.parametrize("family", FAMILIES)
def test_experience_depends_on_the_seed_alone(family: str) -> None:
    games = Games(family)
    first, again, other = played(2, 3, games), played(2, 3, games), played(2, 4, games)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert len(first.seat) != len(other.seat) or not np.array_equal(first.chosen, other.chosen)


def test_an_actor_goes_on_from_its_state_and_from_a_pickle() -> None:
    actor = Actor(GAMES, 8, 5)
    actor.play(weights_of(), [], Event())
    copies = [Actor(GAMES, 8, 6), pickle.loads(pickle.dumps(actor))]
    copies[0].load_state(actor.state())
    expected = actor.play(weights_of(), [], Event())
    for copy in copies:
        assert all(np.array_equal(a, b) for a, b in zip(expected, copy.play(weights_of(), [], Event()), strict=True))
    with pytest.raises(ValueError, match=r"has 8 tables of \d+ bytes, not 9 of"):
        Actor(GAMES, 9, 6).load_state(actor.state())


def test_each_thread_has_opponents_of_its_own() -> None:
    """A bot may have a state that two threads must not change at once."""
    actors = [Actor(Games("residual", ("search:n=4",)), 2, seed) for seed in range(2)]
    for actor in actors:
        actor.play(weights_of(), [], Event())
    bots = [actor._opponents[0].__self__ for actor in actors if actor._opponents]  # type: ignore[union-attr]
    assert len(bots) == 2
    assert bots[0] is not bots[1]


def test_former_selves_are_among_the_opponents() -> None:
    actor, former = Actor(Games("selfplay", ("random",), against=1.0), 60, 5), weights_of("selfplay", 2)
    for _ in range(12):  # in which most of the games have ended, and others begun
        experience = actor.play(weights_of("selfplay"), [former], Event())
    players = actor.state()["players"].numpy()
    shares = np.bincount(players.ravel(), minlength=3) / players.size
    assert shares == pytest.approx([0.5, 0.25, 0.25], abs=0.1)
    assert (players[experience.table, experience.seat][~experience.over[experience.table]] == 0).all()


def test_acting_can_be_stopped() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(StoppedError):
        Actor(GAMES, 4, 5).play(weights_of(), [], stop)


@pytest.mark.slow
def test_seats_games_and_results_are_as_asked() -> None:
    actor, over, learning = Actor(GAMES, 200, 5), 0, []
    for _ in range(12):
        experience = actor.play(weights_of(), [], Event())
        points = experience.before[:, 0, :3].sum(axis=1) * 20_000 + experience.before[:, 0, 16] * 3_000  # and sticks
        assert points == pytest.approx(0, abs=1)
        over += experience.over.sum()
        ranks = experience.ranks[experience.over]
        assert np.array_equal(np.sort(ranks, axis=1), np.tile([1, 2, 3], (len(ranks), 1)))
        assert not experience.ranks[~experience.over].any()
        learning += [len(set(experience.seat[experience.table == table].tolist())) for table in range(200)]
        assert (experience.chosen < experience.counts).all()
        assert (experience.log_probability <= 0).all()
        assert experience.counts.sum() == len(experience.prior_logits) == len(experience.actions)
    assert over > 150
    shares = np.bincount(learning, minlength=4)[1:] / len(learning)
    assert shares == pytest.approx([0.25, 0.25, 0.5], abs=0.06)


def test_the_critic_sees_the_hidden_hands() -> None:
    """The tiles that the oracle tells of the next seat are those that this seat's own features say it holds."""
    experience = played(1, 3, Games("selfplay", against=0.0))
    own = experience.states[:, STATE.held : STATE.held + N_SANMA]  # its tiles of each kind, halved
    at = ORACLE.opponents + OPPONENT.held
    told = experience.oracle[:, at : at + N_SANMA]
    swapped = told.copy()
    for pin, sou in by_kind(0):
        swapped[:, [pin, sou]] = told[:, [sou, pin]]
    compared = 0
    for i in range(len(own) - 1):
        j = (
            i
            + 1
            + np.flatnonzero(
                (experience.table[i + 1 :] == experience.table[i])
                & (experience.seat[i + 1 :] == (experience.seat[i] + 1) % 3)
            )
        )
        if len(j):  # the next seat acts later: by then it has drawn and discarded few tiles
            assert min(abs(own[j[0]] - each[i]).sum() for each in (told, swapped)) <= 3
            compared += 1
    assert compared > 100
