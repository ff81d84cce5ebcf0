"""A bot at a server: the games it plays there, over as many connections as that takes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import quote

from agents.client.address import Address
from agents.client.connection import HELLO_TIMEOUT, FatalConnectionError, Transport, to_text
from agents.client.first_connection import other_protocol
from agents.external.adapters import AgentBot
from agents.external.fallback import FallbackAgent
from agents.external.mjai_bot import NONE, BotError, MjaiBot, Talking, Watching, excerpt, one_line
from engine.mjai.messages import Message, complete
from engine.mjai.player_state import PlayerState
from engine.mjai.reading import canonical
from engine.mjai.schema import SEAT_KEYS
from engine.rules import EVEN_SCORES

# Keys that are addressed to this seat alone and kept with its messages; canonical messages have none of them.
PLACE_KEYS = frozenset({"game", "http_port"})
GAME_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
MAX_PORT = 65_535
MAX_GAME = 1 << 24  # characters of JSON; a long game has about a million
MAX_TOLD = 500  # characters of an error of the server that are shown
KEPT_KEYS = SEAT_KEYS - PLACE_KEYS - {"resume", "can_act"}
PLACEMENTS = ("1st", "2nd", "3rd")

Log = Callable[[str], None]  # takes one line of text


class GameSession:
    """One game at the server: its messages so far, and the bot that replies to them."""

    def __init__(self, bot: MjaiBot, fallback: MjaiBot, log: Log) -> None:
        """`fallback` plays on if `bot` fails; `log` is called with the error."""
        self.resume_secret: str | None = None
        self.place: Message = {}  # the id of the game and the port of the server's HTTP API, if it has sent them
        self._bot = bot
        self._fallback = fallback
        self._log = log
        self._messages: list[Message] = []  # all messages of the game
        self._size = 0  # characters of all of them
        self._n_sent = 0  # how many of them the bot has been sent
        self._next = 0  # index of the next message that arrives
        self._failed_at: int | None = None  # number of the event at which the bot failed, from 1
        self._reply: Message | None = None  # to the last message, if it asked for one
        self._state = PlayerState()  # at a server that does not say when it asks
        self.taken_over = False  # whether a house bot of the server has played since we were last asked
        self.when_asked = True  # whether the server asks for replies; classic mjai expects one to each message

    def resume_keys(self) -> Message:
        """The keys of ``join`` that resume this game after a lost connection.

        The server is asked to repeat the last message, because the reply to it may have been lost.
        """
        self.rewind(max(len(self._messages) - 1, 0))
        return {"resume": self.resume_secret, "seen": self._next}

    def rewind(self, index: int) -> None:
        """The server is going to repeat its messages from `index` on."""
        self._next = index

    @property
    def finished_by(self) -> str:
        """Return who was playing the seat at the end of the game, if not the bot."""
        if self.taken_over:
            return "a house bot of the server"
        return "" if self._failed_at is None else f"safe defaults from event {self._failed_at} on"

    def receive(self, message: Message) -> Message | None:
        """Take the next message of the game; returns the reply if it asks for one."""
        if not self._messages:
            self.when_asked = "can_act" in message
        asked = message.pop("can_act", not self.when_asked)
        secret = message.pop("resume", None)
        self.place |= read_place({key: message.pop(key) for key in PLACE_KEYS if key in message})
        self._next += 1
        if self._next > len(self._messages):
            seat_keys = {key: message.pop(key) for key in KEPT_KEYS if key in message}
            if message["type"] == "start_kyoku" and "scores" not in message:  # the Ruby server
                message["scores"] = self._scores
            self._messages.append(canonical(message) | seat_keys)
            self._size += len(to_text(self._messages[-1]))
            if self._size > MAX_GAME:
                raise FatalConnectionError(f"the server sends a game without end: more than {MAX_GAME:,} characters")
            self._reply = None
            self.resume_secret = secret or self.resume_secret
            if isinstance(self._bot, Watching):
                self._bot.watch(self._messages[-1])
            if not self.when_asked and not self._decides():
                self._reply = NONE  # without asking the bot: a program may reply only where it decides
        if not asked:
            return None
        self.taken_over = False
        if message["type"] == "end_game":
            return NONE  # `finish` sends it to the bot
        if self._reply is None:
            self._reply = self._react()
        return self._reply

    def _decides(self) -> bool:
        """Return whether the seat has a legal action after the latest message; true if that is unknown."""
        try:
            self._state.update(self._messages[-1])
        except ValueError:
            return True
        return bool(self._state.legal)

    def _react(self) -> Message:
        unsent = self._messages[self._n_sent :]
        self._n_sent = len(self._messages)
        try:
            return self._bot.react(unsent)
        except BotError as error:
            if self._bot is self._fallback:
                return NONE  # the server then plays a safe default for us
            self._log(f"{self._bot.name}: {error}; safe defaults are played for it until the end of this game")
            if unsent[-1]["type"] != "end_game":
                self._failed_at = len(self._messages)
        self._bot, self._n_sent = self._fallback, 0
        return self._react()

    @property
    def _scores(self) -> list[int]:
        """The latest scores. Dialects without final scores leave out riichi sticks that nobody has won."""
        known = (message["scores"] for message in reversed(complete(self._messages)) if "scores" in message)
        return next(known, list(EVEN_SCORES))

    @property
    def opponents(self) -> str:
        """The names of the other players, in one line."""
        start = self._messages[0]
        return one_line(" and ".join(name for seat, name in enumerate(start["names"]) if seat != start["id"]))

    def finish(self) -> tuple[int, str]:
        """Send the bot the end of the game; returns its rank (0 to 2) and the result in words."""
        self._react()
        seat, end, scores = self._messages[0]["id"], self._messages[-1], self._scores
        rank = sum((-score, other) < (-scores[seat], seat) for other, score in enumerate(scores))
        points = f" ({end['points'][seat]:+.1f})" if "points" in end else ""
        return rank, f"{PLACEMENTS[rank]} with {scores[seat]:,} points{points}"


class ClientSession:
    """Plays a number of games at one server; a game goes on over the next connection if one is lost."""

    def __init__(
        self,
        bot: MjaiBot,
        join: Message,
        games: int,
        report: Log,
        log: Log,
        address: Address | None = None,
        begins: Log = lambda name: None,
    ) -> None:
        """`join` has the keys of ``join`` that stay the same; `games` is how many to play, 0 for no end.

        `report` is called with the start and the result of each game, `log` with errors. `address` is that of the room,
        from which the addresses of records follow. `begins` is called with the name of each game, its id if known.
        """
        self.greeted = False  # whether a server has ever answered
        self.finished = False
        self.games_played = 0
        self.n_messages = 0  # messages of games received, over all connections
        self.record = ""  # address of the record of the last game, "" if the server has not sent its id
        self._bot = bot
        self._fallback = AgentBot(FallbackAgent())
        self._join = join
        self._games = games
        self._report = report
        self._log = log
        self._address = address
        self._begins = begins
        self._game: GameSession | None = None  # the game being played
        self._ranks: Counter[int] = Counter()  # of the games finished
        self._n_finished_by_others = 0  # of these games
        self._told_to_wait = False  # since the last game began
        self._api = ""  # where the server's HTTP API is

    def prepare(self) -> None:
        """Do what would take time in a game. Raises BotError."""
        self._bot.prepare()
        self._fallback.prepare()

    def run(self, transport: Transport) -> None:
        """Play over a new connection until all games are finished.

        Raises ConnectionError if the connection is lost before that, or the server sends invalid messages;
        FatalConnectionError if the server rejects us.
        """
        rejection: Message | None = None  # the last error that came before a game began or was resumed
        playing = False
        try:
            self._handshake(transport)
            while not self.finished:
                message = transport.receive()
                if message["type"] != "error":
                    playing, rejection = self._handle(transport, message), None
                elif playing:
                    self._log(describe(message) + (self._bot.said() if isinstance(self._bot, Talking) else ""))
                    if self._game is not None and not self._game.when_asked:
                        transport.send(NONE)
                else:
                    rejection = message
        except ConnectionError:
            if rejection is None:
                raise
            self._rejected(rejection)
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
            raise ConnectionError(f"the server sent an invalid message ({one_line(str(error))})") from error

    def _rejected(self, error: Message) -> None:
        """The server has rejected us. Raises ConnectionError if a retry may help, else FatalConnectionError.

        A game that cannot be resumed counts as played. A session without end is over if the server, or an arena, wants
        no more games after those that were played.
        """
        told = describe(error)
        if error.get("retry") is True:
            raise ConnectionError(told)
        if "token" in told and "token" not in self._join:
            told += "; give yours with --token or NUKIDORA_TOKEN"
        if self._game is not None:
            self._count_game()
            text = f"game {self.games_played} cannot be resumed ({told})"
            raise FatalConnectionError(text) if self.finished else ConnectionError(text)
        if self._games == 0 and self._ranks:
            self._report(told)
            self.finished = True
            return
        raise FatalConnectionError(told)

    def _handshake(self, transport: Transport) -> None:
        try:
            hello = transport.receive(HELLO_TIMEOUT)
        except TimeoutError:
            hello = self._wait_for_hello(transport)
        self.greeted = True
        if hello["type"] == "error":
            self._rejected(hello)
            return
        if hello["type"] != "hello":
            raise FatalConnectionError(f"not a mjai server: the first message was {excerpt(hello['type'])}")
        if self._game is not None and self._game.resume_secret is None:
            self._game = None  # this server does not support resuming
        resume = {"resume": True} if self._game is None else self._game.resume_keys()
        games = self._games and self._games - self.games_played
        transport.send(self._join | {"games": games, "reply": "when_asked", "joined": True} | resume)

    def _wait_for_hello(self, transport: Transport) -> Message:
        """The first message of a server that takes its time. An arena's comes when its game begins."""
        if self.greeted or self._address is None:
            raise ConnectionError(f"no hello within {HELLO_TIMEOUT:g} s")
        if told := other_protocol(self._address):
            raise FatalConnectionError(told)
        self._log(f"{self._address.full}: connected, and waiting for hello; an arena sends it when its game begins")
        return transport.receive()

    def _handle(self, transport: Transport, message: Message) -> bool:
        """Handle a message of a game. Returns whether the game goes on."""
        if message["type"] == "joined":
            self._waits(message)
            return False
        self.n_messages += 1
        if message["type"] == "resumed" and self._game is not None:
            self._game.rewind(message["from"])
            self._game.taken_over |= message.get("taken_over") is True
            return True
        first = self._game is None
        if message["type"] == "start_game" and first:  # otherwise it is a repetition in a resumed game
            self._begins(read_place(message).get("game") or f"game-{self.games_played + 1}")
            self._game = GameSession(self._bot, self._fallback, self._log)
        if self._game is None:
            raise ValueError(f"{message['type']} outside of a game")
        reply = self._game.receive(message)
        if message["type"] == "start_game" and first:
            self._announce(self._game)
        if message["type"] != "end_game":
            if reply is not None:
                transport.send(reply)
            return True
        if reply is not None:
            with suppress(ConnectionError):  # the game is over, even if the server does not wait for the reply
                transport.send(reply)
        rank, result = self._game.finish()
        if by := self._game.finished_by:
            result += f", earned by {by}"
            self._n_finished_by_others += 1
        game = self._game.place.get("game")
        self.record = f"{self._api}/api/games/{game}/record" if self._api and game else ""
        self._count_game()
        self._ranks[rank] += 1
        self._report(f"game {self.games_played}: {result}" + (f"; record: {self.record}" if self.record else ""))
        return False

    def _waits(self, joined: Message) -> None:
        """Say once that we wait for other bots."""
        waiting, needed = int(joined["waiting"]), int(joined["needed"])
        if needed and not self._told_to_wait:
            self._told_to_wait = True
            self._report(f"waiting in room {self._join['room']}: {waiting} of {waiting + needed}")

    def _announce(self, game: GameSession) -> None:
        if self._address is not None and "game" in game.place:
            self._api = self._address.api(game.place.get("http_port"))
        self._told_to_wait = False
        told = f", id {game.place['game']}" if "game" in game.place else ""
        self._report(f"game {self.games_played + 1}: against {game.opponents}{told}")

    def summary(self) -> str:
        """What was played, and where it can be seen; "" if no game was finished."""
        if not self._ranks:
            return ""
        played = self._ranks.total()
        ranks = ", ".join(f"{self._ranks[rank]} x {PLACEMENTS[rank]}" for rank in range(len(PLACEMENTS)))
        seen = f"; all games: {self._api}/api/games?player={quote(self._join['name'])}" if self._api else ""
        others = f" ({self._n_finished_by_others} of them earned by others)" if self._n_finished_by_others else ""
        return f"played {played} {'game' if played == 1 else 'games'} as {self._join['name']}: {ranks}{others}{seen}"

    def _count_game(self) -> None:
        self._game = None
        self.games_played += 1
        self.finished = self.games_played == self._games


def describe(error: Message) -> str:
    """An error message of the server in one line."""
    told = one_line(str(error.get("message")))
    return f"the server says: {told if len(told) <= MAX_TOLD else told[:MAX_TOLD] + '…'}"


def read_place(keys: Message) -> Message:
    """Return the game id and the port in `keys`, for addresses; values that could lead elsewhere are dropped."""
    game, port = keys.get("game"), keys.get("http_port")
    place: Message = {"game": game} if isinstance(game, str) and GAME_ID.fullmatch(game) else {}
    return place | ({"http_port": port} if type(port) is int and 0 < port <= MAX_PORT else {})
