"""Ratings of players, and of house bots that have two seats."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from tests.support.stored_games import NOON, check_ratings, make_game, opened, random_game


async def test_games_are_rated_in_the_order_they_are_saved(database_url: str) -> None:
    chance = random.Random(1)
    async with opened(database_url) as store:
        # Finished in one order, saved in another.
        for minute in (3, 1, 2, 5, 4):
            await store.save_game(random_game(chance, minute))
        await store.save_game(make_game(("aki", "beni", "chiyo"), minute=6))
        await check_ratings(store)
        winner, loser = await store.player("aki"), await store.player("chiyo")
        assert winner is not None
        assert loser is not None
        *_, before, after = (await store.rating_history("aki")).items
        assert after.rating.mu > before.rating.mu
        assert after.rating == winner.rating
        assert after.finished == NOON + timedelta(minutes=6)
        *_, before, after = (await store.rating_history("chiyo")).items
        assert after.rating.mu < before.rating.mu
        assert loser.rating.ordinal == pytest.approx(loser.rating.mu - 3 * loser.rating.sigma)


async def test_a_game_with_a_name_twice_is_counted_but_not_rated(database_url: str) -> None:
    game = make_game(("aki", "beni", "beni"))
    async with opened(database_url) as store:
        assert await store.save_game(game)
        stored = await store.game(game.id)
        assert stored is not None
        assert not stored.rated
        beni = await store.player("beni")
        assert beni is not None
        assert (beni.games, beni.rated_games, beni.firsts, beni.seconds, beni.thirds) == (2, 0, 0, 1, 1)
        assert (await store.rating_history("aki")).items == []
        assert [found.id for found in (await store.games(player="beni")).items] == [game.id]
        await store.save_game(make_game(("aki", "beni", "chiyo")))
        await check_ratings(store)


async def test_a_game_with_a_weakened_house_bot_is_counted_but_not_rated(database_url: str) -> None:
    """Each strength would be a new player, whose rating begins at the mean."""
    game = make_game(("aki", "rule@-300 (house)", "rule (house)"))
    async with opened(database_url) as store:
        await store.save_game(game)
        stored = await store.game(game.id)
        assert stored is not None
        assert not stored.rated
        aki = await store.player("aki")
        assert aki is not None
        assert (aki.games, aki.rated_games) == (1, 0)
        assert make_game(("aki", "rule (house)", "efficiency (house)")).rated
        assert make_game(("aki", "beni@-300", "rule (house)")).rated  # a name that a player chose


async def test_a_house_bot_with_two_seats_has_one_rating(database_url: str) -> None:
    """It is rated by the mean of what its two seats would get."""
    names = ("aki", "rule (house)", "rule (house)")
    game = make_game(names)
    async with opened(database_url) as store:
        await store.save_game(make_game(("aki", "beni", "chiyo"), minute=1))
        _, middle, low = [await store.player(name) for name in ("aki", "beni", "chiyo")]
        assert middle is not None
        assert low is not None
    async with opened(database_url) as store:
        await store.save_game(game.model_copy(update={"id": "0" * 32}))
        house = await store.player("rule (house)")
        assert house is not None
        assert (house.games, house.rated_games, house.seconds, house.thirds) == (2, 1, 1, 1)
        assert len((await store.rating_history("rule (house)")).items) == 1
        assert [found.rated for found in (await store.games(player="rule (house)")).items] == [True]
        assert low.rating.mu < house.rating.mu < middle.rating.mu
