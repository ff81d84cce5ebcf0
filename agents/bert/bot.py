"""The BERT bot: plays the legal label with the highest probability.

If two labels are close, the bot uses test-time augmentation: it also evaluates the position with pinzu and souzu
swapped, which the rules do not distinguish, and averages the logits of both.

=====================================================  ===============================================================
``bert``                                               the bundled network
``bert:FOLDER``                                        another checkpoint, see `agents.bert.checkpoint`
``bert:FOLDER?NAME=VALUE&NAME=VALUE``, ``bert:?…``     with options, see `OPTIONS`
=====================================================  ===============================================================
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.bert.checkpoint import REGRET_UNIT
from agents.bert.encoding import encode
from agents.bert.families import DEVICES, ONNX, WEIGHTS
from agents.bert.gumbel import gumbel_noise
from agents.bert.inference import Predictions, Predictor, load, softmax
from agents.bert.labels import LABEL_NAMES, N_LABELS, actions_of, legal_table
from agents.bert.symmetries import LABEL_MAPS, SUITS_SWAPPED, variant_of
from agents.options import BotOptions, read_options, read_path, read_temperature
from engine.actions import N_ACTIONS

BUNDLED = Path(__file__).parent / "weights"  # the checkpoint of the bot `bert`
DECIMALS = 4  # of the numbers in an annotation
CLOSE = 0.5  # test-time augmentation is used if the second label has at least this share of the first one's probability


class Options(NamedTuple):
    """How a network is played, see OPTIONS."""

    temperature: float = 0.0
    top: int = 0
    device: str = "cpu"


def read_top(text: str) -> int:
    """A number of labels. Raises ValueError."""
    return range(N_LABELS + 1).index(int(text))


def read_device(text: str) -> str:
    """A device. Raises ValueError."""
    return DEVICES[DEVICES.index(text)]


OPTIONS: BotOptions = {
    "temperature": (read_temperature, "0 plays the most probable label, higher values sample from softmax(logits / T)"),
    "top": (read_top, f"number of labels, the most probable first, sent in `ext_bot` of mjai replies; 0 to {N_LABELS}"),
    "device": (read_device, " or ".join(DEVICES)),
}


class LastPrediction(NamedTuple):
    """The network's outputs for the last view of a call of `Bert.act`."""

    logits: np.ndarray  # float32[N_LABELS]; -inf: not legal
    placement: np.ndarray  # float32[3]: probabilities
    points: float
    label: int  # the one played


