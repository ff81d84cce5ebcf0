"""Numbers as the pages write them."""

from decimal import ROUND_HALF_UP, Decimal


def number(value: float, digits: int = 0) -> str:
    """A number with some digits after the point.

    As browsers do, a half is rounded away from zero; Python's formats round it to the even digit.
    """
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{rounded:,}".replace("-", "−")


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign; 0 has none."""
    return ("+" if value > 0 else "") + number(value, digits)


def percent(share: float) -> str:
    """A share of 1, with one digit after the point."""
    rounded = (100 * Decimal(repr(share))).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{rounded:,}%"
