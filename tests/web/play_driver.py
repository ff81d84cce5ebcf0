"""A person at the page where one plays, in any browser."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from tests.web.conftest import ANSWER, Site

# What the page waits for: a dialog, an action, a discard, or nothing yet.
SITUATION = """() => {
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  if (shown(".play-dialog a[href='/']").length) return { kind: "over" };
  if (shown(".play-dialog footer button").length) return { kind: "result" };
  const actions = shown(".actions button").map((each) => each.dataset.key);
  const tiles = shown("nuki-table button").filter((each) => !each.disabled).length;
  return actions.length + tiles ? { kind: "question", actions, tiles } : null;
}"""
WANTED = "wnrpkx"  # keys of the actions that are taken, the first that is there
CALM = {"length": "east", "fill": ["rule", "efficiency"], "fill_delay": 0, "decision_time": 60, "bank_time": 60}


@dataclass
class Player(ABC):
    """Somebody at a page who plays until the game is over, by clicking; how, depends on the browser."""

    did: Counter[str] = field(default_factory=Counter, kw_only=True)

    @abstractmethod
    def situation(self) -> dict[str, Any]:
        """What SITUATION finds, once it finds something."""

    @abstractmethod
    def click(self, selector: str, index: int = 0) -> None:
        """Click what is there now; a button that goes before it is clicked, since time passes, is no fault."""

    def step(self) -> str:
        """Do what is due; returns its name: ``over``, ``result``, ``discard`` or the key of an action."""
        found = self.situation()
        name = found["kind"] if found["kind"] != "question" else self._action(found["actions"])
        {"over": lambda: None, "result": self.go_on, "discard": self.discard}.get(name, lambda: self.press(name))()
        self.did[name] += 1
        return name

    def reach_a_discard(self) -> None:
        """Play until a discard is asked for; do not choose it."""
        while not self.situation().get("tiles"):
            assert self.step() != "over"

    def play(self, steps: int = 2000) -> bool:
        """Play so many steps, or to the end; returns whether the game is over."""
        return any(self.step() == "over" for _ in range(steps))

    def go_on(self) -> None:
        """Close the result of a round."""
        self.click(".play-dialog footer button")

    def press(self, key: str) -> None:
        """Choose the action of a key."""
        self.click(f".actions [data-key={key}]")

    def discard(self) -> None:
        """Discard the tile on the right."""
        self.click("nuki-table button:not(:disabled)", -1)

    def _action(self, actions: list[str]) -> str:
        choosing_riichi = actions == ["x"] and self.did["r"] > self.did["riichi discard"]
        if choosing_riichi:
            self.did["riichi discard"] += 1
            return "discard"
        return next((key for key in WANTED if key in actions), "discard")


@dataclass
class Person(Player):
    """A player in Playwright's browser, who clicks or presses keys."""

    page: Page
    keyboard: bool = False

    def situation(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.wait_for_function(SITUATION).json_value()
        return found

    def go_on(self) -> None:
        if self.keyboard:
            self.page.keyboard.press("Enter")
        else:
            super().go_on()

    def press(self, key: str) -> None:
        if self.keyboard:
            self.page.keyboard.press(key)
            if self.page.locator(f".actions [data-key={key}]:focus").count():  # one of several
                self.page.keyboard.press("Enter")
        else:
            super().press(key)

    def discard(self) -> None:
        if self.keyboard:
            self.page.keyboard.press("ArrowRight")
            self.page.keyboard.press("Enter")
        else:
            super().discard()

    def click(self, selector: str, index: int = 0) -> None:
        button = self.page.query_selector(f"{selector} >> nth={index}")
        if button is None:
            return
        try:
            button.click(timeout=10_000)  # a result is shown for 15 seconds
        except PlaywrightError:  # also if the button has left the page, or the dialog around it has closed
            if button.is_visible():
                raise


def open_room(site: Site, name: str, permanent: bool = True, **changes: Any) -> str:
    """Open a room for one person against two house bots; returns the path of the page."""
    room = {"name": name, "permanent": permanent, "settings": CALM | changes}
    answer = httpx.post(f"{site.url}/api/rooms", json=room, trust_env=False, timeout=ANSWER)
    answer.raise_for_status()
    return f"/rooms/{name}/play"
