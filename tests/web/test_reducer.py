"""The reducer of the pages, `server/web/mjai.js`, agrees with the engine after every message."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.built_in import BUILT_IN
from agents.registry import make
from engine.game import Game
from engine.mjai.connection import DIALECTS
from engine.mjai.messages import Message
from engine.records import mjai
from engine.records.files import read_records
from engine.records.model import GameRecord
from engine.records.replay import Replay
from engine.rules import MAJSOUL, TENHOU
from engine.table import TABLE
from tests.conftest import Scale
from tests.support.built_in_bots import quick
from tests.support.players import ALL_HABITS, efficient_driver, play
from tests.support.walls import clustered_wall
from tests.support.web_states import VIEWERS, Reducer, Reference, State, Viewer, shown_to

RULES = [preset.with_length(length) for preset in (TENHOU, MAJSOUL) for length in ("east", "hanchan")]


@pytest.fixture(scope="module")
def reducer() -> Iterator[Reducer]:
    with Reducer() as running:
        yield running


def games_of_bots(seeds: Iterable[int]) -> list[Game]:
    """Games of all built-in bots, played at once, so that a bot answers many views in a call."""
    games = [Game(seed, RULES[seed % len(RULES)]) for seed in seeds]
    names = [random.Random(seed).choices(list(BUILT_IN), k=3) for seed in seeds]
    bots = {name: make(quick(name), 7) for name in BUILT_IN}
    while any(not game.over for game in games):
        for name, bot in bots.items():
            asked = [(game, seat) for game, at in zip(games, names) for seat in game.asked if at[seat] == name]
            if asked := [(game, seat) for game, seat in asked if not game.over]:
                views = np.array([game.view(seat) for game, seat in asked], dtype=TABLE)
                for (game, seat), action in zip(asked, bot.act(views).tolist(), strict=True):
                    game.act(seat, action)
    return games


def odd_game(seed: int) -> Game:
    """A game with many rare events: kans of all kinds, double rons, abortive draws."""
    rng = random.Random(seed)
    walls = [clustered_wall(rng) for _ in range(5)] if seed % 4 else []
    return play(Game(seed, RULES[seed % len(RULES)], walls=walls), efficient_driver(rng, ALL_HABITS[seed % 10]))


def difference(found: Any, expected: Any, where: str = "") -> str:
    """The first difference of two states, "" for none."""
    if found == expected:
        return ""
    if isinstance(expected, dict) and isinstance(found, dict) and found.keys() == expected.keys():
        parts = ((key, found[key], expected[key]) for key in expected)
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        parts = ((str(index), *pair) for index, pair in enumerate(zip(found, expected)))
    else:
        return f"{where} is {found!r}, not {expected!r}"
    return next(filter(None, (difference(one, other, f"{where}.{key}") for key, one, other in parts)), "")


def disagreement(reducer: Reducer, messages: list[Message], viewers: Sequence[Viewer] = VIEWERS) -> str:
    """Where the reducer's states and the engine's differ first, "" for nowhere."""
    states = []
    for viewer in viewers:
        found, error = reducer.run([shown_to(viewer, message) for message in messages])
        if error:
            return f"{viewer}: {error} after {messages[len(found) - 1]}"
        states.append(found)
    reference = Reference()
    for index, message in enumerate(messages):
        reference.update(message)
        for viewer, found in zip(viewers, states):
            if where := difference(found[index], reference.state(viewer)):
                return f"{viewer}, message {index}, {message}: {where}"
    return ""


def test_games_of_all_bots(reducer: Reducer, scale: Scale) -> None:
    n = 16 if scale == "quick" else 500
    for first in range(0, n, 50):
        for game in games_of_bots(range(first, min(first + 50, n))):
            assert disagreement(reducer, game.messages) == ""


def test_games_with_every_event(reducer: Reducer, scale: Scale) -> None:
    kinds: set[str] = set()
    for seed in range(16 if scale == "quick" else 200):
        messages = odd_game(seed).messages
        kinds |= {message["type"] for message in messages}
        assert disagreement(reducer, messages) == ""
    assert kinds >= {"pon", "daiminkan", "kakan", "ankan", "nukidora", "dora", "reach_accepted", "hora", "ryukyoku"}


def test_real_records(reducer: Reducer, records_dir: Path) -> None:
    for path in sorted(records_dir.iterdir()):
        record = read_records(path)
        rules = Replay(record).rules
        start = record.events[0] | {"rules": rules.name, "length": rules.length}
        assert disagreement(reducer, [start, *record.events[1:]], ["open"]) == "", path.name


@pytest.mark.parametrize("dialect", DIALECTS)
def test_records_in_every_dialect(reducer: Reducer, dialect: str, scale: Scale) -> None:
    """A record that was written in a dialect gives the states of the game, but for the keys that the dialect lacks."""
    n = 4 if scale == "quick" else 100
    for game in [*games_of_bots(range(n)), *map(odd_game, range(n))]:
        record = GameRecord(game.messages, game.rules, "own")
        states, _ = reducer.run(game.messages)
        found, error = reducer.run(mjai.read(mjai.write(record, dialect), "written").events)
        assert error == ""
        whole = dialect == "mjai3p"
        for one, other in zip(found, states, strict=True):
            assert difference(one if whole else common(one), other if whole else common(other)) == ""


def test_players_of_the_same_name_are_numbered(reducer: Reducer) -> None:
    (state,), _ = reducer.run([{"type": "start_game", "names": ["a", "b", "a"]}])
    assert [seat["name"] for seat in state["seats"]] == ["a", "b", "a#2"]


def common(state: State) -> State:
    """What every dialect tells of a state."""
    kept = {key: state[key] for key in state if key not in ("rules", "length", "points", "draw")}
    kept["wins"] = [(win["actor"], win["target"], win["pai"], win["scores"]) for win in state["wins"]]
    if state["phase"] == "game_over":  # the sticks that lie there at the end: final scores may be missing
        kept["seats"] = [{key: seat[key] for key in seat if key != "score"} for seat in state["seats"]]
    seats = kept["seats"] if state["round"] else [{**seat, "name": ""} for seat in kept["seats"]]
    return kept | {"seats": seats}


# Messages that cannot be ----------------------------------------------------------------------------------------------

START = [
    {"type": "start_game", "names": ["a", "b", "c"], "id": 0},
    {
        "type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0, "dora_marker": "9s",
        "scores": [35000] * 3,
        "tehais": [["1m", "9m", *(f"{n}p" for n in range(1, 10)), "E", "E"], ["?"] * 13, ["?"] * 13],
    },
]  # fmt: skip
DRAW = {"type": "tsumo", "actor": 0, "pai": "1s"}
DISCARD = {"type": "dahai", "actor": 0, "pai": "1s", "tsumogiri": True}
PON = {"type": "pon", "actor": 1, "target": 0, "pai": "1s", "consumed": ["1s", "1s"]}


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([DRAW], "tsumo of seat 0: no round is being played"),
        ([*START, START[1]], "start_kyoku: the round is not over"),
        ([*START, {"type": "dahai", "actor": 0, "pai": "1m", "tsumogiri": False}], "dahai of seat 0: it has not drawn"),
        ([*START, DRAW, DRAW], "tsumo of seat 0: it has to discard first"),
        ([*START, DRAW, DISCARD | {"tsumogiri": False, "pai": "2s"}], "dahai of seat 0: it does not hold 2s"),
        ([*START, DRAW, DISCARD | {"pai": "1m"}], "dahai of seat 0: it has not drawn 1m"),
        ([*START, DRAW, DISCARD, PON | {"pai": "2s"}], "pon of seat 1: seat 0 has not just discarded 2s"),
        ([*START, DRAW, DISCARD, PON | {"target": 2}], "pon of seat 1: seat 2 has not just discarded 1s"),
        ([*START, DRAW, DISCARD, {"type": "tsumo", "actor": 3, "pai": "?"}], "tsumo of seat 3: there is no such seat"),
        ([*START, DRAW, {"type": "kakan", "actor": 0, "pai": "1p"}], "kakan of seat 0: there is no pon of 1p"),
        ([*START, DRAW, {"type": "ankan", "actor": 0}], "ankan of seat 0: a key is missing, or has no such value"),
        ([START[0], START[1] | {"tehais": [["5m"]] * 3}], "start_kyoku: 5m is no tile"),
    ],
)
def test_an_impossible_message_is_one_clear_line(reducer: Reducer, messages: list[Message], error: str) -> None:
    states, found = reducer.run(messages)
    assert found == f"MjaiError: {error}"
    assert len(states) == len(messages) - 1


def test_messages_of_the_connection_change_nothing(reducer: Reducer) -> None:
    others = [{"type": kind} for kind in ("hello", "error", "none", "joined", "toString", "__proto__")]
    states, error = reducer.run([*START, *others])
    assert error == ""
    assert states[2:] == [states[1]] * len(others)
