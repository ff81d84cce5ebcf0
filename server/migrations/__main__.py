"""``python -m server.migrations "what changes"``: write the migration for a change of the models or tables.

Review the script. A new column needs a ``server_default`` if the table may have rows.
"""

from __future__ import annotations

import sys
from pathlib import Path

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from server.migrations import FOLDER, configuration


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
    return path


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit('usage: python -m server.migrations "what changes"')
    print(write_migration(sys.argv[1]))
