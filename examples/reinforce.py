"""REINFORCE in NumPy alone: a policy learns from games against itself, in half a minute on one core.

    python examples/reinforce.py

The policy is a softmax over seven features of each legal action. After the training it plays two `random` and two
`efficiency`.
"""

from __future__ import annotations

import time
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.actions import N_ACTIONS, NUKIDORA, PON, RIICHI, RON, TSUMO, TSUMOGIRI
from engine.tiles import KIND_OF, N_KINDS
from nukidora import Tables, make_bot

Views: TypeAlias = NDArray[np.void]  # TABLE[n]
Floats: TypeAlias = NDArray[np.float32]

GAMES, STEPS, RATE = 300, 20, 0.5
SUIT, NUMBER = np.divmod(np.arange(N_KINDS), 9)
DISTANCE = abs(np.subtract.outer(NUMBER, NUMBER))
NEAR = ((DISTANCE >= 1) & (DISTANCE <= 2) & np.equal.outer(SUIT, SUIT) & (SUIT < 3)).astype(np.float32)
TYPES = (RIICHI, TSUMO, RON, PON, NUKIDORA)
rng = np.random.default_rng(1)


def read(views: Views) -> tuple[Floats, NDArray[np.bool_]]:
    """Features float32[n, N_ACTIONS, 7] of the actions, and whether each is legal, bool[n, N_ACTIONS]."""
    own = np.arange(len(views)), views["viewer"]  # the seat that is asked, in each view
    words = np.ascontiguousarray(views["legal"][own])
    legal = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :N_ACTIONS] == 1
    hand = views["seat"]["hand"][own].astype(np.float32)
    of_kind = np.stack([hand, hand @ NEAR], axis=2)  # copies of a tile, and tiles that make a run with it
    x = np.zeros((len(views), N_ACTIONS, 2 + len(TYPES)), dtype=np.float32)
    x[:, :TSUMOGIRI, :2] = of_kind[:, KIND_OF]
    x[:, TSUMOGIRI, :2] = of_kind[own[0], KIND_OF[views["drawn"]]]
    x[:, TYPES, np.arange(2, 2 + len(TYPES))] = 1.0
    return x, legal


def choose(views: Views, weights: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Actions drawn from softmax(features @ weights), and the gradients of their log-probabilities."""
    x, legal = read(views)
    logits = np.where(legal, x @ weights, -np.inf)
    actions = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    mean = np.einsum("na,naf->nf", odds / odds.sum(axis=1, keepdims=True), x)
    return actions, x[np.arange(len(views)), actions] - mean


def self_play(weights: Floats) -> tuple[Floats, int, float]:
    """One step of REINFORCE: a seat's decisions in a round are rated by the points it gains in that round."""
    tables = Tables(rng.integers(2**63, size=GAMES))
    gradients = np.zeros((GAMES, 3, len(weights)), dtype=np.float32)
    total, rounds, won = np.zeros_like(weights), 0, 0

    def act(views: Views) -> NDArray[np.int64]:
        actions, gradient = choose(views, weights)
        n = len(views)
        np.add.at(gradients, (tables.asked_tables[:n], tables.asked_seats[:n]), gradient)
        return actions

    for ended in tables.play([act], np.zeros((GAMES, 3), dtype=np.int8)):
        seats = tables.records["seat"][ended]
        gains = (seats["score"] - seats["start_score"]).astype(np.float32)
        total += np.einsum("ts,tsf->f", gains, gradients[ended])
        gradients[ended] = 0.0
        rounds, won = rounds + len(ended), won + np.count_nonzero(tables.records["n_wins"][ended])
    return weights + RATE * total / np.linalg.norm(total), tables.decisions, won / rounds


def mean_placement(weights: Floats, opponent: str) -> float:
    """Of the learner against two of a bot; 2 is average."""
    tables = Tables(range(GAMES))
    players = np.tile(np.array([0, 1, 1], dtype=np.int8), (GAMES, 1))
    for _ in tables.play([lambda views: choose(views, weights)[0], make_bot(opponent).act], players):
        pass
    return float(np.mean([tables.rules.ranks(scores.tolist())[0] for scores in tables.records["seat"]["score"]]))


weights = np.zeros(2 + len(TYPES), dtype=np.float32)
for step in range(1, STEPS + 1):
    start = time.perf_counter()
    weights, decisions, won = self_play(weights)
    speed = decisions / (time.perf_counter() - start)
    print(f"step {step}: {speed:,.0f} decisions/s, {won:.0%} of the rounds end in a win", flush=True)
for opponent in ("random", "efficiency"):
    print(f"mean placement against two {opponent}: {mean_placement(weights, opponent):.2f}")
