"""The files that belong to a bot: those that its text names, and the weights that are bundled with nukidora.

A run is that of other bots when they have changed, a cluster is sent them, and `agents.pack` packs them.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from agents.built_in import BUILT_IN
from agents.external.specs import connects_to_us, is_external
from agents.files import SPEC
from agents.options import read_path
from agents.strength.scale import is_scale, scale_path
from agents.strength.spec import split_strength
from engine.common.sources import ROOT

BEFORE = re.compile(r"[:?&=,\s]")  # what may stand before a path in an argument
BEHIND = re.compile(r"[:?&@,\s]")  # what may follow one


def paths_of(spec: str) -> list[Path]:
    """The files and folders that a bot's text names, as it names them, and the scale of a bot that has a strength.

    Those of a program are the words of its command, and what follows a ``=`` in them. Raises ValueError for an invalid
    strength.
    """
    bot, strength = split_strength(spec)
    if not is_external(bot):
        found = split_at_paths(bot)[1::2]
    else:
        found = [path for word in _words_of_command(bot) for path in _split(word, 0)[1::2]]
    named = [Path(path) for path in found]
    return named if strength is None else [*named, scale_path(bot)]


def split_at_paths(spec: str) -> list[str]:
    """The text of a bot of this process in parts, every second one the path of a file or folder.

    ``search:n=5&critic=mine.npz`` is ``["search:n=5&critic=", "mine.npz", ""]``. Raises ValueError for an invalid
    strength.
    """
    bot, _ = split_strength(spec)
    name, colon, _ = bot.partition(":")
    file = SPEC.fullmatch(bot)
    if name in BUILT_IN or file is None:
        parts = _split(bot, len(name + colon))
    else:
        begin = len(bot) if file["argument"] is None else file.start("argument")
        first, *others = _split(bot, begin)
        parts = ["", file["file"], first[file.end("file") :], *others]
    parts[-1] += spec[len(bot) :]
    return parts


def _words_of_command(bot: str) -> list[str]:
    """The words of the command of a program; none for a bot that connects to us."""
    with suppress(ValueError):  # quotes that are not closed
        return [] if connects_to_us(bot) else shlex.split(bot.partition(":")[2])
    return []


def _split(text: str, begin: int) -> list[str]:
    """A text in parts, every second one a path, which stands at ``begin`` or later."""
    parts, done = [""], 0
    for start in [begin, *(found.end() for found in BEFORE.finditer(text, begin))]:
        if start >= done and (path := _path_at(text, start)):
            parts[-1] = text[done:start]
            parts += [path, ""]
            done = start + len(path)
    parts[-1] = text[done:]
    return parts


def _path_at(text: str, start: int) -> str:
    """The longest path of a file or folder that begins at ``start``, ``""`` if none does.

    After a ``=``, the name of a built-in bot is that bot (``search:bot=rule``), also where a folder has that name.
    """
    ends = [len(text), *(found.start() for found in reversed([*BEHIND.finditer(text, start)]))]
    paths = (text[start:end] for end in ends if end > start)
    is_value = text[:start].endswith("=")
    return next((path for path in paths if _exists(path) and not (is_value and path in BUILT_IN)), "")


def _exists(path: str) -> bool:
    try:
        return read_path(path).exists()
    except (OSError, ValueError):  # a path that is too long or not allowed, or a user who does not exist
        return False


def digest_of_files(bots: Iterable[str]) -> str:
    """A hash of the files, and of the files in the folders, that belong to ``bots`` (`paths_of`).

    What these files import is not included, nor are the scales of strength in a folder, unless a bot has a strength.
    It does not depend on where the repository is.
    """
    digest = hashlib.sha256()
    for path in (path for bot in bots for path in paths_of(bot)):
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path
        with suppress(OSError):
            for file in _files_at(path.expanduser()):
                digest.update(f"{name} {file.name} {file.stat().st_size} ".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _files_at(path: Path) -> Iterator[Path]:
    """The file at a path, or the files in the folder there. Raises OSError."""
    found = [each for each in sorted(path.iterdir()) if not is_scale(each)] if path.is_dir() else [path]
    yield from filter(Path.is_file, found)


@cache
def digest_of_weights() -> str:
    """Return a hash of the bundled weights of all bots, which does not depend on where the repository is."""
    digest = hashlib.sha256()
    for path in sorted(ROOT.glob("agents/*/weights/*")):
        digest.update(f"{path.relative_to(ROOT).as_posix()} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]
