"""The main ways through the pages, in Firefox."""

from __future__ import annotations

import pytest

from engine.common.program import OK
from tests.support.bidi import PACKAGE, firefox
from tests.web import firefox as ways


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_all_ways_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    if firefox() is None:
        pytest.skip(f"Firefox is missing: apt-get install {PACKAGE}")
    code = ways.main([])
    assert code == OK, capsys.readouterr()
