"""What each key does, and what is told: a screen without a terminal."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence

import pytest
from rich.text import Text

from agents.bots.tsumogiri import make
from agents.console.moves import moves_of
from agents.console.offline import OfflineTable
from agents.console.person import Person
from agents.console.screen import Screen
from agents.console.terminal import Left
from agents.external.mjai_bot import OPENING
from engine.actions import PASS, TSUMOGIRI
from engine.records.mjai import write
from engine.records.model import GameRecord
from engine.records.replay import Replay
from engine.rules import preset


class Fake:
    """A display whose keys are scripted. `pictures` are all that was drawn."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self.size = (80, 24)
        self.pictures: list[str] = []
        self.script = deque(keys)

    def draw(self, lines: Sequence[Text]) -> None:
        self.pictures.append("\n".join(line.plain for line in lines))

    def keys(self, seconds: float) -> list[str]:
        if seconds < math.inf:
            return []
        assert self.script, f"no key is left, and the screen waits:\n{self.pictures[-1]}"
        return [self.script.popleft()]

    def wake(self) -> None:
        pass


def screen_of(fake: Fake) -> Screen:
    return Screen(fake, clocked=False, at_quit="Really.")


def person_at(fake: Fake) -> Person:
    """Somebody who has a hand of 14 different tiles."""
    person = Person("x", screen_of(fake))
    for message in OPENING:
        person.watch(message)
    return person


def asked(*keys: str) -> tuple[int | None, Fake]:
    """What is answered with these keys."""
    fake = Fake(keys)
    person = person_at(fake)
    return person.choose(person._state.legal), fake


@pytest.mark.parametrize(
    ("keys", "number"),
    [
        (["1", "enter"], 1),
        (["1", "2", "enter"], 12),
        (["3", "backspace", "7", "enter"], 7),
        (["9", "9", "enter", "2", "enter"], 2),  # no such move: nothing is marked, so Enter plays nothing
        (["0", "4", "enter"], 4),
        (["right", "enter"], 14),  # the tile just drawn is marked first
        (["left", "left", "enter"], 13),
        (["right", "right", "right", "enter"], None),
        (["p", "x", "é", "enter", "5", "enter"], 5),
        (["?", "1", "1", "enter"], 1),  # the first key only closes the help
        (["c", "escape", "2", "enter"], 2),
        (["q", "n", "6", "enter"], 6),
    ],
)
def test_keys_choose_a_move(keys: list[str], number: int | None) -> None:
    action, fake = asked(*keys)
    state = person_at(Fake())._state
    moves = {move.action: move.number for move in moves_of(state.view, state.legal)}
    assert action is not None
    assert not fake.script
    if number is not None:
        assert moves[action] == number


def test_what_a_key_shows() -> None:
    for key, shown in (("?", "how many tiles of each kind"), ("c", "unseen: 93 tiles"), ("q", "Really. Quit?")):
        _, fake = asked(key, "n", "1", "enter")
        assert shown in fake.pictures[1]
        assert shown not in fake.pictures[2]
    _, fake = asked("p", "1", "enter")
    assert "you cannot pass here" in fake.pictures[1]
    _, fake = asked("9", "9", "1", "enter")
    assert "there is no move 99" in fake.pictures[2]
    assert "1, Enter plays it" in fake.pictures[3]


def test_q_and_y_leave() -> None:
    with pytest.raises(Left):
        asked("q", "y")


def test_a_question_may_be_withdrawn() -> None:
    fake = Fake()
    state = person_at(fake)._state
    assert screen_of(fake).ask(state.view, state.legal, withdrawn=lambda: True) is None
    assert fake.pictures == []


class Player(Fake):
    """Plays a whole game: passes, or takes the tile just drawn."""

    def keys(self, seconds: float) -> list[str]:
        if seconds < math.inf:
            return []
        picture = self.pictures[-1]
        if "any key shows" in picture:
            return [" "]
        return ["p"] if " pass\n" in picture else ["right", "enter"]


@pytest.mark.parametrize("length", ["east", "hanchan"])
def test_a_whole_game_is_played_and_told(length: str) -> None:
    player = Player()
    screen = screen_of(player)
    table = OfflineTable(screen, [make(None, 1), make(None, 2)], preset("tenhou", length), 4, 0.0)  # type: ignore[arg-type]
    table.play()
    game = table.game
    assert game.over
    assert Replay(GameRecord(game.messages, game.rules, "here")).check() == []
    assert write(GameRecord(game.messages, game.rules, "here"))
    told = "\n".join(player.pictures)
    for said in (
        "tsumogiri discards ",
        "tsumogiri#2 discards ",
        "you discard ",
        "E1 honba 0 begins",
        "the game is over",
        "E2 honba ",
    ):
        assert said in told
    for place, seat in enumerate(sorted(range(3), key=lambda seat: game.ranks[seat])):
        line = screen.results[1 + place]
        assert f"{game.scores[seat]:,}" in line
        assert line.endswith(("tsumogiri#2", "you", "tsumogiri")[seat])
    for result in game.results:
        assert result.splitlines()[0][:60] in told


class Broken:
    """A bot that fails at its third decision."""

    name = "broken"

    def __init__(self, fault: str) -> None:
        self.left, self.fault = 3, fault

    def act(self, views: object) -> list[int]:
        self.left -= 1
        if self.left > 0:
            return [TSUMOGIRI]
        if self.fault == "raise":
            raise RuntimeError("no idea\x1b[2J")
        return [PASS]


@pytest.mark.parametrize(("fault", "said"), [("raise", "RuntimeError: no idea\\x1b[2J"), ("illegal", "may not pass")])
def test_a_bot_that_fails_is_played_for(fault: str, said: str) -> None:
    player = Player()
    player.size = (120, 60)
    screen = screen_of(player)
    broken = Broken(fault)
    OfflineTable(screen, [broken, make(None, 2)], preset("tenhou", "east"), 0, 0.0).play()  # type: ignore[list-item]
    assert any(f"broken has failed ({said})" in picture for picture in player.pictures)
    assert broken.left == 0  # it is not asked again
