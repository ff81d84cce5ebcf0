"""How fast positions are encoded, and a network answers: one at a time or batched, on one core or a GPU."""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.bert.bot import OWN_FOLDER, Bert, Options
from agents.bert.checkpoint import read
from agents.bert.encoding import MAX_TOKENS, Encoded, encode
from agents.bert.export.calibration import positions
from agents.bert.export.graph import build
from agents.bert.inference import DEVICES, SLICE, Net, load, onnx_run, torch_model, torch_run
from agents.bert.labels import legal_table
from benchmarks.timing import ROUNDS, rate
from engine.common.options import Parser

WALLS = range(40)  # of the games played for positions
KEPT = 3000  # of their positions
SHOWN = 32  # positions of a round of those that are answered one at a time
TORCH_SLICE = 64

# policy(encoded): float32[n, N_LABELS], the logits of each position
Policy = Callable[[Encoded], np.ndarray]


class Way(NamedTuple):
    """One way to get answers."""

    name: str
    policy: Policy
    at_once: bool  # all positions in one call, not each in its own


class Timed(NamedTuple):
    """What was measured of a way."""

    name: str
    rate: float  # positions per second
    same: float  # share of the positions for which it chooses what the first way chooses


def answers(way: Way, encoded: Encoded) -> np.ndarray:
    """The logits of `encoded`, got in that way."""
    if way.at_once:
        return way.policy(encoded)
    return np.concatenate([way.policy(encoded.some(slice(i, i + 1))) for i in range(len(encoded.ids))])


def by_net(net: Net) -> Policy:
    """The bot's way: the runtime that plays."""
    return lambda encoded: net(encoded.ids, encoded.lengths, encoded.n_state).policy


def torch_ways(folder: Path, device: str) -> list[Way]:
    """The ways of torch, none where that is not installed.

    The first two are the plain ones, a transformers BertModel for each position: with the padding that it comes with,
    which is what first comes to mind, and without it.
    """
    try:
        import torch

        model = torch_model(folder)
    except ImportError:
        return []
    torch.set_num_threads(1)
    model.to(device)

    def plain(encoded: Encoded, cut: bool) -> np.ndarray:
        length = encoded.lengths.max() if cut else MAX_TOKENS
        ids = torch.from_numpy(encoded.ids[:, :length].astype(np.int64)).to(device)
        mask = torch.from_numpy(encoded.mask[:, :length]).to(device)
        places = torch.from_numpy(encoded.positions[:, :length]).to(device)
        with torch.inference_mode():
            seen = model.bert(input_ids=ids, attention_mask=mask, position_ids=places).last_hidden_state
            logits: np.ndarray = model.policy(seen[:, 0]).cpu().numpy()
        return logits

    ways = [
        Way("transformers, one by one, padded", partial(plain, cut=False), False),
        Way("transformers, one by one, cut", partial(plain, cut=True), False),
    ]
    size = TORCH_SLICE if device == "cpu" else SLICE[device]
    for name, bfloat16 in (("torch, batched, float32", False), ("torch, batched, bfloat16", True)):
        ways.append(Way(name, by_net(Net(torch_run(model, device, bfloat16), size)), True))
    return ways


def all_ways(folder: Path, device: str) -> list[Way]:
    """Every way to run the network in `folder` on that device."""
    ways = torch_ways(folder, device)
    if device == "cpu":
        unrounded = Net(onnx_run(build(read(folder)), threads=1), SLICE["cpu"])
        ways.append(Way("ONNX Runtime, batched, float32", by_net(unrounded), True))
    policy = by_net(load(folder, device))
    return [*ways, Way("the bot's runtime, one by one", policy, False), Way("the bot's runtime, batched", policy, True)]


def measure(ways: Sequence[Way], encoded: Encoded, legal: np.ndarray) -> list[Timed]:
    """Time all ways in turn, again and again, after a look at their answers."""
    chosen = [np.where(legal, answers(way, encoded), -np.inf).argmax(axis=1) for way in ways]
    some = encoded.some(slice(SHOWN))

    def work(way: Way) -> int:
        asked = encoded if way.at_once else some
        answers(way, asked)
        return len(asked.ids)

    rates = [[rate(partial(work, way)) for way in ways] for _ in range(ROUNDS)]
    return [
        Timed(way.name, statistics.median(of_way), float((choice == chosen[0]).mean()))
        for way, of_way, choice in zip(ways, zip(*rates), chosen)
    ]


def rate_of(work: Callable[[np.ndarray], object], views: np.ndarray) -> float:
    """Views per second of `work`."""

    def run() -> int:
        work(views)
        return len(views)

    return statistics.median(rate(run) for _ in range(ROUNDS))


@contextmanager
def folder_of(model: str | None) -> Iterator[Path]:
    """The folder of the network to measure: that of the bot, one that is named, or a random one of a preset's size."""
    if model is None or Path(model).exists():
        yield Path(model) if model else OWN_FOLDER
        return
    try:
        from transformers.utils import logging

        from agents.bert.model import PRESETS, PolicyValue, make_config
    except ImportError:
        raise ValueError(f"--model {model}: there is no such folder; for a size torch must be installed") from None
    if model not in PRESETS:
        raise ValueError(f"--model {model}: neither a folder nor one of {', '.join(PRESETS)}")
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        PolicyValue(make_config(PRESETS[model])).save_pretrained(folder)
        yield Path(folder)


def report(console: Console, timed: Sequence[Timed]) -> None:
    """Print what was measured, and how much faster it is than the first two ways."""
    table = Table("", "positions/s", "× 1st", "× 2nd", "same choice")
    for line in timed:
        ratios = (f"{line.rate / other.rate:.1f}" for other in timed[:2])
        table.add_row(line.name, f"{line.rate:,.0f}", *ratios, f"{line.same:.2%}")
    console.print(table)


def make_parser() -> Parser:
    """The command line."""
    parser = Parser("python -m benchmarks.bert", description=__doc__)
    parser.add_argument("--model", help="folder of a network, or a size for a random one (default: the bot's own)")
    parser.add_argument("--device", choices=DEVICES, default=DEVICES[0], help=f"(default {DEVICES[0]})")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    parser = make_parser()
    given = parser.parse_args(arguments)
    console = Console()
    try:
        with folder_of(given.model) as folder:
            config, net = read(folder).config, load(folder, given.device)
            ways = all_ways(folder, given.device)
    except ValueError as error:
        parser.error(str(error))
    with console.status("playing games for positions …"):
        views = positions(WALLS)[:KEPT]
    with console.status("measuring …"):
        encoding = rate_of(encode, views)
        playing = rate_of(Bert(net, "bert", Options(), seed=0).act, views)
        timed = measure(ways, encode(views), legal_table(views))
    lengths = encode(views).lengths
    console.print(
        f"{len(views):,} positions of {lengths.mean():.0f} tokens, {lengths.max()} at most; {config.num_hidden_layers}"
        f" layers, {config.hidden_size} wide; {given.device}, one thread"
    )
    console.print(f"encoded: {encoding:,.0f} positions/s; answered by the bot, all in all: {playing:,.0f}/s")
    report(console, timed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
