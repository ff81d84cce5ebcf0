"""Training: it learns, resumes to the same weights, and refuses what does not fit."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from agents.linear.cli import main
from agents.linear.commands import agrees, kinds_of
from agents.linear.config import HINGE, SOFTMAX, Config
from agents.linear.data import SelfPlay, collect, concatenate
from agents.linear.features import N_FEATURES, START
from agents.linear.scale import centre, placements_per_point
from agents.linear.training import Split, Trainer, split
from agents.linear.weights import BUNDLED, load_weights
from agents.registry import make
from agents.training.folders import FILES
from engine.actions import DAIMINKAN, KAKAN, NUKIDORA, PASS, PON, PON_RED, RIICHI
from engine.table import TABLE


@pytest.fixture(scope="module")
def parts() -> Split:
    return split(concatenate([choices for choices, _ in collect(SelfPlay(("rule",) * 3, 24, seed=2), None, print)]))


def run(folder: Path, parts: Split, epochs: int | None = None, loss: str = HINGE) -> Trainer:
    """A training of three epochs, stopped after `epochs` of them."""
    trainer = Trainer(Config("data", "digest", "start", loss, epochs=3, batch_size=64), START, parts, folder)
    for _ in trainer.train():
        if trainer.epochs[-1].number == epochs:
            break
    return trainer


def test_the_games_held_out_are_whole(parts: Split) -> None:
    assert set(parts.training.game.tolist()) | set(parts.held_out.game.tolist()) == set(range(24))
    assert not set(parts.training.game.tolist()) & set(parts.held_out.game.tolist())
    with pytest.raises(ValueError, match="1 games: training needs two or more"):
        split(parts.training.select(parts.training.game == 0))


@pytest.mark.parametrize("loss", [HINGE, SOFTMAX])
def test_training_lowers_the_loss_and_raises_the_agreement(tmp_path: Path, parts: Split, loss: str) -> None:
    before, *_, after = run(tmp_path, parts, loss=loss).epochs
    assert after.held_out_loss < before.held_out_loss
    assert after.agreement > before.agreement + 0.1


def test_a_run_goes_on_within_an_epoch(tmp_path: Path, parts: Split) -> None:
    whole = run(tmp_path / "whole", parts)
    done = [0]
    while done[-1] < whole.spent:
        part = Trainer(whole.config, START, parts, tmp_path / "part")
        assert part.spent == done[-1]
        steps = part.train()
        deque(islice(steps, part.steps_an_epoch // 2), maxlen=0)
        steps.close()
        done.append(part.spent)
    assert part.theta.tolist() == whole.theta.tolist()
    assert part.best.tolist() == whole.best.tolist()
    assert part.epochs == whole.epochs


def test_a_checkpoint_of_other_options_or_damaged_is_refused(tmp_path: Path, parts: Split) -> None:
    run(tmp_path, parts, epochs=1)
    changed = r"began with --set margin=1000\.0 \(the default\), not 5\.0; give the same options"
    with pytest.raises(ValueError, match=changed):
        Trainer(Config("data", "digest", "start", margin=5.0, epochs=3, batch_size=64), START, parts, tmp_path)
    with pytest.raises(ValueError, match=r"began with other decisions: the data has changed; give the same"):
        Trainer(Config("data", "changed", "start", epochs=3, batch_size=64), START, parts, tmp_path)
    whole = (tmp_path / "checkpoint.npz").read_bytes()
    (tmp_path / "checkpoint.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"checkpoint\.npz: damaged"):
        run(tmp_path, parts)
    (tmp_path / "checkpoint.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"checkpoint\.npz: damaged"):
        run(tmp_path, parts)


def test_a_checkpoint_from_before_a_setting_existed_is_continued(tmp_path: Path, parts: Split) -> None:
    run(tmp_path, parts, epochs=1)
    path = tmp_path / "checkpoint.npz"
    with np.load(path) as saved:
        arrays = dict(saved)
    config = json.loads(str(arrays["config"]))
    del config["temperature"]
    arrays["config"] = np.array(json.dumps(config))
    np.savez(path, **arrays)
    continued = run(tmp_path, parts, epochs=2)
    with pytest.raises(ValueError, match=r"began with --set temperature=1\.0 \(the default\), not 2\.0"):
        Trainer(replace(continued.config, temperature=2.0), START, parts, tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("config", np.array("[1, 2]")),
        ("theta", np.zeros(3)),
        ("best", np.zeros(3)),
        ("means", np.zeros((1, 3))),
        ("theta", np.array(["no number"] * N_FEATURES)),
        ("epochs", np.zeros((0, 4))),
        ("epochs", np.zeros((1, 3))),
    ],
)
def test_a_checkpoint_whose_arrays_do_not_fit_is_refused(
    name: str, value: np.ndarray, tmp_path: Path, parts: Split
) -> None:
    run(tmp_path, parts, epochs=1)
    with np.load(tmp_path / "checkpoint.npz") as saved:
        arrays = dict(saved)
    np.savez(tmp_path / "checkpoint.npz", **arrays | {name: value})
    with pytest.raises(ValueError, match=r"checkpoint\.npz: damaged"):
        run(tmp_path, parts)


@pytest.mark.slow
def test_the_command_trains_shows_and_plays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, choices = tmp_path / "[a]run", tmp_path / "[a]choices.csv"  # no markup where they are printed
    assert main(["export", str(choices), "--selfplay", "rule,rule,rule", "--games", "4"]) == 0
    command = ["train", str(out), "--data", str(choices), "--set", "loss=softmax"]
    command += ["--set", "temperature=0.5", "--set", "epochs=2"]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "agreement on" in said
    assert "danger_2" in said
    assert f"wrote{out / 'weights.json'}" in "".join(said.split())
    weights = load_weights(str(out / "weights.json"))
    assert weights.temperature == 0.5
    assert not (weights.values == START).all()
    assert (out / "metrics.csv").read_text().count("\n") == 4
    assert all((out / name).is_file() for name in FILES["agents.linear"])
    assert main(command) == 0  # finished: the same outcome again
    assert load_weights(str(out / "weights.json")).values.tolist() == weights.values.tolist()
    capsys.readouterr()
    assert main(["show", str(out / "weights.json")]) == 0
    assert f"softmax,--data{choices},epoch" in "".join(capsys.readouterr().out.split())
    bot = make(f"softmax:{out / 'weights.json'}")
    assert bot.value_temperature == pytest.approx(500 * weights.placements_per_point)  # type: ignore[attr-defined]


def test_the_agreement_of_a_bot_with_its_own_games_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["agreement", "efficiency", "random", "--selfplay", "efficiency,efficiency,efficiency", "--games", "2"]
    assert main(command) == 0
    _, kinds, (_, *counts), *lines = (line.split() for line in capsys.readouterr().out.splitlines())
    assert kinds[::2] == ["all", "discard", "pon", "kan", "riichi", "nukidora"]
    assert int(counts[0].replace(",", "")) >= int(counts[1].replace(",", "")) > 100
    rows = {bot: [float(share) for share in cells[::3]] for bot, *cells in lines}
    assert set(rows["efficiency"]) == {100.0}
    assert len(rows["random"]) == len(counts)
    assert rows["random"][0] < 50


def test_the_name_of_a_bot_in_the_table_is_no_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    weights = tmp_path / "[a].json"
    weights.write_bytes((BUNDLED / "linear.json").read_bytes())
    assert main(["agreement", f"linear:{weights}", "--selfplay", "random,random,random", "--games", "1"]) == 0
    assert f"linear:{weights}" in capsys.readouterr().out


def test_agreement_counts_each_kind_where_it_was_legal() -> None:
    menus = [
        (3, 7),
        (3, 7, RIICHI),
        (PON, PON_RED, PASS),
        (PON, DAIMINKAN, PASS),
        (NUKIDORA, 7, KAKAN + 4),
        (PON, PASS),
    ]
    views = np.zeros(len(menus), dtype=TABLE)
    for k, (view, menu) in enumerate(zip(views, menus, strict=True)):
        view["viewer"] = k % 3
        for action in menu:
            view["legal"][k % 3][action // 64] |= np.uint64(1 << action % 64)
    played, chosen = np.array([3, RIICHI, PON, DAIMINKAN, 7, PON]), np.array([7, 3, PON_RED, DAIMINKAN, 7, PASS])
    counted = kinds_of(views, played)
    every = {"all": 6, "discard": 2, "pon": 3, "kan": 2, "riichi": 1, "nukidora": 1}
    assert {kind: each.sum() for kind, each in counted.items()} == every
    expected = {"all": 2, "discard": 1, "pon": 2, "kan": 2, "riichi": 0, "nukidora": 1}
    assert {kind: agrees(kind, played, chosen)[each].sum() for kind, each in counted.items()} == expected


def test_the_scale_is_that_of_the_weights() -> None:
    one, ten = placements_per_point(START, 2), placements_per_point(10 * START, 2)
    assert 1e-7 < one < 1e-4
    assert ten == pytest.approx(one / 10, rel=1e-4)
    values = np.array([[1.0, 3.0, -np.inf], [5.0, -np.inf, -np.inf]])
    assert centre(values, np.isfinite(values)).tolist() == [[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.slow
def test_choices_of_several_files_are_of_different_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        command = ["export", str(tmp_path / f"{name}.csv"), "--selfplay", "efficiency,random,random", "--games", "1"]
        assert main(command) == 0
    files = [str(tmp_path / f"{name}.csv") for name in ("a", "b")]
    assert main(["train", str(tmp_path / "run"), "--data", *files, "--set", "epochs=1"]) == 0
    with pytest.raises(SystemExit):
        main(["train", str(tmp_path / "one"), "--data", files[0], "--set", "epochs=1"])
    assert "1 games" in capsys.readouterr().err
