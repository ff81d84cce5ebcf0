"""What the walls gave: recounted from saved games, without bias, and taken out of results."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.chunk import play_chunk
from arena.luck import (
    DORA,
    DRAWN_DORA,
    DRAWN_NORTHS,
    N_FACTORS,
    NORTHS,
    SHANTEN,
    TENPAI_DRAWS,
    WINNING_DRAWS,
    adjust_for_luck,
    luck_of,
    measure_luck,
)
from arena.schedule import RunSettings, games_of
from engine.events import DRAW, NEW_DORA, unpack
from engine.shanten import shanten_of
from engine.table import DEALT, DORA_AT, WALL_SIZE, raw_bytes
from engine.tables import Tables
from engine.tiles import DORA_OF, FULL_SET, KIND_OF, MJAI_TILES, N_KINDS, NORTH
from tests.support.arena_runs import last_update

SETTINGS = RunSettings(("efficiency", "rule", "random"), 30, 3, "tenhou", "east")


def kind_of(tile: str) -> int:
    return int(KIND_OF[MJAI_TILES[tile]])


class Recount:
    """The factors of a game, recounted from its messages, one seat and one kind at a time."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.factors = np.zeros((3, N_FACTORS))
        for event in events:
            getattr(self, event["type"], lambda event: None)(event)

    def start_kyoku(self, event: dict[str, Any]) -> None:
        self.hands = [[0] * N_KINDS for _ in range(3)]
        self.melds = [0, 0, 0]
        self.undrawn = [0] * N_KINDS
        for tile in FULL_SET.tolist():
            self.undrawn[int(KIND_OF[tile])] += 1
        self.indicators: list[str] = []
        self.dora({"dora_marker": event["dora_marker"]})
        for seat, tiles in enumerate(event["tehais"]):
            for tile in tiles:
                self.hands[seat][kind_of(tile)] += 1
                self.undrawn[kind_of(tile)] -= 1
                self.factors[seat, DORA] += self.n_dora(kind_of(tile)) + tile.endswith("r")
                self.factors[seat, NORTHS] += tile == "N"
            self.factors[seat, SHANTEN] += shanten_of(self.hands[seat])

    def dora(self, event: dict[str, Any]) -> None:
        self.indicators.append(event["dora_marker"])
        self.undrawn[kind_of(event["dora_marker"])] -= 1

    def n_dora(self, kind: int) -> int:
        return sum(int(DORA_OF[kind_of(marker)]) == kind for marker in self.indicators)

    def tsumo(self, event: dict[str, Any]) -> None:
        seat, drawn, left = event["actor"], kind_of(event["pai"]), sum(self.undrawn)
        hand, own, melds = self.hands[seat], self.factors[seat], self.melds[seat]
        shanten = shanten_of(hand, melds)
        for kind, n in enumerate(self.undrawn):
            share = (kind == drawn) - n / left
            own[DRAWN_DORA] += share * self.n_dora(kind)
            own[DRAWN_NORTHS] += share * (kind == NORTH)
            if shanten <= 1 and n:
                better = shanten_of([count + (at == kind) for at, count in enumerate(hand)], melds) < shanten
                own[WINNING_DRAWS if shanten == 0 else TENPAI_DRAWS] += share * better
        self.undrawn[drawn] -= 1
        hand[drawn] += 1

    def use(self, event: dict[str, Any]) -> None:
        for tile in event.get("consumed", [event.get("pai")]):
            self.hands[event["actor"]][kind_of(tile)] -= 1

    def meld(self, event: dict[str, Any]) -> None:
        self.use(event)
        self.melds[event["actor"]] += 1

    def kakan(self, event: dict[str, Any]) -> None:
        self.use({"actor": event["actor"], "pai": event["pai"]})

    dahai = nukidora = use
    pon = daiminkan = ankan = meld


@pytest.mark.slow
def test_a_recount_of_saved_games_agrees(tmp_path: Path) -> None:
    walls = list(range(SETTINGS.n_walls))
    chunk = last_update(play_chunk(SETTINGS, SETTINGS.make_bots(), walls, tmp_path))
    assert chunk.luck is not None
    found = []
    for game in games_of(SETTINGS, walls):
        text = gzip.decompress((tmp_path / f"{game.seed:016x}-{game.rotation}.mjson.gz").read_bytes()).decode()
        found.append(luck_of(Recount([json.loads(line) for line in text.splitlines()]).factors))
    np.testing.assert_allclose(chunk.luck.reshape(-1, 3, 2), found, atol=5.1e-5)
    assert np.abs(chunk.luck).max() > 0.1
    np.testing.assert_allclose(chunk.luck.sum(axis=2), 0, atol=1.6e-4)


