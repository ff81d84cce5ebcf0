"""What Schemathesis cannot find in the document. It imports this module."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import strategies as st

# A cursor that is valid for every list: the first page. Others are valid for one list in one order.
schemathesis.openapi.format("cursor", st.just(""))


@schemathesis.hook
def filter_body(context: object, body: Any) -> bool:
    """Leave out bodies with a whole number written as 2.0: JSON Schema calls it an integer, the API does not."""
    settings = body.get("settings") if isinstance(body, dict) else None
    values = settings.values() if isinstance(settings, dict) else ()
    return not any(isinstance(value, float) and value.is_integer() for value in values)
