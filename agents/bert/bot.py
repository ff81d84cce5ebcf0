"""The BERT bot: asks its network which of the legal labels is the likeliest, and plays that.

Where the network is not sure it is asked again with pinzu and souzu swapped, and what counts is the mean of its logits:
it has not learned quite the same of either suit.

=================================================  ====================================================================
``bert``                                           the network that comes with it
``bert:FOLDER``                                    another: a folder with ``config.json`` and ``model.safetensors``
``bert:FOLDER?NAME=VALUE&NAME=VALUE``, ``bert:?…``  with options, `OPTIONS`
=================================================  ====================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.bert.checkpoint import REGRET_UNIT, WEIGHTS
from agents.bert.encoding import encode
from agents.bert.inference import DEVICES, Net, Predictions, load, softmax
from agents.bert.labels import LABEL_NAMES, N_LABELS, actions_of, legal_table
from agents.bert.symmetries import LABEL_MAPS, SUITS_SWAPPED, variant_of
from engine.actions import N_ACTIONS
from engine.compiling import kernel
from engine.kernels import hash_view
from engine.rng import GOLDEN, splitmix, uniform
from engine.table import TABLE, raw_bytes

OWN_FOLDER = Path(__file__).parent / "weights"
DIGITS = 4  # after the point, of what is remarked
SURE = 0.9  # a network that gives a label that probability is not asked again


class Options(NamedTuple):
    """How a network is played."""

    temperature: float = 0.0
    top: int = 0
    device: str = "cpu"


def read_temperature(text: str) -> float:
    """Raises ValueError for what is no temperature."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError
    return value


def read_top(text: str) -> int:
    """Raises ValueError for what is no number of labels."""
    return range(N_LABELS + 1).index(int(text))


def read_device(text: str) -> str:
    """Raises ValueError for what is no device."""
    return DEVICES[DEVICES.index(text)]


# name -> how its value is read (raises ValueError), and what it may be
OPTIONS: dict[str, tuple[Callable[[str], Any], str]] = {
    "temperature": (read_temperature, "0 plays the likeliest label, 1 draws labels as likely as they are; from 0 up"),
    "top": (read_top, f"so many of the likeliest labels are told in `ext_bot` of mjai replies; 0 to {N_LABELS}"),
    "device": (read_device, " or ".join(DEVICES)),
}


def read_options(text: str) -> Options:
    """The options ``NAME=VALUE&NAME=VALUE``. Raises ValueError, naming those there are."""
    given: dict[str, Any] = {}
    for part in filter(None, text.split("&")):
        name, _, value = part.partition("=")
        if name not in OPTIONS:
            known = "; ".join(f"{name}: {what}" for name, (_, what) in OPTIONS.items())
            raise ValueError(f"the bot bert has no option {name!r}, but {known}")
        if name in given:
            raise ValueError(f"the bot bert is given the option {name!r} twice")
        read, what = OPTIONS[name]
        try:
            given[name] = read(value)
        except ValueError:
            raise ValueError(f"the bot bert cannot take {part!r}; {name}: {what}") from None
    return Options(**given)


@kernel
def _noise_all(raw: np.ndarray, seed: np.uint64, noise: np.ndarray) -> None:
    views = raw.view(TABLE)
    for k in range(len(noise)):
        state = hash_view(views[k], seed)
        for label in range(noise.shape[1]):
            state = state + GOLDEN
            noise[k, label] = -np.log(-np.log(uniform(splitmix(state))))


def gumbel_noise(views: np.ndarray, seed: int) -> np.ndarray:
    """float64[n, N_LABELS] of the standard Gumbel distribution, from each view and the seed alone.

    The largest of logits with such noise added is label k with the probability that their softmax gives it.
    """
    noise = np.empty((len(views), N_LABELS))
    _noise_all(raw_bytes(views), np.uint64(seed), noise)
    return noise


class Thought(NamedTuple):
    """What the network said of one position."""

    logits: np.ndarray  # float32[N_LABELS]; -inf where a label is not legal
    placement: np.ndarray  # float32[3]
    points: float
    label: int  # that was chosen


