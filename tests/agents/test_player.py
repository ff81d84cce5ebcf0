"""Agents that are told of the game by messages alone answer as they do from the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from agents.external.mjai_bot import AgentBot, BotError, StandIn
from agents.registry import make
from engine.actions import NUKIDORA, PASS, RIICHI, TSUMOGIRI
from engine.game import Game
from engine.mjai.actions import action_message
from engine.mjai.possible_actions import legal_action, possible_actions, safe_default
from engine.mjai.reading import canonical
from engine.table import TABLE

Message = dict[str, Any]
BOTS = ("efficiency", "random", "tsumogiri")


def play(game: Game, answer: Callable[[int, list[Message]], int]) -> None:
    """Play to the end: `answer` is told a seat and what that seat has heard since it was last asked."""
    while not game.over:
        for seat in game.asked:
            game.act(seat, answer(seat, game.new_messages(seat)))


def test_agents_play_the_same_by_messages_as_from_the_table() -> None:
    agents = [make(name, seed=7) for name in BOTS]
    players = [AgentBot(agent) for agent in agents]
    game = Game(seed=11)

    def answer(seat: int, messages: list[Message]) -> int:
        expected = int(agents[seat].act(np.array([game.view(seat)]))[0])
        reply = canonical(players[seat].react(messages))
        assert legal_action(game.table, seat, reply, game.legal(seat)) == expected
        return expected

    for _ in range(2):
        play(game, answer)
        for seat, player in enumerate(players):
            assert player.react(game.new_messages(seat)) == {"type": "none"}
        game = Game(seed=12)


class Broken:
    """An agent that raises, or answers what it may not."""

    name = "broken"

    def __init__(self, answer: int | None) -> None:
        self.answer = answer

    def act(self, views: np.ndarray) -> np.ndarray:
        if self.answer is None:
            raise ZeroDivisionError("out of\nideas")
        return np.array([self.answer])


@pytest.mark.parametrize(
    ("answer", "what"),
    [(None, "^raised ZeroDivisionError: out of ideas$"), (PASS, "^may not pass; legal: .*tsumogiri")],
)
def test_an_agent_that_fails(answer: int | None, what: str) -> None:
    with pytest.raises(BotError, match=what):
        AgentBot(Broken(answer)).react(Game(seed=1).new_messages(0))


def test_a_game_that_cannot_be_followed() -> None:
    player = AgentBot(StandIn())
    with pytest.raises(BotError, match=r"^does not understand the game: "):
        player.react([*Game(seed=1).new_messages(0), {"type": "tsumo", "actor": 0, "pai": "1p"}])


def test_the_stand_in_takes_nothing_and_never_fails() -> None:
    """Also where a bot has failed right after it declared riichi or ponned."""
    agent, stand_in = make("random", seed=3), StandIn()
    seen = set()
    for seed in range(12):
        game = Game(seed=seed)
        while not game.over:
            for seat in game.asked:
                views = np.array([game.view(seat)], dtype=TABLE)
                legal = game.legal(seat)
                safe = int(stand_in.act(views)[0])
                assert safe == safe_default(legal)
                assert safe in legal
                assert safe <= TSUMOGIRI or safe == PASS
                seen.add(safe in (PASS, TSUMOGIRI))
                game.act(seat, int(agent.act(views)[0]))
    assert seen == {True, False}


def test_what_is_possible_is_told_with_the_question() -> None:
    """Hints are those of the protocol: special actions on a draw or another's discard, tiles that must stay."""
    told: dict[str, list[Message]] = {"possible_actions": [], "cannot_dahai": []}
    agents = [make(name, seed=7) for name in ("random", "efficiency", "random")]
    game = Game(seed=5)

    def answer(seat: int, messages: list[Message]) -> int:
        legal = game.legal(seat)
        last = messages[-1]
        given = possible_actions(game.table, seat, last, legal)
        for key, value in given.items():
            told[key] += value
        if "possible_actions" in given:
            meant = [legal_action(game.table, seat, reply, legal) for reply in given["possible_actions"]]
            assert meant == [action for action in legal if action > TSUMOGIRI and action != PASS]
        if last["type"] in ("reach", "pon"):
            for name in given["cannot_dahai"]:
                with pytest.raises(ValueError, match="may not"):
                    legal_action(game.table, seat, {"type": "dahai", "actor": seat, "pai": name}, legal)
        view = np.array([game.view(seat)])
        assert possible_actions(view[0], seat, last, legal) == given, "a view tells as much as the table"
        return int(agents[seat].act(view)[0])

    play(game, answer)
    assert {"nukidora", "reach", "pon"} <= {action["type"] for action in told["possible_actions"]}
    assert told["cannot_dahai"]


