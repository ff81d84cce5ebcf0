"""The strength in the text of a bot."""

from __future__ import annotations

import pytest

from agents.strength.spec import split_strength


@pytest.mark.parametrize(
    ("spec", "bot", "strength"),
    [
        ("rule", "rule", None),
        ("rule@-300", "rule", -300),
        ("rule@-1", "rule", -1),
        ("rule@-9999", "rule", -9999),
        ("bert:runs/net@-800", "bert:runs/net", -800),
        ("bert:runs/net?temperature=0@-800", "bert:runs/net?temperature=0", -800),
        ("bert:?temperature=0.5@-20", "bert:?temperature=0.5", -20),
        ("my_bot.py:Bot@-200", "my_bot.py:Bot", -200),
        ("my_bot.py:Bot:an@argument@-200", "my_bot.py:Bot:an@argument", -200),
        ("/home/me@there/my_bot.py:Bot@-200", "/home/me@there/my_bot.py:Bot", -200),
    ],
)
def test_a_strength_is_at_the_very_end(spec: str, bot: str, strength: int | None) -> None:
    assert split_strength(spec) == (bot, strength)


@pytest.mark.parametrize(
    "spec",
    [
        "exec:python bot.py --user me@-300",
        "exec+kita:ssh me@host@-300",
        "mjsonp://me@host:80/room@-300",
        "bert:runs/me@home",
        "bert:runs/me@home/net",
        "bert:runs/net@2/",
        "bert:runs/net@-300/",
        "me@home/my_bot.py:Bot",
        "me@home/my_bot.py",
        "my_bot.py:Bot:an@argument",
    ],
)
def test_other_ats_are_left_alone(spec: str) -> None:
    assert split_strength(spec) == (spec, None)
