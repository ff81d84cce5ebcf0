"""Running ``model.onnx`` of a CNN: each of the five networks for the rows in which it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents.cnn.answers import N_ANSWERS, label_logits

if TYPE_CHECKING:
    import onnxruntime

    from agents.bert.checkpoint import Forward

VALUE, FIXED_OUTPUT = "value", "fixed"
INPUT_NAMES = (*N_ANSWERS, VALUE)
OUTPUT_NAMES = (*(f"{name}_answers" for name in INPUT_NAMES), FIXED_OUTPUT)


def session_forward(session: onnxruntime.InferenceSession) -> Forward:
    """The forward pass of a session, with the inputs and outputs of BERT's."""
    from agents.cnn.planes import planes_of  # only now: other networks do not need its kernel compiled

    def forward(input_ids: np.ndarray, attention_mask: np.ndarray, position_ids: np.ndarray) -> np.ndarray:
        planes, asked = planes_of(input_ids)
        feeds = {name: planes[asked[:, index]] for index, name in enumerate(N_ANSWERS)}
        feeds[VALUE] = planes.mean(axis=(2, 3), keepdims=True)
        *found, value, fixed = session.run(OUTPUT_NAMES, feeds)
        answers = {}
        for index, (name, answer) in enumerate(zip(N_ANSWERS, found, strict=True)):
            answers[name] = np.zeros((len(planes), N_ANSWERS[name]), dtype=np.float32)
            answers[name][asked[:, index]] = answer
        logits = label_logits(np, answers, fixed, asked)
        heads: np.ndarray = np.concatenate([logits, value], axis=1).astype(np.float32)
        return heads

    return forward
