"""Results of rounds in tenhou.net/6 records: ``["和了", deltas, win, …]``, ``["流局", deltas]`` and abortive draws.

A win is ``[winner, from, liable or winner, "30符4飜2000-3900点", "立直(1飜)", …]``; a double ron has two pairs of
deltas and win.
"""

from __future__ import annotations

import re
from typing import Any

from engine import ryukyoku
from engine.common.error_text import error_text
from engine.mjai.messages import Message, make
from engine.mjai.results import dragons_of
from engine.records.filling import Needed, require_result
from engine.records.model import no_end_of_round, unknown_yaku
from engine.records.yaku_names import JAPANESE_BY_MJAI, YAKUMAN, yaku_named
from engine.scoring.yaku import YAKUMAN_HAN
from engine.table import N_SEATS
from engine.tiles import WINDS

NEEDED: Needed = {"hora": ("deltas",), "ryukyoku": ("reason", "deltas")}  # to write a result
_WIN = "和了"
_TENPAI_TEXTS = {"全員聴牌": True, "全員不聴": False}
# The chips (枚) of a tournament lobby are not points. Exports of Mahjong Soul also have 符 and 飜 in other languages.
_POINTS = re.compile(r"(?:(\d+)(?:符|Fu)\d+(?:飜|Han))?\D*(\d+)(?:-(\d+))?(?:点|Points)(∀?)(?:\d+枚)?(∀?)")
MAX_YAKU = 100  # characters of a yaku with its han
_YAKU = re.compile(r"(.+)\((?:(\d+)(?:飜|Han)|(.*)役満)(?:\d+枚)?\)")
# Lowest base points of each named limit, highest first.
_LIMITS = ((8000, "役満"), (6000, "三倍満"), (4000, "倍満"), (3000, "跳満"), (2000, "満貫"))
_KAZOE = "数え役満"
_WIND_NAMES = "東南西"


def read_result(
    result: list[Any], ura: list[str], riichi: set[int], where: str = "", notes: list[str] | None = None
) -> list[Message]:
    """The ``hora`` events or the ``ryukyoku`` of a result; `ura`: indicators, for winners among the seats in `riichi`.

    Parts of a win that are not understood are left out and added to `notes`, with the location `where`. Raises
    ValueError for a result that does not exist with three players.
    """
    title, *rest = result
    if title == _WIN:
        if not rest or len(rest) % 2:
            what = "a win has deltas and details in pairs, not {n} parts"
            raise ValueError(error_text("win_parts", what, n=len(rest)))
        noted = [] if notes is None else notes
        pairs = zip(rest[::2], rest[1::2], strict=True)
        return [_read_win(deltas, win, ura if win[0] in riichi else [], where, noted) for deltas, win in pairs]
    if title == ryukyoku.UNKNOWN_JAPANESE:
        return [make("ryukyoku", reason=ryukyoku.UNKNOWN_MJAI, deltas=rest[0][:N_SEATS] if rest else None)]
    if title not in ryukyoku.MJAI_BY_TITLE:
        raise ValueError(no_end_of_round(repr(title)))
    reason = ryukyoku.MJAI_BY_TITLE[title]
    deltas = rest[0][:N_SEATS] if rest else [0] * N_SEATS
    tenpais = [_TENPAI_TEXTS[title]] * N_SEATS if title in _TENPAI_TEXTS else None
    if tenpais is None and reason == "fanpai" and any(deltas):
        tenpais = [delta > 0 for delta in deltas]
    return [make("ryukyoku", reason=reason, tenpais=tenpais, deltas=deltas)]


def _read_win(deltas: list[int], win: list[Any], ura: list[str], where: str, notes: list[str]) -> Message:
    actor, target, liable, *texts = win
    fields: dict[str, Any] = {}
    if texts:
        read = [_read_yaku(text) for text in texts[1:]]
        unknown = [text for text, yaku in zip(texts[1:], read, strict=True) if yaku is None]
        yakus = [yaku for yaku in read if yaku is not None and yaku[1]]
        if unknown:
            notes += unknown_yaku(where, unknown)
        else:
            fields = {"yakus": yakus, "fan": sum(han for _, han in yakus)}
        points = _read_points(texts[0])
        if points is None:
            what = "{place}: {text!r} does not give points; those of this win are not compared"
            notes.append(error_text("points_unknown", what, place=where, text=texts[0]))
        fields |= points or {}
    return make(
        "hora",
        actor=actor,
        target=target,
        uradora_markers=ura,
        pao=liable if liable != actor else None,
        deltas=deltas[:N_SEATS],
        **fields,
    )


