"""The scripts of experiments/ import names that exist; some run, on little data."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("torch", reason="most of them need nukidora[train]")

from agents.ensemble.bot import EXPERT
from agents.registry import make
from tests.support.views import views_of_games

FOLDER = Path(__file__).parents[1] / "experiments"
RECORDS = Path(__file__).parent / "data" / "records"
SCRIPTS = sorted(FOLDER.glob("*.py"))


class Trial(NamedTuple):
    """How a script runs on little data."""

    said: str  # a part of what it prints
    constants: dict[str, Any]
    argv: str = ""
    given: tuple[Any, ...] = ()  # to `main`


TRIALS = {
    "action_critic": Trial("of the rounds that the critic learned from", {"TABLES": 8, "WARM_UP": 1}, "2 3"),
    "action_critic_training": Trial(" choices", {"TABLES": 8}, given=(Path("folder"), 0.02, 2)),
    "augmentation": Trial("2: never, 0: always", {}, given=(1,)),
    "critic_playouts": Trial("the view and a playout", {"N_TABLES": 2, "ROUNDS": 2, "HELD_OUT": 1, "BATCH": 16}),
    "dormant_units": Trial("second", {"TABLES": 4, "ROUNDS": 1}),
    "playout_targets": Trial(
        "learning rate 0.004: ",
        {"TABLES": 2, "WIDTH": 8, "HIDDEN": 8, "usable_cores": lambda: 1},
        "networks rule 0.001",
    ),
    "search_calibration": Trial(
        "What `search` compares",
        {"GAMES": 4, "SHARE": 0.07, "WORLDS": 2, "JUDGED": 2, "WALLS": 1, "ProcessPoolExecutor": ThreadPoolExecutor},
        "1",
    ),
    "search_critic": Trial("learned from", {"TABLES": 4, "JUDGED": 1, "WORLDS": 2, "WARM_UP": 0}, "1"),
}
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a script; they import each other."""
    monkeypatch.syspath_prepend(FOLDER)
    return import_module


@pytest.mark.parametrize("path", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_all_that_a_script_imports_exists(path: Path, script: Callable[[str], ModuleType]) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = script(node.module)
            missing = [each.name for each in node.names if not hasattr(module, each.name)]
            assert [name for name in missing if find_spec(f"{node.module}.{name}") is None] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIALS)
