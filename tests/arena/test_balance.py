"""python -m arena balance: the dials of three bots are turned until they place alike."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from rich.console import Console

from agents.strength import scale as scales
from agents.strength.dial import Setting
from agents.strength.scale import Scale, Step, write_scale
from arena import balancing
from arena.balancing import LOOKS, Balance, CannotBalanceError, Dials, Look, look_at, one_argument
from arena.bot_games import BotGames
from arena.cli import main
from arena.series import Series
from engine.common.program import OK
from engine.contests.estimates import Estimate
from tests.support.fake_server import PATIENCE
from tests.support.loopback import free_url, play_without_end

pytestmark = pytest.mark.usefixtures("one_process")


@pytest.fixture(autouse=True)
def _scales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scales of the rule and the efficiency bot, roughly those that are shipped."""
    monkeypatch.setattr(scales, "SHIPPED", tmp_path / "scales")
    steps = [(0.0, 0.0, 0.0), (-400.0, 0.033, 0.0), (-750.0, 0.18, 0.0), (-900.0, 0.18, 1.0)]
    write_scale(Scale("rule", 9, tuple(Step(points, 1.0, Setting(t, p)) for points, t, p in steps)))
    write_scale(Scale("efficiency", 9, (Step(0.0, 0.0, Setting(0, 0)), Step(-720.0, 1.0, Setting(0.0, 1.0)))))


def look(*shares: float, interval: float = 0.02) -> Look:
    return Look(("a", "b", "c"), 1002, tuple(Estimate(share, interval) for share in shares), (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("games", "even", "uneven"),
    [(1000, 0.599, 0.601), (2000, 0.579, 0.581), (4000, 0.559, 0.561), (8000, 0.519, 0.521)],
)
def test_the_more_games_the_smaller_a_difference_is_corrected(games: int, even: float, uneven: float) -> None:
    limit = dict(LOOKS)[games]
    for share in (even, 1 - even):
        assert not look(0.5, 0.5, share).is_uneven(limit)
    for share in (uneven, 1 - uneven):
        assert look(0.5, 0.5, share).is_uneven(limit)


def test_half_of_the_surplus_is_taken_and_the_weakest_stays_at_full_strength() -> None:
    dials = Dials(("rule", "efficiency", "random"))
    dials.correct((200.0, 100.0, 0.0))
    assert dials.specs == ("rule@-100", "efficiency@-50", "random")


def test_dials_are_raised_until_one_is_at_full_strength() -> None:
    dials = Dials(("rule@-100", "efficiency@-60", "efficiency@-80"))
    dials.correct((0.0, 40.0, 20.0))
    assert dials.specs == ("rule@-20", "efficiency", "efficiency@-10")


def test_games_beyond_those_looked_at_change_nothing() -> None:
    """A resumed search may have finished more: the next step must be that of a search that was not interrupted."""
    first, more = np.tile([1, 2, 3], (4, 3, 1)), np.tile([3, 1, 2], (9, 3, 1))
    placements = np.concatenate([first, more])  # [wall, rotation, bot]

    def played(n_walls: int) -> list[BotGames]:
        return [
            BotGames(bot, np.zeros((n_walls, 3, 1)), placements[:n_walls, :, index], np.zeros((n_walls, 3)))
            for index, bot in enumerate("abc")
        ]

    assert look_at(("a", "b", "c"), played(13), 12) == look_at(("a", "b", "c"), played(4), 12)


def test_what_cannot_be_balanced_is_said() -> None:
    dials = Dials(("efficiency", "rule", "exec:true"))
    with pytest.raises(CannotBalanceError, match="an external bot has no dial"):
        dials.correct((0.0, 0.0, 50.0))
    dials = Dials(("efficiency@-720", "tsumogiri", "tsumogiri"))
    with pytest.raises(CannotBalanceError, match="efficiency@-720 is still ahead"):
        dials.correct((100.0, 0.0, 0.0))
    with pytest.raises(CannotBalanceError, match="ratings are even to a point, but not every pair is"):
        Dials(("rule", "rule", "rule")).correct((0.4, 0.3, 0.0))
    with pytest.raises(ValueError, match=r"tsumogiri has no scale.*calibrate tsumogiri"):
        Dials(("tsumogiri", "rule", "rule")).correct((100.0, 0.0, 0.0))


def test_bots_that_cannot_be_weakened_are_named_before_anything_is_played(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(balancing, "LOOKS", ((3, 1.1),))
    monkeypatch.setattr(Series, "play", lambda *_: pytest.fail("it plays"))
    with pytest.raises(pytest.fail.Exception, match="it plays"):
        main(["balance", "--bots", "rule,tsumogiri,tsumogiri", "--length", "east"])
    told = (
        "arena balance: tsumogiri has no scale of strength yet; to measure one: python -m arena calibrate tsumogiri;"
        " without one, it has to be the weakest\n"
    )
    assert capsys.readouterr().err == told
    (line,) = Dials(("rule@-20", "efficiency", "exec:true")).fixed()
    assert line == "exec:true is an external bot, which has no dial: it has to be the weakest"


def test_the_argument_is_quoted() -> None:
    assert one_argument(("rule@-20", "random", "bert")) == "rule@-20,random,bert"
    assert one_argument(("a.py:B:x,y", "rule", "exec:python bot.py")) == "'\"a.py:B:x,y\",rule,exec:python bot.py'"


def test_a_bot_that_connects_stays_for_all_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(balancing, "LOOKS", ((3, 1.1), (6, 1.1)))
    monkeypatch.setattr(balancing, "workers_for", lambda options, bots: 0)
    url = free_url()
    options = Namespace(bots=[url, "random", "random"], json=None, seed=1, rules="tenhou", length="east")
    looks: list[str] = []
    arena = Thread(target=lambda: looks.extend(Balance(options).run(Console(quiet=True))), daemon=True)
    arena.start()
    assert play_without_end("tsumogiri", url) == OK
    assert "\nplayed 6 games as tsumogiri: " in capsys.readouterr().out
    arena.join(PATIENCE)
    assert len(looks) == 2


@pytest.mark.slow
def test_a_strong_bot_is_made_even(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two efficiency bots and a rule bot, with fewer games."""
    monkeypatch.setattr(balancing, "LOOKS", ((60, 0.6), (240, None)))
    file = tmp_path / "balance.json"
    command = ["balance", "--bots", "rule,efficiency,efficiency", "--length", "east", "--json", str(file)]
    assert main(command) == 0
    told = capsys.readouterr().out.splitlines()
    assert any(line.startswith("corrected: rule@-") for line in told)
    document = json.loads(file.read_text())
    assert told[-1] == f"even: python -m arena --bots {','.join(document['bots'])}"
    assert [look["games"] for look in document["looks"]][-1] == 240
    assert sorted(path.name for path in tmp_path.iterdir()) == ["balance.json", "scales"]
    with pytest.raises(SystemExit) as ended:
        main(command)
    assert ended.value.code == 2
    assert str(file) in capsys.readouterr().err
