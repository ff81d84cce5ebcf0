"""The settings of a server and of a room: names, types, defaults and help texts of all flags and variables."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal

import structlog
from annotated_types import Le, MaxLen
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from engine.checks import checked_scores, scores_in
from engine.mjai.connection import DEFAULT_PORT, JOIN_TIMEOUT
from engine.rules import EVEN_SCORES, PRESETS, TOTAL_POINTS, Rules, Scores, preset
from engine.seeds import MAX_SEED
from server.house_bots import check_bot, within_scale

PREFIX = "NUKIDORA_"
HOUR, DAY = 3600, 86_400  # seconds
MANY = 1_000_000  # more than a machine holds, and no more than a timer or a counter can
MAX_FILL = 2  # house bots in `fill`: a seat is left for a bot that connects
# Of other programs; the client reads NUKIDORA_PAUSE, too.
OTHER_VARIABLES = frozenset({PREFIX + "CACHE", PREFIX + "TOKEN"})
Score = Annotated[int, Field(ge=0, le=TOTAL_POINTS, multiple_of=100)]
log = structlog.get_logger("server.settings")


def split_bots(bots: object) -> object:
    """House bots as a flag or variable gives them: names separated by commas."""
    return tuple(bot for bot in bots.split(",") if bot) if isinstance(bots, str) else bots


def split_scores(scores: object) -> object:
    """Starting scores as a flag or variable gives them: numbers separated by commas. Raises ValueError."""
    return scores_in(scores) if isinstance(scores, str) else scores


def within(field: FieldInfo, value: Any) -> Any:
    """A number or list, brought to the maximum of a setting; any other value is returned as it is."""
    for bound in field.metadata:
        if isinstance(bound, Le) and isinstance(value, int | float) and value > bound.le:  # type: ignore[operator]
            value = bound.le
        elif isinstance(bound, MaxLen) and isinstance(value, list):
            value = value[: bound.max_length]
    return value


class RoomSettings(BaseModel):
    """How games in a room are played. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    rules: str = Field(
        "tenhou", json_schema_extra={"enum": [*PRESETS]}, description="preset of the rules: " + " or ".join(PRESETS)
    )
    length: Literal["east", "hanchan"] = Field("hanchan", description="east or hanchan")
    games: int = Field(0, ge=0, le=MANY, description="games until the room closes; 0: no limit")
    seats: Literal["random", "fixed"] = Field("random", description="random: drawn; fixed: in order of arrival")
    scores: Annotated[tuple[Score, Score, Score], NoDecode] = Field(
        EVEN_SCORES,
        description=f"points that the players start with, which add up to {TOTAL_POINTS}: first those who joined, in "
        "order of arrival, then the house bots",
    )
    seed: int | None = Field(None, ge=0, le=MAX_SEED, description="of walls and seats; none: random for every game")
    decision_time: float = Field(5.0, gt=0, le=HOUR, description="seconds for each decision")
    bank_time: float = Field(
        10.0, ge=0, le=HOUR, description="extra seconds for a whole game, used after the time for a decision"
    )
    fill: Annotated[tuple[str, ...], NoDecode] = Field(
        (), max_length=MAX_FILL, description="house bots for empty seats, as in rule,random"
    )
    fill_delay: float = Field(
        5.0, ge=0, le=DAY, description="seconds the first bot waits before empty seats are filled"
    )
    wait_timeout: float = Field(
        600.0,
        ge=0,
        le=DAY,
        description="seconds a bot waits for a game where no house bots fill the seats; 0: no limit",
    )
    idle: Literal["leave", "stay"] = Field(
        "leave", description="after wait_timeout: leave, or stay as long as the bot answers pings (over WebSocket only)"
    )
    house_bot: str = Field("rule", description="house bot that takes over a seat")
    max_faults: int = Field(
        10, ge=1, le=MANY, description="faults in a game after which the house bot takes over the seat"
    )
    resume_timeout: float = Field(
        30.0, ge=0, le=DAY, description="seconds a bot has to reconnect before the house bot takes over its seat"
    )
    fault_penalty: float = Field(0.0, ge=0, le=1000, description="final points deducted for each fault after the game")
    spectator_delay: float = Field(
        0.0, ge=0, le=DAY, description="seconds before a finished round is shown to spectators"
    )
    pause: float = Field(
        0.0, ge=0, le=60, description="seconds house bots wait before each decision, so that people can follow"
    )

    @field_validator("rules")
    @classmethod
    def _rules_exist(cls, rules: str) -> str:
        return preset(rules).name

    @field_validator("scores")
    @classmethod
    def _scores_add_up(cls, scores: Scores) -> Scores:
        return checked_scores(scores)

    @field_validator("fill")
    @classmethod
    def _bots_exist(cls, fill: tuple[str, ...]) -> tuple[str, ...]:
        for bot in fill:
            check_bot(bot)
        return fill

    @field_validator("house_bot")
    @classmethod
    def _bot_exists(cls, house_bot: str) -> str:
        check_bot(house_bot)
        return house_bot

    @classmethod
    def restored(cls, values: dict[str, Any]) -> RoomSettings:
        """Settings that were stored. Those beyond the limits, of an earlier version that had none, are brought to them.

        Raises ValueError for values that are no settings.
        """
        fields = cls.model_fields
        fitting = {name: within(fields[name], value) if name in fields else value for name, value in values.items()}
        for name in ("fill", "house_bot"):  # scales may have been measured anew
            if name in fitting:
                value = fitting[name]
                fitting[name] = [within_scale(bot) for bot in value] if isinstance(value, list) else within_scale(value)
        changed = {name: value for name, value in fitting.items() if value != values[name]}
        if changed:
            log.warning("stored settings are beyond what is allowed now, and are brought to it", **changed)
        return cls(**fitting)

    def make_rules(self) -> Rules:
        """The rules of the room's games."""
        return preset(self.rules, self.length)


