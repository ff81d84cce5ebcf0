"""The page /docs, which describes the HTTP API. As on all pages, nothing is loaded from another host."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def test_it_describes_the_api_with_the_limits_of_parameters(page: Page) -> None:
    page.goto("/docs")
    expect(page.get_by_role("heading", name="nukidora")).to_be_visible()
    expect(page.locator("#operations-server-get_server_api_server_get")).to_contain_text("This server")
    page.goto("about:blank")  # else another fragment loads nothing
    page.goto("/docs#/games/list_games_api_games_get")
    expect(page.locator("tr[data-param-name=limit]")).to_contain_text("maximum: 200")


def test_a_request_can_be_tried_out(page: Page) -> None:
    page.goto("/docs#/server/get_server_api_server_get")
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table .response-col_status").last).to_contain_text("200")
