"""What is learned: masked tokens (`Pretraining`), or policy and value (`Imitation`).

A task turns a batch into a loss to go down and figures to watch; every figure is a mean over what it counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss, softmax
from transformers import PreTrainedModel

from agents.bert.data.dataset import Batch
from agents.bert.data.shards import WORST_REGRET
from agents.bert.folder import POINTS_UNIT
from agents.bert.learning.settings import Settings
from agents.bert.model import PRESETS, MaskedTokens, PolicyValue, make_config
from agents.bert.vocabulary import MASK, N_SPECIAL, N_TOKENS

MASKED = 0.15  # share of the tokens that are to be guessed
TEMPERATURE = 0.004  # places of regret that make a label e times less likely in what is learned
STAKES = 20.0  # weight of the regret to be expected, in places, beside the cross-entropy
REPLACED, RANDOM = 0.8, 0.1  # of these: shown as [MASK]; shown as any other token; the rest stays


class Loss(NamedTuple):
    """The loss of a batch, and its figures."""

    loss: Tensor
    figures: dict[str, Tensor]


class Task(Protocol):
    """Something to learn. One of its figures is ``loss``: the best network has the lowest."""

    @property
    def model(self) -> PreTrainedModel:
        """The network that learns."""
        ...

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures."""
        ...

    def loss(self, model: torch.nn.Module, batch: Batch, random: np.random.Generator, device: torch.device) -> Loss:
        """The loss of `model` (self.model, made ready for `device`); all chance comes from `random`."""
        ...


def network(kind: type[PreTrainedModel], model: str) -> PreTrainedModel:
    """A new network of a preset's size, or one from a folder. Raises ValueError where it is neither."""
    if model in PRESETS:
        return kind(make_config(PRESETS[model]))
    if not (Path(model) / "config.json").is_file():
        raise ValueError(f"{model}: neither a size ({', '.join(PRESETS)}) nor the folder of a network (config.json)")
    try:
        return kind.from_pretrained(model, dtype=torch.float32)
    except (OSError, ValueError, RuntimeError) as error:
        raise ValueError(f"{model}: cannot be loaded as a network of this bot ({error})") from error


def tensors(batch: Batch, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """What the network reads: ids, mask and positions."""
    ids, mask, positions = (torch.from_numpy(array).to(device) for array in (batch.ids, batch.mask, batch.positions))
    return ids, mask, positions


class Pretraining:
    """Guessing tokens that are masked."""

    figures = ("loss", "accuracy")

    def __init__(self, settings: Settings) -> None:
        self.model = network(MaskedTokens, settings.model)

    def loss(self, model: torch.nn.Module, batch: Batch, random: np.random.Generator, device: torch.device) -> Loss:
        """See Task."""
        chosen, shown = mask_tokens(batch, random)
        true = torch.from_numpy(batch.ids[chosen]).to(device)
        ids, mask, positions = tensors(batch._replace(ids=shown), device)
        logits = model(ids, mask, positions, torch.from_numpy(chosen).to(device)).float()
        loss = cross_entropy(logits, true)
        return Loss(loss, {"loss": loss.detach(), "accuracy": (logits.argmax(-1) == true).float().mean()})


def mask_tokens(batch: Batch, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which tokens are to be guessed, bool[n, L], and the ids that are shown instead, int64[n, L]."""
    chosen = (random.random(batch.ids.shape) < MASKED) & (batch.ids >= N_SPECIAL)
    shown, how = batch.ids.copy(), random.random(batch.ids.shape)
    shown[chosen & (how < REPLACED)] = MASK
    any_token = random.integers(N_SPECIAL, N_TOKENS, batch.ids.shape)
    others = chosen & (how >= REPLACED) & (how < REPLACED + RANDOM)
    shown[others] = any_token[others]
    return chosen, shown


class Imitation:
    """The label that was played, or how good a teacher thinks each is; where the player finished, with how many points.

    What is learned is the softmax of -regret / TEMPERATURE, which is the label alone where nobody weighed the others,
    and beside it to lose few places: that counts costly mistakes for more. The figure `regret` is what the likeliest
    label loses, in places, as far as the training files tell.
    """

    figures = ("loss", "accuracy", "regret", "placement_loss", "points_error")

    def __init__(self, settings: Settings) -> None:
        self.model = network(PolicyValue, settings.model)
        self.value = settings.value

    def loss(self, model: torch.nn.Module, batch: Batch, random: np.random.Generator, device: torch.device) -> Loss:
        """See Task."""
        out = model(*tensors(batch, device))
        label, placement = torch.from_numpy(batch.label).to(device), torch.from_numpy(batch.placement).to(device)
        legal, points = torch.from_numpy(batch.legal).to(device), torch.from_numpy(batch.points).to(device)
        regret = torch.from_numpy(batch.regret).to(device)
        logits = out.policy.float().masked_fill(~legal, torch.finfo(torch.float32).min)
        policy = cross_entropy(logits, softmax(-regret / TEMPERATURE, dim=-1))
        expected = (softmax(logits, dim=-1) * regret.nan_to_num(posinf=0.0)).sum(-1).mean()
        chosen = logits.argmax(-1)
        place = cross_entropy(out.placement.float(), placement)
        score = mse_loss(out.points.float(), points / POINTS_UNIT)
        figures = {
            "loss": policy.detach(),
            "accuracy": (chosen == label).float().mean(),
            "regret": regret.gather(-1, chosen[:, None]).clamp(max=WORST_REGRET).mean(),
            "placement_loss": place.detach(),
            "points_error": score.detach().sqrt() * POINTS_UNIT,
        }
        return Loss(policy + STAKES * expected + self.value * (place + score), figures)
