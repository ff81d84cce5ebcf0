"""Weight averaging."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="training needs nukidora[train]")

from agents.bert import cli as commands  # noqa: E402
from agents.bert.bot import BUNDLED  # noqa: E402
from agents.bert.model import PolicyValue, make_config  # noqa: E402
from agents.bert.sizes import PRESETS  # noqa: E402
from agents.bert.training.average import average  # noqa: E402


def saved(folder: Path, size: str, seed: int) -> PolicyValue:
    """A new network, which is also written to `folder`."""
    torch.manual_seed(seed)
    model = PolicyValue(make_config(PRESETS[size]))
    model.save_pretrained(folder)
    return model


def test_every_weight_is_the_mean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["a", "b", "c"]
    models = [saved(tmp_path / name, "micro", seed) for seed, name in enumerate(names)]
    folders = [str(tmp_path / name) for name in names]
    assert commands.main(["average", *folders, str(tmp_path / "mean")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"wrote the mean of 3 networks to {tmp_path / 'mean'}; next:",
        f"  python -m arena --games 300 --bots bert:{tmp_path / 'mean'},rule,random",
    ]
    mean = PolicyValue.from_pretrained(tmp_path / "mean", dtype=torch.float32).state_dict()
    for name, weight in mean.items():
        each = torch.stack([model.state_dict()[name] for model in models])
        torch.testing.assert_close(weight, each.mean(dim=0), msg=name)
    assert any((mean[name] != weight).any() for name, weight in models[0].state_dict().items())


def test_the_mean_of_a_network_and_itself_is_that_network() -> None:
    before = PolicyValue.from_pretrained(BUNDLED, dtype=torch.float32)
    after = average([str(BUNDLED)] * 2)
    assert after.config.to_dict() == before.config.to_dict()
    for name, weight in after.state_dict().items():
        assert torch.equal(weight, before.state_dict()[name]), name
