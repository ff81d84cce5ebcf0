"""The weights of the model of hidden hands, and their file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.search.tiles import N_FEATURES
from agents.search.worlds import N_BUCKETS, N_MELDS, N_SHANTENS
from engine.common.files import write_atomically

BUNDLED = Path(__file__).parent / "weights" / "worlds.npz"


class Model(NamedTuple):
    """Log weights, see `agents.search.worlds`."""

    tiles: np.ndarray  # float64[N_FEATURES]
    shantens: np.ndarray  # float64[N_MELDS, N_BUCKETS, N_SHANTENS]


NEUTRAL = Model(np.zeros(N_FEATURES), np.zeros((N_MELDS, N_BUCKETS, N_SHANTENS)))  # all hands alike
MAX_MEMBER = 1 << 20  # bytes of an array in a file


def save_model(path: Path, model: Model) -> None:
    """Write a model as a NumPy archive. Raises OSError."""
    with write_atomically(path) as file:
        np.savez(file, **model._asdict())


def load_model(path: Path) -> Model:
    """The model in a file that `save_model` wrote. Raises ValueError, in one line, for anything else."""
    try:
        with np.load(path) as archive:
            if any(info.file_size > MAX_MEMBER for info in archive.zip.infolist()):
                raise ValueError
            model = Model(*(np.ascontiguousarray(archive[name], dtype=np.float64) for name in Model._fields))
    except Exception as error:  # NumPy and zipfile raise a dozen kinds for damaged files
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no model"
        raise ValueError(f"{path}: cannot be read ({reason}); python -m agents.search fit writes such files") from None
    if any(found.shape != right.shape or not np.isfinite(found).all() for found, right in zip(model, NEUTRAL)):
        raise ValueError(f"{path}: made by another version; make it again by python -m agents.search fit")
    return model
