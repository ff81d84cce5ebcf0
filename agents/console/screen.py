"""What is shown to the person, and what each key does."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from rich.text import Text

from agents.console.keys import BACKSPACE, ENTER, LEFT, RIGHT
from agents.console.moves import Move, moves_of
from agents.console.table import Scene, picture, unseen_lines
from agents.console.telling import RESULTS, describe_event, end_of, result_of
from agents.console.terminal import Left, Terminal
from agents.external.mjai_bot import one_line
from engine.actions import PASS
from engine.common.labels import labels
from engine.mjai.messages import Message
from engine.text import RIVER_MARKS, TILE_MARKS

LOG_LINES = 200  # that are kept
TICK = 1.0  # seconds between two looks at the clock
AT_ONCE = 9  # moves at most for which a digit is enough

KEYS = "number · p pass · c unseen · ? help · q quit"
HELP = (
    ("keys", "bold"),
    ("number, Enter  play that move; up to nine moves, the digit is enough", ""),
    ("left, right    mark a move; Enter plays it", ""),
    ("p              pass: no call, no win", ""),
    ("c              how many tiles of each kind are unseen", ""),
    ("?              this page", ""),
    ("q              quit, after a question", ""),
    ("tiles", "bold"),
    (f"m p s: suits · {TILE_MARKS}", ""),
    ("underlined: dora · N×2: two nukidora · [ ]: concealed kan", ""),
    ("rivers", "bold"),
    (RIVER_MARKS, ""),
    ("> marks the seat whose turn it is · E S W before a name: the wind of the seat", ""),
)

Of = TypeVar("Of")


class Screen:
    """The table as the person sees it. Everything happens inside `serve`, which draws and reads keys while it waits.

    All of its methods raise `Left` where the person quits.
    """

    def __init__(self, terminal: Terminal, *, clocked: bool, at_quit: str) -> None:
        """`clocked`: whether the seconds of a decision are shown. `at_quit`: what is said before the person quits."""
        self._terminal = terminal
        self.wake = terminal.wake  # look at the condition of `serve` again; for other threads
        self._clocked = clocked
        self._at_quit = at_quit
        self._log: deque[Text] = deque(maxlen=LOG_LINES)
        self._scene = Scene(log=self._log)
        self._round: list[Message] = []  # the messages of the round so far
        self._result: list[Text] = []  # of the latest round
        self._seat = 0
        self._answer: Move | None = None
        self._asked_at = 0.0
        self._quitting = False
        self._note = ""  # about the last key
        self.trouble = ""  # what is wrong with the connection
        self.results: list[str] = []  # lines to print when the screen is gone

    # What is shown ----------------------------------------------------------------------------------------------------

    def say(self, line: str | Text) -> None:
        """Add a line to what has happened. As a text it may come from anybody."""
        self._log.append(Text(one_line(line)) if isinstance(line, str) else line)

    def show(self, message: Message, view: Any) -> None:
        """The next message of the game has led to `view`."""
        kind = message["type"]
        if kind == "start_game":
            self._seat = message["id"]
            self._scene.names = labels(message["names"])
            return
        self._scene.view = view
        self._round = [message] if kind == "start_kyoku" else [*self._round, message]
        if (line := describe_event(message, self._scene.names, self._seat)) is not None:
            self.say(line)
        if kind in RESULTS:
            lines = result_of(message, self._scene.names, self._round)
            second = [message["type"] for message in self._round].count("hora") > 1
            self._scene.panel = self._result = [*self._result, Text(), *lines] if second else lines
            for line in lines:
                self.say(line)
        if kind == "end_game":
            scores = view["seat"]["score"].tolist()
            lines = end_of(message, self._scene.names, self._seat, scores)
            self._scene.panel = [*self._result, Text(), *lines]
            self.results += [line.plain for line in lines]

    @property
    def covered(self) -> bool:
        """Whether a text lies over the table."""
        return self._scene.panel is not None

    def _prompt(self) -> list[Text]:
        """The last lines: what is wrong, and what may be typed."""
        lines = [Text(self.trouble, "bold reverse")] if self.trouble else []
        if self._quitting:
            return [*lines, Text(f"{self._at_quit} Quit? y: yes · any other key: no", "bold")]
        seconds = f" {monotonic() - self._asked_at:.0f} s" if self._clocked and self._scene.moves else ""
        if self.covered:
            waits = f"your move waits{seconds} · " if self._scene.moves else ""
            return [*lines, Text(f"{waits}any key shows the table", "bold" if waits else "")]
        if not self._scene.moves:
            return [*lines, Text("waiting · c unseen tiles · ? help · q quit" if self._scene.view else "q quit")]
        typed = f" {self._scene.typed}, Enter plays it" if self._scene.typed else ""
        note = f" ({self._note})" if self._note else ""
        keys = "" if typed or note else f"  {KEYS}"  # which would not fit next to it
        return [*lines, Text.assemble((f"your move:{typed}{note}{seconds}", "bold"), keys)]

    # Waiting ----------------------------------------------------------------------------------------------------------

    def serve(self, until: Callable[[], bool], seconds: float = math.inf) -> bool:
        """Draw and read keys until `until` holds, or `seconds` have passed; returns whether it holds."""
        end = monotonic() + seconds
        while not until():
            left = end - monotonic()
            if left <= 0:
                return False
            self._scene.prompt = self._prompt()
            self._terminal.draw(picture(self._scene, *self._terminal.size))
            for key in self._terminal.keys(min(left, TICK) if self._clocked and self._scene.moves else left):
                self.press(key)
        return True

    def during(self, work: Callable[[], Of]) -> Of:
        """The result of `work`, which runs in a thread while keys are read. Raises what it raises."""
        future: Future[Of] = Future()
        future.add_done_callback(lambda _: self.wake())

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        Thread(target=run, daemon=True).start()
        self.serve(future.done)
        return future.result()

    def ask(self, view: Any, legal: Iterable[int], withdrawn: Callable[[], bool]) -> int | None:
        """The action that the person chooses; None once `withdrawn` holds, because it is too late."""
        self._scene.view, self._scene.moves = view, moves_of(view, legal)
        self._scene.typed, self._scene.chosen, self._note = "", None, ""
        self._answer, self._asked_at = None, monotonic()
        try:
            self.serve(lambda: self._answer is not None or withdrawn())
        finally:
            self._scene.moves, self._scene.chosen, self._scene.typed = [], None, ""
        return None if self._answer is None else self._answer.action

    # Keys -------------------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        """Do what a key asks for."""
        self._note = ""
        if self._quitting:
            if key == "y":
                raise Left
            self._quitting = False
        elif key == "q":
            self._quitting = True
        elif self.covered:
            self._scene.panel = None
        elif key == "?":
            self._scene.panel = [Text(*line) for line in HELP]
        elif key == "c" and self._scene.view is not None:
            self._scene.panel = unseen_lines(self._scene.view)
        elif self._scene.moves and self._answer is None:
            self._choose(key)

    def _choose(self, key: str) -> None:
        """A key of a move."""
        scene = self._scene
        if key == "p":
            self._answer = next((move for move in scene.moves if move.action == PASS), None)
            self._note = "you cannot pass here"
        elif key == ENTER:
            self._answer = scene.chosen
        elif key in (LEFT, RIGHT):
            self._mark(-1 if key == LEFT else 1)
        elif key == BACKSPACE:
            self._type(scene.typed[:-1])
        elif key.isascii() and key.isdigit():
            self._type(scene.typed + key)
            if len(scene.moves) <= AT_ONCE:
                self._answer = scene.chosen

    def _mark(self, step: int) -> None:
        """Mark the next move; at first the tile just drawn, else the first one."""
        moves, chosen = self._scene.moves, self._scene.chosen
        start = next((move for move in moves if move.of_drawn), moves[0])
        self._scene.chosen = start if chosen is None else moves[(chosen.number - 1 + step) % len(moves)]
        self._scene.typed = ""

    def _type(self, typed: str) -> None:
        """Mark the move whose number is typed."""
        move = next((move for move in self._scene.moves if str(move.number) == typed), None)
        self._note = f"there is no move {typed}" if typed and move is None else ""
        self._scene.chosen, self._scene.typed = move, typed if move else ""
