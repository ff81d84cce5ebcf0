"""Every wrong use of a program ends with its exit code and one line that names what is wrong, and writes nothing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path

import pytest

from agents import registry
from tests.support.made_files import Made, visiting_bots
from tests.support.refusals import REFUSALS, Refusal

REPOSITORY = Path(__file__).resolve().parents[1]
WORDS_OF_LIBRARIES = re.compile(r"Traceback|\[Errno|Input should|valid \w+, unable to parse")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The files that the rows name."""
    return Made(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def _visitors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A package with bots is installed; which packages are is looked up once only, for that takes long."""
    site = visiting_bots(tmp_path_factory.mktemp("site"))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        found = metadata.entry_points(group="nukidora.agents")
        patch.setattr(registry, "entry_points", lambda group: found)
        yield


def contents(folder: Path) -> dict[Path, bytes]:
    """All files, and folders as if they were empty; but a server opens its data folder before it listens.

    And Python keeps byte code of a bot that is imported.
    """
    found = [path for path in folder.rglob("*") if {"server_data", "__pycache__"}.isdisjoint(path.parts)]
    return {path: path.read_bytes() if path.is_file() else b"" for path in found}


@pytest.mark.usefixtures("_visitors")
@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_wrong_use_is_one_line_that_names_it(
    refusal: Refusal,
    made: Made,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in [name for name in os.environ if name.upper().startswith("NUKIDORA_") and name != "NUKIDORA_CACHE"]:
        monkeypatch.delenv(name)
    for name, value in refusal.variables.items():
        monkeypatch.setenv(name, value.format_map(made))
    made["here"] = str(tmp_path)
    program, *words = refusal.program.split()
    words += [word.format_map(made) for word in refusal.arguments]
    named = [word.format_map(made) for word in refusal.named]
    before = contents(made.folder)
    in_cli = (REPOSITORY / program.replace(".", "/") / "cli.py").exists()
    module = import_module(f"{program}.cli" if in_cli else program)
    capsys.readouterr()
    try:
        code = module.main(words)
    except SystemExit as ended:
        code = ended.code
    printed, line = capsys.readouterr()
    assert (code, printed, line.count("\n")) == (refusal.code, "", 1), line
    assert line.startswith((program, "nukidora"))
    assert [word for word in named if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line)] == [], line
    assert not WORDS_OF_LIBRARIES.search(line)
    assert "secret" not in line
    assert line[:-1].isprintable()
    assert list(tmp_path.iterdir()) == []
    assert contents(made.folder) == before
