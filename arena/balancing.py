"""The search for the strengths at which three bots are even (``python -m arena balance``)."""

from __future__ import annotations

import csv
import json
import shlex
from argparse import Namespace
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from agents.clusters import workers_for
from agents.external.specs import is_external, make_agent
from agents.strength.scale import read_scale
from agents.strength.spec import split_strength
from arena.bot_games import BotGames, estimate, finishing_orders
from arena.chunk import GameError
from arena.run import make_folder
from arena.schedule import RunSettings, round_up
from arena.series import MatchPool, Series
from engine.common.files import write_atomically
from engine.common.labels import labels
from engine.common.options import Parser, check_output, describe_error
from engine.common.pools import WorkerError
from engine.common.program import FAILED, INTERRUPTED, OK, program_name
from engine.contests.estimates import Estimate
from engine.contests.observations import SHARE
from engine.contests.ratings import rate
from engine.contests.seating import ROTATIONS
from engine.seeds import derive_seed
from engine.table import N_SEATS

# Number of games after which a step is checked -> the share of games finished ahead of another bot from which the dials
# are corrected. After few games only a share far from one half calls for a correction; None: any share whose interval
# does not contain one half.
LOOKS: tuple[tuple[int, float | None], ...] = ((1000, 0.60), (2000, 0.58), (4000, 0.56), (8000, None))
TAKEN = 0.5  # the share of the measured surplus that a correction removes


class CannotBalanceError(Exception):
    """No setting of the dials makes the bots even; the message names the bot."""


@dataclass(frozen=True)
class Look:
    """What the games of a step have shown so far.

    ``ahead``: for each pair of bots, the share of games in which the first of them finished ahead; ``surplus``: the
    points by which each bot's rating exceeds the lowest.
    """

    bots: tuple[str, ...]
    games: int
    ahead: tuple[Estimate, ...]
    surplus: tuple[float, ...]

    def is_uneven(self, limit: float | None) -> bool:
        """Whether the dials have to be corrected; see LOOKS."""
        if limit is None:
            return any(Estimate(share.mean - 0.5, share.interval).differs_from_zero for share in self.ahead)
        return any(max(share.mean, 1 - share.mean) >= limit for share in self.ahead)

    def __str__(self) -> str:
        pairs = combinations(labels(self.bots), 2)
        shares = (
            f"{a} ahead of {b} in {share.mean:.1%}" + (f" ± {share.interval:.1%}" if share.interval else "")
            for (a, b), share in zip(pairs, self.ahead)
        )
        return f"{self.games:,} games: " + ", ".join(shares)


def look_at(bots: tuple[str, ...], played: Sequence[BotGames], games: int) -> Look:
    """Return the `Look` at the first ``games`` of a step; a resumed search may have finished more."""
    n_walls = games // ROTATIONS
    played = [
        BotGames(each.bot, each.counts[:n_walls], each.placements[:n_walls], each.final_points[:n_walls])
        for each in played
    ]
    walls = np.repeat(np.arange(n_walls), ROTATIONS)
    points = rate(N_SEATS, finishing_orders(range(N_SEATS), played), walls, samples=0).points
    ahead = tuple(estimate((a.placements < b.placements).astype(float), SHARE) for a, b in combinations(played, 2))
    return Look(bots, games, ahead, tuple((points - points.min()).tolist()))


class Dials:
    """The bots and how far their dials are turned."""

    def __init__(self, specs: Sequence[str]) -> None:
        """Make each bot once, to find errors. Raises ValueError."""
        split = [split_strength(spec) for spec in specs]
        self.bots = [bot for bot, _ in split]
        self.strengths = [strength or 0 for _, strength in split]
        for spec in specs:
            make_agent(spec, 0)

    @property
    def specs(self) -> tuple[str, ...]:
        """The bots at their strengths."""
        return tuple(f"{bot}@{points}" if points else bot for bot, points in zip(self.bots, self.strengths))

    def fixed(self) -> list[str]:
        """Return a line on each bot that cannot be weakened, so that a correction fails unless it is the weakest."""
        lines = []
        for bot in dict.fromkeys(self.bots):
            if is_external(bot):
                lines.append(f"{bot} is an external bot, which has no dial: it has to be the weakest")
                continue
            try:
                read_scale(bot)
            except ValueError as error:
                lines.append(f"{error}; without one, it has to be the weakest")
        return lines

    def correct(self, surplus: Sequence[float]) -> None:
        """Weaken each bot by TAKEN of its surplus, then raise all dials until the highest is at full strength.

        Raises CannotBalanceError where a bot has no dial or its dial is at the end, ValueError for a bad scale.
        """
        corrected = [points - TAKEN * more for points, more in zip(self.strengths, surplus)]
        wanted = [round(points - max(corrected)) for points in corrected]
        if wanted == self.strengths:  # for example if A beats B, B beats C and C beats A
            raise CannotBalanceError("their ratings are even to a point, but not every pair is; no dial can fix that")
        before = list(self.strengths)
        for index, (bot, points) in enumerate(zip(self.bots, wanted)):
            if points < 0 and is_external(bot):
                raise CannotBalanceError(f"{bot} is not the weakest, and an external bot has no dial")
            self.strengths[index] = max(points, read_scale(bot).lowest) if points < 0 else 0
        if self.strengths == before:
            strongest = self.specs[int(np.argmax(surplus))]
            raise CannotBalanceError(f"{strongest} is still ahead: its dial is at the end")


