"""What a bot needs to play elsewhere: its modules, its files, and packages to install.

What the bot imports and opens while it plays a round (see `tracing`) is packed; so are modules of nukidora that these
import in functions, which the round may not have run.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from itertools import chain, count
from pathlib import Path

from agents.bot_files import paths_of, split_at_paths
from agents.built_in import BUILT_IN
from agents.files import PROGRAM, is_file
from agents.pack.tracing import Trace, play, trace
from agents.strength.scale import is_scale
from engine.common.workers import SPAWN

HERE = Path(__file__).resolve().parents[2]  # the folder of our packages
OWN = ("engine", "agents")  # what a bot consists of, apart from a file of its author's
BOT, DATA = "bot", "data"  # folders of the archive: the author's file with its folder's files; what arguments name
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
        own = tuple(f"{package}/" for package in OWN)
        return sorted(path for name, path in self.files.items() if not name.startswith(own) and name not in self.spec)

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
    name = spec.partition(":")[0].partition("@")[0]
    if name not in BUILT_IN and not is_file(spec):
        raise ValueError(f"the bot {name} comes with another package: name the file that it is in, FILE.py:CLASS")
    parts, places = split_at_paths(spec), dict[Path, str]()
    for number in range(1, len(parts), 2):
        source = Path(parts[number]).expanduser().resolve()
        if source not in places:
            places[source] = _place(places.values(), is_bot=number == 1 and name not in BUILT_IN)
        parts[number] = f"{places[source]}/{source.name}"
    return parts, _with_scale(spec, places)


def _place(taken: Collection[str], is_bot: bool) -> str:
    """A folder of the archive that is not taken: two files may have the same name."""
    wanted = chain([BOT] if is_bot else [], [DATA], (f"{DATA}{number}" for number in count(2)))
    return next(place for place in wanted if place not in taken)


def _with_scale(spec: str, places: dict[Path, str]) -> dict[Path, str]:
    """Add the scale of a bot with a strength if it lies beside a file of `places`; one in a folder is in it."""
    beside = {source.parent: place for source, place in reversed([*places.items()])}
    scales = (path.resolve() for path in paths_of(spec) if is_scale(path))
    return {path: beside[path.parent] for path in scales if path.parent in beside} | places


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
