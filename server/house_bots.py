"""The house bots of this process: those that rooms may name, all loaded and compiled before games are played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import structlog

from agents.base import ActionValues, Agent, CompiledAgent
from agents.built_in import BUILT_IN
from agents.files import where_raised
from agents.registry import is_file, make
from agents.registry import names as registered
from agents.strength.scale import read_scale
from agents.strength.spec import split_strength
from engine.common.error_text import error_text
from engine.common.program import caused_by_interrupt
from engine.game import Game

ADVISER = "rule"  # compiled, and has action values
# Only the settings of the server may name these.
EXPENSIVE = frozenset(name for name, bot in BUILT_IN.items() if bot.slow)
log = structlog.get_logger("server")


class HouseBots:
    """Makes house bots, and caches their properties."""

    def __init__(self, make: Callable[..., Agent] = make, registered: Callable[[], Sequence[str]] = registered) -> None:
        """`make` and `registered`: as `agents.registry.make` and `agents.registry.names`."""
        self.make = make
        self._registered = registered
        self._compiled: dict[str, bool] = {}  # each checked bot, without strength -> whether it is compiled
        self._evaluating: set[str] = set()  # checked bots that have action values
        self._broken: set[str] = set()  # names of registered bots that cannot be played

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The registered bots that rooms may name. Bots of other packages are looked up once (some ms)."""
        return tuple(name for name in self._registered() if name not in EXPENSIVE)

    def check(self, spec: str) -> None:
        """Raise ValueError unless the bot can be made. At full strength, it is made only in the first call."""
        bot, strength = split_strength(spec)
        if bot not in self._compiled:
            agent = self.make(bot)
            self._compiled[bot] = isinstance(agent, CompiledAgent)
            if isinstance(agent, ActionValues):
                self._evaluating.add(bot)
        if strength is not None:
            self.make(spec)

    def check_requested(self, spec: str) -> None:
        """Raise ValueError unless a request may name this bot: a plain name of a bot that worked at the server's start.

        A lower strength (``rule@-300``) is allowed if the bot's strengths have been measured.

        Anything else would be loaded while games are played, and errors would reveal which files exist.
        """
        if is_file(spec) or ":" in spec:
            why = "only the settings of the server may name a bot in a file, or with an argument"
            raise ValueError(error_text("bot_argument", why))
        bot, strength = split_strength(spec)
        if bot not in self.playable():
            why = "unknown bot {bot!r}: choose one of {bots}"
            raise ValueError(error_text("bot_unknown", why, bot=bot, bots=", ".join(self.playable())))
        if strength is not None and bot not in self.weakest:
            why = "{bot} plays at full strength only; weaker: {bots}"
            raise ValueError(error_text("bot_strong", why, bot=bot, bots=", ".join(self.weakest) or "no bot here"))
        if strength is not None and strength < self.weakest[bot]:
            why = "the weakest that {bot} can be is {bot}@{points}"
            raise ValueError(error_text("bot_weakest", why, bot=bot, points=self.weakest[bot]))

    def within_scale(self, spec: Any) -> Any:
        """Return the bot, with a strength below its scale replaced by the lowest; other values are unchanged."""
        try:
            bot, strength = split_strength(spec)
        except (ValueError, AttributeError):
            return spec
        lowest = self.weakest.get(bot)
        return spec if strength is None or lowest is None or strength >= lowest else f"{bot}@{lowest}"

    def playable(self) -> list[str]:
        """Return the names that requests may use: the registered bots but those that failed when the server started."""
        return [name for name in self.names if name not in self._broken]

    @cached_property
    def weakest(self) -> dict[str, int]:
        """The lowest strength of each of `names` that has a scale, such as -700. The scales are read once."""
        found: dict[str, int] = {}
        for name in self.names:
            with suppress(ValueError):
                found[name] = read_scale(name).lowest
        return found

    def evaluating(self) -> list[str]:
        """Return the bots of `playable` that have action values; they were made when the server started."""
        return [name for name in self.playable() if name in self._evaluating]

    def reviewers(self) -> list[str]:
        """Return the bots of `evaluating`, the strongest first: the first two review by default."""
        return strongest_first(self.evaluating())

    def is_built_in(self, spec: str) -> bool:
        """Return whether the bot is one of nukidora's own, regardless of argument and strength."""
        return split_strength(spec)[0].partition(":")[0] in BUILT_IN

    def decides_at_once(self, spec: str) -> bool:
        """Return whether the bot is created and decides within microseconds: a compiled one of nukidora's own."""
        return self.is_built_in(spec) and self._compiled.get(split_strength(spec)[0], False)

    def adviser(self, spec: str) -> str:
        """The bot whose hints players get: this one at full strength, or ``rule`` where it cannot give them at once."""
        bot, _ = split_strength(spec)
        return bot if self.decides_at_once(bot) and bot in self._evaluating else ADVISER

    def try_out(self, spec: str) -> None:
        """Let the bot make its first decision, which may load or compile code. Raises ValueError."""
        try:
            self._decide_once(spec)
        except (ValueError, ImportError) as error:
            if caused_by_interrupt(error):
                raise KeyboardInterrupt from error
            raise

    def _decide_once(self, spec: str) -> None:
        self.check(spec)
        game = Game()
        (seat,) = game.asked
        try:
            action = int(self.make(spec).act(np.array([game.view(seat)]))[0])
        except Exception as error:
            raise ValueError(f"the bot {spec} cannot play: {where_raised(error)}") from error
        if action not in game.legal(seat):
            raise ValueError(f"the bot {spec} cannot play: {action} is not legal")

    def try_out_all(self) -> None:
        """Try all registered bots. Failures are logged, and rooms may not name the bots that fail."""
        for name in self.names:
            try:
                self.try_out(name)
            except (ValueError, ImportError) as error:
                self._broken.add(name)
                log.warning("rooms cannot have this house bot", bot=name, error=str(error))


def strongest_first(bots: Sequence[str]) -> list[str]:
    """Bots by their points on the ladder, those without any last."""
    rated = {name: bot.rating for name, bot in BUILT_IN.items() if bot.rating is not None}
    return sorted(bots, key=lambda bot: rated.get(bot, -inf), reverse=True)


HOUSE_BOTS = HouseBots()  # of this process, as flags and requests that name bots are parsed without a server object
