"""Everything a room can need is compiled and loaded before the server says that it is up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from agents.base import Agent
from agents.registry import make
from server.house_bots import HOUSE_BOTS, HouseBots
from server.settings import Settings
from server.warm_up import warm_up
from tests.server.attacks.siege import STRICT
from tests.support.honest_bots import honest_bots
from tests.support.server_bots import Bot, PlainHouseBot
from tests.support.server_program import server_program


@pytest.mark.long
async def test_house_bots_of_a_cold_cache_halt_no_game(tmp_path: Path) -> None:
    """All of them are asked for by room names while honest bots play."""
    cache = tmp_path / "cache"
    with server_program(tmp_path, environment={"NUKIDORA_CACHE": str(cache)}, decision_time=30) as server:
        compiled, said = sorted(cache.rglob("*")), server.log.read_text()
        assert "compiling" in said
        with honest_bots(server.ports) as honest:
            while min(honest.look().decisions) == 0:
                await asyncio.sleep(0.1)
            for name in HOUSE_BOTS.names:
                asking = Bot(server.ports, "asking", room=f"cold+{name}+{name}")
                for _ in range(5):
                    await asking.answer(await asking.until_own())
                await asking.leave()
            await asyncio.sleep(1)
            seen = await asyncio.to_thread(honest.look)
        assert min(seen.decisions) > 20
        late = [wait for wait in seen.late if wait.seconds > STRICT.worst + max(seen.lags)]
        assert [str(wait) for wait in late if b'"end_kyoku"' not in wait.after] == []  # there the disk may be slow
        assert (seen.errors, seen.drops) == ([], [])
        assert sorted(cache.rglob("*")) == compiled
        assert server.log.read_text().count("compiling") == said.count("compiling")


def wrong(views: np.ndarray) -> np.ndarray:
    """Illegal actions."""
    return np.full(len(views), -1)


def failing(_: np.ndarray) -> np.ndarray:
    raise RuntimeError("no weights")


@pytest.mark.parametrize(("act", "why"), [(wrong, "-1 is not legal"), (failing, "RuntimeError: no weights")])
def test_a_registered_bot_that_cannot_play_is_not_offered(
    act: Callable[[np.ndarray], np.ndarray], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    def made(spec: str) -> Agent:
        return PlainHouseBot(act) if spec == "other" else make(spec)

    bots = HouseBots(made, lambda: ["rule", "other"])
    bots.check_requested("other")
    bots.try_out_all()
    assert why in caplog.text
    bots.check_requested("rule")
    with pytest.raises(ValueError, match=r"^unknown bot 'other': choose one of rule$"):
        bots.check_requested("other")
    with pytest.raises(ValueError, match=f"the bot other cannot play: .*{why}"):
        bots.try_out("other")
    with pytest.raises(ValueError, match="cannot play"):
        warm_up(Settings(house_bot="other"), bots)


def test_ctrl_c_while_a_bot_is_loaded_is_no_fault_of_the_bot() -> None:
    """ONNX Runtime turns it into an ImportError, as all packages do that are built with pybind11."""

    def made(spec: str) -> Agent:
        raise ImportError("initialization failed") from KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        HouseBots(made, lambda: ["other"]).try_out_all()


@pytest.mark.parametrize("spec", ["x.py", "x.py:Bot", "bert:/etc", "bert:?temperature=1", "random:", "exec:ls"])
def test_a_request_names_no_file_and_gives_no_argument(spec: str) -> None:
    with pytest.raises(
        ValueError, match=r"^only the settings of the server may name a bot in a file, or with an argument$"
    ):
        HOUSE_BOTS.check_requested(spec)


def test_what_a_request_is_told_does_not_depend_on_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("secret.py").write_text("")
    told = []
    for spec in ("secret", "public"):
        with pytest.raises(ValueError, match="unknown bot") as refused:
            HOUSE_BOTS.check_requested(spec)
        told.append(str(refused.value).replace(spec, "…"))
    assert told[0] == told[1]


def test_registered_bots_are_made_once_to_be_checked() -> None:
    made = []

    def noted(spec: str) -> PlainHouseBot:
        made.append(spec)
        return PlainHouseBot(wrong)

    bots = HouseBots(noted)
    for _ in range(3):
        bots.check("some")
    assert made == ["some"]