def test_a_script_runs(
    name: str,
    script: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    trial, module = TRIALS[name], script(name)
    for constant, value in trial.constants.items():
        monkeypatch.setattr(module, constant, value)
    monkeypatch.setattr(sys, "argv", [name, *trial.argv.split()])
    monkeypatch.chdir(tmp_path)
    module.main(*trial.given)
    assert trial.said in capsys.readouterr().out


@pytest.mark.parametrize("name", ["mean_of_networks", "mean_of_weights"])
def test_a_mean_of_equal_networks_plays_like_them(
    name: str, tmp_path: Path, script: Callable[[str], ModuleType]
) -> None:
    script(name).main(tmp_path / "network.npz", EXPERT, EXPERT)
    mean, one, views = make(f"residual:{tmp_path}"), make(f"residual:{EXPERT}"), views_of_games(1)
    np.testing.assert_allclose(mean.action_values(views), one.action_values(views), atol=1e-4)


def test_people_are_compared_by_their_ratings(
    tmp_path: Path, script: Callable[[str], ModuleType], capsys: pytest.CaptureFixture[str]
) -> None:
    record, unknown = (RECORDS / "phoenix_2014_1.xml").read_text(encoding="utf-8"), ",".join(4 * ["1500.00"])
    assert unknown in record
    for ratings in ("2000.00,2100.00,2200.00,1500.00", "2300.00,2000.00,2050.00,1500.00"):
        name = f"{ratings[:4]}.xml"
        (tmp_path / name).write_text(record.replace(unknown, ratings), encoding="utf-8")
    script("people_by_rating").main([str(tmp_path)])
    games, _, *rows, slope = capsys.readouterr().out.splitlines()
    assert games == "2 games, mean rating 2108"
    assert [row.split(", ")[:2] for row in rows[:2]] == [["2000", "6"], ["2050", "4"]]
    assert slope.startswith("a rating 100 above the mean of both opponents: placement changed by ")


def test_places_of_one_game_are_no_independent_observations(
    script: Callable[[str], ModuleType], capsys: pytest.CaptureFixture[str]
) -> None:
    places = np.random.default_rng(0).permuted(np.tile([1.0, 2.0, 3.0], (400, 1)), axis=1)
    script("people_by_rating").report(np.tile([2000.0, 2000.0, 2049.0], (400, 1)), places)
    row = capsys.readouterr().out.splitlines()[2]
    assert row.startswith("2000, 1,200, 2.000 ± ")
    assert float(row.rsplit(" ")[-1]) < 0.02  # 0.046 if the seats were independent


def test_noise_of_the_worlds_does_not_flatten_the_slope(script: Callable[[str], ModuleType]) -> None:
    random, n = np.random.default_rng(0), 20_000
    prior, signal = random.normal(size=(2, n))
    chains = signal + random.normal(size=(2, n))  # by least squares the slope would be half as steep
    judge = 0.3 * prior + 0.8 * signal + random.normal(size=n)
    told = script("search_calibration").slopes(judge, prior, chains, np.arange(n) // 10)
    values = [float(value) for value in re.findall(r"-?\d\.\d\d", told)]
    assert values[::2] == pytest.approx([0.3, 0.8], abs=0.04)
    assert max(values[1::2]) < 0.04


def test_noise_of_the_gradients_does_not_change_their_angles(script: Callable[[str], ModuleType]) -> None:
    module, random = script("action_critic"), np.random.default_rng(0)
    first, other = np.eye(100)[:2]
    means = np.stack([first, first, 0.6 * first + 0.8 * other])
    blocks = means + random.normal(size=(400, *means.shape))
    blocks[:, 1] = blocks[:, 0]  # both judges see the same games
    found = module.angles(blocks, means[:1])
    assert found.cosines[2] == pytest.approx([0.6, 0.6], abs=0.05)
    assert found.cosines[3] == pytest.approx([1.0, 1.0], abs=0.05)
    halves = [random.permutation(400).reshape(2, 200) for _ in range(50)]
    unit = [[v / np.linalg.norm(v) for v in blocks[half, 2].mean(axis=1)] for half in halves]
    assert found.halves[2] == pytest.approx(np.mean([one @ two for one, two in unit]), abs=0.03)


def test_choices_of_people_are_those_of_the_records_named(
    tmp_path: Path, script: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, records = script("distillation"), sorted(RECORDS.glob("phoenix_202*.json"))[:3]
    of_people = script("distil_ensemble").of_people
    monkeypatch.setattr(module, "GAMES_AT_ONCE", 1)

    def collect(records: list[Path]) -> list[Path]:
        found: list[Path] = module.collect_people(tmp_path, records, of_people)
        return found

    few = tmp_path / "few"
    few.mkdir()
    with pytest.raises(ValueError, match=r"RECORDS: at most \d+ games, which would all be held out"):
        script("distil_ensemble").distil(few, 2, records[:1])
    assert collect([]) == []
    keep, kept = module.keep, list[Path]()

    def interrupted(path: Path, parts: list[Any]) -> None:
        if kept:
            raise KeyboardInterrupt
        kept.append(path)
        keep(path, parts)

    monkeypatch.setattr(module, "keep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        collect(records[:2])
    monkeypatch.setattr(module, "keep", keep)
    for others in ([], records[1:]):
        with pytest.raises(ValueError, match=r"choices from other RECORDS, .*people\.txt says which"):
            collect(others)
    assert [path.name for path in collect(records[:2])] == [
        "people-000000.npz",
        "people-000001.npz",
    ]
    monkeypatch.setattr(module, "keep", interrupted)  # all are there
    assert len(collect(records[:2])) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["distil_ensemble", "distil_human"])
def test_a_distillation_goes_on_from_its_choices_and_ends_in_a_bot(
    name: str,
    script: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shared, module = script("distillation"), script(name)
    for constant in ("WALLS_AT_ONCE", "GAMES_AT_ONCE"):
        monkeypatch.setattr(shared, constant, 1)
    monkeypatch.setattr(module, "EPOCHS", 1)
    records = sorted(RECORDS.glob("phoenix_202*.json"))[:2]
    module.distil(tmp_path, 2, records)
    weights = (tmp_path / "network.npz").read_bytes()
    assert [path.stem for path in sorted(tmp_path.glob("*-*.npz"))] == [
        "people-000000",
        "people-000001",
        "walls-000000-1",
        "walls-000001-1",
    ]
    divergences = [float(text) for text in re.findall(r"divergence (\S+),", capsys.readouterr().out)]
    assert len(divergences) == 2
    assert divergences[1] < divergences[0]  # from the start to the end of the epoch
    views = views_of_games(1)
    assert make(f"residual:{tmp_path}").act(views).shape == (len(views),)
    monkeypatch.setattr(shared, "keep", None)  # nothing is played or read again
    module.distil(tmp_path, 2, records)
    assert (tmp_path / "network.npz").read_bytes() == weights


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("distil_human", "new 101", "RECORDS: give files, archives or folders with games of people"),
        ("distil_human", "other 101 records", "other has the choices of distil_ensemble.py; take another folder"),
        ("distil_human", "new 100 nowhere", "WALLS: 100 is less than 101"),
        ("distil_human", "new 101 nowhere", "nowhere: no such file or folder"),
        ("distil_ensemble", "new 100", "WALLS: 100 is less than 101"),
        ("people_by_rating", "nowhere", "nowhere: no such file or folder"),
        ("people_by_rating", ".", "no game with ratings in .; Tenhou's own have them (mjlog, JSON)"),
    ],
)
def test_a_wrong_argument_of_a_script_is_one_line(
    name: str,
    arguments: str,
    said: str,
    script: Callable[[str], ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    script("distillation").claim(Path("other"), "distil_ensemble")
    with pytest.raises(SystemExit):
        script(name).main(arguments.split())
    assert capsys.readouterr().err.endswith(f"experiments/{name}.py: {said}\n")
