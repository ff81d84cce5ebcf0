"""axe-core on a page of the browser tests."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.support.server_program import REPOSITORY

AXE = REPOSITORY / "node_modules/axe-core/axe.min.js"
FAULTS = """
async () => {
  const { violations } = await axe.run();
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
"""


def serious_faults(page: Page) -> list[str]:
    """What axe calls serious or critical, a line each; nothing where axe is missing."""
    if not AXE.exists():
        return []
    page.evaluate(AXE.read_text())
    found: list[str] = page.evaluate(FAULTS)
    return found
