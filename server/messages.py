"""What bots write, as pydantic models, one a type; what the server writes is in `server.events`.

Read liberally: unknown keys are ignored, tiles and north have several spellings, and only what makes the decision is
required. Once read, a message is in canonical form (dialect mjai3p). `parse_join` and `parse_reply` take bytes from
anybody and raise nothing but `BadMessage`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from math import inf
from typing import Annotated, Any, Literal, NoReturn, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from engine.mjai.reading import TILES

EXT_BOT_SIZE = 4096  # bytes of JSON
SHOWN = 60  # characters of what a bot sent, in a complaint
ONE_OBJECT = "send one JSON object a message, in UTF-8"


class BadMessage(ValueError):  # noqa: N818 - what it is, not that it went wrong
    """A message that cannot be read: one printable line with what is wrong, where, and what belongs there."""


# Values ---------------------------------------------------------------------------------------------------------------

Seat = Annotated[int, Field(ge=0, le=2)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]


def _known(name: str) -> str:
    if name not in TILES or name == "?":
        raise ValueError("no tile")
    return TILES[name]


def _one_kind(tiles: list[str]) -> list[str]:
    if len({tile[:2] for tile in tiles}) > 1:  # of 5pr too, the first two letters are the kind
        raise ValueError("tiles of several kinds")
    return tiles


def _north(tile: str) -> str:
    if tile != "N":
        raise ValueError("not north")
    return tile


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ValueError("not printable")
    return name


def _small(notes: dict[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        text = json.dumps(notes, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        raise ValueError("an object with NaN or an infinity") from None
    if (size := len(text.encode())) > EXT_BOT_SIZE:
        raise ValueError(f"too big ({size:,} bytes)")
    return notes


SaidTile = Annotated[str, AfterValidator(_known)]  # in any spelling; canonical once read
SaidTiles = Annotated[list[SaidTile], AfterValidator(_one_kind)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64), AfterValidator(_printable)]
Room = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}(\+[A-Za-z0-9_.-]{1,64})*$", max_length=512)]
ExtBot = Annotated[dict[str, JsonValue], AfterValidator(_small)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class MessageModel(BaseModel):
    """Any message. Types are not converted: 1 is no 1.0, no true and no "1"."""

    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, frozen=True)


# From a bot: joining --------------------------------------------------------------------------------------------------


class Join(MessageModel):
    """The first message of a bot. `name` may be missing (then it is "") only where `resume` is a secret."""

    type: Literal["join"] = Field(description="join")
    name: Name = Field("", description="1 to 64 printable characters")
    room: Room = Field(
        "default", description="1 to 64 of A-Z a-z 0-9 _ . - and then any number of +BOT (512 characters at most)"
    )
    dialect: Literal["mjai3p", "libriichi3p", "kita"] = Field("mjai3p", description="mjai3p, libriichi3p or kita")
    token: Secret | None = Field(None, description="your access token, at most 256 characters")
    reply: Literal["always", "when_asked"] = Field("always", description="always or when_asked")
    games: Count = Field(1, description="a number of games, 0 for as long as the connection lasts")
    resume: bool | Secret = Field(False, description="true, or the secret of the game to come back to")
    seen: Count = Field(0, description="a number of messages, 0 or more")


# From a bot: replies in a game ----------------------------------------------------------------------------------------

_TILE = "a tile like 5p, 5pr or E"


class _Reply(MessageModel):
    type: str
    actor: Seat | None = Field(None, description="your seat, 0 to 2")
    ext_bot: ExtBot | None = Field(None, description=f"an object without NaN, at most {EXT_BOT_SIZE:,} bytes")


class NoReply(_Reply):
    """Nothing to say, or pass."""

    type: Literal["none"] = "none"


class DahaiReply(_Reply):
    """A discard. Without `tsumogiri` it is the drawn tile where that has the same name."""

    type: Literal["dahai"] = "dahai"
    pai: SaidTile = Field(description=_TILE)
    tsumogiri: bool | None = Field(None, description="true or false")


class ReachReply(_Reply):
    """Riichi; the discard is the next reply."""

    type: Literal["reach"] = "reach"


class _CallReply(_Reply):
    target: Seat | None = Field(None, description="the seat that discarded, 0 to 2")
    pai: SaidTile | None = Field(None, description=_TILE)


class PonReply(_CallReply):
    """Pon; `consumed` says whether the red five goes into it."""

    type: Literal["pon"] = "pon"
    consumed: SaidTiles = Field(
        description="the two tiles of your hand, of one kind, like 5p and 5pr", min_length=2, max_length=2
    )


class DaiminkanReply(_CallReply):
    """Kan of another's discard."""

    type: Literal["daiminkan"] = "daiminkan"
    consumed: SaidTiles | None = Field(
        None, description="the three tiles of your hand, of one kind", min_length=3, max_length=3
    )


class KakanReply(_Reply):
    """Kan by a fourth tile added to a pon."""

    type: Literal["kakan"] = "kakan"
    pai: SaidTile = Field(description=_TILE)
    consumed: SaidTiles | None = Field(
        None, description="the three tiles of the pon, of one kind", min_length=3, max_length=3
    )


