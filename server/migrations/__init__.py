"""Migrations of the database by Alembic, without an alembic.ini.

- `versions`: one script for each version of the tables, run by `env`
- ``python -m server.migrations "what changes"`` writes a new script from the difference between the newest version and
  `server.store.tables`

The store migrates a database when it opens it: `server.store.database.migrate`.
"""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from sqlalchemy import Connection

FOLDER = Path(__file__).resolve().parent


def configuration(connection: Connection, folder: Path = FOLDER) -> Config:
    """Alembic's configuration for running the scripts in `folder` on an open connection."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(folder).replace("%", "%%"))  # ConfigParser interpolates "%"
    return config
