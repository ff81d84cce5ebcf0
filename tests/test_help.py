"""The help of every program: it fits the terminal and shows the defaults."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from agents.bert.cli import COMMANDS as BERT_COMMANDS
from tests.support.imported import SLOW, imported_by

PROGRAMS = [
    ("arena.cli", []),
    ("arena.cli", ["calibrate"]),
    ("arena.cli", ["balance"]),
    ("arena.cli", ["league"]),
    ("arena.cli", ["ladder"]),
    ("arena.cli", ["stats"]),
    ("arena.cli", ["columns"]),
    ("server.cli", []),
    ("server.cli", ["settings"]),
    ("server.cli", ["token"]),
    ("server.cli", ["token", "add"]),
    ("agents.client.cli", []),
    ("agents.bert.cli", []),
    ("agents.bert.play.cli", []),
    ("agents.review.cli", []),
    ("agents.analyse.cli", []),
    ("agents.pack.cli", []),
    ("agents.console.cli", []),
    ("agents.rl.cli", []),
    ("agents.rl.cli", ["train"]),
    ("agents.search.cli", []),
    ("agents.search.cli", ["fit"]),
    ("engine.cli", []),
    ("engine.warm_up", []),
    ("agents.linear.cli", []),
    *(("agents.linear.cli", [command]) for command in ("export", "train", "show", "agreement")),
    *(("engine.cli", [command]) for command in ("validate", "convert", "show")),
    *(("agents.bert.cli", [command]) for command in BERT_COMMANDS),
]

SCREEN = 50  # lines


@pytest.fixture(scope="module", autouse=True)
def _no_log_handler_is_left() -> Iterator[None]:
    """The server begins to log before it prints its help, to the stderr of that test."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    assert (root.handlers, root.level) == before


def output(capsys: pytest.CaptureFixture[str], module: str, arguments: list[str]) -> str:
    """What a program prints that ends with code 0."""
    with pytest.raises(SystemExit) as ended:
        import_module(module).main(arguments)
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("columns", [60, 100, 120])
@pytest.mark.parametrize(("module", "command"), PROGRAMS)
def test_the_help_fits_the_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    command: list[str],
    columns: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = output(capsys, module, [*command, "--help"])
    body = text.partition("\n\n")[2]  # argparse aligns the usage with the program's name, and commands are not wrapped
    too_long = [
        line for line in body.splitlines() if len(line) > columns and "python -m" not in line and "://" not in line
    ]
    assert too_long == []
    assert columns < 100 or text.count("\n") <= 2 * SCREEN


def test_defaults_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for module, command, shown in [
        ("arena.cli", [], ["(default 1002)", "(default 30)", "(default bert,efficiency,random)"]),
        ("server.cli", [], ["(default 8000)", "(default server-data)"]),
        ("agents.bert.cli", ["train"], ["(default laptop)", "(default 512)"]),
        ("agents.client.cli", [], ["(default 1;"]),
    ]:
        text = " ".join(output(capsys, module, [*command, "--help"]).split())
        assert [default for default in shown if default not in text.replace("default: ", "default ")] == []


@pytest.mark.parametrize("module", ["arena.cli", "server.cli", "agents.client.cli", "agents.bert.cli", "engine.cli"])
def test_every_program_knows_its_version(capsys: pytest.CaptureFixture[str], module: str) -> None:
    assert output(capsys, module, ["--version"]).startswith("nukidora ")


# Wrong uses that are told before anything is loaded, beside an unknown option of each program.
WRONG_USES = [
    ("arena.cli", ["--bots", "rlue,rule,rule"]),
    ("arena.cli", ["--scores", "1,2,3"]),
    ("arena.cli", ["league", "--bots", "rlue,rule,rule"]),
    ("server.cli", ["--fill", "rlue"]),
    ("server.cli", ["--seed", "4"]),
    ("server.cli", ["--settings", "{file}/none.toml"]),
    ("server.cli", ["--host", "nowhere.invalid", "--data", "{folder}"]),
    ("server.cli", ["--data", "{file}"]),
    ("server.cli", ["token", "add", "rule (house)"]),
    ("agents.client.cli", ["rlue", "mjsonp://localhost/default"]),
    ("agents.client.cli", ["rule", "localhost"]),
    ("agents.console.cli", ["--bots", "rlue,rule"]),
    ("agents.review.cli", ["game.mjson", "--seat", "3"]),
    ("agents.analyse.cli", ["123p456s11z99m2256p", "--bot", "nobody"]),
    ("agents.pack.cli", ["rlue", "-o", "bot.pyz"]),
    ("agents.linear.cli", ["agreement", "rlue"]),
    ("agents.rl.cli", ["train", "{folder}", "--set", "opponents=rlue"]),
    ("agents.search.cli", ["fit", "{folder}/file", "--selfplay", "rlue,rule,rule"]),
]


def test_help_and_wrong_uses_load_nothing_slow(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    quick = [(module, command) for module, command in PROGRAMS if module != "engine.warm_up"]  # which compiles
    uses = [(module, [word.format(folder=tmp_path, file=tmp_path / "file") for word in words])
            for module, words in WRONG_USES]  # fmt: skip
    uses.append(("server.cli", ["settings"]))
    uses += [(module, [*command, option]) for option in ("--wrong", "--help") for module, command in quick]
    results = imported_by(uses)
    assert len(results) == len(uses) > 90
    for module, arguments, code, imported in results:
        assert code == (0 if "--help" in arguments or arguments == ["settings"] else 2), (module, arguments)
        assert not SLOW & imported, (module, arguments)
