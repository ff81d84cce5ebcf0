"""The picture of a table: every tile where it lies, well-formed whatever the names are."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from engine import table_kernels
from engine.game import Game
from engine.records.files import read_records
from engine.records.replay import Replay
from engine.svg import LIT, MIDDLE, UNIT, shapes, table_svg
from engine.table import GAME_OVER, TABLE, raw_bytes
from engine.tiles import MJAI_NAMES, SANMA_KINDS
from tests.engine.conftest import Deal
from tests.support.server_program import REPOSITORY

SVG = "{http://www.w3.org/2000/svg}"
TENPAI = "23456799p67824s"  # waits for 3s; without riichi it has no yaku


class Picture:
    """What a picture shows, as a test asks for it."""

    def __init__(self, t: Any, *names: str) -> None:
        self.text = table_svg(t, names or ("", "", ""))
        self.root = ElementTree.fromstring(self.text)
        self.seats = {int(seat.get("data-seat", "")): seat for seat in self.root.findall(f"{SVG}g[@data-seat]")}

    def rows(self, part: str, seat: int | None = None) -> list[str]:
        """The tiles of each row of a part: ``'`` discarded as drawn, ``-`` sideways, ``x`` called, ``!`` newest."""
        parent = self.root if seat is None else self.seats[seat]
        return [row_text(row) for row in parent.findall(f"{SVG}g[@data-part='{part}']")]

    def words(self, seat: int | None = None) -> list[str]:
        """The lines of text of a seat, or of the middle."""
        parent = self.root if seat is None else self.seats[seat]
        return ["".join(line.itertext()) for line in parent.findall(f"{SVG}text")]


def row_text(row: ElementTree.Element) -> str:
    tiles: list[str] = []
    for element in row:
        if element.tag == f"{SVG}rect":
            tiles[-1] += "!"
            continue
        look, _, name = element.get("href", "")[1:].partition("-")
        sideways, called = "rotate" in element.get("transform", ""), element.get("opacity") is not None
        tiles.append(name + "'" * (look == "dull") + "-" * sideways + "x" * called)
    return " ".join(tiles)


def view_of(t: np.record, seat: int) -> Any:
    """The view of a seat of a table that no `Game` plays."""
    copied = np.zeros(1, dtype=TABLE)
    table_kernels.write_view(raw_bytes(np.array([t], dtype=TABLE)), 0, seat, raw_bytes(copied), 0)
    return copied[0]


def test_the_deal_is_seen_from_above_or_from_a_seat() -> None:
    game = Game(7, names=("Aki", "Ben", "Chi"))
    whole = Picture(game.table, *game.names)
    assert whole.rows("hand", 0) == ["1p 2p 3p 3p 4p 6p 7p 1s 6s 8s 8s S C"]
    assert (whole.rows("drawn", 0), whole.rows("drawn", 1)) == (["C"], [])
    assert whole.rows("dora") == ["7s back back back back"]
    assert whole.words() == ["East 1", "54 left", "Dora indicators", "Honba 0 · Riichi sticks 0"]
    assert [whole.words(seat) for seat in range(3)] == [
        ["Aki", "E 35,000"],
        ["Ben", "S 35,000 ±0"],
        ["Chi", "W 35,000 ±0"],
    ]
    seen = Picture(game.view(1))
    assert seen.rows("hand", 1) == whole.rows("hand", 1)
    assert seen.rows("hand", 0) == seen.rows("hand", 2) == [" ".join(["back"] * 13)]
    assert (seen.rows("drawn", 0), seen.rows("drawn", 2)) == (["back"], [])
    assert (seen.words(0), seen.words(1)) == (["seat 0", "E 35,000 ±0"], ["seat 1", "S 35,000"])


def test_the_viewer_sits_at_the_bottom_and_the_next_seat_on_its_right() -> None:
    game = Game(7)
    about = f"{MIDDLE[0] * UNIT:.0f} {MIDDLE[1] * UNIT:.0f}"
    for t, bottom in [(game.table, 0), *((game.view(seat), seat) for seat in range(3))]:
        turned = {seat: element.get("transform") for seat, element in Picture(t).seats.items()}
        assert turned == {(bottom + side) % 3: f"rotate({angle} {about})" for side, angle in enumerate((0, -90, 90))}


