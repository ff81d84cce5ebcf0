"""Choices as CSV and Parquet, and what is said of files that are none."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.linear.cli import main
from agents.linear.context import MENU
from agents.linear.data import Choices, SelfPlay, collect, concatenate
from agents.linear.features import NAMES
from agents.linear.files import COLUMNS, read_choices, writer

RECORDS = Path(__file__).parents[2] / "data" / "records"
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def parts() -> list[Choices]:
    return [choices for choices, _ in collect(SelfPlay(("efficiency", "rule", "random"), 35, seed=1), None, print)]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_is_written_is_read_again(tmp_path: Path, parts: list[Choices], suffix: str) -> None:
    path = tmp_path / f"choices{suffix}"
    few = [part.select(np.arange(len(part.game)) % 9 == 0) for part in parts]
    with writer(path) as write:
        for part in few:
            write(part)
    assert len(few) == 2
    for before, after in zip(concatenate(few), read_choices(path), strict=True):
        np.testing.assert_allclose(before, after, rtol=1e-5)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_select_keeps_whole_decisions(parts: list[Choices]) -> None:
    choices = concatenate(parts)
    kept = np.arange(len(choices.game)) % 3 == 1
    some = choices.select(kept)
    for new, old in enumerate(np.flatnonzero(kept)[:200]):
        rows, before = slice(*some.starts[new : new + 2]), slice(*choices.starts[old : old + 2])
        assert (some.action[rows] == choices.action[before]).all()
        assert (some.phi[rows] == choices.phi[before]).all()
        assert some.chosen[new] - some.starts[new] == choices.chosen[old] - choices.starts[old]


def test_decisions_that_reach_beyond_a_block_stay_whole(
    tmp_path: Path, parts: list[Choices], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "choices.csv"
    few = parts[0].select(np.arange(len(parts[0].game)) < 40)
    with writer(path) as write:
        write(few)
    monkeypatch.setattr("agents.linear.files.ROWS", 7)
    again = read_choices(path)
    assert (again.starts == few.starts).all()
    assert (again.chosen == few.chosen).all()


@pytest.fixture
def csv_lines(tmp_path: Path, parts: list[Choices]) -> list[str]:
    path = tmp_path / "good.csv"
    with writer(path) as write:
        write(parts[0].select(np.arange(len(parts[0].game)) < 5))
    return path.read_text().splitlines()


def damage(lines: list[str], what: str) -> list[str]:
    """A file with a fault."""
    row = lines[1].split(",")
    unchosen = ",".join([*row[:3], "0", *row[4:]])
    changed = {
        "column": [lines[0].replace(",tenpai", ",tempai"), *lines[1:]],
        "order": [",".join([COLUMNS[1], COLUMNS[0], *COLUMNS[2:]]), *lines[1:]],
        "short": [*lines[:2], "1,2"],
        "word": [lines[0], ",".join([*row[:-1], "many"]), *lines[2:]],
        "nan": [lines[0], ",".join([*row[:-1], "nan"]), *lines[2:]],
        "action": [lines[0], ",".join([*row[:2], "chi", *row[3:]]), *lines[2:]],
        "unchosen": [lines[0], *(",".join([*line.split(",")[:3], "0", *line.split(",")[4:]]) for line in lines[1:])],
        "narrow": [lines[0], *(",".join(line.split(",")[:-1]) for line in lines[1:])],
        "huge": [lines[0], ",".join(["9" * 30, *row[1:]]), *lines[2:]],
        "many": [lines[0], ",".join([*row[:3], "1", *row[4:]]), *[unchosen] * MENU, *lines[-2:]],
        "endless": [lines[0], *[unchosen] * (3 * MENU)],
        "empty": [lines[0]],
        "nothing": [],
    }
    return changed[what]


@pytest.mark.parametrize(
    ("what", "named"),
    [
        ("column", "'tenpai'"),
        ("order", "columns"),
        ("short", "line 3: 2 "),
        ("word", "line 2: .*'many'"),
        ("nan", "decision 0: "),
        ("action", "line 2: .*'chi'"),
        ("unchosen", "decision 0: 0 "),
        ("narrow", f"line 2: {len(COLUMNS) - 1} "),
        ("huge", "line 2: "),
        ("many", "decision 0: "),
        ("endless", "decision 0: "),
        ("empty", "decisions"),
        ("nothing", "'game'"),
    ],
)
def test_a_bad_file_is_refused_with_the_place(tmp_path: Path, csv_lines: list[str], what: str, named: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("\n".join([*damage(csv_lines, what), ""]))
    with pytest.raises(ValueError, match=rf"^{path}: [^\n]*{named}[^\n]*$"):
        read_choices(path)


@pytest.mark.slow
def test_parquet_with_other_types_is_converted_or_refused(tmp_path: Path, parts: list[Choices]) -> None:
    path = tmp_path / "good.parquet"
    with writer(path) as write:
        write(parts[0])
    table = parquet.read_table(path)

    def changed(name: str, column: Any) -> Path:
        parquet.write_table(table.set_column(COLUMNS.index(name), name, column), tmp_path / "changed.parquet")
        return tmp_path / "changed.parquet"

    as_text = changed("chosen", pyarrow.array(["1" if chosen else "0" for chosen in table["chosen"].to_pylist()]))
    assert (read_choices(as_text).chosen == read_choices(path).chosen).all()
    holes = changed("game", pyarrow.array([None, *table["game"].to_pylist()[1:]]))
    with pytest.raises(ValueError, match=r"changed\.parquet: the column 'game' lacks values"):
        read_choices(holes)
    words = changed("tenpai", pyarrow.array(["many"] * len(table)))
    with pytest.raises(ValueError, match=r"changed\.parquet: no Parquet file that can be read"):
        read_choices(words)


def test_parquet_without_pyarrow_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match="pyarrow"):
        main(["export", str(tmp_path / "x.parquet"), "--selfplay", "random,random,random", "--games", "1"])
    assert not list(tmp_path.iterdir())


def test_records_are_exported_and_a_bad_one_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.mjson").write_text('{"type":"start_game"')
    out = tmp_path / "choices.csv"
    some = sorted(path for path in RECORDS.glob("phoenix*") if path.is_file())[:2]
    assert some
    assert main(["export", str(out), "--records", *map(str, some), str(tmp_path / "bad.mjson")]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"wrote {out}: ")
    assert "bad.mjson" in said.err
    choices = read_choices(out)
    assert set(choices.game.tolist()) <= {0, 1, 2}
    assert choices.phi.shape[1] == len(NAMES)
