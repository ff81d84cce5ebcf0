"""Writes the archive of a bot, a zip file that Python runs. The same contents give the same bytes."""

from __future__ import annotations

import json
import zipfile
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from agents.pack import launcher
from agents.pack.contents import HERE, OWN, Contents
from engine.common.files import write_atomically

SHEBANG = b"#!/usr/bin/env python3\n"
LICENSE = "LICENSE"
MODE = 0o644


def write_archive(contents: Contents, path: Path) -> None:
    """Write the archive of a bot to `path`, executable. Raises OSError."""
    manifest = {"bot": contents.name, "spec": contents.spec, "needs": contents.needs}
    texts = {
        "__main__.py": Path(launcher.__file__).read_bytes(),
        launcher.MANIFEST: json.dumps(manifest, indent=1).encode(),
        LICENSE: license_text().encode(),
    }
    # As packages with __init__.py, ours hide others of the same names, and parts of them that are installed. A folder
    # of data is no package: it would hide a module of its name, such as agents/linear/weights.py.
    modules = [PurePosixPath(name) for name in contents.files if name.endswith(".py")]
    folders = {str(folder) for module in modules for folder in module.parents}
    texts |= {f"{folder}/__init__.py": b"" for folder in folders if folder.split("/")[0] in OWN}
    texts |= {name: source.read_bytes() for name, source in contents.files.items()}
    with write_atomically(path) as file:
        file.write(SHEBANG)
        _write_zip(file, texts)
    path.chmod(path.stat().st_mode | 0o111)


def _write_zip(file: BinaryIO, texts: dict[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name in sorted(texts):
            entry = zipfile.ZipInfo(name)  # of 1 January 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, wherever it is written
            entry.external_attr = MODE << 16
            packed.writestr(entry, texts[name])


def license_text() -> str:
    """The licence of nukidora."""
    beside = HERE / LICENSE
    if beside.is_file():
        return beside.read_text(encoding="utf-8")
    return distribution("nukidora").read_text(f"licenses/{LICENSE}") or ""
