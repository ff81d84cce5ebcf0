"""Convert all records of files and archives into one archive or folder; an interrupted conversion continues."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

from engine.common.files import naming
from engine.common.line_file import LineFile
from engine.common.sources import digest_of_sources
from engine.records.archives import Member, digest_of, members, split_name
from engine.records.files import encode_record, notes_of
from engine.records.filters import Filters
from engine.records.model import RecordError, record_errors
from engine.records.packing import FolderWriter, Names, Writer, writer_for
from engine.records.stream import Item, in_order, select_record
from engine.records.validate import Report, unreadable

CHECKPOINT = 1000  # records between two checkpoints
PARTIAL, CHECKPOINT_FILE = ".partial", ".partial.jsonl"


def convert_record(item: Item, suffix: str, dialect: str, filters: Filters) -> tuple[Report, bytes | None]:
    """Convert a record to another format, if it can be read and passes the filters."""
    try:
        record = select_record(item, filters)
        if record is None:
            return Report(n_left_out=1), None
        with record_errors(item.name, "record"):
            report = Report(1, len(record.rounds()), notes=notes_of(record, "a" + suffix))
            return report, encode_record(record, "a" + suffix, dialect)
    except RecordError as error:
        return unreadable(error, item.name), None


class Conversion:
    """Writes the records of `paths`, as returned by `find_records`, into the archive or folder `out`.

    Until it is complete, an archive is called ``out.partial``. Next to it, ``out.partial.jsonl`` holds the progress and
    lets the same conversion continue after an interruption.
    """

    def __init__(self, paths: Sequence[Path], out: Path, file_format: str, dialect: str, filters: Filters) -> None:
        """Begin or continue the conversion. Raises ValueError if `out` exists or belongs to another job; OSError."""
        self.paths, self.out, self.filters = paths, out, filters
        self.suffix, self.dialect = "." + file_format, dialect
        if not out.name:
            raise ValueError(f"--out {out}: this is a folder; name one to make, or an archive")
        open_writer = writer_for(out)
        in_folder = open_writer is FolderWriter
        checkpoint = out.with_name(out.name + CHECKPOINT_FILE)
        if (any(out.iterdir()) if in_folder and out.is_dir() else out.exists()) and not checkpoint.exists():
            raise ValueError(f"--out {out}: exists already; name another, or delete it")
        how = {"format": file_format, "dialect": dialect, "filters": filters.options}
        identity = how | {"files": digest_of(paths), "sources": [digest_of_sources("engine")]}
        self._lines = LineFile(checkpoint, identity)
        self._written = out if in_folder else out.with_name(out.name + PARTIAL)
        last = self._lines.last({"done": 0, "size": 0, "counts": Report().counts()})
        self.done: int = last["done"]  # records completely written before
        self.kept = self.done  # and now
        self.report = Report()
        self.report.count(last["counts"])
        self.writer: Writer = open_writer(self._written, last["size"])

    def run(self, jobs: int) -> Generator[tuple[Item, Report]]:
        """Convert, yielding the report of each record. If the generator is closed early, the job can be continued."""
        names = Names(self.suffix)
        below = Path(os.path.commonpath([split_name(path)[0].resolve().parent for path in self.paths]))
        several = len(self.paths) > 1
        found = members(self.paths)
        for member in islice(found, self.done):
            names.of(_name(member, below, several))
        work = partial(convert_record, suffix=self.suffix, dialect=self.dialect, filters=self.filters)
        try:
            with closing(in_order(work, found, self.filters, jobs)) as results:
                for done, (item, (report, data)) in enumerate(results, self.done + 1):
                    # A record that is left out gets a name, too, so that the names of the others do not depend on it.
                    name = names.of(_name(item, below, several))
                    if data is not None:
                        with naming(self._written):
                            self.writer.add(name, data)
                    self.report.add(report)
                    if done % CHECKPOINT == 0:
                        self._keep(done)
                    yield item, report
            with naming(self._written):
                self.writer.finish()
        except BaseException:
            with naming(self._written):
                self.writer.abandon()
            raise
        self._lines.delete()  # first, as a checkpoint without its output could not be continued
        if self._written != self.out:
            self._written.replace(self.out)

    def _keep(self, done: int) -> None:
        with naming(self._written):
            size = self.writer.checkpoint()
        self._lines.append({"done": done, "size": size, "counts": self.report.counts()})
        self.kept = done


def _name(record: Item | Member, below: Path, several: bool) -> str:
    """Return the name of a record from which its name in the new archive is derived."""
    if record.inner is None:
        return os.path.relpath(record.file.resolve(), below)
    return f"{record.file.name.split('.')[0]}/{record.inner}" if several else record.inner
