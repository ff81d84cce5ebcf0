"""The start of a packed bot: ``__main__.py`` of the archive. It needs nothing but Python's standard library.

The archive is unpacked into the cache folder, once: numba keeps machine code only for sources that are files. Several
processes may do so at the same time, since each file appears complete and is the same whoever writes it.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path

OLDEST_PYTHON = (3, 11)
BAD_ARGUMENTS = 2  # as in `engine.common.program`, which is not unpacked yet
MANIFEST = "pack.json"
MODIFIED = 315_532_800  # 1 January 1980, for every file: numba compiles anew when the time of a source has changed


def cache_root() -> Path:
    """As in `engine.machine_code`, which is not unpacked yet."""
    own = os.environ.get("NUKIDORA_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nukidora"


def unpack(archive: Path, root: Path) -> Path:
    """Unpack into a folder in `root` named by a hash of the archive; returns the folder. Raises OSError.

    Files that are there, and undamaged, are kept.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = root / hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
    with zipfile.ZipFile(archive) as packed:
        for each in packed.infolist():
            path = folder / each.filename
            if path.is_file() and zlib.crc32(path.read_bytes()) == each.CRC:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as temporary:
                temporary.write(packed.read(each))
            os.utime(temporary.name, (MODIFIED, MODIFIED))
            Path(temporary.name).replace(path)
    return folder


def lacking(archive: Path) -> list[str]:
    """The packages to install, by their names for pip, without which the bot cannot play."""
    with zipfile.ZipFile(archive) as packed:
        needs: dict[str, str] = json.loads(packed.read(MANIFEST))["needs"]
    return [package for module, package in needs.items() if find_spec(module) is None]


def main(archive: Path) -> int:
    """Run the bot in `archive`; returns the exit code."""
    if sys.version_info < OLDEST_PYTHON:
        needed, own = ".".join(map(str, OLDEST_PYTHON)), sys.version.split()[0]
        print(f"{archive.name} needs Python {needed} or newer; this is {own} ({sys.executable})", file=sys.stderr)
        return BAD_ARGUMENTS
    packages = " ".join(lacking(archive))
    if packages:
        print(f"{archive.name} needs packages: {sys.executable} -m pip install {packages}", file=sys.stderr)
        return BAD_ARGUMENTS
    try:
        folder = unpack(archive, cache_root() / "packs")
    except OSError:  # the cache cannot be written: the bot compiles at every start, and says so
        temporary = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        folder = unpack(archive, Path(temporary))
    sys.path[0] = str(folder)  # in place of the archive
    from engine.common.program import start

    return start("agents.pack.player:main")


if __name__ == "__main__":
    sys.exit(main(Path(__file__).absolute().parent))
