"""Read and write record files: the format is detected from the content, and chosen by the suffix when writing."""

from __future__ import annotations

import gzip
import json
import os
from errno import EISDIR, ENOENT
from pathlib import Path
from typing import Any

from engine.common.error_text import error_text
from engine.common.program import missing
from engine.mjai.connection import DEFAULT_DIALECT
from engine.records import majsoul, mjai, mjlog, mjlog_writing, tenhou_json
from engine.records.archives import Member, find_records, members, split_name
from engine.records.compression import MAX_RECORD, unpack
from engine.records.model import BEGINNING, FILE, GameRecord, RecordError, assumed_rules, record_errors

__all__ = ["RecordError", "find_records", "parse_record", "read_records", "write_record"]

WRITERS = {".json": tenhou_json.write, ".mjlog": mjlog_writing.write, ".mjson": mjai.write, ".jsonl": mjai.write}


def read_records(path: Path | str, *, allow_cut: bool = False) -> GameRecord:
    """Read the game in a file: mjlog XML, tenhou.net/6 JSON, mjai or Mahjong Soul's own record, compressed or not.

    ``archive.zip:name`` is the record with this name in an archive (zip, tar, a database of logs); the name can be
    omitted if the archive has one record. `allow_cut`: see `parse_record`. Raises RecordError for a damaged file, an
    unknown format or several records, OSError if the file cannot be read.
    """
    path = Path(path)
    member, data = record_bytes(path)
    try:
        return parse_record(data, path.name if member.name == str(path) else member.name, allow_cut=allow_cut)
    except RecordError as error:
        raise type(error)(str(path), error.location, error.what) from error


def record_bytes(path: Path) -> tuple[Member, bytes]:
    """Return the one record at `path`, see `read_records`, and its bytes as stored."""
    if path.is_dir():
        raise IsADirectoryError(EISDIR, f"{os.strerror(EISDIR)}; name a record in it", str(path))
    if not path.exists() and split_name(path)[1] is None:
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), str(path))
    found = members([path])
    member = next(found, None)
    if member is None:
        raise RecordError(str(path), "archive", "there are no game records in it")
    data = member.read()
    if split_name(path)[1] is None and (second := next(found, None)) is not None:
        second.read()  # raises if it stands for damage
        raise RecordError(str(path), "archive", f"several records: name one of them, as in {member.name}")
    return member, data


def parse_record(data: bytes, source: str, max_size: int = MAX_RECORD, *, allow_cut: bool = False) -> GameRecord:
    """Read the game in the bytes of a record, compressed or not; `source`: its name, for messages.

    `max_size`: the maximum unpacked size in bytes, at which unpacking stops. `allow_cut`: read an mjai log that was cut
    off as far as it goes; see `GameRecord.cut`. The bytes may be anything: the only exception raised is RecordError.
    """
    with record_errors(source, FILE):
        unpacked = unpack(data, source, max_size)
        if majsoul.is_binary(unpacked):
            return majsoul.read(_of_binary(unpacked, source), source)
        return _parse(_text(unpacked, source), source, allow_cut)


def _of_binary(data: bytes, source: str) -> Any:
    """Return a binary record of Mahjong Soul as JSON. Raises RecordError if the package that reads it is missing."""
    try:
        from engine.records.majsoul_binary import document_of
    except ModuleNotFoundError as error:
        text = "a binary record of Mahjong Soul: {missing}, or convert it with tensoul"
        what = error_text("majsoul_unread", text, missing=missing(error) or str(error))
        raise RecordError(source, FILE, what) from error
    return document_of(data)


def _parse(text: str, source: str, allow_cut: bool) -> GameRecord:
    beginning = text.lstrip()
    if beginning.startswith("<"):
        return mjlog.read(text, source)
    if not beginning.startswith("{"):
        what = "no game record: expected mjlog XML, tenhou.net/6 JSON or one mjai event per line"
        raise RecordError(source, BEGINNING, error_text("no_record", what))
    if _is_mjai(beginning.split("\n", 1)[0]):
        return mjai.read(text, source, allow_cut=allow_cut)
    document = tenhou_json.parse(text, source)
    reader = majsoul.read if majsoul.is_record(document) else tenhou_json.read_document
    return reader(document, source)


def write_record(record: GameRecord, path: Path | str, dialect: str = DEFAULT_DIALECT) -> None:
    """Write a game as mjai (.mjson, .jsonl), tenhou.net/6 (.json) or Tenhou's XML (.mjlog), gzipped if .gz follows.

    The same game always gives the same bytes. `dialect`: the mjai dialect. Raises ValueError for another suffix,
    RecordError if the format cannot represent the game.
    """
    path = Path(path)
    path.write_bytes(encode_record(record, path.name, dialect))


def notes_of(record: GameRecord, name: str) -> list[str]:
    """Return the notes of a record, and one if a file with this name states rules that the record does not name."""
    if record.rules is not None or WRITERS.get(_suffix(name)) is not mjlog_writing.write:
        return record.notes
    length = {"east": "an East-only game", "hanchan": "a hanchan"}[assumed_rules(record).length]
    return [*record.notes, f"it names no rules: written as {length} of Tenhou's"]


def encode_record(record: GameRecord, name: str, dialect: str = DEFAULT_DIALECT) -> bytes:
    """Return the bytes that `write_record` writes to a file with this name. Raises the same exceptions."""
    suffix = _suffix(name)
    if suffix not in WRITERS:
        raise ValueError(f"{name}: records are written as {', '.join(WRITERS)} (and .gz)")
    write = WRITERS[suffix]
    if dialect != DEFAULT_DIALECT and write is not mjai.write:
        raise ValueError(f"{name}: the dialect {dialect} is one of mjai: write .mjson")
    with record_errors(record.source, "text"):  # JSON may contain lone surrogates, which cannot be encoded
        data = (mjai.write(record, dialect) if write is mjai.write else write(record)).encode()
    return gzip.compress(data, mtime=0) if name.endswith(".gz") else data


def _suffix(name: str) -> str:
    return Path(name.removesuffix(".gz")).suffix


def _text(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = error_text("at_byte", "byte {n}", n=error.start)
        raise RecordError(source, where, error_text("not_utf8", "not UTF-8 text, so no game record")) from error


def _is_mjai(line: str) -> bool:
    """Return whether the first line is an mjai event; a damaged line counts if it begins like one."""
    try:
        return "type" in json.loads(line)
    except json.JSONDecodeError:
        return line.startswith('{"type"')
