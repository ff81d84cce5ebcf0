"""A review: a game's decisions of a seat with the opinions of bots, and how often and by how much they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.base import Agent
from agents.review.decisions import SeatDecisions
from agents.review.opinions import Opinion, opinions_of
from engine.common.error_text import coded, error_text
from engine.mjai.actions import action_message

Json = dict[str, Any]
MAX_PARTS = 20  # of a game that somebody else played, in a review


@dataclass(frozen=True)
class Review:
    """The opinions of bots on all decisions of a seat."""

    of: SeatDecisions
    bots: Mapping[str, Agent]  # by the text that names the bot
    opinions: list[list[Opinion]]  # by bot, then by decision

    def as_json(self) -> Json:
        """The review as it is written; docs/web.md has its keys."""
        return {
            "names": [*self.of.names],
            "seat": self.of.seat,
            "bots": [*self.bots],
            "decisions": [self.decision(index) for index in range(len(self.of.decisions))],
            "summary": [self.summary(bot) for bot in range(len(self.bots))],
            "problems": self.of.problems,
            "problem_codes": [coded(problem) for problem in self.of.problems],
            "cut_off": self.of.record.cut or "",
            "cut_off_code": coded(self.of.record.cut or ""),
            "handed_over": self.of.record.describe_handover(self.of.seat),
            "handed_over_parts": [each.as_json() for each in self.of.record.handovers(self.of.seat)[:MAX_PARTS]],
        }

    def summary(self, bot: int) -> Json:
        """The figures of a bot, by its index: of all decisions, and under ``by_kind`` of each kind of them."""
        by_kind: dict[str, list[Opinion]] = {}
        for decision, opinion in zip(self.of.decisions, self.opinions[bot], strict=True):
            by_kind.setdefault(decision.kind, []).append(opinion)
        most_first = sorted(by_kind.items(), key=lambda item: -len(item[1]))
        return figures(self.opinions[bot]) | {"by_kind": {kind: figures(found) for kind, found in most_first}}

    def decision(self, index: int) -> Json:
        """A decision, by its index, and what the bots think of it, as `as_json` has it."""
        decision, view = self.of.decisions[index], self.of.views[index]
        return {
            "message": decision.message,
            "round": decision.round,
            "turn": decision.turn,
            "kind": decision.kind,
            "shanten": decision.shanten,
            "actual": action_message(view, self.of.seat, decision.action),
            "reviews": [
                {
                    "best": 0,
                    "actual": opinions[index].actual,
                    "loss": round_to_digits(opinions[index].loss, 4),
                    "actions": [
                        {
                            "action": action_message(view, self.of.seat, option.action),
                            "value": round_to_digits(option.value, 6),
                            "prob": round_to_digits(option.probability, 4),
                        }
                        for option in opinions[index].options
                    ],
                }
                for opinions in self.opinions
            ],
        }


def make_review(of: SeatDecisions, bots: Mapping[str, Agent], advance: Callable[[int], None]) -> Review:
    """Let the bots evaluate all decisions; `advance` is called with numbers of evaluated decisions.

    Raises ValueError if there is no decision, and as `opinions_of` does.
    """
    if not of.decisions:
        reasons = [*filter(None, [of.record.describe_handover(of.seat)]), *of.problems]
        why = error_text("because", ": {reason}", reason=reasons[0]) if reasons else ""
        text = "{file}: seat {seat} has no decision to review{why}"
        raise ValueError(error_text("no_decision", text, file=of.record.source, seat=of.seat, why=why))
    return Review(of, bots, [opinions_of(bot, spec, of, advance) for spec, bot in bots.items()])


def figures(opinions: Iterable[Opinion]) -> Json:
    """How many decisions, with how many the bot agrees, the mean of the known losses, how many are unknown."""
    agreed = [each.agrees for each in opinions]
    losses = [each.loss for each in opinions if each.loss is not None]
    return {
        "decisions": len(agreed),
        "agreed": sum(agreed),
        "accuracy": round_to_digits(sum(agreed) / len(agreed), 6),
        "mean_loss": round_to_digits(sum(losses) / len(losses), 4) if losses else None,
        "unknown": len(agreed) - len(losses),
    }


def round_to_digits(number: float | None, digits: int) -> float | None:
    """A number with so many significant digits: none but 0 becomes 0."""
    return None if number is None else float(f"{number:.{digits}g}")
