"""What wrong uses of programs name: damaged files, files of another kind, and what is in the way."""

from __future__ import annotations

import json
import shutil
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path

from agents.training.folders import FILES

REPOSITORY = Path(__file__).resolve().parents[2]
RECORD = REPOSITORY / "tests" / "data" / "records" / "majsoul_kan3_nuki_rinshan.libriichi3p.mjson"
NETWORK, CNN = (REPOSITORY / "agents" / family / "weights" for family in ("bert", "cnn"))
# Bots in a file; `tests/support/refusals.py` has the numbers of the lines that raise.
BOTS = """\
class Eager:
    name = "eager"

    def act(self, views):
        return [0] * len(views)


class Passive:
    name = "passive"


class Deep(Eager):
    def __init__(self, depth):
        pass


class Untitled(Eager):
    name = 7


class Slotted:
    __slots__ = ()
    act = Eager.act


class Broken(Eager):
    def __init__(self):
        raise ValueError("need a model")


class Leaving(Eager):
    def __init__(self):
        raise SystemExit("no network here")


def make(argument):
    raise ValueError("bad is no good")


number = 3
"""
LEAGUE = {"league": {"seed": 7, "rules": "tenhou", "length": "east"}, "bots": [], "matches": []}
WRONG_SETTINGS = """\
[rooms]
length = "west"
fill_dely = 1
[storage]
database = ["postgresql://u:secret@host/games"]
"""
ENTRY_POINTS = """\
[nukidora.agents]
functionless = visiting_bots:no_such_function
nobody = visiting_bots:nobody
failing = failing_bots:make
"""


def text(name: str, content: str) -> Callable[[Path], Path]:
    """Makes a file with this text."""

    def make(folder: Path) -> Path:
        (folder / name).write_text(content)
        return folder / name

    return make


def folder_of(*names: str) -> Callable[[Path], Path]:
    """Makes a folder with files that hold an opening brace."""

    def make(folder: Path) -> Path:
        for name in names:
            (folder / name).write_text("{")
        return folder

    return make


def archive(folder: Path) -> Path:
    """Two records in a zip."""
    with zipfile.ZipFile(folder / "a.zip", "w") as file:
        for name in ("one.mjson", "two.mjson"):
            file.write(RECORD, name)
    return folder / "a.zip"


def data(folder: Path) -> Path:
    """Data to train on."""
    from agents.bert.training.data.selfplay import SelfPlayConfig, play
    from agents.bert.training.data.shards import save

    save(play(SelfPlayConfig(("random",) * 3), 0, 30), folder, 0)
    return folder


def small(folder: Path) -> Path:
    """A network smaller than the one that comes with nukidora."""
    from tests.support.small_networks import write_weights

    return write_weights(folder)


def dwarf(folder: Path) -> Path:
    """A network of the other family."""
    from agents.bert.training.networks import create_or_load

    create_or_load("dwarf").save_pretrained(folder)
    return folder


def broken(network: Path) -> Callable[[Path], Path]:
    """Makes a copy of a network whose weights are damaged."""

    def make(folder: Path) -> Path:
        shutil.copy(network / "config.json", folder)
        (folder / "model.safetensors").write_bytes(b"broken")
        return folder

    return make


def taken_port(_: Path) -> int:
    """A port on which somebody listens as long as the program runs."""
    listener = socket.create_server(("127.0.0.1", 0))
    LISTENERS.append(listener)
    port: int = listener.getsockname()[1]
    return port


LISTENERS: list[socket.socket] = []  # else they would be closed
MAKERS: dict[str, Callable[[Path], Path | str | int]] = {
    "archive": archive,
    "bad_manifest": folder_of("000000.games.npy", "manifest.json"),
    "bert_run": folder_of(*FILES["agents.bert"]),
    "bots": text("my_bot.py", BOTS),
    "broken_cnn": broken(CNN),
    "cut": text("cut.mjson", RECORD.read_text(encoding="utf-8")[:-50]),
    "data": data,
    "deep_json": text("deep.json", '{"league": ' + "[" * 100_000),
    "deep_toml": text("deep.toml", "port = " + "[" * 100_000),
    "dwarf": dwarf,
    "empty": lambda folder: folder,
    "four": text(
        "four.json", '{"log": [[[0, 0, 0], [], [], [], [], [], [], [], [], [], [], [], [], [11], [], [], []]]}'
    ),
    "league": text("league.json", json.dumps(LEAGUE)),
    "linear_run": folder_of(*FILES["agents.linear"], "metrics.csv"),
    "long": lambda _: "x" * 300,
    "network": lambda _: NETWORK,
    "no_archive": text("model.npz", "nothing"),
    "no_json": text("broken.json", '{"log": ['),
    "no_manifest": folder_of("000000.games.npy"),
    "no_module": text("lost.py", "import nowhere\n"),
    "no_parquet": text("bad.parquet", "PAR1 and nothing more"),
    "no_python": text("broken.py", "\n\ndef act(:\n"),
    "broken_bert": broken(NETWORK),
    "notes": text("notes.md", "my notes\n"),
    "nothing": text("empty.json", ""),
    "program": text("program.py", "raise SystemError('nobody asked for this program to run')\n"),
    "record": lambda _: RECORD,
    "rl_run": folder_of(*FILES["agents.rl"]),
    "room": lambda _: "mjsonp://localhost:1/x",
    "server_data": lambda folder: folder,
    "small": small,
    "taken_port": taken_port,
    "texts": folder_of("notes.md"),
    "wrong_settings": text("wrong.toml", WRONG_SETTINGS),
}


class Made(dict[str, str]):
    """What MAKERS make, each when it is first asked for, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        """``folder``: where all of them are."""
        self.folder = folder

    def __missing__(self, name: str) -> str:
        """Make it."""
        own = self.folder / name
        own.mkdir()
        self[name] = str(MAKERS[name](own))
        return self[name]


def visiting_bots(folder: Path) -> Path:
    """A folder with an installed package of which no bot can be loaded."""
    (folder / "visiting_bots.py").write_text("def nobody(argument, seed):\n    return None\n")
    (folder / "failing_bots.py").write_text("def make(argument, seed): ...\nraise RuntimeError('no licence')\n")
    metadata = folder / "visiting_bots-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: visiting-bots\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder
