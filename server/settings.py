"""Settings of the server: flags, environment variables, and what holds for a room unless it says otherwise."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from agents.registry import make
from engine.mjai.connection import DEFAULT_PORT, JOIN_TIMEOUT
from engine.rules import PRESETS, Rules, preset
from engine.seeds import MAX_SEED

PREFIX = "NUKIDORA_"


def split_bots(bots: object) -> object:
    """House bots as a flag or variable gives them: names separated by commas."""
    return tuple(bot for bot in bots.split(",") if bot) if isinstance(bots, str) else bots


class RoomSettings(BaseModel):
    """How a room plays. Times are in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    rules: str = Field("tenhou", description="preset of the rules: " + " or ".join(PRESETS))
    length: Literal["east", "hanchan"] = Field("hanchan", description="east or hanchan")
    games: int = Field(0, ge=0, description="games until the room closes; 0: no end")
    seats: Literal["random", "fixed"] = Field("random", description="random: drawn; fixed: in order of arrival")
    seed: int | None = Field(None, ge=0, le=MAX_SEED, description="of walls and seats; none: drawn for every game")
    decision_time: float = Field(5.0, gt=0, le=3600, description="seconds for each decision")
    bank_time: float = Field(10.0, ge=0, le=3600, description="seconds for a whole game, used once a decision is over")
    fill: Annotated[tuple[str, ...], NoDecode] = Field((), description="house bots for empty chairs, as in rule,random")
    fill_after: float = Field(5.0, ge=0, description="seconds the first who waits is kept waiting before chairs fill")
    house: str = Field("rule", description="house bot that takes over a seat")
    max_faults: int = Field(10, ge=1, description="faults in a game until the house bot takes the seat over")
    resume_within: float = Field(30.0, ge=0, description="seconds to come back before the house bot takes over")
    chombo: float = Field(0.0, ge=0, description="final points each fault costs, deducted after the game")
    spectator_delay: float = Field(0.0, ge=0, description="seconds a finished round is kept from spectators")

    _split = field_validator("fill", mode="before")(split_bots)

    @field_validator("rules")
    @classmethod
    def _rules_exist(cls, rules: str) -> str:
        return preset(rules).name

    @field_validator("fill")
    @classmethod
    def _bots_exist(cls, fill: tuple[str, ...]) -> tuple[str, ...]:
        for bot in fill:
            make(bot)
        return fill

    @field_validator("house")
    @classmethod
    def _bot_exists(cls, house: str) -> str:
        make(house)
        return house

    def make_rules(self) -> Rules:
        """The rules played by."""
        return preset(self.rules, self.length)


class Settings(BaseSettings, RoomSettings):
    """Everything the server can be told; a room takes from it what it does not say itself."""

    # Environment files name what they leave open: NUKIDORA_SEED= means none. Where an empty text means something else
    # than the default (`host`: all addresses; `forwarded`: nobody), the flag can still say it.
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="ignore", allow_inf_nan=False
    )

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=0, le=65535, description="HTTP and WebSocket; 0: any free one")
    mjai_port: int = Field(DEFAULT_PORT, ge=0, le=65535, description="mjai over TCP; 0: any free one")
    data: Path = Field(Path("data"), description="folder of journals and, unless another is named, of the database")
    database: str = Field("", description="URL of the database; empty: SQLite in the data folder")
    access: Literal["auto", "open", "token"] = Field(
        "auto", description="who may play: open, token, or auto: tokens where the address is not loopback"
    )
    max_rooms: int = Field(1000, ge=1, description="rooms at the same time")
    max_connections: int = Field(2000, ge=3, description="connections of bots and spectators at the same time")
    connections_per_address: int = Field(1000, ge=1, description="of them, those of one address")
    joins_per_minute: int = Field(600, ge=1, description="joins of one address")
    messages_per_second: int = Field(20_000, ge=1, description="messages of one connection")
    downloads_per_minute: int = Field(600, ge=1, description="records downloaded by one address")
    join_within: float = Field(JOIN_TIMEOUT, gt=0, description="seconds a connection has to join")
    forwarded: str = Field("127.0.0.1", description="proxies whose X-Forwarded-For is believed; * for all")
    log: Literal["text", "json"] = Field("text", description="form of the log lines: text or json")

    @property
    def tokens_needed(self) -> bool:
        """Whether a bot has to show a token."""
        if self.access == "auto":
            return self.host != "localhost" and not is_loopback(self.host)
        return self.access == "token"

    @property
    def database_url(self) -> str:
        """Where games are kept."""
        return self.database or f"sqlite:///{self.data / 'nukidora.db'}"

    @property
    def room(self) -> RoomSettings:
        """Settings of a room that says nothing itself."""
        return RoomSettings(**{name: getattr(self, name) for name in RoomSettings.model_fields})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
