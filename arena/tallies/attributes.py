"""The module of the results' attributes and their types, written from the tables of statistics.

``python -m arena.tallies.attributes arena/bot_statistics.py`` brings the module up to date.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from arena.columns import COMPARISON, PLAY, RESULTS
from arena.statistic import Statistic
from arena.tallies.columns import DETAILS

HEAD = '''\
"""The statistics of a bot, and of two bots compared, as attributes with their types.

Written by ``python -m arena.tallies.attributes arena/bot_statistics.py`` from the tables of `arena.columns` and
`arena.tallies.columns`. Rates are fractions of 1; None is a mean without observations.
"""

from __future__ import annotations

from arena.row import Row
from engine.contests.estimates import Estimate
'''
OF_BOT = {
    "bot": ("str", "the bot"),
    "rounds": ("int", "rounds played"),
    "luck_ratio": ("float | None", "how wide the interval of the placement is without luck, as a share of its width"),
    "distributions": (
        "dict[str, list[list[int]]]",
        "histograms: for each the values that occurred, with their numbers",
    ),
}
OF_PAIR = {
    "bot": ("str", "the first bot"),
    "against": ("str", "the second bot"),
    "significant": ("bool", "whether the interval of the difference does not contain zero"),
    "more_games": (
        "int | None",
        "about how many more games it takes to a significant one; None if unknown",
    ),
}


def source() -> str:
    """The module."""
    classes = (
        _class("BotStatistics", "The statistics of a bot in a match.", OF_BOT, (*RESULTS, *PLAY, *DETAILS)),
        _class("PairStatistics", "Two bots of a match, compared.", OF_PAIR, COMPARISON),
    )
    return HEAD + "".join(classes)


def _class(name: str, text: str, others: dict[str, tuple[str, str]], statistics: Sequence[Statistic[Any]]) -> str:
    attributes = others | {each.key: (_type(each), each.help) for each in statistics}
    lines = [f"\n\nclass {name}(Row):", f'    """{text}"""', ""]
    for key, (type_, help_) in attributes.items():
        lines += [f"    {key}: {type_}", *_docstring(help_)]
    return "\n".join(lines) + "\n"


def _type(statistic: Statistic[Any]) -> str:
    """Return the annotated return type of ``compute``."""
    compute = statistic.compute
    function = compute if inspect.isfunction(compute) else type(compute).__call__
    return str(inspect.signature(function).return_annotation)


def _docstring(text: str) -> Iterator[str]:
    """The lines of a docstring of an attribute."""
    lines = wrap(f'"""{text[0].upper()}{text[1:]}."""', 116)
    return (f"    {line}" for line in lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(source(), encoding="utf-8")