class Bert:
    """A network as an agent. Its answer depends on the view and the seed alone."""

    def __init__(self, net: Net, name: str, options: Options, seed: int) -> None:
        self.name = name
        self._net = net
        self._options = options
        self._seed = seed
        self._last: Thought | None = None  # of the last view of the last call, where the network was asked

    def act(self, views: np.ndarray) -> np.ndarray:
        """See `agents.base.Agent`. The network is not asked where there is but one label."""
        legal = legal_table(views)
        labels = legal.argmax(axis=1)
        asked = np.flatnonzero(legal.sum(axis=1) > 1)
        self._last = None
        if len(asked):
            labels[asked] = self._choose(views[asked], legal[asked], tell=asked[-1] == len(views) - 1)
        return actions_of(views, labels)

    def action_values(self, views: np.ndarray) -> np.ndarray:
        """See `agents.base.ActionValues`: the log-probabilities of the network, scaled to placements."""
        legal = legal_table(views)
        logits = np.where(legal, np.float32(0.0), np.float32(-np.inf))
        asked = np.flatnonzero(legal.sum(axis=1) > 1)
        if len(asked):
            logits[asked] = self._predict(views[asked], legal[asked]).policy
        worths = np.full((len(views), N_ACTIONS), -np.inf, dtype=np.float32)
        of, labels = np.nonzero(legal)
        worths[of, actions_of(views[of], labels)] = REGRET_UNIT * logits[of, labels]
        return worths

    def annotate(self) -> dict[str, Any]:
        """See `agents.base.Annotating`: the likeliest labels as wahaha tells them, placement and points."""
        if self._options.top == 0 or self._last is None:
            return {}
        logits, placement, points, label = self._last
        shares = softmax(logits.astype(np.float64)).round(DIGITS).tolist()
        likeliest = np.argsort(-logits, kind="stable")[: min(self._options.top, np.isfinite(logits).sum())]
        return {
            "token": LABEL_NAMES[label],
            "prob": shares[label],
            "candidate": [{"token": LABEL_NAMES[each], "prob": shares[each]} for each in likeliest.tolist()],
            "placement": placement.astype(np.float64).round(DIGITS).tolist(),
            "points": round(points, DIGITS),
        }

    def _choose(self, views: np.ndarray, legal: np.ndarray, tell: bool) -> np.ndarray:
        """The labels to play, int64[n]; what was thought of the last view is kept if it is to be told."""
        said = self._predict(views, legal)
        logits = said.policy
        weighed = logits
        if self._options.temperature > 0:
            weighed = logits + self._options.temperature * gumbel_noise(views, self._seed)
        labels = weighed.argmax(axis=1)
        if tell:
            self._last = Thought(logits[-1], said.placement[-1], float(said.points[-1]), int(labels[-1]))
        return labels

    def _predict(self, views: np.ndarray, legal: np.ndarray) -> Predictions:
        """What the network says; the logits of illegal labels are -inf."""
        encoded = encode(views)
        said = self._net(encoded.ids, encoded.lengths, encoded.n_state)
        policy = np.where(legal, said.policy, -np.inf)
        unsure = np.flatnonzero(softmax(policy).max(axis=1) < SURE)
        if len(unsure):
            swapped = variant_of(encoded.some(unsure), SUITS_SWAPPED)
            again = self._net(swapped.ids, swapped.lengths, swapped.n_state)
            policy[unsure] = (policy[unsure] + again.policy[:, LABEL_MAPS[SUITS_SWAPPED]]) / 2
        return said._replace(policy=policy)


@lru_cache(maxsize=4)
def shared_net(folder: Path, device: str, made: int) -> Net:
    """A network, loaded once for all bots of this process; `made` tells it from another that was there before."""
    return load(folder, device)


def make(argument: str | None, seed: int) -> Bert:
    """The bot of ``bert`` or ``bert:argument``, see above. Raises ValueError for what cannot be, in one line."""
    place, _, said = (argument or "").partition("?")
    options = read_options(said)
    folder = Path(place).expanduser() if place else OWN_FOLDER
    if not place and not folder.is_dir():
        raise ValueError("the bot bert has no network of its own in this installation: name a folder, as bert:FOLDER")
    weights = folder / WEIGHTS
    net = shared_net(folder.resolve(), options.device, weights.stat().st_mtime_ns if weights.exists() else 0)
    name = f"bert:{folder.resolve().name}" if place else "bert"
    return Bert(net, f"{name}?temperature={options.temperature:g}" if options.temperature else name, options, seed)
