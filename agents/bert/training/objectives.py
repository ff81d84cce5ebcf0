"""What is learned: masked tokens (`Pretraining`), policy and value (`Imitation`), or from results (`Improvement`).

A task turns a batch into a loss to go down and figures to watch; every figure is a mean over what it counts.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, log_softmax, mse_loss, softmax
from transformers import PreTrainedModel
from transformers.utils import logging

from agents.bert.checkpoint import POINTS_UNIT, REGRET_UNIT
from agents.bert.model import PRESETS, MaskedTokens, Outputs, PolicyValue, make_config
from agents.bert.training.config import Settings
from agents.bert.training.data.dataset import Batch
from agents.bert.training.data.shards import NOT_THOUGHT_OF
from agents.bert.vocabulary import MASK, N_SPECIAL, N_TOKENS

MASKED = 0.15  # share of the tokens that are to be guessed
STAKES = 20.0  # weight of the regret to be expected, in places, beside the cross-entropy
GAIN_A_NAT = 0.005  # places a policy must gain by trials to drift a nat from what it was
AS_GOOD = 0.01  # places: what a label loses counts from there on; a teacher is not that exact
SOFTENED = 0.5  # logits are taken times that where trials teach: labels that seem unlikely are heard as well
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


def hush_transformers() -> None:
    """No bars for reading a network, and no report of new heads: one that goes on as another task's should."""
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]


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


def trained(model: str, why: str) -> PolicyValue:
    """The network in a folder. Raises ValueError where there is none, or a preset is named, telling `why` that is."""
    if model in PRESETS:
        raise ValueError(f"{model}: a new network {why}; name a network's folder")
    return cast(PolicyValue, network(PolicyValue, model))


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

    What is learned is the softmax of -regret / REGRET_UNIT, which is the label alone where nobody weighed the others,
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
        label, regret = torch.from_numpy(batch.label).to(device), torch.from_numpy(batch.regret).to(device)
        logits = legal_logits(out, batch)
        policy = cross_entropy(logits, softmax(-regret / REGRET_UNIT, dim=-1))
        expected = expected_regret(logits, regret)
        chosen = logits.argmax(-1)
        value = value_loss(out, batch)
        figures = {
            "loss": policy.detach(),
            "accuracy": (chosen == label).float().mean(),
            "regret": regret.masked_fill(regret.isinf(), NOT_THOUGHT_OF).gather(-1, chosen[:, None]).mean(),
        }
        return Loss(policy + STAKES * expected + self.value * value.loss, figures | value.figures)


class Improvement:
    """To choose what comes out best in trials, without leaving what was learned before further than that is worth.

    The network it began with is kept to compare with. The figures `regret` and `regret_before` are what this one and
    that one may expect to lose in places, among the labels that were tried; `drift` is how far apart they are, in nats.
    """

    figures = ("loss", "regret", "regret_before", "drift", "placement_loss", "points_error")

    def __init__(self, settings: Settings) -> None:
        self.model = trained(settings.model, "has nothing to improve")
        self.before: torch.nn.Module = copy.deepcopy(self.model).requires_grad_(requires_grad=False)
        self.value = settings.value

    def loss(self, model: torch.nn.Module, batch: Batch, random: np.random.Generator, device: torch.device) -> Loss:
        """See Task."""
        out = model(*tensors(batch, device))
        with torch.no_grad():
            before = legal_logits(self.before.to(device)(*tensors(batch, device)), batch)
        now, regret = legal_logits(out, batch), torch.from_numpy(batch.regret).to(device)
        drift = kl_div(log_softmax(before, -1), log_softmax(now, -1), log_target=True, reduction="batchmean")
        told = (regret - AS_GOOD).clamp(min=0.0)
        loss = expected_regret(SOFTENED * now, told) / (SOFTENED * GAIN_A_NAT) + drift
        value = value_loss(out, batch)
        figures = {
            "loss": loss.detach(),
            "regret": expected_regret(now.detach(), regret),
            "regret_before": expected_regret(before, regret),
            "drift": drift.detach(),
        }
        return Loss(loss + self.value * value.loss, figures | value.figures)


def legal_logits(out: Outputs, batch: Batch) -> Tensor:
    """float32[n, N_LABELS]: the policy's logits, those of illegal labels so low that they have no probability."""
    illegal = torch.from_numpy(~batch.legal).to(out.policy.device)
    return out.policy.float().masked_fill(illegal, torch.finfo(torch.float32).min)


def expected_regret(logits: Tensor, regret: Tensor) -> Tensor:
    """What a policy may expect to lose, in places, if it chooses among the labels whose regret is known."""
    unknown = regret.isinf()
    chances = softmax(logits.masked_fill(unknown, torch.finfo(torch.float32).min), dim=-1)
    return (chances * regret.masked_fill(unknown, 0.0)).sum(-1).mean()


def value_loss(out: Outputs, batch: Batch) -> Loss:
    """How wrong the value head is about placement and final points."""
    device = out.placement.device
    place = cross_entropy(out.placement.float(), torch.from_numpy(batch.placement).to(device))
    score = mse_loss(out.points.float(), torch.from_numpy(batch.points).to(device) / POINTS_UNIT)
    figures = {"placement_loss": place.detach(), "points_error": score.detach().sqrt() * POINTS_UNIT}
    return Loss(place + score, figures)