def finished_rounds() -> list[np.ndarray]:
    """Tables at the end of a round, TABLE[1] each."""
    bots = SETTINGS.make_bots()
    tables = Tables(np.arange(12, dtype=np.uint64), SETTINGS.make_rules())
    players = np.tile(np.arange(3, dtype=np.int8), (12, 1))
    rounds = tables.play([bot.agent.act for bot in bots], players)
    return [tables.records[[table]] for ended in rounds for table in ended.tolist()]


def factors_until(table: np.ndarray, n_events: int) -> np.ndarray:
    """The factors of the first events of a round."""
    cut = table.copy()
    cut["n_log"] = n_events
    factors = np.zeros((1, 3, N_FACTORS))
    measure_luck(raw_bytes(cut), np.zeros(1, dtype=np.int64), factors)
    return factors[0]


def test_a_draw_is_worth_nothing_on_average() -> None:
    """With any of the tiles that may come next in its place, a draw changes the factors by zero on average."""
    rng, seen = np.random.default_rng(1), np.zeros(N_FACTORS)
    for table in finished_rounds():
        events = [unpack(word) for word in table["log"][0, : table["n_log"][0]].tolist()]
        at = int(rng.choice([number for number, event in enumerate(events) if event.type == DRAW]))
        used = {event.detail for event in events[:at] if event.type == DRAW}
        used |= set(DORA_AT[: 1 + sum(event.type == NEW_DORA for event in events[:at])].tolist())
        before, changes = factors_until(table, at), []
        for other in sorted(set(range(DEALT, WALL_SIZE)) - used):
            swapped, drawn = table.copy(), events[at].detail
            swapped["wall"][0, [drawn, other]] = table["wall"][0, [other, drawn]]
            changes.append(factors_until(swapped, at + 1) - before)
        np.testing.assert_allclose(np.mean(changes, axis=0), 0, atol=1e-9)
        seen += np.abs(changes).sum(axis=(0, 1))
    assert (seen[[DRAWN_DORA, DRAWN_NORTHS, TENPAI_DRAWS, WINNING_DRAWS]] > 1).all()


@pytest.mark.slow
def test_luck_has_no_bias_for_bots_of_any_strength() -> None:
    """In games of unlike bots, every factor of every bot has the mean of the others, within its error."""
    settings = RunSettings(("efficiency", "tsumogiri", "random"), 1800, 7, "tenhou", "east", control_variates=False)
    games, bots = games_of(settings, range(settings.n_walls)), settings.make_bots()
    tables = Tables(np.array([game.seed for game in games], dtype=np.uint64), settings.make_rules())
    players = np.array([game.seats for game in games], dtype=np.int8)
    factors = np.zeros((len(games), 3, N_FACTORS))
    for ended in tables.play([bot.agent.act for bot in bots], players):
        measure_luck(tables.raw, ended, factors)
    own = factors - factors.mean(axis=1, keepdims=True)
    of_bots = np.take_along_axis(own, np.argsort(players, axis=1)[..., np.newaxis], axis=1)
    by_wall = of_bots.reshape(settings.n_walls, 3, 3, N_FACTORS).mean(axis=1)
    errors = by_wall.std(axis=0, ddof=1) / np.sqrt(settings.n_walls)
    assert (errors > 0).any()
    assert (np.abs(by_wall.mean(axis=0)) <= 4 * errors + 1e-12).all()


@pytest.mark.parametrize("slope", [0.0, 1.0, -0.5])
def test_the_part_that_goes_with_luck_is_taken_out(slope: float) -> None:
    rng = np.random.default_rng(2)
    luck = rng.normal(0, 0.3, 4000)
    rest = rng.normal(2, 0.2, 4000)
    left = adjust_for_luck(rest + slope * luck, luck)
    assert left[1000:].std() == pytest.approx(0.2, rel=0.05)
    assert left.mean() == pytest.approx(rest.mean(), abs=0.01)


def test_the_regression_knows_the_past_alone() -> None:
    rng = np.random.default_rng(3)
    values, luck = rng.normal(2, 1, 200), rng.normal(0, 1, 200)
    whole = adjust_for_luck(values, luck)
    for n in (1, 29, 30, 31, 150):
        assert np.array_equal(adjust_for_luck(values[:n], luck[:n]), whole[:n])
    slope = np.polyfit(luck[:150], values[:150], 1)[0]
    assert (values[150] - whole[150]) / luck[150] == pytest.approx(slope, abs=0.01)


def test_what_is_taken_from_a_wall_does_not_depend_on_its_own_result() -> None:
    rng = np.random.default_rng(3)
    values, luck = rng.normal(2, 1, 200), rng.normal(0, 1, 200)
    higher = values.copy()
    higher[150] += 10
    assert (adjust_for_luck(higher, luck) - adjust_for_luck(values, luck))[150] == pytest.approx(10)


def test_no_luck_changes_nothing() -> None:
    values = np.arange(50.0)
    assert np.array_equal(adjust_for_luck(values, np.zeros(50)), values)
