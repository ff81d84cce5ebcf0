"""Settings of trainers: from a field follow an option, a row of the help, arguments that repeat a run, and the docs."""

from __future__ import annotations

from dataclasses import dataclass, fields

import pytest

from agents.bert.training.config import TrainingConfig
from agents.linear.config import Config
from agents.rl.settings import CHANGEABLE, Games, Hyperparameters, Settings
from agents.training.settings import (
    add_settings,
    arguments_of,
    as_text,
    setting,
    settings_in,
    true_or_false,
    values_of,
)
from engine.common.options import Parser, bots_of, positive, positive_number
from tests.support.documented_table import split_page
from tests.support.trainer_settings import NAME, PAGE, settings_table


@dataclass(frozen=True)
class Cooking:
    """What a field says once."""

    dish: str
    portions: int = setting(2, positive, "plates", "N")
    oven_heat: float = setting(180.0, positive_number, "in degrees")
    salted: bool = setting(True, true_or_false, "with salt")
    guests: tuple[str, ...] = setting(("rule",), bots_of, "who eats")


def parser() -> Parser:
    made = Parser("agents.cooking")
    add_settings(made, settings_in(Cooking))
    return made


def test_a_field_is_an_option_or_is_given_by_set() -> None:
    assert Cooking("soup", **values_of(Cooking, parser().parse_args([]))) == Cooking("soup")
    words = ["--portions", "3", "--set", "oven_heat=75", "--set", "salted=false", "--set", "guests=rule,bert"]
    options = parser().parse_args(words)
    assert Cooking("soup", **values_of(Cooking, options)) == Cooking("soup", 3, 75.0, False, ("rule", "bert"))
    with pytest.raises(SystemExit):
        parser().parse_args(["--set", "portions=3"])
    with pytest.raises(SystemExit):
        parser().parse_args(["--oven-heat", "75"])


def test_the_help_tells_each_setting_and_its_default() -> None:
    text = " ".join(parser().format_help().split())
    for told in (
        "--portions N plates (default 2)",
        "oven_heat in degrees (default 180)",
        "salted with salt (default true)",
        "guests who eats (default rule)",
    ):
        assert told in text


def test_arguments_give_the_same_settings() -> None:
    assert arguments_of(Cooking("soup")) == []
    chosen = Cooking("soup", 5, 99.5, False, ("rule", "random"))
    words = arguments_of(chosen)
    assert words[:2] == ["--portions", "5"]
    assert Cooking("soup", **values_of(Cooking, parser().parse_args(words))) == chosen


def test_a_run_keeps_all_settings_but_those_that_may_change() -> None:
    kept = Settings(Games("residual", ("rule", "bert")), Hyperparameters(kl=0.5), seed=7).fixed()
    assert kept.keys() == {"bot", *settings_in(Games, Hyperparameters, Settings)} - CHANGEABLE
    assert (kept["opponents"], kept["handicaps"], kept["kl"]) == ("rule,bert", "35000-35000-35000", "0.5")
    assert kept.keys() >= {"seed", "jobs", "tables", "former_every", "learning_rate"}


def test_every_hyperparameter_is_a_setting() -> None:
    named = {"objective", "data", "model", "digest", "bot", "games", "hyperparameters"}  # the others of the fields
    for of in (TrainingConfig, Config, Games, Hyperparameters, Settings):
        assert {each.name for each in fields(of)} - named == set(settings_in(of))


@pytest.mark.parametrize("of", [Config, Games, Hyperparameters])
def test_the_type_of_a_setting_reads_its_default(of: type) -> None:
    assert [name for name, each in settings_in(of).items() if each.read(as_text(each.default)) != each.default] == []


def test_the_table_in_the_documentation_is_up_to_date() -> None:
    _, table, _ = split_page(PAGE.read_text(encoding="utf-8"), NAME)
    assert table == settings_table(), "update it: python -m tests.support.trainer_settings"
