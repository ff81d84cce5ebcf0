"""What the server writes, as pydantic models, one a type, in canonical form (dialect mjai3p).

They tell exactly what is written, key by key and in this order; fields that may be None are left out where they do not
belong. Other dialects are translations (`engine.mjai.dialects`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict, TypeAdapter

from server.messages import Count, MessageModel, Reply, Seat, Secret

Tile = Literal[
    "1m", "9m", "1p", "2p", "3p", "4p", "5p", "6p", "7p", "8p", "9p", "1s", "2s", "3s", "4s", "5s", "6s", "7s", "8s",
    "9s", "E", "S", "W", "N", "P", "F", "C", "5pr", "5sr",
]  # fmt: skip
AnyTile = Tile | Literal["?"]  # ``?`` is a tile the reader may not know
Points = Annotated[list[int], Field(min_length=3, max_length=3)]  # of the three seats


class _Event(MessageModel):
    """Any event; `can_act` is true where the bot is asked for an action."""

    type: str
    can_act: bool | None = None


class _Offer(_Event):
    """An event that lets others act. `possible_actions` (mjai3p only) leaves out plain discards and none."""

    possible_actions: list[Reply] | None = None


class Hello(_Event):
    """The first message on a connection."""

    type: Literal["hello"] = "hello"
    protocol: Literal["mjsonp"] = "mjsonp"
    protocol_version: Literal[3] = 3


class Error(_Event):
    """What was wrong with a bot's message. In records `actor` is the seat at fault."""

    type: Literal["error"] = "error"
    actor: Seat | None = None
    message: str


class Resumed(_Event):
    """You are back; the messages of the game from this place on come again."""

    type: Literal["resumed"] = "resumed"
    from_: Count = Field(alias="from")


class StartGame(_Event):
    """A game begins; `id` is the reader's seat, `resume` the secret to come back with."""

    type: Literal["start_game"] = "start_game"
    names: Annotated[list[str], Field(min_length=3, max_length=3)]
    rules: str | None = None
    length: str | None = None
    aka_flag: bool | None = None
    wall_seed: str | None = None
    id: Seat | None = None
    resume: Secret | None = None


class StartKyoku(_Event):
    """A round begins."""

    type: Literal["start_kyoku"] = "start_kyoku"
    bakaze: Literal["E", "S", "W"]
    kyoku: Annotated[int, Field(ge=1, le=3)]
    honba: Count
    kyotaku: Count
    oya: Seat
    dora_marker: Tile
    scores: Points
    tehais: Annotated[
        list[Annotated[list[AnyTile], Field(min_length=13, max_length=13)]], Field(min_length=3, max_length=3)
    ]


class Tsumo(_Offer):
    """A draw."""

    type: Literal["tsumo"] = "tsumo"
    actor: Seat
    pai: AnyTile


class Dahai(_Offer):
    """A discard."""

    type: Literal["dahai"] = "dahai"
    actor: Seat
    pai: Tile
    tsumogiri: bool


class Reach(_Event):
    """A riichi declared; its discard follows. `cannot_dahai` (mjai3p only): tiles that would break tenpai."""

    type: Literal["reach"] = "reach"
    actor: Seat
    cannot_dahai: list[Tile] | None = None


class ReachAccepted(_Event):
    """The riichi stick is paid."""

    type: Literal["reach_accepted"] = "reach_accepted"
    actor: Seat
    deltas: Points
    scores: Points


class Pon(_Event):
    """A pon. `cannot_dahai` (mjai3p only): tiles that may not be discarded after it."""

    type: Literal["pon"] = "pon"
    actor: Seat
    target: Seat
    pai: Tile
    consumed: Annotated[list[Tile], Field(min_length=2, max_length=2)]
    cannot_dahai: list[Tile] | None = None


class Daiminkan(_Event):
    """A kan of another's discard."""

    type: Literal["daiminkan"] = "daiminkan"
    actor: Seat
    target: Seat
    pai: Tile
    consumed: Annotated[list[Tile], Field(min_length=3, max_length=3)]


class Kakan(_Offer):
    """A kan by a tile added to a pon."""

    type: Literal["kakan"] = "kakan"
    actor: Seat
    pai: Tile
    consumed: Annotated[list[Tile], Field(min_length=3, max_length=3)]


class Ankan(_Offer):
    """A concealed kan."""

    type: Literal["ankan"] = "ankan"
    actor: Seat
    consumed: Annotated[list[Tile], Field(min_length=4, max_length=4)]


class Nukidora(_Offer):
    """A north set aside."""

    type: Literal["nukidora"] = "nukidora"
    actor: Seat
    pai: Literal["N"]


class Dora(_Event):
    """A new dora indicator."""

    type: Literal["dora"] = "dora"
    dora_marker: Tile


class Hora(_Event):
    """A win. `pao` is the seat that pays for a yakuman it made certain."""

    type: Literal["hora"] = "hora"
    actor: Seat
    target: Seat
    pai: Tile
    uradora_markers: list[Tile]
    hora_tehais: list[Tile]
    yakus: list[Annotated[tuple[str, int], Strict(False)]]
    fu: int
    fan: int
    hora_points: int
    pao: Seat | None = None
    deltas: Points
    scores: Points


class Ryukyoku(_Event):
    """A draw; hands that are not shown are ``?``."""

    type: Literal["ryukyoku"] = "ryukyoku"
    reason: Literal["fanpai", "kyushukyuhai", "sukaikan", "nagashimangan"]
    tehais: Annotated[list[list[AnyTile]], Field(min_length=3, max_length=3)]
    tenpais: Annotated[list[bool], Field(min_length=3, max_length=3)]
    deltas: Points
    scores: Points


class EndKyoku(_Event):
    """The round is over."""

    type: Literal["end_kyoku"] = "end_kyoku"


class EndGame(_Event):
    """The game is over; `points` are final points, uma and oka included."""

    type: Literal["end_game"] = "end_game"
    scores: Points
    points: Annotated[list[float], Field(min_length=3, max_length=3)] | None = None


Event = Annotated[
    Hello | Error | Resumed | StartGame | StartKyoku | Tsumo | Dahai | Reach | ReachAccepted | Pon | Daiminkan | Kakan
    | Ankan | Nukidora | Dora | Hora | Ryukyoku | EndKyoku | EndGame,
    Field(discriminator="type"),
]  # fmt: skip
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
