"""Choices as tables, one row for each candidate: CSV and Parquet, by the ending of the file's name.

Columns: ``game``, ``decision`` (both count from 0), ``action`` (its name, such as ``discard 5p``), ``chosen`` (1 or 0
in CSV, a boolean in Parquet), then the features by name. Parquet needs pyarrow, which the extra ``report`` installs.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from agents.linear.context import MENU
from agents.linear.data import Choices, concatenate
from agents.linear.features import NAMES
from engine.actions import ACTION_NAMES
from engine.common.files import write_atomically

CSV, PARQUET = ".csv", ".parquet"
KEYS = ("game", "decision", "action", "chosen")
COLUMNS = (*KEYS, *NAMES)
DECIMALS = 6  # of features in CSV
ROWS = 50_000  # of a CSV that are read at once
NUMBER_OF = {name: number for number, name in enumerate(ACTION_NAMES)}

Write = Callable[[Choices], None]


def check_name(path: Path) -> None:
    """Raise ValueError for a file name with another ending, ModuleNotFoundError for Parquet without pyarrow."""
    if path.suffix not in (CSV, PARQUET):
        raise ValueError(f"{path}: choices are written as {CSV} or {PARQUET}, by the ending of the file's name")
    if path.suffix == PARQUET:
        import pyarrow  # noqa: F401


@contextmanager
def writer(path: Path) -> Iterator[Write]:
    """A function that appends choices to a new file, which is there when the block ends. Raises as `check_name`."""
    check_name(path)
    with write_atomically(path) as file:
        if path.suffix == CSV:
            text = TextIOWrapper(file, encoding="utf-8", newline="")
            yield _csv_writer(text)
            text.flush()
            text.detach()
        else:
            with _parquet_writer(file) as write:
                yield write


def _keys(choices: Choices, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The columns KEYS; decisions count from `first`."""
    sizes = np.diff(choices.starts)
    chosen = np.zeros(len(choices.action), dtype=bool)
    chosen[choices.chosen] = True
    decision = np.repeat(first + np.arange(len(sizes)), sizes)
    return np.repeat(choices.game, sizes), decision, np.array(ACTION_NAMES)[choices.action], chosen


def _csv_writer(text: TextIOWrapper) -> Write:
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    decisions = 0

    def write(choices: Choices) -> None:
        nonlocal decisions
        for game, decision, action, chosen, phi in zip(*_keys(choices, decisions), choices.phi, strict=True):
            rows.writerow([game, decision, action, int(chosen), *(f"{x:.{DECIMALS}g}" for x in phi.tolist())])
        decisions += len(choices.game)

    return write


def _parquet_types() -> list[Any]:
    """The types of COLUMNS."""
    import pyarrow

    keys = [pyarrow.int64(), pyarrow.int64(), pyarrow.string(), pyarrow.bool_()]
    return [*keys, *[pyarrow.float32()] * len(NAMES)]


@contextmanager
def _parquet_writer(file: BinaryIO) -> Iterator[Write]:
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema(list(zip(COLUMNS, _parquet_types(), strict=True)))
    decisions = 0
    with parquet.ParquetWriter(file, schema) as rows:

        def write(choices: Choices) -> None:
            nonlocal decisions
            columns = [*_keys(choices, decisions), *np.ascontiguousarray(choices.phi.T)]
            rows.write_table(pyarrow.table([pyarrow.array(column) for column in columns], schema=schema))
            decisions += len(choices.game)

        yield write


