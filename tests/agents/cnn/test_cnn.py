"""The CNN: its answers, torch beside ONNX, play, training and its commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs nukidora[train]")

from agents.bert import cli  # noqa: E402
from agents.bert.encoding import encode  # noqa: E402
from agents.bert.families import ONNX, family_of  # noqa: E402
from agents.bert.inference import Predictor, load, load_torch_model, softmax, torch_model_forward  # noqa: E402
from agents.bert.labels import HORA_LABEL, NONE_LABEL, RYUKYOKU_LABEL, legal_table  # noqa: E402
from agents.bert.training import trainer as trainer_module  # noqa: E402
from agents.cnn.answers import N_ANSWERS, label_logits  # noqa: E402
from agents.cnn.planes import ASK_DISCARD, planes_of  # noqa: E402
from agents.registry import make  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def few_validation_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "VALIDATION_SAMPLES", 256)


def test_probabilities_of_what_is_asked_sum_to_one(views: np.ndarray) -> None:
    _, asked = planes_of(encode(views).input_ids)
    random = np.random.default_rng(3)
    answers = {name: random.normal(size=(len(views), n)) for name, n in N_ANSWERS.items()}
    logits = label_logits(np, answers, np.zeros(2), asked)
    others = np.ones(logits.shape[1], dtype=bool)
    others[[HORA_LABEL, RYUKYOKU_LABEL]] = False
    own = asked[:, ASK_DISCARD]
    assert own.any()
    assert not own.all()
    others[NONE_LABEL] = False
    assert np.exp(logits[own][:, others]).sum(axis=1) == pytest.approx(1)
    others[NONE_LABEL] = True
    assert np.exp(logits[~own][:, others]).sum(axis=1) == pytest.approx(1)
    tensors = {name: torch.from_numpy(answer) for name, answer in answers.items()}
    with_torch = label_logits(torch, tensors, torch.zeros(2), torch.from_numpy(asked))
    assert with_torch.numpy() == pytest.approx(logits)


def test_onnx_predicts_as_torch(network: Path, views: np.ndarray) -> None:
    encoded = encode(views)
    inputs = encoded.input_ids, encoded.lengths, encoded.n_state
    onnx = load(network)(*inputs)
    exact = Predictor(torch_model_forward(load_torch_model(network), "cpu", bfloat16=False), 64)(*inputs)
    legal = legal_table(views)
    policies = [softmax(np.where(legal, each.policy, -np.inf)) for each in (onnx, exact)]
    assert np.abs(policies[0] - policies[1]).max() < 0.02
    assert np.abs(onnx.placement - exact.placement).max() < 0.01
    assert (legal_table(views) & (policies[1] > 0)).sum() > len(views)
    assert policies[1].std(axis=0).max() > 0.05


def test_model_onnx_alone_is_enough(network: Path, views: np.ndarray, tmp_path: Path) -> None:
    (tmp_path / ONNX).write_bytes((network / ONNX).read_bytes())
    assert (make(f"cnn:{tmp_path}").act(views) == make(f"cnn:{network}").act(views)).all()


def test_the_commands(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, mean = tmp_path / "run", tmp_path / "mean"
    options = ["--from", "dwarf", "--batch-size", "32", "--steps", "2"]
    assert cli.main(["train", str(data), str(run), *options]) == 0
    shown = capsys.readouterr().out
    assert "agents.bert evaluate" in shown
    assert f"cnn:{run / 'model'}" in shown
    card = (run / "model" / "README.md").read_text()
    assert "8 channels" in card
    assert "agents.bert train" in card
    assert family_of(run / "model").name == "cnn"
    assert cli.main(["train", str(data), str(tmp_path / "more"), "--from", str(run / "model"), *options[2:]]) == 0
    assert cli.main(["average", str(run / "model"), str(tmp_path / "more" / "model"), str(mean)]) == 0
    (mean / ONNX).unlink()
    assert cli.main(["export", str(mean)]) == 0
    figures = tmp_path / "figures.json"
    assert cli.main(["evaluate", str(mean), "--data", str(data), "--samples", "300", "--json", str(figures)]) == 0
    kinds = {each["kind"]: each["samples"] for each in json.loads(figures.read_text())["validation"]["kinds"]}
    assert kinds["discard"] > 100
    assert kinds.keys() == {"discard", "pon", "kan", "riichi", "nukidora"}


def test_the_wrong_name_is_refused(network: Path) -> None:
    with pytest.raises(ValueError, match=rf"{network}.* cnn, not bert"):
        make(f"bert:{network}")
