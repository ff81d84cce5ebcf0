"""What is packed of a bot, and that the archive is the same each time."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from agents.pack import launcher
from agents.pack.archive import license_text, write_archive
from agents.pack.cli import main
from agents.pack.contents import HERE, Contents, contents_of
from agents.pack.packing import is_action
from agents.strength.scale import SHIPPED
from engine.common.program import BAD_ARGUMENTS, FAILED, OK
from engine.machine_code import cache_root

MY_BOT = """\
from pathlib import Path

import numpy as np

import beside
from agents.external.fallback import FallbackAgent

WEIGHTS = np.load(Path(__file__).parent / "weights" / "mine.npy")


class Mine(FallbackAgent):
    name = "mine"

    def __init__(self, argument):
        self.text = Path(argument).read_text() if argument else ""
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a bot that needs other files, and files that it does not need."""
    (tmp_path / "my_bot.py").write_text(MY_BOT)
    (tmp_path / "beside.py").write_text("import farther\n")
    (tmp_path / "farther.py").write_text("")
    (tmp_path / "unused.py").write_text("")
    (tmp_path / "settings.txt").write_text("bold")
    (tmp_path / "weights").mkdir()
    np.save(tmp_path / "weights" / "mine.npy", np.zeros(3))
    np.savez(tmp_path / "others.npz", np.zeros(3))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.fixture(scope="module")
def tsumogiri() -> Contents:
    return contents_of("tsumogiri")


@pytest.mark.slow
def test_a_bot_is_packed_with_what_it_uses_and_no_more(tsumogiri: Contents) -> None:
    used = {"agents/bots/tsumogiri.py", "agents/pack/player.py", "engine/shanten.npz", "engine/turn.py"}
    assert used <= set(tsumogiri.files)
    unwanted = ("agents/bert", "agents/client", "agents/bots/rule", "agents/pack/contents", "engine/records", "arena")
    assert [name for name in tsumogiri.files if name.startswith(unwanted)] == []
    assert tsumogiri.needs == {"numba": "numba", "numpy": "numpy"}
    assert "".join(tsumogiri.spec) == "tsumogiri"


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_file_of_ones_own_is_packed_with_what_it_uses_beside_it() -> None:
    contents = contents_of("my_bot.py:Mine:settings.txt")
    own = {name for name in contents.files if name.startswith(("bot/", "data/"))}
    beside = {"bot/my_bot.py", "bot/beside.py", "bot/farther.py", "bot/weights/mine.npy", "bot/settings.txt"}
    assert own == beside | {"data/settings.txt"}
    assert contents.spec == ["", "bot/my_bot.py", ":Mine:", "data/settings.txt", ""]


@pytest.mark.slow
def test_what_a_bot_writes_and_hidden_files_are_not_packed(folder: Path) -> None:
    """They hold what the author alone should have: a log, a token."""
    reads = 'Path(".env").read_text()\nPath(".keys/token").read_text()\nPath("settings.txt").read_text()\n'
    writes = 'Path("log.txt").write_text("started")\nopen("notes.txt", "a").close()\n'
    for name in (".env", ".keys/token", "notes.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("secret")
    with (folder / "my_bot.py").open("a") as file:
        file.write(reads + writes)
    contents = contents_of("my_bot.py:Mine")
    assert [path.name for path in contents.beside] == ["beside.py", "farther.py", "settings.txt", "mine.npy"]
    assert contents.name == "my_bot.py:Mine"


@pytest.mark.slow
def test_a_network_is_packed_with_its_folder_and_needs_onnxruntime(folder: Path) -> None:
    bundled = contents_of("bert")
    assert bundled.needs == {"numba": "numba", "numpy": "numpy", "onnxruntime": "onnxruntime"}
    weights = bundled.files["agents/bert/weights/model.onnx"].parent
    (folder / "mine").mkdir()
    for name in ("model.onnx", "config.json"):
        (folder / "mine" / name).write_bytes((weights / name).read_bytes())
    contents = contents_of("bert:mine?temperature=0.5")
    assert contents.spec == ["bert:", "data/mine", "?temperature=0.5"]
    assert "data/mine/model.onnx" in contents.files
    assert not any(name.startswith("agents/bert/weights/") for name in contents.files)


@pytest.mark.slow
def test_files_in_options_are_packed_even_of_the_same_name(folder: Path) -> None:
    bundled = HERE / "agents/search/weights"
    for name, source in (("mine", "critic.npz"), ("other", "worlds.npz")):
        (folder / name).mkdir()
        (folder / name / "x.npz").write_bytes((bundled / source).read_bytes())
    contents = contents_of(f"search:n=1&critic={folder}/mine/x.npz&model=other/x.npz")
    assert contents.spec == ["search:n=1&critic=", "data/x.npz", "&model=", "data2/x.npz", ""]
    assert contents.files["data/x.npz"] == folder / "mine/x.npz"
    assert contents.files["data2/x.npz"] == folder / "other/x.npz"
    assert not any(name.startswith("agents/search/weights/") for name in contents.files)


@pytest.mark.slow
def test_the_scale_of_a_bot_with_a_strength_is_packed(folder: Path) -> None:
    weights = HERE / "agents/linear/weights/linear.json"
    (folder / "mine.json").write_bytes(weights.read_bytes())
    for name in ("mine.json", "my_bot.Mine"):
        (folder / f"{name}.strength.json").write_bytes((SHIPPED / "rule.json").read_bytes())
    contents = contents_of("linear:mine.json@-300")
    assert contents.spec == ["linear:", "data/mine.json", "@-300"]
    assert contents.files["data/mine.json.strength.json"] == folder / "mine.json.strength.json"
    contents = contents_of("my_bot.py:Mine@-300")
    assert contents.files["bot/my_bot.Mine.strength.json"] == folder / "my_bot.Mine.strength.json"
    assert "agents/strength/scales/rule.json" in contents_of("rule@-300").files


@pytest.mark.slow
def test_the_same_bot_gives_the_same_bytes(tsumogiri: Contents, tmp_path: Path) -> None:
    first, second = tmp_path / "first.pyz", tmp_path / "second.pyz"
    write_archive(tsumogiri, first)
    write_archive(contents_of("tsumogiri"), second)
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert archive.read("LICENSE").decode() == license_text()
        assert "MIT" in license_text()
        assert archive.read("agents/__init__.py") == archive.read("engine/__init__.py") == b""
        assert json.loads(archive.read(launcher.MANIFEST)) == {
            "bot": "tsumogiri", "spec": ["tsumogiri"], "needs": {"numba": "numba", "numpy": "numpy"},
        }  # fmt: skip


def test_a_folder_of_data_hides_no_module(tmp_path: Path) -> None:
    names = ("agents/linear/weights.py", "agents/linear/weights/linear.json")
    write_archive(Contents(["linear"], {name: HERE / name for name in names}, {}), tmp_path / "bot.pyz")
    with zipfile.ZipFile(tmp_path / "bot.pyz") as archive:
        packages = [name for name in archive.namelist() if name.endswith("__init__.py")]
    assert packages == ["agents/__init__.py", "agents/linear/__init__.py"]


def test_the_archive_is_unpacked_once_and_repaired(tsumogiri: Contents, tmp_path: Path) -> None:
    archive = tmp_path / "bot.pyz"
    write_archive(tsumogiri, archive)
    root = launcher.unpack(archive, tmp_path / "cache")
    assert root.parent == tmp_path / "cache"
    before = {path: path.stat() for path in root.rglob("*") if path.is_file()}
    lost, cut = root / "engine/turn.py", root / "engine/table.py"
    lost.unlink()
    cut.write_text("")
    assert launcher.unpack(archive, tmp_path / "cache") == root
    after = {path: path.stat() for path in root.rglob("*") if path.is_file()}
    assert {path: (of.st_size, of.st_mtime) for path, of in after.items()} == {
        path: (of.st_size, of.st_mtime) for path, of in before.items()
    }
    assert {path for path in after if after[path].st_ctime_ns != before[path].st_ctime_ns} == {lost, cut}


def test_the_launcher_finds_the_cache_where_the_engine_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("NUKIDORA_CACHE", "/a"), ("NUKIDORA_CACHE", ""), ("XDG_CACHE_HOME", "/b")):
        monkeypatch.setenv(name, value)
        assert launcher.cache_root() == cache_root()


def test_missing_packages_are_named_in_one_line(
    tsumogiri: Contents, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "bot.pyz"
    needs = {"numpy": "numpy", "nowhere_to_be_found": "nowhere-to-be-found", "nor_this": "nor-this"}
    write_archive(Contents(tsumogiri.spec, tsumogiri.files, needs), archive)
    assert launcher.main(archive) == BAD_ARGUMENTS
    told = f"bot.pyz needs packages: {sys.executable} -m pip install nowhere-to-be-found nor-this\n"
    assert capsys.readouterr().err == told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mischief", "patience", "what"),
    [
        ('os.write(1, b"hello")', 600.0, ""),  # a print of native code is no reply
        ("os._exit(3)", 600.0, "it ended with exit code 3"),
        ("__import__('time').sleep(600)", 2.0, "no reply after 2 s"),
    ],
)
def test_a_bot_that_does_not_play_when_packed_leaves_the_file_that_was_there(
    folder: Path,
    mischief: str,
    patience: float,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("agents.pack.packing.COMPILE_TIME", patience)
    packed = 'if "packs" in __file__:\n    ' + mischief + "\n"  # where it has been unpacked, not where it is tried
    (folder / "odd.py").write_text(
        "import os\n\nfrom agents.external.fallback import FallbackAgent\n\n" + packed + "\n\n"
        "class Odd(FallbackAgent):\n    def __init__(self, argument):\n        pass\n"
    )
    (folder / "odd.pyz").write_bytes(b"before")
    assert main(["odd.py:Odd", "-o", "odd.pyz"]) == (FAILED if what else OK)
    told = capsys.readouterr().err
    assert what in told
    assert ((folder / "odd.pyz").read_bytes() == b"before") == bool(what)
    assert not list(folder.glob(".pack-*"))


@pytest.mark.parametrize("line", [b"", b"hello\n", b"[]\n", b"{}\n", b'{"type":"none"}\n', b"\xff"])
def test_what_is_no_action_is_no_reply(line: bytes) -> None:
    assert not is_action(line)
    assert is_action(b'{"type":"dahai","actor":0,"pai":"5p","tsumogiri":true}\n')
