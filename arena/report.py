"""Prints the statistics of a run: tables of the results, of the play, and of every two bots compared.

A document is what the JSON file of results holds, without its games; see `arena.results.Results.document`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from arena.columns import COMPARISON, MISSING, PLAY, RESULTS, Statistic
from arena.observers import Fault
from arena.stopping import MIN_WALLS, UNDECIDED
from engine.common.options import printable_texts
from engine.common.program import PLAIN
from engine.contests.seating import ROTATIONS
from engine.rules import EVEN_SCORES

LOWER_IS_BETTER = "lower placement is better (1 is first, 3 is last); ± is the 95 % interval"
OF_FIXED_NUMBER = " of a fixed number of games"  # what an interval is after a sequential test
ASCII_HEAD = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)  # SIMPLE_HEAD in ASCII


def print_report(console: Console, document: dict[str, Any]) -> None:
    """Print all tables, what was played, how fast, and which bots failed; its texts may be of a stranger."""
    document = printable_texts({key: value for key, value in document.items() if key != "games"})
    settings, bots, speed = document["settings"], document["bots"], document["speed"]
    n = bots[0]["games"] // ROTATIONS
    walls = f"{n:,} wall{'s' * (n != 1)} in {ROTATIONS} rotations"
    scores = tuple(settings["scores"])
    handicap = "" if scores == EVEN_SCORES else f", starting scores {', '.join(f'{score:,}' for score in scores)}"
    if settings["tenhou_seed"]:
        walls = f"{walls} by a seed of Tenhou"
    title(console, f"Results: {walls}, {settings['rules']} {settings['length']}, seed {settings['seed']}{handicap}")
    interval = LOWER_IS_BETTER + (OF_FIXED_NUMBER if is_sequential_test(settings["stop"]) else "")
    console.print(Text(plain_text(console)(interval)))
    print_tables(console, RESULTS, bots)
    title(console, f"Play: {bots[0]['rounds']:,} rounds")
    print_tables(console, PLAY, bots)
    title(console, "Comparison: every two bots, paired by walls; below zero the first is better")
    pairs = document["comparisons"]
    print_tables(console, COMPARISON, pairs, ("bot", "against"))
    for line in (better_bots(document), *not_significant(pairs), luck_line(document), stop_line(document)):
        if line:
            console.print(Text(line))
    console.print(
        f"{speed['games']:,} games in {speed['seconds']:.1f} s (jobs: {speed['jobs']}): "
        f"{speed['games_per_second']:,.0f} games/s, {speed['decisions_per_second']:,.0f} decisions/s",
        highlight=False,
    )
    for bot in bots:
        faults = [fault for fault in document["faults"] if fault["bot"] == bot["bot"]]
        if faults:
            print_faults(console, bot, [Fault(**fault | {"bot": 0}) for fault in faults])


def title(console: Console, text: str) -> None:
    """Print the title of a table."""
    console.print(Text(text, style="bold"))


def print_tables(
    console: Console,
    statistics: Sequence[Statistic[Any]],
    rows: Sequence[dict[str, Any]],
    names: Sequence[str] = ("bot",),
) -> None:
    """Print a line for each of ``rows``, a column for each statistic: in several tables, if one is too wide.

    ``names``: the keys of the columns that every table begins with.
    """
    plain, unlimited = plain_text(console), console.options.update(max_width=10_000)
    while statistics:
        n = len(statistics)
        drawn = table(console, statistics, rows, names, plain)
        while n > 1 and Measurement.get(console, unlimited, drawn).maximum > console.width:
            n -= 1
            drawn = table(console, statistics[:n], rows, names, plain)
        console.print(drawn)
        statistics = statistics[n:]


def table(
    console: Console,
    statistics: Sequence[Statistic[Any]],
    rows: Sequence[dict[str, Any]],
    names: Sequence[str],
    plain: Callable[[str], str],
) -> Table:
    """One table; long names are folded, so that at least half of the width is left to the statistics."""
    drawn = Table(box=box.SIMPLE_HEAD if plain("─") == "─" else ASCII_HEAD, padding=0, safe_box=False)
    for name in names:
        drawn.add_column(name, overflow="fold", max_width=max(8, console.width // (2 + len(names))), vertical="bottom")
    for statistic in statistics:
        drawn.add_column(statistic.heading, justify="right", vertical="bottom", no_wrap=True)
    for row in rows:
        cells = (plain(statistic.cell(row)) for statistic in statistics)
        drawn.add_row(*(Text(row[name]) for name in names), *cells)
    return drawn


def plain_text(console: Console) -> Callable[[str], str]:
    """Replaces the characters of tables that the encoding of the console lacks, if it lacks some."""
    try:
        f"±{MISSING}─".encode(console.encoding)
    except UnicodeEncodeError:
        return lambda text: "".join(PLAIN.get(character, character) for character in text)
    return lambda text: text


def better_bots(document: dict[str, Any]) -> str:
    """Which bot is better than which, where an interval excludes zero; "" if none does, or after a few walls.

    Also "" after a sequential test, whose verdict `stop_line` has: the intervals are those of a fixed number of games,
    and not 95 % intervals where the results decide when to stop.
    """
    if is_sequential_test(document["settings"]["stop"]):
        return ""
    worse: dict[str, list[str]] = {}
    enough = document["bots"][0]["games"] >= ROTATIONS * MIN_WALLS
    for pair in document["comparisons"] if enough else ():
        if pair["significant"] and not same_bot(pair["bot"], pair["against"]):
            names = pair["bot"], pair["against"]
            bot, other = names if pair["difference"]["mean"] < 0 else reversed(names)
            worse.setdefault(bot, []).append(other)
    return "; ".join(f"{bot} is better than {' and '.join(others)}" for bot, others in worse.items())


def not_significant(comparisons: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for every two bots whose interval contains zero, unless they are the same bot."""
    if any(pair["difference"]["interval"] is None for pair in comparisons):
        yield "one wall shows no significant difference: play more games"
        return
    for pair in comparisons:
        if not pair["significant"] and not same_bot(pair["bot"], pair["against"]):
            more = pair["more_games"]
            more_games = (
                f"about {more:,} more games may show one"
                if more
                else "the difference is too small to say how many more games may show one"
            )
            yield f"{pair['bot']} and {pair['against']}: no significant difference; {more_games}"


