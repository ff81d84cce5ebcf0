"""Versions of the database, brought from one to the next by Alembic. No alembic.ini is needed."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from sqlalchemy import Connection

FOLDER = Path(__file__).resolve().parent


def configuration(connection: Connection, folder: Path = FOLDER) -> Config:
    """Alembic's configuration for the scripts in `folder`, run on an open connection."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(folder).replace("%", "%%"))  # "%" would be interpolated
    return config
