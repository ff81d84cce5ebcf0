"""Samples per second that are encoded and evaluated by a network: one by one or batched, on one core or a GPU."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.bert.bot import BUNDLED, Bert, Options
from agents.bert.encoding import Encoded, encode
from agents.bert.export import export_checkpoint
from agents.bert.export.calibration import self_play_views
from agents.bert.export.weights import read_checkpoint
from agents.bert.families import DEVICES
from agents.bert.inference import Predictor, load
from agents.bert.labels import legal_table
from benchmarks.bert.methods import Method, all_methods, session_predictor
from benchmarks.timing import ROUNDS, rate
from engine.common.options import Parser
from engine.rules import N_SEATS
from engine.tables import Tables

WALLS = range(40)  # of the games from which samples are taken
ARENA_WALLS = range(2000, 2096)  # of the games of the arena, played at once
N_SAMPLES = 3000
N_SAMPLES_ONE_BY_ONE = 32  # in a round of a method that evaluates them one by one


class Measurement(NamedTuple):
    """The result of a method."""

    name: str
    rate: float  # samples per second
    agreement: float  # share of the samples for which it chooses the same label as the first method


def measure(methods: Sequence[Method], encoded: Encoded, legal: np.ndarray) -> list[Measurement]:
    """Compare the choices of all methods, and time them alternately, ROUNDS times; `legal` is bool[n, N_LABELS]."""
    choices = [np.where(legal, method.logits(encoded), -np.inf).argmax(axis=1) for method in methods]
    few = encoded.select(slice(N_SAMPLES_ONE_BY_ONE))

    def work(method: Method) -> int:
        samples = encoded if method.batched else few
        method.logits(samples)
        return len(samples.input_ids)

    rounds = [[rate(partial(work, method)) for method in methods] for _ in range(ROUNDS)]
    return [
        Measurement(method.name, statistics.median(rates), float((choice == choices[0]).mean()))
        for method, rates, choice in zip(methods, zip(*rounds), choices)
    ]


def arena_rates(predictors: Sequence[Predictor]) -> list[float]:
    """Decisions per second of the bot in games against itself, engine included, with each predictor in turn.

    Processor time is measured, so that other programs do not count.
    """

    def play(predictor: Predictor) -> float:
        bot, decisions = Bert(predictor, "bert", Options(), seed=0), 0

        def act(views: np.ndarray) -> np.ndarray:
            nonlocal decisions
            decisions += len(views)
            return bot.act(views)

        start = time.process_time()
        for _ in Tables(ARENA_WALLS).play([act], np.zeros((len(ARENA_WALLS), N_SEATS), dtype=np.int8)):
            pass
        return decisions / (time.process_time() - start)

    rounds = [[play(predictor) for predictor in predictors] for _ in range(ROUNDS)]
    return [statistics.median(rates) for rates in zip(*rounds)]


def rate_of(work: Callable[[np.ndarray], object], views: np.ndarray) -> float:
    """Views per second of `work`, the median of ROUNDS."""

    def run() -> int:
        work(views)
        return len(views)

    return statistics.median(rate(run) for _ in range(ROUNDS))


@contextmanager
def checkpoint_of(model: str | None) -> Iterator[Path]:
    """The checkpoint to measure: the bundled one, a folder, or random weights of a preset's size.

    Raises ValueError if `model` is neither a folder nor a preset.
    """
    if model is None or Path(model).exists():
        yield Path(model) if model else BUNDLED
        return
    try:
        from transformers.utils import logging

        from agents.bert.model import PolicyValue, make_config
        from agents.bert.sizes import PRESETS
    except ImportError:
        raise ValueError(f"--model {model}: there is no such folder; sizes need torch and transformers") from None
    if model not in PRESETS:
        raise ValueError(f"--model {model}: neither a folder nor one of {', '.join(PRESETS)}")
    logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        PolicyValue(make_config(PRESETS[model])).save_pretrained(folder)
        export_checkpoint(folder)
        yield folder


def report(console: Console, measurements: Sequence[Measurement]) -> None:
    """Print the measurements, with their ratios to the first two methods."""
    table = Table("", "samples/s", "× 1st", "× 2nd", "same action")
    for each in measurements:
        ratios = (f"{each.rate / baseline.rate:.1f}" for baseline in measurements[:2])
        table.add_row(each.name, f"{each.rate:,.0f}", *ratios, f"{each.agreement:.2%}")
    console.print(table)


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("benchmarks.bert", description=__doc__)
    parser.add_argument("--model", help="checkpoint, or a size for random weights (default: the bundled checkpoint)")
    parser.add_argument("--device", choices=DEVICES, default=DEVICES[0], help=f"(default {DEVICES[0]})")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    console = Console()
    try:
        with checkpoint_of(given.model) as folder:
            config, predictor = read_checkpoint(folder).config, load(folder, given.device)
            sessions = session_predictor(folder)
            methods = all_methods(folder, given.device)
    except ValueError as error:
        parser.error(str(error))
    with console.status("playing games for samples …"):
        views = self_play_views(WALLS)[:N_SAMPLES]
        encoded = encode(views)
    with console.status("measuring …"):
        encoding = rate_of(encode, views)
        playing = rate_of(Bert(predictor, "bert", Options(), seed=0).act, views)
        measurements = measure(methods, encoded, legal_table(views))
    lengths = encoded.lengths
    console.print(
        f"{len(views):,} samples of {lengths.mean():.0f} tokens, at most {lengths.max()}; {config.num_hidden_layers}"
        f" layers, {config.hidden_size} wide; {given.device}, one thread"
    )
    if given.device == "cpu":
        with console.status("playing against itself …"):
            by_session, as_played = arena_rates([sessions, predictor])
        console.print(
            f"in games against itself: {as_played:,.0f} decisions/s, by ONNX Runtime {by_session:,.0f}: "
            f"{as_played / by_session:.2f} times as many"
        )
    console.print(f"encoding: {encoding:,.0f} samples/s; the bot with encoding and augmentation: {playing:,.0f}/s")
    report(console, measurements)
    return 0
