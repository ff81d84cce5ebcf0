"""The model card: what a network is, what it learned from, how well, and how to use it."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

from agents.bert.training.config import Settings
from agents.bert.training.trainer import Run

CARD = """\
---
library_name: transformers
license: mit
tags: [mahjong, sanma, mjai]
---

# A BERT for three-player mahjong (nukidora)

{layers} layers, {width} wide, {heads} heads, {parameters:,} parameters. It reads the state of a position and the record
of the round in 994 kinds of tokens (`agents/bert/vocabulary.py`).

- task: {task}, {steps:,} steps of {batch} positions, {hours:.2f} h of training, best after {best_step:,} steps
- data: {data}
- begun from: {model}
- augmentation: {augment}

| figures on games held out | |
|---|---|
{figures}

```
{command}
```

Use it: `python -m arena --bots bert:FOLDER,rule,rule`; in Python:
`agents.bert.model.{kind}.from_pretrained(FOLDER)`.
"""


def write_card(run: Run) -> None:
    """Write ``README.md`` beside the network of a run."""
    model, settings = run.task.model, run.settings
    config = model.config
    text = CARD.format(
        layers=config.num_hidden_layers,
        width=config.hidden_size,
        heads=config.num_attention_heads,
        parameters=sum(each.numel() for each in model.parameters()),
        task=settings.task,
        steps=run.progress.step,
        batch=settings.batch,
        hours=run.progress.seconds / 3600,
        best_step=run.progress.best_step,
        data=describe_data(Path(settings.data), len(run.data)),
        model=settings.model,
        augment="12 variants" if settings.augment else "none",
        figures="\n".join(f"| {name} | {value} |" for name, value in best_figures(run).items()),
        command=command(settings, run.folder),
        kind=type(model).__name__,
    )
    (run.folder / "model" / "README.md").write_text(text)


def best_figures(run: Run) -> dict[str, str]:
    """The held-out figures of the network that was kept, as ``metrics.csv`` has them."""
    with (run.folder / "metrics.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if int(row["step"]) == run.progress.best_step and row["held_out_loss"]:
                return {name: value for name, value in row.items() if name.startswith("held_out")}
    return {}


def describe_data(folder: Path, n: int) -> str:
    """The data in a line: what the folder says of itself, and how many positions were trained on."""
    told = folder / "data.json"
    parts = json.loads(told.read_text())["parts"] if told.exists() else []
    made = "; ".join(f"{part['extent']} of {part['options']}" for part in parts)
    return f"{folder.name}, {n:,} positions of games that are not held out" + (f" ({made})" if made else "")


def command(settings: Settings, folder: Path) -> str:
    """The command that begins such a run."""
    default = Settings(settings.task, settings.data, settings.model)
    options = []
    for name in ("batch", "steps", "epochs", "rate", "every", "patience", "seed", "value"):
        if (value := getattr(settings, name)) != getattr(default, name):
            options += [f"--{name}", str(value)]
    if not settings.augment:
        options.append("--no-augment")
    return shlex.join(
        ["python", "-m", "agents.bert", settings.task, settings.data, str(folder), "--from", settings.model, *options]
    )
