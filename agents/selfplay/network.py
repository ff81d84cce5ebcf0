"""The network: its weights, their file, and the compiled forward pass of the policy.

Three parts, each a perceptron with ReLU between its layers:

* policy: the first layer is the sum of a product with the state and one with the action, so that the state is
  multiplied once and every action of every position shares the same weights; then a hidden layer, then the logit;
* value: from the state, what the game is expected to bring the viewer, in units of RESULT_UNIT;
* situation: the same at the start of a round, before the deal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from agents.selfplay.features import N_ACTION, N_SITUATION, N_STATE, encode
from engine.actions import N_ACTIONS
from engine.common.files import write_atomically
from engine.compiling import inner, kernel
from engine.game import MAX_MENU
from engine.kernels import hash_view
from engine.rng import uniform
from engine.table import TABLE, raw_bytes

Weights: TypeAlias = dict[str, np.ndarray]  # name in SHAPES -> float32, C-contiguous

RESULT_UNIT = 30.0  # final points (in thousands, uma and oka included) that are 1 in the network
JOINT, HIDDEN, VALUE, VALUE_HIDDEN, SITUATION = 96, 48, 96, 48, 32  # widths of the layers
# Matrices are [inputs, outputs]. The policy's six come first, in the order in which the compiled code takes them.
SHAPES: dict[str, tuple[int, ...]] = {
    "state": (N_STATE, JOINT),
    "state_bias": (JOINT,),
    "action": (N_ACTION, JOINT),
    "hidden": (JOINT, HIDDEN),
    "hidden_bias": (HIDDEN,),
    "logit": (HIDDEN,),
    "value": (N_STATE, VALUE),
    "value_bias": (VALUE,),
    "value_hidden": (VALUE, VALUE_HIDDEN),
    "value_hidden_bias": (VALUE_HIDDEN,),
    "value_out": (VALUE_HIDDEN,),
    "value_out_bias": (1,),
    "situation": (N_SITUATION, SITUATION),
    "situation_bias": (SITUATION,),
    "situation_out": (SITUATION,),
    "situation_out_bias": (1,),
}
MAX_MEMBER = 1 << 20  # bytes of a file in the archive, unpacked; the largest takes 54 kB
POLICY = tuple(SHAPES)[:6]
LAST = ("logit", "value_out", "situation_out")  # start near zero: all actions alike, nothing expected
LOGITS = "uint8[::1], int64, float32[:, ::1], float32[::1], float32[:, ::1], float32[:, ::1], float32[::1], "
LOGITS += "float32[::1], float32[:, ::1]"


def random_weights(seed: int) -> Weights:
    """Weights at random: normal with variance 2 / inputs (He et al. 2015), the last layers a hundredth of that."""
    generator = np.random.default_rng(seed)
    weights = {}
    for name, shape in SHAPES.items():
        spread = 0.0 if name.endswith("bias") else np.sqrt(2 / shape[0]) * (0.01 if name in LAST else 1.0)
        weights[name] = (spread * generator.standard_normal(shape)).astype(np.float32)
    return weights


def save_weights(path: Path, weights: Weights) -> None:
    """Write the weights as a NumPy archive. Raises OSError."""
    with write_atomically(path) as file:
        np.savez(file, **weights)


def load_weights(path: Path) -> Weights:
    """The weights in a file that `save_weights` wrote. Raises ValueError, in one line, for anything else."""
    try:
        with np.load(path) as archive:
            if any(info.file_size > MAX_MEMBER for info in archive.zip.infolist()):
                raise ValueError
            weights = {name: archive[name] for name in SHAPES if name in archive}
    except Exception as error:  # NumPy and zipfile raise a dozen kinds for damaged files
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no NumPy archive"
        raise ValueError(f"{path}: cannot be read ({reason}); agents.selfplay train writes such files") from None
    for name, shape in SHAPES.items():
        found = weights.get(name)
        if found is None or found.shape != shape or found.dtype != np.float32:
            what = "lacks" if found is None else f"has {found.dtype}{list(found.shape)} as"
            raise ValueError(f"{path}: {what} {name!r}, which must be float32{list(shape)}: made by another version?")
        if not np.isfinite(found).all():
            raise ValueError(f"{path}: {name!r} holds numbers that are not finite; take an earlier copy")
    return {name: np.ascontiguousarray(weights[name]) for name in SHAPES}


@inner
def add_product(inputs: np.ndarray, matrix: np.ndarray, out: np.ndarray) -> None:
    """Add `inputs` @ `matrix` to `out`. Most features and half of the hidden units are zero, and cost nothing."""
    for i in range(len(inputs)):
        x = inputs[i]
        if x != 0:
            row = matrix[i]
            for j in range(len(out)):
                out[j] += x * row[j]


@inner
def rectify(values: np.ndarray) -> None:
    """ReLU, in place."""
    for j in range(len(values)):
        values[j] = max(values[j], np.float32(0))


@kernel(LOGITS)
def policy_logits(
    raw: np.ndarray,
    n: int,
    state_weights: np.ndarray,
    state_bias: np.ndarray,
    action_weights: np.ndarray,
    hidden_weights: np.ndarray,
    hidden_bias: np.ndarray,
    logit_weights: np.ndarray,
    logits: np.ndarray,
) -> None:
    """Write the logit of each legal action of the first `n` views into `logits` float32[n, N_ACTIONS], else -inf."""
    views = raw.view(TABLE)
    state = np.empty(N_STATE, dtype=np.float32)
    actions = np.empty((MAX_MENU, N_ACTION), dtype=np.float32)
    numbers = np.empty(MAX_MENU, dtype=np.int64)
    joint = np.empty(len(state_bias), dtype=np.float32)
    both = np.empty(len(state_bias), dtype=np.float32)
    hidden = np.empty(len(hidden_bias), dtype=np.float32)
    for k in range(n):
        logits[k] = -np.inf
        legal = encode(views[k], state, actions, numbers)
        if legal == 1:
            logits[k, numbers[0]] = 0
            continue
        joint[:] = state_bias
        add_product(state, state_weights, joint)
        for a in range(legal):
            both[:] = joint
            add_product(actions[a], action_weights, both)
            rectify(both)
            hidden[:] = hidden_bias
            add_product(both, hidden_weights, hidden)
            rectify(hidden)
            total = np.float32(0)
            for j in range(len(hidden)):
                total += hidden[j] * logit_weights[j]
            logits[k, numbers[a]] = total


def logits_of(weights: Weights, views: np.ndarray) -> np.ndarray:
    """The logit of each legal action in `views` TABLE[n]: float32[n, N_ACTIONS], -inf for the others."""
    logits = np.empty((len(views), N_ACTIONS), dtype=np.float32)
    arguments: list[Any] = [raw_bytes(views), len(views), *(weights[name] for name in POLICY), logits]
    policy_logits(*arguments)
    return logits


@inner
def late(t: np.record, first_turns: int) -> bool:
    """Whether the viewer has made its first discards of the round."""
    return t.seat[t.viewer].n_river >= first_turns


@kernel("uint8[::1], uint64, float64[::1]")
def view_uniforms(raw: np.ndarray, seed: np.uint64, numbers: np.ndarray) -> None:
    """Write a number in (0, 1) for each view, a function of what the viewer sees and of the seed."""
    views = raw.view(TABLE)
    for k in range(len(numbers)):
        numbers[k] = uniform(hash_view(views[k], seed))


@kernel("float32[:, ::1], float64[::1], float64[::1], float64[::1], float64, int64[::1], float64[::1]")
def sample(
    logits: np.ndarray,
    temperatures: np.ndarray,
    uniforms: np.ndarray,
    gammas: np.ndarray,
    share: float,
    actions: np.ndarray,
    log_probabilities: np.ndarray,
) -> None:
    """Draw an action in each row of `logits` float32[n, N_ACTIONS] from its softmax at `temperatures` float64[n].

    A `share` of the probability is noise of a Dirichlet distribution, made of `gammas` float64: the next one of them
    for each legal action. `uniforms` float64[n] decide. Writes `actions` and the logarithms of their probabilities.
    """
    odds = np.empty(logits.shape[1])
    drawn = np.empty(logits.shape[1])
    used = np.int64(0)
    for k in range(len(logits)):
        highest = np.float64(np.max(logits[k]))
        total = noise = 0.0
        for a in range(len(odds)):
            odds[a] = drawn[a] = 0.0
            if logits[k, a] > -np.inf:
                odds[a] = np.exp((np.float64(logits[k, a]) - highest) / temperatures[k])
                total += odds[a]
                if share > 0:
                    drawn[a] = gammas[used] + 1e-12
                    noise += drawn[a]
                    used += 1
        left = uniforms[k]
        for a in range(len(odds)):
            if logits[k, a] > -np.inf:
                chance = (1 - share) * odds[a] / total + (share * drawn[a] / noise if share > 0 else 0.0)
                actions[k] = a if chance > 0 else actions[k]
                log_probabilities[k] = np.log(chance) if chance > 0 else log_probabilities[k]
                left -= chance
                if left < 0 and chance > 0:
                    break
