"""The package sent to the machines of a cluster: sources, machine code compiled from them, and the user's files.

It is a zip file, which Ray sends to a machine once and unpacks there:

``engine``, ``agents``, …    the packages
``cache``                    the machine code of their kernels (`engine.machine_code`)
``files``                    the files below the current folder here; it becomes the current folder there
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from engine.common.cluster_node import CACHE, FILES
from engine.kernel_registry import cached_files

PACKAGES = ("engine", "agents", "arena", "nukidora")
LEFT_OUT = ("__pycache__", "node_modules", "runs", "site", "venv")  # of the user's folders, as are hidden files
MAX_SIZE = 100 << 20  # bytes of all the user's files together
ROOT = Path(__file__).parents[2]


def write_package(path: Path, files: Sequence[Path]) -> None:
    """Write the package to ``path``. The same contents give the same bytes. Raises ValueError, OSError.

    ``files`` are those of `engine.common.cluster.Cluster`. The machine code is that of the kernels of all imported
    modules; a machine with a different processor compiles it again.
    """
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for file in (file for package in PACKAGES for file in files_in(ROOT / package)):
            add(archive, file.relative_to(ROOT).as_posix(), file.read_bytes())
        for file in cached_files():
            add(archive, f"{CACHE}/{file.name}", file.read_bytes())
        for file in users_files(files):
            add(archive, f"{FILES}/{file.as_posix()}", file.read_bytes())


def add(archive: ZipFile, name: str, data: bytes) -> None:
    """Add a file without a timestamp."""
    entry = ZipInfo(name)
    entry.external_attr, entry.compress_type = 0o644 << 16, ZIP_DEFLATED
    archive.writestr(entry, data)


def files_in(folder: Path) -> Iterator[Path]:
    """Yield all files in a folder except those in LEFT_OUT and hidden ones, in the same order everywhere."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not name.startswith("."))
        yield from (Path(place) / name for name in sorted(files) if not name.startswith("."))


def users_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files to send, relative to the current folder. Raises ValueError if they are too large.

    A folder is sent with everything in it. For a Python file, the whole folder that contains it is sent, since it may
    use other files there. Paths that do not exist or are not below the current folder are left out.
    """
    here = Path.cwd()
    found: set[Path] = set()
    size = 0
    for path in paths:
        whole = path.resolve()
        if path.is_absolute() or not whole.exists() or not whole.is_relative_to(here):
            continue
        folder = whole if whole.is_dir() else whole.parent
        for file in files_in(folder) if whole.is_dir() or whole.suffix == ".py" else [whole]:
            if not file.is_file() or file.relative_to(here) in found:
                continue
            found.add(file.relative_to(here))
            size += file.stat().st_size
            if size > MAX_SIZE:
                raise ValueError(
                    f"{folder} is sent to the machines of the cluster with {path}, but all that is sent is more than "
                    f"{MAX_SIZE >> 20} MiB: put what the bot needs in a folder of its own"
                )
    return sorted(found)
