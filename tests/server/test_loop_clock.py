"""A halt of the event loop is nobody's fault: the loop's clock, and servers that are halted."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop

from server.loop_clock import MAX_STEP, LoopClock, loop_clock
from tests.support.server_bots import Bot, Message, connect_in_order, live_game, serving
from tests.support.server_program import ServerProgram, server_program

HALT = 0.6  # seconds; more than all times of the quick tests together
SOON = 60.0  # seconds; only a server that hangs takes as long
TRANSPORTS = ("tcp", "websocket")


def halt(seconds: float = HALT) -> None:
    """Halt the event loop."""
    time.sleep(seconds)


# The clock ------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, None]], None]:
    """Runs a coroutine in an event loop of each kind."""

    def run_here(main: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(main)

    return run_here


Run = Callable[[Coroutine[Any, Any, None]], None]


def test_of_a_halt_the_clock_takes_little(run: Run) -> None:
    async def main() -> None:
        clock = loop_clock()
        assert clock is loop_clock()
        await asyncio.sleep(0.05)
        before = clock.time()
        halt()
        halted = clock.time()
        assert before < halted <= before + MAX_STEP + 0.01
        await asyncio.sleep(0.2)
        assert halted + 0.05 < clock.time() < before + HALT

    run(main())


def test_the_clock_runs_as_time_does_where_nothing_halts(run: Run) -> None:
    async def main() -> None:
        clock, real = loop_clock(), time.monotonic()
        before = last = clock.time()
        for _ in range(50):
            await asyncio.sleep(0.01)
            assert clock.time() >= last
            last = clock.time()
        assert last - before <= time.monotonic() - real
        assert last - before > 0.25  # less only where the machine itself halts

    run(main())


def test_a_timer_waits_for_what_the_halt_took(run: Run) -> None:
    async def main() -> None:
        clock, fired = loop_clock(), asyncio.Event()
        due = clock.time() + 0.3
        clock.call_later(0.3, fired.set)
        cancelled = clock.call_later(0.0, lambda: pytest.fail("it was cancelled"))
        cancelled.cancel()
        await asyncio.sleep(0.1)
        left = due - clock.time()
        halt()
        after = time.monotonic()
        await asyncio.wait_for(fired.wait(), SOON)
        assert clock.time() >= due
        assert time.monotonic() - after > left - MAX_STEP - 0.02

    run(main())


def test_a_timer_waits_for_data_that_is_not_parsed_yet_but_not_for_ever(run: Run) -> None:
    async def main() -> None:
        waiting, fired = [True], [asyncio.Event(), asyncio.Event()]
        loop_clock().call_later(0.0, fired[0].set, data_waits=lambda: waiting[0])
        loop_clock().call_later(0.0, fired[1].set, data_waits=lambda: True)
        await asyncio.sleep(0.2)
        assert not fired[0].is_set()
        waiting[0] = False
        await asyncio.wait_for(fired[0].wait(), SOON)
        await asyncio.wait_for(fired[1].wait(), SOON)

    run(main())


def test_the_lag_is_observed(run: Run) -> None:
    async def main() -> None:
        lags: list[float] = []
        LoopClock().on_lag = lags.append
        await asyncio.sleep(0.2)
        halt()
        await asyncio.sleep(0.2)
        assert HALT - 0.05 < max(lags) < HALT + 5
        assert sorted(lags)[len(lags) // 2] < 0.1

    run(main())


# Servers that are halted ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_halt_of_the_loop_is_not_charged(tmp_path: Path, transport: str) -> None:
    """The answer is in its socket then; the decision time is over afterwards, and the bank is untouched."""
    async with serving(tmp_path, decision_time=0.4, bank_time=0.2, resume_timeout=0.4, seats="fixed") as server:
        bots = [Bot(server, name, transport=transport) for name in "abc"]
        await connect_in_order(server, bots)
        await bots[0].until_own()
        seat = live_game(server).seats[0]
        await bots[0].answer(bots[0].game[-1])
        halt(2 * HALT)
        others = [asyncio.create_task(bot.until_own()) for bot in bots[1:]]
        await bots[0].until(lambda message: message["type"] == "dahai")
        assert seat.faults == 0
        assert seat.clock.bank == 0.2
        await asyncio.gather(*others)


async def halted_while(server: ServerProgram, seconds: float, answer: Coroutine[Any, Any, None]) -> None:
    """Halt the server's process for some seconds, in which a bot may answer."""
    server.process.send_signal(signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds / 2)
        await answer
        await asyncio.sleep(seconds / 2)
    finally:
        server.process.send_signal(signal.SIGCONT)


