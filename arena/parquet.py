"""The rows of a run as Parquet files: ``games.parquet``, ``rounds.parquet`` and, on request, ``decisions.parquet``.

The rows of a finished chunk are kept in a part, a NumPy file next to the checkpoint. When all games are finished, the
parts are joined in the order of the schedule, in row groups of a fixed number of walls. So the files are the same with
any number of jobs, and when a run is resumed. Games from records (`arena.record_games`) are kept and written in
the same way, game by game in the order of the records.

Needs pyarrow, which the extra ``report`` installs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np

from arena.bot_games import SCORE
from arena.record_games import Players
from arena.results import Results
from engine.actions import ACTION_NAMES
from engine.common.files import naming, write_atomically
from engine.contests.seating import ROTATIONS
from engine.ryukyoku import EXHAUSTIVE, NAGASHI_MANGAN, RYUKYOKU
from engine.scoring.yaku import BY_NUMBER, N_YAKU
from engine.statistics.rounds import RON, TSUMO
from engine.table import AFTER_PON, N_SEATS, RESPONSE, RIICHI_DISCARD, TURN
from engine.tiles import WINDS

# Walls, or games from records, of a row group: a game has some thirty rows of rounds, and some thousand decisions.
GROUP = {"games": 4096, "rounds": 1024, "decisions": 64}
COMPRESSION = "zstd"
PHASES = {TURN: "turn", AFTER_PON: "after pon", RIICHI_DISCARD: "riichi discard", RESPONSE: "response"}
ROUND_RESULTS = {TSUMO: "tsumo", RON: "ron"} | {way.number: way.english for way in RYUKYOKU}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file.

    ``type``: an Arrow type, or ``category`` for texts with few distinct values. ``help``: its definition. ``texts``:
    those of a category by number, from 0; if empty, the names of the bots or players. ``null``: which rows have no
    value.
    """

    name: str
    type: str
    help: str
    texts: dict[int, str] = field(default_factory=dict)
    null: Callable[[np.ndarray], np.ndarray] | None = None

    def arrow_type(self) -> Any:
        """Its type in the file, a ``pyarrow.DataType``."""
        import pyarrow

        if self.type == "category":
            return pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
        if self.type == "list<string>":
            return pyarrow.list_(pyarrow.string())
        return pyarrow.type_for_alias(self.type)

    def values(self, names: Sequence[str], rows: Any) -> Any:
        """Its values, a ``pyarrow.Array``; ``rows``: records of `arena.parquet_rows`, or arrays by their names."""
        import pyarrow

        values, null = rows[self.name], self.null(rows) if self.null else None
        if self.type == "category":
            texts = [text for _, text in sorted(self.texts.items())] or list(names)
            numbers = pyarrow.array(values.astype(np.int32), mask=null)
            return pyarrow.DictionaryArray.from_arrays(numbers, pyarrow.array(texts, pyarrow.string()))
        if self.type == "list<string>":
            return yaku_lists(values, null)
        return pyarrow.array(values, self.arrow_type(), mask=null)


def lost(rows: np.ndarray) -> np.ndarray:
    """Return which rows are of seats that did not win."""
    return ~rows["won"]


def yaku_lists(han: np.ndarray, null: np.ndarray | None) -> Any:
    """The names of the yaku of each row, a ``pyarrow.ListArray``; ``han``: of each yaku, int8[rows, N_YAKU]."""
    import pyarrow

    row, number = np.nonzero(han)
    names = pyarrow.array([BY_NUMBER[n].name if n in BY_NUMBER else "" for n in range(N_YAKU)])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(han)))]).astype(np.int32)
    lists = [pyarrow.array(offsets), names.take(pyarrow.array(number))]
    return pyarrow.ListArray.from_arrays(*lists, mask=None if null is None else pyarrow.array(null))


