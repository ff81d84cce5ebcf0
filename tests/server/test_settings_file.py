"""The settings file: what ``python -m server settings`` prints, and what is said of wrong files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from server.cli import main
from server.settings import SETTINGS, TABLES, Settings
from server.settings_file import EXAMPLES, PRECEDENCE, file_text, read_file


def read(folder: Path, text: str) -> tuple[dict[str, object], list[str]]:
    """The values of a file, and its errors without its path."""
    path = folder / "nukidora.toml"
    path.write_text(text, encoding="utf-8")
    values, errors = read_file(str(path))
    return values, [error.replace(str(path), "FILE") for error in errors]


def test_the_file_that_is_printed_changes_nothing(tmp_path: Path) -> None:
    text = file_text()
    assert tomllib.loads(text) == {table: {} for table in TABLES}
    assert read(tmp_path, text) == ({}, [])


def test_the_file_that_is_printed_has_every_setting_its_default_and_its_meaning(tmp_path: Path) -> None:
    text = file_text()
    values, errors = read(tmp_path, re.sub(r"^#(?=\w)", "", text, flags=re.MULTILINE))
    assert errors == []
    assert list(values) == list(SETTINGS)
    assert Settings(**values | {name: SETTINGS[name].default for name in EXAMPLES}) == Settings()  # type: ignore[arg-type]
    said = " ".join(line.removeprefix("# ") for line in text.splitlines())
    assert PRECEDENCE in said
    assert [name for name, setting in SETTINGS.items() if setting.metadata["description"] not in said] == []
    assert max(map(len, text.splitlines())) <= 100


def test_the_command_prints_it_whatever_is_set(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUKIDORA_PORT", "many")
    assert main(["settings"]) == 0
    assert capsys.readouterr().out == file_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[rooms]\nfill_dely = 5", "FILE [rooms]: unknown setting 'fill_dely': did you mean fill_delay?"),
        ("[rooms]\nfill-delay = 5", "FILE [rooms]: unknown setting 'fill-delay': did you mean fill_delay?"),
        ("[limits]\nprot = 5", "FILE [limits]: unknown setting 'prot': did you mean port below [network]?"),
        ("[rooms]\nxyzzy = 5", "FILE [rooms]: unknown setting 'xyzzy': python -m server settings prints all"),
        ("[rooms]\nport = 5", "FILE [rooms]: port belongs below [network]"),
        ("[rooms.cup]\nport = 5", "FILE [rooms]: unknown setting 'cup': python -m server settings prints all"),
        ("port = 5", "FILE: port belongs below [network]"),
        ("prot = 5", "FILE: unknown setting 'prot': did you mean port below [network]?"),
        ("[room]\n", "FILE: unknown table [room]: did you mean [rooms]?"),
        ("[xyzzy]\n", "FILE: unknown table [xyzzy]: give [network], [storage], [rooms], [limits], [logging]"),
        ("rooms = 3", "FILE: rooms is a table: put [rooms] on a line of its own, and its settings below"),
        ("[[rooms]]", "FILE: rooms is a table: put [rooms] on a line of its own, and its settings below"),
        ("[rooms]\nlength = true", 'FILE [rooms] length = true: give "east" or "hanchan"'),
        ('[rooms]\nlength = "west"', 'FILE [rooms] length = "west": give "east" or "hanchan"'),
        ('[rooms]\nrated = "true"', 'FILE [rooms] rated = "true": give true or false'),
        ("[rooms]\nrated = 1", "FILE [rooms] rated = 1: give true or false"),
        ("[rooms]\ngames = true", "FILE [rooms] games = true: give a whole number at least 0 and at most 1000000"),
        ("[rooms]\ngames = 1.0", "FILE [rooms] games = 1.0: give a whole number at least 0 and at most 1000000"),
        ("[rooms]\npause = nan", "FILE [rooms] pause = nan: give a number at least 0 and at most 60"),
        ('[rooms]\npause = "1"', 'FILE [rooms] pause = "1": give a number at least 0 and at most 60'),
        (
            "[rooms]\nseed = -1",
            "FILE [rooms] seed = -1: give a whole number at least 0 and at most 18446744073709551615",
        ),
        ('[rooms]\nfill = "rule"', 'FILE [rooms] fill = "rule": give at most 2, as in ["rule", "random"]'),
        ("[rooms]\nfill = [1]", 'FILE [rooms] fill = [1]: give at most 2, as in ["rule", "random"]'),
        (
            '[rooms]\nfill = ["rule", "rule", "rule"]',
            'FILE [rooms] fill = ["rule", "rule", "rule"]: give at most 2, as in ["rule", "random"]',
        ),
        (
            '[rooms]\nscores = "25000,35000,45000"',
            'FILE [rooms] scores = "25000,35000,45000": give three numbers of points, as in [25000, 35000, 45000]',
        ),
        (
            "[rooms]\nscores = [105000]",
            "FILE [rooms] scores = [105000]: scores must be three, one for each seat, not 1: (105000,)",
        ),
        ("[network]\nhost = 127", "FILE [network] host = 127: give a text in quotes"),
        ("[storage]\ndata = 1979-05-27", "FILE [storage] data = 1979-05-27: give a text in quotes"),
        ("[storage]\ndatabase = ['secret']", "FILE [storage] database = …: give a text in quotes"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_what_is_allowed(text: str, said: str, tmp_path: Path) -> None:
    assert read(tmp_path, text) == ({}, [said])


@pytest.mark.parametrize(
    ("text", "line"), [("[rooms]\nlength = east\n", "line 2"), ("[rooms\n", "line 1"), ("my notes", "line 1")]
)
def test_what_is_no_toml_is_said_with_its_line(text: str, line: str, tmp_path: Path) -> None:
    values, (error,) = read(tmp_path, text)
    assert values == {}
    assert error.startswith("settings file FILE is no TOML: ")
    assert line in error


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"# caf\xe9")
    for name, why in (("", "Is a directory"), ("none", "No such file"), ("latin", "is no TOML: 'utf-8' codec")):
        values, (error,) = read_file(str(tmp_path / name))
        assert (values, why in error) == ({}, True), error


def test_all_that_is_wrong_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nukidora.toml"
    path.write_text('[rooms]\nlength = "west"\nfill_dely = 1\n[storage]\ndatabase = 1\n')
    monkeypatch.setenv("NUKIDORA_GAMES", "many")
    with pytest.raises(SystemExit) as ended:
        main(["--settings", str(path), "--port", "http"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    for wrong in ("length", "fill_dely", "database = …", "NUKIDORA_GAMES 'many'", "--port 'http'"):
        assert wrong in said
