"""Networks run without torch say what transformers says, whatever they are asked beside, or say why they cannot."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.bert.bot import OWN_FOLDER
from agents.bert.checkpoint import POINTS_UNIT, Config, read
from agents.bert.encoding import MAX_TOKENS, Encoded, encode
from agents.bert.export.graph import build
from agents.bert.inference import SLICE, Net, Predictions, by_torch, load, onnx_run, reach, softmax
from agents.bert.labels import N_LABELS, legal_table
from tests.support.small_networks import TINY, weights, write_network

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


def ask(net: Net, encoded: Encoded, rows: Any = slice(None)) -> Predictions:
    """What the network says of some sequences."""
    return net(encoded.ids[rows], encoded.lengths[rows], encoded.n_state[rows])


def unrounded(folder: Path) -> Net:
    """The network in `folder` as it is stored, in float32."""
    return Net(onnx_run(build(read(folder)), threads=1), SLICE["cpu"])


def together(parts: list[Predictions]) -> Predictions:
    return Predictions(*map(np.concatenate, zip(*parts, strict=True)))


@pytest.mark.parametrize("config", SIZES.values(), ids=SIZES)
def test_says_what_transformers_says(config: Config, views: np.ndarray, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tensors = weights(config)
    said = ask(unrounded(write_network(tmp_path / "network", config, tensors)), encoded := encode(views[::5]))

    bert = transformers.BertModel(transformers.BertConfig(**config._asdict()), add_pooling_layer=False).eval()
    of_bert = {name.removeprefix("bert."): torch.tensor(tensors[name]) for name in tensors if name.startswith("bert.")}
    bert.load_state_dict(of_bert)
    with torch.inference_mode():
        ids, places = torch.tensor(encoded.ids.astype(np.int64)), torch.tensor(encoded.positions)
        seen = bert(input_ids=ids, attention_mask=torch.tensor(encoded.mask), position_ids=places).last_hidden_state
    policy, placement, points = (
        seen[:, 0].numpy() @ tensors[f"{head}.weight"].T + tensors[f"{head}.bias"]
        for head in ("policy", "placement", "points")
    )
    assert policy.std(axis=0).min() > 0.1, "positions must matter"
    np.testing.assert_allclose(said.policy, policy, atol=1e-4)
    np.testing.assert_allclose(said.placement, softmax(placement), atol=1e-4)
    np.testing.assert_allclose(said.points, points[:, 0] * POINTS_UNIT, atol=1e-4 * POINTS_UNIT)
    np.testing.assert_allclose(said.placement.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("config", SIZES.values(), ids=SIZES)
def test_rounding_changes_little(config: Config, views: np.ndarray, tmp_path: Path) -> None:
    folder, encoded = write_network(tmp_path / "network", config), encode(views)
    expected, said = (ask(net, encoded) for net in (unrounded(folder), load(folder)))
    for exact, rounded in zip(expected, said, strict=True):
        assert np.corrcoef(exact.ravel(), rounded.ravel())[0, 1] > 0.98, "even where weights are random"
    assert (said.policy == expected.policy).all() == (config.num_hidden_layers == 1), "the last layer is not rounded"


def test_our_own_network_chooses_as_before_rounding(views: np.ndarray) -> None:
    encoded, legal = encode(views), legal_table(views)
    choices = [
        np.where(legal, ask(net, encoded).policy, -np.inf).argmax(axis=1)
        for net in (unrounded(OWN_FOLDER), load(OWN_FOLDER))
    ]
    assert (choices[0] == choices[1])[legal.sum(axis=1) > 1].mean() > 0.95


def test_what_reaches_linear_layers(tmp_path: Path) -> None:
    """An input that is the same everywhere reaches from there to there, and ReLU leaves nothing below 0."""
    tensors = weights(TINY)
    tensors["bert.embeddings.LayerNorm.weight"][3], tensors["bert.embeddings.LayerNorm.bias"][3] = 0, 7
    reached = reach(read(write_network(tmp_path / "network", TINY, tensors)))
    of_layer = "attention.self.query attention.self.key attention.self.value attention.output.dense intermediate.dense"
    assert reached.keys() == {f"bert.encoder.layer.0.{part}" for part in [*of_layer.split(), "output.dense"]}
    assert reached["bert.encoder.layer.0.attention.self.key"][:, 3].tolist() == [7, 7]
    assert reached["bert.encoder.layer.0.output.dense"].min() == 0
    assert all((low <= high).all() and (low < high).any() for low, high in reached.values())


@pytest.mark.parametrize("config", SIZES.values(), ids=SIZES)
def test_the_positions_beside_it_change_no_bit_of_a_prediction(
    config: Config, views: np.ndarray, tmp_path: Path
) -> None:
    net, encoded = load(write_network(tmp_path / "network", config)), encode(views[::2])
    expected = ask(net, encoded)
    order = np.random.default_rng(1).permutation(len(encoded.ids))
    for size in (1, 2, 5, 64):
        parts = [ask(net, encoded, order[first : first + size]) for first in range(0, len(order), size)]
        for of_all, of_parts in zip(expected, together(parts), strict=True):
            assert of_all[order].tobytes() == of_parts.tobytes()


def test_the_width_of_the_array_does_not_matter(network: Path, views: np.ndarray) -> None:
    net, encoded = load(network), encode(views)
    expected = ask(net, encoded)
    wide = np.pad(encoded.ids, ((0, 0), (0, 50)))
    narrow = encoded.ids[:, : encoded.lengths.max()].astype(np.int64)
    assert narrow.shape[1] < MAX_TOKENS
    for ids in (wide, narrow):
        assert (ask(net, encoded._replace(ids=ids)).policy == expected.policy).all()


def test_nothing_asked_nothing_said(network: Path, views: np.ndarray) -> None:
    said = ask(load(network), encode(views[:0]))
    assert [part.shape for part in said] == [(0, N_LABELS), (0, 3), (0,)]
    assert {part.dtype for part in said} == {np.dtype(np.float32)}


def test_more_threads_say_the_same(network: Path, views: np.ndarray) -> None:
    encoded = encode(views)
    np.testing.assert_allclose(
        ask(load(network, threads=2), encoded).policy, ask(load(network), encoded).policy, atol=1e-5
    )


def test_half_precision_is_widened(views: np.ndarray, tmp_path: Path) -> None:
    halves = {name: weight.astype(np.float16) for name, weight in weights(TINY).items()}
    widened = {name: weight.astype(np.float32) for name, weight in halves.items()}
    of_halves, of_widened = (
        ask(load(write_network(tmp_path / str(i), TINY, tensors)), encode(views))
        for i, tensors in enumerate((halves, widened))
    )
    assert (of_halves.policy == of_widened.policy).all()


def test_torch_says_much_the_same(network: Path, views: np.ndarray) -> None:
    """As on a GPU, in bfloat16."""
    pytest.importorskip("torch")
    expected, said = (ask(net, encode(views)) for net in (load(network), Net(by_torch(network, "cpu"), 1024)))
    spread = expected.policy.std()
    assert np.abs(said.policy - expected.policy).mean() < 0.05 * spread
    assert 0 < np.abs(said.points - expected.points).mean() < 0.1 * expected.points.std()


def test_without_a_gpu(network: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match=r"^device=cuda cannot be used \(.*\); device=cpu can$"):
        load(network, "cuda")


def test_without_torch(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match=r"^device=cuda needs torch and transformers .*pip install"):
        load(network, "cuda")


def test_an_unknown_device(network: Path) -> None:
    with pytest.raises(ValueError, match=r"^device 'tpu': there are cpu and cuda$"):
        load(network, "tpu")


def test_playing_loads_no_torch(network: Path) -> None:
    code = f"""if True:
        import sys
        from agents.external.adapters import AgentBot
        from agents.registry import make
        AgentBot(make("bert:{network}?temperature=1&top=3")).prepare()
        print(sorted({{"torch", "transformers", "pandas"}} & sys.modules.keys()))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "[]\n"