WALL = (
    Column("wall", "int32", "index of the wall in the schedule, from 0"),
    Column("rotation", "int8", "rotation of the seats, 0 to 2"),
)
WALL_SEED = Column(
    "wall_seed",
    "string",
    "seed of the wall, 16 hexadecimal digits, as in the names of saved games; with `--walls` only its name",
)
GAME = Column("game", "int32", "index of the game in the order of the records, from 0")
RECORD = Column("record", "string", "name of the record: its file, or `ARCHIVE:NAME`")
ROUND = Column("round", "int16", "index of the round in its game, from 0")
SEAT = Column("seat", "int8", "0 to 2; seat 0 deals first")
BOT = Column("bot", "category", "name of the bot, as in the tables")
PLAYER = Column(
    "player",
    "category",
    "name of the player; null if the record has none, or somebody else played part of the game",
    null=lambda rows: rows["player"] < 0,
)
OF_GAME = (
    Column("score", "int32", "points at the end of the game"),
    Column("placement", "int8", "1 to 3"),
    Column("final_points", "float64", "points in thousands, with uma and oka"),
)
OF_ROUND = (
    Column("round_wind", "category", "E or S; W in a tie-break", texts=dict(enumerate(WINDS))),
    Column("dealer", "int8", "the seat that deals"),
    Column("honba", "int16", "honba at the start"),
    Column("sticks", "int16", "riichi sticks on the table at the start"),
    Column("result", "category", "how the round ended: tsumo, ron, or the kind of draw", texts=ROUND_RESULTS),
    Column("start_score", "int32", "points of this seat at the start"),
    Column("change", "int32", "points won or lost in the round, with honba and riichi sticks"),
    Column("won", "bool", "this seat won"),
    Column("han", "int16", "of the winning hand, with dora; 13 for each yakuman; null unless won", null=lost),
    Column("fu", "int16", "of the winning hand; null unless won", null=lost),
    Column("yakuman", "int8", "number of yakuman of the winning hand; null unless won", null=lost),
    Column("yaku", "list<string>", "names of its yaku, dora among them; null unless won", null=lost),
    Column("points", "int32", "value of the winning hand, without honba and sticks; null unless won", null=lost),
    Column("win_turn", "int8",
           "turn of the win: discards before it, plus 1 by tsumo, at least 1; null unless won", null=lost),
    Column("dealt_in", "bool", "others won on a tile of this seat"),
    Column("deal_in_points", "int32", "value of what they won; a double ron is added up; null unless dealt in",
           null=lambda rows: ~rows["dealt_in"]),
    Column("riichi_turn", "int8", "turn of the declaring discard, from 1; null without an accepted riichi",
           null=lambda rows: rows["riichi_turn"] == 0),
    Column("open", "bool", "this seat has an open meld at the end"),
    Column("nukidora", "int8", "Norths set aside"),
    Column("tenpai", "bool", "tenpai when no tiles are left; null if the round ended otherwise",
           null=lambda rows: ~np.isin(rows["result"], (EXHAUSTIVE, NAGASHI_MANGAN))),
)  # fmt: skip
COLUMNS: dict[str, tuple[Column, ...]] = {
    "games": (*WALL, WALL_SEED, SEAT, BOT, *OF_GAME),
    "rounds": (*WALL, ROUND, SEAT, BOT, *OF_ROUND),
    "decisions": (
        *WALL, ROUND, SEAT, BOT,
        Column("phase", "category", "turn, after pon, riichi discard, or response to a tile", texts=PHASES),
        Column("turn", "int8", "turn of this seat: its discards before, plus 1"),
        Column("draws_left", "int8", "tiles left to draw"),
        Column("shanten", "int8", "shanten of the hand of 13 tiles, before the draw; 0 is tenpai"),
        Column("n_legal", "int8", "number of legal actions"),
        Column("action", "category", "the answer, such as discard 5p", texts=dict(enumerate(ACTION_NAMES))),
    ),
}  # fmt: skip
OF_RECORDS: dict[str, tuple[Column, ...]] = {  # of games from records
    "games": (GAME, RECORD, SEAT, PLAYER, *OF_GAME),
    "rounds": (GAME, ROUND, SEAT, PLAYER, *OF_ROUND),
}


class ParquetFiles:
    """The files of a run: `add` the rows of chunks in any order, then `write` them in that of the schedule.

    A chunk goes by its ``first`` wall, or by its first game from records.
    """

    def __init__(
        self,
        folder: Path,
        kinds: Sequence[str],
        parts: Path | None,
        resumed: Iterable[int],
        columns: Mapping[str, Sequence[Column]] = COLUMNS,
    ) -> None:
        """``folder`` must exist. ``kinds``: of rows. ``parts``: a folder for the rows of finished chunks.

        If ``parts`` is None, the rows do not outlive this process. ``resumed``: the chunks added before. Raises
        ValueError if the rows of such a chunk are missing, OSError.
        """
        self.folder = folder
        self.kinds = kinds
        self._columns = columns
        if parts is None:
            parts = Path(mkdtemp(dir=folder, prefix="partial-"))
            finalize(self, rmtree, parts, ignore_errors=True)
        self._parts = parts
        self._parts.mkdir(exist_ok=True)
        kept = {self._part(kind, first) for first in resumed for kind in kinds}
        present = set(self._parts.iterdir())
        if missing := sorted(kept - present):
            raise ValueError(f"{missing[0]} is missing, without which the run cannot be resumed")
        for path in present - kept:
            path.unlink()

    def _part(self, kind: str, first: int) -> Path:
        return self._parts / f"{kind}-{first:06}.npy"

    def add(self, first: int, rows: dict[str, np.ndarray]) -> None:
        """Keep the rows of a finished chunk. Raises OSError."""
        for kind in self.kinds:
            path, data = self._part(kind, first), BytesIO()
            np.save(data, rows[kind])
            with naming(path):
                path.write_bytes(data.getbuffer())

    def write(
        self, names: Sequence[str], games: Iterator[dict[str, Any]], finished: Sequence[int], run: str = ""
    ) -> None:
        """Write the files. Raises OSError.

        ``names``: of the bots or players, by their numbers in the rows. ``games``: the columns of ``games.parquet``,
        for each row group. ``finished``: the walls or games whose rows are written, ascending. ``run``: the id of the
        run, see `run_of_parquet`.
        """
        self._write("games", names, games, run)
        for kind in self.kinds:
            parts = sorted(self._parts.glob(f"{kind}-*.npy"))
            self._write(kind, names, rows_of(kind, parts, np.array(finished, dtype=np.int64)), run)

    def _write(self, kind: str, names: Sequence[str], groups: Iterator[dict[str, Any] | np.ndarray], run: str) -> None:
        import pyarrow
        from pyarrow import parquet

        columns = self._columns[kind]
        schema = pyarrow.schema(
            [pyarrow.field(column.name, column.arrow_type(), metadata={"help": column.help}) for column in columns],
            {"run": run} if run else None,
        )
        with (
            write_atomically(self.folder / f"{kind}.parquet") as file,
            parquet.ParquetWriter(file, schema, compression=COMPRESSION) as writer,
        ):
            for group in groups:
                table = pyarrow.Table.from_arrays([column.values(names, group) for column in columns], schema=schema)
                writer.write_table(table, row_group_size=len(table))

    def delete_parts(self) -> None:
        """Delete the rows kept in ``parts``. Raises OSError."""
        rmtree(self._parts)


