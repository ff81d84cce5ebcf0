"""The server's metrics for Prometheus; `docs/deploy.md` describes them."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

# Upper bounds of histogram buckets, in seconds.
ANSWER_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
SERVER_BUCKETS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
LAG_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 1.0, 5.0, 30.0)


class Metrics:
    """The metrics of one server, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: dict[str, Any] = {"namespace": "nukidora", "registry": self.registry}
        self.games = Counter("games", "games finished and stored", **own)
        self.playing = Gauge("games_playing", "games in play", **own)
        self.waiting_to_be_stored = Gauge("games_waiting_to_be_stored", "games over whose result is not stored", **own)
        self.decisions = Counter("decisions", "decisions played, those of house bots included", **own)
        self._answer_time = Histogram(
            "answer_seconds", "from a question until its answer is processed", buckets=ANSWER_BUCKETS, **own
        )
        self._answer_charged = Histogram(
            "answer_charged_seconds", "the same without halts of the event loop", buckets=ANSWER_BUCKETS, **own
        )
        self.server_time = Histogram(
            "server_seconds", "from the last reply needed until its event is written", buckets=SERVER_BUCKETS, **own
        )
        self.loop_lag = Histogram("loop_lag_seconds", "lateness of the event loop", buckets=LAG_BUCKETS, **own)
        self.faults = Counter("faults", "faults of bots", ["kind"], **own)
        self.taken_over = Counter("seats_taken_over", "seats taken over by a house bot", **own)
        self.connections = Gauge("connections", "connections of bots and spectators", **own)
        self.sockets = Gauge("sockets", "open sockets: connections of bots and spectators, and HTTP connections", **own)
        self.annotations_dropped = Counter(
            "annotations_dropped", "annotations and texts of faults that were not stored", **own
        )
        self.database_bytes = Gauge("database_bytes", "bytes that the database takes, measured by the hour", **own)
        self.refused = Counter("refused", "connections and joins refused", **own)
        ProcessCollector(registry=self.registry)  # memory, descriptors, CPU; collects nothing without /proc

    def observe_answer(self, real: float, charged: float) -> None:
        """Record that a bot took `real` seconds for a decision, of which `charged` count against it."""
        self._answer_time.observe(real)
        self._answer_charged.observe(charged)

    def observe_server_time(self, seconds: float) -> None:
        """Record the server's time from the last reply it needed to the next event."""
        self.server_time.observe(seconds)