# Folders that will not do ---------------------------------------------------------------------------------------------

Spoil = Callable[[Path], object]


def without(name: str) -> Spoil:
    return lambda folder: (folder / name).unlink()


def saying(name: str, text: str) -> Spoil:
    return lambda folder: (folder / name).write_text(text)


def configured(**values: Any) -> Spoil:
    def spoil(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "config.json").unlink()
        folder.rmdir()
        write_network(folder, TINY._replace(**values), weights(TINY))

    return spoil


def holding(name: str, tensor: np.ndarray | None) -> Spoil:
    def spoil(folder: Path) -> None:
        tensors = weights(TINY) | ({name: tensor} if tensor is not None else {})
        if tensor is None:
            del tensors[name]
        (folder / "model.safetensors").unlink()
        (folder / "config.json").unlink()
        folder.rmdir()
        write_network(folder, TINY, tensors)

    return spoil


TRAIN = r"a network that plays is made by python -m agents\.bert train$"
FAULTS: dict[str, tuple[Spoil, str]] = {
    "no config": (without("config.json"), r"NETWORK: has no config\.json; " + TRAIN),
    "no weights": (without("model.safetensors"), r"NETWORK: has no model\.safetensors; " + TRAIN),
    "config: not JSON": (saying("config.json", "{"), r"NETWORK/config\.json: cannot be read as JSON \(.*\); " + TRAIN),
    "config: no object": (
        saying("config.json", "[]"),
        r"NETWORK/config\.json: says nothing of vocab_size, .*hidden_act",
    ),
    "config: of another kind": (
        saying("config.json", '{"vocab_size": 994, "hidden_act": "relu"}'),
        r"NETWORK/config\.json: says nothing of hidden_size, num_hidden_layers, .*layer_norm_eps$",
    ),
    "vocabulary": (
        configured(vocab_size=30522),
        r"NETWORK/config\.json: vocab_size is 30522, but must be 994, the tokens of agents\.bert\.vocabulary; " + TRAIN,
    ),
    "no whole number": (configured(hidden_size=32.5), r"hidden_size is 32\.5, but must be a whole number from 1 up; "),
    "no layers": (configured(num_hidden_layers=0), r"num_hidden_layers is 0, but must be a whole number from 1 up; "),
    "heads": (
        configured(num_attention_heads=5),
        r"hidden_size is 32, but must be a multiple of num_attention_heads, 5; ",
    ),
    "positions": (configured(max_position_embeddings=64), r"max_position_embeddings is 64, but must be at least \d+, "),
    "activation": (configured(hidden_act="silu"), r"hidden_act is 'silu', but must be relu or gelu; "),
    "epsilon": (configured(layer_norm_eps="1e-12"), r"layer_norm_eps is '1e-12', but must be a number; "),
    "another size": (
        configured(hidden_size=64),
        r"safetensors: bert\.\S+ is \[994, 32\], but config\.json beside it makes it \[994, 64\]$",
    ),
    "more layers": (
        configured(num_hidden_layers=3),
        r"NETWORK/model\.safetensors: has no tensor bert\.encoder\.layer\.2\S+ and 15 more; " + TRAIN,
    ),
    "no safetensors": (
        saying("model.safetensors", "version https://git-lfs.github.com/spec/v1\n"),
        r"NETWORK/model\.safetensors: cannot be read as safetensors \(.*\); copy or make it anew$",
    ),
    "no bytes": (
        saying("model.safetensors", ""),
        r"NETWORK/model\.safetensors: cannot be read as safetensors \(.*\); ",
    ),
    "no head": (holding("policy.bias", None), r"NETWORK/model\.safetensors: has no tensor policy\.bias; " + TRAIN),
    "a head too wide": (
        holding("policy.bias", np.zeros(44, np.float32)),
        r"policy\.bias is \[44\], but .* makes it \[46\]",
    ),
    "other numbers": (
        holding("policy.bias", np.zeros(46, np.int8)),
        r"policy\.bias is int8, but must be float32 or float16; store it as one$",
    ),
    "numbers that are none": (
        holding("points.bias", np.array([np.nan], np.float32)),
        r"points\.bias holds what is no finite number; train the network again$",
    ),
}


