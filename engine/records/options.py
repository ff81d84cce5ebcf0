"""Options of command lines that read records: which of them, and how they are written and checked."""

from __future__ import annotations

import argparse
from datetime import date

from engine.common.options import non_negative_number
from engine.rules import N_SEATS

FORMATS = ("mjson", "mjson.gz", "json", "json.gz")  # that records can be written in
AUTO = "auto"  # the rules that a record names
# Rooms of Tenhou and Mahjong Soul -> what the text of a game's rules has for them.
ROOMS = {
    "general": "般", "advanced": "上", "expert": "特", "phoenix": "鳳",
    "bronze": "銅の間", "silver": "銀の間", "gold": "金の間", "jade": "玉の間", "throne": "王座の間",
}  # fmt: skip
LENGTHS = {"east": "東", "hanchan": "南"}


def day(text: str) -> date:
    """Option type: a date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date like 2021-01-31") from None


def add_filters(parser: argparse.ArgumentParser) -> None:
    """The options that choose records."""
    group = parser.add_argument_group("which records (others are left out)")
    group.add_argument("--room", choices=ROOMS, metavar="ROOM", help=f"one of {', '.join(ROOMS)}")
    group.add_argument("--length", choices=LENGTHS, help="of the game")
    group.add_argument("--since", type=day, metavar="DATE", help="played on this day or later, as in 2021-01-31")
    group.add_argument(
        "--players", type=int, choices=(N_SEATS,), help="leave out games of four, which cannot be read, without a word"
    )
    group.add_argument(
        "--rate", type=non_negative_number, metavar="N", help="every player has at least this rating (R)"
    )
