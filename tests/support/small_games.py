"""Small games of bots, played one at a time, with all that was decided in them; and what a training folder says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from agents.bert.encoding import encode
from agents.bert.labels import N_LABELS, labels_of, legal_masks
from agents.bert.training.data.dataset import Dataset
from agents.bert.training.data.selfplay import ORDERS, make_bots
from engine.actions import DAIMINKAN, PON, PON_RED, RON
from engine.game import Game
from engine.records.model import GameRecord
from engine.rules import TENHOU
from engine.seeds import derived_seed
from engine.table import TABLE

BOTS = ("random", "random", "rule")  # random calls whatever it can
SEED = 9  # game 3 is held out
CALLS = {PON, PON_RED, DAIMINKAN}

# ids, positions, legal labels, label, placement, final points, regret of each label
Row = tuple[bytes, bytes, bytes, int, int, float, bytes]


@dataclass
class Played:
    """A game as it was played: its decisions, each with the round it belongs to."""

    game: Game
    names: tuple[str, ...]
    views: list[np.ndarray] = field(default_factory=list)  # TABLE[1] each
    actions: list[int] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    recorded: list[bool] = field(default_factory=list)  # not so: a call or pass that nobody knows of for a ron

    @property
    def record(self) -> GameRecord:
        """The game on record."""
        return GameRecord(self.game.messages, TENHOU, "own")

    @cached_property
    def rows(self) -> list[Row]:
        """What is to be learned from each decision."""
        views, actions = self.all_views, np.array(self.actions)
        encoded, masks, labels = encode(views), legal_masks(views), labels_of(views, actions)
        rows = []
        for i, (n, mask, seat) in enumerate(
            zip(encoded.lengths, masks.tolist(), views["viewer"].tolist(), strict=True)
        ):
            legal = np.array([mask >> label & 1 for label in range(N_LABELS)], dtype=bool)
            regret = np.where(np.arange(N_LABELS) == labels[i], np.float32(0.0), np.float32(np.inf))
            rows.append((
                encoded.input_ids[i, :n].tobytes(), encoded.position_ids[i, :n].tobytes(), legal.tobytes(),
                int(labels[i]),
                self.game.ranks[seat] - 1, float(np.float32(self.game.final_points[seat])),
                regret.tobytes(),
            ))  # fmt: skip
        return rows

    @cached_property
    def open(self) -> list[bool]:
        """Of each decision, whether there was a choice."""
        return [mask.bit_count() > 1 for mask in legal_masks(self.all_views).tolist()]

    @cached_property
    def all_views(self) -> np.ndarray:
        """TABLE[n]; bytes are joined, for NumPy copies nested records slowly."""
        return np.frombuffer(bytearray(b"".join(view.tobytes() for view in self.views)), dtype=TABLE)


def play(number: int, bots: Sequence[str] = BOTS, seed: int = SEED) -> Played:
    """The game `number` of those that self-play with `seed` makes of `bots`."""
    agents = make_bots(bots, seed)
    seats = ORDERS[number % len(ORDERS)].tolist()
    names = tuple(bots[bot] for bot in seats)
    game = Game(derived_seed(seed, "wall", number), names=names)
    played, n_rounds, start = Played(game, names), -1, None
    while not game.over:
        now = (int(game.table.round_wind), int(game.table.dealer), int(game.table.honba))
        n_rounds, start = n_rounds + (now != start), now
        asked = {seat: np.frombuffer(bytearray(game.view(seat).tobytes()), dtype=TABLE) for seat in game.asked}
        answers = {seat: int(agents[seats[seat]].act(view)[0]) for seat, view in asked.items()}
        by_ron = RON in answers.values()
        for seat, action in answers.items():
            played.views.append(asked[seat])
            played.actions.append(action)
            played.rounds.append(n_rounds)
            played.recorded.append(not by_ron or action == RON or not CALLS & set(game.legal(seat)))
        for seat, action in answers.items():
            game.act(seat, action)
    return played


def datasets(folder: Path) -> Iterator[Dataset]:
    """The two parts of a folder, those that have any games."""
    for held_out in (False, True):
        with suppress(ValueError):
            yield Dataset(folder, held_out=held_out)


def rows_in(folder: Path, variant: int = 0) -> list[Row]:
    """What a folder has to learn from, each position in that variant."""
    rows: list[Row] = []
    for data in datasets(folder):
        places = data.places
        batch = data.batch(places, np.full(len(places), variant))
        for i, mask in enumerate(batch.mask):
            assert not batch.ids[i][~mask].any()
            assert not batch.positions[i][~mask].any()
            rows.append((
                batch.ids[i][mask].astype(np.uint16).tobytes(), batch.positions[i][mask].tobytes(),
                batch.legal[i].tobytes(), int(batch.label[i]), int(batch.placement[i]), float(batch.points[i]),
                batch.regret[i].tobytes(),
            ))  # fmt: skip
    return rows


def chosen(games: list[Played], wanted: Callable[[Played, int], bool] = lambda game, decision: True) -> Counter[Row]:
    """What is to be learned from the decisions that are `wanted`."""
    return Counter(
        row
        for game in games
        for decision, (row, is_open) in enumerate(zip(game.rows, game.open, strict=True))
        if is_open and wanted(game, decision)
    )


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """Content of every file."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
