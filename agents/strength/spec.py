"""The strength in the text of a bot: ``NAME@-300``, ``bert:FOLDER?temperature=0@-800``, ``my_bot.py:Bot@-200``.

The strength is a minus and digits after the last ``@``, at the very end. All else is part of the bot:

* Programs and connections (``exec:…``, ``mjsonp://…``) have no dial, so their text is never split.
* An ``@`` in a path or an argument is left alone, unless a number follows it to the end: a folder whose name ends in
  such a number is written with a slash behind it, ``bert:runs/net@2/``.
"""

from __future__ import annotations

import re

from agents.files import PROGRAM, SPEC

LOWEST = -9999  # points; no scale reaches it
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?", re.ASCII)
STRENGTH = re.compile(r"-[1-9]\d{0,3}", re.ASCII)


def split_strength(spec: str) -> tuple[str, int | None]:
    """The bot and its strength in points below full strength, such as ``("rule", -300)``; None without a strength.

    Raises ValueError, in one line, for an invalid strength: ``rule@300``, ``rule@-99999``,
    ``rule@abc``.
    """
    bot, at, strength = spec.rpartition("@")
    if not at or PROGRAM.match(spec):
        return spec, None
    if not NUMBER.fullmatch(strength) and "@" not in _name(spec):
        return spec, None
    if not bot or not STRENGTH.fullmatch(strength) or "@" in _name(bot):
        raise ValueError(
            f"{spec}: a strength is written as points below full strength, from @-1 to @{LOWEST}, as in"
            f" {bot.partition('@')[0] or 'rule'}@-300, not @{strength}"
        )
    return bot, int(strength)


def _name(spec: str) -> str:
    """The part of `spec` that is a name: of a bot, or of a class in a file. No name contains an ``@``."""
    file = SPEC.fullmatch(spec)
    return spec.partition(":")[0] if file is None else file["name"] or ""
