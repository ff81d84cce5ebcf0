"""python -m server: a game server for mjai bots that play three-player riichi mahjong."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from engine.common.options import Parser
from engine.common.program import OK
from engine.mjai.connection import check_name
from server.addresses import listening
from server.data_folder import exclusive_lock, make_folder
from server.flags import log_format, make_flags, parse, read_settings
from server.settings import PREFIX, Settings
from server.settings_file import PRECEDENCE, file_text, find_path, read_file

EARLIER_DATABASE = Path("data", "nukidora.db")  # in the default folder of earlier versions
EPILOG = f"""\
All settings, such as limits, are in the file that the command settings prints, and each is an environment variable,
such as fill_delay {PREFIX}FILL_DELAY. {PRECEDENCE} In variables and flags, items of lists are separated by commas.
"""


def token_name(name: str) -> str:
    """Option type: the name of a new token. Raises ArgumentTypeError for a name that no bot can join with."""
    from server.names import imitates_house_bot  # imported late: it reads Unicode's tables

    try:
        can_join = check_name(name) == name
    except ValueError:
        can_join = False
    if not can_join:
        raise argparse.ArgumentTypeError(f"{name!r} is not 1 to 64 printable characters without spaces around them")
    if imitates_house_bot(name):
        raise argparse.ArgumentTypeError(f"{name!r} is reserved for house bots, or looks like one: choose another")
    return name


def make_parser() -> Parser:
    """The parser for the whole command line: flags and commands."""
    parser = Parser(
        "server",
        description=__doc__,
        epilog=EPILOG,
        parents=[make_flags()],
        usage="%(prog)s [FLAG …] [COMMAND …]",
    )
    commands = parser.add_subparsers(
        prog=parser.prog, dest="command", metavar="COMMAND", help="without a command: run the server"
    )
    commands.add_parser("settings", help="print a settings file with all settings, their defaults and what they mean")
    token = commands.add_parser("token", help="manage the tokens of bots and admins")
    actions = token.add_subparsers(dest="token", required=True, metavar="ACTION")
    adding = actions.add_parser("add", help="create a token for a name; it is shown once")
    adding.add_argument("name", metavar="NAME", type=token_name)
    adding.add_argument("--admin", action="store_true", help="the token may open and close rooms")
    actions.add_parser("list", help="list the names that have a token")
    actions.add_parser("revoke", help="revoke a token").add_argument("name", metavar="NAME")
    saving = commands.add_parser("backup", help="back the database up; the server may play on")
    saving.add_argument("file", metavar="FILE", type=Path, help="a new file")
    restoring = commands.add_parser("restore", help="put a backup in place of the database; stop the server first")
    restoring.add_argument("file", metavar="FILE", type=Path, help="made by backup")
    commands.add_parser("prune", help="delete the games that keep_days, keep_games and keep_mib do not keep")
    return parser


def find_unused_data(settings: Settings) -> str:
    """Return a hint on data of an earlier version, whose default folder was different; "" if there is none."""
    default = Settings.data
    unused = settings.data == default and not settings.database and not default.exists()
    if not (unused and EARLIER_DATABASE.exists() and not os.environ.get(PREFIX + "DATA")):
        return ""
    return f"{EARLIER_DATABASE}, of an earlier version, is not used; to use it: --data {EARLIER_DATABASE.parent}"


def check_addresses(settings: Settings) -> None:
    """Raise OSError early for a folder or port that the server could not use after its slow start."""
    make_folder(settings.data)
    with (
        exclusive_lock(settings.data),
        listening(settings.host, settings.port, "port"),
        listening(settings.host, settings.mjai_port, "mjai_port"),
    ):
        pass


def main(argv: Sequence[str]) -> int:
    """Run the server or a command. Returns the exit status."""
    file = read_file(find_path(argv))
    if log_format(file) == "json":  # also for errors in the arguments
        from server.logs import start_logging

        start_logging("json")
    parser = make_parser()
    args = parse(parser, argv)
    if args.command == "settings":
        print(file_text(), end="")
        return OK
    settings = read_settings(parser, vars(args), file)
    hint = find_unused_data(settings)
    if args.command is None:
        with parser.reporting(OSError):
            check_addresses(settings)
    from server.commands import start  # imported late: it takes seconds, and parsing the options does not need it

    return start(parser, settings, args, hint)