def test_calls_lie_on_the_side_they_came_from_and_leave_a_pale_discard(deal: Deal) -> None:
    """Seat 1 calls from seat 0, which is on its left, and seat 0 from seat 1, which is on its right."""
    picture = Picture(deal(["7z", "77z"], "1z").do("7z", "pon").t)
    assert (picture.rows("river", 0), picture.rows("meld", 1)) == (["Cx"], ["C- C C"])
    called = deal(["550p"], "9s5p").do("9s", "5p", "pon with red").t
    picture = Picture(called)
    assert (picture.rows("river", 1), picture.rows("meld", 0)) == (["5p'x"], ["5p 5pr 5p-"])
    assert len(picture.rows("hand", 0)[0].split()) == 11
    hidden = Picture(view_of(called, 2))
    assert (hidden.rows("hand", 0), hidden.rows("drawn", 0)) == ([" ".join(["back"] * 10)], ["back"])


def test_kans(deal: Deal) -> None:
    """An ankan has its ends face down; what a kakan adds lies above the tile called; the first meld is outermost."""
    assert Picture(deal(["5550p"], "1z").do("ankan 5p").t).rows("meld", 0) == ["back 5p 5pr back"]
    assert Picture(deal(["7z", "", "777z"], "1z").do("7z", "daiminkan").t).rows("meld", 2) == ["C C C C-"]
    table = deal(["5p", "55p"], "1z2z3z0p").do("5p", "pon", "9m").quiet(2).do("kakan 5p")
    assert Picture(table.t).rows("meld", 1) == ["5p- 5pr- 5p 5p"]
    plain = deal(["0p", "55p"], "1z2z3z5p").do("0p", "pon", "9m").quiet(2).do("kakan 5p")
    assert Picture(plain.t).rows("meld", 1) == ["5pr- 5p- 5p 5p"]
    red = deal(["5p", "50p"], "1z2z3z5p").do("5p", "pon with red", "9m").quiet(2).do("kakan 5p")
    assert Picture(red.t).rows("meld", 1) == ["5p- 5p- 5p 5pr"]


def test_nukidora_riichi_and_the_newest_discard(deal: Deal) -> None:
    table = deal([TENPAI], "4z", replacements="7z").do("nukidora", "riichi", "7z")
    picture = Picture(table.t)
    assert (picture.rows("norths", 0), picture.rows("river", 0)) == (["N"], ["C'-!"])
    assert "E 34,000" in picture.words(0)
    assert picture.words()[-1] == "Honba 0 · Riichi sticks 1"


def test_a_river_has_lines_of_six_and_the_third_is_longer(deal: Deal) -> None:
    picture = Picture(deal([""]).quiet_until(2).t)
    assert [len(line.split()) for line in picture.rows("river", 0)] == [6, 6, 6]
    record = Game(7).table.copy()
    record.seat[0].n_river, record.seat[0].river[:22] = 22, 27
    assert [len(line.split()) for line in Picture(record).rows("river", 0)] == [6, 6, 10]


def test_who_is_to_act_has_a_lit_edge(deal: Deal) -> None:
    def lit(t: Any) -> list[int]:
        picture = Picture(t)
        return [seat for seat, parent in picture.seats.items() if parent.findall(f"{SVG}rect[@fill='{LIT}']")]

    assert lit(deal(["7z"]).t) == [0]
    offered = deal(["7z", "77z"]).do("7z").t
    assert lit(offered) == [1]
    assert lit(view_of(offered, 1)) == [1]
    assert lit(view_of(offered, 2)) == []  # who may call is not told
    assert Picture(view_of(offered, 2)).rows("drawn", 0) == []


