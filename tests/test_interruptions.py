"""Programs that are interrupted: the exit code, a line that says so, and the same result by the same command again."""

from __future__ import annotations

import signal
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

import pytest

from agents.bert.training.data.selfplay import SelfPlayConfig, play
from agents.bert.training.data.shards import save
from agents.linear.cli import main as linear
from engine.common.program import FAILED, INTERRUPTED, OK
from engine.common.workers import open_pool

BOT = "from agents.registry import make\n\n\ndef plain(seed):\n    return make('efficiency', seed)\n"
# What would take long: name -> its value here. Games of one worker are played in this process.
SMALLER: dict[str, Any] = {
    "arena.leagues.run.open_pool": lambda start, jobs: open_pool(start, 0),
    "arena.series.open_pool": lambda start, jobs: open_pool(start, 0),
    "arena.calibration.STRIDES": (1,),
    "arena.balancing.LOOKS": ((60, 0.6), (120, None)),
    "engine.records.commands.CHECKPOINT": 4,
    "arena.record_stats.CHECKPOINT": 4,
    "agents.bert.training.data.sources.MIN_CHUNK": 2,
}
SMALLER_WITH_TORCH = {"agents.bert.training.trainer.VALIDATION_SAMPLES": 256}


class Program(NamedTuple):
    """A command in a folder; a call of a function is interrupted; files are the same in the end."""

    command: str  # the module of its `main`, and arguments; {}: the folder
    function: str
    at: int  # call
    said: str  # at the end of one of the last lines on stderr
    kept: str  # a pattern of a file that is there after the interruption
    results: str  # a pattern of files
    data: str = ""  # the fixture that makes what it trains on, and stands for it in the command
    how: signal.Signals = signal.SIGINT
    code: int = OK
    again: bool = True  # whether the command may be run when it has ended


PROGRAMS = {
    "ladder": Program(
        "arena.ladder.cli --bots efficiency,tsumogiri,random --games 24 --json {}/a.json -o {}/a.md",
        "arena.leagues.run:LeagueRun._handle", 20,
        "arena ladder: interrupted; run the same command again to resume", "a.json.partial", "a.json",
    ),
    "calibrate": Program(
        "arena.cli calibrate {}/my_bot.py:plain --games 24",
        "arena.series:Series._handle", 60, "interrupted; run the same command again to resume",
        "*.strength.json.games", "*.strength.json",
    ),
    "balance": Program(
        "arena.cli balance --bots rule,efficiency,efficiency --length east --json {}/a.json",
        "arena.series:Series._handle", 250, "interrupted; run the same command again to resume",
        "a.json.partial", "a.json", again=False,
    ),
    "validate": Program(
        "engine.cli validate tests/data/records --rules majsoul --json {}/a.json",
        "engine.common.progress:Progress.advance", 9, "interrupted: 9 records are checked; the same command continues",
        "a.json.partial*", "a.json", code=FAILED,
    ),
    "stats": Program(
        "arena.cli stats tests/data/records --json {}/a.json",
        "engine.common.progress:Progress.advance", 9, "interrupted: 9 records are counted; the same command continues",
        "a.json.partial*", "a.json",
    ),
    "bert data": Program(
        "agents.bert.cli data {}/out --selfplay tsumogiri,efficiency,random --games 6",
        "agents.bert.training.data.workers:fill", 2,
        "agents.bert data: interrupted; the same command continues", "out/000000.games.npy", "out/*",
        how=signal.SIGTERM,
    ),
    "bert train": Program(
        "agents.bert.cli train data {}/run --from micro --batch-size 32 --set eval_steps=4 --steps 12",
        "agents.bert.training.trainer:Trainer._step", 7,
        "agents.bert train: interrupted; the same command resumes after step 7", "run/model/config.json",
        "run/model/*.safetensors", data="data",
    ),
    "linear": Program(
        "agents.linear.cli train {}/run --data choices --set epochs=4",
        "agents.linear.training:Trainer._step", 20,
        "agents.linear: interrupted; the same command resumes", "run/checkpoint.npz", "run/weights.json",
        data="choices",
    ),
}  # fmt: skip


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder to train on."""
    folder = tmp_path_factory.mktemp("data")
    save(play(SelfPlayConfig(("efficiency",) * 3, seed=1), 0, 60), folder, 0)
    return folder


@pytest.fixture(scope="session")
def choices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Choices to learn weights from."""
    file = tmp_path_factory.mktemp("choices") / "choices.csv"
    assert linear(["export", str(file), "--selfplay", "rule,rule,rule", "--games", "6"]) == OK
    return file


def counted(function: str, at: int, how: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let a call of a function be interrupted by a signal; returns a list that will have as many items as calls."""
    original: Callable[..., Any] = resolve_name(function)
    calls: list[int] = []

    def call(*arguments: Any, **options: Any) -> Any:
        calls.append(len(calls) + 1)
        if calls[-1] == at:
            signal.raise_signal(how)
        return original(*arguments, **options)

    monkeypatch.setattr(function.replace(":", "."), call)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_interrupted_program_goes_on_as_if_it_had_not_been(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    program = PROGRAMS[name]
    monkeypatch.setenv("NUKIDORA_JOBS", "1")
    for target, value in (SMALLER | (SMALLER_WITH_TORCH if program.data == "data" else {})).items():
        monkeypatch.setattr(target, value)
    module, *words = program.command.split()
    if program.data:
        request.getfixturevalue("one_thread")
        words[words.index(program.data)] = str(request.getfixturevalue(program.data))
    main = import_module(module).main

    def run(folder: Path, at: int = 0) -> tuple[int, int]:
        """The exit code and the number of calls."""
        with monkeypatch.context() as patch:
            calls = counted(program.function, at, program.how, patch)
            return main([word.format(folder) for word in words]), len(calls)

    def results(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.glob(program.results)}

    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
        (folder / "my_bot.py").write_text(BOT)
    code, n_calls = run(whole)
    assert code == program.code
    capsys.readouterr()
    assert run(parts, program.at) == (INTERRUPTED, program.at)
    said = capsys.readouterr().err
    assert any(line.endswith(program.said) for line in said.splitlines()[-2:])
    assert "Traceback" not in said
    assert list(parts.glob(program.kept))
    code, n_later = run(parts)
    assert code == program.code
    assert n_later < n_calls, "it has begun anew"
    assert results(parts) == results(whole) != {}
    if program.again:
        assert run(parts)[0] == program.code
        assert results(parts) == results(whole), "the end was not the end"
