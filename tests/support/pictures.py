"""The pictures of README: ``python -m tests.support.pictures``, which is ``make pictures``, makes them again.

Each is made by a command that README or a page of the docs shows, and keeps the words and numbers that it was made of,
its content, in its metadata. `tests/web/test_pictures.py` compares that with what the same command gives now, of the
first games where it plays a thousand: so a picture is stale when what it shows has changed, not when a font has.

Pages are drawn by Chromium, with a font that has Japanese characters
(``apt-get install chromium-headless-shell fonts-ipafont``).
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Browser, Page
from rich.console import Console
from rich.text import Text

from benchmarks.web.browser import chromium, headless
from tests.support.markdown_blocks import REPOSITORY, blocks_of
from tests.support.server_program import server_program

DOCS = REPOSITORY / "docs"
TERMINAL_WIDTH = 80  # characters
FIRST_GAMES = {"arena": "12", "report": "90"}  # of which the content is: they tell a change, and take a few seconds
PLACE = 364  # of examples/game.mjson in the replay: riichi, a pon, and many discards
COLORS = 256  # of a PNG: the file is a quarter of what it would be
KEY = "content"  # in the metadata of a PNG
IN_SVG = re.compile(r"<metadata>(.*)</metadata>", re.DOTALL)
# What a page shows: its text, and the tiles of tables, in words.
SHOWN = """() => {
  const main = document.querySelector("main");
  const tables = [...main.querySelectorAll("nuki-table")];
  const tiles = tables.flatMap((table) => [table, ...table.querySelectorAll("[aria-label]")]);
  return [main.innerText, ...tiles.map((tile) => tile.getAttribute("aria-label"))].join("\\n");
}"""


class Picture(NamedTuple):
    """How a picture of docs/ is made. Both functions take a folder for their files."""

    content: Callable[[Path, Browser | None], str]
    draw: Callable[[Path, Browser | None], bytes]
    browser: bool = False  # both need one


def command(page: str, part: str) -> list[str]:
    """The words of the one command line with ``part`` that a page shows, without ``python -m`` and comment."""
    lines = [line for block in blocks_of(page, "sh") for line in block.text.splitlines() if part in line]
    assert len(lines) == 1, f"{page} has {len(lines)} commands with {part!r}"
    return shlex.split(lines[0], comments=True)[2:]


def run(words: list[str], **environment: str) -> str:
    """What a program of this repository prints, as ``python -m`` runs it."""
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True,
        env=os.environ | environment,
    )  # fmt: skip
    return done.stdout


def arena_words() -> list[str]:
    """The command that ``make arena`` runs."""
    (words,) = re.findall(r"python -m (arena.*) \$\(ARGS\)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
    return shlex.split(words)


def arena_content(folder: Path, browser: Browser | None) -> str:
    """What the arena prints of the first games, without their speed and where the virtual environment is."""
    text = run([*arena_words(), "--games", FIRST_GAMES["arena"]], COLUMNS=str(TERMINAL_WIDTH))
    return "\n".join(line for line in text.splitlines() if "games/s" not in line and not line.startswith("next"))


def draw_arena(folder: Path, browser: Browser | None) -> bytes:
    """The terminal after ``make arena``."""
    text = run(arena_words(), COLUMNS=str(TERMINAL_WIDTH), FORCE_COLOR="1", TERM="xterm-256color")
    console = Console(record=True, width=TERMINAL_WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(text))
    return console.export_svg(title="make arena", unique_id="arena").encode()


def report(folder: Path, *more: str) -> Path:
    """The page of the match that docs/arena.md shows."""
    page = folder / "report.html"
    run([*command("docs/arena.md", "--games 3000"), *more, "--html", str(page)])
    return page


def report_content(folder: Path, browser: Browser | None) -> str:
    """The text of the page of the first games."""
    return text_of(report(folder, "--games", FIRST_GAMES["report"]).read_text(encoding="utf-8"))


def draw_report(folder: Path, browser: Browser | None) -> bytes:
    """The top of the page."""
    assert browser is not None
    with window(browser, 1280, 1870, scale=0.75) as page:
        page.goto(report(folder).as_uri())
        return page.screenshot()


@contextmanager
def replay(folder: Path, browser: Browser | None) -> Iterator[Page]:
    """The sample record in the browser, as README starts the server."""
    assert browser is not None
    words = command("README.md", "-m server")
    with server_program(folder, *words[1:]) as server, window(browser, 1280, 800) as page:
        page.goto(f"http://127.0.0.1:{server.ports.port}/view")
        page.locator("input[type=file]").set_input_files(REPOSITORY / "examples/game.mjson")
        page.locator("nuki-replay[data-place='0']").wait_for()
        page.evaluate("(place) => document.querySelector('nuki-replay').go(place)", PLACE)
        page.locator(f"nuki-replay[data-place='{PLACE}']").wait_for()
        yield page


@contextmanager
def review(folder: Path, browser: Browser | None) -> Iterator[Page]:
    """The review that README shows, at its largest loss."""
    assert browser is not None
    file = folder / "review.html"
    run([*command("README.md", "-m agents.review"), "--html", str(file)])
    with window(browser, 1280, 800) as page:
        page.goto(file.as_uri())
        page.locator("tbody tr").first.click()
        page.evaluate("scrollTo(0, 0)")
        yield page


def shown(opened: Callable[[Path, Browser | None], Any]) -> Picture:
    """The picture of a page that ``opened`` opens."""

    def content(folder: Path, browser: Browser | None) -> str:
        with opened(folder, browser) as page:
            return str(page.evaluate(SHOWN))

    def draw(folder: Path, browser: Browser | None) -> bytes:
        with opened(folder, browser) as page:
            return bytes(page.screenshot())

    return Picture(content, draw, browser=True)


def view(folder: Path, browser: Browser | None) -> str:
    """What the block of docs/engine.md writes."""
    (block,) = [block for block in blocks_of("docs/engine.md", "python") if "view.svg" in block.text]
    subprocess.run([sys.executable, "-c", block.text], cwd=folder, check=True)
    return (folder / "view.svg").read_text(encoding="utf-8")


PICTURES = {
    "arena.svg": Picture(arena_content, draw_arena),
    "table.png": shown(replay),
    "review.png": shown(review),
    "report.png": Picture(report_content, draw_report),
    "view.svg": Picture(view, lambda folder, browser: view(folder, browser).encode()),
}


@contextmanager
def window(browser: Browser, width: int, height: int, scale: float = 1.0) -> Iterator[Page]:
    """An empty page of a size, in light colours and in English."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=scale, locale="en", reduced_motion="reduce"
    )
    try:
        yield context.new_page()
    finally:
        context.close()


