"""The model card: what a network is, what it was trained on, its validation metrics, and how to use it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from agents.bert.families import family_of
from agents.bert.training.data.manifest import read_manifest
from agents.bert.training.metrics import METRICS_FILE, VALIDATION
from agents.bert.training.trainer import Trainer
from agents.bert.vocabulary import N_TOKENS

CARD = """\
---
library_name: transformers
license: mit
tags: [mahjong, sanma, mjai]
---

# {title} for three-player mahjong (nukidora)

{size}, {parameters:,} parameters. Its input is the state of a decision and the
record of the round, in a vocabulary of {tokens} tokens (`agents/bert/vocabulary.py`).

- objective: {objective}, {steps:,} steps of {batch_size} samples in {hours:.2f} h; best after {best_step:,} steps
- data: {data}
- initial weights: {model}
- augmentation: {augment}

| validation metric | |
|---|---|
{metrics}

```
{command}
```

Use it: `python -m arena --bots {bot}:FOLDER,rule,rule`; in Python:
`agents.{bot}.model.{kind}.from_pretrained(FOLDER)`.
"""


def write_card(trainer: Trainer, command: str) -> None:
    """Write ``README.md`` next to the network of a run that was started by `command`."""
    model, config = trainer.objective.model, trainer.config
    family = family_of(config.model)
    text = CARD.format(
        title=family.title,
        size=describe_size(model.config),
        parameters=sum(each.numel() for each in model.parameters()),
        tokens=N_TOKENS,
        objective=config.objective,
        steps=trainer.progress.step,
        batch_size=config.batch_size,
        hours=trainer.progress.seconds / 3600,
        best_step=trainer.progress.best_step,
        data=describe_data(Path(config.data), len(trainer.data)),
        model=config.model,
        augment="12 variants" if config.augment else "none",
        metrics="\n".join(f"| {name} | {value} |" for name, value in best_metrics(trainer).items()),
        command=command,
        kind=type(model).__name__,
        bot=family.name,
    )
    (trainer.folder / "model" / "README.md").write_text(text)


def describe_size(config: Any) -> str:
    """The size of a network in words, from its transformers configuration."""
    if config.model_type == "bert":
        return f"{config.num_hidden_layers} layers, width {config.hidden_size}, {config.num_attention_heads} heads"
    return f"{config.channels} channels, {config.dense} dense units in each network"


def best_metrics(trainer: Trainer) -> dict[str, str]:
    """The validation metrics of the network that was saved, as in ``metrics.csv``."""
    with (trainer.folder / METRICS_FILE).open(newline="") as file:
        for row in csv.DictReader(file):
            if int(row["step"]) == trainer.progress.best_step and row[f"{VALIDATION}_loss"]:
                return {name: value for name, value in row.items() if name.startswith(VALIDATION)}
    return {}


def describe_data(folder: Path, n: int) -> str:
    """The data in one line: the number of training samples, and the sources that the manifest names."""
    sources = "; ".join(f"{part.extent} of {part.options}" for part in read_manifest(folder))
    return f"{folder.name}, {n:,} training samples" + (f" ({sources})" if sources else "")
