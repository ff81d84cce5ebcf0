"""The table of the trainers' settings in docs/training.md. ``python -m tests.support.trainer_settings`` updates it."""

from __future__ import annotations

from agents.bert.training.config import TrainingConfig
from agents.linear.config import Config
from agents.rl.settings import Games, Hyperparameters, Settings
from agents.training.settings import describe, option_of, settings_in
from tests.support.documented_table import DOCS, update_page

PAGE, NAME = DOCS / "training.md", "settings"
TRAINERS: dict[str, tuple[type, ...]] = {
    "agents.bert pretrain, train, improve": (TrainingConfig,),
    "agents.rl train": (Games, Hyperparameters, Settings),
    "agents.linear train": (Config,),
}


def settings_table() -> str:
    """Every setting with its meaning and default, by program, as Markdown."""
    rows = ["| setting | meaning |", "|---|---|"]
    for program, classes in TRAINERS.items():
        rows.append(f"| **`{program}`** | |")
        for name, each in settings_in(*classes).items():
            given = f"{option_of(name)} {each.metavar}" if each.metavar else name
            rows.append(f"| `{given}` | {describe(each)} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    update_page(PAGE, NAME, settings_table())
