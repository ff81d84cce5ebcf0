"""The report of a run as one page; tests/web/test_arena_report.py looks at it in a browser."""

from __future__ import annotations

import json
import re
import shlex
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from rich.console import Console

from agents.registry import make
from arena.bot_games import DEAL_INS, ROUNDS, WINS
from arena.cli import main
from arena.columns import PLAY, RESULTS
from arena.page.figures import FIGURES, Data, convergence, placements_at, share
from arena.run import ArenaRun
from arena.schedule import RunSettings
from arena.tallies.columns import GROUPS
from engine.cli import main as engine_main
from engine.common.program import OK
from engine.common.student import half_width
from engine.contests.seating import ROTATIONS
from nukidora import play
from tests.conftest import DATA

NOTES = Console(quiet=True)
SETTINGS = RunSettings(("efficiency", "random", "tsumogiri"), 120, 1, "tenhou", "east")
HOSTILE = '<script>alert("1")</script>&$x_1$東'
VOID = {"meta", "link", "br", "input", "img"}


class Elements(HTMLParser):
    """The elements of a page: names with attributes; ``open`` is empty if each is closed where it belongs."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def played(folder: Path, settings: RunSettings = SETTINGS, save: bool = False) -> ArenaRun:
    """A finished run, whose page is ``report.html`` in a folder."""
    run = ArenaRun(settings, 0, save=folder / "games" if save else None, html=folder / "report.html")
    run.play(NOTES)
    run.finish()
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a page is, and the games that it links to."""
    folder = tmp_path_factory.mktemp("page")
    played(folder, save=True)
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_is_whole_and_asks_for_nothing(page: str) -> None:
    elements = Elements(page)
    assert elements.open == []
    names = {name for name, _ in elements.found}
    assert not names & {"script", "img", "iframe", "object", "embed", "base", "form", "image", "foreignobject"}
    assert [given["href"] for name, given in elements.found if name == "link"] == ["data:,"]
    assert "default-src 'none'" in page
    for name, given in elements.found:
        assert not [key for key in given if key.startswith("on")]
        for key in ("src", "href", "xlink:href", "srcset"):
            if name not in ("a", "link") and (value := given.get(key)):
                assert value.startswith("#"), "within the page"
    assert not re.search(r"@import|url\((?!#)", page)


def test_identifiers_are_unique_and_each_use_of_one_finds_it(page: str) -> None:
    found = [given["id"] for _, given in Elements(page).found if "id" in given]
    assert len(found) == len(set(found)) > 100
    uses = set(re.findall(r'(?:url\(#|xlink:href="#)([^)"]+)', page))
    assert uses
    assert uses <= set(found)


def test_tables_have_every_statistic_with_its_definition(page: str) -> None:
    text = unescape(page)
    for statistic in (*RESULTS, *PLAY, *(each for group in GROUPS.values() for each in group)):
        assert statistic.help in text
    for group in GROUPS:
        assert f"<summary>{escape(group)}</summary>" in page


def test_every_figure_is_there_and_says_what_it_shows(page: str) -> None:
    elements = Elements(page).found
    labels = [given["aria-label"] for name, given in elements if name == "svg" and given.get("role") == "img"]
    assert [str(label).split(":")[0] for label in labels] == [figure.title for figure in FIGURES]
    assert page.count("<figure>") == len(FIGURES)
    assert "without the luck of the walls" in str(labels[0])


