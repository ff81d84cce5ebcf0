"""The commands of ``python -m agents.bert`` that make networks: pretrain, train, improve, average, deepen."""

from __future__ import annotations

import json
import shlex
from argparse import Namespace
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from agents.bert.families import DEFAULT_SIZE, SIZES
from agents.bert.next_steps import arena_command, command, new_run, print_outcome
from agents.bert.training.config import TrainingConfig
from agents.bert.training.data.dataset import Dataset
from agents.bert.training.data.manifest import MANIFEST, has_rollouts
from agents.training.folders import check_folder
from agents.training.loop import run_training
from agents.training.settings import Setting, arguments_of, check_unchanged, settings_in
from engine.common.files import write_atomically
from engine.common.options import Parser
from engine.common.program import INTERRUPTED, OK
from engine.common.progress import duration

if TYPE_CHECKING:  # torch takes seconds to import: it is imported once a command has been parsed
    from agents.bert.training.trainer import Trainer

CONFIG_FILE = "training_config.json"
RESOLVED = "resolved"  # key in it: the absolute paths of the folders


def pretrain(parser: Parser, options: Namespace) -> int:
    """Masked language modelling; returns the exit code."""
    return run_objective("pretrain", parser, options)


def train(parser: Parser, options: Namespace) -> int:
    """Imitation learning; returns the exit code."""
    return run_objective("train", parser, options)


def improve(parser: Parser, options: Namespace) -> int:
    """Policy improvement; returns the exit code."""
    return run_objective("improve", parser, options)


def training_command(config: TrainingConfig, out: Path) -> str:
    """The command line that starts a run of `config`."""
    words = ["python", "-m", "agents.bert", config.objective, config.data, str(out), "--from", config.model]
    return shlex.join([*words, *arguments_of(config)])


def run_objective(objective: str, parser: Parser, options: Namespace) -> int:
    """Train as the command line says; returns the exit code."""
    chosen = vars(options)
    out: Path = chosen.pop("out")
    config = TrainingConfig(objective=objective, **chosen)
    console = Console(stderr=True)
    with parser.reporting(ValueError, OSError):
        check_folder(out, "agents.bert")
        check_config(config, out)
        if objective == "improve":
            check_rollouts(Path(config.data))
        Dataset(Path(config.data))  # raises if there is none
        from agents.bert.training.model_card import write_card
        from agents.bert.training.networks import quiet_libraries
        from agents.bert.training.objectives import OBJECTIVES
        from agents.bert.training.trainer import Trainer

        quiet_libraries()
        trainer = Trainer(config, OBJECTIVES[objective], out)
        console.quiet = not trainer.is_main
        if trainer.is_main:
            save_config(config, out)  # only now: a run that cannot start leaves its folder free for another
    if trainer.finished:
        console.print(f"{out}: already finished", soft_wrap=True, highlight=False, markup=False)
    else:
        parts = None if config.minutes else (config.batch_size, "samples")
        with suppress(KeyboardInterrupt):
            run_training(trainer, console, parts)
        if trainer.is_main and (out / "model").exists():
            write_card(trainer, training_command(config, out))
    if not trainer.finished:
        resumes = f"the same command resumes after step {trainer.saved_step:,}"
        console.print(f"{parser.short_name}: interrupted; {resumes}", soft_wrap=True, highlight=False)
        return INTERRUPTED
    if trainer.is_main:
        print_outcome(describe_run(trainer), *next_commands(config, out / "model"))
    return OK


def check_config(config: TrainingConfig, out: Path) -> None:
    """Raise ValueError if the folder belongs to a run with another config.

    The paths of the data folder and of the initial network may be written differently.
    """
    path = out / CONFIG_FILE
    if not path.exists():
        return
    try:
        before: dict[str, Any] = dict(json.loads(path.read_text()))
        resolved = dict(before.get(RESOLVED, {}))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: train in another folder") from error
    folders = resolve_folders(config)
    same = {name for name, folder in folders.items() if resolved.get(name) == folder}
    now = {name: value for name, value in asdict(config).items() if name not in same}
    model = Setting(DEFAULT_SIZE, str, "", option="--from")
    check_unchanged(out, before, now, settings_in(TrainingConfig) | {"model": model})


def resolve_folders(config: TrainingConfig) -> dict[str, str]:
    """The absolute paths of the folders in a config, by field."""
    folders = {"data": config.data, "model": config.model, "teacher": config.teacher}
    return {name: str(Path(text).resolve()) for name, text in folders.items() if text and text not in SIZES}


def save_config(config: TrainingConfig, out: Path) -> None:
    """Write the config to a run folder. Raises OSError."""
    content = asdict(config) | {RESOLVED: resolve_folders(config)}
    with write_atomically(out / CONFIG_FILE) as file:
        file.write(json.dumps(content, indent=1).encode() + b"\n")


def check_rollouts(data: Path) -> None:
    """Raise ValueError if the manifest of a data folder says that there are no rollouts in it."""
    if (data / MANIFEST).exists() and not has_rollouts(data):
        how = command(
            "agents.bert data", "rollouts", "--selfplay", "rule,rule,rule", "--teacher", "rule", "--rollouts", 8
        )
        raise ValueError(f"{data} has no rollouts to improve by; make data that has: {how}")


def describe_run(trainer: Trainer) -> str:
    """The outcome of a finished run in one line."""
    progress = trainer.progress
    selects = trainer.objective.selects.replace("_", " ")
    best = f"the lowest validation {selects}, {progress.best_loss:.4f}, was after {progress.best_step:,}"
    network = f"wrote the network of that step to {trainer.folder / 'model'}"
    return f"{progress.step:,} steps in {duration(progress.seconds)}; {best}; {network}"


def next_commands(config: TrainingConfig, network: Path) -> list[str]:
    """What to do with the network of a finished run."""
    if config.objective == "pretrain":
        return [command("agents.bert train", config.data, new_run(), "--from", network)]
    return [
        command("agents.bert evaluate", network, "--data", config.data),
        arena_command(network),
    ]


def average(parser: Parser, options: Namespace) -> int:
    """Write the mean of networks; returns the exit code."""
    from agents.bert.training.average import average as mean_of
    from agents.bert.training.networks import quiet_libraries
    from agents.bert.training.saving import save_network

    quiet_libraries()
    with parser.reporting(ValueError, OSError):
        save_network(mean_of(options.model), options.out)
    print_outcome(f"wrote the mean of {len(options.model)} networks to {options.out}", arena_command(options.out))
    return OK


def deepen(parser: Parser, options: Namespace) -> int:
    """Write a deeper network; returns the exit code."""
    from agents.bert.training.deepen import deepen as deepened
    from agents.bert.training.networks import load_bert, quiet_libraries
    from agents.bert.training.saving import save_network

    quiet_libraries()
    with parser.reporting(ValueError, OSError):
        save_network(deepened(load_bert(options.model), options.layers), options.out)
    further = command("agents.bert train", "dataset", new_run(), "--from", options.out)
    print_outcome(f"wrote a network of {options.layers} layers to {options.out}", further)
    return OK
