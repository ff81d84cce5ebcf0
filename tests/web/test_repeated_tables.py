"""The tables in the modules of the pages that repeat what the server has: a row that is missing here is found."""

from __future__ import annotations

import re
from dataclasses import fields

from engine.mjai.schema import CONNECTION
from server.pages import WEB
from server.rooms import SITTING
from server.settings import RoomSettings
from server.store import PlayerStatistics


def names_in(module: str, constant: str, name: str) -> list[str]:
    """The names in a constant of a module, each matched by the group of `name`."""
    source = (WEB / module).read_text(encoding="utf-8")
    (body,) = re.findall(rf"^(?:export )?const {constant} = (.*?)^[\]}}];$", source, re.DOTALL | re.MULTILINE)
    return re.findall(name, body, re.MULTILINE)


def test_the_form_of_a_room_has_all_settings() -> None:
    settings = sorted(field.name for field in fields(RoomSettings))
    assert sorted(names_in("room_settings.js", "GROUPS", r'\{ name: "(\w+)"')) == settings


def test_the_settings_of_a_room_for_one_sitting_are_those_of_the_server() -> None:
    assert sorted(names_in("room_settings.js", "SITTING", r'"(\w+)"')) == sorted(SITTING)


def test_the_page_of_a_player_has_all_statistics() -> None:
    """Busts too, whose share the page computes."""
    lines = names_in("player.js", "LINES", r'^  \["(\w+)"')
    assert sorted(lines) == sorted(["busts", *PlayerStatistics.model_computed_fields]), (
        "a computed field of `PlayerStatistics` has a row of LINES in server/web/player.js"
    )


def test_the_client_knows_all_messages_of_a_connection() -> None:
    """It would count any other as one of the game, and resume at the wrong message."""
    handled = names_in("client.js", "SERVER_MESSAGES", r"^  (\w+)\(")
    assert sorted(handled) == sorted(row.type for row in CONNECTION.values() if row.sender == "server")