async def nothing() -> None:
    """Do not answer."""


DECISION, BANK = 0.8, 4.0  # the bank is also for the halts of the bots' own process
TIMES = {"decision_time": DECISION, "bank_time": BANK, "resume_timeout": 1, "seats": "fixed"}


def own_draw(bot: Bot) -> Callable[[Message], bool]:
    """Whether a message is the bot's own draw."""
    return lambda message: message["type"] == "tsumo" and message["actor"] == bot.seat


@pytest.mark.long
@pytest.mark.parametrize("transport", ["tcp", pytest.param("websocket", marks=pytest.mark.long)])
async def test_bots_that_answer_while_the_server_is_halted_are_not_late(tmp_path: Path, transport: str) -> None:
    """At any point of their time, the last moment included; and enough of the bank is left to do it again."""
    with server_program(tmp_path, **TIMES) as server:
        bots = [Bot(server.ports, name, room="halted", transport=transport) for name in "abc"]

        async def answer_in_halts(bot: Bot) -> None:
            for thinking in (0.0, DECISION - 0.02):
                drawn = await bot.until(own_draw(bot))
                await asyncio.sleep(thinking)
                await halted_while(server, 1.5 * (DECISION + BANK), bot.answer(drawn))

        playing = [asyncio.create_task(bot.play()) for bot in bots[1:]]
        await answer_in_halts(bots[0])
        drawn = await bots[0].until(own_draw(bots[0]))
        await asyncio.sleep(DECISION + BANK / 4)  # into the bank
        await bots[0].answer(drawn)
        await bots[0].until(own_draw(bots[0]))
        assert [bot.errors for bot in bots] == [[], [], []]
        for task in playing:
            assert not task.done()
            task.cancel()


@pytest.mark.long
@pytest.mark.parametrize("transport", ["tcp", pytest.param("websocket", marks=pytest.mark.long)])
async def test_a_bot_that_does_not_answer_is_late_however_the_server_is_halted(tmp_path: Path, transport: str) -> None:
    with server_program(tmp_path, **TIMES) as server:
        bots = [Bot(server.ports, name, room="halted", transport=transport) for name in "abc"]
        playing = [asyncio.create_task(bot.play()) for bot in bots[1:]]
        slow = bots[0]
        loop = asyncio.get_running_loop()
        before = loop.time()  # it is asked: this process may learn of that late
        drawn = await slow.until(own_draw(slow))
        error = await slow.until(lambda message: message["type"] == "error")
        assert DECISION + BANK <= loop.time() - before < DECISION + BANK + SOON
        before = loop.time()
        for late in (drawn, error):  # until it replies it is sent nothing more
            await slow.answer(late)
        await slow.until(own_draw(slow))
        await asyncio.sleep(0.2)
        await halted_while(server, 3.0, nothing())
        await slow.until(lambda message: message["type"] == "error")
        assert 3.0 + DECISION - 0.1 <= loop.time() - before < 3.0 + DECISION + SOON  # the bank was used up before
        for task in playing:
            assert not task.done()
            task.cancel()


@pytest.mark.slow
async def test_a_halt_does_not_end_the_time_to_reconnect(tmp_path: Path) -> None:
    with server_program(tmp_path, decision_time=30, resume_timeout=5, seats="fixed") as server:
        bots = [Bot(server.ports, name, room="halted", resume=True) for name in "abc"]
        playing = [asyncio.create_task(bot.play()) for bot in bots[1:]]
        lost = bots[0]
        await lost.until(own_draw(lost))
        lost.abort()
        await asyncio.sleep(0.4)
        await halted_while(server, 7.0, nothing())
        await asyncio.sleep(0.2)
        async with httpx.AsyncClient(trust_env=False, timeout=SOON) as http:
            metrics = (await http.get(f"http://127.0.0.1:{server.ports.port}/metrics")).text
        assert "nukidora_seats_taken_over_total 0.0" in metrics.splitlines()
        await lost.connect(resume=len(lost.game))
        await lost.until(own_draw(lost))
        assert lost.errors == []
        for task in playing:
            assert not task.done()
            task.cancel()
