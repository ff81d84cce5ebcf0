"""The policy network: its weights, and its compiled forward pass.

A perceptron with ReLU that scores one action: the first layer is the sum of a product with the position and one with
the action, so that the position is multiplied once, and all actions share the same weights; then a hidden layer, then
the output, which is added to the logit that the action has without the network.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from agents.rl.rows import Features, Rows
from agents.rl.settings import MAX_WIDTH
from engine.common.files import write_atomically
from engine.compiling import inner, kernel

Weights: TypeAlias = dict[str, np.ndarray]  # name -> float32, C-contiguous; matrices are [inputs, outputs]
LOGIT_VALUE_NAME = "logit_value"  # in a file: the placements that a logit of 1 stands for, a number
MAX_MEMBER = 4 * MAX_WIDTH**2 + 4096  # bytes of an array in a file, unpacked


def shapes(n_state: int, n_action: int, joint: int, hidden: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights, in the order in which `forward` takes them."""
    return {
        "state": (n_state, joint),
        "state_bias": (joint,),
        "action": (n_action, joint),
        "hidden": (joint, hidden),
        "hidden_bias": (hidden,),
        "logit": (hidden,),
    }


NAMES = tuple(shapes(1, 1, 1, 1))


@inner
def add_product(inputs: np.ndarray, matrix: np.ndarray, out: np.ndarray) -> None:
    """Add `inputs` @ `matrix` to `out`. Most features and half of the hidden units are zero, and cost nothing.

    Four rows are added at once, so that `out` is read and written a quarter as often.
    """
    used, n = np.empty(len(inputs), dtype=np.int64), np.int64(0)
    for i in range(len(inputs)):
        if inputs[i] != 0:
            used[n] = i
            n += 1
    for k in range(0, n - 3, 4):
        a, b, c, d = used[k], used[k + 1], used[k + 2], used[k + 3]
        x, y, z, w = inputs[a], inputs[b], inputs[c], inputs[d]
        row_x, row_y, row_z, row_w = matrix[a], matrix[b], matrix[c], matrix[d]
        for j in range(len(out)):
            out[j] += x * row_x[j] + y * row_y[j] + z * row_z[j] + w * row_w[j]
    for k in range(n - n % 4, n):
        x, row_x = inputs[used[k]], matrix[used[k]]
        for j in range(len(out)):
            out[j] += x * row_x[j]


@inner
def rectify(values: np.ndarray) -> None:
    """ReLU, in place."""
    for j in range(len(values)):
        values[j] = max(values[j], np.float32(0))


F2, F1 = "float32[:, ::1]", "float32[::1]"


@kernel(f"{F2}, int64[::1], {F2}, {F1}, {F2}, {F1}, {F2}, {F2}, {F1}, {F1}, {F1}")
def forward(
    states: np.ndarray,
    first: np.ndarray,
    actions: np.ndarray,
    prior_logits: np.ndarray,
    state_weights: np.ndarray,
    state_bias: np.ndarray,
    action_weights: np.ndarray,
    hidden_weights: np.ndarray,
    hidden_bias: np.ndarray,
    logit_weights: np.ndarray,
    logits: np.ndarray,
) -> None:
    """Write the logit of each action into `logits` float32[m]; the other arguments are as in `agents.rl.rows.Rows`."""
    joint, both = np.empty_like(state_bias), np.empty_like(state_bias)
    hidden = np.empty_like(hidden_bias)
    for k in range(len(states)):
        joint[:] = state_bias
        add_product(states[k], state_weights, joint)
        for a in range(first[k], first[k + 1]):
            both[:] = joint
            add_product(actions[a], action_weights, both)
            rectify(both)
            hidden[:] = hidden_bias
            add_product(both, hidden_weights, hidden)
            rectify(hidden)
            total = prior_logits[a]
            for j in range(len(hidden)):
                total += hidden[j] * logit_weights[j]
            logits[a] = total


@kernel(f"{F1}, int64[::1], float64[::1], int64[::1], {F1}")
def sample(
    logits: np.ndarray, first: np.ndarray, uniforms: np.ndarray, chosen: np.ndarray, log_probabilities: np.ndarray
) -> None:
    """Draw one action of each row from the softmax of its logits, as `uniforms` float64[n] in (0, 1) decide.

    Writes the index of each in the row into `chosen` int64[n], and the logarithm of its probability.
    """
    for k in range(len(first) - 1):
        begin, end = first[k], first[k + 1]
        highest = np.float64(logits[begin])
        for a in range(begin, end):
            highest = max(highest, np.float64(logits[a]))
        total = 0.0
        for a in range(begin, end):
            total += np.exp(logits[a] - highest)
        left = uniforms[k] * total
        drawn = begin
        for a in range(begin, end):
            chance = np.exp(logits[a] - highest)
            if chance > 0:
                drawn = a
                left -= chance
                if left < 0:
                    break
        chosen[k] = drawn - begin
        log_probabilities[k] = logits[drawn] - highest - np.log(total)


