"""Every page loads, and nothing but this server is asked for anything."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

PATHS = ["/", "/view", "/rooms", "/players"]


@pytest.mark.parametrize("path", PATHS)
def test_a_page_loads(page: Page, path: str) -> None:
    response = page.goto(path)
    assert response is not None
    assert response.status == 200
    assert page.title().endswith("nukidora")
