"""How well the values that `search` finds in its worlds are calibrated.

    python experiments/search_calibration.py [BATCHES]    # 34, a quarter of an hour on two cores

BATCHES of GAMES games among three `residual` give positions whose two best actions are within MARGIN of each other. For
each, the gap between these two is measured

- in twice WORLDS sampled worlds, played out by each of POLICIES
- in the same worlds, one turn later, by the critic of `search`
- in twice JUDGED other sampled worlds, played out by `residual` itself, in all seats
- at the table as it is, hidden hands included, with WALLS orders of the unseen tiles, played out by `residual`: the
  noisiest, but an unbiased sample of what `residual` wins by the first action

in units of `agents.playouts.value.round_value`, the critic in placements alone, as in `search`. The last two judge the
others. `residual` in worlds has less noise, but cannot see what is wrong with the model of hidden hands, which makes
its worlds as well.

The judges are regressed on the gap of the prior, the action values of `residual`, and on that in the worlds. Worlds of
one Markov chain serve as instrument for those of another, so that noise does not flatten the slope (instrumental
variables; two chains, as consecutive worlds of one are similar). Then the first action is given up where (1 - share) *
prior + share * mean in all worlds favours the second, for several shares: `search` has share = trust * n / (n + prior).
(The critic of `search` has trust 1 and a prior of its own.) At the end the gain is printed by the gap of the prior. All
gains are measured on the same positions. Intervals (95 %) count a game as one observation. docs/experiments.md has the
results.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from agents.base import ActionValues, Agent
from agents.bert.training.targets.rollouts import Rollouts
from agents.playouts import Playouts
from agents.registry import make
from agents.residual.features import FEATURES
from agents.rl.critic import load_critic
from agents.search.bot import BUNDLED_CRITIC, DEFAULTS
from agents.search.fit import lay_worlds
from agents.search.model import BUNDLED, load_model
from agents.search.one_turn import OneTurn
from agents.search.tree import CRITIC_PRIOR_WEIGHT, FAR
from agents.search.worlds import SAMPLER
from engine.actions import NUKIDORA, TSUMOGIRI, actions_of
from engine.common.progress import Progress
from engine.rules import TENHOU
from engine.seeds import derive_seed
from engine.shanten import shanten_of
from engine.table import RIICHI_DISCARD, TABLE, raw_bytes
from engine.tables import Tables

BOT = "residual"
POLICIES = ("quick", "linear")
PREDICTORS = (*POLICIES, "critic")
KINDS = ("quiet, 2+ from tenpai", "quiet, 0-1 from tenpai", "against a riichi", "riichi, calls, kans", "a north")
MARGIN = 0.015  # placements; wider than that of `search`, to see which gaps of the prior are worth searching
GAPS = (0.0, 0.001, 0.0025, 0.005, 0.0075, MARGIN)  # of the prior
SHARE = 0.01  # of the decisions that become positions
GAMES = 64  # of a batch
WORLDS, JUDGED, WALLS = 100, 50, 8
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
N = 150  # worlds of the `search` whose gain is printed
OF_CRITIC, OF_PLAYOUTS = N / (N + CRITIC_PRIOR_WEIGHT), DEFAULTS["trust"] * N / (N + DEFAULTS["prior"])
SEARCHED = {1: ("critic", OF_CRITIC), 2: ("critic", OF_CRITIC), 3: ("linear", OF_PLAYOUTS)}  # by kind; with its share
JOBS = 2


class Position(NamedTuple):
    """A decision between the two best actions of BOT."""

    game: int
    view: np.record
    table: np.record  # whole
    seat: int
    actions: tuple[int, int]
    compared: tuple[int, ...]  # what `search` compares, with its margin or one just as wide as to take the second
    prior: float  # how much better the first is by the action values of BOT


def positions(batch: int) -> tuple[list[Position], int]:
    """Positions of GAMES games among three of BOT, and the number of close decisions they were taken from."""
    bot, random = make(BOT, batch), np.random.default_rng(derive_seed(batch, "games", 0))
    assert isinstance(bot, ActionValues)
    tables = Tables(random.integers(1 << 62, size=GAMES, dtype=np.uint64))
    found: list[Position] = []
    n = 0

    def act(views: np.ndarray) -> np.ndarray:
        nonlocal n
        values = bot.action_values(views)
        order = np.argsort(-values, axis=1, kind="stable")[:, : int(DEFAULTS["k"])]
        behind = values.max(axis=1, keepdims=True) - np.take_along_axis(values, order, axis=1)
        close = behind[:, 1] < MARGIN
        n += int(close.sum())
        for k in np.flatnonzero(close & (random.random(len(views)) < SHARE)):
            table, seat = int(tables.asked_tables[k]), int(tables.asked_seats[k])
            game, two = batch * GAMES + table, (int(order[k, 0]), int(order[k, 1]))
            gap = float(behind[k, 1])
            compared = tuple(order[k, behind[k] <= max(gap, DEFAULTS["margin"])].tolist())
            found.append(Position(game, views[k].copy(), tables.records[table].copy(), seat, two, compared, gap))
        return order[:, 0]

    for _ in tables.play([act], np.zeros((GAMES, 3), dtype=np.int8)):
        pass
    return found, n


def sampled_worlds(views: np.ndarray, worlds: int, seed: int) -> np.ndarray:
    """Whole tables TABLE[n * worlds]: one Markov chain for each of `views` TABLE[n]."""
    model, sampler = load_model(BUNDLED), np.zeros(SAMPLER.itemsize, dtype=np.uint8)
    laid = np.zeros(len(views) * worlds, dtype=TABLE)
    lay_worlds(raw_bytes(views), np.uint64(seed), model.tiles, model.shantens, sampler, raw_bytes(laid))
    return laid


def gaps(given: list[Position], tables: np.ndarray, walls: int, player: Agent | Playouts, seed: int) -> np.ndarray:
    """The mean gap of each position, float64[n], at `tables` TABLE[n * m], m for each, if `player` plays the rounds on.

    Each table is tried with `walls` orders of the unseen tiles of the wall, the same after both actions.
    """
    m = len(tables) // len(given)
    seats = np.repeat(np.array([each.seat for each in given], dtype=np.int8), m)
    actions = np.repeat(np.array([each.actions for each in given]), m, axis=0).T.ravel()
    rollouts, table = Rollouts(make(BOT, seed), walls, TENHOU, seed, player), np.tile(np.arange(len(tables)), 2)
    values = rollouts.roll_out(tables[table], np.tile(seats, 2), actions, table)
    first, second = values.reshape(2, len(given), m).mean(axis=2)
    return first - second


def critic_gaps(given: list[Position], worlds: np.ndarray, critic: OneTurn) -> np.ndarray:
    """The mean gap of each position, float64[n], in `worlds` TABLE[n * m], m for each, by a critic."""
    m = len(worlds) // len(given)
    seats = np.repeat(np.array([each.seat for each in given], dtype=np.int8), m)
    actions = np.repeat(np.array([each.actions for each in given]), m, axis=0)
    start = critic.start_values(worlds, seats)
    first, second = (critic.values(worlds.copy(), seats, np.ascontiguousarray(actions[:, i]), start) for i in range(2))
    return (first - second).reshape(len(given), m).mean(axis=1, dtype=np.float64)


def kind_of(position: Position) -> int:
    """The index of the position into KINDS."""
    view = position.view
    seat = view["seat"][view["viewer"]]
    if NUKIDORA in actions_of(*view["legal"][view["viewer"]].tolist()):
        return 4
    if max(position.compared) > TSUMOGIRI or view["phase"] == RIICHI_DISCARD:
        return 3
    if view["seat"]["riichi"].any():
        return 2
    return int(shanten_of(seat["hand"].tolist(), int(seat["n_melds"])) < FAR)


def measure(batch: int) -> tuple[int, dict[str, np.ndarray]]:
    """The number of close decisions in a batch, and what was measured at the sample of them; by chain float64[2, n]."""
    given, n = positions(batch)
    critic = OneTurn(load_critic(BUNDLED_CRITIC, FEATURES.n_state))
    bot, found = make(BOT, batch), {name: np.empty((2, len(given))) for name in (*PREDICTORS, BOT)}
    views = np.array([each.view for each in given])
    for chain in range(2):
        seed, judging = (derive_seed(batch, use, chain) for use in ("worlds", "judging"))
        worlds = sampled_worlds(views, WORLDS, seed)
        for policy in POLICIES:
            found[policy][chain] = gaps(given, worlds, 1, Playouts(policy), seed)
        found["critic"][chain] = critic_gaps(given, worlds, critic)
        found[BOT][chain] = gaps(given, sampled_worlds(views, JUDGED, judging), 1, bot, judging)
    true = np.array([each.table for each in given], dtype=TABLE)
    found["outcome"] = gaps(given, true, WALLS, bot, derive_seed(batch, "walls", 0))
    found["kind"] = np.array([kind_of(each) for each in given])
    return n, found | {name: np.array([getattr(each, name) for each in given]) for name in ("game", "prior")}


def half_width(summands: np.ndarray, games: np.ndarray) -> np.ndarray:
    """1.96 times the standard deviation of the sum of `summands` float64[n, ...], one game being one observation."""
    sums = np.zeros((games.max() + 1, *summands.shape[1:]))
    np.add.at(sums, games, summands)
    return 1.96 * np.sqrt((sums**2).sum(axis=0))


def mean(values: np.ndarray, games: np.ndarray, unit: float) -> str:
    """A mean with its interval, in `unit`."""
    side = half_width(values - values.mean(), games) / len(values)
    return f"{values.mean() / unit:.2f} ± {side / unit:.2f}"


def slopes(judge: np.ndarray, prior: np.ndarray, chains: np.ndarray, games: np.ndarray) -> str:
    """The slopes of `judge` float64[n] over the prior and over the gap in the worlds without its noise.

    There is no intercept: exchanging the two actions changes all signs.
    """
    regressors, instruments = (
        np.concatenate([np.stack([prior, chain], axis=1) for chain in order]) for order in (chains, chains[::-1])
    )
    inverse = np.linalg.inv(instruments.T @ regressors)
    found = inverse @ instruments.T @ np.tile(judge, 2)
    rest = np.tile(judge, 2) - regressors @ found
    sides = half_width((instruments * rest[:, None]) @ inverse.T, np.tile(games, 2))
    return ", ".join(f"{name} {b:.2f} ± {e:.2f}" for name, b, e in zip(("prior", "worlds"), found, sides, strict=True))


def judges_of(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The gap of each position by each judge, float64[n]."""
    return {f"{BOT} in worlds": found[BOT].mean(axis=0), "outcome": found["outcome"]}