@pytest.mark.parametrize(("spoil", "what"), FAULTS.values(), ids=FAULTS)
def test_what_is_wrong_with_a_folder(spoil: Spoil, what: str, tmp_path: Path) -> None:
    folder = write_network(tmp_path / "network")
    spoil(folder)
    with pytest.raises(ValueError, match=what.replace("NETWORK", f"^{folder}")) as caught:
        load(folder)
    assert "\n" not in str(caught.value)


def test_weights_cut_short(tmp_path: Path) -> None:
    folder = write_network(tmp_path / "network")
    whole = (folder / "model.safetensors").read_bytes()
    for size in (4, 100, len(whole) - 1):
        (folder / "model.safetensors").write_bytes(whole[:size])
        with pytest.raises(
            ValueError, match=r"safetensors: cannot be read as safetensors \(.*\); copy or make it anew$"
        ):
            load(folder)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nowhere: there is no such folder; a network is a folder with config\.json"):
        load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"file: is a file; a network is a folder with config\.json"):
        load(tmp_path / "file")


def test_the_folder_above(tmp_path: Path) -> None:
    write_network(tmp_path / "run" / "model")
    with pytest.raises(ValueError, match=r"run: has no config\.json, but \S+run/model has one: name that folder$"):
        load(tmp_path / "run")
