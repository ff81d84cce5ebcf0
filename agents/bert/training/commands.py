"""``python -m agents.bert pretrain``, ``train`` and ``improve``: the command lines of learning."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from agents.bert.model import PRESETS
from agents.bert.training.config import Settings
from agents.bert.training.model_card import write_card
from agents.bert.training.objectives import Imitation, Improvement, Pretraining, Task, hush_transformers
from agents.bert.training.trainer import Interruptions, Run
from engine.common.files import write_atomically
from engine.common.options import Parser, describe_error, positive, positive_number
from engine.common.progress import Progress

FINISHED, INTERRUPTED = 0, 130
SIZES = ", ".join(f"{name} ({size.layers} x {size.width})" for name, size in PRESETS.items())
EPILOG = """\
Ctrl-C leaves a checkpoint and a network to use in OUT/model; the same command goes on from there. metrics.csv and
tensorboard/ in OUT have every figure. On N GPUs: torchrun --nproc-per-node N -m agents.bert …
"""
SHOWN = ("train_loss", "train_accuracy", "held_out_loss", "held_out_accuracy")

MakeTask = Callable[[Settings], Task]


def make_parser(task: str, what: str) -> Parser:
    """The command line of a task; what it leaves out has the defaults of Settings."""
    parser = Parser(
        f"agents.bert {task}", description=what, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", help="folder of training files, made by: python -m agents.bert data")
    parser.add_argument("out", type=Path, help="folder of the run")
    parser.add_argument("--from", dest="model", default="laptop", metavar="SIZE|FOLDER", help=f"{SIZES}; or a network")
    parser.add_argument("--batch", type=positive, metavar="N", help="positions a step (default 512)")
    parser.add_argument("--epochs", type=positive_number, metavar="X", help="times to go through the data (default 1)")
    parser.add_argument("--steps", type=positive, metavar="N", help="instead of --epochs")
    parser.add_argument("--rate", type=positive_number, metavar="X", help="highest learning rate (default 0.001)")
    parser.add_argument("--every", type=positive, metavar="N", help="steps between evaluations (default 1000)")
    parser.add_argument("--patience", type=positive, metavar="N", help="evaluations without a better one before a stop")
    parser.add_argument("--seed", type=int, metavar="N")
    parser.add_argument("--no-augment", dest="augment", action="store_false", default=None)
    return parser


def make_policy_parser(task: str, what: str) -> Parser:
    """The same for a task that learns policy and value."""
    parser = make_parser(task, what)
    parser.add_argument("--value", type=float, metavar="X", help="weight of the value's losses (default 0.25)")
    return parser


def pretrain(arguments: Sequence[str] | None = None) -> int:
    """Guess masked tokens; returns the exit code."""
    parser = make_parser("pretrain", "Trains a BERT to guess masked tokens of games.")
    return learn(parser, "pretrain", Pretraining, arguments)


def train(arguments: Sequence[str] | None = None) -> int:
    """Learn policy and value; returns the exit code."""
    parser = make_policy_parser("train", "Trains policy and value to imitate the decisions in the data.")
    return learn(parser, "train", Imitation, arguments)


def improve(arguments: Sequence[str] | None = None) -> int:
    """Learn from what came of trials; returns the exit code."""
    parser = make_policy_parser("improve", "Trains a network to choose what comes out best in trials (data --trials).")
    return learn(parser, "improve", Improvement, arguments)


def learn(parser: Parser, task: str, make_task: MakeTask, arguments: Sequence[str] | None) -> int:
    """Run a task as its command line says; returns the exit code."""
    given = parser.parse_args(arguments)
    hush_transformers()
    chosen = {name: value for name, value in vars(given).items() if value is not None and name != "out"}
    settings = Settings(task=task, **chosen)
    console = Console(stderr=True)
    try:
        keep_settings(settings, given.out)
        run = Run(settings, make_task, given.out)
    except (ValueError, OSError) as error:
        parser.error(describe_error(error))
    if run.over:
        network = given.out / "model"
        console.print(f"finished after {run.progress.step:,} steps; the network is in {network}", soft_wrap=True)
        return FINISHED
    with Interruptions() as interruptions:
        advance(run, interruptions, console)
    if run.is_main:
        write_card(run)
    if run.over:
        console.print(f"best held-out loss {run.progress.best:.4f}, after {run.progress.best_step:,} steps")
        return FINISHED
    console.print(f"agents.bert {task}: interrupted; start it again with the same settings to go on", soft_wrap=True)
    return INTERRUPTED


def keep_settings(settings: Settings, out: Path) -> None:
    """Write the settings into a run's folder. Raises ValueError where it is another run's."""
    path = out / "settings.json"
    if path.exists():
        before = json.loads(path.read_text())
        for name, value in asdict(settings).items():
            if before.get(name) != value:
                what = f"begun with {name} = {before.get(name)!r}, not {value!r}"
                raise ValueError(f"{out}: {what}; give the settings it was begun with, or another folder")
    else:
        out.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            file.write(json.dumps(asdict(settings), indent=1).encode() + b"\n")


def advance(run: Run, interruptions: Interruptions, console: Console) -> None:
    """Train to the end or the first interruption, with a bar."""
    console.quiet = not run.is_main
    with Progress("steps", run.n_steps, run.progress.step, console) as bar, closing(run.train()) as steps:
        for figures in steps:
            bar.advance(status="  ".join(f"{name} {figures[name]:.4f}" for name in SHOWN if name in figures))
            if run.any_of_us(interruptions.asked):
                break
