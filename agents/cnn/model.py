"""The network in torch: five networks of convolution over planes, and a value from the means of the planes.

Needs torch and transformers. Source of the architecture: Gao, Okuya, Kawahara and Tsuruoka, "Building a computer
mahjong player via deep convolutional neural networks" (2019): three convolutions of 5 x 2 with 100 channels, batch
normalization, dropout 0.5, a dense layer of 300.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from agents.bert.model import Outputs
from agents.cnn.answers import FIXED, N_ANSWERS, VALUES, label_logits
from agents.cnn.planes import COPIES, N_PLANES, planes_of
from agents.cnn.sizes import Preset
from engine.rules import N_SEATS
from engine.tiles import N_KINDS

KERNEL = (5, 2)
N_CONVOLUTIONS = 3
DROPOUT = 0.5
VALUE_WIDTH = 64
# what is left of 34 x 4 after three convolutions without padding
REST = (N_KINDS - N_CONVOLUTIONS * (KERNEL[0] - 1), COPIES - N_CONVOLUTIONS * (KERNEL[1] - 1))


class TileConfig(PreTrainedConfig):  # type: ignore[misc]
    """The size in ``config.json``."""

    model_type = "nukidora-cnn"

    def __init__(self, channels: int = 40, dense: int = 300, **rest: Any) -> None:
        super().__init__(**rest)
        self.channels, self.dense = channels, dense


def make_config(preset: Preset) -> TileConfig:
    """The configuration of a size."""
    return TileConfig(*preset)


class QuestionNetwork(nn.Sequential):
    """One of the five: its layers in order."""

    def __init__(self, channels: int, dense: int, n_answers: int) -> None:
        layers: list[nn.Module] = []
        for n_in in (N_PLANES, channels, channels):
            layers += [nn.Conv2d(n_in, channels, KERNEL), nn.BatchNorm2d(channels), nn.ReLU(), nn.Dropout(DROPOUT)]
        layers += [nn.Flatten(), nn.Linear(channels * REST[0] * REST[1], dense), nn.ReLU(), nn.Dropout(DROPOUT)]
        super().__init__(*layers, nn.Linear(dense, n_answers))


class PolicyValue(PreTrainedModel):  # type: ignore[misc]
    """The five networks and the value, with the inputs and outputs of `agents.bert.model.PolicyValue`."""

    config_class = TileConfig

    def __init__(self, config: TileConfig) -> None:
        super().__init__(config)
        self.networks = nn.ModuleDict(
            {name: QuestionNetwork(config.channels, config.dense, n) for name, n in N_ANSWERS.items()}
        )
        self.fixed = nn.Parameter(torch.tensor(FIXED))
        self.value = nn.Sequential(nn.Linear(N_PLANES, VALUE_WIDTH), nn.ReLU(), nn.Linear(VALUE_WIDTH, VALUES))
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """Torch's own initial weights are kept."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor) -> Outputs:
        """The outputs for sequences int64[n, L]. Each network runs for the rows in which it is asked."""
        planes, asked = (torch.from_numpy(each).to(input_ids.device) for each in planes_of(input_ids.cpu().numpy()))
        answers = {}
        for index, (name, network) in enumerate(self.networks.items()):
            answer = planes.new_zeros((len(planes), N_ANSWERS[name]))
            rows = asked[:, index].nonzero()[:, 0]
            if len(rows):
                answer = answer.index_copy(0, rows, network(planes[rows]).float())
            answers[name] = answer
        value = self.value(planes.mean((2, 3))).float()
        policy = label_logits(torch, answers, self.fixed, asked)
        return Outputs(policy, value[:, :N_SEATS], value[:, N_SEATS])
