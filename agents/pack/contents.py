"""What a bot needs to play elsewhere: its modules, its files, and packages to install.

What the bot imports and opens while it plays a round (see `tracing`) is packed; so are modules of nukidora that these
import in functions, which the round may not have run.
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

from agents.built_in import BUILT_IN
from agents.files import PROGRAM, SPEC
from agents.pack.tracing import Trace, play, trace
from engine.common.workers import SPAWN

HERE = Path(__file__).resolve().parents[2]  # the folder of our packages
OWN = ("engine", "agents")  # what a bot consists of, apart from a file of its author's
BOT, DATA = "bot", "data"  # folders of the archive: the author's file with its folder's files; what the argument names
END_OF_PATH = re.compile(r"[?@&:]")  # what may follow a path in an argument
INSTALLED = [Path(path).resolve() for path in {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}]


@dataclass(frozen=True, slots=True)
class Contents:
    """What goes into the archive of a bot.

    ``spec``: the bot spec in parts, every second one a path in the archive. ``files``: path in the archive -> file.
    ``needs``: module -> the package to install, by its name for pip.
    """

    spec: list[str]
    files: dict[str, Path]
    needs: dict[str, str]

    @property
    def beside(self) -> list[Path]:
        """The author's files that are packed, modules and others, apart from the bot's own."""
        places = (f"{BOT}/", f"{DATA}/")
        return sorted(path for name, path in self.files.items() if name.startswith(places) and name not in self.spec)

    @property
    def name(self) -> str:
        """The bot spec, with the last part of each path in it."""
        return "".join(Path(part).name if number % 2 else part for number, part in enumerate(self.spec))


def contents_of(spec: str) -> Contents:
    """What the bot `spec` needs. Raises ValueError, in one line, for a spec that cannot be packed."""
    if PROGRAM.match(spec):
        raise ValueError(f"{spec!r} is a program or a connection: only bots of this process can be packed")
    play(spec)  # faults are reported at once, and what compiles the bot is not traced
    parts, places = _split(spec)
    trace = _trace(spec)
    files = _own_files(trace)
    for source, place in places.items():
        files |= _files_at(source, place, trace)
    return Contents(parts, files, _needs(files, trace))


def _split(spec: str) -> tuple[list[str], dict[Path, str]]:
    """The parts of a spec as in `Contents`, and each file or folder that it names with its place in the archive."""
    match = SPEC.fullmatch(spec)
    name, colon, argument = spec.partition(":")
    parts, places = [name + colon], {}
    if name in BUILT_IN or match is None:
        if name.partition("@")[0] not in BUILT_IN:
            raise ValueError(f"the bot {name} comes with another package: name the file that it is in, FILE.py:CLASS")
    else:
        file = Path(match["file"]).expanduser().resolve()
        places[file] = BOT
        parts = ["", f"{BOT}/{file.name}", f":{match['name']}"]
        argument = match["argument"] or ""
        parts[-1] += ":" if match["argument"] is not None else ""
    path = _path_in(argument)
    if path:
        source = Path(path).expanduser().resolve()
        places[source] = DATA
        return [*parts, f"{DATA}/{source.name}", argument[len(path) :]], places
    return [*parts[:-1], parts[-1] + argument], places


def _path_in(argument: str) -> str:
    """The longest beginning of an argument that is a path of a file or folder, ``""`` if there is none."""
    ends = [len(argument), *(found.start() for found in reversed([*END_OF_PATH.finditer(argument)]))]
    return next((argument[:end] for end in ends if end and Path(argument[:end]).expanduser().exists()), "")


def _trace(spec: str) -> Trace:
    """Return what the bot imports and opens, in a separate process. Raises ValueError."""
    try:
        with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
            return pool.submit(trace, spec).result()
    except BrokenProcessPool:
        raise ValueError(f"{spec}: the process in which it was tried has ended") from None


def _own_files(trace: Trace) -> dict[str, Path]:
    """Our modules that the bot needs, and our files that it has opened."""
    wanted = [HERE / "agents/pack/player.py", *trace.modules.values()]
    wanted = [path for path in wanted if _is_own(path) and path.name != "tracing.py"]
    sources: set[Path] = set()
    while wanted:
        source = wanted.pop()
        if source not in sources:
            sources.add(source)
            wanted += [path for name, _ in _imports(source) for path in _sources_of(name)]
    opened = {path for path in trace.opened if _is_own(path) and not path.suffix.startswith(".py")}
    return {path.relative_to(HERE).as_posix(): path for path in sources | opened if path.is_file()}


def _files_at(source: Path, place: str, trace: Trace) -> dict[str, Path]:
    """Return what was read of a file or folder that the spec names; for a bot's file, also from its folder.

    Hidden files, and those in hidden folders, are left out: they hold settings and secrets of the author.
    """
    folder = source.parent if place == BOT else source
    read = {source, *trace.modules.values(), *trace.opened} - trace.written
    used = [path for path in read if path.is_file() and path.is_relative_to(folder) and path.suffix != ".pyc"]
    beside = [path for path in used if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    top = folder if place == BOT else folder.parent
    packed = [path for path in beside if path == source or not (_is_own(path) or _is_installed(path, folder))]
    return {f"{place}/{path.relative_to(top).as_posix()}": path for path in packed}


def _needs(files: dict[str, Path], trace: Trace) -> dict[str, str]:
    """Return the packages that the packed modules import, if the bot has actually imported them."""
    loaded = {*trace.modules.values()}
    sources = [path for path in files.values() if path in loaded and path.suffix == ".py"]
    names = {name.partition(".")[0] for path in sources for name, at_start in _imports(path) if at_start}
    packed = {Path(name).stem for name in files} | {*OWN}
    outside = names & trace.modules.keys() - packed - sys.stdlib_module_names
    packages = packages_distributions()
    needed = (outside | {"numpy", "numba"}) - {"llvmlite"}  # which comes with numba
    return {name: packages.get(name, [name])[0] for name in sorted(needed)}


def _imports(source: Path) -> Iterator[tuple[str, bool]]:
    """The modules, or names in modules, that a source imports, and whether it does so when it is itself imported."""
    tree = ast.parse(source.read_bytes())
    late = {id(node) for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) for node in ast.walk(each)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) not in late) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module, id(node) not in late
            yield from ((f"{node.module}.{alias.name}", id(node) not in late) for alias in node.names)


def _sources_of(name: str) -> list[Path]:
    """The files of our module `name` and of the packages that it is in; none for other modules."""
    if name.partition(".")[0] not in OWN:
        return []
    parts = name.split(".")
    paths = [HERE.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
    found = [*(path / "__init__.py" for path in paths), paths[-1].with_name(f"{paths[-1].name}.py")]
    return [path for path in found if path.is_file()]


def _is_own(path: Path) -> bool:
    return any(path.is_relative_to(HERE / package) for package in OWN)


def _is_installed(path: Path, folder: Path) -> bool:
    """Whether a file belongs to Python or to a package, as in an environment that lies in the author's `folder`."""
    return any(path.is_relative_to(installed) for installed in INSTALLED if not folder.is_relative_to(installed))
