"""Results of rounds, ``hora`` and ``ryukyoku``, as human-readable text."""

from __future__ import annotations

from collections.abc import Sequence

from engine.mjai.messages import Message
from engine.ryukyoku import ENGLISH_BY_MJAI
from engine.scoring.yaku import BY_NUMBER, CHUN, HAKU, HATSU, YAKU, Yaku
from engine.text import hand_text, limit_name, tile_text

YAKU_NAMES = {yaku.mjai: yaku.name for yaku in YAKU}
DRAGONS = {"P": BY_NUMBER[HAKU], "F": BY_NUMBER[HATSU], "C": BY_NUMBER[CHUN]}


def result_lines(event: Message, names: Sequence[str], events: list[Message]) -> list[str]:
    """Describe a win or ryukyoku and its payments; anything missing from the record is left out."""
    if event["type"] == "ryukyoku":
        tenpai = [name for name, waiting in zip(names, event.get("tenpais", []), strict=False) if waiting]
        reason = ENGLISH_BY_MJAI.get(event.get("reason", ""), event.get("reason"))
        lines = ["ryukyoku" + f": {reason}" * bool(reason) + f", tenpai: {', '.join(tenpai)}" * bool(tenpai)]
    else:
        lines = _win_lines(event, names, events)
    if any(event.get("deltas", [])):
        lines.append(" · ".join(f"{name} {delta:+,}" for name, delta in zip(names, event["deltas"], strict=True)))
    return lines


def _win_lines(win: Message, names: Sequence[str], events: list[Message]) -> list[str]:
    """Describe a win: winner, winning tile, hand, and the yaku with han, fu and points."""
    by_tsumo = win["actor"] == win["target"]
    how = "by tsumo on" if by_tsumo else f"by ron from {names[win['target']]} on"
    lines = [f"{names[win['actor']]} wins {how} {tile_text(win.get('pai', '?'))}"]
    if win.get("hora_tehais"):
        lines[0] += f" with {hand_text(win['hora_tehais'])}"
    if win.get("uradora_markers"):
        lines[0] += f", ura indicators {hand_text(win['uradora_markers'])}"
    yaku = [f"{name} {han}" for name, han in yaku_of(win, events)]
    worth = [f"{win[key]} {word}" for key, word in (("fan", "han"), ("fu", "fu")) if key in win]
    limit = limit_name(win["fan"], win.get("fu")) if "fan" in win else ""
    points = [f"{win['hora_points']:,} points"] if "hora_points" in win else []
    parts = [", ".join(yaku), ", ".join(filter(None, (" ".join(worth), limit, *points)))]
    return [*lines, *filter(None, [": ".join(filter(None, parts))])]


def yaku_of(win: Message, events: list[Message]) -> list[tuple[str, int]]:
    """Return the English name and han of each yaku of a ``hora``; the events of its round distinguish the dragons."""
    dragons = (yaku.name for yaku in dragons_of(win, events))
    return [
        (next(dragons, "dragon") if name == "sangenpai" else YAKU_NAMES.get(name, name), han)
        for name, han in win.get("yakus", [])
    ]


def dragons_of(win: Message, events: list[Message]) -> list[Yaku]:
    """Return the yaku of the winner's dragon triplets, concealed or called; mjai names each of them sangenpai."""
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
    return [yaku for tile, yaku in DRAGONS.items() if tiles.count(tile) >= 3]
