"""Settings: flags, environment variables, the settings file, defaults and error messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agents.strength.scale import read_scale
from server.cli import make_parser
from server.flags import FLAGS, METAVARS, flag, parse, read_settings, variable
from server.setting_values import TYPES, as_text, as_toml, choices
from server.settings import OTHER_VARIABLES, PREFIX, SETTINGS, TABLE_OF, RoomSettings, Settings
from server.settings_file import find_path, read_file
from server.stored_settings import restore_settings
from tests.support import refusals
from tests.support.documented_table import split_page
from tests.support.settings_table import NAME, PAGE, settings_table

NAMES = list(SETTINGS)
DATA = Path(__file__).parents[1] / "data"
OTHERS = ("engine", "agents", "arena", "nukidora")
OTHER: dict[str, tuple[str, object]] = {  # setting -> as text, not the default; and its value
    "rules": ("majsoul", "majsoul"),
    "length": ("east", "east"),
    "games": ("3", 3),
    "seats": ("fixed", "fixed"),
    "scores": ("25000,35000,45000", (25000, 35000, 45000)),
    "rated": ("false", False),
    "hints": ("true", True),
    "seed": ("18446744073709551615", 2**64 - 1),
    "decision_time": ("0.5", 0.5),
    "bank_time": ("0", 0.0),
    "fill": ("random,efficiency", ("random", "efficiency")),
    "fill_delay": ("0.25", 0.25),
    "wait_timeout": ("0", 0.0),
    "idle": ("stay", "stay"),
    "house_bot": ("tsumogiri", "tsumogiri"),
    "max_faults": ("1", 1),
    "resume_timeout": ("0", 0.0),
    "fault_penalty": ("20", 20.0),
    "spectator_delay": ("300", 300.0),
    "pause": ("0.5", 0.5),
    "host": ("::1", "::1"),
    "port": ("8001", 8001),
    "mjai_port": ("0", 0),
    "public_port": ("80", 80),
    "data": ("/var/lib/nukidora", Path("/var/lib/nukidora")),
    "database": ("postgresql://nukidora@db/nukidora", "postgresql://nukidora@db/nukidora"),
    "access": ("token", "token"),
    "max_rooms": ("5", 5),
    "rooms_per_address": ("6", 6),
    "max_connections": ("3", 3),
    "connections_per_address": ("4", 4),
    "joins_per_minute": ("7", 7),
    "messages_per_second": ("9", 9),
    "requests_per_minute": ("13", 13),
    "downloads_per_minute": ("11", 11),
    "join_timeout": ("1.5", 1.5),
    "annotations_per_minute": ("64", 64),
    "keep_days": ("30", 30),
    "keep_games": ("1000", 1000),
    "keep_mib": ("500", 500),
    "puzzle_records": (str(DATA), str(DATA)),
    "trusted_proxies": ("*", "*"),
    "log": ("json", "json"),
}

ANY_TEXT = {"host", "trusted_proxies", "data", "database"}  # what is wrong with one shows when the server starts


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the settings of the environment."""
    for name in (*NAMES, "settings"):
        monkeypatch.delenv(variable(name), raising=False)


def read(*flags: str) -> Settings:
    """Settings as the program reads them."""
    parser = make_parser()
    return read_settings(parser, vars(parse(parser, flags)), read_file(find_path(flags)))


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str, Any], str]:
    """Writes a file with a setting; returns its path."""

    def write(name: str, value: Any) -> str:
        path = tmp_path / "nukidora.toml"
        path.write_text(f"[{TABLE_OF[name]}]\n{name} = {as_toml(value)}\n", encoding="utf-8")
        return str(path)

    return write


def test_every_setting_has_a_test_value() -> None:
    assert set(OTHER) == set(NAMES)
    assert [name for name, (_, value) in OTHER.items() if getattr(Settings(), name) == value] == []


def test_every_setting_that_can_be_wrong_has_a_wrong_value() -> None:
    refused = {pair.partition("=")[0] for pair in refusals.SETTINGS.split()}
    assert refused == SETTINGS.keys() - ANY_TEXT, "name a wrong value in SETTINGS of tests/support/refusals.py"


