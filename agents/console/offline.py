"""A game of the person against two bots in this process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.base import Agent
from agents.console.person import Person
from agents.console.screen import Screen
from agents.external.mjai_bot import one_line
from agents.tactics import ACTED
from engine.actions import action_name
from engine.common.labels import labels
from engine.game import Game
from engine.mjai.possible_actions import safe_default
from engine.rules import Rules
from engine.table import N_SEATS, TABLE

YOU = "you"


class OfflineTable:
    """A table of the person's own."""

    def __init__(self, screen: Screen, agents: Sequence[Agent], rules: Rules, seed: int, pause: float) -> None:
        """`seed` determines the walls and the seat. `pause`: seconds that each move of a bot is shown."""
        self._screen = screen
        self._pause = pause
        self._seat = seed % N_SEATS
        others = ((self._seat + 1) % N_SEATS, (self._seat + 2) % N_SEATS)
        self._agents = dict(zip(others, agents, strict=True))
        self._failed: set[int] = set()
        names = {self._seat: YOU} | dict(zip(others, labels([agent.name for agent in agents]), strict=True))
        self.game = Game(seed, rules, [names[seat] for seat in range(N_SEATS)])
        self._person = Person(YOU, screen)

    def play(self) -> None:
        """Play the game. Raises `Left`."""
        self._show()
        while not self.game.over:
            for seat in self.game.asked:
                self.game.act(seat, self._choice(seat))
            self._show()
        self._screen.serve(lambda: not self._screen.covered)

    def _show(self) -> None:
        """Show what has happened, move by move; the result of a round until a key is pressed."""
        for message in self.game.new_messages(self._seat):
            self._person.watch(message)
            if message["type"] == "end_kyoku":
                self._screen.serve(lambda: not self._screen.covered)
            elif message["type"] in ACTED and message["actor"] != self._seat:
                self._screen.serve(lambda: False, self._pause)

    def _choice(self, seat: int) -> int:
        """Return the action of a seat that has to act."""
        legal = self.game.legal(seat)
        if len(legal) == 1 or seat in self._failed:
            return safe_default(legal)
        if seat != self._seat:
            return self._bots_choice(seat, legal)
        action = self._person.choose(legal)
        assert action is not None
        return action

    def _bots_choice(self, seat: int, legal: list[int]) -> int:
        """Return the action of a bot. After a failure, safe defaults are played for it."""
        agent = self._agents[seat]
        try:
            action = int(agent.act(np.array([self.game.view(seat)], dtype=TABLE))[0])
            fault = "" if action in legal else f"may not {action_name(action)}"
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        if not fault:
            return action
        self._failed.add(seat)
        self._screen.say(f"{agent.name} has failed ({one_line(fault)}); safe defaults are played for it from now on")
        return safe_default(legal)
