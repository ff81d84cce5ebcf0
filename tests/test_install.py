"""The wheel: what it holds and needs, and that it lives beside other distributions with packages of the same names."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

from tests.support.wheel import build_wheel

REPOSITORY = Path(__file__).resolve().parent.parent
NAMESPACES = ("engine", "agents", "server")

# The distribution openai-agents has a package `agents` of its own; this one stands for it.
OTHER_FILES = {
    "agents/__init__.py": "WHOSE = 'theirs'\n",
    "agents/py.typed": "",
    "agents/run.py": "",
    "other_agents-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: other-agents\nVersion: 1.0\n",
    "other_agents-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our wheel."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    """The wheel's metadata; its body is the description."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_the_wheel_has_no_file_that_another_distribution_may_have(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [PurePosixPath(name) for name in archive.namelist()]
    top = {name.parts[0] for name in names if not name.parts[0].endswith(".dist-info")}
    assert top == {*NAMESPACES, "arena", "nukidora"}
    clashing = {f"{package}/{name}" for package in NAMESPACES for name in ("__init__.py", "py.typed")}
    clashing.remove("engine/py.typed")  # an empty file, without which type checkers know none of engine's own modules
    assert clashing.isdisjoint(map(str, names))
    data = {
        "agents/bert/weights/model.onnx",
        "agents/cnn/weights/model.onnx",
        "agents/ensemble/weights/network.npz",
        "agents/human/weights/model.onnx",
        "agents/linear/weights/linear.json",
        "agents/residual/weights/network.npz",
        "agents/search/weights/worlds.npz",
        "agents/selfplay/weights/network.npz",
        "engine/py.typed",
        "engine/shanten.npz",
        "engine/tiles.svg",
        "nukidora/envs/fonts/DejaVuSans.ttf",
        "nukidora/envs/fonts/LICENSE",
        "nukidora/py.typed",
    }
    assert data <= set(map(str, names))
    web = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "server/web").rglob("*.*")}
    assert "server/web/mjai.js" in web
    assert web <= set(map(str, names))
    assert [str(name) for name in names if "tests" in name.parts] == []