@pytest.mark.parametrize(("won", "told"), [("3s", "tsumo"), ("", "ron")])
def test_a_win_is_told_and_its_tile_lies_apart(deal: Deal, won: str, told: str) -> None:
    hands = [TENPAI] if won else [TENPAI, "3s"]
    table = deal(hands, f"7z{'1z2z3s' if won else ''}", ura="9m").do("riichi", "7z")
    table = table.quiet(2).do("tsumo") if won else table.do("3s", "ron")
    whole, seen = Picture(table.t, "Aki", "Ben", "Chi"), Picture(view_of(table.t, 2))
    assert whole.words(0)[0] == f"Aki · {told}"
    assert whole.words(0)[1].startswith("E ")
    assert re.fullmatch(r"E \d\d,\d{3} \+[\d,]+", whole.words(0)[1])
    assert "round over" in whole.words()
    assert whole.rows("drawn", 0) == seen.rows("drawn", 0) == ["3s"]
    assert (whole.rows("ura"), seen.rows("ura")) == (["9m"], [])
    assert len(whole.rows("hand", 0)[0].split()) == len(seen.rows("hand", 0)[0].split()) == 13


def test_a_draw_is_told(deal: Deal) -> None:
    picture = Picture(deal([TENPAI]).quiet_until(0).do("tsumogiri").t)
    assert "no tiles left" in picture.words()
    assert picture.words(0)[0] == "seat 0 · tenpai"


def test_names_cannot_break_the_picture() -> None:
    picture = Picture(Game(7).table, "<script>", "a & b", "a name that is much too long")
    assert [picture.words(seat)[0] for seat in range(3)] == ["<script>", "a & b", "a name that…"]


@pytest.mark.parametrize("name", ["\x00\x1b[2J", "\ud800", "\ufffe", "\u202eabc"])
def test_names_have_what_xml_has_no_place_for(name: str) -> None:
    text = table_svg(Game(7).table, (name, "b", "c"))
    ElementTree.fromstring(text.encode())
    assert "\u202e" not in text


def recorded_tables() -> list[np.record]:
    """The table at each fourth decision of a game, with melds, nukidora and riichi."""
    replay = Replay(read_records(REPOSITORY / "examples" / "game.mjson"))
    return [decision.table.copy() for index, decision in enumerate(replay) if index % 4 == 0]


def test_all_tiles_of_a_round_are_in_the_picture() -> None:
    """What a whole table shows are the hands, rivers, melds, norths and indicators: 13 tiles a seat and those drawn."""
    for t in recorded_tables():
        picture = Picture(t)
        shown = [
            tile.rstrip("'-!")
            for seat in range(3)
            for part in ("hand", "drawn", "river", "norths")
            for row in picture.rows(part, seat)
            for tile in row.split()
            if not tile.endswith("x")  # lies in a meld
        ]
        melded = sum(len(row.split()) for seat in range(3) for row in picture.rows("meld", seat))
        drawn = 55 - int(t.live_left)
        assert len(shown) + melded == 39 + drawn


def test_a_game_that_is_over_shows_its_last_round() -> None:
    game = Game(14)
    while not game.over:
        for seat in game.asked:
            game.act(seat, game.legal(seat)[-1])
    assert "game over" in Picture(game.table).words()
    assert game.table.phase == GAME_OVER


def test_games_views_and_decisions_show_themselves_in_a_notebook() -> None:
    game = Game(7, names=("Aki", "Ben", "Chi"))
    assert game._repr_svg_() == table_svg(game.table, game.names)
    assert game.view(1)._repr_svg_() == table_svg(game.view(1))
    assert game.view(1)[["dealer", "turn"]]._repr_svg_() is None
    decision = next(iter(Replay(read_records(REPOSITORY / "examples" / "game.mjson"))))
    assert decision._repr_svg_() == table_svg(decision.view)


def test_the_tiles_of_three_players_have_shapes() -> None:
    names = {MJAI_NAMES[kind] for kind in SANMA_KINDS} | {"5pr", "5sr", "back"}
    assert names <= shapes().keys()


@pytest.mark.parametrize(
    "module", ["engine.game", "engine.tables", "engine.mjai.player_state", "engine.records.replay"]
)
def test_where_tables_come_from_they_can_be_shown(module: str) -> None:
    """Whoever has a table has imported one of these."""
    code = f"import {module}; from engine.table import SHOW; print(*sorted(SHOW))"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["svg", "text"]
