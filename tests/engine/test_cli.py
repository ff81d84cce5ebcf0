"""``python -m engine``: output and exit codes."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.cli import main
from engine.common import progress
from engine.game import Game
from engine.records import mjai
from engine.records.archives import Member
from engine.records.files import write_record
from engine.records.filters import Filters
from engine.records.model import GameRecord
from engine.records.stream import Item, item_of
from engine.records.validate import Report, check_file
from engine.rules import MAJSOUL, TENHOU, Rules
from tests.support.players import Habits, efficient_driver, play

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SUMMARY = re.compile(r"files (\d+) · rounds (\d+) · decisions (\d+) · mismatches (\d+)(?: · damaged (\d+))?")


def played(seed: int, rules: Rules = TENHOU) -> GameRecord:
    """A whole game played efficiently."""
    game = Game(seed, rules, names=("Aki", "Ben [b]", "千夏"))
    play(game, efficient_driver(random.Random(seed), Habits(pon=0.3)))
    return mjai.read(mjai.write(GameRecord(game.messages, None, "")), "own.mjson")


@pytest.fixture(scope="module")
def record() -> GameRecord:
    return played(1)


@pytest.fixture
def folder(tmp_path: Path, record: GameRecord) -> Path:
    """A folder with two games in two formats."""
    (tmp_path / "deep").mkdir()
    write_record(record, tmp_path / "one.mjson")
    write_record(record, tmp_path / "deep" / "two.json.gz")
    (tmp_path / "notes.txt").write_text("no record")
    return tmp_path


def totals(output: str) -> list[int]:
    """Files, rounds, decisions, mismatches and, if there are any, damaged files of the last line printed."""
    match = SUMMARY.fullmatch(output.splitlines()[-1])
    assert match
    return [int(number) for number in match.groups() if number]


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text(encoding="utf-8")
    assert change(text) != text
    path.write_text(change(text), encoding="utf-8")


def test_a_changed_delta_is_one_line_with_file_round_and_event(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "one.mjson"
    lines = file.read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, 1) if '"hora"' in line)
    deltas = json.loads(lines[number - 1])["deltas"]
    changed = [deltas[0] + 300, *deltas[1:]]
    rewrite(file, lambda text: text.replace(json.dumps(deltas, separators=(",", ":")), json.dumps(changed), 1))
    assert main(["validate", str(folder)]) == 1
    line, summary = capsys.readouterr().out.splitlines()
    what = rf"event {number}: recorded hora deltas {changed}; the rules say hora deltas {deltas}"
    assert re.fullmatch(rf"{re.escape(str(file))}: [ESW][123] honba \d+: {re.escape(what)}", line)
    assert totals(summary)[3] == 1


def test_rules_are_those_of_the_file_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_record(played(3, MAJSOUL), tmp_path / "majsoul.mjson")
    assert main(["validate", str(tmp_path)]) == 0
    assert main(["validate", str(tmp_path), "--rules", "majsoul"]) == 0
    capsys.readouterr()
    assert main(["validate", str(tmp_path), "--rules", "tenhou"]) == 1
    assert "end_game points [" in capsys.readouterr().out


@pytest.mark.slow
def test_processes_share_the_work_and_keep_the_order(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.mjson").write_text(f'{{"type":"{name}"}}\n')
    assert main(["validate", str(folder)]) == 1
    alone = capsys.readouterr().out
    monkeypatch.setenv("NUKIDORA_JOBS", "2")
    assert main(["validate", str(folder)]) == 1
    assert capsys.readouterr().out == alone
    assert [Path(line.split(":")[0]).name for line in alone.splitlines()[:-1]] == ["a.mjson", "b.mjson", "c.mjson"]


def test_show_prints_the_game(folder: Path, record: GameRecord, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(folder / "one.mjson")]) == 0
    output = capsys.readouterr().out
    assert output.count(" honba ") == len(record.rounds())
    assert "Ben [b]" in output
    assert f"Aki {record.events[-1]['scores'][0]:,} (" in output
    assert output.count("riichi ") >= sum(event["type"] == "reach" for event in record.events)
    assert output.splitlines()[-1].startswith("a round with a link to Tenhou's viewer: python -m engine show ")
    (folder / "one.mjson").rename(folder / "2018&tw=0.mjson")
    assert main(["show", str(folder / "2018&tw=0.mjson")]) == 0
    quoted = f"'{folder}/2018&tw=0.mjson' --round N"
    assert capsys.readouterr().out.splitlines()[-1].endswith(f" show {quoted}"), "as a shell takes it"


def test_an_interrupted_check_says_what_was_checked(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(found: Iterator[Member], filters: Filters, jobs: int) -> Iterator[tuple[Item, Report]]:
        member = next(found)
        yield item_of(member, filters), check_file(member.file)
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.records.commands.check_all", interrupted)
    monkeypatch.setattr(progress, "MIN_LINE_SECONDS", 3600.0)  # no line of it, even if the machine is slow
    assert main(["validate", str(folder)]) == 130
    captured = capsys.readouterr()
    assert totals(captured.out)[0] == 1
    assert "--json FILE" in captured.err


def test_an_interrupted_check_goes_on_with_its_number_of_records(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(found: Iterator[Member], filters: Filters, jobs: int) -> Iterator[tuple[Item, Report]]:
        member = next(found)
        yield item_of(member, filters), check_file(member.file)
        raise KeyboardInterrupt

    command = ["validate", str(folder), "--json", str(tmp_path / "report.json")]
    with monkeypatch.context() as patched:
        patched.setattr("engine.records.commands.check_all", interrupted)
        assert main(command) == 130
    monkeypatch.setattr(progress, "MIN_LINE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LINE_SHARE", 0.0)
    capsys.readouterr()
    main(command)
    shown = capsys.readouterr().err
    assert "continuing after 1 record" in shown
    assert ", 2 records" in shown
    assert ", 1 record\n" not in shown


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_a_check_without_a_traceback(folder: Path, jobs: str) -> None:
    (folder / "0.mjson").write_text("no record")  # the first file: its line tells that checking has begun
    endless = folder / "zzz.mjson"  # the last one: nobody writes to it, so that checking does not end
    os.mkfifo(endless)
    command = [sys.executable, "-u", "-m", "engine", "validate", str(folder), str(endless)]
    with subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=os.environ | {"NUKIDORA_JOBS": jobs},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as checking:
        assert checking.stdout is not None
        assert "no game record" in checking.stdout.readline()
        checking.send_signal(signal.SIGINT)
        output, errors = checking.communicate(timeout=60)
    assert checking.returncode == 130
    assert "Traceback" not in errors
    assert 0 < totals(output)[0] < 4
