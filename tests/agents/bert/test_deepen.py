"""Deepening a trained network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs nukidora[train]")

from agents import registry  # noqa: E402
from agents.base import ActionValues  # noqa: E402
from agents.bert import cli as commands  # noqa: E402
from agents.bert.bot import BUNDLED  # noqa: E402
from agents.bert.model import PolicyValue  # noqa: E402
from agents.bert.training.deepen import deepen  # noqa: E402
from engine.tables import Tables  # noqa: E402


@pytest.mark.long
def test_a_deepened_network_plays_almost_as_before(tmp_path: Path) -> None:
    n_before = PolicyValue.from_pretrained(BUNDLED).config.num_hidden_layers
    assert commands.main(["deepen", str(BUNDLED), str(tmp_path / "deeper"), "--layers", str(n_before + 3)]) == 0
    rule, network = registry.make("rule"), registry.make("bert")
    assert isinstance(network, ActionValues)
    bots = [registry.make(spec, 1) for spec in (f"bert:{tmp_path / 'deeper'}", "random")]
    regrets: list[list[np.ndarray]] = [[], []]

    def watched(views: np.ndarray) -> np.ndarray:
        """Note the regret of both bots by the action values of the network, at most 0.25 in one decision."""
        values = network.action_values(views)
        for bot, noted in zip(bots, regrets, strict=True):
            chosen = np.take_along_axis(values, bot.act(views)[:, None], axis=1)[:, 0]
            noted.append(np.minimum(values.max(axis=1) - chosen, 0.25))
        return rule.act(views)

    for _ in Tables(range(60)).play([watched], np.zeros((60, 3), dtype=np.int8)):
        break
    deeper, at_random = map(np.concatenate, regrets)
    assert len(deeper) > 1000
    assert deeper.any()
    assert deeper.mean() < at_random.mean() / 30


def test_every_new_layer_can_learn() -> None:
    before = PolicyValue.from_pretrained(BUNDLED, dtype=torch.float32)
    n_before = before.config.num_hidden_layers
    deeper = deepen(before, 2 * n_before)
    assert len(before.bert.encoder.layer) == n_before
    assert len(deeper.bert.encoder.layer) == deeper.config.num_hidden_layers == 2 * n_before
    random = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 994, (4, 20), generator=random)
    out = deeper(ids, torch.ones(4, 20, dtype=torch.bool), torch.zeros(4, 20, dtype=torch.long))
    out.policy.square().mean().backward()
    for layer in deeper.bert.encoder.layer:
        for part in (layer.attention.output, layer.output):
            assert part.dense.weight.grad.abs().max() > 0
