"""python -m benchmarks.web: the budgets of the web pages, and what is measured.

Everything runs on this machine: the server, the bots, Chromium and the spectators.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from urllib.request import urlopen

from benchmarks.server.processes import ServerProcess, nukidora_main, server_process
from benchmarks.web import browser as chromium
from benchmarks.web.spectators import rates
from engine.common.options import Parser, positive

MAX_SIZE = 250_000  # bytes of a page with all its files
MAX_STEP = 8.0  # ms for a step of a replay
MAX_VISIBLE = 1000.0  # ms until the first table is seen
ROOM = "solo+rule+efficiency"
PER_SECOND, PER_CPU_SECOND = attrgetter("per_second"), attrgetter("per_cpu_second")
PAGES = {
    "lobby": "/",
    "game": "/games/{game}",
    "review": "/games/{game}/review",
    "view": "/view",
    "rooms": "/rooms",
    "play": "/rooms/solo/play",
    "players": "/players",
    "tournaments": "/tournaments",
    "position": "/position",
    "player": "/players/rule",
}


def line(what: str, measured: str, budget: str = "") -> None:
    """Print a line of the table."""
    print(f"{what:44} {measured:>22} {budget:>12}", flush=True)


def play_a_game(server: ServerProcess) -> str:
    """Play a game; returns its id."""
    address = f"mjsonp://127.0.0.1:{server.ports['tcp']}/{ROOM}"
    command = [sys.executable, "-m", "agents.client", "rule", address, "--games", "1"]
    subprocess.run(command, check=True, capture_output=True)
    with urlopen(f"http://127.0.0.1:{server.ports['ws']}/api/games?limit=1") as response:
        return str(json.load(response)["items"][0]["id"])


def print_pages(program: str) -> None:
    """What a browser needs for the pages."""
    with server_process(nukidora_main) as server, chromium.headless(program) as browser:
        url = f"http://127.0.0.1:{server.ports['ws']}"
        game = play_a_game(server)
        pages = {name: path.format(game=game) for name, path in PAGES.items()}
        for name, size in chromium.sizes(browser, url, pages).items():
            line(f"page {name} with all its files", f"{size / 1000:.0f} kB", f"{MAX_SIZE / 1000:.0f} kB")
        visible = chromium.table_visible(browser, url + pages["game"])
        line("from navigation to the first table", f"{visible:.0f} ms", f"{MAX_VISIBLE:.0f} ms")
        step, steps = chromium.replay_step(browser, url + pages["game"], game)
        line(f"a step of a replay, of {steps}", f"{step:.2f} ms", f"{MAX_STEP:.0f} ms")


def print_rates(games: int, spectators: int, seconds: float, repeats: int) -> None:
    """The server's rate without and with spectators, in turns."""
    with server_process(nukidora_main) as server:
        found = asyncio.run(rates(server, games, spectators, seconds, repeats))
    for title, of in (("decisions/s", PER_SECOND), ("decisions per CPU second", PER_CPU_SECOND)):
        without, watched = (statistics.median(map(of, side)) for side in zip(*found, strict=True))
        line(f"{title}, {games} games, no spectator", f"{without:,.0f}")
        line(f"{title}, {spectators} spectators", f"{watched:,.0f}")
        line("ratio (lowest to highest)", spread([of(pair[1]) / of(pair[0]) for pair in found]))
        line("noise: rate without / the one before it", spread([of(b[0]) / of(a[0]) for a, b in pairwise(found)]))
    line("sent to all spectators", f"{statistics.median(pair[1].received for pair in found) / 1e6:.1f} MB")


def spread(ratios: Sequence[float]) -> str:
    """Median and range of ratios."""
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f}-{max(ratios):.3f})" if ratios else "needs --repeats 2"


def main(argv: Sequence[str]) -> int:
    """Measure and print; returns the exit code."""
    parser = Parser("benchmarks.web", description=__doc__)
    parser.add_argument("--games", type=positive, default=30, metavar="N", help="games that are played meanwhile")
    parser.add_argument("--spectators", type=positive, default=300, metavar="N", help="of one more game")
    parser.add_argument("--seconds", type=positive, default=5, metavar="S", help="of each measurement of the rate")
    parser.add_argument("--repeats", type=positive, default=5, metavar="N", help="pairs of measurements of the rate")
    args = parser.parse_args(argv)
    line("", "measured", "budget")
    if program := chromium.chromium():
        print_pages(program)
    else:
        line("pages", "Chromium is missing")
    print_rates(args.games, args.spectators, args.seconds, args.repeats)
    return 0
