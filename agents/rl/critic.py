"""The critic of a training run without torch: its weights, their file, and what it says of positions.

What the networks are is in `agents.rl.networks`: the value of a position is that of the score situation in which
the round began, plus the change that the critic expects from everything at the table, hidden hands and wall included.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from agents.rl.oracle import N_ORACLE
from agents.rl.policy import F1, F2, add_product, read_arrays, rectify
from agents.rl.situation import N_SITUATION, final_placements, situations_of
from engine.common.files import write_atomically
from engine.compiling import kernel
from engine.table import GAME_OVER, N_SEATS

FILE = "critic.npz"  # the file in a training folder
CriticWeights: TypeAlias = dict[str, np.ndarray]  # name -> float32; matrices are [inputs, outputs]
N_LAYERS = 3  # of both networks
MAX_WEIGHT = 1e6  # far above those of training; sums of larger ones could be infinite
NAMES = tuple(
    f"{network}.{layer}.{part}"
    for network in ("critic", "situation")
    for layer in range(N_LAYERS)
    for part in ("weight", "bias")
)


def save_critic(path: Path, weights: CriticWeights) -> None:
    """Write the weights in half precision as a NumPy archive. Raises OSError."""
    with write_atomically(path) as file:
        np.savez(file, **{name: weights[name].astype(np.float16) for name in NAMES})


def load_critic(path: Path, n_state: int) -> CriticWeights:
    """The weights in a file that `save_critic` wrote, for `n_state` features of a position.

    Raises ValueError, in one line, for anything else.
    """
    found = read_arrays(path, NAMES)
    inputs = {"critic": n_state + N_ORACLE, "situation": N_SITUATION}
    for network, n in inputs.items():
        for layer in range(N_LAYERS):
            weight, bias = (found.get(f"{network}.{layer}.{part}") for part in ("weight", "bias"))
            if weight is None or bias is None or not _fits(weight, bias, n):
                made = "made for other features, or by another version?"
                raise ValueError(f"{path}: layer {layer} of {network!r} is missing or does not fit: {made}")
            n = weight.shape[1]
        if n != 1:
            raise ValueError(f"{path}: {network!r} ends in {n} values, not in one; take an earlier copy")
    with np.errstate(over="ignore"):
        weights = {name: np.ascontiguousarray(found[name], dtype=np.float32) for name in NAMES}
    if not all((np.abs(each) < MAX_WEIGHT).all() for each in weights.values()):
        raise ValueError(f"{path}: holds numbers that are not finite, or too large; take an earlier copy")
    return weights


def _fits(weight: np.ndarray, bias: np.ndarray, n: int) -> bool:
    """Whether they are those of a layer with `n` inputs."""
    floats = weight.dtype.kind == bias.dtype.kind == "f"
    return floats and weight.ndim == 2 and len(weight) == n and bias.shape == weight.shape[1:] != (0,)


@kernel(f"{F2}, {F2}, {F1}, {F2}, {F1}, {F2}, {F1}, {F1}")
def forward(
    inputs: np.ndarray,
    first: np.ndarray,
    first_bias: np.ndarray,
    second: np.ndarray,
    second_bias: np.ndarray,
    last: np.ndarray,
    last_bias: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the output of a perceptron with ReLU for `inputs` float32[n, :] into `out` float32[n].

    Compiled, as most inputs are 0, and as a BLAS may wait for threads that other processes keep from running.
    """
    one, two, three = np.empty_like(first_bias), np.empty_like(second_bias), np.empty_like(last_bias)
    for k in range(len(inputs)):
        one[:] = first_bias
        add_product(inputs[k], first, one)
        rectify(one)
        two[:] = second_bias
        add_product(one, second, two)
        rectify(two)
        three[:] = last_bias
        add_product(two, last, three)
        out[k] = three[0]


def _outputs(weights: CriticWeights, network: str, inputs: np.ndarray) -> np.ndarray:
    """The output of one of the networks for `inputs` float32[n, :], float32[n]."""
    out = np.empty(len(inputs), dtype=np.float32)
    arguments: list[Any] = [inputs, *(weights[name] for name in NAMES if name.startswith(network)), out]
    forward(*arguments)
    return out


def values_of_changes(weights: CriticWeights, states: np.ndarray, oracle: np.ndarray) -> np.ndarray:
    """The expected change of 2 - placement in the round, float32[n]; arguments as of `agents.rl.networks.Critic`."""
    return _outputs(weights, "critic", np.concatenate([states, oracle], axis=1))


def values_of_situations(weights: CriticWeights, records: np.ndarray) -> np.ndarray:
    """2 - the expected placement of each seat, float32[n, 3], at `records` TABLE[n] at the start of a round.

    Where the game is over it is 2 - the placement.
    """
    situations = situations_of(records, np.zeros((len(records), N_SEATS), dtype=np.int8))
    found = _outputs(weights, "situation", situations.reshape(-1, N_SITUATION)).reshape(-1, N_SEATS)
    found -= found.mean(axis=1, keepdims=True)
    over = records["phase"] == GAME_OVER
    found[over] = 2.0 - final_placements(records[over])
    return found
