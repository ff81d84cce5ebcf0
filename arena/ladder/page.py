"""The standings of a ladder as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from arena.columns import PLAY, as_json
from arena.ladder.schedule import LadderSettings
from arena.ladder.standings import Standings
from arena.statistics import BotGames

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


def page(standings: Standings, settings: LadderSettings, command: str, machine: str) -> str:
    """The page; ``command`` makes it, on a machine as ``machine`` says."""
    return "\n".join(_lines(standings, settings, command, machine)) + "\n"


def _lines(standings: Standings, settings: LadderSettings, command: str, machine: str) -> Iterator[str]:
    bots = standings.bots
    yield from ("# The ladder", "", "Every bot against every other, on shared walls. Made by:", "")
    yield from ("```bash", command, "```", "")
    total = sum(bot.n_games for bot in bots) // 3
    yield f"{total:,} games ({settings.rules}, {settings.length}, seed {settings.seed}): every three of the bots play"
    yield f"each other in all rotations of the seats. {_pairs(standings, settings)}"
    yield ""
    yield "Ratings are those of the Plackett-Luce model: a bot that is 400 points better is ten times as likely to finish"
    yield "ahead; the average of all bots is 0. Intervals are 95 % confidence intervals, by a bootstrap over the walls."
    yield f"Decisions/s are those of one core in games of the bot against itself, engine included: {machine}."
    yield ""
    yield from _table(["", "bot", "rating", "placement", "1st %", "2nd %", "3rd %", "games", "decisions/s"], [
        [str(number), _code(bot.bot), *_rating(standings, bot), f"{standings.decisions_per_second[bot.bot]:,.0f}"]
        for number, bot in enumerate(bots, 1)
    ], n_text=2)  # fmt: skip
    yield from ("", "## Every pair", "")
    yield "How often, in %, the bot of the line finished ahead of the bot of the column, in games that both played."
    yield ""
    yield from _table(["", *(_code(bot.bot) for bot in bots)], [
        [_code(bot.bot), *(_share(standings, bot.bot, other.bot) for other in bots)] for bot in bots
    ])  # fmt: skip
    yield from ("", "## Play", "")
    yield "What the columns mean stands in `python -m arena --help`."
    yield ""
    rows = [[_code(bot.bot), *(column.cell(as_json(bot)) for column in PLAY)] for bot in bots]
    yield from _table(["bot", *(" ".join(column.heading.split()) for column in PLAY)], rows)
    yield from ("", "## How they were made", "")
    for bot in bots:
        name = bot.bot.partition("@")[0]
        yield f"- {_code(bot.bot)}: {ORIGINS.get(name, 'not a bot of this project')}"


def _pairs(standings: Standings, settings: LadderSettings) -> str:
    def fewest(slow: bool) -> int:
        pairs = standings.games_of_pair.items()
        return min(n for pair, n in pairs if bool(settings.slow.intersection(pair)) == slow)

    text = f"Every two met in at least {fewest(slow=False):,} games"
    if settings.slow:
        text += f", or {fewest(slow=True):,} where one of them was slow ({', '.join(sorted(settings.slow))})"
    return text + "."


def _rating(standings: Standings, bot: BotGames) -> Iterator[str]:
    rating = standings.ratings[bot.bot]
    yield f"{rating.points:+.0f} ± {rating.interval:.0f}"
    yield f"{bot.placements.mean():.3f}"
    yield from (f"{100 * (bot.placements == place).mean():.1f}" for place in (1, 2, 3))
    yield f"{bot.n_games:,}"


def _share(standings: Standings, bot: str, other: str) -> str:
    return "" if bot == other else f"{100 * standings.ahead[bot, other]:.1f}"


def _code(bot: str) -> str:
    return f"`{bot}`"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], n_text: int = 1) -> Iterator[str]:
    """A table of Markdown: the first ``n_text`` columns are text, the others numbers."""
    for cells in (head, ["---" if index < n_text else "---:" for index in range(len(head))], *rows):
        yield f"| {' | '.join(cells)} |"
