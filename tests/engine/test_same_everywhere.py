"""Games are bit for bit the same without compilation and with checked indices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.engine_digest import digest

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def digests(first: int, last: int, **environment: str) -> list[str]:
    """Digests of games played in a new process."""
    answer = subprocess.run(
        [sys.executable, "-m", "tests.support.engine_digest", str(first), str(last)],
        cwd=REPOSITORY,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()


@pytest.mark.parametrize(
    ("games", "environment"),
    [
        pytest.param(6, {"NUMBA_DISABLE_JIT": "1"}, id="interpreted"),
        pytest.param(60, {"NUMBA_BOUNDSCHECK": "1"}, id="bounds checked", marks=pytest.mark.long),
    ],
)
def test_same_games(games: int, environment: dict[str, str]) -> None:
    assert digests(0, games, **environment) == [f"{seed} {digest(seed)}" for seed in range(games)]


def test_digest_depends_on_what_happens() -> None:
    assert len({digest(seed) for seed in range(5)}) == 5
