"""What Schemathesis cannot find in the document: a cursor that is valid for every list. It imports this module."""

from __future__ import annotations

import schemathesis
from hypothesis import strategies as st

schemathesis.openapi.format("cursor", st.just(""))  # the first page; others are valid for one list in one order
