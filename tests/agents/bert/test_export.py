"""``python -m agents.bert export`` makes model.onnx; faults of a checkpoint and of a model.onnx are reported."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.bert import cli as commands
from agents.bert.bot import BUNDLED
from agents.bert.encoding import encode
from agents.bert.export import export_checkpoint
from agents.bert.export.calibration import activation_ranges
from agents.bert.export.weights import read_checkpoint
from agents.bert.families import CONFIG, ONNX, WEIGHTS
from agents.bert.inference import load
from tests.support.small_networks import TINY, random_weights, write_network, write_weights


def policy(folder: Path, views: np.ndarray) -> np.ndarray:
    """The logits of a checkpoint."""
    encoded = encode(views)
    return load(folder)(encoded.input_ids, encoded.lengths, encoded.n_state).policy


def test_the_command_makes_a_checkpoint_that_plays(
    tmp_path: Path, views: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_weights(tmp_path / "network")
    assert commands.main(["export", str(folder)]) == 0
    assert capsys.readouterr().out == (
        f"wrote {folder}/model.onnx; next:\n  python -m arena --games 300 --bots bert:{folder},rule,random\n"
    )
    assert sorted(file.name for file in folder.iterdir()) == [CONFIG, ONNX, WEIGHTS]
    assert np.isfinite(policy(folder, views)).all()


def test_export_is_deterministic(tmp_path: Path) -> None:
    first, second = (write_network(tmp_path / name) for name in "ab")
    assert (first / ONNX).read_bytes() == (second / ONNX).read_bytes()
    before = (first / ONNX).read_bytes()
    assert export_checkpoint(first) == first / ONNX
    assert (first / ONNX).read_bytes() == before


@pytest.mark.slow
def test_the_bundled_model_is_that_of_the_bundled_weights(tmp_path: Path, views: np.ndarray) -> None:
    for name in (CONFIG, WEIGHTS):
        shutil.copy(BUNDLED / name, tmp_path / name)
    export_checkpoint(tmp_path)
    exported, bundled = (policy(folder, views) for folder in (tmp_path, BUNDLED))
    assert np.corrcoef(exported.ravel(), bundled.ravel())[0, 1] > 0.999, "equal but for rounding on this processor"
    assert (exported.argmax(axis=1) == bundled.argmax(axis=1)).mean() > 0.98


def test_activation_ranges(tmp_path: Path) -> None:
    """A constant input has that value as minimum and maximum, and the outputs of ReLU are not negative."""
    tensors = random_weights(TINY)
    tensors["bert.embeddings.LayerNorm.weight"][3], tensors["bert.embeddings.LayerNorm.bias"][3] = 0, 7
    ranges = activation_ranges(read_checkpoint(write_weights(tmp_path / "network", TINY, tensors)))
    of_layer = "attention.self.query attention.self.key attention.self.value attention.output.dense intermediate.dense"
    assert ranges.keys() == {f"bert.encoder.layer.0.{part}" for part in [*of_layer.split(), "output.dense"]}
    assert ranges["bert.encoder.layer.0.attention.self.key"][:, 3].tolist() == [7, 7]
    assert ranges["bert.encoder.layer.0.output.dense"].min() == 0
    assert all((low <= high).all() and (low < high).any() for low, high in ranges.values())


# A model.onnx that cannot be played -----------------------------------------------------------------------------------


def other_weights(folder: Path) -> None:
    """What a training step does: new weights beside the old model.onnx."""
    old = (folder / ONNX).read_bytes()
    write_weights(folder, TINY, random_weights(TINY, seed=2))
    (folder / ONNX).write_bytes(old)


def foreign(folder: Path) -> None:
    """A valid ONNX file that this bot did not make."""
    from onnx import TensorProto, helper

    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    (folder / ONNX).write_bytes(model.SerializeToString())


BAD_MODELS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda folder: (folder / ONNX).unlink(), r"NETWORK: has no model\.onnx; "),
    "stale": (other_weights, r"NETWORK/model\.onnx: was made from other weights than those in model\.safetensors; "),
    "broken": (
        lambda folder: (folder / ONNX).write_bytes(b"no graph"),
        r"NETWORK/model\.onnx: cannot be loaded \(.*\); ",
    ),
    "cut short": (
        lambda folder: (folder / ONNX).write_bytes((folder / ONNX).read_bytes()[:-1000]),
        r"NETWORK/model\.onnx: cannot be loaded \(.*\); ",
    ),
    "foreign": (foreign, r"NETWORK/model\.onnx: was not made by this version of the bot; "),
}


@pytest.mark.parametrize(("spoil", "what"), BAD_MODELS.values(), ids=BAD_MODELS)
def test_the_error_names_the_command_that_mends_it(
    spoil: Callable[[Path], object], what: str, tmp_path: Path, views: np.ndarray
) -> None:
    folder = write_network(tmp_path / "network")
    spoil(folder)
    remedy = f"make it with: python -m agents.bert export {folder}"
    with pytest.raises(ValueError, match="^" + what.replace("NETWORK", str(folder)) + remedy + "$") as caught:
        load(folder)
    assert "\n" not in str(caught.value)
    command = remedy.split(" -m agents.bert ")[1].split()
    assert commands.main(command) == 0
    assert np.isfinite(policy(folder, views)).all()


def test_model_onnx_alone_is_enough_to_play(tmp_path: Path, views: np.ndarray) -> None:
    folder = write_network(tmp_path / "network")
    expected = policy(folder, views)
    (folder / WEIGHTS).unlink()
    (folder / CONFIG).unlink()
    assert (policy(folder, views) == expected).all()


# Checkpoints that cannot be exported ----------------------------------------------------------------------------------

Spoil = Callable[[Path], object]


def without(name: str) -> Spoil:
    return lambda folder: (folder / name).unlink()


def saying(name: str, text: str) -> Spoil:
    return lambda folder: (folder / name).write_text(text)


def configured(**values: Any) -> Spoil:
    return lambda folder: write_weights(folder, TINY._replace(**values), random_weights(TINY))


def holding(name: str, tensor: np.ndarray | None) -> Spoil:
    tensors = random_weights(TINY) | ({name: tensor} if tensor is not None else {})
    if tensor is None:
        del tensors[name]
    return lambda folder: write_weights(folder, TINY, tensors)


TRAIN = r"python -m agents\.bert train makes a network that plays$"
FAULTS: dict[str, tuple[Spoil, str]] = {
    "no config": (without("config.json"), r"NETWORK: has no config\.json; " + TRAIN),
    "no weights": (without("model.safetensors"), r"NETWORK: has no model\.safetensors; " + TRAIN),
    "config: not JSON": (saying("config.json", "{"), r"NETWORK/config\.json: cannot be read as JSON \(.*\); " + TRAIN),
    "config: no object": (
        saying("config.json", "[]"),
        r"NETWORK/config\.json: lacks vocab_size, .*hidden_act; " + TRAIN,
    ),
    "config: of another kind": (
        saying("config.json", '{"vocab_size": 994, "hidden_act": "relu"}'),
        r"NETWORK/config\.json: lacks hidden_size, num_hidden_layers, .*layer_norm_eps; " + TRAIN,
    ),
    "vocabulary": (
        configured(vocab_size=30522),
        r"NETWORK/config\.json: vocab_size is 30522, but must be 994, the tokens of agents\.bert\.vocabulary; " + TRAIN,
    ),
    "no whole number": (
        configured(hidden_size=32.5),
        r"hidden_size is 32\.5, but must be a whole number from 1 to 65536; ",
    ),
    "no layers": (
        configured(num_hidden_layers=0),
        r"num_hidden_layers is 0, but must be a whole number from 1 to 65536; ",
    ),
    "heads": (
        configured(num_attention_heads=5),
        r"hidden_size is 32, but must be a multiple of num_attention_heads, 5; ",
    ),
    "positions": (configured(max_position_embeddings=64), r"max_position_embeddings is 64, but must be at least \d+, "),
    "activation": (configured(hidden_act="silu"), r"hidden_act is 'silu', but must be relu or gelu; "),
    "epsilon": (configured(layer_norm_eps="1e-12"), r"layer_norm_eps is '1e-12', but must be a number; "),
    "another size": (
        configured(hidden_size=64),
        r"safetensors: bert\.\S+ has shape \[994, 32\], but config\.json requires \[994, 64\]$",
    ),
    "more layers": (
        configured(num_hidden_layers=3),
        r"NETWORK/model\.safetensors: has no tensor bert\.encoder\.layer\.2\S+ and 15 more; " + TRAIN,
    ),
    "no head": (holding("policy.bias", None), r"NETWORK/model\.safetensors: has no tensor policy\.bias; " + TRAIN),
    "a head too wide": (
        holding("policy.bias", np.zeros(44, np.float32)),
        r"policy\.bias has shape \[44\], but .* requires \[46\]$",
    ),
    "other numbers": (
        holding("policy.bias", np.zeros(46, np.int8)),
        r"policy\.bias is int8, but must be float32 or float16$",
    ),
    "numbers that are none": (
        holding("points.bias", np.array([np.nan], np.float32)),
        r"points\.bias contains NaN or infinity; train the network again$",
    ),
}


@pytest.mark.parametrize(("spoil", "what"), FAULTS.values(), ids=FAULTS)
def test_faults_of_a_checkpoint_are_reported(spoil: Spoil, what: str, tmp_path: Path) -> None:
    folder = write_weights(tmp_path / "network")
    spoil(folder)
    with pytest.raises(ValueError, match=what.replace("NETWORK", f"^{folder}")) as caught:
        export_checkpoint(folder)
    assert not (folder / "model.onnx").exists()
    assert "\n" not in str(caught.value)


def test_weights_cut_short_leave_the_old_model(tmp_path: Path) -> None:
    folder = write_network(tmp_path / "network")
    model = (folder / ONNX).read_bytes()
    whole = (folder / "model.safetensors").read_bytes()
    for content in (b"", b"version https://git-lfs.github.com/spec/v1\n", whole[:100], whole[:-1]):
        (folder / "model.safetensors").write_bytes(content)
        with pytest.raises(
            ValueError, match=r"safetensors: cannot be read as safetensors \(.*\); copy or train the network again$"
        ):
            export_checkpoint(folder)
    assert (folder / ONNX).read_bytes() == model


@pytest.mark.parametrize("use", [export_checkpoint, load])
def test_the_folder_of_a_training_run(use: Callable[[Path], object], tmp_path: Path) -> None:
    write_network(tmp_path / "run" / "model")
    with pytest.raises(
        ValueError, match=r"run: has no (config\.json|model\.onnx), but \S+run/model has one: name that folder$"
    ):
        use(tmp_path / "run")
