"""Limits of packed numbers: a table that outgrows its bits is refused at import."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import events, wall
from engine.scoring import hand, yaku


def run(source: str, name: str) -> None:
    """Execute the source of a module, as its import does."""
    exec(compile(source, name, "exec"), {"__name__": name})


def events_source(*added: str, rows: int | None = None) -> str:
    """The source of engine/events.py with more event types, and with rows for as many of them (by default all)."""
    source = Path(events.__file__).read_text(encoding="utf-8")
    changed = source.replace("END_GAME,\n)", f"END_GAME, {', '.join(added)}\n)")
    lines = [f'    EventType({name}, "{name.lower()}", 0, False, False, 1),\n' for name in added[:rows]]
    changed = changed.replace(")\nif [row.number", f"{''.join(lines)})\nif [row.number")
    return changed.replace(f"N_TYPES = {events.N_TYPES}", f"N_TYPES = {events.N_TYPES + len(added)}")


def test_sixteen_event_types_fit() -> None:
    run(events_source("ONE_MORE"), "events")


def test_an_event_type_without_a_row_is_refused() -> None:
    with pytest.raises(ImportError, match=r"TYPES of engine/events\.py needs one row for each of the 16 event types"):
        run(events_source("ONE_MORE", rows=0), "events")


def test_more_event_types_than_four_bits_hold_are_refused() -> None:
    with pytest.raises(ImportError, match=r"17 event types do not fit into the 4 bits .* widen .* engine/events\.py"):
        run(events_source("ONE_MORE", "TWO_MORE"), "events")


def test_more_events_than_the_log_of_a_round_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code would write beyond the end of the log."""
    added = events.EventType(events.N_TYPES, "chi", 2, True, True, 12)
    monkeypatch.setattr(events, "TYPES", (*events.TYPES, added))
    with pytest.raises(ImportError, match=r"a round may have 178 events .* raise MAX_LOG of engine/table\.py"):
        run(Path(wall.__file__).read_text(encoding="utf-8"), "wall")


def with_yaku(monkeypatch: pytest.MonkeyPatch, number: int, closed: int) -> str:
    """Add a yaku to the table; the source of engine/scoring/hand.py."""
    added = yaku.Yaku(number, "new yaku", "shin", "新", 99, closed, 0)
    monkeypatch.setattr(yaku, "YAKU", (*yaku.YAKU, added))
    return Path(hand.__file__).read_text(encoding="utf-8")


def test_an_ordinary_yaku_beyond_the_sums_of_han_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    source = with_yaku(monkeypatch, number=46, closed=2)
    with pytest.raises(ImportError, match=r"yaku 46 \(new yaku\) is greater than 30, .* renumber it"):
        run(source, "hand")


def test_a_yakuman_may_have_any_number(monkeypatch: pytest.MonkeyPatch) -> None:
    run(with_yaku(monkeypatch, number=46, closed=13), "hand")
