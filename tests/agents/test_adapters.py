"""Agents as mjai bots, and the fallback agent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.external.adapters import AgentBot
from agents.external.fallback import FallbackAgent
from agents.external.mjai_bot import BotError
from agents.registry import make
from engine.actions import PASS, TSUMOGIRI
from engine.game import Game
from engine.mjai.possible_actions import legal_action, safe_default
from engine.mjai.reading import canonical
from engine.table import TABLE
from engine.tables import PolicyFault, Tables

BOTS = ("efficiency", "random", "tsumogiri")


def test_agents_play_the_same_from_messages_as_from_views() -> None:
    agents = [make(name, seed=7) for name in BOTS]
    bots = [AgentBot(agent) for agent in agents]
    for seed in (11, 12):
        game = Game(seed)
        while not game.over:
            for seat in game.asked:
                expected = int(agents[seat].act(np.array([game.view(seat)]))[0])
                reply = canonical(bots[seat].react(game.new_messages(seat)))
                assert legal_action(game.table, seat, reply, game.legal(seat)) == expected
                game.act(seat, expected)
        for seat, bot in enumerate(bots):
            assert bot.react(game.new_messages(seat)) == {"type": "none"}


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
def test_an_agent_that_raises_or_answers_illegally_is_a_bot_error(answer: int | None, what: str) -> None:
    with pytest.raises(BotError, match=what):
        AgentBot(Broken(answer)).react(Game(seed=1).new_messages(0))


class Answering(FallbackAgent):
    """An agent with any answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, views: np.ndarray) -> np.ndarray:
        answer: np.ndarray = self.answer
        return answer


@pytest.mark.parametrize(
    "answer", [np.array([float(TSUMOGIRI)]), np.array([TSUMOGIRI, TSUMOGIRI]), np.array([True]), None, [None], 3]
)
def test_an_answer_of_the_wrong_kind_is_reported_as_in_the_arena(answer: Any) -> None:
    with pytest.raises(BotError, match=r"^answered 1 view with .*, not one action number each$") as client:
        AgentBot(Answering(answer)).react(Game(seed=1).new_messages(0))
    with pytest.raises(PolicyFault) as arena:
        next(Tables([1]).play([Answering(answer).act], np.zeros((1, 3), dtype=np.int8)))
    assert client.value.what == arena.value.what


def test_inconsistent_messages_are_a_bot_error() -> None:
    bot = AgentBot(FallbackAgent())
    with pytest.raises(BotError, match=r"^does not understand the game: "):
        bot.react([*Game(seed=1).new_messages(0), {"type": "tsumo", "actor": 0, "pai": "1p"}])


def test_the_fallback_agent_calls_nothing_and_never_fails() -> None:
    """Also where a bot has failed right after it declared riichi or ponned."""
    agent, fallback = make("random", seed=3), FallbackAgent()
    seen = set()
    for seed in range(12):
        game = Game(seed=seed)
        while not game.over:
            for seat in game.asked:
                views = np.array([game.view(seat)], dtype=TABLE)
                legal = game.legal(seat)
                safe = int(fallback.act(views)[0])
                assert safe == safe_default(legal)
                assert safe in legal
                assert safe <= TSUMOGIRI or safe == PASS
                seen.add(safe in (PASS, TSUMOGIRI))
                game.act(seat, int(agent.act(views)[0]))
    assert seen == {True, False}


class AnnotatingAgent(FallbackAgent):
    """An agent with an annotation; None: making it fails."""

    def __init__(self, annotation: dict[str, Any] | None) -> None:
        self.annotation = annotation

    def annotate(self) -> dict[str, Any]:
        if self.annotation is None:
            raise KeyError("no annotation")
        return self.annotation


def test_the_annotation_of_an_agent_is_sent_along_with_its_reply() -> None:
    messages = Game(seed=1).new_messages(0)
    plain = AgentBot(FallbackAgent()).react(messages)
    assert plain["type"] == "dahai"
    assert AgentBot(AnnotatingAgent({"sure": 0.5})).react(messages) == plain | {"ext_bot": {"sure": 0.5}}
    assert AgentBot(AnnotatingAgent({})).react(messages) == plain
    with pytest.raises(BotError, match=r"^raised KeyError: 'no annotation'$"):
        AgentBot(AnnotatingAgent(None)).react(messages)


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        ({"sure": float("nan")}, "an object with NaN or an infinity"),
        ({"text": "x" * 5000}, r"too big \(5,011 bytes\)"),
        ([1, 2, 3], "a list of 3"),
        ({"text": "\ud800"}, ".*surrogates not allowed"),
        ({"sure": np.float32(0.5)}, "Object of type float32 is not JSON serializable"),
    ],
)
def test_an_annotation_that_a_server_refuses_is_a_bot_error(annotation: Any, given: str) -> None:
    with pytest.raises(BotError, match=rf"^annotate\(\) returned {given}, not an object without NaN"):
        AgentBot(AnnotatingAgent(annotation)).react(Game(seed=1).new_messages(0))
