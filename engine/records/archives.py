"""Archives of records: zip, tar (plain, gzip, bzip2, Zstandard), SQLite databases of logs, folders, files.

`members` reads them one record at a time, so memory use does not depend on the size of the archive; only the directory
of a zip is held as a whole. Damage does not stop it: the `read` of a damaged member raises, and a damaged archive ends
with a member whose `read` raises.

The databases are those of houou-logs (table ``logs``: ``id``, ``log``, gzip) and of phoenix-logs (``log_id``,
``log_content``, bzip2).
"""

from __future__ import annotations

import re
import sqlite3
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from glob import glob, has_magic
from hashlib import blake2b
from io import BufferedReader
from pathlib import Path
from typing import IO
from urllib.parse import quote

from engine.common.options import printable
from engine.records.compression import MAX_RATIO, MAX_RECORD, RATIO_FROM, format_of, read_up_to, too_long
from engine.records.model import RecordError

RECORD_SUFFIXES = (".json", ".mjson", ".jsonl", ".xml", ".mjlog")
PACKED_SUFFIXES = (".gz", ".bz2", ".zst")
TAR_SUFFIXES = (".tar", ".tgz", ".tzst", ".tbz2", *(f".tar{suffix}" for suffix in PACKED_SUFFIXES))
DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")
ARCHIVE_SUFFIXES = (*TAR_SUFFIXES, ".zip", *DATABASE_SUFFIXES)
SQLITE_MAGIC, ZIP_MAGICS = b"SQLite format 3\x00", (b"PK\x03\x04", b"PK\x05\x06")
LOG_ID = re.compile(r"(20\d\d)(\d\d)(\d\d)\d\dgm-([0-9a-f]{4})-\w+")  # of Tenhou: date and hour, type, lobby, number
_USTAR, _USTAR_AT = b"ustar", slice(257, 262)  # what a tar has near its beginning
_SKIP = 1 << 20  # bytes read at once while skipping
# Bytes of the headers before a member of a tar: names have 4,096 at most. `tarfile` would take megabytes, and hours.
_TAR_HEADERS = 1 << 14
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # `zipfile` unpacks the others without a limit
_IS_TABLE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'logs' AND rootpage > 0"
_SELECT = "SELECT {id}, CASE WHEN length({content}) <= {limit} THEN {content} END, length({content}) FROM logs"


_OVERLAPS = "damaged: its records together are larger than the file; download it again"


@dataclass(frozen=True)
class Member:
    """A record in a file or archive. `read` returns its bytes, compressed or not, until the next member is requested.

    `name`, used in messages and accepted by `engine.records.files.read_records`, is the path of the file or
    ``archive.zip:folder/name``. `inner` is the name in the archive; None for a file with one record. `position`: bytes
    of all files read so far, including this member.

    `read` raises RecordError.
    """

    name: str
    file: Path
    inner: str | None
    position: int
    read: Callable[[], bytes]


def is_record_name(name: str) -> bool:
    """Return whether the name of a file or archive member is that of a record: by its suffix, or a Tenhou log id."""
    if _is_of_macos(name):
        return False
    name = name.lower()
    for suffix in PACKED_SUFFIXES:
        name = name.removesuffix(suffix)
    return name.endswith(RECORD_SUFFIXES) or LOG_ID.search(name.rpartition("/")[2]) is not None


def _is_of_macos(name: str) -> bool:
    """Return whether a name is that of attributes, which macOS stores beside files in archives and on foreign disks."""
    *folders, own = name.split("/")
    return own.startswith("._") or "__MACOSX" in folders


def _has_suffix(path: Path, suffixes: tuple[str, ...]) -> bool:
    return path.name.lower().endswith(suffixes) and not _is_of_macos(path.name)


def find_records(paths: Iterable[Path | str]) -> list[Path]:
    """Return the record files and archives among `paths` and in the folders among them, sorted, without duplicates.

    A path may be a pattern (``games/*.zip``), or name a member of an archive (``games.zip:name``). The path of a file
    is returned whatever its suffix. Raises FileNotFoundError for a path that does not exist.
    """
    found: set[Path] = set()
    for path in map(Path, paths):
        is_pattern = has_magic(str(path)) and not path.exists()
        for file in map(Path, glob(str(path), recursive=True)) if is_pattern else [path]:  # noqa: PTH207 - any anchor
            if file.is_dir():
                for each in file.rglob("*"):
                    known = is_record_name(each.name) or _has_suffix(each, ARCHIVE_SUFFIXES)
                    if known and each.is_file() and not _is_other_database(each):
                        found.add(each)
            elif file.exists() or split_name(file)[1] is not None:
                found.add(file)
            else:
                raise FileNotFoundError(f"{file}: no such file or folder")
    return sorted(found)


def _is_other_database(path: Path) -> bool:
    """Return whether a file is a database without a table of logs, such as a server's, which is to be ignored."""
    if not _has_suffix(path, DATABASE_SUFFIXES):
        return False
    try:
        with closing(_open_database(path)) as database:
            return not _columns_of_logs(database)
    except sqlite3.Error:  # damaged: reported when it is read
        return False


