"""The standings of a ladder as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agents.strength import split_strength
from arena.columns import PLAY, as_json
from arena.ladder.schedule import LadderSettings
from arena.ladder.standings import Standings
from engine.table import N_SEATS

# How each built-in bot was made, for the last table.
ORIGINS = {
    "random": "a random legal action",
    "tsumogiri": "discards what it draws",
    "efficiency": "lowest shanten, then most useful tiles; written by hand",
    "rule": "speed, value and danger of every action; written by hand",
    "linear": "a weighted sum of features, learned from games of a better bot (`experiments/linear.sh`)",
    "softmax": "the same features as a policy, learned by its gradient (`experiments/linear.sh`)",
    "yaku": "a search for the hand to go for; how often hands are won was measured in self-play",
    "cnn": "convolution over tiles, imitates a better bot (`experiments/cnn.sh`)",
    "bert": "a transformer, imitates `rule`, then improved by rollouts (`experiments/bundled_network.sh`)",
    "selfplay": "a small network that began at random and played itself (`experiments/selfplay.sh`)",
}


INTRODUCTION = """\
# The ladder

Every bot against every other, on shared walls. This page was made by:

```sh
{command}
```

{games:,} games ({rules}, {length}, seed {seed}): every three of the bots play each other, in all rotations of the
seats. {pairs}

Ratings are those of the Plackett-Luce model: if a bot is 400 points better than another, the odds that it finishes
ahead are 10 to 1. The mean of all bots is 0. Intervals are 95 % confidence intervals; all games on a wall are one
observation. Decisions/s are those of one core in games of the bot against itself, engine included ({machine}).
"""
PAIRS = """
## Every pair

How often, in %, the bot of the row finished ahead of the bot of the column, in the games that both played.
"""
PLAY_TABLE = """
## Play

`python -m arena --help` says what the columns mean.
"""


def page(standings: Standings, settings: LadderSettings, command: str, machine: str) -> str:
    """The page; ``command`` makes it, on a machine as ``machine`` says."""
    introduction = INTRODUCTION.format(
        command=command,
        games=sum(bot.n_games for bot in standings.bots) // N_SEATS,
        rules=settings.rules,
        length=settings.length,
        seed=settings.seed,
        pairs=_pairs(standings, settings),
        machine=machine,
    )
    parts = [introduction, *_standings(standings), PAIRS, *_every_pair(standings), PLAY_TABLE, *_play(standings)]
    return "\n".join([*parts, "\n## How they were made\n", *_origins(standings)]) + "\n"


def _standings(standings: Standings) -> Iterator[str]:
    head = ["", "bot", "rating", "placement", "1st %", "2nd %", "3rd %", "games", "decisions/s"]
    rows = []
    for number, bot in enumerate(standings.bots, 1):
        rating = standings.ratings[bot.bot]
        places = (f"{100 * (bot.placements == place).mean():.1f}" for place in (1, 2, 3))
        interval = "" if rating.interval is None else f" ± {rating.interval:.0f}"
        numbers = [f"{rating.mean:+.0f}{interval}", f"{bot.placements.mean():.3f}", *places, f"{bot.n_games:,}"]
        rows.append([str(number), _code(bot.bot), *numbers, f"{standings.decisions_per_second[bot.bot]:,.0f}"])
    return _table(head, rows, n_text=2)


def _every_pair(standings: Standings) -> Iterator[str]:
    names = [bot.bot for bot in standings.bots]
    shares = {pair: f"{100 * share:.1f}" for pair, share in standings.ahead.items()}
    rows = [[_code(name), *(shares.get((name, other), "") for other in names)] for name in names]
    return _table(["", *map(_code, names)], rows)


def _play(standings: Standings) -> Iterator[str]:
    rows = [[_code(bot.bot), *(column.cell(as_json(bot)) for column in PLAY)] for bot in standings.bots]
    return _table(["bot", *(" ".join(column.heading.split()) for column in PLAY)], rows)


def _origins(standings: Standings) -> Iterator[str]:
    for bot in standings.bots:
        full, points = split_strength(bot.bot)
        name, _, argument = full.partition(":")
        weaker = "" if points is None else f"{-points} points weaker than `{full}`: "
        origin = ORIGINS.get(name, "not a bot of this project")
        yield f"- {_code(bot.bot)}: {weaker}{origin}" + (f"; here with `{argument}`" if argument else "")


def _pairs(standings: Standings, settings: LadderSettings) -> str:
    def fewest(slow: bool) -> int:
        pairs = standings.common.items()
        return min(n for pair, n in pairs if bool(settings.slow.intersection(pair)) == slow)

    text = f"Every two met in at least {fewest(slow=False):,} games"
    if settings.slow:
        text += f", or {fewest(slow=True):,} where one of them was slow ({', '.join(sorted(settings.slow))})"
    return text + "."


def _code(bot: str) -> str:
    return f"`{bot}`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], n_text: int = 1) -> Iterator[str]:
    """A table of Markdown: the first ``n_text`` columns are text, the others numbers."""
    for cells in (head, ["---" if index < n_text else "---:" for index in range(len(head))], *rows):
        yield f"| {' | '.join(cells)} |"
