"""What the pages' reducer (`server/web/mjai.js`) has to say after each message of a game, by the engine.

The reference is a `PlayerState` for each seat, which equals the engine's view of that seat after every message
(`tests/engine/mjai/test_player_state.py`). A state is a dict as in the typedefs of `mjai.js`.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Self

import playwright

from engine.mjai.kinds import HAND_SIZE
from engine.mjai.messages import Message, for_seat, hand_names, tile_name, tile_names
from engine.mjai.player_state import PlayerState
from engine.rules import RIICHI_STICK, TOTAL_POINTS
from engine.table import (
    AFTER_PON,
    DORA_AT,
    N_SEATS,
    PON_MELD,
    RESPONSE,
    RIICHI_DISCARD,
    RIVER_CALLED,
    RIVER_TILE,
    RIVER_TSUMOGIRI,
    TURN,
)
from engine.tiles import KIND_OF, NONE, WINDS

State = dict[str, Any]
REPOSITORY = Path(__file__).resolve().parents[2]
MODULE = REPOSITORY / "server/web/mjai.js"
DRIVER = REPOSITORY / "tests/web/reducer_states.js"
NODE = Path(playwright.__file__).parent / "driver/node"  # Playwright brings its own Node.js
MELD_TYPES = ("", "pon", "daiminkan", "ankan", "kakan")
SEATS = range(N_SEATS)
Viewer = int | str  # a seat; "open": all hands are known; "closed": none is
VIEWERS: tuple[Viewer, ...] = ("open", "closed", *SEATS)
# Fields that are the same in all views: of each SEAT, and of the TABLE.
OF_SEATS = (
    "score", "start_score", "n_melds", "meld_type", "meld_kind", "meld_red", "meld_called", "meld_from", "nukidora",
    "n_river", "river", "riichi", "riichi_river",
)  # fmt: skip
OF_TABLE = ("round_wind", "dealer", "honba", "turn", "offer", "live_left", "n_indicators", "riichi_pending", "phase")


def shown_to(viewer: Viewer, message: Message) -> Message:
    """A message as the viewer receives it."""
    if viewer == "open":
        return message
    if isinstance(viewer, int):
        return for_seat(message, viewer)
    hidden = for_seat(for_seat(message, 0), 1)
    return {key: value for key, value in hidden.items() if key != "id"}


class Reference:
    """Follows a game, and says what the state is for each viewer."""

    def __init__(self) -> None:
        self.players = [PlayerState() for _ in SEATS]
        self.start: Message = {}
        self.last: Message = {}
        self.state_phase = "before"
        self.n_rounds = 0
        self.phase = 0  # of the table, before a win or a draw: these change no hand
        self.wins: list[Message] = []
        self.draw: Message | None = None
        self.points: list[float] | None = None

    def update(self, message: Message) -> None:
        """Apply the next message, with nothing hidden."""
        for seat, player in enumerate(self.players):
            player.update(for_seat(message, seat))
        self.last = message
        self.views = [player.view for player in self.players]
        seats = self.views[0]["seat"]
        columns = {name: seats[name].tolist() for name in OF_SEATS}
        self.seats = [{name: column[seat] for name, column in columns.items()} for seat in SEATS]
        self.table = {name: int(self.views[0][name]) for name in OF_TABLE}
        match message["type"]:
            case "start_game":
                self.start = message
            case "start_kyoku":
                self.state_phase, self.wins, self.draw = "playing", [], None
                self.n_rounds += 1
            case "hora":
                self.wins = [*self.wins, message]
            case "ryukyoku":
                self.draw = message
            case "end_kyoku":
                self.state_phase = "round_over"
            case "end_game":
                self.state_phase, self.points = "game_over", message.get("points")
            case _:
                self.phase = self.table["phase"]
        self.shown = [self.seat(seat) for seat in SEATS]

    def state(self, viewer: Viewer) -> State:
        """The state for a viewer after the last message."""
        table, playing = self.table, self.state_phase == "playing"
        indicators = self.views[0]["wall"][DORA_AT[: table["n_indicators"]]].tolist()
        ura = [win["uradora_markers"] for win in self.wins if win.get("uradora_markers")]
        on_offer = playing and self.phase == RESPONSE and table["offer"] != NONE
        return {
            "phase": self.state_phase,
            "rules": self.start.get("rules", ""),
            "length": self.start.get("length", ""),
            "viewer": viewer if isinstance(viewer, int) else -1,
            "round": self.round() if self.n_rounds else None,
            "sticks": (TOTAL_POINTS - sum(seat["score"] for seat in self.seats)) // RIICHI_STICK,
            "doraMarkers": [tile_name(tile) for tile in indicators],
            "uradoraMarkers": ura[0] if ura else [],
            "tilesLeft": table["live_left"],
            "seats": [self.shown[seat] | self.hand(viewer, seat) for seat in SEATS],
            "turn": self.turn,
            "offer": {"actor": table["turn"], "tile": tile_name(table["offer"])} if on_offer else None,
            "wins": self.wins,
            "draw": self.draw,
            "points": self.points,
            "last": self.last["type"],
        }

    @property
    def turn(self) -> int:
        """The seat on turn, -1 before the first draw of a round."""
        return -1 if self.last["type"] in ("start_game", "start_kyoku") else self.table["turn"]

    def round(self) -> State:
        """The present round."""
        return {
            "wind": WINDS[self.table["round_wind"]],
            "kyoku": self.table["dealer"] + 1,
            "honba": self.table["honba"],
            "dealer": self.table["dealer"],
            "index": self.n_rounds - 1,
            "startScores": [seat["start_score"] for seat in self.seats],
        }

    def seat(self, seat: int) -> State:
        """What everybody knows of a seat."""
        of = self.seats[seat]
        declared = self.table["riichi_pending"] and self.turn == seat
        return {
            "name": self.start["names"][seat],
            "score": of["score"],
            "melds": [self.meld(of, index) for index in range(of["n_melds"])],
            "discards": [self.discard(seat, index) for index in range(of["n_river"])],
            "norths": ["N"] * of["nukidora"],
            "riichi": "accepted" if of["riichi"] else "declared" if declared else "",
        }

    def hand(self, viewer: Viewer, seat: int) -> State:
        """The concealed tiles without the drawn one, and the drawn one."""
        if not self.n_rounds:
            return {"hand": [], "drawn": ""}
        on_turn = self.turn == seat
        has_drawn = on_turn and self.phase in (TURN, RIICHI_DISCARD)
        known = viewer in ("open", seat)
        at_draw = not known and self.draw is not None and "?" not in self.draw.get("tehais", ["???"] * N_SEATS)[seat]
        if not known and not at_draw and seat not in (win["actor"] for win in self.wins):
            n = HAND_SIZE - 3 * self.seats[seat]["n_melds"] + (on_turn and self.phase == AFTER_PON)
            return {"hand": ["?"] * n, "drawn": "?" if has_drawn else ""}
        names = hand_names(self.views[seat]["seat"][seat])
        if not has_drawn or at_draw:  # who sees a hand only at a draw does not see what was drawn last
            return {"hand": names, "drawn": ""}
        drawn = tile_name(int(self.views[seat]["drawn"]))
        names.remove(drawn)
        return {"hand": names, "drawn": drawn}

    def meld(self, of: State, index: int) -> State:
        """A meld of a seat, its tiles in the order of a hand."""
        kind, called = of["meld_type"][index], of["meld_called"][index]
        return {
            "type": MELD_TYPES[kind],
            "tiles": tile_names(of["meld_kind"][index], 3 if kind == PON_MELD else 4, of["meld_red"][index]),
            "called": "" if called == NONE else tile_name(called),
            "target": of["meld_from"][index],
        }

    def discard(self, seat: int, index: int) -> State:
        """A discard of a seat."""
        entry = self.seats[seat]["river"][index]
        tile = entry & RIVER_TILE
        return {
            "tile": tile_name(tile),
            "tsumogiri": bool(entry & RIVER_TSUMOGIRI),
            "riichi": index == self.seats[seat]["riichi_river"],
            "calledBy": self.caller(seat, int(KIND_OF[tile])) if entry & RIVER_CALLED else -1,
        }

    def caller(self, target: int, kind: int) -> int:
        """The seat that has called a discard of `target`; no kind can be called twice."""
        melds = [(of["meld_kind"][i], of["meld_from"][i], seat) for seat, of in enumerate(self.seats) for i in range(4)]
        return next(seat for called, discarder, seat in melds if (called, discarder) == (kind, target))


def compared(seat: State) -> State:
    """A seat of the reducer as `Reference` gives it: melds in the order of a hand, the called tile by its place."""
    for meld in seat["melds"]:
        if meld["called"] in meld["tiles"]:  # the tiles of the hand come first, then the one called
            meld["called"] = meld["tiles"][3 if meld["type"] == "daiminkan" else 2]
        meld["tiles"].sort()  # 5p before 5pr
    return seat


class Reducer:
    """The reducer in a Node.js process of its own."""

    def __init__(self, module: Path = MODULE) -> None:
        command = [NODE, DRIVER, module]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self, messages: list[Message]) -> tuple[list[State], str]:
        """The states after each message, and the error that ended them ("": none)."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(messages) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        states: list[State] = []
        state: State = {"seats": [{}] * N_SEATS}
        for changes in answer["states"]:
            if "seats" in changes:
                fresh = zip(changes["seats"], state["seats"], strict=True)
                changes["seats"] = [before if seat is None else compared(seat) for seat, before in fresh]
            state = state | changes
            states.append(state)
        return states, answer["error"]