class Balance:
    """The search. ``looks``: all so far."""

    def __init__(self, options: Namespace) -> None:
        """Raises ValueError, OSError."""
        self._options = options
        self.dials = Dials(options.bots)
        self.workers = workers_for(options, self.dials.bots)
        self.json: Path | None = options.json
        self.looks: list[Look] = []
        self._steps: list[Series] = []
        self._folder: Path | None = None
        if self.json is not None:
            make_folder(self.json.parent, f"--json {self.json}")
            check_output("--json", self.json)
            if self.json.exists():
                raise ValueError(f"{self.json} is there already: name another --json FILE, or delete it")
            self._folder = self.json.with_name(self.json.name + ".partial")

    def run(self, console: Console) -> Iterator[str]:
        """Play until the bots are even; yield a line for each look and each correction.

        Raises CannotBalanceError, ValueError (a bad scale, a folder of another run) and what `Series.play` raises.
        """
        series = self._start_step()
        with series.open_pool() as pool:  # of all steps: bots that have connected stay
            while (yield from self._play_step(series, pool, console)):
                series = self._start_step()

    def _play_step(self, series: Series, pool: MatchPool, console: Console) -> Generator[str, None, bool]:
        """Play until the dials have to be corrected, and correct them. Returns whether they had to be."""
        for wanted, limit in LOOKS:
            games = round_up(wanted)
            series.play(console, games, pool)
            look = look_at(self.dials.specs, series.results[0].by_bot(), games)
            self.looks.append(look)
            yield str(look)
            if look.is_uneven(limit):
                self.dials.correct(look.surplus)
                yield f"corrected: {one_argument(self.dials.specs)}"
                return True
        return False

    def _start_step(self) -> Series:
        number, options = len(self._steps), self._options
        games, step_seed = round_up(LOOKS[-1][0]), derive_seed(options.seed, "step", number)
        match = RunSettings(self.dials.specs, games, step_seed, options.rules, options.length)
        folder = None if self._folder is None else self._folder / f"{number:02}"
        self._steps.append(Series([match], self.workers, folder))
        return self._steps[-1]

    def finish(self) -> None:
        """Write the JSON file and delete the games. Raises OSError."""
        if self.json is None or self._folder is None:
            return
        document: dict[str, Any] = {"bots": self.dials.specs, "looks": [asdict(look) for look in self.looks]}
        with write_atomically(self.json) as file:
            file.write(json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n")
        for series in self._steps:
            series.delete_games()
        self._folder.rmdir()


def one_argument(specs: Sequence[str]) -> str:
    """Bots as the argument of ``--bots``, quoted for CSV and for a shell."""
    text = StringIO()
    csv.writer(text, lineterminator="").writerow(specs)
    return shlex.quote(text.getvalue())


def start(parser: Parser, options: Namespace) -> int:
    """Run the program and return the exit code."""
    screen, notes = Console(), Console(stderr=True)
    tell = partial(screen.print, soft_wrap=True, highlight=False, markup=False)
    code, why = OK, ""
    with parser.reporting(ValueError, OSError):
        balance = Balance(options)
    for line in balance.dials.fixed():
        notes.print(f"arena balance: {line}", soft_wrap=True, highlight=False, markup=False)
    try:
        for line in balance.run(notes):
            tell(line)
        balance.finish()
        tell(f"even: {program_name('arena')} --bots {one_argument(balance.dials.specs)}")
    except KeyboardInterrupt:
        again = "run the same command again to resume" if balance.json else "with --json FILE, a run can be resumed"
        code, why = INTERRUPTED, f"interrupted; {again}"
    except (CannotBalanceError, GameError, WorkerError, ValueError, OSError) as error:
        code, why = FAILED, describe_error(error)
    if why:
        notes.print(f"arena balance: {why}", soft_wrap=True, highlight=False, markup=False)
    return code
