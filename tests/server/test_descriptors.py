"""The limit of file descriptors, and the connections that it suffices for."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from server.descriptors import PER_CONNECTION, RESERVED, fit_connections, fit_settings
from server.settings import Settings

RAISED = """\
import resource
from server.descriptors import fit_connections
from server.settings import Settings
resource.setrlimit(resource.RLIMIT_NOFILE, (256, {hard}))
print(fit_connections(Settings(max_connections=300)).max_connections, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_max_connections_are_as_many_as_descriptors_suffice_for(caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(max_connections=300)
    enough = RESERVED + PER_CONNECTION * 300
    assert fit_settings(settings, enough) is settings
    assert not caplog.records
    assert fit_settings(settings, enough - 1).max_connections == 299
    assert "max_connections" in caplog.text
    assert "ulimit -n" in caplog.text


def test_too_few_descriptors_for_a_game_stop_the_start() -> None:
    with pytest.raises(ValueError, match="too few for a game: raise the limit, as with ulimit -n 65536"):
        fit_settings(Settings(), RESERVED + 2 * PER_CONNECTION)


@pytest.mark.parametrize(("hard", "connections", "limit"), [(1028, 300, 1028), (428, 100, 428)])
def test_the_soft_limit_is_raised_to_the_hard_one(hard: int, connections: int, limit: int) -> None:
    ran = subprocess.run([sys.executable, "-c", RAISED.format(hard=hard)], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == f"{connections} {limit}"


def test_a_limit_that_suffices_stays() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    settings = Settings(max_connections=3)
    try:
        assert fit_connections(settings) is settings
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
