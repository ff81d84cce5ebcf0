"""python -m arena calibrate: the scale of a strength dial, measured, stored and checked."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from agents import registry
from agents.strength.dial import Setting
from agents.strength.scale import Scale as StrengthScale
from agents.strength.scale import Step, read_scale, write_scale
from arena import calibration
from arena.calibrate import CHECK_EVERY
from arena.calibrating import Calibration, Check, strengths_to_check
from arena.calibration import FULL, SHARES_ALONE, Measurement, hottest, make_scale, settings_of, triples
from arena.cli import main
from arena.series import Series
from engine.actions import N_ACTIONS, actions_of
from engine.contests.ratings import Ratings
from tests.conftest import Scale

pytestmark = pytest.mark.usefixtures("one_process")
BOT = """
from agents.registry import make

def eager(seed):
    return make("rule", seed)

def plain(seed):
    return make("efficiency", seed)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose name would be taken for markup."""
    folder = tmp_path / "[a]"
    folder.mkdir()
    return folder


@pytest.fixture
def bot(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bot in a file, which is calibrated beside it, with neighbours alone: few matches."""
    monkeypatch.setattr(calibration, "STRIDES", (1,))
    (folder / "my_bot.py").write_text(BOT)
    return f"{folder}/my_bot.py:eager"


def ratings_of(*points: float) -> Ratings:
    return Ratings(np.array(points), np.eye(len(points)), np.zeros((len(points), len(points))), 100)


def settings(n: int) -> list[Setting]:
    return [FULL, *(Setting(0.1 * k, 0.0) for k in range(1, n - 1)), Setting(0.1 * n, 1.0)]


def test_bots_with_values_have_temperatures_first_and_others_shares_alone() -> None:
    with_values, without = settings_of(registry.make("rule")), settings_of(registry.make("efficiency"))
    assert with_values[0] == without[0] == FULL
    assert with_values[-1].share == without[-1].share == 1
    assert [setting.share for setting in without[1:]] == list(SHARES_ALONE)
    assert {setting.temperature for setting in without} == {0.0}
    turned = [(setting.share, setting.temperature) for setting in with_values]
    assert turned == sorted(turned)
    assert 0.01 < with_values[-1].temperature < 1  # placements


def test_the_hottest_temperature_has_the_unit_of_the_values() -> None:
    values = np.random.default_rng(1).normal(size=(200, 10))
    values[:, 7:] = -np.inf
    assert hottest(1000 * values) == pytest.approx(1000 * hottest(values), rel=1e-6)
    chances = np.exp(values / hottest(values))
    leaves = 1 - (chances.max(axis=1) / chances.sum(axis=1)).mean()
    assert leaves == pytest.approx(0.95 * 6 / 7, rel=1e-6)
    with pytest.raises(ValueError, match="never differ"):
        hottest(np.zeros((5, 4)))


def test_matches_connect_all_settings_near_and_far() -> None:
    played = triples(16)
    assert set(np.ravel(played).tolist()) == set(range(16))
    assert {(b - a, c - b) for a, b, c in played} == {(1, 1), (2, 2), (4, 4)}
    assert triples(3) == [(0, 1, 2)]


def test_a_scale_falls_from_step_to_step() -> None:
    scale = make_scale("x", settings(6), ratings_of(500, 420, 430, 419.5, 200, -100), 99)
    assert [step.points for step in scale.steps] == pytest.approx([0, -80, -300, -600])
    end = make_scale("x", settings(5), ratings_of(500, 420, 100, 90, 110), 99)
    assert [(round(step.points), step.setting.share) for step in end.steps] == [(0, 0), (-80, 0), (-390, 1)]
    with pytest.raises(ValueError, match="not stronger than random"):
        make_scale("x", settings(3), ratings_of(0, -5, 3), 99)


def test_checked_strengths() -> None:
    assert strengths_to_check(-450, CHECK_EVERY) == [0, -100, -200, -300, -400]
    assert strengths_to_check(-80, CHECK_EVERY) == [0, -20, -40, -60, -80]
    assert strengths_to_check(-3, CHECK_EVERY) == [0, -1, -2, -3]
    with pytest.raises(ValueError, match="ends at -1: too short to be checked"):
        strengths_to_check(-1, CHECK_EVERY)


def test_a_bot_that_cannot_be_dialled_leaves_no_games(
    bot: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "SHARES_ALONE", (0.5, 1.0))
    monkeypatch.setattr(Measurement, "rate", lambda self: ratings_of(*[5.0] * len(self.settings)))
    assert main(["calibrate", bot.replace("eager", "plain"), "--games", "24"]) == 1
    assert "my_bot.py:plain" in capsys.readouterr().err
    assert not list(folder.glob("*.games"))


