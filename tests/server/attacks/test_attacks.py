"""No attack hurts the games of honest bots: a few attacks quickly, and all of them where nothing else runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.attacks.catalogue import ATTACKS
from tests.server.attacks.siege import LOOSE, STRICT, Outcome, Siege, siege
from tests.support.attacker import Attack, Sent
from tests.support.honest_bots import Waits

SHORT = [name for name, attack in ATTACKS.items() if attack.short]
SECONDS = 0.6  # of each attack


@pytest.fixture(scope="module")
def under() -> Iterator[Siege]:
    """A server and the honest bots that play on it."""
    with siege() as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORT)
def test_games_go_on_under_attack(under: Siege, name: str) -> None:
    assert under.strike(ATTACKS[name], SECONDS).complaints(LOOSE) == []


@pytest.mark.long
@pytest.mark.parametrize("name", ATTACKS)
def test_honest_bots_hardly_notice_an_attack(under: Siege, name: str) -> None:
    assert under.strike(ATTACKS[name], SECONDS).complaints(STRICT) == []


@pytest.fixture(scope="module")
def under_with_tokens() -> Iterator[Siege]:
    """The same with a server that lets nobody play without a token, as the honest bots have one."""
    with siege(access="token") as started:
        yield started


@pytest.mark.long
@pytest.mark.parametrize("name", SHORT)
def test_an_attack_without_a_token_does_no_more(under_with_tokens: Siege, name: str) -> None:
    assert under_with_tokens.strike(ATTACKS[name], SECONDS).complaints(STRICT) == []


# What the honest bots see ---------------------------------------------------------------------------------------------

NO_ATTACK = Attack("nothing", lambda attacker: None)
WELL: dict[str, Any] = {
    "attack": NO_ATTACK, "seconds": 1.0, "seen": Waits(waits=[0.001] * 200, lags=[0.0], decisions=[30] * 3),
    "newcomer": 0.01, "memory": 0, "descriptors": 30, "cpu": 0.1, "log": ["room opened"], "sent": Sent(1, 1, 0),
    "earlier": frozenset({"1d65", "77aa"}),
}  # fmt: skip


@pytest.mark.parametrize(
    "log", [["room opened"], ["room closed"] * 500, ["game finished  [server.lobby] game=1d65 room=a"] * 500]
)
def test_a_server_that_is_well_gives_no_cause_for_complaint(log: list[str]) -> None:
    """Rooms that an earlier attack opened may close, and games that it left may finish."""
    assert Outcome(**WELL | {"log": [f"[info     ] {line}" for line in log]}).complaints(STRICT) == []


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"seen": Waits(waits=[0.001] * 200 + [0.26], decisions=[30] * 3)}, "worst wait 260 ms"),
        ({"seen": Waits(waits=[0.001] * 97 + [0.031] * 3, decisions=[30] * 3)}, "p99 of waits 31.0 ms"),
        ({"seen": Waits(waits=[0.001], decisions=[60, 0, 30])}, "decisions of the three: [60, 0, 30]"),
        ({"seen": Waits(waits=[0.001], decisions=[30] * 3, errors=["late"])}, "faults or errors: ['late']"),
        ({"seen": Waits(waits=[0.001], decisions=[30] * 3, drops=["honest0"])}, "dropped: ['honest0']"),
        ({"newcomer": "timed out"}, "a newcomer could not play: timed out"),
        ({"newcomer": 1.1}, "a newcomer could not play: 1.1"),
        ({"memory": 21_000_000}, "memory grew by 21 MB"),
        ({"log": ["Invalid HTTP request"] * 121}, "121 lines in the log"),
        ({"log": ["[info     ] game finished  [server.lobby] game=99bb room=a"] * 121}, "121 lines in the log"),
        ({"log": ["[warning  ] again  [server.lobby] game=1d65"] * 121}, "121 lines in the log"),
        ({"log": ["[error    ] no  [server.lobby] game=1d65"]}, "errors in the log"),
        ({"log": ["Traceback (most recent call last):"]}, "errors in the log"),
        ({"sent": Sent()}, "the attack opened 0 connections"),
    ],
)
def test_harm_is_noticed(changed: dict[str, Any], complaint: str) -> None:
    (found,) = Outcome(**WELL | changed).complaints(STRICT)
    assert complaint in found
