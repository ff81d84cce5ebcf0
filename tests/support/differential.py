"""This engine and RiichiEnv playing the same rounds: every menu, event, payment and next round must be equal.

A difference fails with everything that is needed to reproduce it.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from engine.actions import ACTION_NAMES
from engine.mjai.messages import hand_names
from engine.mjai.round_events import round_messages
from engine.table import TABLE
from tests.support.players import Chooser
from tests.support.riichienv_side import Theirs, our_wall, their_wall
from tests.support.scenario import Scenario
from tests.support.sides import Decision, Menus, Ours, Round, Side, State, lead, normal_events

# Comparing ------------------------------------------------------------------------------------------------------------


class Comparison:
    """Both engines, and what differed so far."""

    def __init__(self) -> None:
        self.ours, self.theirs = Ours(), Theirs()
        self.seen: Counter[str] = Counter()  # events, to know what the games held

    def play(self, we_lead: bool, state: State, tiles: list[int], choose: Chooser, label: str) -> Round:
        """One round, led by one side and followed by the other; `tiles` is a wall laid out our way."""
        leader: Side = self.ours if we_lead else self.theirs
        played = lead(leader, state, tiles if we_lead else their_wall(tiles), choose)
        self._note(played)
        self.follow(self.theirs if we_lead else self.ours, we_lead, played, f"{label}, {state}")
        return played

    def follow(self, follower: Side, we_led: bool, played: Round, label: str) -> None:
        """Play again what the leader played, a whole round or its beginning, and compare."""
        label += ", we lead" if we_led else ", they lead"
        lay_out = their_wall if we_led else our_wall
        follower.begin(played.state, lay_out(played.wall, played.events))
        for number, decision in enumerate(played.decisions):
            self._compare_menus(follower.menus(), decision, f"{label}, decision {number}")
            follower.act(decision.answers)
        assert follower.ended == (played.after is not None), f"{label}: the round ends for one side only"
        assert follower.events() == played.events, label
        assert not follower.ended or follower.after() == played.after, f"{label}: after {played.events[-1]}"

    def _compare_menus(self, menus: Menus, decision: Decision, label: str) -> None:
        """Compare the follower's `menus` with the leader's."""
        we_led = decision.table is not None
        t = (decision.table if we_led else self.ours.raw).view(TABLE)[0]
        our_menus, their_menus = (decision.menus, menus) if we_led else (menus, decision.menus)
        for seat in our_menus.keys() | their_menus.keys():
            allowed, theirs = our_menus.get(seat, frozenset()), their_menus.get(seat, frozenset())
            assert allowed == theirs, f"{label}, seat {seat}:\n{describe(t, allowed - theirs, theirs - allowed)}"

    def _note(self, played: Round) -> None:
        for before, event in zip(played.events, played.events[1:], strict=False):
            self.seen[event[0]] += 1
            if event[0] == "ryukyoku":
                self.seen[event[1]] += 1
            if event[0] == "hora" and event[1] != event[2]:
                self.seen[f"ron after {before[0]}"] += 1


def describe(t: np.record, only_ours: frozenset[int], only_theirs: frozenset[int]) -> str:
    """A position, our table, and the actions that only one side allows a seat in it."""
    lines = [f"{hand_names(p)} melds {p.meld_kind[: p.n_melds]} riichi {p.riichi} {p.score}" for p in t.seat]
    lines += [
        f"only ours: {[ACTION_NAMES[action] for action in sorted(only_ours)]}",
        f"only theirs: {[ACTION_NAMES[action] for action in sorted(only_theirs)]}",
        f"turn {t.turn} drawn {t.drawn} offer {t.offer} live {t.live_left} wall {t.wall.tolist()}",
        *map(str, normal_events(round_messages(t))),
    ]
    return "\n".join(lines)


def check_scenario(scenario: Scenario) -> None:
    """Play what a scenario played, as far as it went, and compare."""
    comparison = Comparison()
    after = scenario.after() if scenario.side.ended else None
    played = Round(scenario.state, scenario.wall, scenario.decisions, scenario.side.events(), after)
    comparison.follow(comparison.theirs, True, played, "scenario")
