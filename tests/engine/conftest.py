"""The fixture `deal`: scenarios, each of which is compared with RiichiEnv at the end of its test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.rules import TENHOU
from tests.support.scenario import Scenario

Deal = Callable[..., Scenario]


@pytest.fixture
def deal() -> Iterator[Deal]:
    """A function that deals a scenario. Those under Tenhou's rules are compared with RiichiEnv, if it is installed."""
    dealt: list[Scenario] = []

    def make(*args: Any, **options: Any) -> Scenario:
        dealt.append(Scenario(*args, **options))
        return dealt[-1]

    yield make
    try:
        from tests.support.differential import check_scenario
    except ModuleNotFoundError:
        return
    for scenario in dealt:
        if scenario.rules == TENHOU:
            check_scenario(scenario)
