"""Archives and records that were made to do harm: they are named, in bounded memory and time, and harm nothing."""

from __future__ import annotations

import bz2
import json
import os
import sqlite3
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic

import pytest
import zstandard

from engine.cli import main
from engine.common.line_file import LineFile
from engine.records.archives import members
from engine.records.files import encode_record, parse_record, read_records
from engine.records.filters import Filters
from engine.records.model import RecordError
from engine.records.options import FORMATS
from engine.records.packing import Names, ZipWriter, writer_for
from engine.records.replay import Replay
from engine.records.stream import Item, select_record
from engine.records.validate import Report
from tests.support.archives import XML, tar_of, zip_of

MIB = 1 << 20
ESCAPE = "\x1b]0;x\x07"  # sets the title of a terminal


@contextmanager
def at_most(mib: int, seconds: float) -> Iterator[None]:
    """The block takes no more memory and time."""
    start = monotonic()
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < mib * MIB
    finally:
        tracemalloc.stop()
    assert monotonic() - start < seconds


def only_record(path: Path) -> bytes:
    """The bytes of the one record of an archive."""
    (data,) = [member.read() for member in members([path])]
    return data


def zip_that_lies(method: int, packed: bytes, size: int) -> bytes:
    """A zip with one record of `size` bytes, as it says."""
    name = b"a.json"
    common = (0, method, 0, 33, 0, len(packed), size, len(name), 0)
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, *common) + name
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, *common, 0, 0, 0, 0, 0) + name
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(local) + len(packed), 0)
    return local + packed + entry + end


PACKERS = {zipfile.ZIP_DEFLATED: partial(zlib.compress, level=1, wbits=-15), zipfile.ZIP_BZIP2: bz2.compress}


@pytest.mark.parametrize("method", PACKERS)
def test_a_zip_that_lies_about_sizes_takes_no_memory(method: int, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zip_that_lies(method, PACKERS[method](bytes(50 * MIB)), 1000))
    with at_most(8, 10), pytest.raises(RecordError, match=r"damaged in the archive|by another method"):
        only_record(path)


def test_members_of_a_zip_do_not_share_their_data(tmp_path: Path) -> None:
    """A list of contents may name the same data a thousand times."""
    data = zip_of({"a.json": os.urandom(1000)})
    central, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entries = data[central:end] * 1000
    tail = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1000, 1000, len(entries), central, 0)
    path = tmp_path / "a.zip"
    path.write_bytes(data[:central] + entries + tail)
    *before, last = members([path])
    assert len(before) < 100
    with pytest.raises(RecordError, match="its records together are larger than the file"):
        last.read()


