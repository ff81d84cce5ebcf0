"""A file that somebody sends starts no program: each reader of files is given one that would make a folder.

The folder is named by `MADE`: by a bot in a league, by what unpickling calls, by a module beside a network.
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest

from agents.bert.bot import BUNDLED
from agents.bert.families import family_of
from agents.bert.training.data import shards
from agents.bert.training.data.manifest import MANIFEST, read_manifest
from agents.linear.config import CHECKPOINT
from agents.linear.training import Trainer
from agents.registry import is_built_in, make
from agents.residual.features import FEATURES
from agents.rl.critic import NAMES as CRITIC
from agents.rl.critic import load_critic
from agents.rl.policy import NAMES, load_weights
from agents.search.model import Model, load_model
from agents.strength.scale import read_scale
from arena import cli as arena_cli
from arena.leagues import cli as league_cli
from arena.leagues.games import LeagueSettings
from arena.parquet import ends_of
from arena.recorder import check_folder, file_name
from arena.schedule import RunSettings, games_of

MADE = "made-by-a-file"
LINEAR = ("config", "theta", "best", "means", "epochs")  # of the state of a run of `agents.linear train`


class Maker:
    """Makes the folder when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (MADE,)


MAKERS = np.array([Maker()], dtype=object)


@pytest.fixture(autouse=True)
def _no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The test runs in a folder of its own, where afterwards none has been made."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not Path(MADE).exists()


def test_the_files_would_make_the_folder() -> None:
    pickle.loads(pickle.dumps(Maker()))
    Path(MADE).rmdir()  # raises if it was not made


# Bots that a file names -----------------------------------------------------------------------------------------------

PROGRAMS = (f"exec:mkdir {MADE}", f"exec+kita:mkdir {MADE}", "evil.py:Evil", "evil.py:Evil@-100", "bert:network")


@pytest.fixture
def strangers_bots() -> list[str]:
    """A bot of each kind that is no built-in one: programs, files of Python, folders of networks."""
    Path("evil.py").write_text(f"import os\nos.mkdir({MADE!r})\nclass Evil:\n    def act(self, views): ...\n")
    return ["rule", "efficiency", *PROGRAMS]


