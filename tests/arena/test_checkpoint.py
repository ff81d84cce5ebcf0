"""The checkpoint of an interrupted run."""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib
from dataclasses import replace
from errno import ENOTSUP
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents.bot_files import digest_of_weights
from arena.bot_games import N_COUNTS
from arena.checkpoint import Checkpoint, run_identity
from arena.chunk import ChunkResult
from arena.schedule import RunSettings
from arena.tallies.counts import N_TALLIES
from arena.tallies.observer import MAX_BYTES, pack
from engine.common.line_file import ResumeError

SETTINGS = RunSettings(("random", "random", "tsumogiri"), 30, 0, "tenhou", "east")
IDENTITY = run_identity(SETTINGS, None)


def chunk(walls: list[int]) -> ChunkResult:
    """A chunk with random counts that depend on its first wall."""
    shape = (len(walls), 3, 3, N_COUNTS)
    return ChunkResult(
        walls, np.random.default_rng(walls[0]).integers(-50_000, 50_000, shape, dtype=np.int32), decisions=7
    )


def resumed(path: Path) -> list[list[int]]:
    """The walls of the chunks in a checkpoint; their counts are checked."""
    chunks: list[ChunkResult] = []
    Checkpoint(path, IDENTITY, chunks.append)
    for kept in chunks:
        assert np.array_equal(kept.counts, chunk(kept.walls).counts)
        assert kept.counts.dtype == np.int32
    return [kept.walls for kept in chunks]


def opened(path: Path, identity: dict[str, Any] = IDENTITY) -> Checkpoint:
    """A checkpoint, whatever chunks it has."""
    return Checkpoint(path, identity, lambda chunk: None)


def test_chunks_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.partial"
    assert resumed(path) == []
    checkpoint = opened(path)
    checkpoint.append(chunk([3, 4]))
    checkpoint.append(chunk([0, 1]))
    del checkpoint
    assert resumed(path) == [[3, 4], [0, 1]]
    opened(path).delete()
    assert not path.exists()


def test_one_process_at_a_time_writes_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "a.partial"
    checkpoint = opened(path)
    checkpoint.append(chunk([0]))
    with path.open("ab") as file:
        file.write(b'{"walls":[1],')  # it is just being written
    before = path.read_bytes()
    with pytest.raises(
        ValueError, match=r"^another process is writing .*a\.partial: wait for it, or name another file"
    ):
        opened(path)
    assert path.read_bytes() == before
    del checkpoint
    assert resumed(path) == [[0]]


def test_a_file_system_without_locks_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(ENOTSUP, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", refuse)
    opened(tmp_path / "a.partial").append(chunk([0]))
    assert resumed(tmp_path / "a.partial") == [[0]]


@pytest.mark.parametrize("walls", [[0], [2, 1]])
def test_a_wall_that_is_finished_twice_is_refused(tmp_path: Path, walls: list[int]) -> None:
    """Its games would be counted twice."""
    path = tmp_path / "a.partial"
    checkpoint = opened(path)
    checkpoint.append(chunk([0, 1]))
    checkpoint.append(chunk(walls))
    del checkpoint
    with pytest.raises(ResumeError, match="is damaged"):
        opened(path)


def test_a_folder_agents_of_the_user_is_none_of_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agents, "__path__", [str(tmp_path), *agents.__path__])
    assert run_identity(SETTINGS, None) == IDENTITY


@pytest.mark.parametrize("cut", [1, 2, 100])
def test_an_incomplete_last_line_is_dropped(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.partial"
    checkpoint = opened(path)
    checkpoint.append(chunk([0]))
    checkpoint.append(chunk([1]))
    del checkpoint
    path.write_bytes(path.read_bytes()[:-cut])
    assert resumed(path) == [[0]]
    opened(path).append(chunk([2]))
    assert resumed(path) == [[0], [2]]


def test_a_checkpoint_with_an_incomplete_first_line_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.partial"
    opened(path)
    path.write_bytes(path.read_bytes()[:-5])
    opened(path).append(chunk([1]))
    assert resumed(path) == [[1]]


def test_the_checkpoint_of_another_run_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.partial"
    opened(path).append(chunk([1]))
    before = path.read_bytes()
    for other, what in [
        (run_identity(replace(SETTINGS, seed=1, rules="majsoul"), None), "rules, seed"),
        (run_identity(SETTINGS, tmp_path), "save"),
        (IDENTITY | {"sources": "other"}, "sources"),
    ]:
        with pytest.raises(ResumeError, match=f"with different {what}:"):
            opened(path, other)
    assert path.read_bytes() == before


def test_a_file_that_is_no_checkpoint_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.partial"
    path.write_text("my notes\nmore of them\n")
    with pytest.raises(ResumeError, match="is damaged"):
        opened(path)
    assert path.read_text() == "my notes\nmore of them\n"


def test_bundled_weights_belong_to_a_run() -> None:
    assert digest_of_weights() in IDENTITY["sources"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("walls", [0, 10]),
        ("walls", [0, -1]),
        ("walls", [0, 0]),
        ("walls", [0, True]),
        ("counts", 0),
        ("luck", [0.0]),
        ("tallies", pack(np.zeros((1, 3, N_TALLIES), np.int32))[:-5]),
        ("tallies", base64.b85encode(zlib.compress(bytes(MAX_BYTES + 12), 1)).decode()),
        ("faults", 1),
    ],
)
def test_a_forged_chunk_is_one_error(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "a.partial"
    opened(path).append(chunk([0, 1]))
    header, line = path.read_text().splitlines()
    path.write_text(f"{header}\n{json.dumps(json.loads(line) | {key: value})}\n")
    with pytest.raises(ResumeError, match="is damaged"):
        opened(path)


def test_resumed_chunks_are_not_all_in_memory(tmp_path: Path) -> None:
    path, tallies = tmp_path / "a.partial", np.zeros((200, 3, N_TALLIES), np.int32)
    identity = run_identity(replace(SETTINGS, games=120), None)
    checkpoint = opened(path, identity)
    for wall in range(40):
        checkpoint.append(replace(chunk([wall]), tallies=tallies))
    del checkpoint
    tracemalloc.start()
    opened(path, identity)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * tallies.nbytes
