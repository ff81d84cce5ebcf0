"""Canonical mjai messages (dialect mjai3p) as bots of other families expect them.

Only writing needs to know a dialect; whatever one of them says is read by `engine.mjai.reading.canonical`.

- ``mjai3p``: the three-player Ruby server and its bots, and our logs. Canonical messages are in it.
- ``libriichi3p``: Mortal-family engines. The messages of libriichi's ``Event`` with a fourth seat padded everywhere.
- ``kita``: RiichiEnv (0.4.11), also jansou. Three seats; north is ``kita``, kans name a ``pai``, red fives come first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engine.mjai.messages import dumps, ordered
from engine.records.model import GameRecord

Message = dict[str, Any]
Value = Callable[[Message], Any]  # the value of one key, of the canonical message; None leaves the key out

HIDDEN_HAND = ["?"] * 13
# RiichiEnv's names of draws where it has its own.
KITA_REASONS = {"fanpai": "exhaustive_draw", "kyushukyuhai": "kyushu_kyuhai", "sukaikan": "suukansansen"}


class Dialect(NamedTuple):
    """How a dialect is written. A type not in `keys` is written as it is."""

    keys: dict[str, str]  # canonical type -> the keys written, in order
    values: dict[str, Value]  # key written -> its value, where that is not the canonical one


def _padded(key: str, filler: Any) -> Value:
    """The seats under `key` with a fourth that is nobody's."""

    def value(message: Message) -> list[Any] | None:
        seats = message.get(key)
        return None if seats is None else [*seats, filler]

    return value


def _reds_first(message: Message) -> list[str]:
    consumed: list[str] = message["consumed"]
    return consumed[::-1]


def _tile(message: Message) -> str:
    """RiichiEnv names a closed kan, too, by a tile: its first."""
    tile: str = message["pai"] if "pai" in message else message["consumed"][-1]
    return tile


def _uradora(message: Message) -> list[str] | None:
    return message.get("uradora_markers")


def _reason(message: Message) -> str | None:
    reason = message.get("reason")
    return KITA_REASONS.get(reason, reason) if reason else None


def _by_tsumo(message: Message) -> bool | None:
    """RiichiEnv says so of a win by tsumo, and nothing of another."""
    return True if message.get("target") == message["actor"] else None


def _kita(message: Message) -> str:
    return "kita" if message["type"] == "nukidora" else message["type"]


# `id` and `resume` of start_game are for the connection, and so is `can_act`, which any message may carry: whatever the
# dialect, they are kept.
_LIBRIICHI3P = Dialect(
    keys={
        "start_game": "type names id resume",
        "start_kyoku": "type bakaze dora_marker kyoku honba kyotaku oya scores tehais",
        "tsumo": "type actor pai",
        "dahai": "type actor pai tsumogiri",
        "reach": "type actor",
        "reach_accepted": "type actor",
        "pon": "type actor target pai consumed",
        "daiminkan": "type actor target pai consumed",
        "kakan": "type actor pai consumed",
        "ankan": "type actor consumed",
        "nukidora": "type actor pai",
        "dora": "type dora_marker",
        "hora": "type actor target deltas ura_markers",
        "ryukyoku": "type deltas",
        "end_kyoku": "type",
        "end_game": "type",
    },
    values={
        "names": _padded("names", ""),
        "scores": _padded("scores", 0),
        "tehais": _padded("tehais", HIDDEN_HAND),
        "deltas": _padded("deltas", 0),
        "ura_markers": _uradora,
    },
)
_KITA = Dialect(
    keys={
        "start_game": "id names type resume",  # RiichiEnv itself writes the type alone
        "start_kyoku": "bakaze dora_marker honba kyoku kyotaku oya scores tehais type",
        "tsumo": "actor pai type",
        "dahai": "actor pai tsumogiri type",
        "reach": "actor type",
        "reach_accepted": "actor type",
        "pon": "actor consumed pai target type",
        "daiminkan": "actor consumed pai target type",
        "kakan": "actor consumed pai type",
        "ankan": "actor consumed pai type",
        "nukidora": "actor pai type",
        "dora": "dora_marker type",
        "hora": "actor deltas target tsumo type ura_markers",
        "ryukyoku": "actor deltas reason type",  # the actor is that of a bot's own declaration
        "end_kyoku": "type",
        "end_game": "type",
    },
    values={
        "type": _kita,
        "pai": _tile,
        "consumed": _reds_first,
        "ura_markers": _uradora,
        "reason": _reason,
        "tsumo": _by_tsumo,
    },
)

DIALECTS = ("mjai3p", "libriichi3p", "kita")
_WRITTEN = {"mjai3p": Dialect({}, {}), "libriichi3p": _LIBRIICHI3P, "kita": _KITA}
# dialect -> canonical type -> (key written, its value or None for the canonical one)
_PLANS: dict[str, dict[str, list[tuple[str, Value | None]]]] = {
    name: {
        kind: [(key, dialect.values.get(key)) for key in [*keys.split(), "can_act"]]
        for kind, keys in dialect.keys.items()
    }
    for name, dialect in _WRITTEN.items()
}


def write(message: Message, dialect: str) -> Message:
    """A canonical message in `dialect`, which must be one of `DIALECTS`.

    The message is not changed; what stays the same is shared with it, and may be all of it.
    """
    plan = _PLANS[dialect].get(message["type"])
    if plan is None:
        return message
    return {
        key: found
        for key, value in plan
        if (found := message.get(key) if value is None else value(message)) is not None
    }


def write_log(record: GameRecord, dialect: str) -> str:
    """The log of a game in `dialect`: one event a line, each line ended."""
    return "".join(dumps(write(ordered(event), dialect)) + "\n" for event in record.events)
