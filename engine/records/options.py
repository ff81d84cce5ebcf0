"""Command-line options for selecting, writing and checking records."""

from __future__ import annotations

import argparse
from datetime import date

from engine.common.options import non_negative_number
from engine.rules import N_SEATS, PRESETS

FORMATS = ("mjson", "mjson.gz", "json", "json.gz", "mjlog", "mjlog.gz")  # for writing records
AUTO = "auto"  # the rules that a record names
# Rooms of Tenhou and Mahjong Soul -> regular expression for the text of a game's rules.
ROOMS = {
    "general": "般", "advanced": "上", "expert": "特(?!別)", "phoenix": "鳳",
    "bronze": "銅の間|Bronze Room", "silver": "銀の間|Silver Room", "gold": "金の間|Gold Room",
    "jade": "玉の間|Jade Room", "throne": "王座の間|Throne Room",
}  # fmt: skip
LENGTHS = {"east": "東", "hanchan": "南"}


def day(text: str) -> date:
    """Option type: a date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date like 2021-01-31") from None


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the option that overrides the rules that records name."""
    parser.add_argument(
        "--rules", choices=(AUTO, *PRESETS), default=AUTO, help="of the games; default: those that each record names"
    )


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Add the options that select records."""
    group = parser.add_argument_group("which records (others are left out)")
    group.add_argument("--room", choices=ROOMS, metavar="ROOM", help=f"one of {', '.join(ROOMS)}")
    group.add_argument("--length", choices=LENGTHS, help="of the game")
    group.add_argument("--since", type=day, metavar="DATE", help="played on this day or later, as in 2021-01-31")
    group.add_argument(
        "--players", type=int, choices=(N_SEATS,), help="leave out four-player games, which cannot be read, silently"
    )
    group.add_argument(
        "--rate", type=non_negative_number, metavar="N", help="every player has at least this rating (R)"
    )
