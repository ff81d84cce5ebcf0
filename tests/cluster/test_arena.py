"""The arena on a cluster: the same results as on one machine, also where a machine dies; Ctrl-C and resuming."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena import cli
from engine.common.cluster import LOCAL, Cluster, import_ray
from engine.common.workers import connected
from tests.support.folders import folder_bytes
from tests.support.processes import wait_for

REPOSITORY = Path(__file__).resolve().parents[2]
SHORT = ("--bots", "rule,random,random", "--games", "30", "--length", "east")


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A connection for several tests."""
    with connected(Cluster(LOCAL, 2)):
        yield


def arena(*arguments: object) -> int:
    """Run the arena in this process."""
    return cli.main([str(argument) for argument in arguments])


def start(*arguments: object, folder: Path = REPOSITORY) -> subprocess.Popen[str]:
    """Run the arena in a process of its own."""
    command = [sys.executable, "-m", "arena", *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)


def results(path: Path) -> dict[str, Any]:
    """A document of the arena without its speed and the folder of games."""
    document = json.loads(path.read_bytes())
    del document["speed"]
    return document


def n_lines(path: Path) -> int:
    """Lines of a file; 0 if it is not there."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.slow
def test_an_unreachable_cluster_is_one_clear_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert arena(*SHORT, "--cluster", "127.0.0.1:9") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("arena: no cluster at 127.0.0.1:9: ")


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_a_cluster_plays_the_games_of_two_processes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, workers in (("here", ["--jobs", 2]), ("there", ["--cluster", LOCAL])):
        assert arena(*SHORT, *workers, "--json", tmp_path / f"{name}.json", "--save", tmp_path / name) == 0
    assert results(tmp_path / "here.json") == results(tmp_path / "there.json")
    assert folder_bytes(tmp_path / "here") == folder_bytes(tmp_path / "there")
    assert len(folder_bytes(tmp_path / "there")) == 30
    printed = capfd.readouterr()
    assert "(jobs: 2)" in printed.out
    assert [line for line in printed.err.splitlines() if " of 30 games" not in line] == [], "the cluster prints"


BOT = """
from neighbour import first

class First:
    def act(self, views):
        return first(views)
"""
NEIGHBOUR = """
import numpy as np
from engine.actions import actions_of

def first(views):
    return np.array([actions_of(*view.legal[view.viewer].tolist())[0] for view in views])
"""


@pytest.mark.long
def test_bots_in_files_are_sent_and_an_interrupted_run_resumes(tmp_path: Path) -> None:
    """The machine code is sent, too: nothing is compiled, and nothing of this folder is used."""
    (tmp_path / "my").mkdir()
    (tmp_path / "my" / "bot.py").write_text(BOT)
    (tmp_path / "my" / "neighbour.py").write_text(NEIGHBOUR)
    bots = ("--bots", "my/bot.py:First,rule,random", "--games", 600, "--json")
    run = start(*bots, "there.json", "--cluster", LOCAL, "--jobs", 2, folder=tmp_path)
    wait_for(lambda: n_lines(tmp_path / "there.json.partial") > 1 or run.poll() is not None, what="finished chunk")
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=120)
    assert run.returncode == 130, err
    assert "Results: " in out
    assert err.splitlines()[-1] == "arena: interrupted; run the same command again to resume"
    again = start(*bots, "there.json", "--cluster", LOCAL, "--jobs", 2, folder=tmp_path)
    out, err = again.communicate(timeout=300)
    assert again.returncode == 0, err
    assert err.startswith("resuming: ")
    here = start(*bots, "here.json", "--jobs", 2, folder=tmp_path)
    assert here.communicate(timeout=300)
    assert results(tmp_path / "here.json") == results(tmp_path / "there.json")


@pytest.mark.slow
@pytest.mark.long
def test_a_machine_that_dies_costs_its_chunk_only(tmp_path: Path) -> None:
    import_ray()
    from ray.cluster_utils import Cluster as Machines

    size = {"num_cpus": 1, "object_store_memory": 100 << 20}
    machines = Machines(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    options = ("--bots", "rule,rule,random", "--games", 1500)
    try:
        second = machines.add_node(**size)
        there = ("--json", tmp_path / "there.json", "--save", tmp_path / "there")
        run = start(*options, *there, "--cluster", machines.address)
        wait_for(lambda: n_lines(tmp_path / "there.json.partial") > 1 or run.poll() is not None, what="finished chunk")
        machines.remove_node(second, allow_graceful=False)
        assert n_lines(tmp_path / "there.json.partial") < 6, "it was killed too late"
        out, err = run.communicate(timeout=300)
    finally:
        machines.shutdown()
    assert run.returncode == 0, err
    assert "a worker of the cluster has died; its task is run again" in err
    assert "1,500 games in " in out
    here = start(*options, "--jobs", 2, "--json", tmp_path / "here.json", "--save", tmp_path / "here")
    here.communicate(timeout=300)
    assert results(tmp_path / "here.json") == results(tmp_path / "there.json")
    assert folder_bytes(tmp_path / "here") == folder_bytes(tmp_path / "there")
