"""Tactics: classes with `__call__(view)`, and what they observe."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import registry, tactics
from agents.external.adapters import AgentBot
from agents.external.fallback import FallbackAgent
from agents.external.mjai_bot import BotError
from agents.tactics import TacticAgent, legal_actions
from engine.actions import KYUSHU_KYUHAI, PASS, RIICHI, RON, TSUMO, TSUMOGIRI, Action
from engine.game import Game
from engine.mjai.possible_actions import legal_action, safe_default
from engine.mjai.reading import canonical
from engine.mjai.round_events import round_messages
from engine.table import N_SEATS
from engine.tables import PolicyFault, Tables
from engine.tiles import MJAI_NAMES

TACTICS = """\
from agents.tactics import legal_actions
from engine.mjai.possible_actions import safe_default


class Plain:
    def __call__(self, view):
        return safe_default(legal_actions(view))


class Forgetful:
    def __call__(self, view):
        legal_actions(view)


class Illegal:
    name = "the illegal"

    def __call__(self, view):
        return 999


class Wordy:
    def __call__(self, view):
        return "riichi"


class Sure:
    def __call__(self, view):
        return True


class Raising:
    def __call__(self, view):
        return self.helper(view)

    def helper(self, view):
        return 1 / 0


class Leaving:
    def __call__(self, view):
        raise SystemExit(3)


class Blind(Plain):
    def observe(self, view, seat, action):
        raise KeyError(seat)


class Seeded(Plain):
    def __init__(self, seed, argument):
        self.seed, self.argument = seed, argument


def closure():
    return lambda view: safe_default(legal_actions(view))
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / "my_tactic.py"
    path.write_text(TACTICS)
    return path


class Recorder:
    """Plays rule's actions, and keeps what it has observed in `made`."""

    made: list[Recorder]

    def __init__(self) -> None:
        self.rule = registry.make("rule")
        self.seen: list[tuple[int, int]] = []
        self.decisions: list[tuple[np.record, int]] = []  # each with the number of actions observed before
        self.last: np.record | None = None
        self.made.append(self)

    def __call__(self, view: np.record) -> int:
        self.decisions.append((view, len(self.seen)))
        return int(self.rule.act(np.array([view]))[0])

    def observe(self, view: np.record, seat: int, action: int) -> None:
        assert isinstance(action, Action)
        if action <= TSUMOGIRI:
            assert view.turn == seat
            assert action in (view.offer, TSUMOGIRI)
        if action == RIICHI:
            assert view.riichi_pending
        self.seen.append((seat, int(action)))


def recorder() -> tuple[TacticAgent, list[Recorder]]:
    """An agent of tactics that record, and all its tactics."""
    made: list[Recorder] = []
    kind = type("Kept", (Recorder,), {"made": made})
    return TacticAgent(lambda seed: kind(), 0, "recorder"), made


def actions_in(messages: list[dict[str, Any]]) -> list[tuple[int, str, str]]:
    """The public actions of messages: seat, type and tile."""
    kinds = ("dahai", "reach", "pon", "daiminkan", "ankan", "kakan", "nukidora")
    return [(each["actor"], each["type"], each.get("pai", "")) for each in messages if each["type"] in kinds]


def test_a_tactic_observes_every_public_action_before_each_decision() -> None:
    """On tables in lock step, where one agent plays all seats: each tactic has seen what the record has so far."""
    agent, made = recorder()
    tables = Tables(range(4))
    n_rounds = sum(len(ended) for ended in tables.play([agent.act], np.zeros((4, N_SEATS), dtype=np.int8)))
    assert n_rounds <= len(made) <= N_SEATS * n_rounds
    checked = 0
    for tactic in made:
        assert len({int(view["viewer"]) for view, _ in tactic.decisions}) == 1
        for view, n_seen in tactic.decisions:
            expected = actions_in(round_messages(view))
            assert [seat for seat, _ in tactic.seen[:n_seen]] == [seat for seat, _, _ in expected]
            for (_, action), (_, kind, tile) in zip(tactic.seen, expected, strict=False):
                name = Action(action).name.partition(" ")[0]
                assert name in {"dahai": ("discard", "tsumogiri"), "reach": ("riichi",)}.get(kind, (kind,))
                if name == "discard":
                    assert MJAI_NAMES[action] == tile
            checked += 1
    assert checked > 300


