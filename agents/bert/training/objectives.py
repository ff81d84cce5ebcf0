"""Training objectives: masked tokens (`Pretraining`), imitation (`Imitation`), improvement by rollouts (`Improvement`).

An objective computes the loss of a batch and metrics to watch. Regrets are in units of placement: 1 is one rank lower.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, kl_div, log_softmax, mse_loss, softmax
from transformers import PreTrainedModel

from agents.bert.checkpoint import POINTS_UNIT, REGRET_UNIT
from agents.bert.model import Outputs
from agents.bert.training.config import TrainingConfig
from agents.bert.training.data.dataset import Batch
from agents.bert.training.data.shards import UNKNOWN_REGRET
from agents.bert.training.networks import create_or_load, create_or_load_masked, load_trained
from agents.bert.vocabulary import MASK, N_SPECIAL, N_TOKENS

# Masked language modelling as in BERT: which share of the tokens is to be predicted, and which share of these is shown
# as [MASK] and as a random token; the rest is shown as it is.
MASKED, SHOWN_AS_MASK, SHOWN_AS_RANDOM = 0.15, 0.8, 0.1

REGRET_WEIGHT = 20.0  # weight of the expected regret relative to the cross-entropy, in imitation
REGRET_PER_NAT = 0.005  # improvement: the gain in regret that is worth a KL divergence of one nat
REGRET_TOLERANCE = 0.01  # improvement: only regret beyond that counts; teachers are not more exact
LOGIT_SCALE = 0.5  # improvement: logits are scaled down, so that unlikely labels get a gradient as well


class Loss(NamedTuple):
    """The loss of a batch, and its metrics; each metric is a mean over the batch."""

    loss: Tensor  # scalar, with gradient
    metrics: dict[str, Tensor]  # scalars without gradient


class Objective(Protocol):
    """What a network is trained for. The metric ``loss`` is what is minimized."""

    @property
    def model(self) -> PreTrainedModel:
        """The network to train."""
        ...

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The names of the metrics."""
        ...

    @property
    def selects(self) -> str:
        """The metric whose lowest value in validation selects the best network."""
        ...

    def loss(self, model: torch.nn.Module, batch: Batch, random: np.random.Generator, device: torch.device) -> Loss:
        """The loss of `model`, which is `self.model` prepared for `device`; `random` is the only source of chance."""
        ...


MakeObjective = Callable[[TrainingConfig], Objective]


