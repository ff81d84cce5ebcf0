"""Tactics: classes that choose one action for one view, and may observe what everybody does, as agents.

A tactic is an object with ``__call__(view) -> action`` and no method ``act``. `TacticAgent` makes one for each round in
which a seat has to act, so that a tactic only remembers one seat and one round, however many tables are played at once.
Views do not say which table they are of, but what a seat has been dealt does.
"""

from __future__ import annotations

import hashlib
import traceback
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine import events
from engine.actions import TSUMOGIRI, Action, action_name, actions_of
from engine.mjai.actions import action_of
from engine.mjai.kinds import HAND_SIZE
from engine.mjai.player_state import PlayerState
from engine.mjai.round_events import RoundReader
from engine.rules import Rules
from engine.table import DORA_AT, N_SEATS, RULES
from engine.tables import BadAnswer

# Rounds whose tactics are kept, with 144 kB each if they observe; the arena plays 258 at once in a process. If more are
# played at once, a tactic may be made anew in a round.
MAX_ROUNDS = 1024
ACTED = frozenset(row.message for row in events.ACTIONS)  # types of messages that a tactic may observe


def legal_actions(view: np.record) -> list[int]:
    """The legal actions of the seat whose view it is, each an `engine.actions.Action`, ascending."""
    return actions_of(*view.legal[view.viewer].tolist())


class TacticAgent:
    """A class of tactics as an `agents.base.Agent`."""

    def __init__(self, make: Callable[[int], Any], seed: int, name: str) -> None:
        """`make` returns a new tactic for a seed of 64 bits; that of each round follows from `seed`."""
        self.name = name
        self._make = make
        self._seed = seed
        self._rounds: OrderedDict[bytes, SeatInRound] = OrderedDict()

    def act(self, views: np.ndarray) -> np.ndarray:
        """Ask the tactic of each view's round. Raises BadAnswer if it raises, or returns no legal action."""
        copies = (views[k : k + 1].copy()[0] for k in range(len(views)))  # a tactic may keep its views
        return np.array([self._act(view) for view in copies], dtype=np.int64)

    def _act(self, view: np.record) -> int:
        start = start_of_round(view)
        log = view["log"][: int(view["n_log"])].tobytes()
        found = self._rounds.get(start)
        if found is None or not log.startswith(found.log):
            seed = hashlib.sha256(self._seed.to_bytes(8, "little") + start).digest()[:8]
            found = self._rounds[start] = SeatInRound(self._make(int.from_bytes(seed, "little")), view)
        self._rounds.move_to_end(start)
        if len(self._rounds) > MAX_ROUNDS:
            self._rounds.popitem(last=False)
        return found.act(view, log)


class SeatInRound:
    """One tactic, and the round that it plays."""

    def __init__(self, tactic: Any, view: np.record) -> None:
        """`view` is any view of the round."""
        self.log = b""  # the events of the round that the tactic has seen
        self._tactic = tactic
        self._observes = hasattr(tactic, "observe")
        self._reader = RoundReader(view)
        self._state = PlayerState(rules_in(view))
        self._state.update({"type": "start_game", "id": int(view["viewer"])})

    def act(self, view: np.record, log: bytes) -> int:
        """The action of the tactic in `view`, whose events are `log`. Raises BadAnswer."""
        self.log = log
        if self._observes:
            self._observe(view)
        answer = self._call("__call__", view)
        legal = legal_actions(view)
        if isinstance(answer, int | np.integer) and not isinstance(answer, bool) and answer in legal:
            return int(answer)
        hint = " (is a return missing?)" if answer is None else ""
        number = isinstance(answer, int | np.integer)
        returned = f"{answer!r} ({action_name(int(answer))})" if number else f"{answer!r}{hint}"
        menu = ", ".join(f"{int(action)} ({action_name(action)})" for action in legal)
        raise BadAnswer(
            f"{self._where('__call__')} returned {returned}, not the number of a legal action; legal: {menu}"
        )

    def _observe(self, view: np.record) -> None:
        """Pass the tactic the public actions since its last decision."""
        self._reader.look_at(view)
        for message in self._reader.read():
            self._state.update(message)
            if message["type"] in ACTED:
                after, seat = self._state.view, message["actor"]
                # The drawn tile of another seat is hidden, so that the action cannot be read from the tile.
                action = TSUMOGIRI if message.get("tsumogiri") else action_of(after, seat, message)
                self._call("observe", after, seat, Action(action))

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self._tactic, method)(*arguments)
        except (Exception, SystemExit) as error:
            text = " ".join(str(error).split())
            raise BadAnswer(f"{self._where(method, error)} raised {type(error).__name__}: {text}") from error

    def _where(self, method: str, error: BaseException | None = None) -> str:
        """A method in words, with its file, and the line of it where `error` was raised, else where it begins."""
        name = f"{type(self._tactic).__name__}.{method}"
        code = getattr(getattr(self._tactic, method), "__code__", getattr(self._tactic, "__code__", None))
        if code is None:
            return name
        frames = traceback.extract_tb(error.__traceback__) if error else []
        lines = [frame.lineno for frame in frames if frame.filename == code.co_filename]
        return f"{name} ({Path(code.co_filename).name}, line {lines[-1] if lines else code.co_firstlineno})"


def start_of_round(view: np.record) -> bytes:
    """Return what identifies a round: the seat, the scores and what the seat was dealt."""
    viewer, dealer = int(view["viewer"]), int(view["dealer"])
    first = HAND_SIZE * ((viewer - dealer) % N_SEATS)
    numbers = [viewer, dealer, int(view["round_wind"]), int(view["honba"]), *view["seat"]["start_score"].tolist()]
    tiles = [*view["wall"][first : first + HAND_SIZE].tolist(), int(view["wall"][DORA_AT[0]])]
    return np.array([*numbers, *tiles], dtype=np.int32).tobytes() + view["rules"].tobytes()


def rules_in(view: np.record) -> Rules:
    """Return the rules of a view, those that concern a single round."""
    switches: Any = {name: bool(view["rules"][name]) for name in RULES.names or () if name != "last_wind"}
    return Rules("of a view", "hanchan" if view["rules"]["last_wind"] else "east", **switches)
