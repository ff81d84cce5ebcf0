"""The compiled forward pass: as ONNX Runtime's, the same on all processors, and only for networks that it can run."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from agents.bert.bot import BUNDLED
from agents.bert.checkpoint import Config
from agents.bert.compiled.encoder import AT_ONCE, predict
from agents.bert.compiled.onnx_file import read_graph
from agents.bert.compiled.vectors import INSTRUCTION_SETS, instruction_set
from agents.bert.compiled.weights import Network, read_network
from agents.bert.encoding import MAX_RECORD, MAX_STATE, MAX_TOKENS, Encoded, encode
from agents.bert.export.quantization import WEIGHT_LEVELS
from agents.bert.families import ONNX
from agents.bert.inference import CompiledPredictor, load
from agents.bert.labels import N_LABELS, legal_table
from agents.bert.vocabulary import N_TOKENS
from agents.human import BUNDLED as HUMAN
from benchmarks.bert.methods import session_predictor
from tests.support.small_networks import TINY, random_weights, write_network

HERE = instruction_set()
needs_vectors = pytest.mark.skipif(HERE is None, reason="this processor has none of the instruction sets")

SIZES = {
    "2 x 32, 2 heads": TINY,
    "2 x 128, 4 heads": TINY._replace(hidden_size=128, num_attention_heads=4, intermediate_size=512),
    "3 x 192, 6 heads": TINY._replace(
        num_hidden_layers=3, hidden_size=192, num_attention_heads=6, intermediate_size=768
    ),
    "2 x 160, 5 heads": TINY._replace(hidden_size=160, num_attention_heads=5, intermediate_size=336),
    "one head, two token types, more positions, a wide norm": TINY._replace(
        num_attention_heads=1, type_vocab_size=2, max_position_embeddings=200, layer_norm_eps=0.1
    ),
}
OTHERS = {
    "one layer": TINY._replace(num_hidden_layers=1),
    "GELU": TINY._replace(hidden_act="gelu"),
    "narrow heads": TINY._replace(num_attention_heads=4),
    "another width": TINY._replace(hidden_size=48, num_attention_heads=3),
    "another inner width": TINY._replace(intermediate_size=72),
}


def network_in(folder: Path) -> Network:
    network = read_network((folder / ONNX).read_bytes())
    assert network is not None
    return network


def outputs(network: Network, encoded: Encoded, isa: int) -> np.ndarray:
    return predict(network, isa, encoded.input_ids, encoded.lengths, encoded.n_state)


def of_lengths(lengths: np.ndarray, seed: int = 1) -> Encoded:
    """Random tokens."""
    random = np.random.default_rng(seed)
    tokens = random.integers(1, N_TOKENS, (len(lengths), MAX_TOKENS)).astype(np.uint16)
    n_state = np.maximum(lengths - 2 - random.integers(0, MAX_RECORD, len(lengths)), 1).clip(max=MAX_STATE)
    return Encoded(tokens, n_state, lengths)


@needs_vectors
@pytest.mark.slow
@pytest.mark.parametrize("config", SIZES.values(), ids=SIZES)
def test_agrees_with_onnx_runtime(config: Config, views: np.ndarray, tmp_path: Path) -> None:
    """Both round to 8 bits, so that a few numbers differ by one step; random weights make much of that."""
    folder, encoded = write_network(tmp_path / "network", config), encode(views)
    compiled = load(folder)
    assert isinstance(compiled, CompiledPredictor)
    arguments = encoded.input_ids, encoded.lengths, encoded.n_state
    for exact, found in zip(session_predictor(folder)(*arguments), compiled(*arguments), strict=True):
        assert np.abs(exact - found).mean() < 0.03 * exact.std()
        assert np.corrcoef(exact.ravel(), found.ravel())[0, 1] > 0.995


@needs_vectors
@pytest.mark.slow
@pytest.mark.parametrize("folder", [BUNDLED, HUMAN], ids=["bert", "human"])
def test_the_bundled_networks_choose_as_with_onnx_runtime(folder: Path, views: np.ndarray) -> None:
    encoded, legal = encode(views), legal_table(views)
    policies = [
        predictor(encoded.input_ids, encoded.lengths, encoded.n_state).policy
        for predictor in (session_predictor(folder), load(folder))
    ]
    several = legal.sum(axis=1) > 1
    first, second = (np.where(legal, policy, -np.inf).argmax(axis=1) for policy in policies)
    assert (first == second)[several].mean() > 0.98
    assert np.abs(policies[0] - policies[1])[legal].mean() < 0.1


@needs_vectors
@pytest.mark.parametrize("config", SIZES.values(), ids=SIZES)
def test_all_instruction_sets_give_the_same_bits(config: Config, views: np.ndarray, tmp_path: Path) -> None:
    assert HERE is not None
    network, encoded = network_in(write_network(tmp_path / "network", config)), encode(views[::5])
    expected = outputs(network, encoded, HERE)
    assert len(np.unique(expected, axis=0)) > len(expected) / 2
    for isa in range(HERE + 1, len(INSTRUCTION_SETS)):
        assert outputs(network, encoded, isa).tobytes() == expected.tobytes()


@needs_vectors
@pytest.mark.slow
def test_machine_code_for_any_processor_gives_the_same_bits(tmp_path: Path) -> None:
    """As in the container: numba's own code then uses neither fused operations nor wide vectors."""
    code = """if True:
        import hashlib
        from tests.agents.bert.test_compiled import BUNDLED, MAX_TOKENS, HERE, network_in, np, of_lengths, outputs
        found = outputs(network_in(BUNDLED), of_lengths(np.arange(4, MAX_TOKENS + 1)), HERE)
        print(hashlib.sha256(found.tobytes()).hexdigest())
    """
    assert HERE is not None
    expected = outputs(network_in(BUNDLED), of_lengths(np.arange(4, MAX_TOKENS + 1)), HERE)
    environment = os.environ | {"NUMBA_CPU_NAME": "generic", "NUKIDORA_CACHE": str(tmp_path), "NUKIDORA_JOBS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=900, check=True
    )
    assert done.stdout.split() == [hashlib.sha256(expected.tobytes()).hexdigest()]


