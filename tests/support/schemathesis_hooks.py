"""What Schemathesis cannot find in the document. It imports this module."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import strategies as st

EVEN = [35_000, 35_000, 35_000]

# A cursor that is valid for every list: the first page. Others are valid for one list in one order.
schemathesis.openapi.format("cursor", st.just(""))


@schemathesis.hook
def filter_body(context: object, body: Any) -> bool:
    """Leave out two kinds of bodies that the document allows and the API does not.

    JSON Schema calls 2.0 an integer, and cannot say that starting scores add up to 105,000.
    """
    settings = body.get("settings") if isinstance(body, dict) else None
    if not isinstance(settings, dict):
        return True
    scores = settings.get("scores")
    if isinstance(scores, list) and scores != EVEN:
        return False
    return not any(isinstance(value, float) and value.is_integer() for value in settings.values())
