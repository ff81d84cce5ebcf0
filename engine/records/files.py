"""Read and write record files: reading finds the format from the content, writing from the suffix of the name."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from engine.records import mjai, mjlog, tenhou_json
from engine.records.model import GameRecord, RecordError, record_errors

__all__ = ["RecordError", "find_records", "parse_record", "read_records", "write_record"]

_SUFFIXES = (".json", ".mjson", ".jsonl", ".xml", ".mjlog")
_WRITERS = {".json": tenhou_json.write, ".mjson": mjai.write, ".jsonl": mjai.write}
_GZIP_MAGIC = b"\x1f\x8b"


def read_records(path: Path | str) -> GameRecord:
    """Read the game in a file: mjlog XML, tenhou.net/6 JSON or mjai, gzipped or not.

    Raises RecordError for a damaged file or another format, OSError if the file cannot be read.
    """
    path = Path(path)
    return parse_record(path.read_bytes(), path.name)


def parse_record(data: bytes, source: str, max_size: int = -1) -> GameRecord:
    """The game in the bytes of a file that `read_records` reads; `source`: file name, for messages.

    `max_size`: bytes that it may have once it is unzipped; no more are unzipped. -1: no limit. Raises RecordError,
    whatever the bytes are.
    """
    with record_errors(source, "file"):
        return _parse(_text(data, source, max_size), source)


def _parse(text: str, source: str) -> GameRecord:
    beginning = text.lstrip()
    if beginning.startswith("<"):
        return mjlog.read(text, source)
    if not beginning.startswith("{"):
        what = "no game record: expected mjlog XML, tenhou.net/6 JSON or one mjai event per line"
        raise RecordError(source, "beginning", what)
    first_line = beginning.split("\n", 1)[0]
    return mjai.read(text, source) if _is_mjai(first_line) else tenhou_json.read(text, source)


def write_record(record: GameRecord, path: Path | str) -> None:
    """Write a game as mjai (.mjson, .jsonl) or tenhou.net/6 (.json), gzipped if .gz follows.

    The same game gives the same bytes. Raises ValueError for another suffix, RecordError if the format cannot represent
    the game.
    """
    path = Path(path)
    zipped = path.suffix == ".gz"
    suffix = Path(path.stem).suffix if zipped else path.suffix
    if suffix not in _WRITERS:
        raise ValueError(f"{path.name}: records are written as {', '.join(_WRITERS)} (and .gz)")
    data = _WRITERS[suffix](record).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if zipped else data)


def find_records(paths: Iterable[Path | str]) -> list[Path]:
    """The record files among `paths` and in the folders among them, sorted, each once.

    A path of a file is returned whatever its suffix is. Raises FileNotFoundError for a path that does not exist.
    """
    found: set[Path] = set()
    for path in map(Path, paths):
        if path.is_dir():
            found.update(file for file in path.rglob("*") if file.is_file() and _is_record_name(file.name))
        elif path.exists():
            found.add(path)
        else:
            raise FileNotFoundError(f"{path}: no such file or folder")
    return sorted(found)


def _is_record_name(name: str) -> bool:
    return name.removesuffix(".gz").endswith(_SUFFIXES)


def _text(data: bytes, source: str, max_size: int) -> str:
    if data.startswith(_GZIP_MAGIC):
        try:
            with gzip.open(BytesIO(data)) as file:
                data = file.read() if max_size < 0 else file.read(max_size + 1)
        except (EOFError, OSError, zlib.error) as error:
            what = f"the gzip data is damaged ({error}); download or export the file again"
            raise RecordError(source, "gzip", what) from error
    if 0 <= max_size < len(data):
        raise RecordError(source, "file", f"longer than {max_size:,} bytes, and so no record of one game")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordError(source, f"byte {error.start}", "not UTF-8 text, so no game record") from error


def _is_mjai(line: str) -> bool:
    """Whether the first line is an mjai event; a damaged line counts if it begins like one."""
    try:
        return "type" in json.loads(line)
    except json.JSONDecodeError:
        return line.startswith('{"type"')