class Bert:
    """A network as an agent. Its answer depends on the view and the seed alone."""

    def __init__(self, predictor: Predictor, name: str, options: Options, seed: int) -> None:
        self.name = name
        self._predictor = predictor
        self._options = options
        self.value_temperature = REGRET_UNIT * (options.temperature or 1.0)  # see `agents.base.Probabilities`
        self._seed = seed
        self._last: LastPrediction | None = None

    def act(self, views: np.ndarray) -> np.ndarray:
        """Choose by the network's labels. It is only run for views with more than one legal label."""
        legal = legal_table(views)
        labels = legal.argmax(axis=1)
        rows = np.flatnonzero(legal.sum(axis=1) > 1)
        self._last = None
        if len(rows):
            labels[rows] = self._choose(views[rows], legal[rows], keep_last=rows[-1] == len(views) - 1)
        return actions_of(views, labels)

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """Return REGRET_UNIT * logits, as training learned softmax(values / REGRET_UNIT)."""
        legal = legal_table(views)
        logits = np.where(legal, np.float32(0.0), np.float32(-np.inf))
        rows = np.flatnonzero(legal.sum(axis=1) > 1)
        if len(rows):
            logits[rows] = self._predict(views[rows], legal[rows]).policy
        values = np.full((len(views), N_ACTIONS), -np.inf, dtype=np.float32)
        view_indices, labels = np.nonzero(legal)
        values[view_indices, actions_of(views[view_indices], labels)] = REGRET_UNIT * logits[view_indices, labels]
        return values

    def annotate(self) -> dict[str, Any]:
        """Return the most probable labels in wahaha's format, placement and points."""
        if self._options.top == 0 or self._last is None:
            return {}
        logits, placement, points, label = self._last
        probabilities = softmax(logits.astype(np.float64)).round(DECIMALS).tolist()
        candidates = np.argsort(-logits, kind="stable")[: min(self._options.top, np.isfinite(logits).sum())]
        return {
            "token": LABEL_NAMES[label],
            "prob": probabilities[label],
            "candidate": [{"token": LABEL_NAMES[each], "prob": probabilities[each]} for each in candidates.tolist()],
            "placement": placement.astype(np.float64).round(DECIMALS).tolist(),
            "points": round(points, DECIMALS),
        }

    def _choose(self, views: np.ndarray, legal: np.ndarray, keep_last: bool) -> np.ndarray:
        """The labels to play, int64[n]; `keep_last` keeps the prediction for the last view for `annotate`."""
        predictions = self._predict(views, legal)
        logits = predictions.policy
        if self._options.temperature > 0:
            logits = logits + self._options.temperature * gumbel_noise(views, self._seed)
        labels = logits.argmax(axis=1)
        if keep_last:
            placement, points = predictions.placement[-1], float(predictions.points[-1])
            self._last = LastPrediction(predictions.policy[-1], placement, points, int(labels[-1]))
        return labels

    def _predict(self, views: np.ndarray, legal: np.ndarray) -> Predictions:
        """The predictions for `views` TABLE[n]; logits of illegal labels are -inf."""
        encoded = encode(views)
        predictions = self._predictor(encoded.input_ids, encoded.lengths, encoded.n_state)
        policy = np.where(legal, predictions.policy, -np.inf)
        second, first = np.partition(policy, (-2, -1))[:, -2:].T
        close = np.flatnonzero(second - first >= np.log(CLOSE))
        if len(close):
            swapped = variant_of(encoded.select(close), SUITS_SWAPPED)
            augmented = self._predictor(swapped.input_ids, swapped.lengths, swapped.n_state).policy
            policy[close] = (policy[close] + augmented[:, LABEL_MAPS[SUITS_SWAPPED]]) / 2
        return predictions._replace(policy=policy)


@lru_cache(maxsize=4)
def _load_once(folder: Path, device: str, modified: tuple[int, ...]) -> Predictor:
    """Load a network, once for all bots of this process; `modified` differs if its files have been replaced."""
    return load(folder, device)


def _name_of(folder: Path) -> str:
    """The name of a network: that of its run, which has it in the folder ``model``, or else of its folder."""
    run = folder.parent.name if folder.name == "model" else ""
    return run or folder.name


def make(argument: str | None, seed: int) -> Bert:
    """The bot ``bert`` or ``bert:argument``, see the module. Raises ValueError, one line with the remedy."""
    return make_named("bert", BUNDLED, argument, seed)


def make_named(bot: str, bundled: Path, argument: str | None, seed: int, family: str = "") -> Bert:
    """A bot whose checkpoint is `bundled`; `family`: that of its network, if not `bot`. Raises ValueError."""
    family = family or bot
    path, _, text = (argument or "").partition("?")
    options = Options(**read_options(bot, OPTIONS, text))
    folder = read_path(path) if path else bundled
    if not path and not folder.is_dir():
        raise ValueError(
            f"this installation has no bundled network for the bot {bot}: name a checkpoint, {family}:FOLDER"
        )
    files = (folder / ONNX, folder / WEIGHTS)
    modified = tuple(file.stat().st_mtime_ns for file in files if file.exists())
    predictor = _load_once(folder.resolve(), options.device, modified)
    if predictor.family != family:
        raise ValueError(
            f"{folder}: is a network of the bot {predictor.family}, not {family}: {predictor.family}:FOLDER"
        )
    name = f"{bot}:{_name_of(folder.resolve())}" if path else bot
    if options.temperature:
        name += f"?temperature={options.temperature:g}"
    return Bert(predictor, name, options, seed)
