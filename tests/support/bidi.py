"""Firefox, driven over WebDriver BiDi: https://www.w3.org/TR/webdriver-bidi/."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

PROGRAMS = ("firefox-esr", "firefox")
PACKAGE = "firefox-esr"  # of Debian
START_TIMEOUT = 120.0  # seconds
ANSWER = 120.0  # seconds that a command may take on a busy machine
PATIENCE = 120.0  # seconds that a page may take
LOOK_EVERY = 0.05  # seconds between two looks at a page
PREFERENCES = {  # besides those that Firefox itself sets for WebDriver BiDi
    "dom.ipc.processPrelaunch.enabled": False,  # no processes for tabs that are never opened
    "app.normandy.enabled": False,
    "browser.backup.scheduled.enabled": False,
}
WATCHED = ("log.entryAdded", "network.beforeRequestSent", "network.responseCompleted")
# Firefox logs a request that the Content-Security-Policy forbids nowhere that WebDriver BiDi tells of.
TELL_VIOLATIONS = """() => addEventListener("securitypolicyviolation", (event) =>
  console.error(`forbidden by the policy: ${event.violatedDirective} ${event.blockedURI}`))"""
# Where to click an element that a selector finds, by its index: null while it cannot be clicked, or still moves.
POINT = """async (selector, index) => {
  const found = [...document.querySelectorAll(selector)].filter((each) => each.checkVisibility()).at(index);
  if (!found || found.disabled) return null;
  const { left, top, right, bottom } = found.getBoundingClientRect();
  const inside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
  if (!inside) found.scrollIntoView({ block: "center", behavior: "instant" });
  const middle = () => {
    const box = found.getBoundingClientRect();
    return { x: Math.round(box.x + box.width / 2), y: Math.round(box.y + box.height / 2) };
  };
  const before = middle();
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const { x, y } = middle();
  return x === before.x && y === before.y && found.contains(document.elementFromPoint(x, y)) ? { x, y } : null;
}"""


class BidiError(Exception):
    """What Firefox refused, or could not do: a page may just be left."""


class WayError(Exception):
    """What a page does not show or do, in one line."""


class Connection:
    """A WebDriver BiDi session: one command at a time; events are kept as they come."""

    def __init__(self, socket: ClientConnection) -> None:
        self.events: list[dict[str, Any]] = []
        self._socket = socket
        self._last = 0

    def command(self, method: str, **parameters: Any) -> Any:
        """Send a command and return its result. Raises BidiError, and WayError if Firefox does not answer."""
        self._last += 1
        try:
            self._socket.send(json.dumps({"id": self._last, "method": method, "params": parameters}))
            return self._answer(method)
        except (TimeoutError, ConnectionClosed) as error:
            raise WayError(f"Firefox does not answer {method}: {error}") from error

    def _answer(self, method: str) -> Any:
        while True:
            message = json.loads(self._socket.recv(timeout=ANSWER))
            if message["type"] == "event":
                self.events.append(message)
            elif message["id"] == self._last:
                if message["type"] == "error":
                    raise BidiError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]


class Window:
    """A tab on the pages of one site."""

    def __init__(self, connection: Connection, url: str) -> None:
        self.url = url
        self._connection = connection
        self._context = connection.command("browsingContext.create", type="tab")["context"]
        connection.command("session.subscribe", events=WATCHED)
        connection.command("script.addPreloadScript", functionDeclaration=TELL_VIOLATIONS)

    def resize(self, width: int, height: int) -> None:
        """Set the size of the page's viewport, in CSS pixels."""
        viewport = {"width": width, "height": height}
        self._connection.command("browsingContext.setViewport", context=self._context, viewport=viewport)

    def go(self, path: str) -> None:
        """Load a page, as from its address: no page has linked it."""
        self._connection.command(
            "browsingContext.navigate", context=self._context, url=self.url + path, wait="complete"
        )

    def call(self, function: str, *arguments: Any) -> Any:
        """Return what a JavaScript function in the page returns; values are of JSON."""
        answer = self._connection.command(
            "script.callFunction",
            functionDeclaration=f"async (given) => JSON.stringify((await ({function})(...JSON.parse(given))) ?? null)",
            arguments=[{"type": "string", "value": json.dumps(arguments)}],
            target={"context": self._context},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise WayError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def wait(self, function: str, *arguments: Any, seconds: float = PATIENCE) -> Any:
        """Call a function in the page until it returns something true, and return that. Raises WayError."""
        deadline = time.monotonic() + seconds
        while True:
            with suppress(BidiError):  # the page was left for the next one meanwhile
                if found := self.call(function, *arguments):
                    return found
            if time.monotonic() > deadline:
                raise WayError(f"not within {seconds:g} s: {function} {arguments or ''}")
            time.sleep(LOOK_EVERY)

    def has(self, selector: str, seconds: float = PATIENCE) -> None:
        """Wait until a selector finds something that is visible. Raises WayError."""
        self.wait(
            "(selector) => [...document.querySelectorAll(selector)].some((each) => each.checkVisibility())",
            selector,
            seconds=seconds,
        )

    def click(self, selector: str, index: int = 0) -> None:
        """Click an element that a selector finds, once it can be clicked. Raises WayError."""
        self.click_at(self.wait(POINT, selector, index))

    def click_at(self, point: dict[str, int]) -> None:
        """Move the mouse to a point and press its left button."""
        buttons = [{"type": name, "button": 0} for name in ("pointerDown", "pointerUp")]
        moves = [{"type": "pointerMove", **point}, *buttons]
        self._act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": moves})

    def press(self, *keys: str) -> None:
        """Press keys one after the other: characters, or codes of WebDriver."""
        moves = [{"type": move, "value": key} for key in keys for move in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": moves})

    def picture(self) -> bytes:
        """The viewport as a PNG."""
        found = self._connection.command("browsingContext.captureScreenshot", context=self._context)
        return base64.b64decode(found["data"])

    def faults(self) -> list[str]:
        """What has gone wrong since the last call: errors logged, requests refused, requests to other hosts."""
        told = [self._fault(event["method"], event["params"]) for event in self._connection.events]
        self._connection.events.clear()
        return [fault for fault in told if fault]

    def _fault(self, method: str, event: dict[str, Any]) -> str:
        if method == "log.entryAdded":
            return str(event["text"]) if event["level"] == "error" else ""
        address = event["request"]["url"]
        if method == "network.beforeRequestSent":
            own = (self.url, self.url.replace("http:", "ws:"), "data:", "blob:", "about:")
            return "" if address.startswith(own) else f"asked for {address}"
        status = event["response"]["status"]
        return f"status {status} of {address}" if status >= 400 else ""

    def _act(self, source: dict[str, Any]) -> None:
        self._connection.command("input.performActions", context=self._context, actions=[source])


def firefox() -> str | None:
    """Return where Firefox is installed, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def running(program: str, folder: Path) -> Iterator[Connection]:
    """Run Firefox without a screen while the block runs, with everything that it writes in a folder."""
    profile = folder / "profile"
    profile.mkdir()
    (profile / "user.js").write_text(
        "".join(f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in PREFERENCES.items())
    )
    command = [program, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", str(profile)]
    environment = os.environ | {"HOME": str(folder), "MOZ_CRASHREPORTER_DISABLE": "1"}
    with (folder / "firefox.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True,  # Ctrl-C is for this program, which ends all processes of Firefox
        )  # fmt: skip
    try:
        with connect(_address(process, profile), proxy=None, max_size=None, ping_interval=None) as socket:
            connection = Connection(socket)
            connection.command("session.new", capabilities={})
            yield connection
    finally:
        _end(process)


def _address(process: subprocess.Popen[bytes], profile: Path) -> str:
    """The address of the session, which Firefox writes into its profile once it listens."""
    file = profile / "WebDriverBiDiServer.json"
    deadline = time.monotonic() + START_TIMEOUT
    while True:
        with suppress(OSError, ValueError):  # not there, or half of it
            found = json.loads(file.read_text(encoding="utf-8"))
            return f"ws://{found['ws_host']}:{found['ws_port']}/session"
        if process.poll() is not None or time.monotonic() > deadline:
            raise WayError(f"Firefox does not start: {(profile.parent / 'firefox.log').read_text(errors='replace')}")
        time.sleep(LOOK_EVERY)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End Firefox, and the processes of its tabs with it."""
    steps: list[Callable[[], None]] = [process.terminate, lambda: os.killpg(process.pid, signal.SIGKILL)]
    for step in steps:
        with suppress(ProcessLookupError):  # all of them have ended
            step()
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
