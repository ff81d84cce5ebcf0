"""Archives written record by record, which can be continued after an interruption: tar, zip, a folder.

The same records give the same bytes, even if the work was interrupted: no timestamps or owners are stored.
"""

from __future__ import annotations

import gzip
import os
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, Protocol

from engine.records.archives import PACKED_SUFFIXES, RECORD_SUFFIXES

ZSTD_LEVEL = 9
MAX_NAME, MAX_PARTS = 120, 8  # bytes of a part of a name, and number of parts, that every file system supports
_UNSAFE = re.compile(r"[^\w\-.&=+@ ]")  # of a name, on any system
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")  # of a member of a zip, before its name
_ZIP_MODE = 0o644 << 16


class Writer(Protocol):
    """An archive that is being written."""

    def add(self, name: str, data: bytes) -> None:
        """Add a record."""
        ...

    def checkpoint(self) -> int:
        """Flush everything to disk; return the size from which the archive can be continued."""
        ...

    def finish(self) -> None:
        """Complete the archive."""
        ...

    def abandon(self) -> None:
        """Close the incomplete archive, which can be continued from the last checkpoint."""
        ...


class _Plain:
    """A frame of an archive without compression."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write

    def close(self) -> None:
        """Do nothing: there is nothing left to write."""


def _zstd_frame(file: IO[bytes]) -> Any:
    import zstandard

    return zstandard.ZstdCompressor(level=ZSTD_LEVEL).stream_writer(file, closefd=False)


def _gzip_frame(file: IO[bytes]) -> Any:
    return gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)


class TarWriter:
    """A tar whose compressed stream ends and restarts at each checkpoint, which every reader accepts."""

    def __init__(self, open_frame: Callable[[IO[bytes]], Any], path: Path, size: int) -> None:
        self._file = _opened(path, "wb", size)
        self._file.seek(size)
        self._open_frame = open_frame
        self._frame = open_frame(self._file)

    def add(self, name: str, data: bytes) -> None:
        """Add a record as a member, filled up to whole blocks."""
        info = tarfile.TarInfo(name)
        info.size = len(data)
        padding = bytes(-len(data) % tarfile.BLOCKSIZE)
        self._frame.write(info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape") + data + padding)

    def checkpoint(self) -> int:
        """End the compressed frame, and begin another one."""
        self._frame.close()
        size = _to_disk(self._file)
        self._frame = self._open_frame(self._file)
        return size

    def finish(self) -> None:
        """Write the two empty blocks that end a tar."""
        self._frame.write(bytes(2 * tarfile.BLOCKSIZE))
        self._frame.close()
        _to_disk(self._file)
        self._file.close()

    def abandon(self) -> None:
        """Close the file without the end of its frame."""
        self._file.close()


class ZipWriter:
    """A zip. Its central directory is written at the end; to continue a zip, it is rebuilt from the members."""

    def __init__(self, path: Path, size: int) -> None:
        self._file = _opened(path, "wb+", size)
        members = _members_of_zip(self._file, size)
        self._archive = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED)
        self._archive.filelist += members
        self._archive.NameToInfo |= {info.filename: info for info in members}
        self._archive.start_dir = size
        self._file.seek(size)

    def add(self, name: str, data: bytes) -> None:
        """Add a record as a compressed member; time and mode are the same for all."""
        info = zipfile.ZipInfo(name)  # dated 1980, the first year that zip supports
        info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, _ZIP_MODE
        self._archive.writestr(info, data)

    def checkpoint(self) -> int:
        """Flush the members; the central directory is not among them."""
        self._file.seek(self._archive.start_dir)
        return _to_disk(self._file)

    def finish(self) -> None:
        """Write the central directory."""
        self._archive.close()
        _to_disk(self._file)
        self._file.close()

    def abandon(self) -> None:
        """Close the file without a central directory."""
        self._archive.fp = None  # keeps it from writing the central directory
        self._file.close()


def _members_of_zip(file: IO[bytes], size: int) -> list[zipfile.ZipInfo]:
    """Return the members of a zip of `size` bytes written by `ZipWriter`, without a central directory."""
    found = []
    offset = 0
    while offset < size:
        file.seek(offset)
        _, version, flags, method, _, _, crc, packed, unpacked, n_name, n_extra = _LOCAL_HEADER.unpack(
            file.read(_LOCAL_HEADER.size)
        )
        info = zipfile.ZipInfo(file.read(n_name).decode())
        info.extract_version = info.create_version = version
        info.flag_bits, info.compress_type, info.create_system, info.external_attr = flags, method, 3, _ZIP_MODE
        info.CRC, info.compress_size, info.file_size, info.header_offset = crc, packed, unpacked, offset
        found.append(info)
        offset += _LOCAL_HEADER.size + n_name + n_extra + packed
    return found


class FolderWriter:
    """A folder with a file for each record."""

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        path.mkdir(exist_ok=True)

    def add(self, name: str, data: bytes) -> None:
        """Write the record to a file of its own; an existing one is overwritten."""
        target = self._path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def checkpoint(self) -> int:
        """Return 1: a folder can be continued whatever is in it."""
        return 1

    def finish(self) -> None:
        """Do nothing: each file is complete."""

    def abandon(self) -> None:
        """Do nothing: each file is complete."""


def _opened(path: Path, mode: str, size: int) -> IO[bytes]:
    """Open a file to be continued from `size`, or begun in `mode`. Raises ValueError if it is shorter; OSError."""
    if size and path.stat().st_size < size:
        raise ValueError(f"{path} is shorter than it was: delete it and {path.name}.jsonl to begin anew")
    file: IO[bytes] = path.open("r+b" if size else mode)
    file.truncate(size)
    return file


def _to_disk(file: IO[bytes]) -> int:
    """Flush a file to disk; return the position of its writer."""
    file.flush()
    os.fsync(file.fileno())
    return file.tell()


# Suffix of an archive -> function that opens a writer: (path, size from which to continue; 0: begin).
WRITERS: dict[str, Callable[[Path, int], Writer]] = {
    ".tar": partial(TarWriter, _Plain),
    ".tar.gz": partial(TarWriter, _gzip_frame),
    ".tgz": partial(TarWriter, _gzip_frame),
    ".tar.zst": partial(TarWriter, _zstd_frame),
    ".zip": ZipWriter,
}


def writer_for(path: Path) -> Callable[[Path, int], Writer]:
    """Return the function that opens an archive, by its suffix; without a suffix, a folder. Raises ValueError."""
    for suffix, open_writer in WRITERS.items():
        if path.name.endswith(suffix):
            return open_writer
    if path.suffix and not path.is_dir():
        raise ValueError(f"--out {path}: name a folder, or a file that ends in {', '.join(WRITERS)}")
    return FolderWriter


class Names:
    """Names for the records of an archive: safe on any system, unique, and never outside the folder."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._taken: set[int] = set()  # hashes of names, which are short

    def of(self, inner: str) -> str:
        """Return the new name of the record called `inner` in its source."""
        parts = list(filter(None, map(_safe, re.split(r"[/\\]", _without_suffixes(inner)))))[-MAX_PARTS:]
        # A folder has no name that a record could have: both may be in a folder.
        stem = "/".join([*(part.replace(".", "_") for part in parts[:-1]), *parts[-1:]]) or "record"
        name = stem + self._suffix
        while (key := hash(name.lower())) in self._taken:
            name = f"{stem}-{len(self._taken) + 1}{self._suffix}"
            stem += "-"
        self._taken.add(key)
        return name


def _safe(part: str) -> str:
    """Return a part of a name in a form valid on any system; empty for ``..``."""
    return _UNSAFE.sub("_", part).encode()[:MAX_NAME].decode(errors="ignore").strip(" .")


def _without_suffixes(name: str) -> str:
    for suffixes in (PACKED_SUFFIXES, RECORD_SUFFIXES):
        name = next((name[: -len(suffix)] for suffix in suffixes if name.lower().endswith(suffix)), name)
    return name
