"""python -m agents.bert: makes training data, trains the BERT bot, evaluates and times it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from engine.commandline import Parser

# command -> where its function is, and what it does; imported only when asked for: torch takes seconds
COMMANDS = {
    "data": ("agents.bert.data.build:main", "make training files from records or self-play"),
    "pretrain": ("agents.bert.learning.commands:pretrain", "train a BERT to guess masked tokens"),
    "train": ("agents.bert.learning.commands:train", "train policy and value"),
    "improve": ("agents.bert.learning.commands:improve", "improve a policy by results"),
    "grow": ("agents.bert.grow:main", "make a deeper network of a trained one"),
    "average": ("agents.bert.average:main", "make the mean of a network before and after more training"),
    "evaluate": ("agents.bert.evaluate:main", "how well a network predicts"),
    "bench": ("agents.bert.bench:main", "how fast a network answers"),
}
TRAINING = ("torch", "transformers", "accelerate", "tensorboard")  # what playing does without


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    epilog = "\n".join(f"{name:9} {what}" for name, (_, what) in COMMANDS.items())
    epilog += "\n\npython -m agents.bert COMMAND --help tells more."
    parser = Parser(
        "agents.bert", description=__doc__, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=COMMANDS)
    words = sys.argv[1:] if arguments is None else list(arguments)
    command = parser.parse_args(words[:1]).command
    module, _, function = COMMANDS[command][0].partition(":")
    try:
        run = getattr(import_module(module), function)
    except ModuleNotFoundError as error:
        if error.name not in TRAINING:
            raise
        parser.error(f'{command} needs {error.name}; install it with: pip install "nukidora[train]"')
    return int(run(words[1:]))


if __name__ == "__main__":
    sys.exit(main())