@needs_vectors
def test_a_sequence_of_any_length_does_not_depend_on_the_others() -> None:
    assert HERE is not None
    network, encoded = network_in(BUNDLED), of_lengths(np.arange(3, MAX_TOKENS + 1))
    together = outputs(network, encoded, HERE)
    assert np.isfinite(together).all()
    for i in range(0, len(together), 7):
        alone = encoded.select(slice(i, i + 1))
        longer = alone._replace(input_ids=np.pad(alone.input_ids, ((0, 0), (0, 30)), constant_values=5))
        for each in (alone, longer):
            assert outputs(network, each, HERE).tobytes() == together[i : i + 1].tobytes()
    last = encoded.select(slice(-AT_ONCE - 1, None))
    assert outputs(network, last, HERE).tobytes() == together[-AT_ONCE - 1 :].tobytes()


@needs_vectors
@pytest.mark.parametrize("bias", [-100.0, 3.0, 100.0], ids=["none", "many", "all"])
def test_any_number_of_hidden_units_may_be_active(bias: float, views: np.ndarray, tmp_path: Path) -> None:
    """Only the rows of active units are added up."""
    tensors = random_weights(TINY)
    tensors["bert.encoder.layer.0.intermediate.dense.bias"][:] = bias
    folder, encoded = write_network(tmp_path / "network", TINY, tensors), encode(views[::5])
    arguments = encoded.input_ids, encoded.lengths, encoded.n_state
    exact, found = (predictor(*arguments).policy for predictor in (session_predictor(folder), load(folder)))
    assert np.corrcoef(exact.ravel(), found.ravel())[0, 1] > 0.995


@pytest.mark.parametrize("config", OTHERS.values(), ids=OTHERS)
def test_other_networks_are_left_to_onnx_runtime(config: Config, views: np.ndarray, tmp_path: Path) -> None:
    folder = write_network(tmp_path / "network", config)
    assert read_network((folder / ONNX).read_bytes()) is None
    predictor, encoded = load(folder), encode(views[:2])
    assert not isinstance(predictor, CompiledPredictor)
    assert predictor(encoded.input_ids, encoded.lengths, encoded.n_state).policy.shape == (2, N_LABELS)


@pytest.mark.parametrize("damage", ["weight", "type", "shape"])
@pytest.mark.parametrize("linear", [0, 5], ids=["query", "second of the feed-forward network"])
def test_a_file_made_otherwise_is_left_to_onnx_runtime(linear: int, damage: str, network: Path) -> None:
    """Weights that are too large would overflow, and others be read from beyond an array."""
    model = onnx.load(network / ONNX)
    product = [node for node in model.graph.node if node.op_type == "MatMulIntegerToFloat"][linear]
    for number in {"weight": (1,), "type": (3,), "shape": (3, 6)}[damage]:
        constant = next(each for each in model.graph.initializer if each.name == product.input[number])
        values = onnx.numpy_helper.to_array(constant).copy()
        if damage == "weight":
            values[0, 0] = WEIGHT_LEVELS + 1
        else:
            values = values[:-1] if damage == "shape" else values.astype(np.int64)
        constant.CopyFrom(onnx.numpy_helper.from_array(values, product.input[number]))
    assert network_in(network)
    assert read_network(model.SerializeToString()) is None


def test_damaged_files() -> None:
    model = (BUNDLED / ONNX).read_bytes()
    for damaged in (b"", b"\x00", model[:1000], model[:-1000], b"\x3f" + model):
        assert read_network(damaged) is None


def test_the_file_is_read_as_by_the_package_onnx() -> None:
    read, expected = read_graph((BUNDLED / ONNX).read_bytes()), onnx.load(BUNDLED / ONNX).graph
    assert [(node.operator, list(node.inputs), list(node.outputs)) for node in read.nodes] == [
        (node.op_type, list(node.input), list(node.output)) for node in expected.node
    ]
    assert read.constants.keys() == {each.name for each in expected.initializer}
    for each in expected.initializer:
        found, array = read.constants[each.name], onnx.numpy_helper.to_array(each)
        assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())
