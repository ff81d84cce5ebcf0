"""The metrics, and what docs/deploy.md says of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest

from server.metrics import LAG_BUCKETS, Metrics
from tests.support.running_server import TABLE, Live, play_into, play_on
from tests.support.server_bots import Bot

PAGE = Path(__file__).resolve().parents[2] / "docs" / "deploy.md"
TABLE_OF_METRICS = re.compile(r"<!-- metrics -->\n(.*)<!-- end of metrics -->", re.DOTALL)
METRIC = re.compile(r"\b(?:nukidora|process)_\w+")
YAML = re.compile(r"^```yaml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
linux = pytest.mark.skipif(sys.platform != "linux", reason="without /proc there are no metrics of the process")


def families() -> Iterator[str]:
    """The names of all metrics, as the table writes them."""
    for family in Metrics().registry.collect():
        yield family.name + ("_total" if family.type == "counter" else "")


def rules() -> list[dict[str, Any]]:
    """The alerts."""
    blocks = [yaml.safe_load(block) for block in YAML.findall(PAGE.read_text(encoding="utf-8"))]
    (found,) = (block for block in blocks if "groups" in block)
    return [rule for group in found["groups"] for rule in group["rules"]]


@linux
def test_the_table_lists_every_metric_once() -> None:
    table = TABLE_OF_METRICS.search(PAGE.read_text(encoding="utf-8"))
    assert table is not None
    first_cells = (line.split("|")[1] for line in table[1].splitlines())
    assert sorted(name for cell in first_cells for name in METRIC.findall(cell)) == sorted(families())


@linux
@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_alerts_are_about_metrics_that_exist(rule: dict[str, Any]) -> None:
    metrics = Metrics()
    metrics.faults.labels("late")
    exposed = {line.split("{")[0].split(" ")[0] for line in generate_latest(metrics.registry).decode().splitlines()}
    named = METRIC.findall(rule["expr"])
    assert named or rule["expr"].startswith("up{")
    assert set(named) <= exposed
    assert rule["annotations"]["summary"]
    assert {"alert", "expr", "annotations"} <= set(rule) <= {"alert", "expr", "for", "annotations"}
    assert all(float(bound) in LAG_BUCKETS for bound in re.findall(r'le="([^"]+)"', rule["expr"]))


def test_there_are_alerts_for_each_kind_of_trouble() -> None:
    named = {name for rule in rules() for name in METRIC.findall(rule["expr"])}
    assert named >= {
        "nukidora_loop_lag_seconds_bucket", "nukidora_refused_total", "nukidora_games_waiting_to_be_stored",
        "process_open_fds", "process_max_fds",
    }  # fmt: skip


def test_a_time_counts_in_every_bucket_that_it_does_not_exceed() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.0011, 99.0):
        metrics.observe_answer(seconds, seconds)
    value = metrics.registry.get_sample_value
    counts = [value("nukidora_answer_seconds_bucket", {"le": bound}) for bound in ("0.001", "0.003", "30.0", "+Inf")]
    assert counts == [1, 2, 2, 3]
    assert value("nukidora_answer_charged_seconds_count") == 3
    assert value("nukidora_answer_seconds_sum") == pytest.approx(99.0021)


@pytest.mark.slow
async def test_a_game_is_measured(at: Live) -> None:
    bot = Bot(at.server, "a", room=TABLE)
    question = await play_into(bot, 0)
    assert {"nukidora_games_playing 1.0", "nukidora_connections 1.0"} <= {
        *(await at.http.get("/metrics")).text.splitlines()
    }
    await play_on(bot, question)
    response = await at.http.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    values = dict(line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    answers = float(values["nukidora_answer_seconds_count"])
    assert answers > 20
    assert float(values["nukidora_answer_charged_seconds_count"]) == answers
    assert float(values["nukidora_answer_charged_seconds_sum"]) > 0
    assert float(values["nukidora_loop_lag_seconds_count"]) > 0
    if sys.platform == "linux":
        assert float(values["process_resident_memory_bytes"]) > 50e6
        assert 0 < float(values["process_open_fds"]) < float(values["process_max_fds"])
        assert float(values["process_cpu_seconds_total"]) > 0
