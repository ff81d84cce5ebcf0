"""Archives of real records, as people have them."""

from __future__ import annotations

import bz2
import gzip
import io
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import zstandard

from tests.conftest import DATA

RECORDS = DATA / "records"
XML = RECORDS / "phoenix_2018_1.xml"
Contents = dict[str, bytes]


def real_records() -> Contents:
    """All real records by their names, sorted."""
    return {path.name: path.read_bytes() for path in sorted(RECORDS.iterdir())}


def tar_of(contents: Contents) -> bytes:
    """A tar."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, data in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def zip_of(contents: Contents) -> bytes:
    """A zip."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return stream.getvalue()


ARCHIVES: dict[str, Callable[[Contents], bytes]] = {
    "a.zip": zip_of,
    "a.tar": tar_of,
    "a.tgz": lambda contents: gzip.compress(tar_of(contents)),
    "a.tar.bz2": lambda contents: bz2.compress(tar_of(contents)),
    "a.tar.zst": lambda contents: zstandard.compress(tar_of(contents)),
}


def write_archive(folder: Path, name: str, contents: Contents) -> Path:
    """Write one of `ARCHIVES`."""
    path = folder / name
    path.write_bytes(ARCHIVES[name](contents))
    return path


def log_id(day: str, go_type: int = 0xB9, number: int = 1) -> str:
    """A log id of Tenhou; `day` like 20180131."""
    return f"{day}12gm-{go_type:04x}-0000-{number:08x}"


# The tables as the two programs make them; the columns that are not needed are theirs, too.
HOUOU = """CREATE TABLE logs (id TEXT PRIMARY KEY, date TEXT NOT NULL, num_players INTEGER NOT NULL,
    is_tonpu INTEGER NOT NULL, is_processed INTEGER NOT NULL, was_error INTEGER NOT NULL, log BLOB) WITHOUT ROWID"""
PHOENIX = """CREATE TABLE logs (log_id text primary key, date text, is_tonpusen int, is_sanma int, is_processed int,
    was_error int, log_content text, log_hash text)"""


def houou_logs(path: Path, logs: dict[str, bytes | None]) -> Path:
    """A database of houou-logs; None: not downloaded yet."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(HOUOU)
        for each, log in logs.items():
            stored = None if log is None else gzip.compress(log)
            database.execute("INSERT INTO logs VALUES (?, '2018-01-31T12:00', 3, 0, 1, 0, ?)", (each, stored))
    return path


def phoenix_logs(path: Path, logs: dict[str, bytes | None]) -> Path:
    """A database of phoenix-logs; None: not downloaded yet."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(PHOENIX)
        for each, log in logs.items():
            stored = "" if log is None else bz2.compress(log)
            database.execute("INSERT INTO logs VALUES (?, '2018-01-31 12:00', 0, 1, 1, 0, ?, '')", (each, stored))
    return path
