"""Pages in headless Chromium: their size, how soon a table is seen, how long a step of a replay takes to draw."""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
REPEATS = 5  # of each navigation; the median is shown
# Written into every page: when the first tile on a table was drawn, in ms since the navigation began.
WATCH = """
window.tableAt = new Promise((seen) => {
  const look = () => {
    const tile = document.querySelector("nuki-table .tile");
    if (tile?.getBoundingClientRect().width) seen(performance.now());
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});
"""
SIZES = """() => [
  ...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource"),
].filter(({ name }) => !new URL(name).pathname.startsWith("/api/")).map((entry) => entry.encodedBodySize)"""
# Shows all states of a game one after the other, and has each of them laid out; ms for each.
STEPS = """async (game) => {
  const folder = document.querySelector("script[src]").src.replace(/[^/]*$/, "");
  const { states } = await import(`${folder}mjai.js`);
  const packed = (await fetch(`/api/games/${game}/record`)).body;
  const text = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
  const messages = text.trim().split("\\n").map((line) => JSON.parse(line)).filter(({ type }) => type !== "error");
  const table = document.querySelector("nuki-table");
  const times = [];
  for (const state of states(messages)) {
    const start = performance.now();
    table.show(state, { bottom: 0, open: true });
    table.getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times;
}"""


def chromium() -> str | None:
    """Return where Chromium is installed, or None. The headless build takes a third of the processor time."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def headless(program: str) -> Iterator[Browser]:
    """Run that Chromium while the block runs."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def sizes(browser: Browser, url: str, pages: Mapping[str, str]) -> dict[str, int]:
    """Return, by page name, the bytes sent for the page and all its files, without data of the API."""
    found = {}
    for name, path in pages.items():
        page = browser.new_page()
        page.goto(url + path, wait_until="networkidle")
        found[name] = sum(page.evaluate(SIZES))
        page.close()
    return found


def table_visible(browser: Browser, address: str) -> float:
    """Milliseconds from the navigation to the first tile, with nothing in the browser's cache."""
    times = []
    for _ in range(REPEATS):
        context = browser.new_context()
        context.add_init_script(WATCH)
        page = context.new_page()
        page.goto(address)
        times.append(page.evaluate("window.tableAt"))
        context.close()
    return statistics.median(times)


def replay_step(browser: Browser, address: str, game: str) -> tuple[float, int]:
    """The median of the milliseconds that a step of a replay takes to draw, and the number of steps."""
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector("nuki-table .tile")
    times: list[float] = page.evaluate(STEPS, game)
    page.close()
    return statistics.median(times), len(times)
