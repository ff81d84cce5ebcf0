"""The features of positions and actions, where they can be said in other words, and the bot's interface."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents import registry
from agents.rl.bot import NetworkBot
from agents.rl.policy import NAMES, load_weights, random_weights, save_weights
from agents.rl.rows import encode
from agents.selfplay.bot import BUNDLED
from agents.selfplay.features import FEATURES, TYPE_OF
from agents.selfplay.layout import ACTION, ACTION_SUITS, CLASS_OF, HAND, N_TYPES, STATE, STATE_SUITS, TILE, VALUE_CLASS
from engine.actions import KYUSHU_KYUHAI, NUKIDORA, TSUMOGIRI, actions_of
from engine.shanten import shanten_of
from engine.tiles import KIND_OF, N_SANMA, SANMA_KINDS
from tests.support.scenario import Scenario
from tests.support.scripted_positions import view_of
from tests.support.swapped_suits import unswapped
from tests.support.views import views_of_games


@pytest.fixture(scope="module")
def views() -> np.ndarray:
    """Views of games between bots that do well, and between random ones, who call."""
    views = np.concatenate([views_of_games(n, bot, 7) for n, bot in ((2, "efficiency"), (2, "random"), (1, "rule"))])
    several = [len(actions_of(*view["legal"][view["viewer"]].tolist())) > 1 for view in views]
    return views[several]


def encoded(view: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """State, actions and numbers of one view with several actions, with the suits as they are."""
    forced, rows = encode(FEATURES, np.array([view]))
    rows = unswapped(rows, np.array([view]), STATE_SUITS, ACTION_SUITS)
    assert forced.tolist() == [-1]
    assert rows.numbers.tolist() == actions_of(*view["legal"][view["viewer"]].tolist())
    assert not rows.prior_logits.any()
    return rows.states[0], rows.actions, rows.numbers.tolist()


def test_features_are_small_finite_and_say_what_the_view_says(views: np.ndarray) -> None:
    for view in views[::11]:
        state, actions, numbers = encoded(view)
        assert np.isfinite(state).all()
        assert np.isfinite(actions).all()
        assert max(abs(state).max(), abs(actions).max()) < 8
        p = view["seat"][view["viewer"]]
        assert (state[STATE.held : STATE.held + N_SANMA] * 2).tolist() == p["hand"][SANMA_KINDS].tolist()
        for number, row in zip(numbers, actions):
            assert row[:N_TYPES].tolist() == np.eye(N_TYPES)[TYPE_OF[number]].tolist()
            if number <= TSUMOGIRI:
                kind = KIND_OF[view["drawn"] if number == TSUMOGIRI else number]
                hand = p["hand"].copy()
                hand[kind] -= 1
                assert row[ACTION.hand + HAND.shanten] == np.float32(
                    max(shanten_of(hand.tolist(), p["n_melds"]), 0) / 6
                )
                assert row[ACTION.tile + TILE.held] == p["hand"][kind] / 4
                classes = row[ACTION.tile + TILE.kind_class :]
                assert classes[VALUE_CLASS] or classes[CLASS_OF[kind]] == 1


def test_the_bot_plays_the_highest_value_and_draws_with_a_temperature(views: np.ndarray) -> None:
    bot = registry.make("selfplay", 1)
    values = bot.action_values(views)  # type: ignore[attr-defined]
    assert bot.act(views).tolist() == values.argmax(axis=1).tolist()
    warm = registry.make("selfplay:?temperature=2", 1)
    drawn = warm.act(views)
    assert (values[np.arange(len(views)), drawn] > -np.inf).all()
    assert (drawn != bot.act(views)).any()
    assert drawn.tolist() == registry.make("selfplay:?temperature=2", 1).act(views).tolist()
    assert drawn[::3].tolist() == warm.act(views[::3]).tolist()
    assert drawn.tolist() != registry.make("selfplay:?temperature=2", 2).act(views).tolist()


def test_a_folder_or_a_file_of_weights_is_a_bot(tmp_path: Path) -> None:
    weights = load_weights(BUNDLED, FEATURES)
    save_weights(tmp_path / "network.npz", weights)
    for spec in (f"selfplay:{tmp_path}", f"selfplay:{tmp_path / 'network.npz'}?temperature=0"):
        bot = registry.make(spec)
        assert isinstance(bot, NetworkBot)
        assert bot.name == spec


def test_bad_weights_are_one_clear_line(tmp_path: Path) -> None:
    def said(spec: str) -> str:
        with pytest.raises(ValueError, match=r".") as error:
            registry.make(spec)
        assert "\n" not in str(error.value)
        return str(error.value)

    assert "No such file" in said(f"selfplay:{tmp_path}")
    bad = tmp_path / "network.npz"
    bad.write_bytes(b"nothing")
    assert "no NumPy archive" in said(f"selfplay:{tmp_path}")
    with bad.open("wb") as file:
        np.save(file, np.zeros(3))
    assert "no NumPy archive" in said(f"selfplay:{tmp_path}")
    weights = random_weights(FEATURES, 96, 48, 0)
    np.savez_compressed(bad, **weights)
    packed = bad.read_bytes()
    middle = len(packed) // 2
    bad.write_bytes(packed[:middle] + bytes(64) + packed[middle + 64 :])
    assert "no NumPy archive" in said(f"selfplay:{tmp_path}")
    np.savez(bad, **{name: weights[name] for name in NAMES if name != "hidden"})
    assert "lacks 'hidden'" in said(f"selfplay:{tmp_path}")
    np.savez(bad, **{**weights, "hidden": weights["hidden"][:-1]})
    assert "must be float32[96, 48]" in said(f"selfplay:{tmp_path}")
    np.savez(bad, **{**weights, "state": weights["state"][:5]})
    assert "must be float32[140, 96]: made for other features than 'selfplay'" in said(f"selfplay:{tmp_path}")
    np.savez(bad, **{**weights, "hidden": weights["hidden"] * np.nan})
    assert "not finite" in said(f"selfplay:{tmp_path}")


def test_a_wait_for_a_north_is_furiten_if_it_is_discarded_and_not_if_it_is_set_aside() -> None:
    """The hand waits for 9p and north, and is complete without a yaku."""
    scenario = Scenario(["23456799p11s44z1z"], "2z1s3z3z4z").do("2z", "1s", "pon", "1z").quiet(2)
    assert "tsumo" not in scenario.menu(0)
    _, actions, numbers = encoded(view_of(scenario.side.raw, 0)[0])
    aside, discarded = (actions[numbers.index(number)][ACTION.hand : ACTION.tile] for number in (NUKIDORA, TSUMOGIRI))
    assert aside[0] == discarded[0] == 1, "tenpai"
    assert (aside[8], discarded[8]) == (0, 1)


def test_a_hand_that_is_not_left_is_not_compared() -> None:
    view = view_of(Scenario(["19m19p19s123z2356p"], "4p").side.raw, 0)[0]
    _, actions, numbers = encoded(view)
    assert actions[numbers.index(KYUSHU_KYUHAI)][ACTION.hand : ACTION.tile].tolist() == [0] * 14
    assert (actions[:, ACTION.hand + HAND.farther] > 0).any()
