"""The messages of a game that are kept, as a bot that resumes is sent them again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from server.game.history import History

END = {"type": "end_kyoku"}
ANNOTATION = {"x": "y" * 4_000, "ext_bot": {"z": [',"ext_bot":']}}


def history_of(n_rounds: int, n_messages: int) -> tuple[History, list[dict[str, Any]]]:
    """Rounds of so many discards, most of them with an annotation, and some errors; and its messages."""
    history, messages = History(), list[dict[str, Any]]()
    for number in range(n_rounds * n_messages):
        message = {"type": "dahai", "actor": number % 3, "pai": f"{number}"}
        history.add(message, ANNOTATION if number % 4 else None)
        history.add_error(1, 'a "fault" with ,"ext_bot":')
        messages.append(message)
        if number % n_messages == n_messages - 1 and number < n_rounds * n_messages - 1:
            history.add(END)
            messages.append(END)
    return history, messages


@pytest.mark.parametrize("n_rounds", [1, 4])
def test_messages_are_sent_again_from_any_on(n_rounds: int) -> None:
    history, messages = history_of(n_rounds, 5)
    assert (history.count, history.rounds) == (len(messages), n_rounds - 1)
    for first in range(len(messages) + 1):
        assert history.since(first) == messages[first:]


def test_only_what_is_sent_again_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither annotations, nor what came before: a bot may come back ten times a second."""
    history, messages = history_of(10, 50)
    assert sum(map(len, history.lines())) > 1_000_000
    parsed: list[int] = []
    loads: Callable[..., Any] = json.loads

    def counted(text: bytes) -> Any:
        parsed.append(len(text))
        return loads(text)

    monkeypatch.setattr(json, "loads", counted)
    history.since(len(messages) - 1)
    assert len(parsed) == 1
    history.since(0)
    assert len(parsed) == 1 + len(messages)
    assert sum(parsed) < 100 * len(messages)
