"""The fixtures of the BERT bot's tests, and a small CNN."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents.bert.conftest import data, views

__all__ = ["data", "views"]


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with random weights."""
    torch = pytest.importorskip("torch", reason="training needs nukidora[train]")
    from agents.bert.training.networks import create_or_load, quiet_libraries
    from agents.bert.training.saving import save_network

    quiet_libraries()
    torch.manual_seed(1)
    model = create_or_load("dwarf")
    for name, buffer in model.named_buffers():  # as if it had been trained
        if name.endswith("running_mean"):
            buffer.normal_(0.0, 0.1)
        elif name.endswith("running_var"):
            buffer.uniform_(0.05, 0.2)
    folder = tmp_path_factory.mktemp("networks") / "dwarf"
    save_network(model, folder)
    return folder
