"""A table of messages that contradicts itself is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import events
from engine.mjai import actions, player_state, round_events
from engine.mjai.keys import COUNT, SEAT, Key, Scope, Visibility
from engine.mjai.kinds import DRAWN_TILE, HANDS, TILE
from engine.mjai.schema import (
    ACTOR,
    CAN_ACT,
    DIALECT_ROWS,
    EVENTS,
    REPLIES,
    EventMessage,
    ReplyMessage,
    SchemaError,
    by_type,
    verify,
)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([EventMessage("a", ""), EventMessage("a", "")], "a occurs twice"),
        ([EventMessage("a", "", (ACTOR, ACTOR))], "a has a key twice"),
    ],
)
def test_duplicates_are_refused(rows: list[EventMessage], why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        by_type(rows)


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (EventMessage("chi", "", (Key("pai", SEAT),)), "chi: pai is read as a seat, elsewhere as a tile"),
        (EventMessage("chi", "", (Key("pai", TILE, visibility=Visibility.ACTOR),)), "for the actor, but there is none"),
        (EventMessage("chi", "", (ACTOR,), kita="actor pai"), "chi has no key pai, but a dialect writes it"),
        (EventMessage("chi", "", (ACTOR,), libriichi3p="target"), "chi has no key target"),
        (EventMessage("chi", "", (CAN_ACT, ACTOR)), "keys of records come first"),
        (EventMessage("chi", "", (Key("id", COUNT, scope=Scope.SEAT),)), "id is read as a count"),
        (EventMessage("chi", "", (Key("id", SEAT),)), "id is kept in records"),
        (
            EventMessage(
                "chi",
                "",
                (
                    ACTOR,
                    Key("pai", DRAWN_TILE, visibility=Visibility.ACTOR),
                    Key("tehais", HANDS, visibility=Visibility.OWNER),
                ),
            ),
            "more than one key is not visible to all",
        ),
    ],
)
def test_an_event_that_contradicts_the_others_is_refused(event: EventMessage, why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        verify(EVENTS | {event.type: event}, REPLIES, DIALECT_ROWS)


def test_a_reply_that_is_no_event_is_refused() -> None:
    with pytest.raises(SchemaError, match="chi"):
        verify(EVENTS, REPLIES | {"chi": ReplyMessage("chi", "", "")}, DIALECT_ROWS)


def test_a_dialect_that_cannot_be_joined_with_is_refused() -> None:
    with pytest.raises(SchemaError, match="dialects are"):
        verify(EVENTS, REPLIES, DIALECT_ROWS | {"klingon": replace(DIALECT_ROWS["kita"], name="klingon")})


def test_every_message_has_its_code() -> None:
    assert player_state.HANDLERS.keys() == EVENTS.keys()
    assert actions.READERS.keys() == REPLIES.keys()
    assert set(round_events.READERS) == set(range(events.N_TYPES))
