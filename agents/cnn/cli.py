"""python -m agents.cnn: trains, exports and evaluates networks for the CNN bot.

The data is BERT's: python -m agents.bert data makes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.bert.cli import COMMANDS as BERT_COMMANDS
from agents.bert.cli import run_command

SHARED = ("train", "improve", "average", "export", "evaluate")  # the others are about data, or about transformers
COMMANDS = {name: BERT_COMMANDS[name] for name in SHARED}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    return run_command("cnn", COMMANDS, __doc__, arguments)
