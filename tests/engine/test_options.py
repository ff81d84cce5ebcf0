"""Option types of the command lines, and one-line error messages."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.common.options import (
    check_not_read,
    describe_error,
    non_negative,
    positive,
    positive_number,
    positive_seconds,
    seconds,
    three_bots,
)
from engine.records.archives import files_of


@pytest.mark.parametrize(
    ("option_type", "accepted", "refused", "what"),
    [
        (positive, {"1": 1, "30": 30}, ["0", "-1", "1.5", "x", "", "١"], "a positive integer"),
        (non_negative, {"0": 0, "7": 7}, ["-1", "1.5", ""], "a non-negative integer"),
        (positive_number, {"0.5": 0.5, "1e-3": 0.001}, ["0", "-1", "inf", "nan", "x"], "a positive number"),
        (seconds, {"0": 0.0, "2.5": 2.5}, ["-1", "inf", "nan", "x"], "a non-negative number of seconds"),
        (positive_seconds, {"2.5": 2.5}, ["0", "-1", "inf", "nan"], "a positive number of seconds"),
    ],
)
def test_numbers(
    option_type: Callable[[str], float], accepted: dict[str, float], refused: list[str], what: str
) -> None:
    assert {text: option_type(text) for text in accepted} == accepted
    for text in refused:
        with pytest.raises(ArgumentTypeError, match=f"^{text!r} is not {what}$"):
            option_type(text)


def test_three_bots() -> None:
    assert three_bots('rule,"exec:a --b c,d ""e""",mjsonp://0.0.0.0:1/x') == (
        "rule", 'exec:a --b c,d "e"', "mjsonp://0.0.0.0:1/x",
    )  # fmt: skip
    assert three_bots('exec:python -c "1", random,random')[0] == 'exec:python -c "1"'
    for text, what in [("a,b", "names 2 bots"), ("a,b,c,d", "names 4 bots"), ('"a,b,c', "unexpected end of data")]:
        with pytest.raises(ArgumentTypeError, match=what):
            three_bots(text)


def test_an_error_is_described_in_one_line() -> None:
    assert describe_error(ValueError("no such bot")) == "no such bot"
    assert describe_error(FileNotFoundError(2, "No such file or directory", "a.json")) == (
        "a.json: No such file or directory"
    )
    assert describe_error(OSError("out of space")) == "out of space"


@pytest.mark.parametrize("read", ["game.json", "link.json", "games.zip:game.json"])
def test_a_file_to_read_is_not_one_to_write(tmp_path: Path, read: str) -> None:
    for name in ("game.json", "games.zip"):
        (tmp_path / name).touch()
    (tmp_path / "link.json").symlink_to("game.json")
    (written,) = files_of([tmp_path / read])
    with pytest.raises(ValueError, match=r"--json .*: this is one of the files to read"):
        check_not_read("--json", written.resolve(), files_of([tmp_path / "other.json", tmp_path / read]))
    check_not_read("--json", tmp_path / "stats.json", files_of([tmp_path / read]))
