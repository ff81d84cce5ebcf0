"""A statistic that a new version counts reaches the games that were stored before."""

from __future__ import annotations

import gzip
import random
import shutil
from functools import cache
from pathlib import Path

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from engine.game import Game
from engine.records.mjai import write
from engine.records.model import GameRecord
from engine.rules import TENHOU
from server.counting import ThreePlays, count_stored_games, plays_of
from server.limits import LIMITS
from server.migrations import FOLDER, configuration
from server.migrations.__main__ import write_migration
from server.store import Play, Store
from server.store.database import make_engine, read_url
from tests.support.players import play, random_driver
from tests.support.stored_games import NAMES, make_game, opened

*OLD, NEW = Play.model_fields  # as if the last one were new
BEFORE = '''"""The version before: without the last column of `Play`."""

import sqlalchemy as sa
from alembic import op

revision = "{number}"
down_revision = "{newest}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    uncounted = sa.text("{uncounted}")
    op.drop_index("ix_seats_uncounted_{n}", "seats")
    with op.batch_alter_table("seats") as seats:
        seats.drop_column("{new}")
    op.create_index("ix_seats_uncounted_{before}", "seats", ["game_id"], sqlite_where=uncounted,
                    postgresql_where=uncounted)
'''


@cache
def record() -> bytes:
    """A record of a game, as the store has it."""
    game = play(Game(seed=5), random_driver(random.Random(5)))
    return gzip.compress(write(GameRecord(game.messages, TENHOU, "played")).encode())


async def check_counted(store: Store, plays: ThreePlays) -> None:
    assert await store.uncounted("", 9) == {}
    for name, expected in zip(NAMES, plays, strict=False):
        assert (await store.statistics(name)).play == expected


async def test_a_game_without_any_one_count_is_counted_again(database_url: str) -> None:
    plays = plays_of(record())
    engine = make_engine(read_url(database_url))
    async with opened(database_url) as store:
        game = make_game(record=record(), plays=plays)
        await store.save_game(game)
        await check_counted(store, plays)
        for name in Play.model_fields:
            async with engine.begin() as connection:
                await connection.execute(text(f"UPDATE seats SET {name} = NULL WHERE seat = 1"))
            assert [*await store.uncounted("", 9)] == [game.id], (
                f"a game without {name} is not counted again: UNCOUNTED of server/store/tables.py has to name it"
            )
            await count_stored_games(store, LIMITS)
            await check_counted(store, plays)
    await engine.dispose()


async def test_a_written_migration_with_a_new_count_has_stored_games_counted(database_url: str, tmp_path: Path) -> None:
    plays = plays_of(record())
    async with opened(database_url) as store:
        await store.save_game(make_game(record=record(), plays=plays))
    engine = make_engine(read_url(database_url), migrating=True)
    async with engine.begin() as connection:
        await connection.run_sync(lose_and_migrate, tmp_path / "migrations")
    await engine.dispose()
    async with opened(database_url) as store:
        assert len(await store.uncounted("", 9)) == 1
        assert (await store.statistics(NAMES[0])).play == plays[0].model_copy(update={NEW: 0})
        await count_stored_games(store, LIMITS)
        await check_counted(store, plays)


def lose_and_migrate(connection: Connection, folder: Path) -> None:
    """Take the newest column of `Play` from the database, and give it back by a migration that the program writes."""
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    config = configuration(connection, folder)
    newest = ScriptDirectory.from_config(config).get_current_head()
    assert newest is not None
    n = len(Play.model_fields)
    uncounted = " OR ".join(f"{name} IS NULL" for name in OLD)
    script = BEFORE.format(
        number=f"{int(newest) + 1:04}", newest=newest, uncounted=uncounted, n=n, before=n - 1, new=NEW
    )
    (folder / "versions" / "before.py").write_text(script, encoding="utf-8")
    command.upgrade(config, "head")
    assert NEW not in {column["name"] for column in inspect(connection).get_columns("seats")}
    write_migration("One more count", folder)
    command.upgrade(configuration(connection, folder), "head")
    (index,) = (each for each in inspect(connection).get_indexes("seats") if "uncounted" in str(each["name"]))
    where = str(index["dialect_options"][f"{connection.dialect.name}_where"])
    assert [name for name in Play.model_fields if f"{name} IS NULL" not in where] == []
    connection.execute(text("UPDATE alembic_version SET version_num = :newest"), {"newest": newest})