def luck_line(document: dict[str, Any]) -> str:
    """How much narrower the intervals of the placements are without luck; "" if it is not taken out."""
    ratios = [bot["luck_ratio"] for bot in document["bots"] if bot["luck_ratio"] is not None]
    if not document["settings"]["control_variates"] or all(ratio == 1 for ratio in ratios):  # too few walls for it
        return ""
    widths = " to ".join(sorted({f"{min(ratios):.2f}", f"{max(ratios):.2f}"}))
    return (
        f"placements and final points are those without the luck of the walls, with intervals {widths} times as wide "
        "(--no-control-variates: as played)"
    )


def stop_line(document: dict[str, Any]) -> str:
    """What the rule that stops the run has found; "" without such a rule."""
    if (stop := document["stop"]) is None:
        return ""
    bot, games = document["bots"][0]["bot"], f"{stop['games']:,} games"
    rule = document["settings"]["stop"]
    if not is_sequential_test(rule):
        return f"half-width of the intervals: {stop['outcome']} after {games}, {stop['status']}"
    hypotheses = f"H0: placement {2 + rule['not_better']:g}, H1: {2 + rule['better']:g}"
    outcome = f"{bot} is {stop['outcome']}"
    if stop["outcome"] == UNDECIDED:
        outcome = f"{UNDECIDED} whether {bot} is better"
    return f"SPRT: {outcome} after {games} ({hypotheses}; {stop['status']})"


def is_sequential_test(rule: dict[str, Any] | None) -> bool:
    """Whether the rule that stops the run, as its document has it, is an `arena.stopping.Sprt`."""
    return rule is not None and "better" in rule


def same_bot(label: str, other: str) -> bool:
    """Whether two labels are of one bot that plays twice: ``rule`` and ``rule#2``."""
    return re.sub(r"#\d+$", "", label) == re.sub(r"#\d+$", "", other)


def print_faults(console: Console, bot: dict[str, Any], faults: Sequence[Fault]) -> None:
    """Print in how many games an external bot failed."""
    failed = f"failed in {len(faults):,} of {bot['games']:,} games"
    line = f"bot {bot['bot']}: {failed}, which went on without it; first: {faults[0]}"
    console.print(Text(line, style="red"), soft_wrap=True)
