"""What the server counts, for Prometheus."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

THINKING = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
ANSWERING = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)


class Metrics:
    """The counters of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: dict[str, Any] = {"namespace": "nukidora", "registry": self.registry}
        self.games = Counter("games", "games finished and stored", **own)
        self.playing = Gauge("games_playing", "games being played", **own)
        self.decisions = Counter("decisions", "decisions played, house bots' included", **own)
        self.answer_time = Histogram("answer_seconds", "time a bot takes for a decision", buckets=THINKING, **own)
        self.own_time = Histogram(
            "server_seconds", "from the last reply needed to the next event sent", buckets=ANSWERING, **own
        )
        self.faults = Counter("faults", "faults of bots", ["kind"], **own)
        self.taken_over = Counter("seats_taken_over", "seats a house bot took over", **own)
        self.connections = Gauge("connections", "connections open", **own)
        self.refused = Counter("refused", "connections and joins refused", **own)

    def answered(self, seconds: float) -> None:
        """The server took so long from the last reply it needed to the next event."""
        self.own_time.observe(seconds)
