"""Sends the messages of a game to the connections that play it, and measures how long that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from time import perf_counter

import numpy as np

from engine.mjai.messages import Message
from server.connection.bot_connection import Encoded
from server.fairness import FairQueue
from server.game.seat import Seat
from server.metrics import Metrics


class Sender:
    """Sends messages to all seats. The server time is that from a reply until what followed from it is written."""

    def __init__(self, seats: Sequence[Seat], fair_queue: FairQueue, metrics: Metrics) -> None:
        self._seats = seats
        self._fair_queue = fair_queue
        self._metrics = metrics
        self._reply_at = 0.0  # perf_counter at the decision that leads to the next messages; 0: none

    def reply_received(self) -> None:
        """Measure the server time from now on until the next messages are written."""
        self._reply_at = perf_counter()

    def send(self, messages: Sequence[Message], table: np.record, decisions: Mapping[int, Sequence[int]]) -> None:
        """Send messages to all connections; the last one asks those for a decision that have one to make.

        `decisions` are the legal actions of the seats that have to decide.
        """
        encoded: Encoded = {}
        for seat in self._seats:
            if seat.connection is not None:
                asked = decisions.get(seat.index, [])
                if asked and seat.needs_no_reply(asked):
                    asked = []
                seat.connection.send_messages(messages, table, asked, encoded)
        if self._reply_at:
            self._fair_queue.add_last(partial(self._written, self._reply_at))
            self._reply_at = 0.0

    def _written(self, reply_at: float) -> None:
        """What followed from the reply at that time was written."""
        self._metrics.observe_server_time(perf_counter() - reply_at)