@pytest.mark.slow
def test_a_user_program_has_types(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    (tmp_path / "program.py").write_text("from nukidora import Game, Typo\nreveal_type(Game())\n")
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    run_mypy = """
import sys, mypy.main, mypy.modulefinder
mypy.main.get_search_dirs = mypy.modulefinder.get_search_dirs = lambda executable: ([], ["installed"])
mypy.main.main(args=["--strict", "program.py"])
"""
    done = subprocess.run([sys.executable, "-c", run_mypy], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 'Revealed type is "engine.game.Game"' in done.stdout, done.stdout + done.stderr
    assert 'Module "nukidora" has no attribute "Typo"' in done.stdout
    assert "Found 1 error" in done.stdout


def test_the_metadata_say_what_it_is_and_needs(metadata: Message) -> None:
    assert metadata["Summary"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata.get_all("Project-URL")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert str(metadata.get_payload()).startswith("# nukidora")
    required = [text for text in metadata.get_all("Requires-Dist", []) if "extra ==" not in text]
    assert sorted(text.split(">")[0] for text in required) == ["numba", "numpy", "rich"]
    assert {"server", "train"} <= set(metadata.get_all("Provides-Extra", []))


def other_wheel(folder: Path) -> Path:
    """A wheel whose only package is another `agents`."""
    path = folder / "other_agents-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in OTHER_FILES.items():
            archive.writestr(name, text)
        archive.writestr("other_agents-1.0.dist-info/RECORD", "".join(f"{name},,\n" for name in OTHER_FILES))
    return path


class Environment:
    """A virtual environment that sees our dependencies, but not the sources."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.bin = folder / ("Scripts" if sys.platform == "win32" else "bin")
        self.variables = os.environ | {"PYTHONPATH": sysconfig.get_path("purelib")}
        self.folder = folder

    def run(self, *command: str | Path, cwd: Path | None = None) -> str:
        """Run a program of the environment; returns its output."""
        program, *arguments = command
        done = subprocess.run(
            [self.bin / program, *arguments],
            env=self.variables,
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pip(self, *arguments: str | Path) -> None:
        """Run pip without an index."""
        variables, self.variables = self.variables, dict(os.environ)
        self.run("python", "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)
        self.variables = variables


WHOSE = "import agents; print(getattr(agents, 'WHOSE', 'nobody'))"
OURS = "from agents.registry import names; import engine.game, arena.run; print(*names())"


@pytest.mark.slow
@pytest.mark.parametrize("ours_first", [pytest.param(True, marks=pytest.mark.long), False])
def test_another_package_agents_is_not_harmed(tmp_path: Path, wheel: Path, ours_first: bool) -> None:
    """Install both in either order, and uninstall ours, or theirs: the other works on."""
    environment = Environment(tmp_path / "environment")
    ours, theirs = wheel, other_wheel(tmp_path)
    for each in (ours, theirs) if ours_first else (theirs, ours):
        environment.pip("install", "--no-deps", "--no-index", each)
    assert environment.run("python", "-c", WHOSE) == "theirs\n"
    assert "rule" in environment.run("python", "-c", OURS)
    assert environment.run("nukidora", "--version").startswith("nukidora ")
    environment.pip("uninstall", "--yes", "nukidora" if ours_first else "other-agents")
    assert environment.run("python", "-c", WHOSE) == ("theirs\n" if ours_first else "nobody\n")
    if not ours_first:
        assert "rule" in environment.run("python", "-c", OURS)


@pytest.mark.slow
def test_files_of_the_user_do_not_replace_ours(tmp_path: Path, wheel: Path) -> None:
    """`nukidora` works in a folder with a `server.py`, and with folders and files of the names of our packages."""
    environment = Environment(tmp_path / "environment")
    environment.pip("install", "--no-deps", "--no-index", wheel)
    for name in ("server.py", "engine.py", "nukidora.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong module')\n")
    for name in ("agents", "arena"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n")
    assert "--fill" in environment.run("nukidora", "server", "--help", cwd=tmp_path)
    environment.variables["NUMBA_DISABLE_JIT"] = "1"  # what is compiled belongs to the folder of the sources
    command = ("nukidora", "arena", "--games", "3", "--length", "east", "--bots", "random,random,random")
    assert "3 games in" in environment.run(*command, cwd=tmp_path)


def without_packages(*packages: str) -> str:
    """Code that hides packages from the imports that follow."""
    return f"import sys; sys.modules.update(dict.fromkeys({packages!r}))\n"


@pytest.mark.parametrize(
    ("program", "arguments", "package", "extra"),
    [
        ("arena.cli", [], "numba", "."),
        ("server.cli", ["--port=0", "--mjai-port=0", "--data={folder}"], "uvicorn", ".[server]"),
        ("agents.client.cli", ["rule", "mjsonp://localhost/default"], "numpy", "."),
        ("agents.bert.play.cli", ["{folder}"], "numpy", "."),
        ("agents.bert.cli", ["train", "{folder}", "{folder}"], "numpy", "."),
        ("agents.bert.cli", ["export", "{folder}"], "onnx", ".[train]"),
        ("arena.cli", ["--bots", "bert:?device=cuda,rule,rule"], "torch", ".[train]"),
        ("arena.cli", ["--bots", "bert,rule,rule"], "onnxruntime", ".[server]"),
        ("benchmarks.engine.cli", [], "numpy", "."),
    ],
)
def test_a_missing_package_is_one_line(
    program: str, arguments: list[str], package: str, extra: str, tmp_path: Path
) -> None:
    words = [argument.format(folder=tmp_path) for argument in arguments]
    run = f"from engine.common.program import start; sys.exit(start('{program}:main', {words}))"
    done = subprocess.run(
        [sys.executable, "-c", without_packages(package) + run], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{package} is not installed for {sys.executable}: install it with pip install")
    assert f"'{extra}'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_package_that_hides_ours_is_one_line(tmp_path: Path) -> None:
    """As in an editable installation beside another distribution with a package `agents`."""
    theirs = tmp_path / "agents" / "__init__.py"
    theirs.parent.mkdir()
    theirs.touch()
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"}
    command = [sys.executable, "-m", "nukidora", "arena"]
    done = subprocess.run(command, cwd=tmp_path.parent, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{theirs} hides nukidora's package agents: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("run", ["start('arena.cli:main')", "nukidora_main()"])
def test_an_old_python_is_one_line(run: str) -> None:
    code = "import sys; sys.version_info = (3, 10, 13)\n"
    code += "from engine.common.program import start; from nukidora.cli import main as nukidora_main\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}sys.exit({run})"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("nukidora needs Python 3.11 or newer; this is Python ")
    assert done.stderr.count("\n") == 1


def test_every_public_name_can_be_imported() -> None:
    import nukidora

    assert {name: getattr(nukidora, name) for name in nukidora.__all__}.keys() == set(dir(nukidora))
    with pytest.raises(AttributeError, match="no attribute 'Gmae'"):
        _ = nukidora.Gmae
