"""Inference without torch agrees with transformers, does not depend on the batch, and reports what is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.bert.bot import BUNDLED
from agents.bert.checkpoint import POINTS_UNIT, Config
from agents.bert.encoding import MAX_TOKENS, Encoded, encode
from agents.bert.inference import Predictions, Predictor, load, softmax, torch_forward
from agents.bert.labels import N_LABELS, legal_table
from benchmarks.bert.methods import float32_predictor
from tests.support.small_networks import TINY, random_weights, write_network

SIZES = {
    "one layer": TINY._replace(num_hidden_layers=1),
    "2 x 128, 4 heads": TINY._replace(hidden_size=128, num_attention_heads=4, intermediate_size=512),
    "3 x 192, 6 heads, GELU": TINY._replace(
        num_hidden_layers=3, hidden_size=192, num_attention_heads=6, intermediate_size=768, hidden_act="gelu"
    ),
    "one head, two token types, more positions, a wide norm": TINY._replace(
        num_attention_heads=1, type_vocab_size=2, max_position_embeddings=200, layer_norm_eps=0.1
    ),
}


def predict(predictor: Predictor, encoded: Encoded, rows: Any = slice(None)) -> Predictions:
    """The predictions for some of the sequences."""
    return predictor(encoded.input_ids[rows], encoded.lengths[rows], encoded.n_state[rows])


def concatenated(parts: list[Predictions]) -> Predictions:
    return Predictions(*map(np.concatenate, zip(*parts, strict=True)))


@pytest.mark.slow
@pytest.mark.parametrize("config", SIZES.values(), ids=SIZES)
def test_agrees_with_transformers(config: Config, views: np.ndarray, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tensors = random_weights(config)
    predictions = predict(
        float32_predictor(write_network(tmp_path / "network", config, tensors)), encoded := encode(views[::5])
    )

    bert = transformers.BertModel(transformers.BertConfig(**config._asdict()), add_pooling_layer=False).eval()
    of_bert = {name.removeprefix("bert."): torch.tensor(tensors[name]) for name in tensors if name.startswith("bert.")}
    bert.load_state_dict(of_bert)
    with torch.inference_mode():
        input_ids, positions = torch.tensor(encoded.input_ids.astype(np.int64)), torch.tensor(encoded.position_ids)
        mask = torch.tensor(encoded.attention_mask)
        hidden = bert(input_ids=input_ids, attention_mask=mask, position_ids=positions).last_hidden_state
    policy, placement, points = (
        hidden[:, 0].numpy() @ tensors[f"{head}.weight"].T + tensors[f"{head}.bias"]
        for head in ("policy", "placement", "points")
    )
    assert policy.std(axis=0).min() > 0.1, "predictions must depend on the input"
    np.testing.assert_allclose(predictions.policy, policy, atol=1e-4)
    np.testing.assert_allclose(predictions.placement, softmax(placement), atol=1e-4)
    np.testing.assert_allclose(predictions.points, points[:, 0] * POINTS_UNIT, atol=1e-4 * POINTS_UNIT)
    np.testing.assert_allclose(predictions.placement.sum(axis=1), 1, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("config", SIZES.values(), ids=SIZES)
def test_quantization_changes_little(config: Config, views: np.ndarray, tmp_path: Path) -> None:
    folder, encoded = write_network(tmp_path / "network", config), encode(views)
    expected, predictions = (predict(predictor, encoded) for predictor in (float32_predictor(folder), load(folder)))
    for exact, quantized in zip(expected, predictions, strict=True):
        assert np.corrcoef(exact.ravel(), quantized.ravel())[0, 1] > 0.98, "even where weights are random"
    assert (predictions.policy == expected.policy).all() == (config.num_hidden_layers == 1), (
        "the last layer is not quantized"
    )


@pytest.mark.slow
def test_the_bundled_network_chooses_the_same_when_quantized(views: np.ndarray) -> None:
    encoded, legal = encode(views), legal_table(views)
    choices = [
        np.where(legal, predict(predictor, encoded).policy, -np.inf).argmax(axis=1)
        for predictor in (float32_predictor(BUNDLED), load(BUNDLED))
    ]
    assert (choices[0] == choices[1])[legal.sum(axis=1) > 1].mean() > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("config", SIZES.values(), ids=SIZES)
def test_predictions_do_not_depend_on_the_batch(config: Config, views: np.ndarray, tmp_path: Path) -> None:
    predictor, encoded = load(write_network(tmp_path / "network", config)), encode(views[::2])
    expected = predict(predictor, encoded)
    order = np.random.default_rng(1).permutation(len(encoded.input_ids))
    for size in (1, 2, 5, 64):
        parts = [predict(predictor, encoded, order[first : first + size]) for first in range(0, len(order), size)]
        for of_all, of_parts in zip(expected, concatenated(parts), strict=True):
            assert of_all[order].tobytes() == of_parts.tobytes()


def test_the_width_of_the_array_does_not_matter(network: Path, views: np.ndarray) -> None:
    predictor, encoded = load(network), encode(views)
    expected = predict(predictor, encoded)
    wide = np.pad(encoded.input_ids, ((0, 0), (0, 50)))
    narrow = encoded.input_ids[:, : encoded.lengths.max()].astype(np.int64)
    assert narrow.shape[1] < MAX_TOKENS
    for input_ids in (wide, narrow):
        assert (predict(predictor, encoded._replace(input_ids=input_ids)).policy == expected.policy).all()


def test_an_empty_batch(network: Path, views: np.ndarray) -> None:
    predictions = predict(load(network), encode(views[:0]))
    assert [part.shape for part in predictions] == [(0, N_LABELS), (0, 3), (0,)]
    assert {part.dtype for part in predictions} == {np.dtype(np.float32)}


def test_half_precision_is_widened(views: np.ndarray, tmp_path: Path) -> None:
    halves = {name: weight.astype(np.float16) for name, weight in random_weights(TINY).items()}
    widened = {name: weight.astype(np.float32) for name, weight in halves.items()}
    of_halves, of_widened = (
        predict(load(write_network(tmp_path / str(i), TINY, tensors)), encode(views))
        for i, tensors in enumerate((halves, widened))
    )
    assert (of_halves.policy == of_widened.policy).all()


def test_torch_predicts_nearly_the_same(network: Path, views: np.ndarray) -> None:
    """As on a GPU, in bfloat16."""
    pytest.importorskip("torch")
    expected, predictions = (
        predict(predictor, encode(views))
        for predictor in (load(network), Predictor(torch_forward(network, "cpu"), 1024))
    )
    spread = expected.policy.std()
    assert np.abs(predictions.policy - expected.policy).mean() < 0.05 * spread
    assert 0 < np.abs(predictions.points - expected.points).mean() < 0.1 * expected.points.std()


def test_without_a_gpu(network: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match=r"^device=cuda cannot be used \(.*\); use device=cpu$"):
        load(network, "cuda")


@pytest.mark.parametrize("checkpoint", ["bundled", "network"])
def test_playing_on_a_cpu_needs_onnxruntime_only(checkpoint: str, network: Path) -> None:
    """The first answer imports no package of the training extra, builds no graph and plays no games."""
    code = f"""if True:
        import sys
        import numpy as np
        from agents.registry import make
        from engine.game import Game
        bot, game = make("bert:{network if checkpoint == "network" else ""}?temperature=1&top=3"), Game(1)
        assert bot.act(np.array([game.view(game.asked[0])]))[0] in game.legal(game.asked[0])
        assert bot.annotate()
        unwanted = "torch transformers pandas onnx safetensors agents.bert.export agents.bots.rule engine.tables"
        print("onnxruntime" in sys.modules, sorted(set(unwanted.split()) & sys.modules.keys()))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "True []\n"


def test_onnx_runtime_reports_nothing_about_its_users(tmp_path: Path) -> None:
    """Nor does it make a mark of the machine, which it keeps in the user's cache before it reports."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ORT_") and name != "CI"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    load_and_run = "from agents.bert.bot import BUNDLED; from agents.bert.inference import load; load(BUNDLED)"
    subprocess.run([sys.executable, "-c", load_and_run], env=environment, timeout=300, check=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
