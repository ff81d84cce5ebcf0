"""The modules of a page, which import one another: `server/web`, read as data."""

from __future__ import annotations

import re
from collections.abc import Callable

# An import of another module: all before its name, and the name.
IMPORT = re.compile(r"""^((?:import|export) [^"']*["'])\./(\w+\.js)(?=["'])""", re.MULTILINE)


def with_imports(entry: str, read: Callable[[str], str]) -> dict[str, str]:
    """The text of the module `entry` and of all that it imports, by file name; those that it imports itself come first.

    `read` returns the text of a file.
    """
    found: dict[str, str] = {}
    needed = [entry]
    for name in needed:  # grows
        if name not in found:
            found[name] = read(name)
            needed += [imported for _, imported in IMPORT.findall(found[name])]
    return found
