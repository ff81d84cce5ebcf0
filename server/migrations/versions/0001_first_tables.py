"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from server.store.tables import Text, Time

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """From an empty database."""
    _create_players()
    _create_games()
    _create_rooms_and_tokens()


def _create_players() -> None:
    op.create_table(
        "players",
        sa.Column("name", Text(), nullable=False),
        sa.Column("house_bot", sa.Boolean(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("rated_games", sa.Integer(), nullable=False),
        sa.Column("firsts", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.Column("thirds", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Double(), nullable=False),
        sa.Column("sigma", sa.Double(), nullable=False),
        sa.Column("ordinal", sa.Double(), nullable=False),
        sa.Column("first_seen", Time(), nullable=False),
        sa.Column("last_seen", Time(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_players"),
    )


def _create_games() -> None:
    op.create_table(
        "games",
        sa.Column("id", Text(), nullable=False),
        sa.Column("room", Text(), nullable=False),
        sa.Column("rules", Text(), nullable=False),
        sa.Column("length", Text(), nullable=False),
        sa.Column("started", Time(), nullable=False),
        sa.Column("finished", Time(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("decisions", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_games"),
    )
    op.create_index("ix_games_finished_id", "games", ["finished", "id"])
    op.create_index("ix_games_room_finished_id", "games", ["room", "finished", "id"])
    op.create_table(
        "seats",
        sa.Column("game_id", Text(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("finished", Time(), nullable=False),
        sa.Column("name", Text(), nullable=False),
        sa.Column("house_bot", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.Column("penalty", sa.Double(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("taken_over", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name="fk_seats_game_id"),
        sa.ForeignKeyConstraint(["name"], ["players.name"], name="fk_seats_name"),
        sa.PrimaryKeyConstraint("game_id", "seat", name="pk_seats"),
    )
    op.create_index("ix_seats_name_finished_game_id", "seats", ["name", "finished", "game_id"])
    op.create_table(
        "records",
        sa.Column("game_id", Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name="fk_records_game_id"),
        sa.PrimaryKeyConstraint("game_id", name="pk_records"),
    )
    op.create_table(
        "ratings",
        sa.Column("name", Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("game_id", Text(), nullable=False),
        sa.Column("finished", Time(), nullable=False),
        sa.Column("mu", sa.Double(), nullable=False),
        sa.Column("sigma", sa.Double(), nullable=False),
        sa.Column("ordinal", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name="fk_ratings_game_id"),
        sa.ForeignKeyConstraint(["name"], ["players.name"], name="fk_ratings_name"),
        sa.PrimaryKeyConstraint("name", "number", name="pk_ratings"),
    )


def _create_rooms_and_tokens() -> None:
    op.create_table(
        "rooms",
        sa.Column("name", Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("opened", Time(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_rooms"),
    )
    op.create_table(
        "tokens",
        sa.Column("name", Text(), nullable=False),
        sa.Column("digest", Text(), nullable=False),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("created", Time(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_tokens"),
        sa.UniqueConstraint("digest", name="uq_tokens_digest"),
    )


def downgrade() -> None:
    """To an empty database."""
    for table in ("tokens", "rooms", "ratings", "records", "seats", "games", "players"):
        op.drop_table(table)
