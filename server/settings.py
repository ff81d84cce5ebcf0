"""The settings of a server and a room: names, types, defaults, limits and help texts, by table of the settings file.

Each is a field of a dataclass. Its metadata are limits and the help text, under the names that pydantic uses for
settings in JSON (`server.api.rooms`, `server.stored_settings`); `server.setting_values` reads settings from text and
TOML without pydantic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from agents import registry
from agents.built_in import BUILT_IN
from engine.checks import check_scores
from engine.mjai.connection import DEFAULT_PORT, JOIN_TIMEOUT
from engine.rules import EVEN_SCORES, PRESETS, TOTAL_POINTS, Rules, Scores, preset
from engine.seeds import MAX_SEED

PREFIX = "NUKIDORA_"
HOUR, DAY = 3600, 86_400  # seconds
CENTURY = 36_500  # days; earlier dates may be out of range
MANY = 1_000_000  # above what a machine can hold, but within the range of timers and counters
MAX_FILL = 2  # house bots in `fill`, which leaves a seat for a bot that connects
# Variables of other programs; the client also reads NUKIDORA_PAUSE.
OTHER_VARIABLES = frozenset({PREFIX + "CACHE", PREFIX + "CLUSTER", PREFIX + "JOBS", PREFIX + "TOKEN"})


class Checked:
    """A check of a setting's value for `Annotated` types; the check may replace the value or raise ValueError.

    pydantic also calls the check, after its own.
    """

    def __init__(self, check: Callable[[Any], Any]) -> None:
        self.check = check

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema by which pydantic calls the check."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self.check, handler(source))


def about(description: str, **limits: Any) -> dict[str, Any]:
    """Return the metadata of a setting. All numbers have a limit `le`; in JSON they must be numbers, not texts."""
    return {"description": description, **limits} | ({"strict": True} if "le" in limits else {})


def check_rules(rules: str) -> str:
    """Return the name of a rules preset. Raises ValueError if there is none of that name."""
    return preset(rules).name


def check_bot(spec: str) -> str:
    """Return the bot if it can be made. Raises ValueError otherwise.

    nukidora's own bots without an argument are not loaded for the check: errors in settings are reported quickly.
    """
    registry.check(spec)
    if spec not in BUILT_IN:
        from server.house_bots import HOUSE_BOTS

        HOUSE_BOTS.check(spec)
    return spec


def check_path(path: str) -> str:
    """Return a path that is there, or the empty one. Raises ValueError."""
    if path and not Path(path).exists():
        raise ValueError(f"there is no file or folder {path}")
    return path


def check_bots(specs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the bots if all can be made. Raises ValueError otherwise."""
    return tuple(map(check_bot, specs))


@dataclass(frozen=True, kw_only=True)
class RoomSettings:
    """How games in a room are played. Times are in seconds."""

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "allow_inf_nan": False}

    rules: Annotated[str, Checked(check_rules)] = field(
        default="tenhou",
        metadata=about("preset of the rules: " + " or ".join(PRESETS), json_schema_extra={"enum": [*PRESETS]}),
    )
    length: Literal["east", "hanchan"] = field(default="hanchan", metadata=about("east or hanchan"))
    games: int = field(default=0, metadata=about("games until the room closes; 0: no limit", ge=0, le=MANY))
    seats: Literal["random", "fixed"] = field(
        default="random", metadata=about("random: drawn; fixed: in order of arrival")
    )
    scores: Annotated[Scores, Checked(check_scores)] = field(
        default=EVEN_SCORES,
        metadata=about(
            f"points that the players start with, which add up to {TOTAL_POINTS}: first those who joined, in "
            "order of arrival, then the house bots",
        ),
    )
    rated: bool = field(
        default=True, metadata=about("true: games count for ratings; false: they are casual", strict=True)
    )
    hints: bool = field(
        default=False,
        metadata=about("true: players of rooms that are not rated may ask for hints; false: none", strict=True),
    )
    seed: int | None = field(
        default=None, metadata=about("seed of walls and seats; unset: random for every game", ge=0, le=MAX_SEED)
    )
    decision_time: float = field(default=5.0, metadata=about("seconds for each decision", gt=0, le=HOUR))
    bank_time: float = field(
        default=10.0,
        metadata=about("extra seconds for a whole game, used after the time for a decision", ge=0, le=HOUR),
    )
    fill: Annotated[tuple[str, ...], Checked(check_bots)] = field(
        default=(), metadata=about("house bots for empty seats, such as rule and random", max_length=MAX_FILL)
    )
    fill_delay: float = field(
        default=5.0, metadata=about("seconds the first bot waits before empty seats are filled", ge=0, le=DAY)
    )
    wait_timeout: float = field(
        default=600.0,
        metadata=about("seconds a bot waits for a game where no house bots fill the seats; 0: no limit", ge=0, le=DAY),
    )
    idle: Literal["leave", "stay"] = field(
        default="leave",
        metadata=about("after wait_timeout: leave, or stay as long as the bot answers pings (over WebSocket only)"),
    )
    house_bot: Annotated[str, Checked(check_bot)] = field(
        default="rule", metadata=about("house bot that takes over a seat")
    )
    max_faults: int = field(
        default=10, metadata=about("faults in a game after which the house bot takes over the seat", ge=1, le=MANY)
    )
    resume_timeout: float = field(
        default=30.0,
        metadata=about("seconds a bot has to reconnect before the house bot takes over its seat", ge=0, le=DAY),
    )
    fault_penalty: float = field(
        default=0.0, metadata=about("final points deducted for each fault after the game", ge=0, le=1000)
    )
    spectator_delay: float = field(
        default=0.0, metadata=about("seconds before a finished round is shown to spectators", ge=0, le=DAY)
    )
    pause: float = field(
        default=0.0,
        metadata=about("seconds house bots wait before each decision, so that people can follow", ge=0, le=60),
    )

    def make_rules(self) -> Rules:
        """The rules of the room's games."""
        return preset(self.rules, self.length)


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """Where the server listens, and who may play."""

    host: str = field(default="127.0.0.1", metadata=about("address to listen on"))
    port: int = field(default=8000, metadata=about("port for HTTP and WebSocket; 0: any free one", ge=0, le=65535))
    mjai_port: int = field(
        default=DEFAULT_PORT, metadata=about("port for mjai over TCP; 0: any free one", ge=0, le=65535)
    )
    public_port: int = field(
        default=0,
        metadata=about(
            "port of HTTP as bots reach it, where a container maps it to another; 0: the same", ge=0, le=65535
        ),
    )
    access: Literal["auto", "open", "token"] = field(
        default="auto",
        metadata=about("who may play: open (anybody), token, or auto: token unless the address is loopback"),
    )
    trusted_proxies: str = field(
        default="127.0.0.1",
        metadata=about("proxies whose X-Forwarded-For is trusted: addresses, networks, names; *: all"),
    )


