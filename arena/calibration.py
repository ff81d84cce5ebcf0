"""The measurement of a strength scale: the settings of the dial, their matches, and the resulting scale."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from agents import registry
from agents.base import ActionValues, Agent
from agents.files import where_raised
from agents.strength.dial import Dialled, Setting
from agents.strength.scale import Scale, Step
from arena.schedule import Bot, RunSettings, round_up
from arena.series import Series
from engine.common.cluster import Cluster
from engine.common.labels import labels
from engine.contests.ratings import Ratings, rate
from engine.seeds import derive_seed
from engine.table import N_SEATS
from engine.tables import PolicyFault, Tables

FULL = Setting(0.0, 0.0)
# Temperatures as fractions of the hottest one (see `hottest`), each 1.4 times as hot as the one before; then, at the
# hottest, shares of random moves. A bot without action values has shares alone, from small ones on. The steps lie
# some 60 to 100 points apart: a scale that is much denser at one end is stretched there.
COOLED = tuple(2.0 ** (-k / 2) for k in range(10, -1, -1))
SHARES = (0.45, 1.0)
SHARES_ALONE = (0.06, 0.12, 0.18, 0.25, 0.35, 0.45, 0.58, 0.75, 1.0)
# At the hottest temperature the softmax is nearly uniform: the bot departs from its best action this fraction as often
# as at infinite temperature. Higher temperatures would change hardly anything.
NEARLY_UNIFORM = 0.95
STRIDES = (1, 2, 4)  # of a match: it is played by the settings i, i + stride and i + 2 * stride
SAMPLE_SEED, SAMPLE_GAMES, SAMPLE_EVERY, SAMPLE_SIZE = 0, 8, 10, 1000  # of views, to find the hottest temperature
MIN_DROP = 1.0  # points by which a step of a scale lies below the one before


def settings_of(bot: Agent) -> list[Setting]:
    """Return the settings to measure, from full strength to all random.

    Raises ValueError for unusable action values.
    """
    if not isinstance(bot, ActionValues):
        return [FULL, *(Setting(0.0, share) for share in SHARES_ALONE)]
    top = hottest(sampled_values(bot))
    temperatures = [float(f"{top * part:.4g}") for part in COOLED]
    return [
        FULL,
        *(Setting(temperature, 0.0) for temperature in temperatures),
        *(Setting(temperatures[-1], share) for share in SHARES),
    ]


def sampled_values(bot: ActionValues) -> np.ndarray:
    """Return the action values in some views of a bot's games against itself: float64[views, N_ACTIONS].

    Raises ValueError if the bot fails.
    """
    views: list[np.ndarray] = []
    calls = 0

    def policy(asked: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        if calls % SAMPLE_EVERY == 0:
            views.append(asked.copy())
        actions: np.ndarray = bot.act(asked)  # type: ignore[attr-defined]
        return actions

    tables = Tables([derive_seed(SAMPLE_SEED, "wall", k) for k in range(SAMPLE_GAMES)])
    try:
        for _ in tables.play([policy], np.zeros((SAMPLE_GAMES, N_SEATS), np.int8)):
            if sum(map(len, views)) >= SAMPLE_SIZE:
                break
        return np.asarray(bot.action_values(np.concatenate(views)[:SAMPLE_SIZE]), dtype=np.float64)
    except PolicyFault as fault:
        raise ValueError(fault.what) from fault
    except Exception as error:
        raise ValueError(where_raised(error)) from error


def hottest(values: np.ndarray) -> float:
    """The highest temperature of the dial for action values [views, N_ACTIONS]: see NEARLY_UNIFORM.

    It has the unit of the values, whatever that is. Raises ValueError if no view has two actions of different value.
    """
    counts = np.isfinite(values).sum(axis=1)
    values, counts = values[counts > 1], counts[counts > 1]
    below = values - values.max(axis=1, keepdims=True, initial=-np.inf)
    gaps = -below[np.isfinite(below) & (below < 0)]
    if len(gaps) == 0:
        raise ValueError("its action values never differ, so no temperature makes it weaker")
    wanted = NEARLY_UNIFORM * (1 - 1 / counts).mean()
    low, high = np.log(gaps.min()) - 3, np.log(gaps.max()) + 6
    for _ in range(50):
        middle = (low + high) / 2
        leaves = 1 - 1 / np.exp(below / np.exp(middle)).sum(axis=1)
        low, high = (middle, high) if leaves.mean() < wanted else (low, middle)
    return float(np.exp(high))


def triples(n: int) -> list[tuple[int, int, int]]:
    """Return the matches that connect ``n`` >= 3 settings: of neighbours, and of settings farther apart."""
    return [(i, i + stride, i + 2 * stride) for stride in STRIDES for i in range(n - 2 * stride)]


def label(setting: Setting) -> str:
    """The name of a setting in a match."""
    return f"temperature {setting.temperature:g}, share {setting.share:g}"


class Measurement:
    """Settings of one bot that play each other on shared walls."""

    def __init__(
        self,
        bot: str,
        settings: Sequence[Setting],
        games: int,
        seed: int,
        jobs: int | Cluster,
        folder: Path | None = None,
    ) -> None:
        """``games``: the total of all matches, rounded up so that each match has the same number of whole walls.

        ``folder``: where games are kept, to resume. Raises ValueError, OSError.
        """
        self.bot = bot
        self.settings = list(settings)
        self._triples = triples(len(settings))
        each = round_up(-(-games // len(self._triples)))
        names = [f"{bot} setting {number}, {label(setting)}" for number, setting in enumerate(settings)]
        matches = [
            RunSettings((names[a], names[b], names[c]), each, seed, "tenhou", "hanchan") for a, b, c in self._triples
        ]
        self.series = Series(matches, jobs, folder, partial(make_settings, bot, dict(zip(names, settings))))

    @property
    def games(self) -> int:
        """How many games there are in all, finished or not."""
        return sum(match.games for match in self.series.matches)

    def rate(self) -> Ratings:
        """Return the ratings of all settings from all finished games."""
        return rate(len(self.settings), *self.series.orders(self._triples))


def make_settings(spec: str, settings: dict[str, Setting], match: RunSettings) -> list[Bot]:
    """The bots of a match, whose names are keys of ``settings``: `arena.series.BotsOf`."""
    seeds = [derive_seed(match.seed, "bot", index) for index in range(len(match.bots))]
    return [
        Bot(name, Dialled(registry.make(spec, seed), settings[name], name, seed))
        for name, seed in zip(labels(match.bots), seeds)
    ]


class NoScaleError(ValueError):
    """No scale follows from the games that were played."""


def make_scale(bot: str, settings: Sequence[Setting], ratings: Ratings, games: int) -> Scale:
    """The scale of a bot from the ratings of its settings, which begin with full strength and end with all random.

    A setting that did not measure weaker than one before it is left out. Raises NoScaleError if nothing is left.
    """
    steps = [Step(0.0, 0.0, settings[0])]
    for number in range(1, len(settings)):
        below = ratings.difference(number, 0)
        if number == len(settings) - 1:  # the scale must include the end of the dial
            while len(steps) > 1 and steps[-1].points - MIN_DROP < below.mean:
                steps.pop()
        if below.mean <= steps[-1].points - MIN_DROP:
            steps.append(Step(below.mean, below.interval or 0.0, settings[number]))
    if len(steps) < 2:
        raise NoScaleError(f"{bot} is not stronger than random moves: there is nothing to dial")
    return Scale(bot, games, tuple(steps))
