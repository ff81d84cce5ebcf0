"""The table of mjai messages.

Everything else in this package is derived from it: the order in which keys are written (`KEYS`), reading, hiding, the
dialects, the checks of a bot's messages, and the tables of docs/protocol.md. The table is checked for consistency when
this module is imported; see `verify`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from engine.mjai.connection import (
    DIALECTS,
    ERROR_KEYS,
    HELLO_KEYS,
    HINTED_KEYS,
    JOIN_KEYS,
    JOINED_KEYS,
    RESUMED_KEYS,
    SECRET,
)
from engine.mjai.keys import BOOL, COUNT, INTEGER, SEAT, TEXT, Key, Scope, Visibility
from engine.mjai.kinds import (
    ACTIONS,
    DEALT_HANDS,
    DRAWN_TILE,
    EXT_BOT,
    FINAL_POINTS,
    FLAGS,
    FOUR_TILES,
    HAN,
    HANDS,
    MAX_EXT_BOT,
    NAMES,
    NORTH,
    OBJECT,
    REASON,
    ROUND_NUMBER,
    SCORES,
    THREE_TILES,
    TILE,
    TILE_LIST,
    TWO_TILES,
    WIND,
    YAKUS,
)
from engine.ryukyoku import NAGASHI_MANGAN, RYUKYOKU


@dataclass(frozen=True)
class EventMessage:
    """A message of a game, from the server.

    `libriichi3p` and `kita` are the keys that the dialect writes (canonical names), by default all that a record has.
    Keys in `unread` are added by some writers and dropped when read.
    """

    type: str
    text: str
    keys: tuple[Key, ...] = ()
    libriichi3p: str | None = None
    kita: str | None = None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReplyMessage:
    """A message of a bot in a game; `when` says which messages it may answer."""

    type: str
    text: str
    when: str
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True)
class Dialect:
    """How a dialect writes canonical messages, in addition to the keys that each `EventMessage` lists.

    `types`, `keys` and `reasons` map canonical names to the dialect's names.
    """

    name: str
    spoken_by: str
    types: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    four_seats: bool = False  # lists of the three seats have a padded fourth entry
    sorted_keys: bool = False  # keys in alphabetical order, ``type`` among them
    reds_first: bool = False  # in ``consumed``


@dataclass(frozen=True)
class ConnectionMessage:
    """A message of a connection, the same in every dialect."""

    type: str
    sender: str
    text: str
    keys: tuple[Key, ...]


# Keys that several messages have --------------------------------------------------------------------------------------

ACTOR = Key("actor", SEAT, "the seat that acts")
TARGET = Key("target", SEAT, "the seat that discarded the tile")
DELTAS = Key("deltas", SCORES, "points that each seat gains")
AFTER = Key("scores", SCORES, "points of each seat after it")
OFFERS = Key(
    "possible_actions",
    ACTIONS,
    "what you may do, except discards and none; only mjai3p",
    default=None,
    scope=Scope.SEAT,
)
BARRED = Key("cannot_dahai", TILE_LIST, "tiles you may not discard; only mjai3p", default=None, scope=Scope.SEAT)
CAN_ACT = Key(
    "can_act",
    BOOL,
    "true where you are asked for an action, false in start_game; only with `when_asked`",
    default=None,
    scope=Scope.CONNECTION,
)

# Events: messages of a game, from the server --------------------------------------------------------------------------

_EVENTS = (
    EventMessage(
        "start_game",
        "A game begins. Seat 0 deals first.",
        (
            Key("names", NAMES, "names of the players"),
            Key("rules", TEXT, "tenhou or majsoul", default=None),
            Key("length", TEXT, "east or hanchan", default=None),
            Key("aka_flag", BOOL, "false where there are no red fives", default=None),
            Key("switches", OBJECT, "switches of docs/rules.md that differ from the preset", default=None),
            Key("wall_seed", TEXT, "seed of the walls, unless `tenhou` has one; only in records", default=None),
            Key("id", SEAT, "your seat", default=None, scope=Scope.SEAT, visibility=Visibility.RECEIVER),
            Key("resume", SECRET, "secret to resume the game with, if asked for", default=None, scope=Scope.CONNECTION),
            Key("game", TEXT, "id of the game; with resume", default=None, scope=Scope.CONNECTION),
            Key("http_port", COUNT, "port of the HTTP API; with resume", default=None, scope=Scope.CONNECTION),
        ),
        libriichi3p="names id",
        kita="names id",
    ),
    EventMessage(
        "start_kyoku",
        "A round begins.",
        (
            Key("bakaze", WIND, "round wind"),
            Key("kyoku", ROUND_NUMBER, "number of the round in its wind, from 1"),
            Key("honba", COUNT, "honba"),
            Key("kyotaku", COUNT, "riichi sticks on the table"),
            Key("oya", SEAT, "the dealer"),
            Key("dora_marker", TILE, "dora indicator"),
            Key("scores", SCORES, "points of each seat"),
            Key("tehais", DEALT_HANDS, "13 tiles of each seat; ? for those of others", visibility=Visibility.OWNER),
        ),
        libriichi3p="bakaze dora_marker kyoku honba kyotaku oya scores tehais",
    ),
    EventMessage(
        "tsumo",
        "A draw.",
        (ACTOR, Key("pai", DRAWN_TILE, "the tile; ? for others' draws", visibility=Visibility.ACTOR), OFFERS),
    ),
    EventMessage(
        "dahai",
        "A discard.",
        (ACTOR, Key("pai", TILE, "the tile"), Key("tsumogiri", BOOL, "true for the tile just drawn"), OFFERS),
    ),
    EventMessage("reach", "A riichi is declared; its discard follows.", (ACTOR, BARRED)),
    EventMessage(
        "reach_accepted",
        "The discard of a riichi has passed; the stick is paid.",
        (ACTOR, DELTAS, AFTER),
        libriichi3p="actor",
        kita="actor",
    ),
    EventMessage(
        "pon",
        "A pon.",
        (ACTOR, TARGET, Key("pai", TILE, "the discard"), Key("consumed", TWO_TILES, "tiles of the hand"), BARRED),
    ),
    EventMessage(
        "daiminkan",
        "A kan of another's discard.",
        (ACTOR, TARGET, Key("pai", TILE, "the discard"), Key("consumed", THREE_TILES, "tiles of the hand")),
    ),
    EventMessage(
        "kakan",
        "A kan by a tile added to a pon.",
        (ACTOR, Key("pai", TILE, "the added tile"), Key("consumed", THREE_TILES, "tiles of the pon"), OFFERS),
    ),
    EventMessage(
        "ankan",
        "A concealed kan.",
        (ACTOR, Key("consumed", FOUR_TILES, "its tiles"), OFFERS),
        kita="actor consumed pai",
        unread=("pai",),
    ),
    EventMessage(
        "nukidora",
        "A north is set aside.",
        (ACTOR, Key("pai", NORTH, "N", default="N"), OFFERS),
        unread=("consumed",),
    ),
    EventMessage("dora", "A new dora indicator.", (Key("dora_marker", TILE, "the indicator"),)),
    EventMessage(
        "hora",
        "A win.",
        (
            ACTOR,
            Key("target", SEAT, "the seat that dealt in; the winner itself for tsumo"),
            Key("pai", TILE, "the winning tile"),
            Key("uradora_markers", TILE_LIST, "ura dora indicators; empty without riichi"),
            Key("hora_tehais", TILE_LIST, "concealed tiles without the winning tile"),
            Key("yakus", YAKUS, "yaku and dora, with their han"),
            Key("fu", INTEGER, "fu"),
            Key("fan", HAN, "han in all, dora included; 13 for each yakuman"),
            Key("hora_points", INTEGER, "points of the hand, without honba and sticks"),
            Key("pao", SEAT, "the seat that is liable for a yakuman", default=None),
            DELTAS,
            AFTER,
        ),
        libriichi3p="actor target deltas uradora_markers",
        kita="actor target deltas uradora_markers tsumo",
        unread=("tsumo",),
    ),
    EventMessage(
        "ryukyoku",
        "A draw without a winner.",
        (
            Key("reason", REASON, "fanpai, kyushukyuhai, sukaikan or nagashimangan"),
            Key("tehais", HANDS, "hands that are shown; ? for the others"),
            Key("tenpais", FLAGS, "whether each seat shows a hand"),
            DELTAS,
            AFTER,
        ),
        libriichi3p="deltas",
        kita="actor reason deltas",  # a bot's own declaration has the actor
    ),
    EventMessage("end_kyoku", "The round is over."),
    EventMessage(
        "end_game",
        "The game is over; result and record are stored.",
        (
            Key("scores", SCORES, "points of each seat"),
            Key("points", FINAL_POINTS, "final points, uma and oka included, in thousands", default=None),
        ),
        libriichi3p="",
        kita="",
    ),
)

# Replies: messages of a bot in a game ---------------------------------------------------------------------------------

YOUR_SEAT = Key("actor", SEAT, "your seat, 0 to 2", default=None)
NOTES = Key("ext_bot", EXT_BOT, f"an object without NaN, at most {MAX_EXT_BOT:,} bytes", default=None)
COMMON = (YOUR_SEAT, NOTES)  # keys of every reply
DISCARDER = Key("target", SEAT, "the seat that discarded, 0 to 2", default=None)
ANY_TILE = "a tile like 5p, 5pr or E"

_REPLIES = (
    ReplyMessage("none", "pass, or nothing to do", "every message that you do not act on"),
    ReplyMessage(
        "dahai",
        "discard",
        "your draw; your pon; your reach",
        (Key("pai", TILE, ANY_TILE), Key("tsumogiri", BOOL, "true or false", default=None)),
    ),
    ReplyMessage("reach", "declare riichi; the discard is your reply to the reach that follows", "your draw"),
    ReplyMessage(
        "pon",
        "pon; consumed says whether the red five goes into it",
        "others' dahai",
        (
            DISCARDER,
            Key("pai", TILE, ANY_TILE, default=None),
            Key("consumed", TWO_TILES, "the two tiles of your hand, of one kind, like 5p and 5pr"),
        ),
    ),
    ReplyMessage(
        "daiminkan",
        "kan of another's discard",
        "others' dahai",
        (
            DISCARDER,
            Key("pai", TILE, ANY_TILE, default=None),
            Key("consumed", THREE_TILES, "the three tiles of your hand, of one kind", default=None),
        ),
    ),
    ReplyMessage(
        "kakan",
        "add a tile to a pon",
        "your draw",
        (
            Key("pai", TILE, ANY_TILE),
            Key("consumed", THREE_TILES, "the three tiles of the pon, of one kind", default=None),
        ),
    ),
    ReplyMessage("ankan", "concealed kan", "your draw", (Key("consumed", FOUR_TILES, "four tiles of one kind"),)),
    ReplyMessage("nukidora", "set a north aside", "your draw", (Key("pai", NORTH, "N", default="N"),)),
    ReplyMessage(
        "hora",
        "win by the tile drawn or offered",
        "your draw; others' dahai, kakan, nukidora (ankan for kokushi, where the rules allow it)",
        (
            Key("target", SEAT, "the seat that discarded, your own for tsumo, 0 to 2", default=None),
            Key("pai", TILE, ANY_TILE, default=None),
        ),
    ),
    ReplyMessage("ryukyoku", "abortive draw: nine kinds of terminals and honours (kyushu kyuhai)", "your first draw"),
)

# The connection -------------------------------------------------------------------------------------------------------

_CONNECTION = (
    ConnectionMessage("hello", "server", "The first message on a connection.", HELLO_KEYS),
    ConnectionMessage("join", "bot", "The first message of a bot.", JOIN_KEYS),
    ConnectionMessage("joined", "server", "You wait for a game; sent to bots that join with `joined`.", JOINED_KEYS),
    ConnectionMessage("resumed", "server", "You have resumed your game.", RESUMED_KEYS),
    ConnectionMessage("error", "server", "A message or a join was refused.", ERROR_KEYS),
    ConnectionMessage("hinted", "server", "The answer to `hint`; no reply is expected.", HINTED_KEYS),
    ConnectionMessage("hint", "bot", "you ask what a house bot would do, where the room gives hints", ()),
    ConnectionMessage(
        "leave", "bot", "you leave: a house bot plays your seat at once, and the server closes the connection", ()
    ),
)

# Dialects -------------------------------------------------------------------------------------------------------------

_DIALECTS = (
    Dialect("mjai3p", "the Ruby server's bots, wahaha"),
    Dialect("libriichi3p", "Mortal-family engines, Akagi", keys={"uradora_markers": "ura_markers"}, four_seats=True),
    Dialect(
        "kita",
        "RiichiEnv, jansou",
        types={"nukidora": "kita"},
        keys={"uradora_markers": "ura_markers"},
        reasons={way.mjai: way.riichienv for way in RYUKYOKU if way.number != NAGASHI_MANGAN},  # written as in mjai3p
        sorted_keys=True,
        reds_first=True,
    ),
)
COMPUTED = frozenset({("ankan", "pai"), ("hora", "tsumo"), ("ryukyoku", "actor")})  # keys that kita adds to an event

# Derived tables
# ---------------------------------------------------------------------------------------------------------

Row = TypeVar("Row", EventMessage, ReplyMessage, ConnectionMessage)


class SchemaError(ImportError):
    """The table of messages contradicts itself."""


def by_type(rows: Iterable[Row]) -> dict[str, Row]:
    """Return the rows keyed by type. Raises SchemaError for a type or a key that occurs twice."""
    found: dict[str, Row] = {}
    for row in rows:
        if row.type in found:
            raise SchemaError(f"{row.type} occurs twice")
        names = [key.name for key in row.keys]
        if len(set(names)) != len(names):
            raise SchemaError(f"{row.type} has a key twice: {names}")
        found[row.type] = row
    return found


def verify(
    events: Mapping[str, EventMessage], replies: Mapping[str, ReplyMessage], dialects: Mapping[str, Dialect]
) -> None:
    """Raise SchemaError if the table is inconsistent."""
    if tuple(dialects) != DIALECTS:
        raise SchemaError(f"dialects are {DIALECTS}, but the table has {tuple(dialects)}")
    if unknown := replies.keys() - events.keys() - {"none"}:
        raise SchemaError(f"replies that are no events: {sorted(unknown)}")
    rows: list[EventMessage | ReplyMessage] = [*events.values(), *replies.values()]
    known = dict[str, Key]()
    for row in rows:
        names = {key.name for key in row.keys}
        if sum(key.visibility is not Visibility.ALL for key in row.keys) > 1:
            raise SchemaError(f"{row.type}: more than one key is not visible to all")
        for key in (*row.keys, *COMMON):
            # Messages are read key by key, whatever their type.
            first = known.setdefault(key.name, key)
            if key.kind.read is not first.kind.read or key.kind.padding != first.kind.padding:
                where = f"elsewhere as a {first.kind.name}"
                raise SchemaError(f"{row.type}: {key.name} is read as a {key.kind.name}, {where}")
            if (key.scope is Scope.RECORD) != (first.scope is Scope.RECORD):
                raise SchemaError(f"{row.type}: {key.name} is kept in records of some messages only")
            if key.visibility is Visibility.ACTOR and "actor" not in names:
                raise SchemaError(f"{row.type}: {key.name} is for the actor, but there is none")
        if isinstance(row, EventMessage):
            written = f"{row.libriichi3p or ''} {row.kita or ''}".split()
            if odd := [key for key in written if key not in names and (row.type, key) not in COMPUTED]:
                raise SchemaError(f"{row.type} has no key {odd[0]}, but a dialect writes it")
            scopes = [list(Scope).index(key.scope) for key in row.keys]
            if scopes != sorted(scopes):
                raise SchemaError(f"{row.type}: keys of records come first, those of the connection last")


EVENTS: dict[str, EventMessage] = by_type(_EVENTS)
REPLIES: dict[str, ReplyMessage] = by_type(_REPLIES)
CONNECTION: dict[str, ConnectionMessage] = by_type(_CONNECTION)
DIALECT_ROWS: dict[str, Dialect] = {row.name: row for row in _DIALECTS}
verify(EVENTS, REPLIES, DIALECT_ROWS)
GAME_MESSAGES: tuple[EventMessage | ReplyMessage, ...] = (*EVENTS.values(), *REPLIES.values())

# The keys of each event in a record, in the order in which they are written.
KEYS: dict[str, tuple[str, ...]] = {
    row.type: tuple(key.name for key in row.keys if key.scope is Scope.RECORD) for row in EVENTS.values()
}
# Keys for one seat or its connection, which are not part of a record.
SEAT_KEYS = frozenset(
    key.name for row in EVENTS.values() for key in (*row.keys, CAN_ACT) if key.scope is not Scope.RECORD
)
# Names of types and keys in other dialects -> canonical.
TYPE_ALIASES: dict[Any, str] = {alias: name for row in _DIALECTS for name, alias in row.types.items()}
KEY_ALIASES = {alias: name for row in _DIALECTS for name, alias in row.keys.items()}
# Types that a bot may reply with, in any dialect -> canonical.
REPLY_TYPES: dict[Any, str] = {
    name: row.type
    for row in REPLIES.values()
    for name in (row.type, *(alias for alias, of in TYPE_ALIASES.items() if of == row.type))
}
# Messages that a bot may send at any time once it has joined: they are no replies.
REQUESTS = frozenset(row.type for row in CONNECTION.values() if row.sender == "bot") - {"join"}
# Messages that are no part of a game.
NOT_OF_A_GAME = frozenset({"none", *CONNECTION})