def test_a_scale_is_checked_on_other_walls(bot: str) -> None:
    write_scale(StrengthScale(bot, 9, (Step(0.0, 0.0, FULL), Step(-700.0, 1.0, Setting(0.0, 1.0)))))
    options = Namespace(bot=bot, games=36, seed=5, plot=None, check=CHECK_EVERY, cluster=None)
    measured, checked = Calibration(options).measurement.series, Check(options).measurement.series
    assert not {match.seed for match in measured.matches} & {match.seed for match in checked.matches}


def test_a_bot_that_cannot_be_made_again_keeps_its_games(
    bot: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "SHARES_ALONE", (0.5, 1.0))

    def play(series: Series, console: Console) -> None:
        raise ValueError("no room")

    monkeypatch.setattr(Series, "play", play)
    assert main(["calibrate", bot.replace("eager", "plain"), "--games", "24"]) == 1
    assert "no room" in capsys.readouterr().err
    assert list(folder.glob("*.games"))


def test_values_of_any_unit_have_different_settings() -> None:
    class Tiny:
        """Values actions by their numbers, in a very small unit."""

        name = "tiny"

        def act(self, views: np.ndarray) -> np.ndarray:
            return self.action_values(views).argmax(axis=1)

        def action_values(self, views: np.ndarray) -> np.ndarray:
            values = np.full((len(views), N_ACTIONS), -np.inf, dtype=np.float32)
            for row, view in zip(values, views):
                row[actions_of(*view["legal"][view["viewer"]].tolist())] = 0
            return values + np.arange(N_ACTIONS, dtype=np.float32) * np.float32(1e-9)

    assert len(set(settings_of(Tiny()))) == len(settings_of(registry.make("rule")))


def test_a_bot_whose_values_fail_is_one_line() -> None:
    class Broken:
        """Has no values."""

        name = "broken"

        def act(self, views: np.ndarray) -> np.ndarray:
            return registry.make("tsumogiri").act(views)

        def action_values(self, views: np.ndarray) -> np.ndarray:
            raise RuntimeError("no weights")

    with pytest.raises(ValueError, match=r"test_calibrate\.py, line \d+: RuntimeError: no weights$"):
        settings_of(Broken())


@pytest.mark.slow
def test_a_scale_is_measured_stored_and_checked(
    bot: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["calibrate", bot, "--games", "36"]) == 0
    out = capsys.readouterr().out
    assert f"{bot}:settingsofthedial" in "".join(out.split())
    told = " ".join(out.split())
    path = folder / "my_bot.eager.strength.json"
    assert f"36 games; the weakest is {bot}@{read_scale(bot).lowest}; scale in {path}" in told
    assert sorted(file.name for file in folder.iterdir() if file.name != "__pycache__") == [
        "my_bot.eager.strength.json",
        "my_bot.py",
    ]
    scale = read_scale(bot)
    assert -2000 < scale.lowest < -300
    assert registry.make(f"{bot}@-300").name == "rule@-300"
    plot = folder / "new" / "plot.svg"
    assert main(["calibrate", bot, "--games", "20", "--check", "--plot", str(plot)]) == 0
    out = capsys.readouterr().out
    assert f"{bot}:askedforandmeasured" in "".join(out.split())
    told = " ".join(out.split())
    assert f"{bot}@{strengths_to_check(scale.lowest, CHECK_EVERY)[1]}" in told
    assert "strengths are within 40 points" in told
    assert plot.read_text().startswith("<svg")
    assert plot.read_text().count("<circle") == len(strengths_to_check(scale.lowest, CHECK_EVERY))
    assert not list(folder.glob("*.check"))


@pytest.mark.long
def test_a_strength_is_what_it_says(scale: Scale) -> None:
    """The shipped scale of the rule bot, on walls that it has not been made of: 300 points are 300, within 60.

    The interval of 5,000 games is about 55 points wide to each side, so a dial that is 120 points off fails; that of
    1,000 games is about 120 points wide.
    """
    games, tolerance = {"quick": (1000, 130), "long": (5000, 60)}[scale]
    shipped = read_scale("rule")
    strengths = (0, -150, -300, -450, -600)
    measurement = Measurement("rule", [shipped.setting(points) for points in strengths], games, 77, jobs=0)
    measurement.series.play(Console(stderr=True))
    ratings = measurement.rate()
    for number, points in enumerate(strengths):
        assert ratings.difference(number, 0).mean == pytest.approx(points, abs=tolerance)
