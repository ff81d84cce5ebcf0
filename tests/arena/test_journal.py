"""The journal of an unfinished run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arena.chunk import Chunk
from arena.journal import Journal, OtherRunError, run_identity
from arena.schedule import Settings
from arena.statistics import N_COUNTS

SETTINGS = Settings(("random", "random", "tsumogiri"), 30, 0, "tenhou", "east")
IDENTITY = run_identity(SETTINGS, None)


def chunk(walls: list[int]) -> Chunk:
    """A chunk with counts of its own."""
    shape = (len(walls), 3, 3, N_COUNTS)
    return Chunk(walls, np.random.default_rng(walls[0]).integers(-50_000, 50_000, shape, dtype=np.int32), decisions=7)


def found(path: Path) -> list[list[int]]:
    """Walls of the chunks in a journal, their counts checked."""
    journal = Journal(path, IDENTITY)
    for kept in journal.found:
        assert np.array_equal(kept.counts, chunk(kept.walls).counts)
        assert kept.counts.dtype == np.int32
    return [kept.walls for kept in journal.found]


def test_chunks_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "a.partial"
    assert found(path) == []
    journal = Journal(path, IDENTITY)
    journal.append(chunk([3, 4]))
    journal.append(chunk([0, 1]))
    assert found(path) == [[3, 4], [0, 1]]
    journal.remove()
    assert not path.exists()


@pytest.mark.parametrize("cut", [1, 2, 100])
def test_a_line_cut_off_is_dropped_and_the_journal_goes_on(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.partial"
    journal = Journal(path, IDENTITY)
    journal.append(chunk([0]))
    journal.append(chunk([1]))
    path.write_bytes(path.read_bytes()[:-cut])
    reopened = Journal(path, IDENTITY)
    assert [kept.walls for kept in reopened.found] == [[0]]
    reopened.append(chunk([2]))
    assert found(path) == [[0], [2]]


def test_a_journal_cut_off_in_its_first_line_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.partial"
    Journal(path, IDENTITY)
    path.write_bytes(path.read_bytes()[:-5])
    Journal(path, IDENTITY).append(chunk([1]))
    assert found(path) == [[1]]


def test_the_journal_of_another_run_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.partial"
    Journal(path, IDENTITY).append(chunk([1]))
    before = path.read_bytes()
    for other, what in [
        (run_identity(replace(SETTINGS, seed=1, rules="majsoul"), None), "rules, seed"),
        (run_identity(SETTINGS, tmp_path), "save"),
        (IDENTITY | {"sources": "other"}, "sources"),
    ]:
        with pytest.raises(OtherRunError, match=f"with other {what}:"):
            Journal(path, other)
    assert path.read_bytes() == before


def test_a_file_that_is_no_journal_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.partial"
    path.write_text("my notes\nmore of them\n")
    with pytest.raises(OtherRunError, match="no journal"):
        Journal(path, IDENTITY)
    assert path.read_text() == "my notes\nmore of them\n"