@pytest.mark.parametrize("name", NAMES)
def test_flags_override_variables_which_override_the_file_which_overrides_defaults(
    name: str, written: Callable[[str, Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, value = OTHER[name]
    default = SETTINGS[name].default
    file = written(name, value)
    assert getattr(read("--settings", file), name) == value
    monkeypatch.setenv(variable(name), text)
    assert getattr(read(), name) == value
    if name in METAVARS:
        assert getattr(read(flag(name), str(as_text(default)), "--settings", file), name) == default
        monkeypatch.undo()
        assert getattr(read(flag(name), text), name) == value
    if default in (None, "", ()):
        return  # cannot be written as a variable
    monkeypatch.setenv(variable(name), str(as_text(default)))
    assert getattr(read("--settings", file), name) == default


def test_the_file_may_be_named_by_a_variable_and_a_flag_overrides_it(
    written: Callable[[str, Any], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUKIDORA_SETTINGS", written("pause", 0.5))
    (tmp_path / "other.toml").write_text("[rooms]\ngames = 3\n")
    assert read() == Settings(pause=0.5)
    assert read("--settings", str(tmp_path / "other.toml")) == Settings(games=3)
    assert read("--settings=") == Settings()
    monkeypatch.setenv("NUKIDORA_SETTINGS", "")
    assert read() == Settings()


def test_an_empty_variable_counts_as_unset(written: Callable[[str, Any], str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setenv(variable(name), "")
    assert read() == Settings()
    assert read("--settings", written("trusted_proxies", "*")) == Settings(trusted_proxies="*")


def test_an_empty_flag_overrides_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("host", "fill"):
        monkeypatch.setenv(variable(name), OTHER[name][0])
    settings = read("--host=", "--fill", "")
    assert (settings.host, settings.fill) == ("", ())


@pytest.mark.parametrize("name", ["host", "trusted_proxies", "database", "fill"])
def test_a_file_may_have_empty_values(name: str, written: Callable[[str, Any], str]) -> None:
    empty: Any = () if name == "fill" else ""
    assert getattr(read("--settings", written(name, empty)), name) == empty


def test_flags_may_follow_a_command() -> None:
    wanted = {"data": "folder", "command": "token", "token": "add", "name": "aki", "admin": False}
    for words in (["--data", "folder", "token", "add", "aki"], ["token", "add", "aki", "--data", "folder"]):
        assert vars(parse(make_parser(), words)) == wanted


def test_variables_of_other_programs_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "NUKIDORA_CACHE",
        "NUKIDORA_CLUSTER",
        "NUKIDORA_TOKEN",
        "NUKIDORA_PAUSE",
    ):  # the last one is of the server, too
        monkeypatch.setenv(name, "1")
    assert read().pause == 1.0


def bounds_of(name: str) -> tuple[float, float]:
    """The least and the greatest value of a setting that is a number."""
    limits = SETTINGS[name].metadata
    (least,) = (limits[bound] for bound in ("ge", "gt") if bound in limits)
    return least, limits["le"]


NUMBERS = [name for name in SETTINGS if TYPES[name] in (int, float, int | None)]


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_has_limits_and_the_error_names_them(
    name: str, written: Callable[[str, Any], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    least, most = bounds_of(name)
    monkeypatch.setenv(variable(name), str(most))
    assert getattr(read(), name) == most
    monkeypatch.delenv(variable(name))
    assert getattr(read("--settings", written(name, most)), name) == most
    for beyond in (int(most) + 1, int("9" * 4000)):
        for flags, text in (((), str(beyond)), (("--settings", written(name, beyond)), "")):
            monkeypatch.setenv(variable(name), text)
            with pytest.raises(SystemExit):
                read(*flags)
            said = capsys.readouterr().err
            assert said.count("\n") == 1
            assert name in said.lower()
            assert said.endswith(f"{least:g} and at most {most}\n")


def test_stored_settings_beyond_the_limits_are_brought_to_them(caplog: pytest.LogCaptureFixture) -> None:
    """Earlier versions had no limits; a room or a game is not lost for that."""
    stored = {"games": 10**12, "fault_penalty": 1e308, "fill_delay": 1e9, "fill": ["rule"] * 3, "length": "east"}
    with caplog.at_level("WARNING", "server"):
        settings = restore_settings(stored)
    assert (settings.games, settings.fault_penalty, settings.fill_delay) == (10**6, 1000.0, 86_400.0)
    assert settings.fill == ("rule", "rule")
    assert settings.length == "east"
    assert "beyond what is allowed" in caplog.text
    caplog.clear()
    assert restore_settings(json.loads(json.dumps(asdict(settings)))) == settings
    assert caplog.text == ""
    lowest = f"rule@{read_scale('rule').lowest}"  # a scale may have been measured anew, and end earlier
    weak = restore_settings({"fill": ["rule@-9999", "rule@-300"], "house_bot": "rule@-9999"})
    assert (weak.fill, weak.house_bot) == ((lowest, "rule@-300"), lowest)
    for wrong in ({"fill": ["rule@abc"]}, {"house_bot": "rule@300"}, {"fill": None}, {"fill": [1]}, {"house_bot": 1}):
        with pytest.raises(ValidationError):
            restore_settings(wrong)
    for wrong in ({"games": -1}, {"games": "many"}, {"length": "west"}, {"unknown": 1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            restore_settings(wrong)


@pytest.mark.parametrize(
    ("host", "access", "needed"),
    [
        ("127.0.0.1", "auto", False),
        ("127.8.9.10", "auto", False),
        ("::1", "auto", False),
        ("localhost", "auto", False),
        ("0.0.0.0", "auto", True),
        ("::", "auto", True),
        ("192.168.1.2", "auto", True),
        ("mjai.example.org", "auto", True),
        ("", "auto", True),  # all addresses
        ("127.0.0.1", "token", True),
        ("0.0.0.0", "open", False),
    ],
)
def test_tokens_are_needed_if_others_can_connect(host: str, access: Any, needed: bool) -> None:
    assert Settings(host=host, access=access).tokens_needed is needed


def test_the_default_database_is_in_the_data_folder() -> None:
    assert Settings(data=Path("there")).database_url == "sqlite:///there/nukidora.db"
    assert Settings(database="postgresql://db/nukidora").database_url == "postgresql://db/nukidora"


def test_rooms_take_their_settings_from_the_server() -> None:
    room = Settings(length="east", decision_time=1.0, fill=("rule",)).room
    assert (room.length, room.decision_time, room.fill) == ("east", 1.0, ("rule",))
    assert {field.name for field in fields(RoomSettings)} < set(NAMES)
    assert room.make_rules() == RoomSettings(length="east").make_rules() != RoomSettings().make_rules()


def test_help_lists_the_flags_and_the_commands() -> None:
    text = make_parser().format_help()
    assert re.findall(r"^  (?:-h, )?(--\S+)", text, re.MULTILINE) == ["--help", *FLAGS, "--version"]
    assert len(FLAGS) <= 7
    assert [command for command in ("settings", "token", "prune") if f"    {command} " not in text] == []


def test_descriptions_name_the_choices() -> None:
    for name, setting in SETTINGS.items():
        assert [choice for choice in choices(name) if choice not in setting.metadata["description"]] == [], name


def test_the_variables_of_other_programs_are_known() -> None:
    sources = (path.read_text(encoding="utf-8") for name in OTHERS for path in (PAGE.parents[1] / name).rglob("*.py"))
    read = {name for text in sources for name in re.findall(rf'environ(?:\.get\(|\[)"({PREFIX}\w+)"', text)}
    assert read - {PREFIX + name.upper() for name in NAMES} == OTHER_VARIABLES


def test_the_table_in_the_documentation_is_up_to_date() -> None:
    _, table, _ = split_page(PAGE.read_text(encoding="utf-8"), NAME)
    assert table == settings_table(), "update it: python -m tests.support.settings_table"
