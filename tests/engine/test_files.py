"""Atomic file writes."""

from __future__ import annotations

import os
from errno import ENOSPC
from os import strerror
from pathlib import Path

import pytest

from engine.common.files import naming, write_atomically


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"before")
    with write_atomically(path) as file:
        file.write(b"after")
        file.flush()
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"before")

    def interrupted() -> None:
        with write_atomically(path) as file:
            file.write(b"after")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_just_after_the_file_was_replaced_is_no_other_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Path.replace

    def replaced(path: Path, target: Path) -> Path:
        original(path, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", replaced)
    with pytest.raises(KeyboardInterrupt), write_atomically(tmp_path / "a.json") as file:
        file.write(b"after")
    assert (tmp_path / "a.json").read_bytes() == b"after"


def test_a_folder_of_that_name_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(IsADirectoryError) as raised, write_atomically(tmp_path / "a.json"):
        pass
    assert raised.value.filename == str(tmp_path / "a.json")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_folder_that_does_not_exist_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "no" / "a.json"
    with pytest.raises(FileNotFoundError) as raised, write_atomically(path):
        pass
    assert raised.value.filename == str(path)
    with pytest.raises(OSError, match=r"File name too long: '.*/x+'$"), write_atomically(tmp_path / ("x" * 255)):
        pass


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(OSError, match=r"No space left on device: '.*a\.json'"), write_atomically(path):
        raise OSError(ENOSPC, strerror(ENOSPC))
    with pytest.raises(OSError, match=r"5 requested and 3 written: '.*a\.json'"), naming(path):
        raise OSError("5 requested and 3 written")
    with pytest.raises(FileNotFoundError, match="other"), naming(path):
        (tmp_path / "other").read_bytes()


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with write_atomically(path) as file:
        file.write(b"through it")
    assert os.read(reader, 100) == b"through it"
    os.close(reader)
    assert path.is_fifo()
    assert list(tmp_path.iterdir()) == [path]
