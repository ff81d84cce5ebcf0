"""Statistics of the players' actions in a game, counted from its record.

A game is counted once, when it ends. Games stored by older versions are counted while the server runs, a few at a time,
so that a server with many games starts immediately. This may be interrupted at any time; the next start continues.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterable

import structlog

from engine.mjai.messages import Message
from server.limits import Limits
from server.store import Play, Store, StoreError

CALLS = ("pon", "daiminkan")
EXHAUSTIVE = ("fanpai", "nagashimangan")
log = structlog.get_logger("server.counting")

ThreePlays = tuple[Play, Play, Play]


def plays_of(record: bytes) -> ThreePlays:
    """Count the actions of the three seats in a game; `record`: .mjson.gz. A garbled record may raise any exception."""
    return count_plays(json.loads(line) for line in gzip.decompress(record).splitlines())


def count_plays(messages: Iterable[Message]) -> ThreePlays:
    """Count the actions of the three seats in canonical messages; others, such as ``error``, are ignored."""
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
    first, second, third = (Play(**count) for count in counts)
    return first, second, third


async def count_stored_games(store: Store, limits: Limits) -> None:
    """Count the stored games that are not counted yet; return when none are left."""
    last, counted = "", 0
    while True:
        try:
            games = await store.uncounted(last, limits.count_batch)
            if not games:
                break
            plays = await asyncio.to_thread(_plays_of_all, games)
            if plays:
                await store.add_plays(plays)
        except StoreError as error:
            log.warning("stored games cannot be counted now", error=str(error), seconds=limits.count_retry)
            await asyncio.sleep(limits.count_retry)
        else:
            last, counted = max(games), counted + len(plays)
            await asyncio.sleep(limits.count_pause)
    if counted:
        log.info("stored games counted for statistics", games=counted)


def _plays_of_all(games: dict[str, bytes]) -> dict[str, ThreePlays]:
    """Return the counts of each game. An unreadable record is left out, and tried again at the next start."""
    plays: dict[str, ThreePlays] = {}
    for game_id, record in games.items():
        try:
            plays[game_id] = plays_of(record)
        except Exception as error:  # whatever is wrong with one record, the others are counted
            log.warning("record cannot be read for statistics", game=game_id, error=repr(error))
    return plays
