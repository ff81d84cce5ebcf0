"""Results of rounds in tenhou.net/6 records: ``["和了", deltas, win, …]``, ``["流局", deltas]`` and abortive draws.

A win is ``[winner, from, liable or winner, "30符4飜2000-3900点", "立直(1飜)", …]``; a double ron has two pairs of
deltas and win.
"""

from __future__ import annotations

import re
from typing import Any

from engine import ryukyoku
from engine.mjai.messages import Message, make
from engine.records.yaku_names import JAPANESE_BY_MJAI, YAKUMAN, yaku_from_japanese
from engine.scoring.yaku import BY_NUMBER, CHUN, HAKU, HATSU, YAKUMAN_HAN, Yaku
from engine.table import N_SEATS
from engine.tiles import WINDS

_WIN = "和了"
_TENPAI_TEXTS = {"全員聴牌": True, "全員不聴": False}
_POINTS = re.compile(r"(?:(\d+)符\d+飜)?\D*(\d+)(?:-(\d+))?点(∀?)")
_YAKU = re.compile(r"(.+)\((?:(\d+)飜|(.*)役満)\)")
# Lowest base points of each named limit, highest first.
_LIMITS = ((8000, "役満"), (6000, "三倍満"), (4000, "倍満"), (3000, "跳満"), (2000, "満貫"))
_KAZOE = "数え役満"
_WIND_NAMES = "東南西"
_DRAGONS = {"P": BY_NUMBER[HAKU], "F": BY_NUMBER[HATSU], "C": BY_NUMBER[CHUN]}


def read_result(result: list[Any], ura: list[str], riichi: set[int]) -> list[Message]:
    """The ``hora`` events or the ``ryukyoku`` of a result; `ura`: indicators, for winners among the seats in `riichi`.

    Raises ValueError for a result that does not exist with three players.
    """
    title, *rest = result
    if title == _WIN:
        if not rest or len(rest) % 2:
            raise ValueError(f"a win has deltas and details in pairs, not {len(rest)} parts")
        return [_read_win(deltas, win, ura, riichi) for deltas, win in zip(rest[::2], rest[1::2], strict=True)]
    if title not in ryukyoku.MJAI_BY_JAPANESE:
        raise ValueError(f"{title!r} cannot end a round of three players")
    deltas = rest[0][:N_SEATS] if rest else [0] * N_SEATS
    tenpais = [_TENPAI_TEXTS[title]] * N_SEATS if title in _TENPAI_TEXTS else None
    if title == ryukyoku.JAPANESE_BY_MJAI["fanpai"] and any(deltas):
        tenpais = [delta > 0 for delta in deltas]
    return [make("ryukyoku", reason=ryukyoku.MJAI_BY_JAPANESE[title], tenpais=tenpais, deltas=deltas)]


def _read_win(deltas: list[int], win: list[Any], ura: list[str], riichi: set[int]) -> Message:
    actor, target, liable, *texts = win
    fields: dict[str, Any] = {}
    if texts:
        yakus = [yaku for yaku in map(_read_yaku, texts[1:]) if yaku[1]]
        fields = {"yakus": yakus, "fan": sum(han for _, han in yakus), **_read_points(texts[0])}
    return make(
        "hora",
        actor=actor,
        target=target,
        uradora_markers=ura if actor in riichi else [],
        pao=liable if liable != actor else None,
        deltas=deltas[:N_SEATS],
        **fields,
    )


def _read_points(text: str) -> dict[str, int]:
    """hora_points, and fu if given, of a text like ``"30符4飜2000-3900点"`` or ``"満貫4000点∀"`` (each of two)."""
    match = _POINTS.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} does not give points, like 満貫8000点")
    fu, first, second, each = match.groups()
    points = int(first) * (2 if each else 1) + int(second or 0)
    return {"hora_points": points} | ({"fu": int(fu)} if fu else {})


def _read_yaku(text: str) -> list[Any]:
    match = _YAKU.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is no yaku, like 立直(1飜)")
    name, han, times = match.groups()
    return [yaku_from_japanese(name), int(han) if han else YAKUMAN_HAN * (2 if times else 1)]


def write_result(events: list[Message]) -> list[Any]:
    """The result of a round, from its events. Raises ValueError without a result or with unknown deltas."""
    wins = [event for event in events if event["type"] == "hora"]
    draw = next((event for event in events if event["type"] == "ryukyoku"), None)
    if any("deltas" not in event for event in [*wins, draw or {"deltas": []}]):
        raise ValueError("the deltas of the result are unknown; tenhou.net/6 needs them")
    if wins:
        return [_WIN, *(part for win in wins for part in ([*win["deltas"], 0], _write_win(win, events)))]
    if draw is None:
        raise ValueError("the round has no result")
    if draw["reason"] not in ryukyoku.JAPANESE_BY_MJAI:
        raise ValueError(f"a draw by {draw['reason']!r} is unknown")
    if any(draw["deltas"]):
        return [ryukyoku.JAPANESE_BY_MJAI[draw["reason"]], [*draw["deltas"], 0]]
    tenpais = set(draw.get("tenpais", ())) if draw["reason"] == "fanpai" else set()
    for text, tenpai in _TENPAI_TEXTS.items():
        if tenpais == {tenpai}:
            return [text]
    return [ryukyoku.JAPANESE_BY_MJAI[draw["reason"]]]


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


def dragons_of(win: Message, events: list[Message]) -> list[Yaku]:
    """The yaku of the winner's dragon triplets, in the hand or called; mjai calls each sangenpai."""
    seat = win["actor"]
    tiles = list(events[0]["tehais"][seat])
    if win["target"] != seat and "pai" in win:
        tiles.append(win["pai"])
    for event in events:
        if event.get("actor") != seat:
            continue
        if event["type"] in ("tsumo", "pon", "daiminkan"):
            tiles.append(event["pai"])
        elif event["type"] == "dahai" and event["pai"] in tiles:
            tiles.remove(event["pai"])
    return [yaku for tile, yaku in _DRAGONS.items() if tiles.count(tile) >= 3]
