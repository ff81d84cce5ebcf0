"""The calibration set, and the activation ranges of a network on it: the basis of static quantization."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from agents.bert.encoding import Encoded, encode
from agents.bert.export.quantization import ActivationRanges, CalibrationBuilder
from agents.bert.export.weights import Checkpoint
from agents.bert.inference import BATCH_SIZE, OUTPUT_NAME, Predictor, onnx_session, run_session
from agents.bert.labels import legal_table
from agents.registry import make
from engine.tables import Tables

CALIBRATION_WALLS = range(1000, 1004)
CALIBRATION_SIZE = 128  # samples


def self_play_views(walls: Sequence[int]) -> np.ndarray:
    """TABLE[n]: all views with more than one legal label from hanchan of the bot `rule` on `walls`, shuffled."""
    bot = make("rule")
    collected: list[np.ndarray] = []

    def act(views: np.ndarray) -> np.ndarray:
        collected.append(views[legal_table(views).sum(axis=1) > 1])
        return bot.act(views)

    for _ in Tables(walls).play([act], np.zeros((len(walls), 3), dtype=np.int8)):
        pass
    return np.random.default_rng(1).permutation(np.concatenate(collected))


@cache
def calibration_set() -> Encoded:
    """CALIBRATION_SIZE encoded samples."""
    return encode(self_play_views(CALIBRATION_WALLS)[:CALIBRATION_SIZE])


def activation_ranges(checkpoint: Checkpoint) -> ActivationRanges:
    """Minimum and maximum of each input of the linear layers on the calibration set."""
    builder = CalibrationBuilder(checkpoint)
    session = onnx_session(builder.model().SerializeToString())
    batches: list[list[np.ndarray]] = []  # for each batch the ranges of each layer

    def forward(*inputs: np.ndarray) -> np.ndarray:
        heads, *ranges = run_session(session, [OUTPUT_NAME, *builder.ranges.values()], *inputs)
        batches.append(ranges)
        return heads

    samples = calibration_set()
    Predictor(forward, BATCH_SIZE["cpu"])(samples.input_ids, samples.lengths, samples.n_state)
    return {
        name: np.stack([np.min(ranges, axis=0)[0], np.max(ranges, axis=0)[1]])
        for name, *ranges in zip(builder.ranges, *batches)
    }
