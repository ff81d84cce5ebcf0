"""Small runs of reinforcement learning, for tests."""

from __future__ import annotations

from threading import Event

from agents.rl.families import features_named
from agents.rl.policy import Weights, random_weights
from agents.rl.rollouts import Actor, Experience
from agents.rl.settings import Games, Hyperparameters, Settings

GAMES = Games("residual", handicaps=((35_000, 35_000, 35_000), (25_000, 35_000, 45_000)))
SMALL = Settings(GAMES, Hyperparameters(batch_size=256), jobs=2, tables=8, width=16, hidden=8, walls=1)


def weights_of(family: str = "residual", seed: int = 1) -> Weights:
    """Small random weights."""
    return random_weights(features_named(family), 16, 8, seed)


def played(rounds: int = 1, seed: int = 3, games: Games = GAMES) -> Experience:
    """The experience of the last of some rounds."""
    actor = Actor(games, 16, seed)
    for _ in range(rounds):
        experience = actor.play(weights_of(games.bot), [], Event())
    return experience
