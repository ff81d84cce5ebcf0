"""The scale of a bot: the setting of the dial for each number of points, and the file in which it is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.base import Agent
from agents.files import SPEC
from agents.options import read_path
from agents.strength.dial import Dialled, Setting
from engine.common.files import write_atomically
from engine.common.program import program_name

SHIPPED = Path(__file__).parent / "scales"
SCALE = "strength.json"  # the end of a scale's name that is kept with its bot


class Step(NamedTuple):
    """A measured setting of the dial."""

    points: float  # relative to full strength, so 0 or less
    interval: float  # half-width of its 95 % confidence interval
    setting: Setting


@dataclass(frozen=True)
class Scale:
    """The measured settings of a bot. The first is full strength; points fall strictly from step to step."""

    bot: str
    games: int  # of which it was made
    steps: tuple[Step, ...]

    @property
    def lowest(self) -> int:
        """The lowest strength that the dial reaches, in whole points."""
        return int(self.steps[-1].points)

    def setting(self, points: int) -> Setting:
        """The setting for a strength of `points` <= 0, linear between two steps. Raises ValueError below the lowest."""
        if points < self.lowest:
            raise ValueError(f"{self.bot}@{points}: the weakest that {self.bot} can be is {self.bot}@{self.lowest}")
        rising = self.steps[::-1]
        known = [step.points for step in rising]
        temperature = np.interp(points, known, [step.setting.temperature for step in rising])
        share = np.interp(points, known, [step.setting.share for step in rising])
        return Setting(float(temperature), float(share))


def scale_path(bot: str) -> Path:
    """Where the scale of `bot` is kept.

    ==================================================  ==============================================================
    ``FILE.py:NAME``                                    ``FILE.NAME.strength.json``, next to the file
    ``NAME:FOLDER``, with or without ``?OPTIONS``       ``FOLDER/strength.json``
    ``NAME:FILE``, likewise                             ``FILE.strength.json``
    any other                                           ``scales/NAME.json`` in this package
    ==================================================  ==============================================================

    So bots that differ in their options or arguments alone have one scale. Raises ValueError for an impossible path.
    """
    file = SPEC.fullmatch(bot)
    if file is not None:
        path = read_path(file["file"])
        return path.with_name(f"{path.stem}.{file['name'] or ''}.{SCALE}")
    name, _, argument = bot.partition(":")
    text = argument.partition("?")[0]
    path = read_path(text)
    try:
        if text and path.is_dir():
            return path / SCALE
        if text and path.is_file():
            return path.with_name(f"{path.name}.{SCALE}")
    except OSError as error:  # a path that is too long or not allowed
        raise ValueError(f"{path}: {error.strerror}") from None
    return SHIPPED / f"{name}.json"


def is_scale(path: Path) -> bool:
    """Whether a file is the scale of a bot, kept with it, by its name."""
    return f".{path.name}".endswith(f".{SCALE}")


def read_scale(bot: str) -> Scale:
    """The scale of a bot. Raises ValueError, in one line, if there is none, or its file is invalid."""
    path = scale_path(bot)
    remedy = f"{program_name('arena')} calibrate {bot}"
    try:
        document = json.loads(path.read_bytes())
        steps = tuple(
            Step(float(row["points"]), float(row["interval"]), Setting(float(row["temperature"]), float(row["share"])))
            for row in document["steps"]
        )
        scale = Scale(bot, int(document["games"]), steps)
    except FileNotFoundError:
        raise ValueError(f"{bot} has no scale of strength yet; to measure one: {remedy}") from None
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        raise ValueError(f"{path} holds no scale of strength; to measure it again: {remedy}") from None
    if not _is_scale(steps):
        raise ValueError(f"{path} holds steps that do not fall from 0; to measure them again: {remedy}")
    return scale


def _is_scale(steps: tuple[Step, ...]) -> bool:
    """Whether steps are those of a scale: from full strength down, with settings that the dial can take."""
    if len(steps) < 2:
        return False
    settings, points = np.array([step.setting for step in steps]), np.array([step.points for step in steps])
    return bool(
        points[0] == 0
        and (np.diff(points) < 0).all()
        and np.isfinite(points).all()
        and (settings >= 0).all()
        and np.isfinite(settings).all()
        and (settings[:, 1] <= 1).all()
    )


def write_scale(scale: Scale) -> Path:
    """Write the scale where `read_scale` finds it, and return the path. Raises OSError."""
    path = scale_path(scale.bot)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        json.dumps({"points": round(step.points, 1), "interval": round(step.interval, 1)} | step.setting._asdict())
        for step in scale.steps
    ]
    text = f'{{"games": {scale.games}, "steps": [\n' + ",\n".join(rows) + "\n]}\n"
    with write_atomically(path) as file:
        file.write(text.encode())
    return path


def at_strength(agent: Agent, bot: str, strength: int, seed: int) -> Dialled:
    """`agent`, which the text `bot` names, weaker by `strength` points, such as -300.

    Raises ValueError, in one line, if the bot has no scale, or one that does not reach so far.
    """
    setting = read_scale(bot).setting(strength)
    return Dialled(agent, setting, f"{agent.name}@{strength}", seed)
