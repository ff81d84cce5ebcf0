"""``python -m server``, which waits longer for a slow disk: ``start('tests.support.patient_server:main')`` runs it."""

from __future__ import annotations

from collections.abc import Sequence

from server.cli import make_parser
from server.commands import start
from server.flags import parse, read_settings
from server.limits import Limits
from server.settings_file import read_file


def main(arguments: Sequence[str]) -> int:
    """Run the server. Returns the exit status."""
    parser = make_parser()
    args = parse(parser, arguments)
    return start(parser, read_settings(parser, vars(args), read_file("")), args, "", Limits(check_timeout=60.0))
