"""The connection between a server and a bot: limits that both sides share, and its messages.

``hello``, ``join``, ``joined``, ``resumed`` and ``error`` are not part of a game and are the same in every dialect.
Servers (`server`, `agents.external.listener`) and clients (`agents.client`) both use this module.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, fields
from typing import Any

from engine.common.error_text import error_text
from engine.mjai.keys import (
    BOOL,
    COUNT,
    INTEGER,
    REQUIRED,
    SEAT,
    TEXT,
    BadValue,
    Key,
    Kind,
    Message,
    choice,
    instance,
    list_of,
    text,
)

PROTOCOL = "mjsonp"
PROTOCOL_VERSION = 3
DEFAULT_PORT = 11600  # of mjai over TCP
MAX_MESSAGE = 65_536  # bytes of one message from a bot, its line end not counted
MAX_JOIN = 4_096  # bytes of one message before the join is accepted, to bound the memory that a stranger can use
JOIN_TIMEOUT = 10.0  # seconds from ``hello`` to ``join``
DEFAULT_ROOM = "default"
DIALECTS = ("mjai3p", "libriichi3p", "kita")
DEFAULT_DIALECT = DIALECTS[0]  # the canonical one
ALWAYS, WHEN_ASKED = REPLY_MODES = ("always", "when_asked")
MAX_NAME = 64
MAX_ROOM = 512
MAX_SECRET = 256
ROOM_NAME = r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}"  # URLs would normalise "." and ".." away
ROOM_TEXT = "1 to 64 of A-Z a-z 0-9 _ . - (no dot first)"  # ROOM_NAME in words
ROOM_PATTERN = rf"^{ROOM_NAME}(\+{ROOM_NAME}(@-[0-9]{{1,4}})?)*$"  # a name, then +BOT or +BOT@-300 for each house bot

# What `check_name` accepts, in words.
NAME_FORM = error_text(
    "name_form", "1 to {most} printable characters, not all invisible, and not . or ..", most=MAX_NAME
)

# Letters and symbols that are invisible.
INVISIBLE = frozenset("\u115f\u1160\u2800\u3164\uffa0\U00013441\U00013442\U0001d159")

_room = re.compile(ROOM_PATTERN)


def is_visible(character: str) -> bool:
    """Return whether a character is visible by itself: not a space, filler, combining mark or control character."""
    return character not in INVISIBLE and unicodedata.category(character)[0] not in "CMZ"


def is_room(value: str) -> bool:
    """Whether `value` is the name of a room, with +BOT for each house bot."""
    return len(value) <= MAX_ROOM and _room.fullmatch(value) is not None


def check_name(value: Any) -> str:
    """Check the name of a bot; surrounding spaces are removed."""
    name = value.strip() if type(value) is str else ""
    shown = len(name) <= MAX_NAME and name.isprintable() and any(map(is_visible, name))
    if not shown or name in (".", ".."):  # URLs would normalise these away
        raise BadValue(value)
    return name


def check_room(value: Any) -> str:
    """Check of the name of a room."""
    if type(value) is not str or not is_room(value):
        raise BadValue(value)
    return value


def check_resume(value: Any) -> Any:
    """Check of ``resume`` of a join: a bool or the secret of a game."""
    return value if type(value) is bool else SECRET.check(value)


NAME = Kind("text", check_name)
ROOM = Kind("text", check_room)
DIALECT = Kind("text", choice(*DIALECTS))
REPLY_MODE = Kind("text", choice(*REPLY_MODES))
SECRET = Kind("text", text(1, MAX_SECRET))
RESUME = Kind("bool or text", check_resume)
HINTS = Kind("objects", list_of(instance(dict)))
VALUES = Kind("object", instance(dict))

HELLO_KEYS = (
    Key("protocol", TEXT, PROTOCOL),
    Key("protocol_version", INTEGER, str(PROTOCOL_VERSION)),
)
JOIN_KEYS = (
    Key(
        "name",
        NAME,
        NAME_FORM,
        default="",
    ),
    Key(
        "room",
        ROOM,
        error_text(
            "room_form",
            "{form} and then any number of +BOT ({most} characters at most)",
            form=ROOM_TEXT,
            most=MAX_ROOM,
        ),
        default=DEFAULT_ROOM,
    ),
    Key("dialect", DIALECT, "mjai3p, libriichi3p or kita", default=DEFAULT_DIALECT),
    Key(
        "token",
        SECRET,
        error_text("token_form", "your access token, at most {most} characters", most=MAX_SECRET),
        default=None,
    ),
    Key("reply", REPLY_MODE, "always or when_asked", default=ALWAYS),
    Key("games", COUNT, "a number of games, 0 for as long as the connection lasts", default=1),
    Key("resume", RESUME, "true, or the secret of the game to resume", default=False),
    Key("seen", COUNT, "a number of messages, 0 or more", default=0),
    Key("joined", BOOL, "true or false: whether the server answers with joined", default=False),
)
JOINED_KEYS = (
    Key("room", TEXT, "the room you wait in"),
    Key("waiting", COUNT, "bots that wait there, you among them"),
    Key("needed", COUNT, "bots that are still needed; 0: the game begins without more"),
)
RESUMED_KEYS = (
    Key("from", COUNT, "index of the first message of the game that is sent again"),
    Key("taken_over", BOOL, "true where a house bot has played your seat meanwhile", default=None),
)
HINTED_KEYS = (
    Key("bot", TEXT, "the house bot"),
    Key("actions", HINTS, "its best actions, best first: action, a reply, and value in placements; may be empty"),
)
ERROR_KEYS = (
    Key("actor", SEAT, "the seat at fault; only in records", default=None),
    Key("message", TEXT, "what was wrong, in one line"),
    Key("played_by", TEXT, "who plays the seat from here on, empty for its bot again; only in records", default=None),
    Key("retry", BOOL, "true where the same join may succeed later", default=None),
    Key("code", TEXT, "what was wrong, as a word that stays the same; not in records of arenas", default=None),
    Key("values", VALUES, "what stands in the message, by name; with code", default=None),
    Key("codes", VALUES, "of values that are texts with a code: their code and values", default=None),
)

HELLO: Message = {"type": "hello", "protocol": PROTOCOL, "protocol_version": PROTOCOL_VERSION}


@dataclass(frozen=True, slots=True)
class Join:
    """The first message of a bot, with the keys, checks and defaults of `JOIN_KEYS`.

    `name` is "" only if `resume` is the secret of a game; `given` are the keys present in the message. See
    `engine.mjai.bot_messages.parse_join`.
    """

    name: str
    room: str
    dialect: str
    token: str | None
    reply: str
    games: int
    resume: bool | str
    seen: int
    joined: bool
    given: frozenset[str]


JOIN_DEFAULTS: Message = {key.name: key.default for key in JOIN_KEYS}


def joined(room: str, waiting: int, needed: int) -> Message:
    """Return the message for a bot that waits for a game and has asked for `joined`."""
    return {"type": "joined", "room": room, "waiting": waiting, "needed": needed}


def resumed(first: int, taken_over: bool) -> Message:
    """Return the answer to a bot that resumes a game: its messages from index `first` on are sent again.

    `taken_over`: a house bot has played its seat meanwhile.
    """
    return {"type": "resumed", "from": first} | ({"taken_over": True} if taken_over else {})


def hinted(bot: str, actions: list[Message]) -> Message:
    """The answer to a bot that asks for a hint; without `actions` where it has no decision to make."""
    return {"type": "hinted", "bot": bot, "actions": actions}


def error(
    message: str,
    *,
    retry: bool = False,
    code: str = "",
    values: Message | None = None,
    codes: Message | None = None,
) -> Message:
    """Return the message that says what was wrong with a message or join; see `ERROR_KEYS`."""
    known = ({"code": code, "values": values or {}} if code else {}) | ({"codes": codes} if codes else {})
    return {"type": "error", "message": message} | ({"retry": True} if retry else {}) | known


NOT_JOINED = Join(**JOIN_DEFAULTS, given=frozenset())  # of a connection that has sent no join yet

if [field.name for field in fields(Join)] != [*JOIN_DEFAULTS, "given"] or REQUIRED in JOIN_DEFAULTS.values():
    raise ImportError("the fields of Join must be the keys of JOIN_KEYS, in order, each with a default")
