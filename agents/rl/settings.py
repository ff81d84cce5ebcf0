"""The settings of a run of reinforcement learning, with their defaults and how the command line reads them."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field

from agents.training.settings import as_text, one_of, setting, settings_in, share
from engine.checks import scores_in
from engine.common.options import bots_of, non_negative, non_negative_number, positive, positive_number
from engine.common.options import seed as seed_type
from engine.rules import EVEN_SCORES, Scores

WIDTH, HIDDEN = 160, 64  # of a policy that starts at random
MAX_WIDTH = 1024  # of a layer
# Settings that the next command of a run may change; the widths are compared with its network.
CHANGEABLE = frozenset(
    {"width", "hidden", "minutes", "iterations", "measure_every", "measure_against", "walls", "device"}
)


def some_scores(text: str) -> tuple[Scores, ...]:
    """Option type: starting scores of one or several games, such as 35000-35000-35000,25000-35000-45000."""
    found = []
    for each in text.split(","):
        try:
            found.append(scores_in(each, "-"))
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{each!r} is not a handicap: {error}") from None
    return tuple(found)


def layer(text: str) -> int:
    """Option type: the width of a layer."""
    number = positive(text)
    if number > MAX_WIDTH:
        raise argparse.ArgumentTypeError(f"{text!r} is not a width: a number from 1 to {MAX_WIDTH}")
    return number


def some_bots(text: str) -> tuple[str, ...]:
    """Option type: one bot or several, see `bots_of`."""
    found = bots_of(text)
    if not found:
        raise argparse.ArgumentTypeError("no bot is named")
    return found


@dataclass(frozen=True)
class Games:
    """Which games are played."""

    bot: str  # whose network learns, in FAMILIES
    opponents: tuple[str, ...] = setting(("rule",), some_bots, "BOT,…; one or two of them play against it")
    against: float = setting(0.5, share, "share of the games with opponents; 0: self-play alone")
    handicaps: tuple[Scores, ...] = setting(
        (EVEN_SCORES,), some_scores, "starting scores A-B-C,…; each game has one of these, its seats at random"
    )


@dataclass(frozen=True)
class Hyperparameters:
    """Hyperparameters of the learner."""

    learning_rate: float = setting(4e-3, positive_number, "of the policy, at the start")
    critic_rate: float = setting(1e-3, positive_number, "learning rate of the critic, at the start")
    gae_lambda: float = setting(0.6, share, "of generalized advantage estimation")
    entropy: float = setting(0.012, non_negative_number, "weight of the entropy of the policy")
    kl: float = setting(
        0.0, non_negative_number, "weight of the KL divergence from the prior (the policy of the prior logits)"
    )
    kl_start: float = setting(
        0.0, non_negative_number, "weight of the KL divergence from the policy at the start, or from that of --anchor"
    )
    batch_size: int = setting(8192, positive, "choices of a minibatch")
    epochs: int = setting(1, positive, "times that each choice is learned from")
    critic_sees: str = setting("everything", one_of("everything", "view"), "view: no hidden tile")

    @property
    def regularization(self) -> float:
        """Weight of the entropy and the KL divergences together: times the advantage's spread, a logit's value."""
        return self.entropy + self.kl + self.kl_start


@dataclass(frozen=True)
class Settings:
    """The settings of a run."""

    games: Games
    hyperparameters: Hyperparameters = field(default_factory=Hyperparameters)
    minutes: float = setting(
        480.0, positive_number, "total training time, without measurements; the learning rate falls to 0", "MINUTES"
    )
    iterations: int = setting(
        0,
        non_negative,
        "in place of minutes: the learning rate falls by them, so that on one machine the same settings give the same "
        "weights (default 0: minutes)",
    )
    seed: int = setting(
        0,
        seed_type,
        "of the first weights and of all games; the learning rate follows the clock, unless iterations are given",
    )
    jobs: int | None = setting(
        None,
        positive,
        "threads that act, or on a cluster workers (default: as many as cores, or as the run began with)",
        "N",
    )
    device: str = setting("cpu", str, "of the learner: cpu or cuda", "DEVICE")
    tables: int = setting(1024, positive, "of each thread, played in lock step")
    width: int | None = setting(
        None,
        layer,
        f"of the first layer in a new run (default: that of --start, or {WIDTH}); a narrower network is widened, which "
        "does not change what it plays",
    )
    hidden: int | None = setting(None, layer, f"of the second layer, likewise (default: that of --start, or {HIDDEN})")
    former_every: float = setting(
        math.inf, positive_number, "minutes; the policy as it is then becomes one more opponent (default: never)"
    )
    measure_every: float = setting(15.0, positive_number, "minutes between measurements")
    measure_against: tuple[str, ...] = setting(("rule",), some_bots, "BOT,…: each plays at both other seats")
    walls: int = setting(1000, positive, "of a measurement, each played three times")

    @property
    def budget(self) -> tuple[int, str]:
        """How long the run is, and the unit: iterations, or seconds of training."""
        return (self.iterations, "iterations") if self.iterations else (round(60 * self.minutes), "seconds")

    def fixed(self) -> dict[str, str]:
        """The settings that a run cannot change, as texts."""
        found = {"bot": self.games.bot}
        for part in (self.games, self.hyperparameters, self):
            found |= {name: as_text(getattr(part, name)) for name in settings_in(type(part)) if name not in CHANGEABLE}
        return found
