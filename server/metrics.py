"""The server's metrics for Prometheus; `docs/deploy.md` describes them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

NAMESPACE = "nukidora"
# Upper bounds of histogram buckets, in seconds.
ANSWER_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
SERVER_BUCKETS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
LAG_BUCKETS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 1.0, 5.0, 30.0)


class Times(Collector):
    """A histogram of times in seconds. Unlike those of prometheus_client it takes no locks: one thread observes."""

    def __init__(self, name: str, documentation: str, buckets: Sequence[float], registry: CollectorRegistry) -> None:
        """`buckets`: their upper bounds, ascending."""
        self._name, self._documentation = f"{NAMESPACE}_{name}", documentation
        self._bounds = tuple(buckets)
        self._counts = [0] * (len(buckets) + 1)  # of each bucket, and of those above
        self._sum = 0.0
        registry.register(self)

    def observe(self, seconds: float) -> None:
        """Count a time."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self._sum += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """Return the counts of the buckets and the sum, for Prometheus."""
        counts = zip([*map(str, self._bounds), "+Inf"], accumulate(self._counts), strict=True)
        yield HistogramMetricFamily(self._name, self._documentation, list(counts), self._sum)


class Count(Collector):
    """A counter that takes no locks either."""

    def __init__(self, name: str, documentation: str, registry: CollectorRegistry) -> None:
        self._name, self._documentation = f"{NAMESPACE}_{name}", documentation
        self._value = 0
        registry.register(self)

    def inc(self) -> None:
        """Count one."""
        self._value += 1

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Return the count, for Prometheus."""
        yield CounterMetricFamily(self._name, self._documentation, self._value)


class Metrics:
    """The metrics of one server, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        own: dict[str, Any] = {"namespace": NAMESPACE, "registry": self.registry}
        self.games = Counter("games", "games finished and stored", **own)
        self.playing = Gauge("games_playing", "games in play", **own)
        self.waiting_to_be_stored = Gauge("games_waiting_to_be_stored", "games over whose result is not stored", **own)
        self.decisions = Count("decisions", "decisions played, those of house bots included", self.registry)
        self._answer_time = Times(
            "answer_seconds", "from a question until its answer is processed", ANSWER_BUCKETS, self.registry
        )
        self._answer_charged = Times(
            "answer_charged_seconds", "the same without halts of the event loop", ANSWER_BUCKETS, self.registry
        )
        self.server_time = Times(
            "server_seconds", "from the last reply needed until its event is written", SERVER_BUCKETS, self.registry
        )
        self.loop_lag = Times("loop_lag_seconds", "lateness of the event loop", LAG_BUCKETS, self.registry)
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
