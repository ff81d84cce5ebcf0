"""Many spectators of one of the honest bots' games, hands closed: each event is sent to all of them at once."""

from __future__ import annotations

import socket

from tests.server.attacks.deaf_peers import small
from tests.support.attacker import Attack, Attacker, address

SPECTATORS = 300
OF_AN_ADDRESS = 90  # fewer than an address may have connections


def watch(attacker: Attacker, game: str, number: int, hands: str = "closed") -> socket.socket:
    """A spectator's connection, of one of several addresses."""
    return attacker.websocket(f"/api/games/{game}/events?hands={hands}", address(number // OF_AN_ADDRESS))


def keep(attacker: Attacker, read: bool, hands: str = "closed") -> None:
    """Watch the game that was started first; those whose game is over watch another."""

    def connect(number: int) -> socket.socket:
        opened = watch(attacker, attacker.first("/api/games?status=playing"), number, hands)
        return opened if read else small(opened)

    attacker.keep_open(SPECTATORS, connect, read=read)


def come_and_go(attacker: Attacker) -> None:
    """Begin to watch with several connections, and close all of them."""
    game = attacker.first("/api/games?status=playing")
    for number in range(SPECTATORS):
        if not attacker.over:
            watch(attacker, game, number).close()


ATTACKS = (
    Attack(f"{SPECTATORS} spectators, hands closed", lambda a: keep(a, read=True)),
    Attack(f"{SPECTATORS} spectators, hands open", lambda a: keep(a, read=True, hands="open")),
    Attack(f"{SPECTATORS} spectators that do not read, hands closed", lambda a: keep(a, read=False), short=True),
    Attack(f"{SPECTATORS} spectators that come and go", come_and_go),
)
