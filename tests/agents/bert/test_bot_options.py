"""The name and the options of the BERT bot, and how its networks are found and loaded."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from agents.bert import bot
from agents.bert.bot import OPTIONS, Options
from agents.bert.inference import Predictions, load
from agents.options import read_options
from agents.registry import make
from tests.support.small_networks import TINY, random_weights, write_network


def options_of(text: str) -> Options:
    return Options(**read_options("bert", OPTIONS, text))


def test_options() -> None:
    assert options_of("") == Options(temperature=0.0, top=0, device="cpu")
    assert options_of("temperature=0.5&top=46&device=cuda") == Options(0.5, 46, "cuda")
    assert options_of("top=0") == options_of("temperature=0") == Options()


def test_options_joined_by_a_comma_are_told_what_joins_them() -> None:
    with pytest.raises(ValueError, match=r"cannot use 'temperature=0.5,top=3'; .*; & joins options, not a comma$"):
        options_of("temperature=0.5,top=3")
    for text in ("temperature=0,5", "temperature=0.5,bottom=3"):
        with pytest.raises(ValueError, match="cannot use") as raised:
            options_of(text)
        assert "joins" not in str(raised.value)


def test_the_name_identifies_the_network(network: Path) -> None:
    assert make(f"bert:{network}").name == f"bert:{network.name}"
    assert make(f"bert:{network}?top=3").name == f"bert:{network.name}"
    assert make(f"bert:{network}?temperature=0.50").name == f"bert:{network.name}?temperature=0.5"


def test_the_network_of_a_run_has_the_name_of_the_run(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "first" / "model"
    copytree(network, model)
    assert make(f"bert:{model}").name == "bert:first"
    monkeypatch.chdir(model)
    assert make("bert:.").name == "bert:first"


def test_the_bundled_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, views: np.ndarray) -> None:
    monkeypatch.setattr(bot, "BUNDLED", tmp_path / "weights")
    for name in ("bert", "bert:", "bert:?top=1"):
        with pytest.raises(
            ValueError,
            match=r"^this installation has no bundled network for the bot bert: name a checkpoint, bert:FOLDER$",
        ):
            make(name)
    bundled = write_network(tmp_path / "weights")
    expected = make(f"bert:{bundled}").act(views)
    for name in ("bert", "bert:", "bert:?top=1"):
        assert make(name).name == "bert"
        assert (make(name).act(views) == expected).all()


def test_relative_and_home_folders(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(network.parent)
    monkeypatch.setenv("HOME", str(network.parent))
    for folder in (".", f"~/{network.name}", f"../{network.parent.name}/{network.name}/"):
        os.chdir(network if folder == "." else network.parent)
        assert make(f"bert:{folder}").name == f"bert:{network.name}"


def test_a_network_is_loaded_once_for_all_bots_and_again_when_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, views: np.ndarray
) -> None:
    folder = write_network(tmp_path / "network")
    loads: list[Path] = []

    def counting(folder: Path, device: str) -> Callable[..., Predictions]:
        loads.append(folder)
        return load(folder, device)

    monkeypatch.setattr(bot, "load", counting)
    before = [make(f"bert:{folder}", seed).act(views) for seed in range(3)]
    assert len(loads) == 1
    assert all((actions == before[0]).all() for actions in before)

    write_network(folder, TINY, random_weights(TINY, seed=2))
    os.utime(folder / "model.onnx", (1, 1))
    assert (make(f"bert:{folder}").act(views) != before[0]).any()
    assert len(loads) == 2
