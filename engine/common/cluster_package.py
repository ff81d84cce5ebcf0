"""What is sent to the machines of a cluster: the sources, the machine code compiled from them, and files of the user.

It is a zip file, which Ray sends to a machine once and unpacks there:

``engine``, ``agents``, …    the packages
``cache/DIGEST/FOLDER``      the machine code of the modules in a folder of them (`engine.compiling`)
``files``                    what lies below the current folder here; the current folder there
``manifest.json``            see `write_package`

numba names a folder of its cache by the path of the sources, which is another one there, and takes the modification
times of sources into account, which Ray does not keep; `engine.common.cluster_node.settle` sets both right.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from numba.core.caching import UserProvidedCacheLocator

from engine import compiling, warm_up
from engine.common.cluster_node import CACHE, FILES, MANIFEST

PACKAGES = ("engine", "agents", "arena", "nukidora")
LEFT_OUT = ("__pycache__", "node_modules", "runs", "site", "venv")  # of folders of the user; so is what is hidden
MAX_SIZE = 100 << 20  # bytes of all files of the user
ROOT = compiling.ENGINE.parent


def write_package(path: Path, files: Sequence[Path]) -> None:
    """Write the package to ``path``. The same contents give the same bytes. Raises ValueError, OSError.

    ``files`` are those of `engine.common.cluster.Cluster`. The manifest has the modification times of sources, in
    nanoseconds, and what the machine code was compiled for, None if the cache was not complete.
    """
    sources = [file for package in PACKAGES for file in files_in(ROOT / package)]
    complete = warm_up.stamp().exists()
    manifest = {
        "mtimes": {name_of(file, ROOT): file.stat().st_mtime_ns for file in sources if file.suffix == ".py"},
        "compiled_for": warm_up.compiled_for() if complete else None,
    }
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for file in sources:
            add(archive, name_of(file, ROOT), file.read_bytes())
        for name, file in machine_code():
            add(archive, name, file.read_bytes())
        for file in users_files(files):
            add(archive, f"{FILES}/{file.as_posix()}", file.read_bytes())
        add(archive, MANIFEST, json.dumps(manifest).encode())


def add(archive: ZipFile, name: str, data: bytes) -> None:
    """Add a file without a time."""
    entry = ZipInfo(name)
    entry.external_attr, entry.compress_type = 0o644 << 16, ZIP_DEFLATED
    archive.writestr(entry, data)


def name_of(path: Path, folder: Path) -> str:
    """The name of a file in the package."""
    return path.relative_to(folder).as_posix()


def files_in(folder: Path) -> Iterator[Path]:
    """All files in a folder, without those in LEFT_OUT and hidden ones, in the same order everywhere."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not name.startswith("."))
        yield from (Path(place) / name for name in sorted(files) if not name.startswith("."))


def machine_code() -> Iterator[tuple[str, Path]]:
    """The files of the compile cache that belong to the packages, with their names in the package."""
    for package in warm_up.PACKAGES:
        cached = compiling.cache_folder(ROOT / package)
        for folder in sorted({file.parent for file in files_in(ROOT / package) if file.suffix == ".py"}):
            name = f"{CACHE}/{cached.name}/{name_of(folder, ROOT).replace('/', '.')}"
            for file in files_in(cached / cache_name(folder)):
                yield f"{name}/{file.name}", file


def cache_name(folder: Path) -> str:
    """How numba names the cache of the modules in a folder."""
    return str(UserProvidedCacheLocator.get_suitable_cache_subpath(str(folder / "module.py")))


def users_files(paths: Sequence[Path]) -> list[Path]:
    """The files to send, relative to the current folder. Raises ValueError if they are too large.

    A folder with all that is in it; of a Python file the folder it lies in, since it may use what is there. Paths that
    do not exist, or do not lie below the current folder, are left out.
    """
    here = Path.cwd()
    found: set[Path] = set()
    for path in paths:
        whole = path.resolve()
        if path.is_absolute() or not whole.exists() or not whole.is_relative_to(here):
            continue
        folder = whole if whole.is_dir() else whole.parent
        size = 0
        for file in files_in(folder) if whole.is_dir() or whole.suffix == ".py" else [whole]:
            size += file.stat().st_size if file.is_file() else 0
            if size > MAX_SIZE:
                limit = f"more than {MAX_SIZE >> 20} MiB"
                raise ValueError(f"{folder} is sent to the machines of the cluster with {path}, but holds {limit}: "
                                 "put what the bot needs in a folder of its own")  # fmt: skip
            if file.is_file():
                found.add(file.relative_to(here))
    return sorted(found)