class Settings(BaseSettings, RoomSettings):
    """All settings of a server. Those of RoomSettings are the defaults of its rooms."""

    # An environment file may leave a setting empty: NUKIDORA_SEED= means none. For settings where an empty text differs
    # from the default (`host`: all addresses; `trusted_proxies`: none), the flag can still be empty.
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="ignore", allow_inf_nan=False
    )

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="port for HTTP and WebSocket; 0: any free one")
    mjai_port: int = Field(DEFAULT_PORT, ge=0, le=65535, description="port for mjai over TCP; 0: any free one")
    public_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="port of HTTP as bots reach it, where a container maps it to another; 0: the same",
    )
    data: Path = Field(Path("server-data"), description="folder of the journals and of the default database")
    database: str = Field("", description="URL of the database; empty: SQLite in the data folder")
    access: Literal["auto", "open", "token"] = Field(
        "auto", description="who may play: open (anybody), token, or auto: token unless the address is loopback"
    )
    max_rooms: int = Field(1000, ge=1, le=MANY, description="open rooms")
    rooms_per_address: int = Field(20, ge=1, le=MANY, description="open rooms that one address has opened")
    max_connections: int = Field(2000, ge=3, le=MANY, description="open connections of all kinds")
    connections_per_address: int = Field(100, ge=1, le=MANY, description="open connections of one address")
    joins_per_minute: int = Field(600, ge=1, le=MANY, description="joins of one address")
    messages_per_second: int = Field(
        50, ge=1, le=MANY, description="messages, WebSocket frames and KiB of one connection that were not asked for"
    )
    requests_per_minute: int = Field(1200, ge=1, le=MANY, description="HTTP requests of one address")
    downloads_per_minute: int = Field(600, ge=1, le=MANY, description="records downloaded by one address")
    join_timeout: float = Field(
        JOIN_TIMEOUT, gt=0, le=HOUR, description="seconds a new connection has to send its join message"
    )
    trusted_proxies: str = Field("127.0.0.1", description="proxies whose X-Forwarded-For is trusted; *: all")
    log: Literal["text", "json"] = Field("text", description="format of the log lines: text or json")

    _split_bots = field_validator("fill", mode="before")(split_bots)
    _split_scores = field_validator("scores", mode="before")(split_scores)

    @property
    def tokens_needed(self) -> bool:
        """Whether bots need a token."""
        if self.access == "auto":
            return self.host != "localhost" and not is_loopback(self.host)
        return self.access == "token"

    @property
    def database_url(self) -> str:
        """URL of the database, the default one included."""
        return self.database or f"sqlite:///{self.data / 'nukidora.db'}"

    @property
    def room(self) -> RoomSettings:
        """The settings of a room that sets none itself."""
        return RoomSettings(**{name: getattr(self, name) for name in RoomSettings.model_fields})


def is_loopback(host: str) -> bool:
    """Whether an address can be reached only from this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
