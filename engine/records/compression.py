"""Decompression of gzip, zlib, bzip2 and Zstandard, detected by their first bytes, up to a size limit.

Zstandard needs the package zstandard from the extra ``archive``.
"""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import IO, Any, NamedTuple

from engine.common.error_text import error_text
from engine.common.program import missing
from engine.records.model import FILE, RecordError

MAX_RECORD = 16 << 20  # bytes of an unpacked record; a long game as mjai takes less than one MiB
# A record compresses to about a tenth. Anything that compresses far better was made to exhaust memory or time.
MAX_RATIO, RATIO_FROM = 200, 1 << 20  # the ratio is checked from this number of unpacked bytes on


class Format(NamedTuple):
    """A compression: `open` returns a file of the unpacked data, `errors` are raised for damaged data."""

    name: str
    magic: bytes
    open: Callable[[IO[bytes]], Any]
    errors: tuple[type[Exception], ...]


def _open_zlib(file: IO[bytes]) -> IO[bytes]:
    return BytesIO(_inflate(file.read()))


def _inflate(data: bytes) -> bytes:
    inflating = zlib.decompressobj()
    unpacked = inflating.decompress(data, MAX_RECORD + 1)
    if not inflating.eof and len(unpacked) <= MAX_RECORD:
        raise EOFError("the end is missing")
    return unpacked


def _open_zstd(file: IO[bytes]) -> IO[bytes]:
    import zstandard

    reader: IO[bytes] = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=False)
    return reader


_DAMAGE = (EOFError, OSError, zlib.error)
FORMATS = (
    Format("gzip", b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file), _DAMAGE),
    Format("bzip2", b"BZh", lambda file: bz2.BZ2File(file), (*_DAMAGE, ValueError)),
    Format("zstd", b"\x28\xb5\x2f\xfd", _open_zstd, (Exception,)),  # ZstdError is defined in the optional package
    *(Format("zlib", bytes([0x78, level]), _open_zlib, _DAMAGE) for level in (0x01, 0x5E, 0x9C, 0xDA)),
)


def format_of(beginning: bytes) -> Format | None:
    """Return the compression of data that begins with these bytes; None if it is not compressed."""
    return next((row for row in FORMATS if beginning.startswith(row.magic)), None)


def unpack(data: bytes, source: str, max_size: int = MAX_RECORD) -> bytes:
    """Return the bytes of a record, unpacked if they are compressed; `source`: its name, for messages.

    Raises RecordError for damaged data, for more than `max_size` unpacked bytes, and for data that unpacks to more than
    `MAX_RATIO` times its size; unpacking stops at these limits.
    """
    compression = format_of(data)
    if compression is not None:
        limit = min(max_size, max(RATIO_FROM, MAX_RATIO * len(data)))
        try:
            with compression.open(BytesIO(data)) as file:
                unpacked = read_up_to(file, limit + 1)
        except ModuleNotFoundError as error:
            raise RecordError(source, compression.name, missing(error) or str(error)) from error
        except compression.errors as error:
            name = compression.name
            text = "the {name} data is damaged ({error}); download or export the file again"
            what = error_text("damaged", text, name=name, error=str(error))
            raise RecordError(source, name, what) from error
        if limit < len(unpacked) <= max_size:
            what = error_text("expands", "unpacks to more than {n} times its size: no record", n=MAX_RATIO)
            raise RecordError(source, compression.name, what)
        data = unpacked
    if len(data) > max_size:
        raise too_long(source, max_size)
    return data


def read_up_to(file: IO[bytes], size: int) -> bytes:
    """Read `size` bytes, or fewer only at the end: a single read may return fewer at any time."""
    parts = []
    while size > 0 and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def too_long(source: str, max_size: int = MAX_RECORD) -> RecordError:
    """Return the error for a record that exceeds the size limit."""
    what = "longer than {n:,} bytes, and so no record of one game"
    return RecordError(source, FILE, error_text("record_long", what, n=max_size))