@dataclass(frozen=True, kw_only=True)
class StorageSettings:
    """Where the server stores games, and which of them it keeps."""

    data: Path = field(
        default=Path("server-data"), metadata=about("folder of the journals and of the default database")
    )
    database: str = field(default="", metadata=about("URL of the database; empty: SQLite in the data folder"))
    keep_days: int = field(default=0, metadata=about("days that games are stored; 0: for ever", ge=0, le=CENTURY))
    keep_games: int = field(
        default=0, metadata=about("games that are stored, rated ones last to go; 0: all", ge=0, le=MANY)
    )
    keep_mib: int = field(default=0, metadata=about("MiB of records that are stored, likewise; 0: all", ge=0, le=MANY))
    puzzle_records: Annotated[str, Checked(check_path)] = field(
        default="",
        metadata=about("folder or archive of records that puzzles are made from; empty: games of this server"),
    )


@dataclass(frozen=True, kw_only=True)
class LimitSettings:
    """What the server allows to one address, to one connection, or to all together."""

    max_rooms: int = field(default=1000, metadata=about("open rooms", ge=1, le=MANY))
    rooms_per_address: int = field(default=20, metadata=about("open rooms that one address has opened", ge=1, le=MANY))
    max_connections: int = field(default=2000, metadata=about("open connections of all kinds", ge=3, le=MANY))
    connections_per_address: int = field(default=100, metadata=about("open connections of one address", ge=1, le=MANY))
    joins_per_minute: int = field(default=600, metadata=about("joins of one address", ge=1, le=MANY))
    messages_per_second: int = field(
        default=50,
        metadata=about("messages, WebSocket frames and KiB of one connection that were not asked for", ge=1, le=MANY),
    )
    requests_per_minute: int = field(default=1200, metadata=about("HTTP requests of one address", ge=1, le=MANY))
    downloads_per_minute: int = field(default=600, metadata=about("records downloaded by one address", ge=1, le=MANY))
    join_timeout: float = field(
        default=JOIN_TIMEOUT, metadata=about("seconds a new connection has to send its join message", gt=0, le=HOUR)
    )
    annotations_per_minute: int = field(
        default=1024,
        metadata=about(
            "KiB of annotations (ext_bot) and texts of faults of one address that are stored", ge=1, le=MANY
        ),
    )


@dataclass(frozen=True, kw_only=True)
class LogSettings:
    """What the log looks like."""

    log: Literal["text", "json"] = field(default="text", metadata=about("format of the log lines: text or json"))


@dataclass(frozen=True, kw_only=True)
class Settings(RoomSettings, NetworkSettings, StorageSettings, LimitSettings, LogSettings):
    """All settings of a server. Those of RoomSettings are the defaults of its rooms."""

    @property
    def tokens_needed(self) -> bool:
        """Whether bots need a token."""
        if self.access == "auto":
            return self.host != "localhost" and not is_loopback(self.host)
        return self.access == "token"

    @property
    def database_url(self) -> str:
        """The URL of the database, or the default one."""
        return self.database or f"sqlite:///{self.data / 'nukidora.db'}"

    @property
    def room(self) -> RoomSettings:
        """The default settings of rooms."""
        return RoomSettings(**{field.name: getattr(self, field.name) for field in fields(RoomSettings)})


class Table(NamedTuple):
    """A table of the settings file."""

    settings: type  # a dataclass; its fields are the keys
    about: str


TABLES = {
    "network": Table(NetworkSettings, "where the server listens, and who may play"),
    "storage": Table(StorageSettings, "where games are stored, and which are kept"),
    "rooms": Table(RoomSettings, "defaults of rooms, which may have settings of their own"),
    "limits": Table(LimitSettings, "what one address, one connection or all together may use"),
    "logging": Table(LogSettings, "what the log looks like"),
}
TABLE_OF: dict[str, str] = {each.name: name for name, table in TABLES.items() for each in fields(table.settings)}
SETTINGS: dict[str, Field[Any]] = {each.name: each for table in TABLES.values() for each in fields(table.settings)}
SECRETS = frozenset({"database"})  # whose values are not printed: a URL may contain a password


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached only from this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