class _Words(HTMLParser):
    """The text of a page, without its styles, a line for each element."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._within = tag

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within != "style" and data.strip():
            self.lines.append(" ".join(data.split()))


def text_of(page: str) -> str:
    """The text of an HTML page, that of its figures included."""
    words = _Words()
    words.feed(page)
    return "\n".join(words.lines)


def with_content(drawn: bytes, content: str, suffix: str) -> bytes:
    """A picture as it is kept: a PNG of few colours, or an SVG, with its content unless that is the picture."""
    if suffix == ".svg":
        text = drawn.decode()
        end = "" if text == content else f"<metadata>{escape(content)}</metadata>\n"
        return (text.rstrip().removesuffix("</svg>") + end + "</svg>\n").encode()
    info, file = PngInfo(), io.BytesIO()
    info.add_itxt(KEY, content, zip=True)
    image = Image.open(io.BytesIO(drawn)).convert("RGB")
    few = image.quantize(COLORS, Image.Quantize.MAXCOVERAGE, kmeans=2)
    few.save(file, "PNG", optimize=True, pnginfo=info)
    return file.getvalue()


def content_of(path: Path) -> str:
    """The content of a picture that is kept."""
    if path.suffix == ".svg":
        text = path.read_text(encoding="utf-8")
        found = IN_SVG.search(text)
        return unescape(found[1]) if found else text
    with Image.open(path) as image:
        return str(image.info[KEY])


def main(names: list[str]) -> None:
    """Make the pictures with these names, by default all."""
    program = chromium()
    assert program is not None, "Chromium is missing: apt-get install chromium-headless-shell"
    with headless(program) as browser:
        for name in names or PICTURES:
            picture, path = PICTURES[name], DOCS / name
            with TemporaryDirectory() as folder:
                content = picture.content(Path(folder), browser)
            with TemporaryDirectory() as folder:
                path.write_bytes(with_content(picture.draw(Path(folder), browser), content, path.suffix))
            print(f"wrote {path.relative_to(REPOSITORY)}, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
