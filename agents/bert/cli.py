"""python -m agents.bert: makes training data, trains networks for the bots bert and cnn, exports and evaluates them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from agents.bert.options import PARSERS
from engine.common.options import Parser
from engine.common.program import program_name

PROGRAM = "agents.bert"
# command -> module:function, help; the module is imported once the options of `agents.bert.options` are parsed
COMMANDS = {
    "data": ("agents.bert.training.data.build:run", "make training data from records or self-play"),
    "pretrain": ("agents.bert.training.commands:pretrain", "train a BERT to predict masked tokens"),
    "train": ("agents.bert.training.commands:train", "train policy and value by imitation"),
    "improve": ("agents.bert.training.commands:improve", "improve a policy by the results of rollouts"),
    "deepen": ("agents.bert.training.commands:deepen", "make a deeper BERT from a trained one"),
    "average": ("agents.bert.training.commands:average", "average networks before and after more training"),
    "export": ("agents.bert.export.command:run", "make model.onnx, which is played on a CPU, from a checkpoint"),
    "evaluate": ("agents.bert.evaluation.commands:run", "measure how well a network predicts"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    epilog = "\n".join(f"{name:9} {about}" for name, (_, about) in COMMANDS.items())
    epilog += f"\n\n{program_name(PROGRAM)} COMMAND --help shows a command's options."
    parser = Parser(PROGRAM, description=__doc__, epilog=epilog)
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of those below")
    words = sys.argv[1:] if arguments is None else list(arguments)
    command = parser.parse_args(words[:1]).command
    command_line = PARSERS[command]()
    options = command_line.parse_args(words[1:])
    module, _, function = COMMANDS[command][0].partition(":")
    return int(getattr(import_module(module), function)(command_line, options))
