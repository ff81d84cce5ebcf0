"""A server of one game that a test writes message by message, and the page that plays it."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import Page, WebSocketRoute

from engine.common.error_text import coded
from engine.mjai import connection
from engine.mjai.messages import Message

HIDDEN = ["?"] * 13
STARTING = re.compile(r"^The game begins in a moment\.$|^まもなく対局開始$")
JOINED = {"type": "joined", "room": "default", "waiting": 1, "needed": 0}
# The page closes the result of a round half this time after a question: a test must be sooner.
SETTINGS = {"decision_time": 60, "bank_time": 60, "rated": True, "hints": False}


class ScriptedTable:
    """Answers the WebSocket of the page; `replies` holds what the page has sent since its join."""

    def __init__(self, page: Page, url: str, names: list[str] | None = None) -> None:
        self.page = page
        self.url = url
        self.joins: list[Message] = []
        self.replies: list[Message] = []
        self.game: list[Message] = []
        self.names = names or ["me", "right", "left"]
        self.settings: dict[str, Any] = dict(SETTINGS)
        self.socket: WebSocketRoute | None = None
        page.route_web_socket("**/mjai/**", self._connected)
        page.route("**/api/rooms/default", lambda route: route.fulfill(json={"settings": self.settings}))

    def _connected(self, socket: WebSocketRoute) -> None:
        self.socket = socket
        socket.on_message(lambda data: self._received(json.loads(data)))
        self.send({"type": "hello", "protocol": "mjsonp", "protocol_version": 3})

    def _received(self, message: Message) -> None:
        if message["type"] != "join":
            self.replies.append(message)
            return
        self.joins.append(message)
        if "seen" not in message:
            self.send(JOINED)
            return
        first = max(0, min(message["seen"], len(self.game) - 1))
        self.send({"type": "resumed", "from": first})
        for again in self.game[first:]:
            self.send(again)

    def replied(self, number: int) -> Message:
        """The reply with this number, from 1, once it has come."""
        while len(self.replies) < number:
            self.page.wait_for_timeout(20)  # lets Playwright handle what the page sends
        return self.replies[number - 1]

    def send(self, message: Message) -> None:
        """Send a message, which need not be one of the game."""
        assert self.socket is not None
        self.socket.send(json.dumps(message))

    def say(self, kind: str, **keys: Any) -> None:
        """The next message of the game."""
        self.game.append({"type": kind} | keys)
        self.send(self.game[-1])

    def error(self, text: str, close: bool = False) -> None:
        """An error, with a code if it is an ErrorText, after which the server may close the connection."""
        self.send(connection.error(text, **coded(text)))
        if close:
            self.close()

    def close(self) -> None:
        """Close the connection, as from the server."""
        assert self.socket is not None
        self.socket.close()

    def begin(self, hand: list[str], dealer: int = 0, dora: str = "9m", honba: int = 0) -> None:
        """Load the page, which has seat 0, and begin a round with its hand."""
        self.page.goto("/rooms/default/play", referer=f"{self.url}/rooms")
        self.begin_game()
        self.round(hand, dealer, dora, honba)

    def begin_game(self) -> None:
        """Begin a game as soon as the page waits for one."""
        self.page.get_by_text(STARTING).wait_for()
        self.game.clear()
        self.say(
            "start_game", names=self.names, rules="tenhou", length="east", id=0,
            resume="secret", game="0123456789abcdef", http_port=1,
        )  # fmt: skip

    def round(self, hand: list[str], dealer: int = 0, dora: str = "9m", honba: int = 0) -> None:
        """Begin a round."""
        self.say(
            "start_kyoku", bakaze="E", kyoku=dealer + 1, honba=honba, kyotaku=0, oya=dealer, dora_marker=dora,
            scores=[35000] * 3, tehais=[hand, HIDDEN, HIDDEN],
        )  # fmt: skip

    def draw(self, tile: str, *actions: Message) -> None:
        """The page's seat draws and is asked."""
        self.say("tsumo", actor=0, pai=tile, possible_actions=[{"actor": 0} | each for each in actions], can_act=True)

    def other_discards(self, seat: int, tile: str, *actions: Message) -> None:
        """Another seat draws and discards; the page's seat is asked if it may do something."""
        self.say("tsumo", actor=seat, pai="?")
        asked = {"can_act": True} if actions else {}
        offered = [{"actor": 0, "target": seat, "pai": tile} | each for each in actions]
        self.say("dahai", actor=seat, pai=tile, tsumogiri=True, possible_actions=offered, **asked)