def pax(name: str, records: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    """A header of a tar with pax records."""
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(records)
    return info.tobuf() + records + bytes(-len(records) % 512)


def sparse_header() -> bytes:
    """The header of an old sparse file of GNU tar, and megabytes of the list of its parts."""
    block = bytearray(tarfile.TarInfo("a.json").tobuf(tarfile.GNU_FORMAT))
    block[156:157] = tarfile.GNUTYPE_SPARSE
    block[482] = 1  # its list goes on in the next block
    block[148:156] = b"%06o\0 " % (sum(block[:148]) + 8 * 32 + sum(block[156:]))
    part = b"%011o " % 1
    return bytes(block) + (part * 42 + b"\1" + bytes(7)) * (16 * MIB // 512)


@pytest.mark.parametrize(
    "data",
    [
        sparse_header(),
        pax("x", b"9" * MIB),
        pax("x", b"".join(b"%d %d=%s\n" % (1000, i, b"v" * 980) for i in range(2000)), tarfile.XGLTYPE),
        b"".join(pax("x", b"12 a=bcdefg\n", tarfile.XGLTYPE) for _ in range(10_000)),
    ],
    ids=["sparse", "digits", "pax", "chain"],
)
def test_headers_of_a_tar_are_bounded(data: bytes, tmp_path: Path) -> None:
    """`tarfile` would keep them all, or search them for a minute and more."""
    path = tmp_path / "a.tar.zst"
    path.write_bytes(zstandard.compress(data + tar_of({"b.json": b"{}"})))
    with at_most(8, 5), pytest.raises(RecordError, match="a header of"):
        only_record(path)


def database(path: Path, *statements: str, schema: str = "") -> Path:
    """A database; `schema`: what its schema says of the table logs."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        if schema:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'logs'", (schema,))
    return path


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.mark.parametrize(
    "schema",
    [
        f"CREATE VIEW logs AS {ENDLESS} SELECT i AS id, '' AS log FROM n",
        "CREATE VIEW logs(id, log) AS SELECT 1, zeroblob(900000000)",
        "CREATE TABLE logs(id, log GENERATED ALWAYS AS (hex(zeroblob(id * 400000000))))",
        "CREATE VIRTUAL TABLE logs USING fts5(id, log)",
    ],
)
def test_what_is_no_table_in_a_database_is_not_run(schema: str, tmp_path: Path) -> None:
    """Though its schema says that it is a table."""
    path = database(tmp_path / "a.db", "CREATE TABLE logs(id, log)", "INSERT INTO logs VALUES (1, 'x')", schema=schema)
    with at_most(8, 10), pytest.raises(RecordError):
        only_record(path)


@pytest.mark.slow
def test_columns_that_compute_are_not_read(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a.db",
        "CREATE TABLE logs(id, log, log_content GENERATED ALWAYS AS (hex(zeroblob(id * 400000000))))",
        "INSERT INTO logs(id, log) VALUES (1, 'x')",
    )
    assert only_record(path) == b"x"


def test_rows_of_a_database_are_not_endless(tmp_path: Path) -> None:
    """A page of rows that is in the tree again and again: a few kilobytes hold more rows than anybody has."""
    path = database(tmp_path / "a.db", "PRAGMA page_size = 512", "CREATE TABLE logs(id, log)")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany("INSERT INTO logs VALUES (?, ?)", [(str(i), "x" * 450) for i in range(60)])
    data = path.read_bytes()
    root = bytearray(data[512:1024])
    assert root[0] == 5  # of a page of other pages
    n = int.from_bytes(root[3:5], "big")
    cells = [int.from_bytes(root[12 + 2 * i : 14 + 2 * i], "big") for i in range(n)]
    leaf = bytes(root[cells[0] : cells[0] + 4])
    assert int.from_bytes(leaf, "big") == 3
    for cell in (8, *cells):
        root[cell : cell + 4] = leaf
    path.write_bytes(data[:28] + leaf + data[32:512] + root + data[1024:1536])  # the three pages that are left
    *before, last = members([path])
    assert 1 < len(before) < 5
    with pytest.raises(RecordError, match="its records together are larger than the file"):
        last.read()


def test_names_fit_into_every_file_system(tmp_path: Path) -> None:
    given = Names(".mjson")
    names = ["牌" * 300 + ".json", "a/" * 3000 + "b.json", "x.json", "x.mjson/y.json", "X.MJSON/y.json"]
    made = [given.of(name) for name in names]
    assert len(set(made)) == len(names)
    writer = writer_for(tmp_path / "out")(tmp_path / "out", 0)
    for name in made:
        writer.add(name, b"x")
    assert len([each for each in (tmp_path / "out").rglob("*") if each.is_file()]) == len(names)
    assert all(len(part.encode()) < 255 for name in made for part in name.split("/"))


def test_an_archive_that_was_cut_is_not_continued(tmp_path: Path) -> None:
    (tmp_path / "a.partial").write_bytes(b"x" * 100)
    for open_writer in (ZipWriter, writer_for(Path("a.tar"))):
        with pytest.raises(ValueError, match="shorter than it was"):
            open_writer(tmp_path / "a.partial", 1000)
    assert (tmp_path / "a.partial").stat().st_size == 100


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "{}",
        '{"done": -1}',
        '{"done": "x", "counts": {}}',
        '{"done": 1, "counts": {"n_records": []}}',
        "9" * 5000,
    ],
)
def test_a_forged_checkpoint_is_one_error(line: str, tmp_path: Path) -> None:
    LineFile(tmp_path / "j", {})
    with (tmp_path / "j").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ValueError, match="is damaged, or no checkpoint: delete it to begin anew"):
        LineFile(tmp_path / "j", {}).last({"done": 0, "counts": Report().counts()})


def hostile_records() -> dict[str, bytes]:
    """Records that can be read in part, with what no honest record has."""
    events = [json.loads(line) for line in encode_record(read_records(XML), "a.mjson").splitlines()]

    def changed(number: int, **keys: object) -> bytes:
        lines = [event | keys if i == number else event for i, event in enumerate(events)]
        return "\n".join(map(json.dumps, lines)).encode()

    without = [{key: value for key, value in event.items() if key != "honba"} for event in events]
    return {
        "half_a_character": changed(0, names=["\ud800", "b", "c"]),
        "no_honba": "\n".join(map(json.dumps, without)).encode(),
        "infinite_points": changed(len(events) - 1, points=[float("inf")] * 3),
        "escape_in_an_event": changed(2, type=ESCAPE),
        "escape_in_a_key": changed(3, tsumogiri=ESCAPE, pai="1m"),
        "escape_in_a_name": changed(0, names=[ESCAPE, "b", "c"]),
        "long": changed(1, bakaze="E" * 100_000),
        "deep": b"[" * 100_000,
        "rates": changed(0, tenhou={"rate": [10**400] * 3, "title": ESCAPE}),
        "rate": changed(0, tenhou={"rate": {"x": 1}}),
        "U+2028": changed(0, names=["\u2028", "b", "c"]),
    }


def test_odd_records_cost_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.zip"
    hostile = {f"{name}.mjson": data for name, data in hostile_records().items()}
    path.write_bytes(zip_of(hostile | {"b.xml": XML.read_bytes()}))
    for command in (
        ["convert", str(path), "--out", str(tmp_path / "rated"), "--rate", "0"],
        ["validate", str(path)],
        *(["convert", str(path), "--out", str(tmp_path / form), "--format", form] for form in FORMATS[::2]),
        *(["show", f"{path}:{name}"] for name in hostile),
    ):
        assert main(command) in (0, 1)
    printed = "".join(capsys.readouterr())
    assert all(line.isprintable() and len(line) < 3000 for line in printed.replace("\u2028", "").split("\n"))
    for form in FORMATS[::2]:
        assert (tmp_path / form / f"b.{form}").is_file()


@pytest.mark.parametrize("name", ["rates", "rate"])
def test_filters_leave_out_odd_heads(name: str) -> None:
    item = Item("a", Path("a"), None, 0, hostile_records()[name])
    try:
        found = select_record(item, Filters(rate=1.0))
    except RecordError:
        found = None
    assert found is None


def test_mismatches_can_be_printed() -> None:
    replay = Replay(parse_record(hostile_records()["escape_in_a_key"], f"a{ESCAPE}"))
    lines = [str(each) for each in replay.check()]
    assert lines
    assert all(line.isprintable() for line in lines)
