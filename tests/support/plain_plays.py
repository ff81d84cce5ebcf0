"""What the server counts of a game's players, counted again from the mjai messages of a game, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from server.store import Play

CALLS = ("pon", "daiminkan")
EXHAUSTIVE = ("fanpai", "nagashimangan")


def count_messages(messages: Iterable[dict[str, Any]]) -> tuple[Play, ...]:
    """Count the actions of the three seats; messages that say nothing of them, such as ``error``, are ignored."""
    counts = [dict.fromkeys(Play.model_fields, 0) for _ in range(3)]
    discards = [0, 0, 0]
    called: set[int] = set()
    winners: list[int] = []
    dealt_in: set[int] = set()
    for message in messages:
        kind = message["type"]
        if kind == "dahai":
            discards[message["actor"]] += 1
        elif kind == "start_kyoku":
            discards = [0, 0, 0]
            called, winners, dealt_in = set(), [], set()
        elif kind in CALLS:
            called.add(message["actor"])
        elif kind == "reach_accepted":
            counts[message["actor"]]["riichis"] += 1
        elif kind == "nukidora":
            counts[message["actor"]]["nukidora"] += 1
        elif kind == "hora":
            winner, target, points = message["actor"], message["target"], message["hora_points"]
            tsumo = winner == target
            winners.append(winner)
            counts[winner]["win_points"] += points
            counts[winner]["win_turns"] += max(1, discards[winner] + tsumo)
            counts[winner]["tsumos"] += tsumo
            if not tsumo:
                dealt_in.add(target)
                counts[target]["deal_in_points"] += points
        elif kind == "ryukyoku" and message["reason"] in EXHAUSTIVE:
            for seat, tenpai in enumerate(message["tenpais"]):
                counts[seat]["exhaustive_draws"] += 1
                counts[seat]["draws_tenpai"] += tenpai
        elif kind == "end_kyoku":
            for seat, count in enumerate(counts):
                count["rounds"] += 1
                count["wins"] += seat in winners
                count["draws"] += not winners
                count["calls"] += seat in called
                count["deal_ins"] += seat in dealt_in
    return tuple(Play(**count) for count in counts)
