"""python -m tests.web.firefox: the main ways through the pages in Firefox: play, replay, review, watch, puzzle.

A game is played by clicks on a server of its own, replayed and reviewed; house bots are watched, and the puzzle of the
day is solved: on a desktop in English, on a phone in Japanese. One line a way, with its seconds. A way fails if a page
logs an error, is refused something, asks another host or is wider than its window. Needs Debian's package firefox-esr.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.common.options import Parser
from engine.common.program import BAD_ARGUMENTS, FAILED, OK, TERMINATED, start
from tests.support.bidi import PACKAGE, POINT, BidiError, WayError, Window, firefox, running
from tests.support.server_program import server_program
from tests.web.conftest import SEED, SIZES, Site
from tests.web.play_driver import SITUATION, Player, open_room
from tests.web.test_puzzle_page import TILES, store_game

RUNS = {"en": "desktop", "ja": "phone"}  # the language of the pages, and the window
PICTURES = {**SIZES, "sideways": (844, 390)}
NAME = "fox"  # of the player
HOME, END, RIGHT = "\ue011", "\ue010", "\ue014"  # keys, as WebDriver names them
MADE = 240.0  # seconds: the server's worker may have to start, and to load a bot, first
MOVES = 6  # that are seen of a game that goes on by itself
TABLE = "() => document.querySelector('nuki-table').innerHTML"
IS_AT = "(place) => document.querySelector('nuki-replay')?.dataset.place === String(place)"
HAS_LEFT = """(place) => {
  const at = document.querySelector("nuki-replay")?.dataset.place;
  return at !== undefined && at !== place && at;
}"""
MISTAKES = """() => {
  const next = document.querySelector("[data-control=next_mistake]");
  return next && { some: !next.disabled, told: next.title };
}"""


@dataclass
class Visit:
    """Somebody at the pages in one language."""

    window: Window
    site: Site
    language: str
    pictures: Path | None  # a folder
    game: str = ""  # id of the one that was played

    def look(self, name: str) -> None:
        """See that the page fits each size of a window and shows no error; keep pictures of it."""
        for width, height in [*PICTURES.values(), SIZES[RUNS[self.language]]]:
            self.window.resize(width, height)
            self.window.call("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            if (beyond := self.window.call("() => document.documentElement.scrollWidth - innerWidth")) > 0:
                raise WayError(f"{name}: {beyond} px wider than the window of {width}x{height}")
            if self.pictures is not None:
                file = self.pictures / f"{name}-{self.language}-{width}x{height}.png"
                file.write_bytes(self.window.picture())
        if told := self.window.call("() => document.querySelector('.error')?.textContent"):
            raise WayError(f"{name}: {told}")


@dataclass
class Clicker(Player):
    """A player in Firefox."""

    window: Window

    def situation(self) -> dict[str, Any]:
        found: dict[str, Any] = self.window.wait(SITUATION)
        return found

    def click(self, selector: str, index: int = 0) -> None:
        """What is covered, or has gone, is not clicked: then the next look at the page finds the same or another."""
        point = self.window.call(POINT, selector, index)
        if point is not None:
            self.window.click_at(point)


def play(visit: Visit) -> str:
    """An East game against two house bots, from the door to the final result."""
    window = visit.window
    window.go(open_room(visit.site, f"firefox-{visit.language}"))
    window.click(".join-form input[name=name]")
    if window.call("() => document.querySelector('.join-form input[name=name]').value") != NAME:  # kept by the browser
        window.press(*NAME)
    window.click(".join-form button")
    person = Clicker(window)
    person.play(20)
    person.reach_a_discard()
    visit.look("play")
    while person.situation()["kind"] != "result":
        person.step()
    visit.look("result")
    person.play()
    window.has(".play-dialog tr.result-own")
    own = window.call("() => document.querySelector('.play-dialog tr.result-own').innerText")
    if own.split()[1] != NAME:
        raise WayError(f"the result of {NAME} is {own!r}")
    visit.look("over")
    address = window.call("() => document.querySelector(\".play-dialog a[href*='/review#']\").pathname")
    visit.game = address.split("/")[2]
    return f"{person.did['discard']} discards, {person.did['result']} rounds"


def replay(visit: Visit) -> str:
    """The replay, from the final result: by keys and by buttons."""
    window = visit.window
    window.click(".play-dialog a[href*='#seat=']:not([href*='/review'])")
    window.wait(IS_AT, 0)
    steps: list[tuple[Callable[[str], None], str, int]] = [
        (window.press, RIGHT, 1), (window.press, RIGHT, 2), (button(window), "step", 3), (button(window), "back", 2),
    ]  # fmt: skip
    seen = [window.call(TABLE)]
    for act, what, place in steps:
        act(what)
        window.wait(IS_AT, place)
        seen.append(window.call(TABLE))
    *forward, back = seen
    if len(set(forward)) != len(forward) or back != forward[2]:
        raise WayError(f"the table does not change by a step, or is another one after {steps[-1][1]}")
    button(window)("next_round")
    second = window.wait(HAS_LEFT, "2")
    button(window)("play")
    place = second
    for _ in range(MOVES):
        place = window.wait(HAS_LEFT, place)
    button(window)("play")  # it pauses now
    visit.look("replay")
    window.press(END)
    last = int(window.call("() => document.querySelector('nuki-replay input[type=range]').max"))
    window.wait(IS_AT, last)
    window.press(HOME)
    window.wait(IS_AT, 0)
    return f"{last} steps"


def button(window: Window) -> Callable[[str], None]:
    """What clicks a button of the page, by its name."""
    return lambda name: window.click(f"[data-control={name}]")


def review(visit: Visit) -> str:
    """What a bot thinks of the game, from its replay."""
    window = visit.window
    window.click(f"a[href^='/games/{visit.game}/review#']")
    window.has(".review-form")
    for index, (keys, bot) in enumerate([("rule", "rule"), (HOME, "")]):  # letters choose an option, too
        window.call("(index) => document.querySelectorAll('select[name=bot]')[index].focus()", index)
        window.press(*keys)
        chosen = window.call("(index) => document.querySelectorAll('select[name=bot]')[index].value", index)
        if chosen != bot:
            raise WayError(f"{bot!r} was to be chosen by keys, and {chosen!r} is")
    window.click(".review-form button")
    window.has(".review nuki-table .tile", MADE)
    mistakes = window.wait(MISTAKES)
    if mistakes["some"]:
        button(window)("next_mistake")
        window.has(".opinion li.played:not(.best)")
    elif not mistakes["told"]:
        raise WayError("neither mistakes nor that there are none")
    window.wait("() => document.querySelectorAll('.opinion').length === 1")
    visit.look("review")
    decisions = window.call("() => document.querySelectorAll('tr[data-decision]').length")
    return f"{decisions} decisions, {'with' if mistakes['some'] else 'without'} mistakes"


def watch(visit: Visit) -> str:
    """A game of house bots, started in the lobby."""
    window = visit.window
    window.wait(  # an address has one at a time: the last one ends when nobody watches
        """async () => (await (await fetch("/api/games?status=playing")).json()).items
        .every(({ room }) => !room.startsWith("bots-"))""",
        seconds=MADE,
    )
    window.go("/")
    window.has(".lobby-watch-form button")
    visit.look("lobby")
    window.click(".lobby-watch-form button")
    window.has("nuki-replay nuki-table .tile")
    place = window.wait(HAS_LEFT, "")
    before = window.call(TABLE)
    for _ in range(MOVES):
        place = window.wait(HAS_LEFT, place)
    if window.call(TABLE) == before:
        raise WayError(f"the table is the same after {MOVES} events")
    visit.look("watch")
    return f"{MOVES} moves of a game"


def puzzle(visit: Visit) -> str:
    """The puzzle of the day, from the lobby."""
    window = visit.window
    window.go("/")
    window.click("a[href='/puzzle']")
    window.has(TILES, MADE)
    visit.look("puzzle")
    window.click(TILES)
    window.has("[data-yours]")
    window.has("[data-best]")
    window.has(".opinion li.best")
    visit.look("answer")
    tiles = "() => ['yours', 'best'].map((whose) => document.querySelector(`[data-${whose}]`).dataset[whose])"
    own, best = window.call(tiles)
    return f"{own}, and {best} for the bots"


WAYS = {"play": play, "replay": replay, "review": review, "watch": watch, "puzzle": puzzle}


def walk(visit: Visit) -> bool:
    """Go all ways, a line each; returns whether they were all right. The first that fails is the last."""
    window = visit.window
    window.resize(*SIZES[RUNS[visit.language]])
    window.go("/")
    if window.call("() => document.documentElement.lang") != visit.language:
        window.click(f".switches button[lang={visit.language}]")
        window.wait("(wanted) => document.documentElement.lang === wanted", visit.language)
    for name, way in WAYS.items():
        began = time.monotonic()
        try:
            told = way(visit)
            faults = window.faults()
        except (WayError, BidiError, AssertionError) as failure:
            told, faults = "", [*window.faults(), str(failure)]
        ending = "; ".join([f"FAILED: {' '.join(fault.split())}" for fault in faults] or [told])
        print(f"{time.monotonic() - began:6.1f} s  {name}, {visit.language}: {ending}", flush=True)
        if faults and visit.pictures is not None:
            (visit.pictures / f"failure-{name}-{visit.language}.png").write_bytes(window.picture())
        if faults:
            return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the server and Firefox, and go all ways in both languages."""
    parser = Parser("tests.web.firefox", description=__doc__)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="keep pictures of the pages, in three sizes")
    options = parser.parse_args(arguments)
    program = firefox()
    if program is None:
        print(f"tests.web.firefox: Firefox is missing: apt-get install {PACKAGE}", file=sys.stderr)
        return BAD_ARGUMENTS
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="nukidora-"))
    try:
        with ExitStack() as stack:
            (folder / "data").mkdir()
            asyncio.run(store_game(folder / "data"))
            site = Site(stack.enter_context(server_program(folder, seed=SEED)))
            window = Window(stack.enter_context(running(program, folder)), site.url)
            right = [walk(Visit(window, site, language, options.pictures)) for language in RUNS]
        return OK if all(right) else FAILED
    except (WayError, BidiError) as failure:
        print(f"tests.web.firefox: {failure}", file=sys.stderr)
        return FAILED
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))  # what was started ends as after Ctrl-C
    sys.exit(start("tests.web.firefox:main"))
