"""The search: worlds that fit the view, options, annotations, and choices that pay."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from agents.base import ActionValues, Annotating
from agents.playouts import Playouts
from agents.registry import make
from agents.search.cli import main
from agents.search.fit import fit, lay_worlds, positions, views_of
from agents.search.model import BUNDLED, NEUTRAL, load_model, save_model
from agents.search.tree import DROP_EVERY
from agents.search.worlds import SAMPLER
from engine.actions import NUKIDORA, TSUMOGIRI
from engine.table import (
    N_SEATS,
    REPLACEMENT_AT,
    RESPONSE,
    RIICHI_DISCARD,
    RIVER_CALLED,
    RIVER_TILE,
    TABLE,
    URA_AT,
    WALL_SIZE,
    raw_bytes,
)
from engine.tiles import FULL_SET
from tests.support.views import views_of_games

WORLDS = 3
MARGIN = 0.015  # placements; more is searched than by default


@pytest.fixture(scope="module")
def tables() -> np.ndarray:
    """Whole tables of a few games, each with the seat that acts."""
    return positions(("rule", "rule", "efficiency"), 30, 3)


def worlds_of(views: np.ndarray, seed: int = 1) -> np.ndarray:
    """WORLDS worlds for each view, TABLE[n, WORLDS]."""
    model = load_model(BUNDLED)
    worlds = np.zeros(len(views) * WORLDS, dtype=TABLE)
    sampler = np.zeros(SAMPLER.itemsize, dtype=np.uint8)
    lay_worlds(raw_bytes(views), np.uint64(seed), model.tiles, model.shantens, sampler, raw_bytes(worlds))
    return worlds.reshape(len(views), WORLDS)


def tiles_of(world: np.record) -> list[int]:
    """All 108 tiles of a whole table: hands, melds, rivers, norths, indicators, wall."""
    found: list[int] = []
    for seat in range(N_SEATS):
        p = world["seat"][seat]
        for kind, count in enumerate(p["hand"].tolist()):
            reds = p["red"][[9 + 4, 18 + 4].index(kind)] if kind in (13, 22) else 0
            found += [kind] * (count - reds) + [35 if kind == 13 else 36] * reds
        for m in range(p["n_melds"]):
            kind, n = int(p["meld_kind"][m]), 3 if p["meld_type"][m] == 1 else 4
            reds = int(p["meld_red"][m])
            found += [kind] * (n - reds) + [35 if kind == 13 else 36] * reds
        river = p["river"][: p["n_river"]]
        found += (river[(river & RIVER_CALLED) == 0] & RIVER_TILE).tolist()
        found += [30] * int(p["nukidora"])
    drawn_live = 39 + 55 - int(world["live_left"]) - int(world["n_replacements"])
    rest = set(range(drawn_live, WALL_SIZE)) - set(REPLACEMENT_AT[: world["n_replacements"]].tolist())
    return found + world["wall"][sorted(rest)].tolist()


@pytest.mark.slow
def test_worlds_hold_all_tiles_and_what_the_viewer_sees(tables: np.ndarray) -> None:
    views = views_of(tables)
    for view, worlds in zip(views, worlds_of(views)):
        for world in worlds:
            assert sorted(tiles_of(world)) == sorted(FULL_SET.tolist())
            assert world["viewer"] == view["viewer"]
            own = view["viewer"]
            assert np.array_equal(world["seat"][own]["hand"], view["seat"][own]["hand"])
            assert np.array_equal(world["legal"][own], view["legal"][own])
            for seat in range(N_SEATS):
                hand = world["seat"][seat]["hand"].sum() + 3 * world["seat"][seat]["n_melds"]
                assert hand == 14 if seat == own and world["turn"] == own and world["phase"] < 3 else 13


def test_worlds_depend_on_the_view_and_the_seed_alone(tables: np.ndarray) -> None:
    """Another wall, other hidden hands, the same view."""
    views = views_of(tables)
    others = views_of(worlds_of(views)[:, -1].copy())
    assert np.array_equal(worlds_of(views), worlds_of(others))
    assert not np.array_equal(worlds_of(views)["wall"], worlds_of(views, 2)["wall"])


def test_walls_are_in_another_order_in_each_world(tables: np.ndarray) -> None:
    """Also from world to world of a view; the first live tile is one of 37, so it is rarely the same twice."""
    worlds = worlds_of(views_of(tables))["wall"][:, :, URA_AT]
    same = np.mean(worlds[:, 1:] == worlds[:, :-1])
    assert same < 0.06


@pytest.mark.slow
def test_a_dropped_candidate_keeps_its_value() -> None:
    """What `rule` holds to be far behind is behind in the worlds too, whether it is tried to the end or dropped."""
    views = views_of_games(2)
    short, priors = make("search:n=300&bot=rule&margin=0.1&trust=1&prior=1", 5), make("rule")
    assert isinstance(short, ActionValues)
    assert isinstance(priors, ActionValues)
    values, prior = short.action_values(views), priors.action_values(views)
    far = np.isfinite(values) & (prior < prior.max(axis=1, keepdims=True) - 0.06)
    assert far.sum() > 10
    assert (values[far] < -0.01).mean() > 0.9


def played_out(views: np.ndarray) -> np.ndarray:
    """The views in which playouts compare the candidates of `residual`: a riichi, a call or a kan, or after one."""
    bot = make("residual")
    assert isinstance(bot, ActionValues)
    values, (row, viewer) = bot.action_values(views), (np.arange(len(views)), views["viewer"])
    close = values > values.max(axis=1, keepdims=True) - MARGIN
    north = views["legal"][row, viewer, NUKIDORA // 64] >> np.uint64(NUKIDORA % 64) & np.uint64(1)
    special = close[:, TSUMOGIRI + 1 :].any(axis=1) | (views["phase"] == RIICHI_DISCARD)
    return views[(close.sum(axis=1) > 1) & special & (north == 0)]


@pytest.mark.slow
def test_trust_is_the_part_of_the_way_from_the_prior_to_what_the_worlds_say() -> None:
    views, residual = played_out(views_of_games(8)), make("residual")
    assert isinstance(residual, ActionValues)
    found = [residual.action_values(views)]
    for options in ("trust=1e-9&prior=20", "trust=0.5&prior=20", "trust=1&prior=20", "trust=1&prior=60"):
        bot = make(f"search:n=20&margin={MARGIN}&{options}", 5)  # so few worlds that no candidate is dropped
        assert isinstance(bot, ActionValues)
        found.append(bot.action_values(views))
    tried, row, best = np.isfinite(found[1]), np.arange(len(views)), found[1].argmax(axis=1)
    assert (tried.sum(axis=1) > 1).sum() > 30
    prior, untrusted, half, whole, heavier = ((values - values[row, best][:, None])[tried] for values in found)
    assert untrusted == pytest.approx(prior, abs=1e-5)
    assert half == pytest.approx((prior + whole) / 2, abs=1e-5)
    assert heavier == pytest.approx((prior + whole) / 2, abs=1e-5)  # 20 / (20 + 60) of the way, not half
    assert np.abs(whole - prior).max() > 0.01


def test_without_trust_playouts_end_at_once() -> None:
    bot = make(f"search:n=200&margin={MARGIN}&trust=1e-9", 5)
    assert isinstance(bot, Annotating)
    worlds = []
    for view in played_out(views_of_games(4)):
        bot.act(np.array([view]))
        worlds.append(bot.annotate()["worlds"])
    assert set(worlds) <= {DROP_EVERY, 200}  # 200: two priors are equal
    assert worlds.count(DROP_EVERY) > 10 * worlds.count(200)


def test_a_seat_that_has_just_declared_riichi_is_tenpai(tables: np.ndarray) -> None:
    views = views_of(tables)
    pending = (views["riichi_pending"] > 0) & (views["phase"] == RESPONSE)
    assert pending.sum() >= 3
    worlds, turn = worlds_of(views[pending]), views["turn"][pending].astype(int)
    waits = worlds["seat"]["waits"][np.arange(len(turn)), :, turn]
    assert (waits != 0).mean() > 0.9


def test_hands_in_riichi_are_tenpai_and_wait_for_nothing_that_has_passed(tables: np.ndarray) -> None:
    views = views_of(tables)
    found = worlds_of(views)
    tenpai = []
    for view, worlds in zip(views, found):
        for step in (1, 2):
            seat = (int(view["viewer"]) + step) % 3
            if view["seat"][seat]["riichi"]:
                waits, discarded = worlds["seat"]["waits"][:, seat], view["seat"][seat]["discarded"]
                tenpai += ((waits != 0) & (waits & discarded == 0)).tolist()
    assert len(tenpai) > 100
    assert np.mean(tenpai) > 0.9


def test_the_true_hands_are_likelier_than_chance(tables: np.ndarray) -> None:
    """Worlds hold more of the tiles that opponents hold than worlds in which all hands are alike."""
    views = views_of(tables)
    others = np.array([[(v + 1) % 3, (v + 2) % 3] for v in tables["viewer"].tolist()])
    true = np.take_along_axis(tables["seat"]["hand"], others[:, :, None], axis=1)[:, None]

    def shared(worlds: np.ndarray) -> float:
        hands = np.take_along_axis(worlds["seat"]["hand"], others[:, None, :, None], axis=2)
        return float(np.minimum(hands, true).sum(axis=(2, 3)).mean())

    model = load_model(BUNDLED)
    alike = np.zeros(len(views) * WORLDS, dtype=TABLE)
    sampler = np.zeros(SAMPLER.itemsize, dtype=np.uint8)
    lay_worlds(raw_bytes(views), np.uint64(1), NEUTRAL.tiles, NEUTRAL.shantens, sampler, raw_bytes(alike))
    assert np.any(model.tiles)
    assert shared(worlds_of(views)) > shared(alike.reshape(-1, WORLDS)) + 0.5


@pytest.mark.slow
def test_the_fit_gives_worlds_the_shanten_of_true_hands(tmp_path: Path) -> None:
    divergences = [text for text, _ in fit(("rule", "rule", "rule"), 12, 1) if "divergence" in text]
    first, *_, last = (float(text.split()[-2]) for text in divergences)
    assert last < first / 5
    assert main(["fit", str(tmp_path / "model.npz"), "--games", "6"]) == 0
    assert np.isfinite(load_model(tmp_path / "model.npz").tiles).all()
    assert make(f"search:model={tmp_path / 'model.npz'}").name.startswith("search:model=")


def test_a_model_of_another_shape_is_refused(tmp_path: Path) -> None:
    save_model(tmp_path / "model.npz", NEUTRAL._replace(tiles=np.zeros(3)))
    with pytest.raises(ValueError, match=r"model\.npz"):
        load_model(tmp_path / "model.npz")


@pytest.mark.slow
def test_it_plays_the_highest_value() -> None:
    views, bot = views_of_games(1)[::4], make(f"search:n=40&margin={MARGIN}", 5)
    assert isinstance(bot, ActionValues)
    values = bot.action_values(views)
    assert bot.act(views).tolist() == values.argmax(axis=1).tolist()
    assert (values.max(axis=1) == 0).all()


def test_it_tells_what_it_tried() -> None:
    views = views_of_games(1)
    bot = make(f"search:n=30&bot=rule&margin={MARGIN}", 5)
    assert isinstance(bot, Annotating)
    searched = 0
    for view in views[::5]:
        action = bot.act(np.array([view]))[0]
        told = bot.annotate()
        assert list(told) == ["worlds", "values"]
        assert next(iter(told["values"].values())) == 0
        assert 0 <= told["worlds"] <= 50
        searched += told["worlds"] > 0
        assert action >= 0
    assert searched > 5


def test_norths_and_quiet_hands_far_from_tenpai_are_left_to_the_prior() -> None:
    views, bot, prior = views_of_games(2), make(f"search:n=2&margin={MARGIN}", 5), make("residual")
    assert isinstance(bot, Annotating)
    row, viewer = np.arange(len(views)), views["viewer"]
    legal = views["legal"][row, viewer]
    north = (legal[:, NUKIDORA // 64] >> np.uint64(NUKIDORA % 64) & np.uint64(1)).astype(bool)
    riichi = (views["seat"]["riichi"] > 0).any(axis=1) | (views["riichi_pending"] > 0)
    shanten = views["seat"]["shanten"][row, viewer]  # before the draw, which may lower it by one
    far, near = ~north & ~riichi & (shanten >= 3), ~north & (riichi | (shanten <= 1))
    worlds, discards = [], []
    for view in views:
        bot.act(np.array([view]))
        told = bot.annotate()
        worlds.append(told["worlds"] if len(told["values"]) > 1 else -1)
        discards.append(all(name.startswith(("discard", "tsumogiri")) for name in told["values"]))
    tried, only_discards = np.array(worlds), np.array(discards)
    left = (north | (far & only_discards)) & (tried >= 0)
    searched = (near | (~north & ~only_discards)) & (tried >= 0)
    assert min(north[left].sum(), far[left].sum(), near[searched].sum(), (~only_discards)[searched].sum()) > 5
    assert (tried[left] == 0).all()
    assert (tried[searched] == 2).all()
    assert bot.act(views[left]).tolist() == prior.act(views[left]).tolist()


@pytest.mark.long
def test_time_is_kept() -> None:
    bot, searched = make(f"search:ms=30&margin={MARGIN}"), []
    assert isinstance(bot, Annotating)
    for view in views_of_games(1):
        bot.act(np.array([view]))
        if bot.annotate()["worlds"]:
            searched.append(view)
    assert len(searched) > 20
    began = perf_counter()
    bot.act(np.array(searched))
    assert 0.01 < (perf_counter() - began) / len(searched) < 0.045


@pytest.mark.long
def test_its_choices_do_not_lose_when_the_hidden_hands_are_known(tables: np.ndarray) -> None:
    """Where it changes the choice of `linear`, playouts with the true hands do not say that it loses."""
    views, search = views_of(tables), make(f"search:n=100&bot=linear&margin={MARGIN}", 3)
    theirs, ours = make("linear").act(views), search.act(views)
    changed = np.flatnonzero(theirs != ours)
    assert 0.05 < len(changed) / len(views) < 0.6
    walls = np.random.default_rng(1).integers(1 << 63, size=(len(changed), 40), dtype=np.uint64)
    seats, judge = tables["viewer"][changed].astype(np.int8), Playouts("linear")
    values = [judge.try_actions(tables, changed, seats, actions[changed], walls) for actions in (ours, theirs)]
    gains = (values[0] - values[1]).mean(axis=1)
    assert gains.mean() > -2 * gains.std() / np.sqrt(len(changed))
