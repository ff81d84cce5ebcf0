"""Reviews of many games of a player, added up by kind, shanten and turn of decisions, and the costliest mistakes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from math import sqrt
from typing import Any

from agents.review.decisions import Decision, names_of
from agents.review.opinions import Opinion
from agents.review.review import Json, Review, round_to_digits
from agents.review.words import action_words
from engine.common.student import least_error, of_error
from engine.mjai.messages import Message
from engine.records.model import NAMED_BY, round_name

MISTAKE = 0.01  # placements: the least loss of a mistake
N_MISTAKES = 20  # that are kept of each bot, the costliest ones
BLUNDER = 0.05  # placements: of games that are alike, one counts as off by that (`engine.common.student`)
DEEPEST, TURNS = 3, 6  # shanten from which on decisions are one row; turns of a row
ALL = "all"
NUMBER = re.compile(r"^-?\d+")  # that a row begins with


def turns_of(decision: Decision) -> str:
    """The turns of a row: ``1-6``, ``7-12`` and so on."""
    first = (decision.turn - 1) // TURNS * TURNS + 1
    return f"{first}-{first + TURNS - 1}"


def shanten_of(decision: Decision) -> str:
    """The shanten of a row: ``-1`` … ``2``, ``3+``."""
    return str(decision.shanten) if decision.shanten < DEEPEST else f"{DEEPEST}+"


# Tables of the decisions -> the row of a decision.
GROUPS: dict[str, Callable[[Decision], str]] = {
    "by_kind": lambda decision: decision.kind,
    "by_shanten": shanten_of,
    "by_turn": turns_of,
}


@dataclass(slots=True)
class Sums:
    """The decisions of a row, of one game or of many. ``squares``: of the losses of games."""

    decisions: int = 0
    agreed: int = 0
    unknown: int = 0
    loss: float = 0.0
    squares: float = 0.0

    def count(self, opinion: Opinion) -> None:
        """Count a decision of the one game."""
        self.decisions += 1
        self.agreed += opinion.agrees
        self.unknown += opinion.loss is None
        self.loss += opinion.loss or 0.0
        self.squares = self.loss * self.loss

    def add(self, other: Sums) -> None:
        """Add what was counted in other games."""
        self.decisions += other.decisions
        self.agreed += other.agreed
        self.unknown += other.unknown
        self.loss += other.loss
        self.squares += other.squares

    def row(self, games: int) -> Json:
        """The figures of the row, with the loss of a game and the half-width of its 95 % interval."""
        known = self.decisions - self.unknown
        return {
            "decisions": self.decisions,
            "agreed": self.agreed,
            "accuracy": round_to_digits(self.agreed / self.decisions, 6),
            "mean_loss": round_to_digits(self.loss / known, 4) if known else None,
            "unknown": self.unknown,
            "loss_per_game": {
                "mean": round_to_digits(self.loss / games, 4) if known else None,
                "interval": round_to_digits(self._interval(games), 4) if known else None,
            },
        }

    def _interval(self, games: int) -> float | None:
        if games < 2:
            return None
        variance = max(self.squares - self.loss * self.loss / games, 0.0) / (games - 1)
        return of_error(max(sqrt(variance / games), least_error(games, BLUNDER)), games)


Tables = dict[str, dict[str, Sums]]  # rows by their names, by groups; of ALL decisions under ALL


@dataclass(slots=True)
class Mistake:
    """A decision of which a bot thinks better. ``file``: as `engine.records.files.read_records` takes it.

    ``messages``: the start of the game and its round, to the decision; ``decision``: of `Review.as_json`, by this bot
    alone; ``actual`` and ``preferred``: what was played and is best, as mjai messages, and in words.
    """

    loss: float
    file: str
    seat: int
    round: int
    round_name: str
    turn: int
    kind: str
    played: str
    best: str
    actual: Message
    preferred: Message
    message: int
    messages: list[Message] = field(repr=False)
    decision: Json = field(repr=False)

    @property
    def place(self) -> tuple[str, int, int]:
        """Where it was: no two of a bot have the same."""
        return self.file, self.seat, self.message

    def as_json(self) -> Json:
        """Where it was, against whom, and what it cost."""
        start_game, start_kyoku = self.messages[:2]
        told = {key: value for key, value in asdict(self).items() if key not in ("messages", "decision")}
        return told | {key: start_kyoku[key] for key in NAMED_BY} | {"names": [*names_of(start_game)]}


@dataclass(slots=True)
class Totals:
    """The reviews of some games by some bots: tables and mistakes, costliest first, of each bot."""

    games: int
    tables: list[Tables]
    mistakes: list[list[Mistake]]

    @classmethod
    def of_none(cls, n_bots: int) -> Totals:
        """Those of no game."""
        return cls(0, [{} for _ in range(n_bots)], [[] for _ in range(n_bots)])

    @classmethod
    def of_game(cls, reviews: Sequence[Review], file: str) -> Totals:
        """Those of the seats that the player has in one game, of which ``file`` is the record; there must be one."""
        n_bots = len(reviews[0].bots)
        mistakes = [costliest(chain(*(mistakes_of(review, bot, file) for review in reviews))) for bot in range(n_bots)]
        totals = cls(1, [{} for _ in range(n_bots)], mistakes)
        for review in reviews:
            for tables, opinions in zip(totals.tables, review.opinions, strict=True):
                for decision, opinion in zip(review.of.decisions, opinions, strict=True):
                    for group, row in [(ALL, ALL), *((group, of(decision)) for group, of in GROUPS.items())]:
                        tables.setdefault(group, {}).setdefault(row, Sums()).count(opinion)
        return totals

    @classmethod
    def of_kept(cls, kept: Json) -> Totals:
        """Those that `kept` gave. Raises ValueError, LookupError, TypeError or AttributeError if it gave no such."""
        tables = [
            {group: {row: Sums(*map(float_or_int, sums)) for row, sums in rows.items()} for group, rows in each.items()}
            for each in kept["tables"]
        ]
        return cls(int(kept["games"]), tables, [[Mistake(**each) for each in of_bot] for of_bot in kept["mistakes"]])

    def kept(self, among: Totals) -> Json:
        """All as JSON, for a checkpoint; of the mistakes those that are ``among`` the costliest, too."""
        costliest = [{each.place for each in of_bot} for of_bot in among.mistakes]
        return {
            "games": self.games,
            "tables": [
                {group: {row: [*asdict(sums).values()] for row, sums in rows.items()} for group, rows in each.items()}
                for each in self.tables
            ],
            "mistakes": [
                [asdict(each) for each in of_bot if each.place in places]
                for of_bot, places in zip(self.mistakes, costliest, strict=True)
            ],
        }

    def add(self, other: Totals) -> None:
        """Add other games, by the same bots."""
        self.games += other.games
        for tables, of_others in zip(self.tables, other.tables, strict=True):
            for group, rows in of_others.items():
                for row, sums in rows.items():
                    tables.setdefault(group, {}).setdefault(row, Sums()).add(sums)
        self.mistakes = [costliest([*own, *others]) for own, others in zip(self.mistakes, other.mistakes, strict=True)]

    def summary(self, bot: int) -> Json:
        """The figures of a bot, by its index: as of a `Review`, and with the loss of a game."""
        tables = self.tables[bot]
        rows = {group: in_order(group, tables.get(group, {})) for group in GROUPS}
        figures = {group: {row: sums.row(self.games) for row, sums in found.items()} for group, found in rows.items()}
        return tables[ALL][ALL].row(self.games) | figures

    def as_json(self, player: str, bots: Iterable[str]) -> Json:
        """All figures and mistakes; docs/web.md has the keys. There must be a game."""
        return {
            "player": player,
            "bots": [*bots],
            "games": self.games,
            "summary": [self.summary(bot) for bot in range(len(self.tables))],
            "mistakes": [[each.as_json() for each in of_bot] for of_bot in self.mistakes],
        }


def in_order(group: str, rows: dict[str, Sums]) -> dict[str, Sums]:
    """The rows of a table as they are shown: kinds by their decisions, numbers ascending."""
    if group == "by_kind":
        return dict(sorted(rows.items(), key=lambda item: (-item[1].decisions, item[0])))
    return dict(sorted(rows.items(), key=lambda item: int(NUMBER.findall(item[0])[0])))


def costliest(mistakes: Iterable[Mistake]) -> list[Mistake]:
    """The N_MISTAKES that cost most, costliest first."""
    return sorted(mistakes, key=lambda each: (-each.loss, each.place))[:N_MISTAKES]


def mistakes_of(review: Review, bot: int, file: str) -> list[Mistake]:
    """The costliest mistakes that a bot, by its index, sees in a game."""
    found = [
        (opinion.loss, index)
        for index, opinion in enumerate(review.opinions[bot])
        if opinion.loss is not None and not opinion.agrees and opinion.loss >= MISTAKE
    ]
    found.sort(key=lambda each: (-each[0], each[1]))
    return [mistake(review, bot, index, file) for _, index in found[:N_MISTAKES]]


def mistake(review: Review, bot: int, index: int, file: str) -> Mistake:
    """A decision as a mistake that a bot sees."""
    decision, events = review.of.decisions[index], review.of.record.events
    told = review.decision(index)
    of_bot = told["reviews"][bot]
    start = next(at for at in range(decision.message, -1, -1) if events[at]["type"] == "start_kyoku")
    return Mistake(
        loss=of_bot["loss"],
        file=file,
        seat=review.of.seat,
        round=decision.round,
        round_name=round_name(events[start]).removesuffix(" honba 0"),
        turn=decision.turn,
        kind=decision.kind,
        played=action_words(told["actual"]),
        best=action_words(of_bot["actions"][0]["action"]),
        actual=told["actual"],
        preferred=of_bot["actions"][0]["action"],
        message=decision.message,
        messages=[events[0], *events[start : decision.message + 1]],
        decision=told | {"reviews": [of_bot], "message": decision.message + 1 - start, "round": 0},
    )


def float_or_int(value: Any) -> Any:
    """A number of a checkpoint. Raises TypeError for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no number")
    return value
