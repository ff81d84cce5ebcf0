"""The workloads of the benchmark: the same work done by this engine and by riichienv or mahjong, the baselines.

A workload does a fixed piece of work and returns how many units (decisions, hands) that was.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.timing import Work
from engine import kernels
from engine.game import Game
from engine.scoring.batch import HAND, score_batch
from engine.scoring.yaku import BY_TSUMO, IN_RIICHI
from engine.shanten import shanten_batch
from engine.table import PON_MELD, WIN
from engine.tables import Tables
from engine.tiles import FULL_SET, HONOUR, KIND_5P, KIND_5S, KIND_OF, N_KINDS, SANMA_KINDS


def play_batch(n_tables: int = 512) -> int:
    """Random hanchan on ``n_tables`` tables in lock step, by a policy that is given views; returns decisions."""
    tables = Tables(range(n_tables))
    actions = np.zeros(2 * n_tables, dtype=np.int64)
    decisions = 0

    def policy(views: np.ndarray) -> np.ndarray:
        nonlocal decisions
        decisions += len(views)
        kernels.random_actions(views.view(np.uint8), len(views), np.uint64(1), actions)
        return actions[: len(views)]

    for _ in tables.play([policy], np.zeros((n_tables, 3), dtype=np.int8)):
        pass
    return decisions


def play_game() -> int:
    """One random hanchan, stepped from Python; returns decisions."""
    choose = random.Random(1).choice
    game, decisions = Game(1), 0
    while not game.over:
        for seat in game.asked:
            game.act(seat, choose(game.legal(seat)))
            decisions += 1
    return decisions


def riichienv_play_game() -> int:
    """One hanchan played by riichienv with its RandomAgent; returns decisions."""
    from riichienv import RiichiEnv
    from riichienv.agents import RandomAgent

    env, agent, decisions = RiichiEnv(game_mode="3p-red-half", seed=1), RandomAgent(1), 0
    observations = env.reset()
    while not env.done():
        decisions += len(observations)
        observations = env.step({seat: agent.act(seen) for seat, seen in observations.items()})
    return decisions


def random_hands(n: int) -> np.ndarray:
    """``n`` random 14-tile hands as counts by kind, int8[n, 34]."""
    rng = np.random.default_rng(1)
    hands = np.zeros((n, N_KINDS), dtype=np.int8)
    for hand in hands:
        np.add.at(hand, KIND_OF[rng.permutation(FULL_SET)[:14]], 1)
    return hands


def numbers136(counts: np.ndarray) -> list[int]:
    """A hand without red fives as distinct tile numbers 0 to 135; ``counts``: int8[34]."""
    return [
        4 * kind + copy + (kind in (KIND_5P, KIND_5S))
        for kind in range(N_KINDS)
        for copy in range(min(int(counts[kind]), 3 if kind in (KIND_5P, KIND_5S) else 4))
    ]


def shanten_sides(n: int = 20_000) -> tuple[Work, Work]:
    """Shanten of the same 14-tile hands: by this engine, and by riichienv."""
    hands = random_hands(n)
    hands = hands[(hands[:, KIND_5P] < 4) & (hands[:, KIND_5S] < 4)]
    melds = np.zeros(len(hands), dtype=np.int8)
    numbers = [numbers136(hand) for hand in hands]

    def engine() -> int:
        shanten_batch(hands, melds)
        return len(hands)

    def riichienv() -> int:
        from riichienv import calculate_shanten_3p

        for hand in numbers:
            calculate_shanten_3p(hand)
        return len(numbers)

    return engine, riichienv


@dataclass(frozen=True)
class WinningHand:
    """A complete hand of 14 tiles: concealed tiles as counts int8[34], kinds of the pons, and the winning kind."""

    concealed: np.ndarray
    pons: tuple[int, ...]
    win_kind: int
    tsumo: bool
    riichi: bool


def winning_hands(n: int) -> list[WinningHand]:
    """``n`` random hands of four sets and a pair, with up to two pons and no red fives."""
    rng = random.Random(1)
    hands: list[WinningHand] = []
    while len(hands) < n:
        pons: list[int] = []
        concealed = np.zeros(N_KINDS, dtype=np.int8)
        total = np.zeros(N_KINDS, dtype=np.int8)
        for _ in range(4):
            if rng.random() < 0.6:
                first = 9 * rng.choice((1, 2)) + rng.randrange(7)
                tiles = [first, first + 1, first + 2]
            else:
                tiles = [int(rng.choice(SANMA_KINDS))] * 3
                if len(pons) < 2 and rng.random() < 0.3:
                    pons.append(tiles[0])
                    total[tiles[0]] += 3
                    continue
            for tile in tiles:
                concealed[tile] += 1
        pair = int(rng.choice(SANMA_KINDS))
        concealed[pair] += 2
        total += concealed
        if total.max() > 4 or total[KIND_5P] > 3 or total[KIND_5S] > 3:
            continue
        win_kind = rng.choice([kind for kind in range(N_KINDS) if concealed[kind]])
        hands.append(WinningHand(concealed, tuple(pons), win_kind, rng.random() < 0.5, not pons))
    return hands


def engine_scoring(hands: list[WinningHand]) -> Work:
    """Scores the hands by this engine, in one batch."""
    rows = np.zeros(len(hands), dtype=HAND)
    wins = np.zeros(len(hands), dtype=WIN)
    for row, hand in zip(rows, hands, strict=True):
        row["hand"] = hand.concealed
        row["n_melds"] = len(hand.pons)
        row["meld_type"][: len(hand.pons)] = PON_MELD
        row["meld_kind"][: len(hand.pons)] = hand.pons
        row["win_kind"] = hand.win_kind
        row["situation"] = (BY_TSUMO if hand.tsumo else 0) | (IN_RIICHI if hand.riichi else 0)
        row["dora"][0], row["n_dora"] = HONOUR, 1

    def work() -> int:
        score_batch(rows, False, wins)
        return len(rows)

    return work


def mahjong_scoring(hands: list[WinningHand]) -> Work:
    """Scores the hands by mahjong, one call for each."""
    from mahjong.hand_calculating.hand import HandCalculator
    from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
    from mahjong.meld import Meld

    rules = OptionalRules(has_open_tanyao=True, has_double_yakuman=False)
    calls: list[tuple[Any, ...]] = []
    for hand in hands:
        numbers, pons = split136(hand)
        melds = [Meld(Meld.PON, tiles=pon, opened=True) for pon in pons]
        win = next(number for number in numbers if number // 4 == hand.win_kind)
        config = HandConfig(is_tsumo=hand.tsumo, is_riichi=hand.riichi, options=rules)
        calls.append((numbers + [tile for pon in pons for tile in pon], win, melds, [4 * HONOUR], config))

    def work() -> int:
        calculator = HandCalculator()
        for tiles, win, melds, indicators, config in calls:
            calculator.estimate_hand_value(tiles, win, melds=melds, dora_indicators=indicators, config=config)
        return len(calls)

    return work


def riichienv_scoring(hands: list[WinningHand]) -> Work:
    """Scores the hands by riichienv's three-player evaluator, one call for each, without its slower Python wrapper."""
    from riichienv import Meld, MeldType
    from riichienv._riichienv import Conditions, HandEvaluator3P

    calls: list[tuple[Any, ...]] = []
    for hand in hands:
        numbers, pons = split136(hand)
        melds = [Meld(MeldType.Pon, pon, True) for pon in pons]
        win = next(number for number in numbers if number // 4 == hand.win_kind)
        conditions = Conditions(tsumo=hand.tsumo, riichi=hand.riichi, is_sanma=True, num_players=3)
        calls.append((numbers, melds, win, [4 * HONOUR], conditions))

    def work() -> int:
        for tiles, melds, win, indicators, conditions in calls:
            HandEvaluator3P(tiles, melds).calc(win, indicators, [], conditions)
        return len(calls)

    return work


def split136(hand: WinningHand) -> tuple[list[int], list[list[int]]]:
    """Tile numbers 0 to 135 of the concealed tiles and of each pon, all distinct."""
    total = hand.concealed.copy()
    for kind in hand.pons:
        total[kind] += 3
    numbers = numbers136(total)
    pons = [[number for number in numbers if number // 4 == kind][:3] for kind in hand.pons]
    taken = {number for pon in pons for number in pon}
    return [number for number in numbers if number not in taken], pons
