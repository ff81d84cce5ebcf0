"""Which values of a record and of the engine count as equal."""

from __future__ import annotations

import pytest

from engine.mjai.messages import make
from engine.records.compare import differing_keys


@pytest.mark.parametrize(
    ("recorded", "same"),
    [
        ([54.2, -37.2, -17.0], True),
        ([54, -37, -17], True),  # Tenhou until about 2018
        ([54.1, -37.2, -16.9], False),
        ([55, -37, -18], False),
        ([55, -37, -17], False),
    ],
)
def test_final_points_may_be_whole_numbers(recorded: list[float], same: bool) -> None:
    ours = make("end_game", points=[54.2, -37.2, -17.0])
    assert differing_keys(make("end_game", points=recorded), ours) == ([] if same else ["points"])


@pytest.mark.parametrize(
    ("recorded", "same"),
    [
        ([["reach", 1], ["dora", 1], ["nukidora", 2]], True),
        ([["nukidora", 2], ["dora", 1], ["reach", 1]], True),
        ([["reach", 1], ["dora", 3]], True),
        ([["reach", 1], ["dora", 1]], False),
        ([["reach", 1], ["dora", 1], ["nukidora", 1]], False),
        ([["dora", 1], ["nukidora", 2]], False),
    ],
)
def test_nukidora_may_be_counted_as_dora(recorded: list[list[object]], same: bool) -> None:
    ours = make("hora", yakus=[["reach", 1], ["dora", 1], ["nukidora", 2]])
    assert differing_keys(make("hora", yakus=recorded), ours) == ([] if same else ["yakus"])