@pytest.mark.slow
def test_the_same_run_gives_the_same_page(folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        played(tmp_path / name)
    assert (tmp_path / "a/report.html").read_bytes() == (tmp_path / "b/report.html").read_bytes()


def test_the_biggest_games_link_to_their_records(folder: Path, page: str) -> None:
    section = page[page.index("The biggest games") :]
    scores = [int(text.replace(",", "")) for text in re.findall(r"<b>(-?[\d,]+)</b>", section)]
    best = scores[::3]
    assert best == sorted(best, reverse=True)
    assert len(best) == 10
    links = [
        given for name, given in Elements(section[section.index("<ol>") : section.index("</ol>")]).found if name == "a"
    ]
    records = [str(given["href"]) for given in links if "rel" not in given]
    assert len(records) == 10
    for record in records:
        assert (folder / record).is_file()
    assert sum(str(given["href"]).startswith("https://tenhou.net/") for given in links) == 10
    assert re.search(r'python -m engine show \S+\.mjson\.gz <span class="option">--round \d+</span></code>', section)


@pytest.mark.slow
def test_without_saved_games_the_page_says_how_to_keep_them(tmp_path: Path) -> None:
    played(tmp_path, RunSettings(("random",) * 3, 3, 1, "tenhou", "east"))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "--save FOLDER" in page
    assert "<a " not in page


@pytest.mark.slow
def test_a_hostile_name_stays_text(tmp_path: Path) -> None:
    hostile: Any = make("efficiency")
    hostile.name = HOSTILE
    play([hostile, "random", "tsumogiri"], games=6, length="east", html=tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert f"<bdi>{escape(HOSTILE)}</bdi>" in page
    assert f"<title>{escape(HOSTILE)}, random, tsumogiri" in page
    assert Elements(page).open == []


@pytest.mark.slow
@pytest.mark.parametrize("control_variates", [True, False])
def test_placements_in_figures_are_those_of_the_table(tmp_path: Path, control_variates: bool) -> None:
    from matplotlib.figure import Figure

    settings = RunSettings(SETTINGS.bots, 150, 2, "tenhou", "east", control_variates=control_variates)
    run = played(tmp_path, settings)
    data = Data(run.results.by_bot())
    said = "without the luck of the walls" if control_variates else "as played"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"mean placement after so many games, {said}, and its 95 % interval" in page
    axes = Figure().subplots()
    convergence(axes, data)
    for bot, row, line, band in zip(data.bots, run.document["bots"], axes.lines, axes.collections, strict=True):
        assert line.get_xdata()[-1] == bot.n_games
        assert line.get_ydata()[-1] == pytest.approx(row["placement"]["mean"])
        edges = band.get_paths()[0].vertices
        width = edges[edges[:, 0] == bot.n_games][:, 1]
        assert np.ptp(width) / 2 == pytest.approx(row["placement"]["interval"])
        by_seat = [placements_at(bot, seat) for seat in range(3)]
        played_by_seat = [bot.at_seat(seat).placements for seat in range(3)]
        if not control_variates:
            assert np.array_equal(by_seat, np.array(played_by_seat)[:, :, 0])
        assert np.mean(by_seat) == pytest.approx(row["placement"]["mean"], abs=0.02)


@pytest.mark.slow
def test_the_plane_has_the_rates_of_the_table_and_their_intervals(tmp_path: Path) -> None:
    run = played(tmp_path)
    for bot, row in zip(run.results.by_bot(), run.document["bots"], strict=True):
        for count, key in ((WINS, "win_rate"), (DEAL_INS, "deal_in_rate")):
            rate, width = share(bot, count)
            assert rate == pytest.approx(100 * row[key])
            counts, rounds = bot.counts[..., count].sum(axis=1), bot.counts[..., ROUNDS].sum(axis=1)
            without_one = (counts.sum() - counts) / (rounds.sum() - rounds)  # the jackknife, another way to an interval
            jackknife = (len(counts) - 1) * (half_width(without_one, 0.0) or 0.0)
            least = half_width(np.zeros(len(counts)), ROTATIONS / rounds.mean()) or 0.0  # tsumogiri never wins
            assert width == pytest.approx(100 * max(jackknife, least), rel=0.1)


def test_the_axis_of_few_games_has_places_alone(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    convergence(axes, Data(played(tmp_path, RunSettings(SETTINGS.bots, 9, 2, "tenhou", "east")).results.by_bot()))
    worst, best = axes.get_ylim()
    assert (worst, best) == (3.1, 0.9)


@pytest.mark.slow
@pytest.mark.parametrize("bots", [("tsumogiri",) * 3, ("random", "tsumogiri", "random")])
def test_one_wall_without_wins_has_a_page(tmp_path: Path, bots: tuple[str, ...]) -> None:
    played(tmp_path, RunSettings(bots, 3, 5, "majsoul", "east", scores=(25_000, 35_000, 45_000)))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "starting scores 25,000, 35,000, 45,000" in page
    assert page.count("<figure>") == len(FIGURES)
    assert not re.search(r"\b(nan|inf|None)\b", page)


# Of games from records ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def records_page(folder: Path) -> str:
    """The page of the saved games, of a game in which a player has no name, and of one with odd names."""
    out = folder / "records"
    out.mkdir()
    lines = (DATA / "records" / "phoenix_2020_1.mjson").read_text(encoding="utf-8").splitlines()
    (out / "unnamed.mjson").write_text("\n".join(['{"type":"start_game","names":["","<b>","C"]}', *lines[1:]]))
    words = [str(folder / "games"), str(out / "unnamed.mjson"), str(DATA / "records" / "phoenix_2024_1.json")]
    assert main(["stats", *words, "--html", str(out / "new" / "page.html")]) == OK
    return (out / "new" / "page.html").read_text(encoding="utf-8")


def test_the_page_of_records_speaks_of_players(records_page: str) -> None:
    elements = Elements(records_page)
    assert elements.open == []
    assert not {name for name, _ in elements.found} & {"script", "img", "iframe", "b>"}
    assert records_page.count("<figure>") == len(FIGURES)
    without = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<code>.*?</code>", "", records_page, flags=re.DOTALL)
    text = re.sub(r"<[^>]+>", " ", without)
    assert "122 games of 7 players" in text
    assert "other players" not in text
    assert not re.search(r"\b(bots?|walls?|seeds?|rotations?|paired|nan|None)\b", text)
    for statistic in (*RESULTS, *PLAY, *(each for group in GROUPS.values() for each in group)):
        assert statistic.help in unescape(text)
    players = records_page[records_page.index("<caption>Players") : records_page.index('aria-label="Figures"')]
    rows = [re.sub("<[^>]+>", "", row) for row in re.findall(r'scope="row">(<bdi>.*?)</th>', players)]
    assert rows[:3] == ["efficiency", "random", "tsumogiri"]
    assert set(rows[3:]) == {"A", "B", "C", "&lt;b&gt;"}


def test_the_tables_of_records_are_those_of_the_count(folder: Path, records_page: str) -> None:
    assert main(["stats", str(folder / "games"), "--json", str(folder / "stats.json")]) == OK
    rows = {row["player"]: row for row in json.loads((folder / "stats.json").read_bytes())["players"]}
    cells = re.findall(r'<tr><th scope="row">([^<]*)<small>.*?</th><td>.*?</td><td>(.*?)</td>', records_page)
    found = {heading: cell.replace("&nbsp;", " ") for heading, cell in reversed(cells)}
    for statistic in (*RESULTS, *PLAY):
        assert found[" ".join(statistic.heading.split())] == statistic.cell(rows["efficiency"])


def test_the_biggest_games_of_records_are_found_again(folder: Path, records_page: str) -> None:
    section = records_page[records_page.index("The biggest games") :]
    listed = section[section.index("<ol>") : section.index("</ol>")]
    links = [given for name, given in Elements(listed).found if name == "a"]
    records = [str(given["href"]) for given in links if "rel" not in given]
    assert records
    for record in records:
        assert (folder / "records" / "new" / record).is_file()
    assert sum(str(given["href"]).startswith("https://tenhou.net/") for given in links) == 10


def test_a_record_in_an_archive_is_named_by_the_command_that_shows_it(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "games.zip", "w") as archive:
        archive.write(DATA / "records" / "phoenix_2024_1.json", "a b.json")
    assert main(["stats", str(tmp_path / "games.zip"), "--html", str(tmp_path / "page.html")]) == OK
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    command = re.search(r"python -m engine (show .*? )<span[^>]*>(--round \d+)</span></code>", page)
    assert command is not None
    assert engine_main(shlex.split(unescape(command[1] + command[2]))) == OK
    assert page.count("<a ") == 1, "no link to what is no file"


def test_one_player_is_shown_beside_all(folder: Path, tmp_path: Path) -> None:
    words = ["stats", str(folder / "games"), "--html", str(tmp_path / "page.html")]
    assert main([*words, "--player", "random"]) == OK
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("<figure>") == page.count('<ul class="keys"><li>') == len(FIGURES)
    assert "other players 2" in page
    assert "efficiency" not in page[: page.index("The biggest games")]
    with pytest.raises(SystemExit):
        main([*words, "--player", "nobody"])