def read_choices(path: Path) -> Choices:
    """The choices in a file. Raises ValueError, one line, for any other file; OSError if it cannot be read."""
    check_name(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; python -m agents.linear export writes one")
    tables = _csv_tables(path) if path.suffix == CSV else _parquet_tables(path)
    parts = [_choices(path, *columns) for columns in _whole_decisions(path, tables)]
    if not parts:
        raise ValueError(f"{path}: no decisions in it")
    return concatenate(parts)


Columns = list[np.ndarray]  # game, decision, action number, chosen, phi


def _whole_decisions(path: Path, tables: Iterable[Columns]) -> Iterator[Columns]:
    """The same rows, cut where a decision ends. Raises ValueError for a decision of more rows than MENU."""
    rest: Columns | None = None
    for table in tables:
        rows = table if rest is None else [np.concatenate(pair) for pair in zip(rest, table, strict=True)]
        cut = int(np.searchsorted(-(rows[1] != rows[1][-1]).astype(np.int8), 0))  # where the last decision begins
        if cut:
            yield [column[:cut] for column in rows]
        rest = [column[cut:] for column in rows]
        if len(rest[0]) > MENU:
            raise ValueError(f"{path}: decision {rest[1][0]}: more actions than any decision has")
    if rest is not None and len(rest[0]):
        yield rest


def _choices(path: Path, game: np.ndarray, decision: np.ndarray, action: np.ndarray, *rest: np.ndarray) -> Choices:
    """The choices of whole decisions. Raises ValueError."""
    is_chosen, phi = rest
    firsts = np.flatnonzero(np.concatenate([[True], decision[1:] != decision[:-1]]))
    starts = np.append(firsts, len(decision))
    counts = np.add.reduceat(is_chosen.astype(np.int64), firsts)
    if (counts != 1).any():
        bad = int(np.flatnonzero(counts != 1)[0])
        raise ValueError(f"{path}: decision {decision[firsts[bad]]}: {counts[bad]} actions are chosen, not one")
    if (sizes := np.diff(starts)).max() > MENU:
        bad = int(sizes.argmax())
        raise ValueError(f"{path}: decision {decision[firsts[bad]]}: more actions than any decision has")
    if not np.isfinite(phi).all():
        bad = int(np.flatnonzero(~np.isfinite(phi).all(axis=1))[0])
        raise ValueError(f"{path}: decision {decision[bad]}: a feature is not a finite number")
    return Choices(game[firsts], starts, np.flatnonzero(is_chosen), action, phi)


def _check_columns(path: Path, columns: Iterable[str]) -> None:
    """Raise ValueError unless `columns` are COLUMNS."""
    found = tuple(columns)
    if found != COLUMNS:
        odd = next((name for name in COLUMNS if name not in found), None)
        what = f"lacks the column {odd!r}" if odd else "has other columns, or in another order"
        raise ValueError(f"{path}: {what}: export it again with python -m agents.linear export")


def _numbers(names: Iterable[Any]) -> np.ndarray:
    """The numbers of actions by name. Raises ValueError."""
    try:
        return np.array([NUMBER_OF[name] for name in names], dtype=np.int64)
    except KeyError as error:
        raise ValueError(f"there is no action {error.args[0]!r}") from error


def _csv_tables(path: Path) -> Iterator[Columns]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        try:
            _check_columns(path, next(rows, ()))
            while block := [(rows.line_num, row) for _, row in zip(range(ROWS), rows)]:
                yield _csv_table(path, block)
        except (csv.Error, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: damaged after line {rows.line_num}: {error}") from error


def _csv_table(path: Path, block: Sequence[tuple[int, list[str]]]) -> Columns:
    """The columns of some rows, each with the number of its line. Raises ValueError that names the first bad line."""
    try:
        return _columns([row for _, row in block])
    except (ValueError, OverflowError) as error:
        if len(block) == 1:
            raise ValueError(f"{path}: line {block[0][0]}: {error}") from error
    for numbered in block:
        _csv_table(path, [numbered])
    raise AssertionError("rows that are good one by one are good together")


def _columns(rows: Sequence[list[str]]) -> Columns:
    """Rows of text as columns. Raises ValueError, OverflowError."""
    if odd := next((row for row in rows if len(row) != len(COLUMNS)), None):
        raise ValueError(f"{len(odd)} columns, not {len(COLUMNS)}")
    keys = np.array([(row[0], row[1], row[3]) for row in rows], dtype=np.int64)
    phi = np.array([row[len(KEYS) :] for row in rows], dtype=np.float32)
    return [keys[:, 0], keys[:, 1], _numbers(row[2] for row in rows), keys[:, 2] != 0, phi]


def _parquet_tables(path: Path) -> Iterator[Columns]:
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        _check_columns(path, file.schema_arrow.names)
        for batch in file.iter_batches(ROWS):
            if odd := [name for name, column in zip(COLUMNS, batch.columns) if column.null_count]:
                raise ValueError(f"{path}: the column {odd[0]!r} lacks values")
            game, decision, action, chosen, *phi = [
                column.cast(kind) for column, kind in zip(batch.columns, _parquet_types(), strict=True)
            ]
            features = np.stack([np.asarray(column) for column in phi], axis=1)
            try:
                numbers = _numbers(action.to_pylist())
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from error
            yield [np.asarray(game), np.asarray(decision), numbers, np.asarray(chosen), features]
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: no Parquet file that can be read: {str(error).splitlines()[0]}") from error
