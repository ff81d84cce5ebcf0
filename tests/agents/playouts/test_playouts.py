"""Compiled playouts: the same as those that any bot plays in lock step, and exact where the game ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.base import ActionValues
from agents.bert.training.targets.rollouts import Rollouts
from agents.playouts import POLICIES, Playouts
from agents.playouts.playouts import shuffle_unseen
from agents.playouts.policies import policy_bot
from agents.playouts.value import round_values
from agents.registry import make
from engine import kernels
from engine.actions import ANKAN
from engine.compiling import kernel
from engine.rules import TENHOU
from engine.table import GAME_OVER, N_SEATS, NOBODY, ROUND_OVER, TABLE, raw_bytes
from engine.tables import Tables


def positions(n_games: int, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tables of games between `rule`: whole ones, which of them, seats that act, and actions that they compare."""
    rule = make("rule")
    assert isinstance(rule, ActionValues)
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    tables = Tables(np.arange(n_games, dtype=np.uint64))

    def act(views: np.ndarray) -> np.ndarray:
        values = rule.action_values(views)
        if len(found) < steps:
            decision, actions = np.nonzero(np.isfinite(values))
            of = tables.asked_tables[: len(views)][decision]
            found.append((tables.records.copy(), of.astype(np.int64), views["viewer"][decision], actions))
        return values.argmax(axis=1)

    for _ in tables.play([act], np.zeros((n_games, N_SEATS), dtype=np.int8)):
        if len(found) == steps:
            break
    return found[-1]


@pytest.mark.parametrize("policy", POLICIES)
def test_compiled_playouts_are_those_of_the_bot(policy: str) -> None:
    """The bot sees views, the compiled policy whole tables: it reads nothing that its seat may not know."""
    for steps in (5, 25):
        tables, which, seats, actions = positions(6, steps)
        bots: list[Any] = [Playouts(policy), policy_bot(policy)]
        one, other = (Rollouts(make("rule"), 4, TENHOU, 7, bot) for bot in bots)
        found = one.roll_out(tables[which], seats, actions, np.arange(len(which)))
        assert np.array_equal(found, other.roll_out(tables[which], seats, actions, np.arange(len(which))))
        assert found.std() > 0.01


@pytest.mark.slow
def test_quick_plays_nearly_as_well_as_linear() -> None:
    """Mean placement against two `linear`."""
    tables, bots = Tables(np.arange(600, dtype=np.uint64) // 3), [policy_bot("quick"), policy_bot("linear")]
    seats = np.arange(600) % 3
    players = np.array([np.roll([0, 1, 1], seat) for seat in seats], dtype=np.int8)
    for _ in tables.play([bot.act for bot in bots], players):
        pass
    ranks = np.array(
        [TENHOU.ranks(scores)[seat] for seat, scores in zip(seats, tables.records["seat"]["score"].tolist())]
    )
    assert ranks.mean() == pytest.approx(2.02, abs=0.05)


def test_the_same_wall_gives_the_same_playout() -> None:
    tables, which, seats, actions = positions(4, 12)
    walls = np.repeat(np.array([[5, 6, 5]], dtype=np.uint64), len(which), axis=0)
    before = tables.copy()
    values = Playouts("linear").try_actions(tables, which, seats, actions, walls)
    assert np.array_equal(values[:, 0], values[:, 2])
    assert not np.array_equal(values[:, 0], values[:, 1])
    assert tables.tobytes() == before.tobytes()


@kernel("uint8[::1], uint64")
def shuffled(raw: np.ndarray, seed: np.uint64) -> None:
    """Shuffle what nobody has seen of the tables `raw` uint8[:]."""
    tables = raw.view(TABLE)
    for i in range(len(tables)):
        shuffle_unseen(tables[i], seed)


def test_only_tiles_that_nobody_has_seen_are_shuffled() -> None:
    """Tiles of hands, even hidden ones, are where they were."""
    before = positions(6, 25)[0]
    after = before.copy()
    shuffled(raw_bytes(after), np.uint64(5))
    unseen = before["known_by"] == NOBODY
    assert unseen.any(axis=1).all()
    assert np.array_equal(after["wall"][~unseen], before["wall"][~unseen])
    assert np.mean(after["wall"][unseen] == before["wall"][unseen]) < 0.2
    assert np.array_equal(np.sort(after["wall"]), np.sort(before["wall"]))
    after["wall"] = before["wall"]
    assert after.tobytes() == before.tobytes()


def test_the_value_is_exact_where_the_game_ends() -> None:
    """A table in phase ROUND_OVER whose game ends, and the same table after it has ended: same placements."""
    checked = 0
    tables = Tables(np.arange(40, dtype=np.uint64))
    rule = make("rule")
    for _ in tables.play([rule.act], np.zeros((40, N_SEATS), dtype=np.int8)):
        before: Any = tables.records.copy()
        after = Tables.from_records(before.copy(), TENHOU)
        kernels.next_rounds(after.raw)
        ended = np.flatnonzero((after.records["phase"] == GAME_OVER) & (before["phase"] == ROUND_OVER))
        for i in ended.tolist():
            values = np.empty(3, dtype=np.float32)
            round_values(np.repeat(before[i : i + 1], 3).view(np.uint8), np.arange(3, dtype=np.int8), values)
            scores = after.records["seat"]["score"][i]
            expected = scores / 200_000 - np.array(TENHOU.ranks(scores.tolist()))
            assert values == pytest.approx(expected, abs=1e-6)
            checked += 1
    assert checked == 40


def test_bad_arguments_are_refused() -> None:
    tables, which, seats, actions = positions(4, 12)
    walls = np.zeros((len(which), 1), dtype=np.uint64)
    playouts = Playouts("linear")
    illegal = np.full_like(actions, ANKAN + 9)
    with pytest.raises(ValueError, match=r"may not play action"):
        playouts.try_actions(tables, which, seats, illegal, walls)
    with pytest.raises(ValueError, match=r"must be 0 to 3"):
        playouts.try_actions(tables, which + 4, seats, actions, walls)
    with pytest.raises(ValueError, match=r"one for each"):
        playouts.try_actions(tables, which, seats[1:], actions, walls)
    with pytest.raises(ValueError, match=r"may not play action"):
        playouts.try_actions(tables, which, seats + 3, actions, walls)