def _read_points(text: str) -> dict[str, int] | None:
    """Return hora_points, and fu if given, of a text like ``"30符4飜2000-3900点"`` or ``"満貫4000点∀"`` (from both).

    None for another text.
    """
    match = _POINTS.fullmatch(text)
    if not match:
        return None
    fu, first, second, *each = match.groups()
    points = int(first) * (2 if any(each) else 1) + int(second or 0)
    return {"hora_points": points} | ({"fu": int(fu)} if fu else {})


def _read_yaku(text: str) -> list[Any] | None:
    """Return name and han of a text like ``立直(1飜)``; None if the yaku is unknown."""
    match = _YAKU.fullmatch(text) if len(text) <= MAX_YAKU else None  # matching time is quadratic in the length
    name = yaku_named(match[1]) if match else None
    if match is None or name is None:
        return None
    return [name, int(match[2]) if match[2] else YAKUMAN_HAN * (2 if match[3] else 1)]


def write_result(events: list[Message]) -> list[Any]:
    """Return the result of a round from its events. Raises ValueError without one, or if it lacks what is `NEEDED`."""
    wins = [event for event in events if event["type"] == "hora"]
    draw = next((event for event in events if event["type"] == "ryukyoku"), None)
    if not wins and draw is not None and draw.get("reason") == ryukyoku.UNKNOWN_MJAI:
        return [ryukyoku.UNKNOWN_JAPANESE, *([[*draw["deltas"], 0]] if "deltas" in draw else [])]
    for event in events:
        require_result(event, NEEDED)
    if wins:
        return [_WIN, *(part for win in wins for part in ([*win["deltas"], 0], _write_win(win, events)))]
    if draw is None:
        raise ValueError("the round has no result")
    if draw["reason"] not in ryukyoku.TITLE_BY_MJAI:
        raise ValueError(f"a draw by {draw['reason']!r} is unknown")
    if any(draw["deltas"]):
        return [ryukyoku.TITLE_BY_MJAI[draw["reason"]], [*draw["deltas"], 0]]
    tenpais = set(draw.get("tenpais", ())) if draw["reason"] == "fanpai" else set()
    for text, tenpai in _TENPAI_TEXTS.items():
        if tenpais == {tenpai}:
            return [text]
    return [ryukyoku.TITLE_BY_MJAI[draw["reason"]]]


def _write_win(win: Message, events: list[Message]) -> list[Any]:
    start = events[0]
    details: list[Any] = [win["actor"], win["target"], win.get("pao", win["actor"])]
    if "hora_points" not in win or "yakus" not in win:
        return details
    dragons = (yaku.japanese for yaku in dragons_of(win, events))
    winds = {"bakaze": start["bakaze"], "jikaze": WINDS[(win["actor"] - start["oya"]) % N_SEATS]}
    details.append(_write_points(win, is_dealer=win["actor"] == start["oya"]))
    for name, han in win["yakus"]:
        japanese = JAPANESE_BY_MJAI[name]
        if name in winds:
            japanese += " " + _WIND_NAMES[WINDS.index(winds[name])]
        if name == "sangenpai":
            japanese = next(dragons, "役牌")
        times = "ダブル" if han > YAKUMAN_HAN else ""
        details.append(f"{japanese}({times}役満)" if name in YAKUMAN else f"{japanese}({han}飜)")
    return details


def _write_points(win: Message, *, is_dealer: bool) -> str:
    """Points in Tenhou's format: fu and han or the name of the limit, then the payments."""
    points: int = win["hora_points"]
    if win["actor"] != win["target"]:
        base, paid = points // (6 if is_dealer else 4), f"{points}点"
    elif is_dealer:
        base, paid = points // 4, f"{points // 2}点∀"
    else:
        # The dealer pays twice the other's base, both rounded up to hundreds.
        other = -(-points // 300) * 100
        base, paid = points // 3, f"{other}-{points - other}点"
    limit = next((name for least, name in _LIMITS if base >= least), None)
    if limit == _LIMITS[0][1] and not any(name in YAKUMAN for name, _ in win["yakus"]):
        limit = _KAZOE
    if limit is None and "fu" in win:
        return f"{win['fu']}符{win['fan']}飜{paid}"
    return (limit or "") + paid
