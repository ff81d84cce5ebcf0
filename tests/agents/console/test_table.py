"""The picture of a table: it fits every terminal, and shows what the view holds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from rich.color import Color
from rich.text import Text

from agents.console.moves import moves_of
from agents.console.table import MIN_HEIGHT, MIN_WIDTH, Scene, picture, unseen_counts, unseen_lines
from agents.console.tiles import RED_FIVE, SUIT_STYLES
from agents.registry import make
from engine.actions import KYUSHU_KYUHAI, PASS, TSUMOGIRI
from engine.game import Game
from engine.table import DORA_AT, N_SEATS, REPLACEMENT_AT, RIVER_TILE, WALL_SIZE, round_of
from engine.text import TILES
from engine.tiles import KIND_OF, N_KINDS, NONE
from tests.support.markdown_blocks import blocks_of

HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202eevil\r\n" + "長" * 40
NAMES = ("rule", HOSTILE, "efficiency")
EVERYTHING = 200  # lines of a terminal that has room for all


def positions(seed: int, every: int) -> Iterator[tuple[Game, int]]:
    """A game of random moves, calls among them; every so many decisions, the game and a seat that is asked."""
    chance = random.Random(seed)
    game, n = Game(seed), 0
    while not game.over:
        for seat in game.asked:
            n += 1
            if n % every == 0:
                yield game, seat
            legal = game.legal(seat)
            special = [action for action in legal if action > TSUMOGIRI and action not in (PASS, KYUSHU_KYUHAI)]
            game.act(seat, chance.choice(special if special and chance.random() < 0.7 else legal))


def scene_at(game: Game, seat: int, names: tuple[str, ...] = NAMES) -> Scene:
    view = game.view(seat)
    moves = moves_of(view, game.legal(seat))
    return Scene(view, names, moves, chosen=moves[-1], log=[Text(f"{number} " * 30) for number in range(9)])


def plain(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


def test_no_line_is_longer_than_the_terminal_and_no_picture_higher() -> None:
    chance = random.Random(1)
    for seed in range(2):
        for game, seat in positions(seed, 23):
            scene = scene_at(game, seat)
            scene.prompt = [Text("word " * 30)]
            scene.panel = chance.choice([None, None, unseen_lines(scene.view), [Text("x" * 300)]])
            for width, height in ((60, 24), (80, 24), (120, 40), (chance.randrange(1, 130), chance.randrange(1, 50))):
                lines = picture(scene, width, height)
                assert len(lines) <= height
                assert [line.plain for line in lines if line.cell_len > width] == []
                assert all(line.plain.isprintable() for line in lines)


def test_the_picture_shows_what_lies_on_the_table() -> None:
    for game, seat in positions(3, 17):
        scene = scene_at(game, seat)
        view, text = scene.view, plain(picture(scene, 120, EVERYTHING))
        assert round_of(view) in text
        assert f"{view.live_left} tiles left" in text
        assert TILES[int(view.wall[DORA_AT[0]])] in text
        for other in range(N_SEATS):
            p = view.seat[other]
            assert f"{p.score:>7,}" in text
            river = re.escape("".join(f"{TILES[entry & RIVER_TILE]}" for entry in p.river[: p.n_river].tolist()))
            assert re.search(river, re.sub(r"[ '*()\n]", "", text))
        assert text.count("riichi" if view["seat"]["riichi"].any() else "no such text") >= view["seat"]["riichi"].sum()
        assert text.count("N×") == np.count_nonzero(view["seat"]["nukidora"])


def test_the_numbers_below_the_hand_are_those_of_the_discards() -> None:
    for game, seat in positions(4, 13):
        scene = scene_at(game, seat)
        assert sorted(move.action for move in scene.moves) == sorted(game.legal(seat))
        assert [move.number for move in scene.moves] == [*range(1, len(scene.moves) + 1)]
        lines = [line.plain for line in picture(scene, 80, EVERYTHING)]
        at = max(number for number, line in enumerate(lines) if set(line) == {"─"})
        hand, numbers = lines[at + 1], lines[at + 2].ljust(100)
        below = {(hand[i : i + 2].strip(), numbers[i : i + 2].strip()) for i in range(2, 60) if hand[i : i + 2].strip()}
        for move in scene.moves:
            assert move.tile == NONE or (TILES[move.tile], str(move.number)) in below
            assert move.tile != NONE or f"{move.number} {move.label.plain}" in "\n".join(lines[at:])


def test_the_unseen_tiles_are_those_of_the_wall_and_of_other_hands() -> None:
    for game, seat in positions(5, 19):
        table, view = game.table, game.view(seat)
        hidden = np.zeros(N_KINDS, dtype=np.int64)
        for other in range(N_SEATS):
            hidden += table.seat[other].hand if other != seat else 0
        drawn_live = 39 + 55 - int(table.live_left) - int(table.n_replacements)
        rest = set(range(drawn_live, WALL_SIZE)) - set(REPLACEMENT_AT[: table.n_replacements].tolist())
        rest -= set(DORA_AT[: table.n_indicators].tolist())
        hidden += np.bincount(KIND_OF[table.wall[sorted(rest)]], minlength=N_KINDS)
        assert unseen_counts(view).tolist() == hidden.tolist()
        shown = " ".join(line.plain for line in unseen_lines(view)[1:])
        for kind in np.flatnonzero(hidden):
            assert f"{TILES[kind]}×{hidden[kind]}" in shown


def test_a_terminal_that_is_too_small_is_told_what_is_needed() -> None:
    game, seat = next(positions(0, 1))
    scene = scene_at(game, seat)
    assert f"at least {MIN_WIDTH} x " in plain(picture(scene, MIN_WIDTH - 1, 24)).replace("\n", " ")
    assert "too small" in plain(picture(scene, 80, MIN_HEIGHT - 1))
    assert "too small" not in plain(picture(scene, MIN_WIDTH, 18))
    assert picture(scene, 1, 1)[0].cell_len <= 1


def test_a_short_terminal_keeps_the_newest_discards_and_the_moves() -> None:
    game, seat = next(islice(positions(6, 1), 60, None))
    scene = scene_at(game, seat, ("a", "b", "c"))
    text = plain(picture(scene, 60, 16))
    assert "too small" not in text
    for other in range(N_SEATS):
        p = scene.view.seat[other]
        assert f"{p.score:>7,}" in text
        if p.n_river:
            assert TILES[p.river[p.n_river - 1] & RIVER_TILE] in text


def luminance(colour: Color) -> float:
    parts = [part / 255 for part in colour.get_truecolor()]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("style", [*SUIT_STYLES, RED_FIVE])
def test_every_colour_is_read_on_black_and_on_white(style: Any) -> None:
    bright = luminance(style.color)
    assert (bright + 0.05) / 0.05 > 3.7
    assert 1.05 / (bright + 0.05) > 3.7


def test_the_picture_in_the_docs_is_what_is_drawn() -> None:
    game, rule = Game(seed=25), make("rule")
    for _ in range(71):
        seat = game.asked[0]
        game.act(seat, int(rule.act(np.array([game.view(seat)]))[0]))
    seat = game.asked[0]
    view = game.view(seat)
    scene = Scene(view, ("Aki", "Ben", "Chi"), moves_of(view, game.legal(seat)))
    drawn = "".join(f"{line.plain.rstrip()}\n" for line in picture(scene, width=80, height=15))
    assert drawn in [block.text for block in blocks_of("docs/players.md", "text")]