def split_name(path: Path) -> tuple[Path, str | None]:
    """Split ``archive.zip:name`` into the archive and a member's name; for other paths return the path and None."""
    text = str(path)
    if not path.exists():
        for colon in re.finditer(":", text):
            archive = Path(text[: colon.start()])
            if archive.is_file():
                return archive, text[colon.end() :]
    return path, None


def files_of(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files at `paths`, as returned by `find_records`: of members of archives, the archives."""
    return (split_name(path)[0] for path in paths)


def total_size(paths: Iterable[Path]) -> int:
    """Return the total size in bytes of the files at `paths`, as returned by `find_records`."""
    return sum(path.stat().st_size for path in files_of(paths) if path.exists())


def digest_of(paths: Sequence[Path]) -> str:
    """Return a hash of the files at `paths`: their names, sizes and modification times."""
    found = blake2b(digest_size=8)
    for path in paths:
        status = split_name(path)[0].stat()
        found.update(f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0".encode(errors="surrogateescape"))
    return found.hexdigest()


def members(paths: Iterable[Path]) -> Iterator[Member]:
    """Yield the records in files and archives, in order; `paths` as returned by `find_records`.

    Raises ModuleNotFoundError for Zstandard without the package zstandard.
    """
    before = 0
    for path in paths:
        archive, wanted = split_name(path)
        n_read, found = 0, False
        try:
            for member in _members_of(archive, before):
                if wanted is None or member.inner == wanted:
                    found = True
                    yield member
                n_read += 1
        except ModuleNotFoundError:
            raise
        except RecordError as error:
            yield _unreadable(archive, before, error.what)
        except Exception as error:  # damaged data can make the libraries raise anything
            yield _unreadable(archive, before, _why(error, n_read))
        else:
            if wanted is not None and not found:
                yield _unreadable(path, before, "there is no such record in this archive")
        before += total_size([path])


def _why(error: Exception, n_read: int) -> str:
    """Describe in one line what is wrong with an archive."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.strerror or str(error)
    what = " ".join(str(error).split()) or type(error).__name__
    return f"the archive is damaged after {n_read:,} records ({what}); download it again"


def _unreadable(path: Path, position: int, what: str) -> Member:
    """Return a member that stands for a file, or the rest of one, that cannot be read."""

    def read() -> bytes:
        raise RecordError(str(path), "archive", what)

    return Member(str(path), path, None, position, read)


def _members_of(path: Path, before: int) -> Iterator[Member]:
    """Yield the records in one file; `before`: bytes of the files before it."""
    with path.open("rb") as file:
        beginning = file.peek(tarfile.BLOCKSIZE)
        if beginning.startswith(SQLITE_MAGIC):
            yield from _in_sqlite(path, before)
        elif beginning.startswith(ZIP_MAGICS):
            yield from _in_zip(path, file, before)
        elif _has_suffix(path, TAR_SUFFIXES) or _USTAR in (beginning[_USTAR_AT], _unpacked_beginning(path)[_USTAR_AT]):
            yield from _in_tar(path, file, before)
        else:
            yield _plain(path, file, before)


def _unpacked_beginning(path: Path) -> bytes:
    """The first bytes in a compressed file; empty if it is not compressed, damaged or a pipe."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        compression = format_of(file.peek(8))
        if compression is None or compression.name == "zlib":  # which is unpacked as a whole
            return b""
        try:
            with compression.open(file) as unpacked:
                return read_up_to(unpacked, _USTAR_AT.stop)
        except Exception:  # as in `members`; told where the file is read
            return b""


def _plain(path: Path, file: IO[bytes], before: int) -> Member:
    def read() -> bytes:
        data = read_up_to(file, MAX_RECORD + 1)
        if len(data) > MAX_RECORD:
            raise too_long(str(path))
        return data

    size = path.stat().st_size if stat.S_ISREG(path.stat().st_mode) else 0
    return Member(str(path), path, None, before + size, read)


def _in_zip(path: Path, file: IO[bytes], before: int) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        position = before
        size = path.stat().st_size
        for info in archive.infolist():
            position += info.compress_size
            if position - before > size:
                raise RecordError(str(path), "archive", _OVERLAPS)
            if not info.is_dir() and is_record_name(info.filename):
                yield _zipped(path, archive, info, position)


def _zipped(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, position: int) -> Member:
    name = f"{path}:{printable(info.filename)}"

    def read() -> bytes:
        if info.file_size > MAX_RECORD:
            raise too_long(name)
        if info.file_size > max(RATIO_FROM, MAX_RATIO * info.compress_size):
            raise RecordError(name, "zip", f"unpacks to more than {MAX_RATIO} times its size: no record")
        if info.flag_bits & 1:
            raise RecordError(name, "zip", "encrypted: unpack it with its password first")
        if info.compress_type not in _ZIP_METHODS:
            raise RecordError(name, "zip", "compressed by another method than deflate: unpack the archive first")
        try:
            with archive.open(info) as member:
                # The size given may be false: `ZipFile.read` would unpack everything before cutting it off.
                return read_up_to(member, info.file_size)
        except Exception as error:  # as in `members`
            what = f"damaged in the archive ({' '.join(str(error).split())}); download the archive again"
            raise RecordError(name, "zip", what) from error

    return Member(name, path, printable(info.filename), position, read)


class _Forward:
    """A file that is read once from start to end; `tarfile` reads from it in bounded memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._position = 0
        self.last = b""  # what was read last
        self.headers = _TAR_HEADERS  # bytes that `read` may still read, before the next member

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        """Skip forward to a position, or to the end if that comes first. Raises ValueError for an earlier position."""
        if position < self._position:
            raise ValueError("the archive refers back to an earlier part of it")
        while self._position < position and self.take(min(_SKIP, position - self._position)):
            pass

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes of headers. Raises ValueError for more than a member may have."""
        if not 0 <= size <= self.headers:
            raise ValueError(f"a header of {size:,} bytes")
        self.headers -= size
        return self.take(size)

    def take(self, size: int) -> bytes:
        """At most `size` bytes."""
        self.last = read_up_to(self._file, size)
        self._position += len(self.last)
        return self.last


def _in_tar(path: Path, file: BufferedReader, before: int) -> Iterator[Member]:
    compression = format_of(file.peek(8))
    forward = _Forward(file if compression is None else compression.open(file))
    with closing(tarfile.TarFile(fileobj=forward)) as archive:  # type: ignore[arg-type]
        while (info := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # where it keeps all that it has read
            archive.pax_headers = {}
            forward.headers = _TAR_HEADERS
            if info.isreg() and not info.issparse() and is_record_name(info.name):
                yield _tarred(path, forward, info, before + file.tell())
        if forward.last != bytes(tarfile.BLOCKSIZE):
            raise EOFError("its end is missing")


def _tarred(path: Path, forward: _Forward, info: tarfile.TarInfo, position: int) -> Member:
    name = f"{path}:{printable(info.name)}"

    def read() -> bytes:
        if info.size > MAX_RECORD:
            raise too_long(name)
        try:
            forward.seek(info.offset_data)
            data = forward.take(info.size)
        except Exception as error:  # as in `members`
            what = f"damaged in the archive ({' '.join(str(error).split())}); download the archive again"
            raise RecordError(name, "tar", what) from error
        if len(data) < info.size:
            raise RecordError(name, "tar", "cut off; download the archive again")
        return data

    return Member(name, path, printable(info.name), position, read)


def _authorize(action: int, table: str | None, column: str | None, database: str | None, source: str | None) -> int:
    """Return whether SQLite may perform an operation: only reading tables, as `_in_sqlite` does.

    A crafted schema can present a view or virtual table as a table, which could compute without end or limit.
    """
    allowed = source is None and (
        action == sqlite3.SQLITE_SELECT
        or (action == sqlite3.SQLITE_READ and table in ("logs", "sqlite_master"))
        or (action == sqlite3.SQLITE_FUNCTION and column == "length")
        or (action == sqlite3.SQLITE_PRAGMA and table == "table_info")
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _in_sqlite(path: Path, before: int) -> Iterator[Member]:
    journal = path.with_name(path.name + "-wal")
    if journal.exists() and journal.stat().st_size:
        what = f"{journal.name} has changes that are not in it yet: end the program that writes to it"
        raise RecordError(str(path), "archive", what)
    with closing(_open_database(path)) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        columns = _columns_of_logs(connection)
        log_id = next((name for name in ("log_id", "id") if name in columns), None)
        content = next((name for name in ("log_content", "log") if name in columns), None)
        if log_id is None or content is None:
            what = "no table logs with log_id and log_content, as of phoenix-logs, or id and log, as of houou-logs"
            raise RecordError(str(path), "archive", what)
        query = _SELECT.format(id=log_id, content=content, limit=MAX_RECORD)
        position = before
        whole = path.stat().st_size
        for each, data, size in connection.execute(query):
            if size:  # empty content: the log has not been downloaded
                position += size
                if position - before > whole:  # a page linked more than once repeats its rows
                    raise RecordError(str(path), "archive", _OVERLAPS)
                yield _stored(path, str(each), data, position)


def _open_database(path: Path) -> sqlite3.Connection:
    """Open a database for reading, as immutable, so that not even a lock file is created next to it."""
    connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.set_authorizer(_authorize)
    return connection


def _columns_of_logs(connection: sqlite3.Connection) -> set[str]:
    """Return the columns of the table of logs; empty if there is no such table."""
    is_table = connection.execute(_IS_TABLE).fetchone()
    return {row[1] for row in connection.execute("PRAGMA table_info(logs)")} if is_table else set()


def _stored(path: Path, log_id: str, data: bytes | str | None, position: int) -> Member:
    name = f"{path}:{printable(log_id)}"

    def read() -> bytes:
        if data is None:
            raise too_long(name)
        return data.encode() if isinstance(data, str) else data

    return Member(name, path, printable(log_id), position, read)
