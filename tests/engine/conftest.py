"""Scenarios, each played on RiichiEnv as well when its test is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from engine.rules import TENHOU
from tests.support.scenario import Scenario

Deal = Callable[..., Scenario]


@pytest.fixture
def deal() -> Iterator[Deal]:
    """Deal rounds to order. What was played under Tenhou's rules is compared with the oracle, if that is there."""
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
