"""The same rounds played by this engine and by RiichiEnv: every menu, event, payment and next round must be equal.

Where the two are known to differ, the difference stands in `NAMED` with its reason; it is counted, and the round goes
on as long as what was played is legal on both sides. Any other difference fails with all it takes to see it again.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

pytest.importorskip("riichienv", reason="the oracle, riichienv, is not installed")

from engine import mjai
from engine.actions import ACTION_NAMES, ANKAN, KAKAN, PASS, RIICHI, TSUMOGIRI
from engine.game import Game
from engine.rules import RIICHI_STICK, TOTAL_POINTS
from engine.shanten import shanten_of
from engine.table import TABLE
from engine.tiles import EAST, HONOUR, KIND_OF
from tests.engine.drivers import ALL_HABITS, Chooser, Habits, efficient_driver, random_driver
from tests.engine.riichienv_bridge import (
    FIRST_ROUND,
    Decision,
    Menus,
    Ours,
    Round,
    Side,
    State,
    Theirs,
    Used,
    lead,
    normal_events,
    our_wall,
    their_wall,
    used_of,
)
from tests.engine.walls import ALL_TILES, build_wall, clustered_wall

ODD_ROUNDS_PER_GAME = 10
WHOLE_WALL = Used(51, 8, 5)


@dataclass(frozen=True)
class MenuDifference:
    """Actions that only one side allows a seat, at our table `t`."""

    t: np.record
    seat: int
    only_ours: frozenset[int]
    only_theirs: frozenset[int]


@dataclass(frozen=True)
class Named:
    """A known difference: what it looks like, and why it is no fault of ours."""

    name: str
    reason: str
    applies: Callable[[MenuDifference], bool]


def kan_changes_reading(difference: MenuDifference) -> bool:
    """In riichi the others' engine would allow an ankan whose tiles some reading of the won hand has in a run."""
    t, seat = difference.t, difference.t.seat[difference.seat]
    if difference.only_ours or len(difference.only_theirs) != 1 or not seat.riichi:
        return False
    (action,) = difference.only_theirs
    kind = action - ANKAN
    if not ANKAN <= action < KAKAN or kind >= HONOUR or KIND_OF[t.drawn] != kind or seat.hand[kind] != 4:
        return False
    before = seat.hand.astype(np.int64)
    before[kind] -= 1
    return any(
        _complete_with_run(before, wait, first, int(seat.n_melds))
        for wait in range(len(before))
        for first in range(max(kind - 2, kind // 9 * 9), min(kind, kind // 9 * 9 + 6) + 1)
        if before[wait] < 4
    )


def _complete_with_run(hand: np.ndarray, wait: int, first: int, n_melds: int) -> bool:
    hand = hand.copy()
    hand[wait] += 1
    hand[first : first + 3] -= 1
    if hand.min() < 0 or hand[1:8].any():
        return False
    return shanten_of(hand.tolist(), n_melds + 1) == -1


NAMED = (
    Named(
        "a kan in riichi that changes the hand's reading",
        "Tenhou allows it only where the tiles are a triplet in every reading; riichienv 0.4.11 compares waits alone",
        kan_changes_reading,
    ),
)


# Comparing ------------------------------------------------------------------------------------------------------------


class Comparison:
    """Both engines, and what differed so far."""

    def __init__(self) -> None:
        self.ours, self.theirs = Ours(), Theirs()
        self.named: Counter[str] = Counter()
        self.stopped = 0  # rounds that could not be played to their end on both sides
        self.seen: Counter[str] = Counter()  # events, to know what the games held

    def play(self, we_lead: bool, state: State, tiles: list[int], choose: Chooser, label: str) -> Round:
        """One round, led by one side and followed by the other; `tiles` is a wall laid out our way."""
        leader: Side = self.ours if we_lead else self.theirs
        played = lead(leader, state, tiles if we_lead else their_wall(tiles, WHOLE_WALL), choose)
        self._note(played)
        label = f"{label}, {'we lead' if we_lead else 'they lead'}, {state}"
        used = used_of(played.events)
        if we_lead:
            self.theirs.begin(state, their_wall(played.wall, used))
            follower: Side = self.theirs
        else:
            self.ours.begin(state, our_wall(played.wall, used))
            follower = self.ours
        if self._follow(follower, played, label):
            assert follower.ended, f"{label}: the round does not end where it ended for the leader"
            assert follower.events() == played.events, label
            assert follower.after() == played.after, f"{label}: after {played.events[-1]}"
        return played

    def _follow(self, follower: Side, played: Round, label: str) -> bool:
        """Whether the follower could play the whole round."""
        for number, decision in enumerate(played.decisions):
            menus = follower.menus()
            if menus != decision.menus:
                self._name(menus, decision, f"{label}, decision {number}")
                if any(action not in menus.get(seat, ()) for seat, action in decision.answers.items()):
                    self.stopped += 1
                    return False
            follower.act(decision.answers)
        return True

    def _name(self, menus: Menus, decision: Decision, label: str) -> None:
        """Count each difference between the follower's `menus` and the leader's under its name."""
        we_led = decision.table is not None
        t = (decision.table if we_led else self.ours.raw).view(TABLE)[0]
        our_menus, their_menus = (decision.menus, menus) if we_led else (menus, decision.menus)
        for seat in our_menus.keys() | their_menus.keys():
            allowed, theirs = our_menus.get(seat, frozenset()), their_menus.get(seat, frozenset())
            difference = MenuDifference(t, seat, allowed - theirs, theirs - allowed)
            name = next((named.name for named in NAMED if named.applies(difference)), None)
            if allowed != theirs:
                assert name, f"{label}, seat {seat}:\n{describe(difference)}"
                self.named[name] += 1

    def _note(self, played: Round) -> None:
        for before, event in zip(played.events, played.events[1:], strict=False):
            self.seen[event[0]] += 1
            if event[0] == "ryukyoku":
                self.seen[event[1]] += 1
            if event[0] == "hora" and event[1] != event[2]:
                self.seen[f"ron after {before[0]}"] += 1


def describe(difference: MenuDifference) -> str:
    """A position and what is different in it."""
    t = difference.t
    lines = [f"{mjai.hand_names(p)} melds {p.meld_kind[: p.n_melds]} riichi {p.riichi} {p.score}" for p in t.seat]
    lines += [
        f"only ours: {[ACTION_NAMES[action] for action in sorted(difference.only_ours)]}",
        f"only theirs: {[ACTION_NAMES[action] for action in sorted(difference.only_theirs)]}",
        f"turn {t.turn} drawn {t.drawn} offer {t.offer} live {t.live_left} wall {t.wall.tolist()}",
        *map(str, normal_events(mjai.messages(t))),
    ]
    return "\n".join(lines)


# The games ------------------------------------------------------------------------------------------------------------


def play_hanchan(
    comparison: Comparison, we_lead: bool, seed: int, choose: Chooser
) -> tuple[list[Round], list[list[int]]]:
    """A hanchan, each round starting where the leader's last one ended; its rounds, and their walls laid our way."""
    rng = random.Random(-seed - 1)
    state, rounds, walls = FIRST_ROUND, [], []
    while not state.over:
        tiles = rng.sample(ALL_TILES, len(ALL_TILES))
        played = comparison.play(we_lead, state, tiles, choose, f"seed {seed}")
        used = used_of(played.events)
        rounds.append(played)
        walls.append(tiles if we_lead else our_wall(played.wall, used))
        assert played.after is not None
        state = played.after
    return rounds, walls


def check_game(rounds: list[Round], walls: list[list[int]]) -> None:
    """`Game`, dealt the same walls and given the same answers, tells the same story."""
    game = Game(walls=walls)
    for played in rounds:
        for decision in played.decisions:
            assert game.asked == tuple(sorted(decision.answers))
            for seat, action in decision.answers.items():
                game.act(seat, action)
    assert game.over
    starts = [i for i, message in enumerate(game.messages) if message["type"] == "start_kyoku"]
    for played, start in zip(rounds, starts, strict=True):
        assert normal_events(game.messages[start:]) == played.events
    assert rounds[-1].after is not None
    assert tuple(game.scores) == rounds[-1].after.scores


@pytest.mark.parametrize("we_lead", [False, True], ids=["riichienv leads", "we lead"])
def test_hanchan(we_lead: bool, request: pytest.FixtureRequest) -> None:
    """Half of the games are played at random, half with an aim."""
    comparison = Comparison()
    for seed in range(we_lead, request.config.getoption("--oracle-games"), 2):
        rng = random.Random(seed)
        efficient = efficient_driver(rng, ALL_HABITS[seed // 2 % len(ALL_HABITS)])
        rounds, walls = play_hanchan(comparison, we_lead, seed, efficient if seed % 2 else random_driver(rng))
        if not comparison.stopped:
            check_game(rounds, walls)
    assert comparison.stopped <= comparison.named.total()
    print(dict(comparison.named), dict(comparison.seen))


def odd_state(rng: random.Random) -> State:
    """A round to start from in which ends of games, low scores and leftover sticks are near."""
    sticks = rng.choice([0, 0, 1, 2])
    total = TOTAL_POINTS - RIICHI_STICK * sticks
    low = rng.choice([0, 100, 900, 1_000, 1_100, 1_900, 2_000, *range(20_000, 42_000, 500)])
    middle = min(rng.choice([rng.randrange(10_000, 50_000, 100), rng.randrange(38_000, 42_000, 100)]), total - low)
    scores = rng.sample([low, middle, total - low - middle], 3)
    wind, dealer = rng.choice([(0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (1, 2), (2, 0), (2, 1), (2, 2)])
    return State(wind, dealer, rng.choice([0, 0, 1, 3]), sticks, tuple(scores))


def odd_habits(rng: random.Random) -> Habits:
    """Habits of every kind, mixed."""
    return Habits(
        win=rng.choice([0.1, 0.5, 1]),
        riichi=rng.choice([0, 0.5, 1]),
        nukidora=rng.choice([0.3, 1]),
        pon=rng.choice([0, 0.5, 1]),
        kan=rng.choice([0.1, 0.5, 1]),
        abort=rng.choice([0, 1]),
        noise=rng.choice([0, 0.1]),
        first=rng.choice(["", "", "outer", "inner"]),
    )


def test_odd_rounds(request: pytest.FixtureRequest) -> None:
    """Single rounds with like tiles together, from scores and rounds where games end: kans, robbed tiles, yakuman."""
    comparison = Comparison()
    n = ODD_ROUNDS_PER_GAME * request.config.getoption("--oracle-games")
    for seed in range(n):
        rng = random.Random(seed)
        state, tiles = odd_state(rng), clustered_wall(rng)
        choose = random_driver(rng) if seed % 7 == 0 else efficient_driver(rng, odd_habits(rng))
        comparison.play(seed % 2 == 0, state, tiles, choose, f"odd seed {seed}")
    assert comparison.stopped <= comparison.named.total()
    print(dict(comparison.named), dict(comparison.seen))
    if n >= 3_000:
        rare = ("nagashimangan", "sukaikan", "kyushukyuhai", "kakan", "ron after nukidora", "ron after hora")
        assert [name for name in rare if comparison.seen[name] == 0] == []


def test_named_kan_is_told_from_a_real_difference() -> None:
    """5556788s waits for 8s with 555s, and for 5s and 8s with 567s: drawing 5s in riichi, no kan."""
    wall = build_wall(["678p123550678s1z", "", ""], draws="8s2z3z5s")
    comparison = Comparison()

    def choose(hand: Sequence[int], n_melds: int, drawn: int, menu: Sequence[int]) -> int:
        return next(action for action in (RIICHI, PASS, EAST, TSUMOGIRI, *menu) if action in menu)

    comparison.play(True, FIRST_ROUND, wall, choose, "the kan")
    assert comparison.named == {NAMED[0].name: 1}
    assert comparison.stopped == 0


def test_unnamed_difference_fails_with_its_position(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_tsumogiri(side: Theirs) -> Menus:
        return {seat: menu - {TSUMOGIRI} for seat, menu in honest(side).items()}

    honest = Theirs.menus
    comparison = Comparison()
    monkeypatch.setattr(Theirs, "menus", without_tsumogiri)
    with pytest.raises(AssertionError, match=r"(?s)seed 3, we lead.*decision 0, seat 0.*only ours: \['tsumogiri'\]"):
        play_hanchan(comparison, True, 3, random_driver(random.Random(3)))
