"""A variant of a sample is the sample of the same game with permuted tiles."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.bert.encoding import Encoded
from agents.bert.symmetries import N_VARIANTS, SUITS_SWAPPED, TILE_MAPS, variant_of
from agents.bert.training.data.dataset import Dataset
from agents.bert.training.data.seat_filter import SeatFilter
from agents.bert.training.data.shards import save
from agents.bert.training.targets.played import PlayedActions
from agents.bert.vocabulary import SEP
from engine.mjai.messages import Message
from engine.records.files import write_record
from engine.records.model import GameRecord
from engine.rules import TENHOU
from engine.tiles import MJAI_NAMES, MJAI_TILES, SANMA_KINDS
from tests.support.small_games import Played, Row, collect_records, play, rows_in

TILE_KEYS = ("pai", "dora_marker", "consumed", "tehais", "uradora_markers", "hora_tehais")
IN_GAME = [*SANMA_KINDS.tolist(), MJAI_TILES["5pr"], MJAI_TILES["5sr"]]


@pytest.fixture(scope="module")
def games() -> list[Played]:
    return [play(0), play(5)]  # every kind of call


def permuted(value: Any, tiles: dict[str, str]) -> Any:
    """A tile, or nested lists of tiles, mapped by `tiles`."""
    return [permuted(each, tiles) for each in value] if isinstance(value, list) else tiles[value]


def permuted_record(record: GameRecord, variant: int) -> GameRecord:
    """The same game with its tiles permuted."""
    tiles = {"?": "?"} | {MJAI_NAMES[tile]: MJAI_NAMES[TILE_MAPS[variant, tile]] for tile in IN_GAME}

    def event(each: Message) -> Message:
        return each | {key: permuted(each[key], tiles) for key in TILE_KEYS if key in each}

    return GameRecord([event(each) for each in record.events], TENHOU, "own")


def rows_of(games: list[GameRecord], folder: Path) -> list[Row]:
    """The samples of recorded games, written to `folder`."""
    folder.mkdir()
    paths = [folder / f"{number}.mjson" for number in range(len(games))]
    for record, path in zip(games, paths, strict=True):
        write_record(record, path)
    shard, faults = collect_records(paths, SeatFilter(), PlayedActions())
    assert faults == []  # variants keep to the rules, down to points and dora
    save(shard, folder, 0)
    return rows_in(folder)


@pytest.mark.parametrize("variant", range(N_VARIANTS))
def test_a_variant_is_the_sample_of_the_permuted_game(variant: int, games: list[Played], tmp_path: Path) -> None:
    """Of the training data, and of encoded views that are permuted."""
    as_played = rows_of([game.record for game in games], tmp_path / "own")
    of_permuted_game = rows_of([permuted_record(game.record, variant) for game in games], tmp_path / "permuted")
    assert len(of_permuted_game) > 300
    assert (as_played == of_permuted_game) == (variant == 0)
    assert rows_in(tmp_path / "own", variant) == of_permuted_game
    data = Dataset(tmp_path / "own")
    own, wanted = data.batch(data.indices), data.batch(data.indices, np.full(len(data), variant))
    ids = own.input_ids.astype(np.uint16)
    encoded = Encoded(ids, (ids == SEP).argmax(axis=1), own.attention_mask.sum(axis=1))
    found = variant_of(encoded, variant)
    assert (found.input_ids == wanted.input_ids).all()
    assert all((new == old).all() for new, old in zip(found[1:], encoded[1:], strict=True))
    assert (encoded.input_ids == own.input_ids).all(), "it has changed what it was given"


def test_suits_swapped_swaps_the_suits_only() -> None:
    for tile in IN_GAME:
        name = MJAI_NAMES[tile]
        assert MJAI_NAMES[TILE_MAPS[SUITS_SWAPPED, tile]] == name.translate(str.maketrans("ps", "sp"))


def test_there_are_twelve_variants() -> None:
    def name(tile: str, dragons: str, suits: str, terminals: str) -> str:
        moved = tile.translate(str.maketrans("PFC", dragons)) if tile in "PFC" else tile
        moved = moved.translate(str.maketrans("ps", suits))
        return moved.translate(str.maketrans("19", terminals)) if tile in ("1m", "9m") else moved

    names = [MJAI_NAMES[tile] for tile in IN_GAME]
    expected = {
        tuple(name(tile, *how) for tile in names) for how in product(("PFC", "FCP", "CPF"), ("ps", "sp"), ("19", "91"))
    }
    found = [tuple(MJAI_NAMES[tile] for tile in TILE_MAPS[variant, IN_GAME]) for variant in range(N_VARIANTS)]
    assert set(found) == expected
    assert len(found) == len(expected) == 12
    assert list(found[0]) == names
