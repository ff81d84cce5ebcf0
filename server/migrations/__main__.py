"""``python -m server.migrations "what changes"``: write the migration for a change of the models or tables.

Review the script. A new column needs a ``server_default`` if the table may have rows; one of `Play` needs none: it is
NULL in the games stored so far, which the server then counts again. Ruff, where it is installed, formats the script.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from server.migrations import FOLDER, configuration

RUFF = (["check", "--fix-only", "--quiet"], ["format", "--quiet"])  # without unused imports, in double quotes


def write_migration(message: str, folder: Path = FOLDER) -> Path:
    """Write the script that migrates the newest version in `folder` to the current tables; return its path."""
    engine = create_engine("sqlite://")
    try:
        with engine.begin() as connection:
            config = configuration(connection, folder)
            command.upgrade(config, "head")
            number = len(list(ScriptDirectory.from_config(config).walk_revisions())) + 1
            command.revision(config, message, autogenerate=True, rev_id=f"{number:04}")
    finally:
        engine.dispose()
    (path,) = (folder / "versions").glob(f"{number:04}_*.py")
    if find_spec("ruff"):
        rules = FOLDER.parents[1] / "pyproject.toml"
        for order in RUFF:
            subprocess.run([sys.executable, "-m", "ruff", *order, "--config", rules, path], check=True)
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('usage: python -m server.migrations "what changes"')
    print(write_migration(sys.argv[1]))