@kernel(f"{F1}, int64[::1], int64[::1]")
def choose_best(logits: np.ndarray, first: np.ndarray, chosen: np.ndarray) -> None:
    """Write the index of the action with the highest logit in each row into `chosen` int64[n]."""
    for k in range(len(first) - 1):
        best = first[k]
        for a in range(first[k], first[k + 1]):
            if logits[a] > logits[best]:
                best = a
        chosen[k] = best - first[k]


def logits_of(weights: Weights, rows: Rows) -> np.ndarray:
    """The logit of each action of `rows`, float32[m]."""
    logits = np.empty(len(rows.prior_logits), dtype=np.float32)
    arguments: list[Any] = [
        rows.states,
        rows.first,
        rows.actions,
        rows.prior_logits,
        *(weights[name] for name in NAMES),
        logits,
    ]
    forward(*arguments)
    return logits


def random_weights(features: Features, joint: int, hidden: int, seed: int) -> Weights:
    """Weights at random: normal with variance 2 / inputs (He et al. 2015); biases and the output are 0.

    `joint` and `hidden` are the widths of the layers. A network with such weights adds nothing to any logit.
    """
    generator = np.random.default_rng(seed)
    weights = {}
    for name, shape in shapes(features.n_state, features.n_action, joint, hidden).items():
        spread = 0.0 if name.endswith("bias") or name == "logit" else np.sqrt(2 / shape[0])
        weights[name] = (spread * generator.standard_normal(shape)).astype(np.float32)
    return weights


def widen(weights: Weights, features: Features, joint: int, hidden: int, seed: int) -> Weights:
    """Return the same function with wider layers (function-preserving, as in Net2Net, Chen et al. 2016).

    New units have random inputs; their weights into old units and into the logit are 0.
    """
    n_joint, n_hidden = weights["hidden"].shape
    wide = random_weights(features, joint, hidden, seed)
    wide["hidden"][n_joint:, :n_hidden] = 0
    for name in NAMES:
        wide[name][tuple(slice(size) for size in weights[name].shape)] = weights[name]
    return wide


def save_weights(path: Path, weights: Weights, logit_value: float | None = None) -> None:
    """Write the weights, and the value of a logit if it is known, as a NumPy archive. Raises OSError."""
    arrays = weights if logit_value is None else weights | {LOGIT_VALUE_NAME: np.array(logit_value)}
    with write_atomically(path) as file:
        np.savez(file, **arrays)


def _width(matrix: np.ndarray | None) -> int:
    """The number of outputs of a matrix that may be missing or wrong."""
    return min(matrix.shape[1], MAX_WIDTH) if matrix is not None and matrix.ndim == 2 else MAX_WIDTH


def load_weights(path: Path, features: Features) -> Weights:
    """The weights in a file that `save_weights` wrote. Raises ValueError, in one line, for anything else."""
    return check_weights(path, read_arrays(path, NAMES), features)


def load_logit_value(path: Path) -> float | None:
    """The value of a logit in a file that `save_weights` wrote; None if it has none. Raises ValueError, in one line."""
    found = read_arrays(path, [LOGIT_VALUE_NAME]).get(LOGIT_VALUE_NAME)
    if found is None:
        return None
    if found.shape != () or found.dtype != np.float64 or not 0 < found < np.inf:
        raise ValueError(f"{path}: {LOGIT_VALUE_NAME!r} is no number above 0; take an earlier copy")
    return float(found)


def read_arrays(path: Path, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Those of the arrays `names` that are in a NumPy archive. Raises ValueError, in one line, if it is none."""
    try:
        with np.load(path) as archive:
            if any(info.file_size > MAX_MEMBER for info in archive.zip.infolist()):
                raise ValueError
            return {name: archive[name] for name in names if name in archive}
    except Exception as error:  # NumPy and zipfile raise a dozen kinds for damaged files
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no NumPy archive"
        raise ValueError(f"{path}: cannot be read ({reason}); python -m agents.rl train writes such files") from None


def check_weights(path: Path, found: Weights, features: Features) -> Weights:
    """The weights `found` in a file, C-contiguous. Raises ValueError, in one line, if `features` do not fit them."""
    joint, hidden = (_width(found.get(name)) for name in ("state", "hidden"))
    for name, shape in shapes(features.n_state, features.n_action, joint, hidden).items():
        weight = found.get(name)
        if weight is None or weight.shape != shape or weight.dtype != np.float32:
            what = "lacks" if weight is None else f"has {weight.dtype}{list(weight.shape)} as"
            made = f"made for other features than {features.name!r}, or by another version?"
            raise ValueError(f"{path}: {what} {name!r}, which must be float32{list(shape)}: {made}")
        if not np.isfinite(weight).all():
            raise ValueError(f"{path}: {name!r} holds numbers that are not finite; take an earlier copy")
    return {name: np.ascontiguousarray(found[name]) for name in NAMES}
