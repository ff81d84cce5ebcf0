"""Concurrent saves by one or several processes: no game is lost or rated with outdated ratings."""

from __future__ import annotations

import asyncio
import gc
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.dialects.postgresql import Insert, insert

from server.limits import Limits
from server.store import Store, StoreError
from server.store.database import make_engine, read_url
from server.store.tables import players
from tests.support.stored_games import NOON, all_items, check_ratings, make_game, opened, random_game

REPOSITORY = Path(__file__).resolve().parent.parent.parent
GAMES_EACH = 25
# Prints a line, waits for one, and saves its games, some of which the other processes save too.
SAVER = f"""
import asyncio, random, sys, uuid
from tests.support.stored_games import opened, random_game, replace

async def main(url, number):
    chance, shared = random.Random(number), random.Random("shared")
    games = [random_game(chance) for _ in range({GAMES_EACH})]
    games += [replace(random_game(shared), id=uuid.UUID(int=i).hex) for i in range({GAMES_EACH})]
    chance.shuffle(games)
    async with opened(url) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        print(sum(await asyncio.gather(*map(store.save_game, games))))

asyncio.run(main(*sys.argv[1:]))
"""


async def check_store(store: Store, n_games: int) -> None:
    """Check that the store has `n_games` games, all of them counted and rated."""
    games = await all_items(lambda cursor: store.games(cursor=cursor))
    assert len(games) == n_games
    played = Counter(seat.name for game in games for seat in game.seats)
    found = await all_items(store.players)
    assert {player.name: player.games for player in found} == played
    assert {player.name: player.firsts + player.seconds + player.thirds for player in found} == played
    await check_ratings(store)


async def test_in_one_process(database_url: str) -> None:
    chance = random.Random(3)
    games = [random_game(chance) for _ in range(40)]
    async with opened(database_url) as store:
        saved = await asyncio.gather(*(store.save_game(game) for game in games * 2))
        assert sum(saved) == len(games)
        await check_store(store, len(games))


@pytest.mark.parametrize("known", [False, True], ids=["new players", "known players"])
async def test_players_are_locked_in_the_order_of_their_names(postgres_url: str, known: bool) -> None:
    # Another transaction has beni and then takes chiyo: nobody who waits for beni may have chiyo already.
    def lock(name: str) -> Insert:
        zeros = dict.fromkeys(("games", "rated_games", "firsts", "seconds", "thirds", "points", "faults"), 0)
        skill = {"house_bot": False, "mu": 25.0, "sigma": 8.0, "ordinal": 1.0, "first_seen": NOON, "last_seen": NOON}
        statement = insert(players).values(name=name, **zeros, **skill)
        return statement.on_conflict_do_update(index_elements=["name"], set_={"house_bot": False})

    engine = make_engine(read_url(postgres_url))
    async with opened(postgres_url) as store, engine.connect() as other:
        if known:
            for names in (("chiyo", "x", "y"), ("beni", "x", "y"), ("aki", "x", "y")):
                await store.save_game(make_game(names))
        await other.execute(lock("beni"))
        save = asyncio.create_task(store.save_game(make_game(("chiyo", "beni", "aki"))))
        _, waiting = await asyncio.wait([save], timeout=0.5)
        assert waiting
        await other.execute(lock("chiyo"))
        await other.commit()
        assert await save
    await engine.dispose()


@pytest.mark.slow
async def test_in_several_processes(database_url: str) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SAVER, database_url, str(number)],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    for process in processes:  # opened an empty database at the same time, too
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    saved = [int(process.communicate(timeout=60)[0]) for process in processes]
    assert sum(saved) == 3 * GAMES_EACH
    assert min(saved) >= GAMES_EACH
    async with opened(database_url) as store:
        await check_store(store, 3 * GAMES_EACH)


@pytest.mark.slow
async def test_reads_are_not_blocked_by_waiting_writes(database_url: str) -> None:
    engine = make_engine(read_url(database_url))
    async with opened(database_url) as store:
        await store.save_game(make_game())
        async with engine.connect() as other:
            await other.execute(text("UPDATE players SET faults = 1"))
            saves = [asyncio.create_task(store.save_game(make_game(minute=minute))) for minute in range(1, 41)]
            await asyncio.sleep(0.3)
            page = await asyncio.wait_for(store.games(), timeout=10)
            assert len(page.items) == 1
            await other.rollback()
        assert all(await asyncio.gather(*saves))
        await check_store(store, 41)
    await engine.dispose()


@pytest.fixture
def no_garbage_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
@pytest.mark.usefixtures("no_garbage_collection")  # it would end what a save left open, sooner or later
async def test_a_cancelled_save_does_not_block_others(database_url: str) -> None:
    chance = random.Random(4)
    games = [random_game(chance) for _ in range(60)]
    async with opened(database_url, Limits(lock_timeout=5.0)) as store:
        for game in games:
            save = asyncio.create_task(store.save_game(game))
            await asyncio.sleep(chance.uniform(0, 0.01))
            save.cancel()
        await asyncio.gather(*map(store.save_game, games))
        await check_store(store, len(games))


async def test_closing_waits_for_a_cancelled_save(database_url: str) -> None:
    async with opened(database_url) as store:
        saves = [asyncio.create_task(store.save_game(make_game(minute=minute))) for minute in range(5)]
        await asyncio.sleep(0)
        for save in saves:
            save.cancel()
    async with opened(database_url) as store:
        await check_store(store, 5)


async def test_a_store_reconnects(postgres_url: str) -> None:
    async with opened(postgres_url) as store:
        await store.save_game(make_game())
        engine = make_engine(read_url(postgres_url))
        async with engine.begin() as other:
            others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ended = await other.execute(text(f"SELECT pg_terminate_backend(pid) {others}"))
            assert any(ended.scalars())
        await engine.dispose()
        assert await store.save_game(make_game(minute=1))
        assert len((await store.games()).items) == 2


async def test_connections_to_postgresql_stay_open(postgres_url: str) -> None:
    """Closing one takes as long as the database hangs, and whoever gives it back would wait."""
    engine = make_engine(read_url(postgres_url))
    async with AsyncExitStack() as stack:
        for _ in range(8):
            await stack.enter_async_context(engine.connect())
    async with engine.connect() as connection:
        open_ones = await connection.execute(
            text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        )
        assert open_ones.scalar_one() >= 8  # of this engine; others may be open
    await engine.dispose()


@pytest.mark.slow
async def test_commands_of_a_hanging_database_time_out(postgres_url: str) -> None:
    engine = make_engine(read_url(postgres_url))
    async with opened(postgres_url, Limits(command_timeout=2.0)) as store:
        async with engine.begin() as connection:
            await connection.execute(text("LOCK TABLE games, tokens IN ACCESS EXCLUSIVE MODE"))
            hanging = asyncio.gather(store.save_game(make_game()), store.token_names(), return_exceptions=True)
            for error in await asyncio.wait_for(hanging, 30):
                assert isinstance(error, StoreError)
                assert "TimeoutError" in str(error)
        await engine.dispose()
        assert await store.save_game(make_game())