def run_of_parquet(path: Path) -> str:
    """The id of the run whose rows a file has, "" if it has those of none. Raises OSError."""
    from pyarrow import ArrowInvalid, parquet

    try:
        metadata: dict[bytes, bytes] = parquet.read_schema(path).metadata or {}
    except ArrowInvalid:
        return ""
    return metadata.get(b"run", b"").decode(errors="replace")


def rows_of(kind: str, parts: Sequence[Path], finished: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of the walls or games ``finished``, int64[n], for each row group; ``parts``: files of chunks.

    The first field of a row is the number of its wall or game.
    """
    ends = [ends_of(part) for part in parts]
    for first in range(0, int(finished.max(initial=-1)) + 1, GROUP[kind]):
        last = first + GROUP[kind] - 1
        within = [part for part, (low, high) in zip(parts, ends) if low <= last and first <= high]
        if within:
            rows = np.concatenate([rows_between(part, first, last) for part in within])
            rows = rows[np.argsort(numbers_of(rows), kind="stable")]
            yield rows[np.isin(numbers_of(rows), finished[slice(*np.searchsorted(finished, [first, last + 1]))])]


def numbers_of(rows: np.ndarray) -> np.ndarray:
    """The numbers of the walls or games of rows: their first field."""
    assert rows.dtype.names is not None
    return rows[rows.dtype.names[0]]


def ends_of(part: Path) -> tuple[int, int]:
    """The first and the last wall or game of a part."""
    numbers = numbers_of(np.load(part, mmap_mode="r"))
    return int(numbers[0]), int(numbers[-1])


def rows_between(part: Path, first: int, last: int) -> np.ndarray:
    """The rows of a part on the walls, or of the games, from ``first`` to ``last``."""
    rows = np.load(part, mmap_mode="r")
    start, end = np.searchsorted(numbers_of(rows), [first, last + 1])
    return np.array(rows[start:end])


def games_of_run(results: Results) -> Iterator[dict[str, Any]]:
    """The columns of ``games.parquet`` of a run, for each row group."""
    games, rules = results.games(), results.settings.make_rules()
    while group := list(islice(games, GROUP["games"] * ROTATIONS)):
        columns: dict[str, Any] = {
            name: np.repeat([game[name] for game in group], N_SEATS) for name in ("wall", "rotation", "wall_seed")
        }
        number = {bot: index for index, bot in enumerate(results.bots)}
        columns["seat"] = np.tile(np.arange(N_SEATS), len(group))
        columns["bot"] = np.array([number[bot] for game in group for bot in game["seats"]])
        columns["score"] = np.concatenate([game["scores"] for game in group])
        columns["placement"] = np.concatenate([game["placements"] for game in group])
        columns["final_points"] = np.concatenate([rules.final_points(game["scores"]) for game in group])
        yield columns


def games_of_records(players: Players) -> Iterator[dict[str, Any]]:
    """The columns of ``games.parquet`` of games from records, for each row group."""
    for first in range(0, len(players.games), GROUP["games"]):
        games = players.games[first : first + GROUP["games"]]
        yield {
            "game": np.repeat(np.arange(first, first + len(games)), N_SEATS),
            "record": np.repeat([game.record for game in games], N_SEATS),
            "seat": np.tile(np.arange(N_SEATS), len(games)),
            "player": np.concatenate([players.numbers_of(game) for game in games]),
            "score": np.concatenate([game.counts[:, SCORE] for game in games]),
            "placement": np.concatenate([game.placements for game in games]),
            "final_points": np.concatenate([game.points for game in games]),
        }
