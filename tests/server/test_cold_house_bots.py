"""Everything a room can need is compiled and loaded before the server says that it is up."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from agents import registry
from server import house_bots
from server.house_bots import check_requested_bot, names, try_out, try_out_all
from server.settings import Settings
from server.warm_up import warm_up
from tests.support.server_bots import Bot, Message, tsumogiri
from tests.support.server_process import server_process

THINKING = 0.005  # seconds an honest bot takes for each reply
WORST_WAIT = 0.25  # seconds of an honest bot in a game
EVERY = 0.005  # seconds between two looks at the delays of this process itself


class Honest(Bot):
    """Measures how long the server takes for the next message of a game."""

    longest = 0.0

    async def play_on(self) -> None:
        """Play for ever."""
        await self.connect()
        while (message := await self.next()) is not None:
            await asyncio.sleep(THINKING)
            await self.answer(message)
            before = perf_counter()
            if message["type"] != "end_kyoku":  # else a game may be over, and is stored first
                self._waiting_since = before

    async def next(self) -> Message | None:
        message = await super().next()
        if self._waiting_since:
            self.longest = max(self.longest, perf_counter() - self._waiting_since)
            self._waiting_since = 0.0
        return message

    _waiting_since = 0.0


async def longest_lag(lags: list[float]) -> None:
    """Note how late this process itself is."""
    while True:
        due = perf_counter() + EVERY
        await asyncio.sleep(EVERY)
        lags.append(perf_counter() - due)


@pytest.mark.slow
@pytest.mark.alone
async def test_house_bots_of_a_cold_cache_halt_no_game(tmp_path: Path) -> None:
    """All of them are asked for by room names while honest bots play."""
    cache = tmp_path / "cache"
    with server_process(tmp_path, "--decision-time", "30", environment={"NUKIDORA_CACHE": str(cache)}) as server:
        compiled, said = sorted(cache.rglob("*")), server.log.read_text()
        assert "compiling" in said
        honest = [
            Honest(server, f"honest{number}", tsumogiri, transport=transport, room=f"h{number}+rule+rule", games=0)
            for number, transport in enumerate(("tcp", "websocket", "tcp"))
        ]
        lags = [0.0]
        gc.collect()
        gc.freeze()
        playing = [asyncio.create_task(bot.play_on()) for bot in honest]
        watching = asyncio.create_task(longest_lag(lags))
        await asyncio.sleep(1)
        for name in names():
            asking = Bot(server, "asking", room=f"cold+{name}+{name}")
            for _ in range(5):
                await asking.answer(await asking.until_own())
            await asking.leave()
        await asyncio.sleep(0.5)
        for task in [watching, *playing]:
            assert not task.done()
            task.cancel()
        assert all(len(bot.game) > 50 for bot in honest)
        assert max(bot.longest for bot in honest) < WORST_WAIT + max(lags)
        assert [bot.errors for bot in honest] == [[], [], []]
        assert sorted(cache.rglob("*")) == compiled
        assert server.log.read_text().count("compiling") == said.count("compiling")


class Wrong:
    """A bot that plays an illegal action."""

    name = "wrong"

    def act(self, views: np.ndarray) -> np.ndarray:
        return np.full(len(views), -1)


class Failing:
    """A bot that fails."""

    name = "failing"

    def act(self, views: np.ndarray) -> np.ndarray:
        raise RuntimeError("no weights")


@pytest.mark.parametrize(("bot", "why"), [(Wrong, "-1 is not legal"), (Failing, "RuntimeError: no weights")])
def test_a_registered_bot_that_cannot_play_is_not_offered(
    bot: type[Wrong | Failing], why: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make = registry.make
    monkeypatch.setattr(house_bots, "make", lambda spec, *seed: bot() if spec == "other" else make(spec, *seed))
    monkeypatch.setattr(house_bots, "names", lambda: ("rule", "other"))
    monkeypatch.setattr(house_bots, "_compiled", {})
    monkeypatch.setattr(house_bots, "_broken", set())
    check_requested_bot("other")
    try_out_all()
    assert why in caplog.text
    check_requested_bot("rule")
    with pytest.raises(ValueError, match=r"^unknown bot 'other': choose one of rule$"):
        check_requested_bot("other")
    with pytest.raises(ValueError, match=f"the bot other cannot play: .*{why}"):
        try_out("other")
    with pytest.raises(ValueError, match="cannot play"):
        warm_up(Settings.model_construct(**{**dict(Settings()), "house_bot": "other"}))


@pytest.mark.parametrize("spec", ["x.py", "x.py:Bot", "bert:/etc", "bert:?temperature=1", "random:", "exec:ls"])
def test_a_request_names_no_file_and_gives_no_argument(spec: str) -> None:
    with pytest.raises(
        ValueError, match=r"^only the flags of the server may name a bot in a file, or with an argument$"
    ):
        check_requested_bot(spec)


def test_what_a_request_is_told_does_not_depend_on_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("secret.py").write_text("")
    told = []
    for spec in ("secret", "public"):
        with pytest.raises(ValueError, match="unknown bot") as refused:
            check_requested_bot(spec)
        told.append(str(refused.value).replace(spec, "…"))
    assert told[0] == told[1]


def test_registered_bots_are_made_once_to_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def make(spec: str) -> Wrong:
        made.append(spec)
        return Wrong()

    monkeypatch.setattr(house_bots, "make", make)
    monkeypatch.setattr(house_bots, "_compiled", {})
    for _ in range(3):
        house_bots.check_bot("some")
    assert made == ["some"]
