"""Contradictions within a record: errors of the programs that write and convert records.

Three are known: a double yakuman written as a single one, though it is paid double; deltas that omit a riichi stick,
though the scores of the next round include it; and a call that names a seat other than the one that has just discarded
the tile (jansou 0.14.0). The rules agree with the rest of such a record, so it is the record that contradicts itself.

Also counted is a game of Tenhou that goes on although a leading dealer is tenpai in the last round: games of March 2009
do, under a rule of that time, but no later ones.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.mjai.messages import Message
from engine.rules import RIICHI_STICK
from engine.scoring.yaku import YAKUMAN_HAN

_WORTH = frozenset({"yakus", "fan"})
_PAYMENTS = frozenset({"deltas", "scores"})
PLAYS_ON = "the dealer was top and tenpai in the last round, which ends the game; Tenhou's of March 2009 went on"


class Denial(NamedTuple):
    """The keys of an event that the rest of the record contradicts, and what it says elsewhere."""

    keys: list[str]
    elsewhere: str


def find_denial(recorded: Message, ours: Message, keys: list[str], scores_after: list[int] | None) -> Denial | None:
    """Return how a record contradicts an event of its own that differs from the rules; None if it does not.

    `keys`: those in which `recorded` and `ours`, by the rules, differ. `scores_after`: the record's scores after the
    round, if they agree with the rules.
    """
    differing = set(keys)
    if recorded["type"] in ("pon", "daiminkan") and differing == {"target"}:
        return Denial(keys, f"the tile is the discard of seat {ours['target']} just before")
    if recorded["type"] not in ("hora", "ryukyoku") or not differing <= _WORTH | _PAYMENTS:
        return None
    denials = []
    if differing & _WORTH:
        # These keys of the record agree with the rules, or are contradicted below by the scores after the round.
        is_paid = "hora_points" in recorded or "deltas" in recorded or scores_after is not None
        if not is_paid or not _is_yakuman_of_another_multiple(recorded, ours):
            return None
        denials.append(f"it pays the {ours['hora_points']:,} points of {ours['fan'] // YAKUMAN_HAN} yakuman")
    if differing & _PAYMENTS:
        if scores_after is None or not _lacks_sticks(recorded, ours):
            return None
        denials.append(f"the scores after the round, {scores_after}, are those of deltas {ours['deltas']}")
    shown = [key for key in keys if key in ("yakus", "deltas")] or keys
    return Denial(shown, ", and ".join(denials))


def _lacks_sticks(recorded: Message, ours: Message) -> bool:
    """Return whether the deltas differ only by riichi sticks."""
    pairs = zip(recorded.get("deltas") or ours["deltas"], ours["deltas"], strict=True)
    return all((theirs - mine) % RIICHI_STICK == 0 for theirs, mine in pairs)


def _is_yakuman_of_another_multiple(recorded: Message, ours: Message) -> bool:
    """Return whether the yaku have the same names and are all yakuman, some counted once instead of twice."""
    theirs, mine = dict(map(tuple, recorded.get("yakus", []))), dict(map(tuple, ours.get("yakus", [])))
    all_yakuman = all(han % YAKUMAN_HAN == 0 for han in [*theirs.values(), *mine.values()])
    return bool(theirs) and theirs.keys() == mine.keys() and all_yakuman


def plays_on_after_tenpai(events: list[Message]) -> bool:
    """Return whether a game that should be over by the rules ends with a draw with the dealer tenpai and top.

    Judged by the record's own data on that draw.
    """
    dealer = next(event["oya"] for event in reversed(events) if event["type"] == "start_kyoku")
    draw = next(event for event in reversed(events) if event["type"] in ("ryukyoku", "hora", "start_kyoku"))
    if draw["type"] != "ryukyoku" or not draw.get("tenpais") or not draw.get("scores"):
        return False
    return bool(draw["tenpais"][dealer]) and draw["scores"][dealer] == max(draw["scores"]) and min(draw["scores"]) >= 0
