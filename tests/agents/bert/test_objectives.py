"""What a network learns for: the losses and targets of the objectives, and what the network makes of padding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs nukidora[train]")

from agents.bert.checkpoint import REGRET_UNIT  # noqa: E402
from agents.bert.model import PolicyValue, encode_tokens, make_config  # noqa: E402
from agents.bert.sizes import PRESETS  # noqa: E402
from agents.bert.training.config import TrainingConfig  # noqa: E402
from agents.bert.training.data.dataset import Batch, Dataset  # noqa: E402
from agents.bert.training.data.shards import UNKNOWN_REGRET  # noqa: E402
from agents.bert.training.objectives import (  # noqa: E402
    REGRET_TOLERANCE,
    Imitation,
    Improvement,
    Loss,
    mask_tokens,
)
from agents.bert.vocabulary import MASK, N_SPECIAL  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def batch(data: Path) -> Batch:
    dataset = Dataset(data)
    return dataset.batch(next(dataset.batches(64, seed=0, epoch=0)))


def test_only_the_first_token_is_the_same_as_the_whole_bert(batch: Batch) -> None:
    torch.manual_seed(1)
    model = PolicyValue(make_config(PRESETS["micro"])).eval()
    ids, mask, positions = map(torch.from_numpy, (batch.input_ids, batch.attention_mask, batch.position_ids))
    with torch.inference_mode():
        ours = encode_tokens(model.bert, ids, mask, positions, only_first=True)[:, 0]
        theirs = model.bert(input_ids=ids, attention_mask=mask, position_ids=positions).last_hidden_state[:, 0]
    assert torch.allclose(ours, theirs, atol=1e-5)


def test_padding_changes_nothing(batch: Batch) -> None:
    torch.manual_seed(1)
    model = PolicyValue(make_config(PRESETS["micro"])).eval()
    wide = [np.pad(array, ((0, 0), (0, 8))) for array in (batch.input_ids, batch.attention_mask, batch.position_ids)]
    with torch.inference_mode():
        narrow_out = model(*map(torch.from_numpy, (batch.input_ids, batch.attention_mask, batch.position_ids)))
        wide_out = model(*map(torch.from_numpy, wide))
    for narrow, padded in zip(narrow_out, wide_out, strict=True):
        assert torch.allclose(narrow, padded, atol=1e-5)


def test_illegal_labels_have_no_loss_and_are_never_chosen(batch: Batch) -> None:
    torch.manual_seed(1)
    objective = Imitation(TrainingConfig("train", "", model="micro"))
    with torch.no_grad():
        objective.model.policy.bias[:] = torch.from_numpy(np.where(batch.legal.any(axis=0), 0.0, 1e4))
    loss = objective.loss(objective.model, batch, np.random.default_rng(0), torch.device("cpu"))
    assert float(loss.metrics["policy_loss"]) < 2 * np.log(46)


@pytest.mark.parametrize(("name", "make_objective"), [("train", Imitation), ("improve", Improvement)])
def test_the_metric_loss_is_what_is_minimized(batch: Batch, tmp_path: Path, name: str, make_objective: type) -> None:
    torch.manual_seed(1)
    PolicyValue(make_config(PRESETS["micro"])).save_pretrained(tmp_path)
    objective = make_objective(TrainingConfig(name, "", model=str(tmp_path), value_weight=0.5))
    loss = objective.loss(objective.model, batch, np.random.default_rng(0), torch.device("cpu"))
    assert float(loss.metrics["loss"]) == float(loss.loss.detach())
    assert float(loss.metrics["policy_loss"]) < float(loss.loss.detach()) - 0.1
    assert loss.metrics.keys() == set(objective.metric_names)


def test_imitation_of_regrets(batch: Batch) -> None:
    """Nearly equal labels get nearly equal probability; the metric is the regret of the likeliest label."""
    regret = np.full_like(batch.regret, np.inf)
    regret[:, :3] = 0.0, REGRET_UNIT, 0.1
    legal = np.zeros_like(batch.legal)
    legal[:, :4] = True
    labelled = batch._replace(regret=regret, legal=legal, label=np.zeros_like(batch.label))
    objective = Imitation(TrainingConfig("train", "", model="micro", value_weight=0.0))

    def loss_of(*logits: float) -> tuple[float, float, float]:
        with torch.no_grad():
            objective.model.policy.weight.zero_()
            objective.model.policy.bias[: len(logits)] = torch.tensor(logits)
        loss = objective.loss(objective.model, labelled, np.random.default_rng(0), torch.device("cpu"))
        return float(loss.loss.detach()), float(loss.metrics["policy_loss"]), float(loss.metrics["regret"])

    best = (0.0, -1.0, -25.0, -100.0)
    for worse in ((0.0, 0.0, -25.0, -100.0), (0.0, -2.0, -25.0, -100.0), (0.0, -1.0, -2.0, -100.0), (0, -1, -25, -2)):
        assert loss_of(*worse)[1] > loss_of(*best)[1]
    assert loss_of(*best)[2] == 0.0
    assert loss_of(0.0, 0.0, 5.0, 0.0)[2] == pytest.approx(0.1)
    assert loss_of(0.0, 0.0, 0.0, 5.0)[2] == UNKNOWN_REGRET
    costly, cheap = loss_of(0.0, -1.0, 3.0, -100.0), loss_of(0.0, 3.0, -25.0, -100.0)
    assert costly[0] - costly[1] > 10 * (cheap[0] - cheap[1])  # the expected regret


def test_the_probabilities_of_a_teacher_are_learned_in_place_of_the_data(batch: Batch, tmp_path: Path) -> None:
    """The loss is lowest, the entropy of the teacher, for the teacher itself, whatever was played."""
    torch.manual_seed(1)
    PolicyValue(make_config(PRESETS["micro"])).save_pretrained(tmp_path)
    config = TrainingConfig("train", "", model=str(tmp_path), teacher=str(tmp_path), value_weight=0.0)
    objective = Imitation(config)

    def loss_of(batch: Batch) -> Loss:
        return objective.loss(objective.model, batch, np.random.default_rng(0), torch.device("cpu"))

    played = np.full_like(batch.regret, np.inf)
    played[np.arange(len(played)), batch.label] = 0.0
    other = batch.legal.argmax(axis=1)
    others = np.full_like(batch.regret, np.inf)
    others[np.arange(len(others)), other] = 0.0
    same = loss_of(batch._replace(regret=played))
    same.loss.backward()
    assert objective.model.policy.weight.grad.abs().max() < 1e-5
    assert loss_of(batch._replace(regret=others, label=other)).loss.equal(same.loss)
    with torch.no_grad():
        objective.model.policy.weight += 0.1 * torch.randn_like(objective.model.policy.weight)
    assert loss_of(batch._replace(regret=played)).metrics["policy_loss"] > same.metrics["policy_loss"] + 0.01
    assert all(not each.requires_grad for each in objective.teacher.parameters())


@pytest.mark.slow
def test_improvement_follows_regrets_and_stays_at_the_reference_without_them(batch: Batch, tmp_path: Path) -> None:
    torch.manual_seed(1)
    PolicyValue(make_config(PRESETS["micro"])).save_pretrained(tmp_path)
    objective = Improvement(TrainingConfig("improve", "", model=str(tmp_path), value_weight=0.0))
    optimizer = torch.optim.AdamW(objective.model.parameters(), lr=1e-3)
    cpu = torch.device("cpu")

    def learn(regret: np.ndarray) -> dict[str, float]:
        for _ in range(60):
            loss = objective.loss(objective.model, batch._replace(regret=regret), np.random.default_rng(0), cpu)
            loss.loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        return {name: float(value) for name, value in loss.metrics.items()}

    nothing = np.where(batch.legal, np.float32(0.0), np.float32(np.inf))
    assert learn(nothing)["kl"] < 1e-3
    tolerated = np.where(
        batch.legal, np.float32(REGRET_TOLERANCE) * (batch.legal.cumsum(axis=1) - 1 > 0), np.float32(np.inf)
    )
    assert learn(tolerated)["kl"] < 1e-3
    first = batch.legal & (np.cumsum(batch.legal, axis=1) == 1)
    lowest_is_best = np.where(first, np.float32(0.0), np.where(batch.legal, np.float32(0.1), np.float32(np.inf)))
    metrics = learn(lowest_is_best)
    assert metrics["regret"] < 0.5 * metrics["reference_regret"]
    assert metrics["kl"] > 0.1
    assert learn(nothing)["kl"] < 0.2 * metrics["kl"]


def test_masking_follows_bert(batch: Batch) -> None:
    random = np.random.default_rng(3)
    many = batch._replace(input_ids=np.tile(batch.input_ids, (40, 1)))
    chosen, shown = mask_tokens(many, random)
    ordinary = many.input_ids >= N_SPECIAL
    assert not chosen[~ordinary].any()
    assert (shown[~chosen] == many.input_ids[~chosen]).all()
    assert chosen.sum() / ordinary.sum() == pytest.approx(0.15, abs=0.005)
    assert (shown[chosen] == MASK).mean() == pytest.approx(0.8, abs=0.02)
    assert (shown[chosen] == many.input_ids[chosen]).mean() == pytest.approx(0.1, abs=0.02)