def test_answers_are_read_liberally_but_must_fit() -> None:
    game = Game(seed=1)
    view, legal = game.view(0), game.legal(0)
    drawn = Game(seed=1).new_messages(0)[-1]["pai"]
    for tsumogiri in ({}, {"tsumogiri": True}, {"tsumogiri": False}, {"tsumogiri": {}}):
        action = legal_action(view, 0, {"type": "dahai", "actor": 0, "pai": drawn} | tsumogiri, legal)
        assert action == TSUMOGIRI or (not tsumogiri.get("tsumogiri", True) and action in legal)
    for reply, what in [
        ({"type": "reach", "actor": 0}, "may not riichi"),
        ({"type": "dahai", "actor": 0, "pai": "??"}, "a tile like"),
        ({"type": "tsumo", "actor": 0}, "is no action"),
        ({"type": "dahai", "actor": 2, "pai": drawn}, "actor is 2, but here it can only be 0"),
    ]:
        assert RIICHI not in legal
        assert NUKIDORA not in legal
        with pytest.raises(ValueError, match=what):
            legal_action(view, 0, reply, legal)


@pytest.mark.parametrize(("kind", "key"), [("nukidora", "pai"), ("kakan", "consumed"), ("daiminkan", "consumed")])
def test_an_answer_with_a_tile_nobody_knows_does_not_fit(kind: str, key: str) -> None:
    reply, game, seat = next(offered(kind))
    for tiles in (["?"], [*reply[key][:-1], "?"]):
        said = reply | {key: "?" if key == "pai" else tiles}
        with pytest.raises(ValueError, match=f"{kind}: {key} is .*, but here it can only be"):
            legal_action(game.view(seat), seat, said, game.legal(seat))


def offered(kind: str) -> Iterator[tuple[Message, Game, int]]:
    """Places in games where an action of that kind is legal, which everybody does who can."""
    for seed in range(100):
        game = Game(seed=seed)
        while not game.over:
            for seat in game.asked:
                legal = game.legal(seat)
                for action in legal:
                    message = action_message(game.table, seat, action)
                    if message["type"] == kind:
                        yield message, game, seat
                game.act(seat, max(action for action in legal if action != PASS or len(legal) == 1))


class Talker(StandIn):
    """An agent that says something to its answer, or nothing, or fails to."""

    def __init__(self, remark: dict[str, Any] | None) -> None:
        self.said = remark

    def annotate(self) -> dict[str, Any]:
        if self.said is None:
            raise KeyError("speechless")
        return self.said


def test_what_an_agent_remarks_goes_along_with_its_reply() -> None:
    messages = Game(seed=1).new_messages(0)
    plain = AgentBot(StandIn()).react(messages)
    assert plain["type"] == "dahai"
    assert AgentBot(Talker({"sure": 0.5})).react(messages) == plain | {"ext_bot": {"sure": 0.5}}
    assert AgentBot(Talker({})).react(messages) == plain
    with pytest.raises(BotError, match=r"^raised KeyError: 'speechless'$"):
        AgentBot(Talker(None)).react(messages)
