"""All attacks."""

from __future__ import annotations

from tests.server.attacks import (
    annotations,
    blank_lines,
    chunked_bodies,
    control_frames,
    deaf_peers,
    exhibitions,
    garbage,
    house_bots,
    idle_connections,
    joins,
    lists,
    pages,
    parked_memory,
    players,
    positions,
    proxied,
    puzzles,
    reconnects,
    records,
    requests,
    spectators,
    tournaments,
    trickle,
)
from tests.support.attacker import Attack

MODULES = (
    blank_lines, control_frames, chunked_bodies, idle_connections, trickle, requests, parked_memory, reconnects, joins,
    garbage, players, house_bots, deaf_peers, proxied, spectators, pages, records, annotations,
    positions, lists, tournaments, puzzles, exhibitions,
)  # fmt: skip
ATTACKS = {attack.name: attack for module in MODULES for attack in module.ATTACKS}


def attack_named(name: str) -> Attack:
    """The attack of that name."""
    return ATTACKS[name]
