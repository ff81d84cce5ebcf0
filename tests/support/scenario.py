"""Rounds played by script: given hands and draws, then moves by name, with a look at menus and payments in between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine import actions
from engine.actions import ACTION_NAMES, PASS, TSUMOGIRI
from engine.mjai.round_events import yaku_names
from engine.rules import TENHOU, Rules
from engine.table import RESPONSE
from engine.tiles import MPSZ_NAMES, MPSZ_TILES
from tests.support.sides import FIRST_ROUND, Answers, Decision, Event, Ours, State
from tests.support.walls import build_wall

OF_OTHERS = ("ron", "pon", "pon with red", "daiminkan")
NUMBER_OF = {name: number for number, name in enumerate(ACTION_NAMES)}


@dataclass(frozen=True)
class Win:
    """A win as a test looks at it."""

    winner: int
    target: int
    deltas: list[int]
    han: int
    fu: int
    yaku: dict[str, int]
    pao: int


class Scenario:
    """A round with given tiles. `hands` are those of dealer, next and third seat; for the rest see `build_wall`."""

    def __init__(
        self, hands: list[str], draws: str = "", *, state: State = FIRST_ROUND, rules: Rules = TENHOU, **wall: str
    ) -> None:
        self.rules, self.state = rules, state
        self.wall = build_wall(hands, draws, **wall)
        self.side = Ours(rules)
        self.side.begin(state, self.wall)
        self.decisions: list[Decision] = []

    @property
    def t(self) -> np.record:
        """The table."""
        return self.side.table

    def menu(self, seat: int) -> set[str]:
        """Names of what a seat may do now, discards in mpsz; empty where it is not asked."""
        names = (*MPSZ_NAMES, *ACTION_NAMES[TSUMOGIRI:])
        return {names[action] for action in self.side.menus().get(seat, ())}

    def do(self, *moves: str) -> Scenario:
        """Make moves, one after the other.

        A tile (``1z``) is discarded by the seat on turn, from the hand if it can be, else as drawn. ``ron`` and calls
        are made by every seat that may (``2:ron``: by that seat alone) while others pass. All other names are those of
        `engine.actions`. Before a move of the seat on turn others pass what they are offered, but a win only by
        ``pass``.
        """
        for move in moves:
            seat, _, name = move.rpartition(":")
            if name in OF_OTHERS:
                self._answer({int(seat)} if seat else self._able(name), name)
            elif name == "pass":
                self._answer(set(), name)
            else:
                while self.t.phase == RESPONSE:
                    assert not self._able("ron"), f"{move}: somebody can win; pass or ron first"
                    self._answer(set(), "pass")
                self.act({int(self.t.turn): self._own_action(name)})
        return self

    def quiet(self, draws: int) -> Scenario:
        """So many draws, each discarded at once, with nobody taking anything."""
        for _ in range(draws):
            self.do("tsumogiri")
        return self

    def quiet_until(self, live_left: int) -> Scenario:
        """Draws and discards until so many live tiles are left and the seat that drew is asked."""
        return self.quiet(int(self.t.live_left) - live_left)

    def _able(self, name: str) -> set[int]:
        return {seat for seat, menu in self.side.menus().items() if NUMBER_OF[name] in menu}

    def _own_action(self, name: str) -> int:
        if name not in MPSZ_TILES:
            return NUMBER_OF[name]
        tile = MPSZ_TILES[name]
        return tile if tile in self.side.menus()[int(self.t.turn)] or tile != self.t.drawn else TSUMOGIRI

    def _answer(self, seats: set[int], name: str) -> None:
        assert self.t.phase == RESPONSE, f"{name}: nobody is offered anything"
        assert seats or name == "pass", f"nobody can {name}"
        self.act({seat: NUMBER_OF[name] if seat in seats else PASS for seat in self.side.menus()})

    def act(self, answers: Answers) -> None:
        """All who are asked answer: seat -> action number."""
        menus = self.side.menus()
        for seat, action in answers.items():
            assert action in menus.get(seat, ()), f"seat {seat} may not {ACTION_NAMES[action]}: {self.menu(seat)}"
        self.decisions.append(Decision(menus, answers, self.side.raw.copy()))
        self.side.act(answers)

    @property
    def events(self) -> list[Event]:
        """What has happened, without the deal."""
        return self.side.events()[1:]

    @property
    def names(self) -> list[str]:
        """Names of what has happened, without the deal."""
        return [event[0] for event in self.events]

    @property
    def wins(self) -> list[Win]:
        """The wins of the round, in the order they were paid."""
        return [
            Win(
                int(win.winner),
                int(win.target),
                win.deltas.tolist(),
                int(win.han),
                int(win.fu),
                dict(map(tuple, yaku_names(win))),
                int(win.pao),
            )
            for win in self.t.win[: self.t.n_wins]
        ]

    @property
    def win(self) -> Win:
        """The one win of the round."""
        (win,) = self.wins
        return win

    @property
    def scores(self) -> list[int]:
        """Points of each seat."""
        return [int(seat.score) for seat in self.t.seat]

    def after(self) -> State:
        """What comes after the round, which must have ended."""
        assert self.side.ended, "the round goes on"
        return self.copy().after()

    def copy(self) -> Ours:
        """The side as it stands, to go on with while the scenario stays."""
        side = Ours(self.rules)
        side.raw[:] = self.side.raw
        side.ended = self.side.ended
        return side


assert actions.DISCARD == 0, "menus name discards by their tile"
