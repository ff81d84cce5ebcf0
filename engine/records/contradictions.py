"""What a record denies elsewhere: the slips of programs that write and convert records.

Three are known: a double yakuman that is written as a yakuman, though what is paid is that of two; deltas that leave
out a riichi stick, though the scores of the next round have it; and a call that names another seat than the one that
has just discarded the tile (jansou 0.14.0). The rules agree with the rest of such a record, so it is the record that
contradicts itself.

Counted with them is a game of Tenhou that goes on though a leading dealer is tenpai in the last round: those of March
2009 do, by a rule of that time, and no later one.
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
    """The keys of an event that the record denies, and what it has elsewhere."""

    keys: list[str]
    elsewhere: str


def find_denial(recorded: Message, ours: Message, keys: list[str], scores_after: list[int] | None) -> Denial | None:
    """How a record denies its own event where that differs from the rules; None if it does not.

    `keys`: those in which `recorded` and `ours`, by the rules, differ. `scores_after`: what the record itself has after
    the round, if that is what the rules say.
    """
    differing = set(keys)
    if recorded["type"] in ("pon", "daiminkan") and differing == {"target"}:
        return Denial(keys, f"the tile is the discard of seat {ours['target']} just before")
    if recorded["type"] not in ("hora", "ryukyoku") or not differing <= _WORTH | _PAYMENTS:
        return None
    denials = []
    if differing & _WORTH:
        # What the record has of these agrees with the rules, or is denied below by the scores after the round.
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
    """Whether the deltas differ by riichi sticks alone."""
    pairs = zip(recorded.get("deltas") or ours["deltas"], ours["deltas"], strict=True)
    return all((theirs - mine) % RIICHI_STICK == 0 for theirs, mine in pairs)


def _is_yakuman_of_another_multiple(recorded: Message, ours: Message) -> bool:
    """Whether the yaku have the same names and are all yakuman, of which some count once in place of twice."""
    theirs, mine = dict(map(tuple, recorded.get("yakus", []))), dict(map(tuple, ours.get("yakus", [])))
    all_yakuman = all(han % YAKUMAN_HAN == 0 for han in [*theirs.values(), *mine.values()])
    return bool(theirs) and theirs.keys() == mine.keys() and all_yakuman


def plays_on_after_tenpai(events: list[Message]) -> bool:
    """Whether the events of a game, which the rules end there, end with a draw at which the dealer was tenpai and top.

    By what the record has of that draw itself.
    """
    dealer = next(event["oya"] for event in reversed(events) if event["type"] == "start_kyoku")
    draw = next(event for event in reversed(events) if event["type"] in ("ryukyoku", "hora", "start_kyoku"))
    if draw["type"] != "ryukyoku" or not draw.get("tenpais") or not draw.get("scores"):
        return False
    return bool(draw["tenpais"][dealer]) and draw["scores"][dealer] == max(draw["scores"]) and min(draw["scores"]) >= 0
