"""Small games of bots, played one at a time, with their decisions; and the samples of a data folder, to compare."""

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
from agents.bert.training.data.records import RecordFault, collect_items
from agents.bert.training.data.seat_filter import SeatFilter
from agents.bert.training.data.shards import Shard
from agents.bert.training.targets.protocol import TargetSource
from agents.registry import make_bots
from engine.actions import DAIMINKAN, PON, PON_RED, RON
from engine.contests.seating import SEATINGS
from engine.game import Game
from engine.records.archives import members
from engine.records.filters import THREE_PLAYERS
from engine.records.model import GameRecord
from engine.records.stream import item_of
from engine.rules import TENHOU
from engine.seeds import derive_seed
from engine.table import TABLE

BOTS = ("random", "random", "rule")  # random calls whatever it can
SEED = 9  # game 3 is for validation
CALLS = {PON, PON_RED, DAIMINKAN}

# A sample: input_ids, position_ids, legal labels, label, placement, final points, regret of each label
Row = tuple[bytes, bytes, bytes, int, int, float, bytes]


@dataclass
class Played:
    """A game as it was played, with its decisions."""

    game: Game
    names: tuple[str, ...]
    views: list[np.ndarray] = field(default_factory=list)  # TABLE[1] each
    actions: list[int] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)  # number of each decision's round
    recorded: list[bool] = field(default_factory=list)  # False: a call or pass that a ron overrides is in no record

    @property
    def record(self) -> GameRecord:
        """The record of the game."""
        return GameRecord(self.game.messages, TENHOU, "own")

    @cached_property
    def rows(self) -> list[Row]:
        """The sample of each decision."""
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
                int(labels[i]), self.game.ranks[seat] - 1, float(np.float32(self.game.final_points[seat])),
                regret.tobytes(),
            ))  # fmt: skip
        return rows

    @cached_property
    def open(self) -> list[bool]:
        """Whether each decision has more than one legal label."""
        return [mask.bit_count() > 1 for mask in legal_masks(self.all_views).tolist()]

    @cached_property
    def all_views(self) -> np.ndarray:
        """TABLE[n]; joined as bytes, because NumPy copies nested records slowly."""
        return np.frombuffer(bytearray(b"".join(view.tobytes() for view in self.views)), dtype=TABLE)


def play(number: int, bots: Sequence[str] = BOTS, seed: int = SEED) -> Played:
    """Game `number` of the self-play of `bots` with `seed`."""
    agents = make_bots(bots, seed)
    seats = SEATINGS[number % len(SEATINGS)].tolist()
    names = tuple(bots[bot] for bot in seats)
    game = Game(derive_seed(seed, "wall", number), names=names)
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
    """The training and validation parts of a folder, if they have games."""
    for validation in (False, True):
        with suppress(ValueError):
            yield Dataset(folder, validation=validation)


def rows_in(folder: Path, variant: int = 0) -> list[Row]:
    """The samples of a folder, each in that variant."""
    rows: list[Row] = []
    for data in datasets(folder):
        batch = data.batch(data.indices, np.full(len(data), variant))
        for i, mask in enumerate(batch.attention_mask):
            assert not batch.input_ids[i][~mask].any()
            assert not batch.position_ids[i][~mask].any()
            rows.append((
                batch.input_ids[i][mask].astype(np.uint16).tobytes(), batch.position_ids[i][mask].tobytes(),
                batch.legal[i].tobytes(), int(batch.label[i]), int(batch.placement[i]), float(batch.points[i]),
                batch.regret[i].tobytes(),
            ))  # fmt: skip
    return rows


def chosen(games: list[Played], wanted: Callable[[Played, int], bool] = lambda game, decision: True) -> Counter[Row]:
    """The samples of the decisions that are `wanted`."""
    return Counter(
        row
        for game in games
        for decision, (row, is_open) in enumerate(zip(game.rows, game.open, strict=True))
        if is_open and wanted(game, decision)
    )


def collect_records(
    paths: Sequence[Path], seat_filter: SeatFilter, source: TargetSource
) -> tuple[Shard, list[RecordFault]]:
    """The samples of the games in these files and archives, see `collect_items`."""
    return collect_items([item_of(member, THREE_PLAYERS) for member in members(paths)], seat_filter, source)
