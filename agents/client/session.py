"""A player's stay at a server: the games it plays there, over however many connections that takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from agents.client.connection import CONNECT_WITHIN, Line, Unreachable
from agents.external.mjai_bot import NONE, AgentBot, BotError, MjaiBot, StandIn, one_line
from engine.mjai.messages import Message, complete
from engine.mjai.reading import canonical
from engine.mjai.schema import SEAT_KEYS

# What a message says to this seat alone; canonical records have none of it.
TALK = SEAT_KEYS - {"resume", "can_act"}
PLACES = ("1st", "2nd", "3rd")

Say = Callable[[str], None]


class Seat:
    """One game, from the seat of a player."""

    def __init__(self, player: MjaiBot, stand_in: MjaiBot, complain: Say) -> None:
        """`stand_in` plays on where `player` fails."""
        self.secret: str | None = None
        self._player = player
        self._stand_in = stand_in
        self._complain = complain
        self._heard: list[Message] = []  # all messages of the game
        self._n_told = 0  # how many of them the player knows
        self._next = 0  # place of the next message that comes in
        self._reply: Message | None = None  # to the last message, where it asked

    def come_back(self) -> Message:
        """What to say in ``join`` to go on after a lost connection.

        The last message is to be sent again: if it asks, the reply to it may have been lost.
        """
        self.resumed(max(len(self._heard) - 1, 0))
        return {"resume": self.secret, "seen": self._next}

    def resumed(self, place: int) -> None:
        """The messages from `place` on are sent again."""
        self._next = place

    def hear(self, message: Message) -> Message | None:
        """The next message of the game; returns the reply where it asks."""
        asks = message.pop("can_act", False)
        secret = message.pop("resume", None)
        self._next += 1
        if self._next > len(self._heard):
            talk = {key: message.pop(key) for key in TALK if key in message}
            self._heard.append(canonical(message) | talk)
            self._reply = None
            self.secret = secret or self.secret
        if not asks:
            return None
        if self._reply is None:
            self._reply = self._ask()
        return self._reply

    def _ask(self) -> Message:
        fresh = self._heard[self._n_told :]
        self._n_told = len(self._heard)
        try:
            return self._player.react(fresh)
        except BotError as error:
            if self._player is self._stand_in:
                return NONE  # whatever is wrong with this game, the server plays on for us
            self._complain(f"{self._player.name}: {error}; it sits out the rest of this game")
        self._player, self._n_told = self._stand_in, 0
        return self._ask()

    def finish(self) -> str:
        """The game is over: let the player know, and say how it went."""
        self._ask()
        seat, end = self._heard[0]["id"], self._heard[-1]
        # Some dialects do not tell the scores at the end: sticks that nobody won are missing there.
        scores = next(message["scores"] for message in reversed(complete(self._heard)) if "scores" in message)
        better = sum((-score, other) < (-scores[seat], seat) for other, score in enumerate(scores))
        points = f" ({end['points'][seat]:+.1f})" if "points" in end else ""
        return f"{PLACES[better]} with {scores[seat]:,} points{points}"


class Stay:
    """Plays `games` games (0: no end). `say` takes a line for each game, `complain` what went wrong."""

    def __init__(self, player: MjaiBot, join: Message, games: int, say: Say, complain: Say) -> None:
        """`join` is what is said of us in each ``join``."""
        self.over = False
        self.games_played = 0
        self.news = 0  # messages of games so far, over all connections
        self._player = player
        self._stand_in = AgentBot(StandIn())
        self._join = join
        self._games = games
        self._say = say
        self._complain = complain
        self._seat: Seat | None = None  # of the game being played

    def prepare(self) -> None:
        """Make ready what would take time in a game. Raises BotError."""
        self._player.prepare()
        self._stand_in.prepare()

    def attend(self, line: Line) -> None:
        """Play on over a new connection until all games are played.

        Raises ConnectionError where it breaks before, or tells too little sense to go on with; Unreachable where the
        server does not let us in.
        """
        refusal: Message | None = None  # the last error, before a game goes on
        playing = False
        try:
            self._greet(line)
            while not self.over:
                message = line.receive()
                if message["type"] != "error":
                    playing, refusal = self._play(line, message), None
                elif playing:
                    self._complain(words_of(message))
                else:
                    refusal = message
        except ConnectionError:
            if refusal is None:
                raise
            self._refused(refusal)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise ConnectionError(f"the server sent what is no mjai ({one_line(str(error))})") from error

    def _refused(self, refusal: Message) -> NoReturn:
        """Why the server does not let us in. Raises ConnectionError where that may pass, else Unreachable.

        A game that cannot be gone on with counts as played.
        """
        if refusal.get("retry") is True:
            raise ConnectionError(words_of(refusal))
        if self._seat is not None:
            self._count()
            why = f"game {self.games_played} cannot be gone on with ({words_of(refusal)})"
            raise Unreachable(why) if self.over else ConnectionError(why)
        raise Unreachable(words_of(refusal))

    def _greet(self, line: Line) -> None:
        hello = line.receive(CONNECT_WITHIN)
        if hello["type"] == "error":
            self._refused(hello)
        if hello["type"] != "hello":
            raise Unreachable(f"no mjai server: it began with {hello['type']!r}")
        if self._seat is not None and self._seat.secret is None:
            self._seat = None  # this server lets nobody come back
        resume = {"resume": True} if self._seat is None else self._seat.come_back()
        games = self._games and self._games - self.games_played
        line.send(self._join | {"games": games, "reply": "when_asked"} | resume)

    def _play(self, line: Line, message: Message) -> bool:
        """A message of a game. Returns whether the game goes on."""
        self.news += 1
        if message["type"] == "resumed" and self._seat is not None:
            self._seat.resumed(message["from"])
            return True
        if message["type"] == "start_game" and self._seat is None:  # else it is sent again, to one who came back
            self._seat = Seat(self._player, self._stand_in, self._complain)
        if self._seat is None:
            raise ValueError(f"{message['type']} outside of a game")
        reply = self._seat.hear(message)
        if reply is not None:
            line.send(reply)
        if message["type"] != "end_game":
            return True
        result = self._seat.finish()
        self._count()
        self._say(f"game {self.games_played}: {result}")
        return False

    def _count(self) -> None:
        """A game is over for us."""
        self._seat = None
        self.games_played += 1
        self.over = self.games_played == self._games


def words_of(error: Message) -> str:
    """What the server complains of, in one line."""
    return f"the server says: {one_line(str(error.get('message')))}"