class AnkanReply(_Reply):
    """Concealed kan."""

    type: Literal["ankan"] = "ankan"
    consumed: SaidTiles = Field(description="four tiles of one kind", min_length=4, max_length=4)


class NukidoraReply(_Reply):
    """North set aside; ``kita`` is another name of it."""

    type: Annotated[Literal["nukidora", "kita"], AfterValidator(lambda _: "nukidora")] = "nukidora"
    pai: Annotated[SaidTile, AfterValidator(_north)] = Field("N", description="N")


class HoraReply(_Reply):
    """A win, by whatever tile was drawn or offered."""

    type: Literal["hora"] = "hora"
    target: Seat | None = Field(None, description="the seat that discarded, your own for tsumo, 0 to 2")
    pai: SaidTile | None = Field(None, description=_TILE)


class RyukyokuReply(_Reply):
    """Abortive draw: nine kinds of terminals and honours."""

    type: Literal["ryukyoku"] = "ryukyoku"


_REPLIES: dict[str, type[_Reply]] = {
    "none": NoReply,
    "dahai": DahaiReply,
    "reach": ReachReply,
    "pon": PonReply,
    "daiminkan": DaiminkanReply,
    "kakan": KakanReply,
    "ankan": AnkanReply,
    "nukidora": NukidoraReply,
    "kita": NukidoraReply,
    "hora": HoraReply,
    "ryukyoku": RyukyokuReply,
}
Reply = Annotated[
    NoReply | DahaiReply | ReachReply | PonReply | DaiminkanReply | KakanReply | AnkanReply | NukidoraReply | HoraReply
    | RyukyokuReply,
    Field(discriminator="type"),
]  # fmt: skip


# Reading --------------------------------------------------------------------------------------------------------------

_JOIN: TypeAdapter[Join] = TypeAdapter(Join)
_REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)
_Read = TypeVar("_Read")


def parse_join(data: bytes | str, given: dict[str, Any] | None = None) -> Join:
    """The join message of a bot, with the keys `given` by the URL in place of its own. Raises BadMessage."""
    if given:
        with suppress(ValueError, RecursionError):  # then it is no message, whatever is given
            said = json.loads(data)
            data = json.dumps(said | given) if isinstance(said, dict) else data
    join = _read(_JOIN, data)
    if not join.name and not isinstance(join.resume, str):
        raise BadMessage(f"join: name is missing; name must be {Join.model_fields['name'].description}")
    return join


def parse_reply(data: bytes | str) -> Reply:
    """A bot's reply in a game, in canonical form. Raises BadMessage."""
    return _read(_REPLY, data)


def as_message(reply: Reply) -> dict[str, Any]:
    """The reply as `engine.mjai.actions.action_of` takes it: what was said, without `ext_bot`."""
    return {key: value for key, value in reply.__dict__.items() if value is not None and key != "ext_bot"}


def _read(adapter: TypeAdapter[_Read], data: bytes | str) -> _Read:
    try:
        message = adapter.validate_json(data)
        text = data if isinstance(data, str) else data.decode()
        if "NaN" in text or "Infinity" in text:  # in a string, or a constant: where nothing is read, pydantic takes it
            json.loads(text, parse_constant=_refuse)
    except ValidationError as error:
        raise BadMessage(_complaint(error)) from None
    except ValueError as error:
        raise BadMessage(f"not JSON ({error}); {ONE_OBJECT}") from None
    return message


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number there")


def _complaint(error: ValidationError) -> str:
    """One line about the first thing wrong."""
    fault = error.errors(include_url=False, include_context=False)[0]
    kind, place, found = fault["type"], fault["loc"], fault["input"]
    if kind == "json_invalid":
        return f"not JSON ({fault['msg'].removeprefix('Invalid JSON: ')}); {ONE_OBJECT}"
    if kind == "string_unicode":
        return f"not UTF-8; {ONE_OBJECT}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        said = f"is {_shown(found['type'])}" if "type" in found else "is missing"
        return f"type {said}; type must be one of {', '.join(_REPLIES)}"
    if not place:
        return f"the message is {_shown(found)}; it must be a JSON object with a type"
    said = str(place[0]) if place[0] in _REPLIES else "join"
    field, *inside = place[1:] if place[0] in _REPLIES else place[:1]
    if kind == "missing":
        found = "missing"
    elif kind == "value_error" and isinstance(found, dict):
        found = fault["msg"].removeprefix("Value error, ")
    else:
        found = _shown(found)
    path = str(field) + "".join(f"[{key}]" for key in inside)
    model: type[MessageModel] = _REPLIES.get(said, Join)
    return f"{said}: {path} is {found}; {field} must be {model.model_fields[str(field)].description}"


def _shown(value: Any) -> str:
    """A value of a bot's message in a few printable characters."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return "a huge number" if 10**12 <= abs(value) < inf else json.dumps(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list) and not (len(value) <= 4 and all(isinstance(entry, str) for entry in value)):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
