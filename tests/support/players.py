"""Players that see only a hand and a menu, for any engine; their games have many rare events."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.actions import (
    ANKAN,
    DAIMINKAN,
    KYUSHU_KYUHAI,
    N_ACTIONS,
    NUKIDORA,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
)
from engine.game import Game
from engine.shanten import shanten_batch
from engine.tiles import KIND_OF, TERMINALS_HONOURS

# hand by kind, number of melds, tile37 just drawn (or -1), menu -> action
Chooser = Callable[[Sequence[int], int, int, Sequence[int]], int]


@dataclass(frozen=True)
class Habits:
    """How often (0-1) an efficient player does what it may; `noise` is how often it discards a random tile."""

    win: float = 1.0
    riichi: float = 0.9
    nukidora: float = 1.0
    pon: float = 0.0
    kan: float = 0.1
    abort: float = 0.1
    noise: float = 0.02
    first: str = ""  # discards terminals and honours first ("outer", for nagashi), or the others ("inner", for kokushi)

    def of(self, action: int) -> float:
        """How often this player takes an action that is no discard."""
        if action in (TSUMO, RON):
            return self.win
        if action in (PON, PON_RED):
            return self.pon
        if action == DAIMINKAN or ANKAN <= action < N_ACTIONS:
            return self.kan
        return {RIICHI: self.riichi, NUKIDORA: self.nukidora, KYUSHU_KYUHAI: self.abort}[action]


# From the ordinary to the odd: each brings out other rules.
ALL_HABITS = (
    Habits(),
    Habits(pon=0.3),
    Habits(kan=1.0),
    Habits(kan=1.0, pon=1.0, riichi=0.5),
    Habits(win=0.5, riichi=0.5),
    Habits(win=0.3, pon=0.5, kan=0.5, nukidora=0.3),
    Habits(nukidora=0.5, noise=0.2),
    Habits(abort=1.0, riichi=0.2),
    Habits(first="outer"),
    Habits(first="inner", nukidora=0.2, pon=0.7, kan=0.5, win=0.8, abort=0.0),
)


def random_driver(rng: random.Random) -> Chooser:
    """Anything on the menu, each as often."""
    return lambda hand, n_melds, drawn, menu: rng.choice(menu)


def efficient_driver(rng: random.Random, habits: Habits) -> Chooser:
    """Goes for the lowest shanten, and otherwise by its habits."""

    def choose(hand: Sequence[int], n_melds: int, drawn: int, menu: Sequence[int]) -> int:
        for action in sorted(menu, key=lambda action: (action not in (TSUMO, RON), -action)):
            if action > TSUMOGIRI and action != PASS and rng.random() < habits.of(action):
                return action
        if PASS in menu:
            return PASS
        discards = [action for action in menu if action <= TSUMOGIRI]
        if rng.random() < habits.noise:
            return rng.choice(discards)
        kinds = KIND_OF[[drawn if action == TSUMOGIRI else action for action in discards]]
        good = np.isin(kinds, TERMINALS_HONOURS, invert=habits.first == "inner") & (habits.first != "")
        good = good if good.any() else lowest_shanten(hand, n_melds, kinds)
        return rng.choice(np.asarray(discards)[good].tolist())

    return choose


def lowest_shanten(hand: Sequence[int], n_melds: int, kinds: np.ndarray) -> np.ndarray:
    """Which of the discards `kinds` leave the hand with the lowest shanten: bool, as long as `kinds`."""
    hands = np.tile(np.asarray(hand, dtype=np.int8), (len(kinds), 1))
    hands[np.arange(len(kinds)), kinds] -= 1
    after = shanten_batch(hands, np.full(len(kinds), n_melds, dtype=np.int8))
    return after == after.min()


def answer(game: Game, choose: Chooser) -> None:
    """Every seat that is asked answers once, chosen by `choose`."""
    for seat in game.asked:
        hand = game.table.seat[seat]
        game.act(seat, choose(hand.hand, int(hand.n_melds), int(game.table.drawn), game.legal(seat)))


def play(game: Game, choose: Chooser, decisions: int = 1_000_000) -> Game:
    """Play to the end, or for `decisions` decisions."""
    while decisions > 0 and not game.over:
        answer(game, choose)
        decisions -= 1
    return game