@pytest.mark.parametrize("name", ["league.json", "league.json.partial"])
def test_a_league(name: str, strangers_bots: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    settings = asdict(LeagueSettings(0, "tenhou", "hanchan"))
    rows = [{"bot": bot, "identity": "1"} for bot in strangers_bots]
    if name.endswith(".partial"):
        Path(name).write_text("\n".join(map(json.dumps, [settings, *rows])) + "\n")
    else:
        Path(name).write_text(json.dumps({"league": settings, "bots": rows, "matches": []}))
    with pytest.raises(SystemExit):
        league_cli.main(["--json", "league.json", "--games", "3"])
    told = capsys.readouterr().err.splitlines()[-1]
    assert all(bot in told for bot in PROGRAMS)
    assert "--bots" in told


def test_what_is_built_in() -> None:
    assert all(map(is_built_in, ("rule", "bert", "rule@-300")))
    assert not any(map(is_built_in, (*PROGRAMS, "rule:x", "mjsonp://localhost:1/room", "", " rule", "Rule")))


@pytest.mark.parametrize("name", ["run.json", "run.json.partial"])
def test_a_run_of_the_arena(name: str, strangers_bots: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    document = {"bots": strangers_bots[-3:], "settings": {"bots": strangers_bots[-3:]}}
    Path(name).write_text(json.dumps(document | {"sources": [], "bot_files": "", "comparisons": []}) + "\n")
    with pytest.raises(SystemExit):
        arena_cli.main(["--json", "run.json", "--bots", "rule,random,random", "--games", "3", "--jobs", "1"])
    assert "run.json" in capsys.readouterr().err


# Pickled objects ------------------------------------------------------------------------------------------------------


def archive(path: str, *names: str) -> Path:
    """A NumPy archive of pickled objects."""
    np.savez(path, **dict.fromkeys(names, MAKERS))
    return Path(path)


def pickled(path: str) -> Path:
    """A pickled object, whatever the name says."""
    Path(path).write_bytes(pickle.dumps(Maker()))
    return Path(path)


def network(file: str) -> Path:
    """The bundled network, with a file replaced by a pickled object."""
    copytree(BUNDLED, "network")
    pickled(f"network/{file}")
    return Path("network")


def shard() -> Path:
    """A folder of training data, whose arrays are pickled objects."""
    for name in shards.Shard._fields:
        with shards.array_path(Path(), 0, name).open("wb") as file:
            np.save(file, MAKERS)
    return Path()


def parts() -> Path:
    """The rows of a chunk of the arena, kept for its Parquet files."""
    with Path("games-000000.npy").open("wb") as file:
        np.save(file, MAKERS)
    return Path("games-000000.npy")


def run_of_linear() -> Path:
    """A run of `agents.linear train`, whose state is a pickled object."""
    return archive(CHECKPOINT, *LINEAR).parent


def resume_linear(folder: Path) -> None:
    """Go on with a run of `agents.linear train`, of which only the folder matters here."""
    run = object.__new__(Trainer)
    run.folder = folder
    run._load()


def scale_of(path: str) -> str:
    """A bot in a file, whose scale is a pickled object."""
    pickled(f"{Path(path).stem}.Bot.strength.json")
    return f"{path}:Bot"


READERS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "policy.npz": (lambda: archive("policy.npz", *NAMES), lambda path: load_weights(path, FEATURES)),
    "hands.npz": (lambda: archive("hands.npz", *Model._fields), load_model),
    "critic.npz": (lambda: archive("critic.npz", *CRITIC), lambda path: load_critic(path, FEATURES.n_state)),
    "residual": (lambda: archive("policy.npz", *NAMES), lambda path: make(f"residual:{path}")),
    "selfplay": (lambda: pickled("policy.npz"), lambda path: make(f"selfplay:{path}")),
    "linear": (lambda: pickled("weights.json"), lambda path: make(f"linear:{path}")),
    "model.onnx": (lambda: network("model.onnx"), lambda path: make(f"bert:{path}")),
    "model.safetensors": (lambda: network("model.safetensors"), lambda path: make(f"bert:{path}")),
    "shards": (shard, lambda folder: shards.load(folder, 0)),
    "rows of the arena": (parts, ends_of),
    "run of agents.linear": (run_of_linear, resume_linear),
    "manifest of training data": (lambda: pickled(MANIFEST).parent, read_manifest),
    "scale": (lambda: scale_of("bot.py"), read_scale),
}


@pytest.mark.parametrize("reader", READERS)
def test_pickled_objects_are_refused(reader: str) -> None:
    write, read = READERS[reader]
    given = write()
    with pytest.raises(ValueError, match=r"\w"):  # each reader says it in its own words
        read(given)


@pytest.mark.parametrize("key", ["attn_implementation", "experts_implementation", "quantization_config"])
def test_a_network_that_names_code(key: str) -> None:
    """Transformers would load a kernel from the internet, or import a package that quantizes."""
    pytest.importorskip("torch")
    from agents.bert.training.networks import create_or_load

    copytree(BUNDLED, "network")
    config = Path("network", "config.json")
    config.write_text(json.dumps(json.loads(config.read_text()) | {key: "stranger/kernel"}))
    with pytest.raises(ValueError, match=f"config.json has {key}, which no network of this bot has"):
        create_or_load("network")


def test_nested_json_is_one_error() -> None:
    """Python's parser gives up with an error that is no ValueError."""
    pytest.importorskip("torch")
    from agents.bert.training.commands import CONFIG_FILE, check_config
    from agents.bert.training.config import TrainingConfig

    for name in (MANIFEST, CONFIG_FILE, "config.json"):
        Path(name).write_text("[" * 100_000)
    with pytest.raises(ValueError, match="damaged"):
        read_manifest(Path())
    with pytest.raises(ValueError, match="damaged"):
        check_config(TrainingConfig("train", "data", "micro"), Path())
    assert family_of(Path()).name == "bert"


# NumPy archives: the array that is read first, and the reader
ARCHIVES: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "policy.npz": (NAMES[0], lambda path: load_weights(path, FEATURES)),
    "hands.npz": (Model._fields[0], load_model),
    "critic.npz": (CRITIC[0], lambda path: load_critic(path, FEATURES.n_state)),
    CHECKPOINT: (LINEAR[0], lambda path: resume_linear(path.parent)),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_is_read_in_bounded_memory(name: str) -> None:
    first, read = ARCHIVES[name]
    np.savez_compressed(name, **{first: np.zeros(1 << 23)})  # 64 MiB, zipped to a thousandth
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"cannot be read|damaged"):
        read(Path(name))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 23


def test_a_run_of_reinforcement_learning() -> None:
    pytest.importorskip("torch")
    from agents.rl.training import STATE, Run
    from tests.support.small_rl import SMALL

    with pytest.raises(ValueError, match=STATE):
        Run(pickled(STATE).parent, SMALL, None)


@pytest.mark.parametrize("content", ["nested", "no deflate", "a line without end", "pickled"])
def test_a_saved_game(content: str) -> None:
    """In place of the first game of a match."""
    settings = RunSettings(("rule", "random", "random"), 3, 1, "tenhou", "east")
    (game, *_), rules = games_of(settings, [0]), settings.make_rules()
    data = {
        "nested": gzip.compress(b"{}\n" + b"[" * 100_000),
        "no deflate": gzip.compress(b"{}\n" * 100)[:10] + b"\xff" * 100,
        "a line without end": gzip.compress(b"x" * (1 << 24)),
        "pickled": pickle.dumps(Maker()),
    }
    Path(file_name(game)).write_bytes(data[content])
    tracemalloc.start()
    with pytest.raises(ValueError, match="is a game of another run on the same walls"):
        check_folder(Path(), [game], settings.bots, rules, settings.scores)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 23
