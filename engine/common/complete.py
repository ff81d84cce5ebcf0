"""The check, at import, that a place has something for every row of a table that is kept elsewhere."""

from __future__ import annotations

from collections.abc import Iterable


def require_rows(place: str, rows: Iterable[str], wanted: Iterable[str], table: str) -> None:
    """Raise ImportError, which names `place`, unless its `rows` are those `wanted`: the names in `table`.

    >>> require_rows("WORDS of words.py", ["pon"], ["pon", "chi"], "REPLIES of schema.py")
    Traceback (most recent call last):
    ...
    ImportError: WORDS of words.py has no row for 'chi' of REPLIES of schema.py: add it
    """
    there, needed = set(rows), set(wanted)
    if missing := sorted(needed - there):
        raise ImportError(f"{place} has no row for {', '.join(map(repr, missing))} of {table}: add it")
    if odd := sorted(there - needed):
        raise ImportError(f"{place} has a row for {', '.join(map(repr, odd))}, but {table} has none")