def model_inputs(batch: Batch, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """The inputs of the network: input_ids int64[n, L], attention_mask bool[n, L], position_ids int64[n, L]."""
    arrays = batch.input_ids, batch.attention_mask, batch.position_ids
    input_ids, attention_mask, position_ids = (torch.from_numpy(array).to(device) for array in arrays)
    return input_ids, attention_mask, position_ids


class Pretraining:
    """Masked language modelling (Devlin et al. 2019): predict tokens that are masked."""

    metric_names = ("loss", "accuracy")
    selects = "loss"

    def __init__(self, config: TrainingConfig) -> None:
        self.model = create_or_load_masked(config.model)

    def loss(self, model: torch.nn.Module, batch: Batch, random: np.random.Generator, device: torch.device) -> Loss:
        """The cross-entropy of the masked tokens."""
        masked, shown = mask_tokens(batch, random)
        true = torch.from_numpy(batch.input_ids[masked]).to(device)
        inputs = model_inputs(batch._replace(input_ids=shown), device)
        logits = model(*inputs, torch.from_numpy(masked).to(device)).float()
        loss = cross_entropy(logits, true)
        return Loss(loss, {"loss": loss.detach(), "accuracy": (logits.argmax(-1) == true).float().mean()})


def mask_tokens(batch: Batch, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which tokens are to be predicted, bool[n, L], and the input ids to show instead, int64[n, L]."""
    shape = batch.input_ids.shape
    masked = (random.random(shape) < MASKED) & (batch.input_ids >= N_SPECIAL)
    shown, how = batch.input_ids.copy(), random.random(shape)
    shown[masked & (how < SHOWN_AS_MASK)] = MASK
    random_tokens = random.integers(N_SPECIAL, N_TOKENS, shape)
    replaced = masked & (how >= SHOWN_AS_MASK) & (how < SHOWN_AS_MASK + SHOWN_AS_RANDOM)
    shown[replaced] = random_tokens[replaced]
    return masked, shown


class Imitation:
    """Imitation of the targets, and a value of the decision: the final placement and points.

    The policy loss is the cross-entropy with softmax(-regret / REGRET_UNIT), which is one-hot where only one label's
    value is known, or with the probabilities of the teacher (distillation: Hinton et al. 2015). The loss adds the
    expected regret, which makes costly mistakes count for more, and the value losses.
    The metric `regret` is the mean regret of the likeliest label.
    """

    metric_names = ("loss", "policy_loss", "accuracy", "regret", "placement_loss", "points_error")
    selects = "policy_loss"

    def __init__(self, config: TrainingConfig) -> None:
        self.model = create_or_load(config.model)
        self.teacher = load_trained(config.teacher).requires_grad_(requires_grad=False) if config.teacher else None
        self.value_weight = config.value_weight

    def loss(self, model: torch.nn.Module, batch: Batch, random: np.random.Generator, device: torch.device) -> Loss:
        """The losses of the policy and of the value."""
        outputs = model(*model_inputs(batch, device))
        label, regret = torch.from_numpy(batch.label).to(device), torch.from_numpy(batch.regret).to(device)
        logits = legal_logits(outputs, batch)
        if self.teacher is None:
            targets = softmax(-regret / REGRET_UNIT, dim=-1)
        else:
            with torch.no_grad():
                targets = softmax(legal_logits(self.teacher.to(device)(*model_inputs(batch, device)), batch), dim=-1)
        policy = cross_entropy(logits, targets)
        expected = expected_regret(logits, regret)
        chosen = logits.argmax(-1)
        value = value_loss(outputs, batch)
        loss = policy + REGRET_WEIGHT * expected + self.value_weight * value.loss
        metrics = {
            "loss": loss.detach(),
            "policy_loss": policy.detach(),
            "accuracy": (chosen == label).float().mean(),
            "regret": regret.masked_fill(regret.isinf(), UNKNOWN_REGRET).gather(-1, chosen[:, None]).mean(),
        }
        return Loss(loss, metrics | value.metrics)


class Improvement:
    """Policy improvement by the results of rollouts, with a KL penalty towards the reference policy.

    The reference is the network that training started from. The policy loss is the expected regret with the KL penalty;
    the loss adds the value losses. The metrics `regret` and `reference_regret` are the
    expected regrets of both policies among the labels of known value; `kl` is KL(reference || policy) in nats.
    """

    metric_names = ("loss", "policy_loss", "regret", "reference_regret", "kl", "placement_loss", "points_error")
    selects = "policy_loss"

    def __init__(self, config: TrainingConfig) -> None:
        self.model = load_trained(config.model)
        self.reference: torch.nn.Module = copy.deepcopy(self.model).requires_grad_(requires_grad=False)
        self.value_weight = config.value_weight

    def loss(self, model: torch.nn.Module, batch: Batch, random: np.random.Generator, device: torch.device) -> Loss:
        """The expected regret, the KL penalty and the loss of the value."""
        outputs = model(*model_inputs(batch, device))
        with torch.no_grad():
            reference = legal_logits(self.reference.to(device)(*model_inputs(batch, device)), batch)
        logits, regret = legal_logits(outputs, batch), torch.from_numpy(batch.regret).to(device)
        kl = kl_div(log_softmax(reference, -1), log_softmax(logits, -1), log_target=True, reduction="batchmean")
        clear = (regret - REGRET_TOLERANCE).clamp(min=0.0)
        policy = expected_regret(LOGIT_SCALE * logits, clear) / (LOGIT_SCALE * REGRET_PER_NAT) + kl
        value = value_loss(outputs, batch)
        loss = policy + self.value_weight * value.loss
        metrics = {
            "loss": loss.detach(),
            "policy_loss": policy.detach(),
            "regret": expected_regret(logits.detach(), regret),
            "reference_regret": expected_regret(reference, regret),
            "kl": kl.detach(),
        }
        return Loss(loss, metrics | value.metrics)


def legal_logits(outputs: Outputs, batch: Batch) -> Tensor:
    """float32[n, N_LABELS]: the policy's logits; those of illegal labels are the lowest float32."""
    illegal = torch.from_numpy(~batch.legal).to(outputs.policy.device)
    return outputs.policy.float().masked_fill(illegal, torch.finfo(torch.float32).min)


def expected_regret(logits: Tensor, regret: Tensor) -> Tensor:
    """The mean over n of the expected regret of a policy among the labels of known regret.

    `logits` float32[n, N_LABELS], `regret` float32[n, N_LABELS] with inf where unknown.
    """
    unknown = regret.isinf()
    probabilities = softmax(logits.masked_fill(unknown, torch.finfo(torch.float32).min), dim=-1)
    return (probabilities * regret.masked_fill(unknown, 0.0)).sum(-1).mean()


def value_loss(outputs: Outputs, batch: Batch) -> Loss:
    """The cross-entropy of the final placement, and the squared error of the final points in units of POINTS_UNIT."""
    device = outputs.placement.device
    placement = cross_entropy(outputs.placement.float(), torch.from_numpy(batch.placement).to(device))
    points = mse_loss(outputs.points.float(), torch.from_numpy(batch.points).to(device) / POINTS_UNIT)
    metrics = {"placement_loss": placement.detach(), "points_error": points.detach().sqrt() * POINTS_UNIT}
    return Loss(placement + points, metrics)


OBJECTIVES: dict[str, MakeObjective] = {"pretrain": Pretraining, "train": Imitation, "improve": Improvement}