def report(name: str, found: dict[str, np.ndarray]) -> None:
    """Print what the worlds of one predictor show."""
    games, prior, chains = found["game"], found["prior"], found[name]
    signal = (chains[0] - prior) * (chains[1] - prior)
    noise = (chains[0] - chains[1]) ** 2 / 2 * (WORLDS if name in PREDICTORS else JUDGED)
    worlds = noise.mean() / signal.mean()
    print(f"{name}: mean square of (gap - prior) without noise, in millionths {mean(signal, games, 1e-6)}")
    print(f"  variance of the noise of one world {noise.mean():.4f}; after {worlds:.0f} worlds the noise is as small")
    if name not in PREDICTORS:
        return
    for judge, values in judges_of(found).items():
        print(f"  slopes of {judge}: {slopes(values, prior, chains, games)}")
    for share in SHARES:
        print(f"  share {share}: {gains(found, (1 - share) * prior + share * chains.mean(axis=0) < 0)}")


def gains(found: dict[str, np.ndarray], second: np.ndarray) -> str:
    """How often the first action is given up, and what that gains, if it is where `second` bool[n] is true."""
    gained = {judge: np.where(second, -gap, 0.0) for judge, gap in judges_of(found).items()}
    texts = [f"{mean(values, found['game'], 1e-3)} by {judge}" for judge, values in gained.items()]
    return f"changes {second.mean():.1%}, gain a decision in thousandths {', '.join(texts)}"


