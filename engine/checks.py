"""Checks of the numbers that callers pass from Python, with one-line error messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Integral, Real
from sys import float_info

from engine.common.error_text import error_text
from engine.rules import N_SEATS, TOTAL_POINTS, Scores
from engine.seeds import MAX_SEED

_SEED = "an integer from 0 to 2^64 - 1"
_SCORES = re.compile(r"(\d{1,6}), ?(\d{1,6}), ?(\d{1,6})", re.ASCII)
_SEAT = "0, 1 or 2"


def whole_number(value: object, what: str, accepted: str, greatest: int, least: int = 0) -> int:
    """Return `value` as an int from `least` to `greatest`; NumPy integers are accepted, booleans are not.

    `what` and `accepted` describe the number in messages. Raises TypeError if `value` is not an integer, ValueError if
    it is out of range.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{what} must be {accepted}, not {value!r}")
    number = int(value)
    if not least <= number <= greatest:
        raise ValueError(f"{what} must be {accepted}, not {number}")
    return number


def positive_number(value: object, what: str, accepted: str = "a positive number") -> float:
    """Return `value` as a finite float above 0; integers and NumPy numbers are accepted, booleans are not.

    `what` and `accepted` as for `whole_number`. Raises TypeError if `value` is not a number, ValueError if it is out of
    range.
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{what} must be {accepted}, not {value!r}")
    if value <= 0 or not value <= float_info.max:
        raise ValueError(f"{what} must be {accepted}, not {value!r}")
    return float(value)


def check_seat(seat: object) -> int:
    """Return `seat` as an int. Raises TypeError or ValueError if there is no such seat."""
    return whole_number(seat, "seat", _SEAT, N_SEATS - 1)


def check_seed(seed: object) -> int:
    """Return `seed` as an int. Raises TypeError or ValueError if it is not a valid seed."""
    return whole_number(seed, "seed", _SEED, MAX_SEED)


def check_scores(scores: object) -> Scores:
    """Return `scores` as the starting points of the three seats.

    They must add up to the total of an even start, so that the sum of points and riichi sticks is the same in every
    game. Raises TypeError if `scores` is not a sequence of integers, ValueError if a game cannot start with these
    scores.
    """
    if not isinstance(scores, Iterable) or isinstance(scores, str):
        raise TypeError(f"scores must be three integers, such as (25000, 35000, 45000), not {scores!r}")
    accepted = f"a multiple of 100 from 0 to {TOTAL_POINTS}"
    checked = tuple(whole_number(score, "a starting score", accepted, TOTAL_POINTS) for score in scores)
    if len(checked) != N_SEATS:
        raise ValueError(f"scores must be three, one for each seat, not {len(checked)}: {checked!r}")
    for score in checked:
        if score % 100:
            raise ValueError(f"a starting score must be {accepted}, not {score}")
    if sum(checked) != TOTAL_POINTS:
        what = "starting scores must add up to {total}, not {n}: {scores}"
        raise ValueError(error_text("scores_total", what, total=TOTAL_POINTS, n=sum(checked), scores=repr(checked)))
    first, second, third = checked
    return first, second, third


def scores_in(text: str, separator: str = ",") -> Scores:
    """Parse starting scores such as ``25000,35000,45000``, or with another separator. Raises ValueError otherwise."""
    found = _SCORES.fullmatch(text.replace(separator, ","))
    if found is None:
        raise ValueError(f"give three numbers of points, as in {separator.join(('25000', '35000', '45000'))}")
    return check_scores([int(score) for score in found.groups()])