def test_the_actions_that_a_tactic_observes_are_those_that_were_played() -> None:
    """Against the numbers given to `Game.act`, in one game, without passes and what ends a round."""
    agent, made = recorder()
    others = registry.make("rule")
    game = Game(seed=5)
    rounds: dict[bytes, list[tuple[int, int]]] = {}
    while not game.over:
        acted = rounds.setdefault(game.table["seat"]["start_score"].tobytes() + game.table["wall"].tobytes(), [])
        players = [(seat, agent if seat == 1 else others) for seat in game.asked]
        for seat, action in [(seat, int(player.act(np.array([game.view(seat)]))[0])) for seat, player in players]:
            game.act(seat, action)
            if action not in (PASS, TSUMO, RON, KYUSHU_KYUHAI):
                acted.append((seat, action))
    assert len(made) == len(rounds) > 6
    for tactic, acted in zip(made, rounds.values(), strict=True):
        assert tactic.seen == acted[: len(tactic.seen)]
    assert sum(len(tactic.seen) for tactic in made) > 0.8 * sum(map(len, rounds.values()))


def test_a_tactic_plays_the_same_from_views_in_any_batch_and_from_messages() -> None:
    """Alone at a table by messages, and among others in lock step: the same games to the last action."""
    scores = []
    for seed in (1, 2):
        agents = [recorder()[0] for _ in range(N_SEATS)]
        bots = [AgentBot(agent) for agent in agents]
        game = Game(seed=seed)
        while not game.over:
            for seat in game.asked:
                reply = canonical(bots[seat].react(game.new_messages(seat)))
                game.act(seat, legal_action(game.table, seat, reply, game.legal(seat)))
        scores.append(game.scores)
    tables = Tables([1, 2])
    for _ in tables.play([recorder()[0].act], np.zeros((2, N_SEATS), dtype=np.int8)):
        pass
    assert tables.records["seat"]["score"].tolist() == scores


def test_a_tactic_in_a_file_is_named_as_any_bot(file: Path) -> None:
    for name, shown in (("Plain", "Plain"), ("closure", "function"), ("Illegal", "the illegal")):
        assert registry.make(f"{file}:{name}").name == shown
    tables = Tables([3])
    bot = registry.make(f"{file}:Plain")
    for _ in tables.play([bot.act, FallbackAgent().act], np.array([[0, 1, 0]])):
        pass


def test_each_round_has_a_tactic_with_a_seed_of_its_own(file: Path) -> None:
    made = []
    bot = registry.make(f"{file}:Seeded:x", seed=9)
    assert isinstance(bot, TacticAgent)
    make = bot._make
    bot._make = lambda seed: made.append(make(seed)) or made[-1]  # type: ignore[func-returns-value]
    tables = Tables([3, 4])
    for _ in tables.play([bot.act], np.zeros((2, N_SEATS), dtype=np.int8)):
        pass
    seeds = [each.seed for each in made]
    assert len(seeds) == len(set(seeds)) > 20
    assert {each.argument for each in made} == {"x"}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("Forgetful", r"Forgetful.__call__ \(my_tactic.py, line 11\) returned None \(is a return missing\?\), not the"),
        (
            "Illegal",
            r"Illegal.__call__ \(my_tactic.py, line 18\) returned 999 \(answer 999\), not the number of a legal ",
        ),
        (
            "Wordy",
            r"Wordy.__call__ \(my_tactic.py, line 23\) returned 'riichi', not the number of a legal action; legal:",
        ),
        ("Sure", r"Sure.__call__ \(my_tactic.py, line 28\) returned True"),
        ("Raising", r"Raising.__call__ \(my_tactic.py, line 37\) raised ZeroDivisionError: division by zero$"),
        ("Leaving", r"Leaving.__call__ \(my_tactic.py, line 42\) raised SystemExit: 3$"),
        ("Blind", r"Blind.observe \(my_tactic.py, line 47\) raised KeyError: \d$"),
    ],
)
def test_a_broken_tactic_is_told_with_class_file_line_and_what_is_legal(file: Path, name: str, what: str) -> None:
    tables = Tables([1])
    with pytest.raises(PolicyFault, match=r"policy 0, table 0, seat \d: " + what) as fault:
        for _ in tables.play([registry.make(f"{file}:{name}").act], np.zeros((1, N_SEATS), dtype=np.int8)):
            pass
    assert "\n" not in str(fault.value)
    if "returned" in what:
        assert "37 (tsumogiri)" in str(fault.value)
    if name != "Blind":  # at its first decision it has observed nothing
        with pytest.raises(BotError, match="^" + what):
            AgentBot(registry.make(f"{file}:{name}")).react(Game(seed=1).new_messages(0))


def test_what_is_legal_is_what_the_game_says() -> None:
    game = Game(seed=1)
    assert legal_actions(game.view(0)) == game.legal(0)
    assert safe_default(game.legal(0)) not in (TSUMO, RON)


def test_rounds_that_are_over_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tactics, "MAX_ROUNDS", 3)
    agent, made = recorder()
    for _ in Tables([1]).play([agent.act], np.zeros((1, N_SEATS), dtype=np.int8)):
        pass
    assert len(made) > 3
    assert len(agent._rounds) == 3