def report_gaps(found: dict[str, np.ndarray]) -> None:
    """Print what `search` gains by the gap of the prior."""
    prior, second = found["prior"], np.zeros(len(found["prior"]), dtype=bool)
    for kind, (name, share) in SEARCHED.items():
        second |= (found["kind"] == kind) & ((1 - share) * prior + share * found[name].mean(axis=0) < 0)
    searched = np.isin(found["kind"], list(SEARCHED))
    print("\nWhat `search` compares, by the gap of the prior")
    for low, high in (*pairwise(GAPS), (0.0, DEFAULTS["margin"]), (DEFAULTS["margin"], MARGIN)):
        rows = searched & (low <= prior) & (prior < high)
        if rows.any():
            part = {name: values[..., rows] for name, values in found.items()}
            print(f"  {low} to {high}: {rows.sum():,}, {gains(part, second[rows])}")


def main() -> None:
    """Measure and print."""
    if len(sys.argv) > 2 or not all(each.isdecimal() for each in sys.argv[1:]):
        sys.exit(f"usage: python {sys.argv[0]} [BATCHES]")
    batches = int(sys.argv[1]) if len(sys.argv) > 1 else 34
    counts, parts = [], []
    with ProcessPoolExecutor(JOBS) as pool, Progress("batches", batches) as progress:
        for count, part in pool.map(measure, range(batches)):
            counts.append(count)
            parts.append(part)
            progress.advance()
    found = {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}
    a_seat = sum(counts) / (3 * GAMES * batches)
    print(f"{len(found['prior']):,} positions; a seat has {a_seat:.0f} like them in a hanchan. Placements, ± 95 %")
    for kind in (None, *range(len(KINDS))):
        rows = slice(None) if kind is None else found["kind"] == kind
        part = {name: values[..., rows] for name, values in found.items()}
        print(f"\n{'All' if kind is None else KINDS[kind]}: {len(part['prior']):,}")
        for name in (*PREDICTORS, BOT):
            report(name, part)
    report_gaps(found)


if __name__ == "__main__":
    main()
