"""Long jobs over archives: what is written, safe names, interruption anywhere and the same result after it."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from errno import ENOSPC
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from engine.common.line_file import LineFile, ResumeError
from engine.common.pools import WorkerError
from engine.common.progress import Progress
from engine.records import commands, convert, stream, validate
from engine.records.archives import digest_of, members
from engine.records.files import parse_record, read_records
from engine.records.packing import Names, ZipWriter
from engine.records.validate import Report
from tests.support.archives import RECORDS, XML, real_records, tar_of, write_archive, zip_of
from tests.support.processes import wait_for

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A zip of the real records, one of them damaged."""
    contents = real_records()
    contents["phoenix_2024_1.json"] = contents["phoenix_2024_1.json"][:-200]
    return write_archive(tmp_path, "a.zip", contents)


def test_other_programs_read_what_is_written(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convert, "CHECKPOINT", 4)
    for ending in (".tar", ".tgz", ".zip"):
        main(["convert", str(source), "--out", str(tmp_path / f"b{ending}"), "--format", "json"])
    names = [Path(name).stem + ".json" for name in real_records() if name != "phoenix_2024_1.json"]
    names[2] = "majsoul_kan3_nuki_rinshan.libriichi3p.json"
    with tarfile.open(tmp_path / "b.tar") as plain, tarfile.open(tmp_path / "b.tgz") as zipped:
        assert plain.getnames() == zipped.getnames() == names
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert archive.namelist() == names
        assert archive.testzip() is None
        assert json.loads(archive.read("phoenix_2018_1.json"))["rule"]["disp"] == "三鳳南喰赤"


def stop_after(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next progress raise Ctrl-C when `n` records are done."""
    advance, left = Progress.advance, itertools.count(n - 1, -1)

    def interrupted(progress: Progress, *arguments: Any) -> None:
        advance(progress, *arguments)
        if next(left) == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "advance", interrupted)


def contents_of(path: Path) -> object:
    """The bytes of a file, or of all files in a folder."""
    return {each.name: each.read_bytes() for each in path.iterdir()} if path.is_dir() else path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "after"),
    [(".tar.gz", 9), (".tar.zst", 9), (".zip", 9), ("", 9), (".zip", 3)],  # and a folder
)
def test_an_interrupted_conversion_ends_like_an_uninterrupted_one(
    ending: str,
    after: int,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(convert, "CHECKPOINT", 4)
    whole, out = tmp_path / f"whole{ending}", tmp_path / f"out{ending}"
    assert main(["convert", str(source), "--out", str(whole)]) == 1  # one is damaged
    assert f"{source}:phoenix_2024_1.json: line 1 column " in capsys.readouterr().err
    assert main(["validate", str(whole)]) == 0
    assert capsys.readouterr().out.startswith("files 14 ")
    with monkeypatch.context() as patch:
        stop_after(after, patch)
        assert main(["convert", str(source), "--out", str(out)]) == 130
    kept = after // 4 * 4
    assert f" {kept} records" in capsys.readouterr().err.splitlines()[-1]
    assert not out.is_file()
    assert main(["convert", str(source), "--out", str(out)]) == 1
    printed = capsys.readouterr()
    assert (f" {kept} records\n" in printed.err) == (kept > 0)
    assert printed.out == f"{out}: 14 records · damaged 1\n"
    assert contents_of(out) == contents_of(whole)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["a.zip", out.name, whole.name])


def test_only_the_same_conversion_continues(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "b.tar")
    with monkeypatch.context() as patch:
        stop_after(3, patch)
        main(["convert", str(source), "--out", out])
    for other in (["--format", "json"], ["--room", "phoenix"]):
        with pytest.raises(SystemExit) as stopped:
            main(["convert", str(source), "--out", out, *other])
        assert stopped.value.code == 2
        assert "b.tar.partial.jsonl " in capsys.readouterr().err
    assert main(["convert", str(source), "--out", out]) == 1
    with pytest.raises(SystemExit):
        main(["convert", str(source), "--out", out])
    assert "b.tar: " in capsys.readouterr().err


def test_a_full_disk_names_the_archive(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(ENOSPC, os.strerror(ENOSPC))

    for method in ("add", "abandon"):
        monkeypatch.setattr(ZipWriter, method, full)
    with pytest.raises(SystemExit):
        main(["convert", str(source), "--out", str(tmp_path / "full.zip")])
    assert capsys.readouterr().err == f"engine convert: {tmp_path / 'full.zip'}.partial: {os.strerror(ENOSPC)}\n"


def test_names_lead_nowhere(tmp_path: Path) -> None:
    names = ["../../etc/passwd.xml", "/abs/x.xml", "C:\\x\\y.xml", "a\nb.xml", "..", "A.xml", "a.json.gz", "a.json"]
    given = Names(".mjson")
    made = [given.of(name) for name in names]
    assert made[:5] == ["etc/passwd.mjson", "abs/x.mjson", "C_/x/y.mjson", "a_b.mjson", "record.mjson"]
    assert len({name.lower() for name in made}) == len(names)
    path = tmp_path / "a.tar"
    path.write_bytes(tar_of(dict.fromkeys(names[:4], XML.read_bytes())))
    assert main(["convert", str(path), "--out", str(tmp_path / "out")]) == 0
    written = list(tmp_path.rglob("*.mjson"))
    assert len(written) == 4
    assert all(each.is_relative_to(tmp_path / "out") for each in written)


@pytest.mark.parametrize("last", ["delete", "replace"])
def test_a_conversion_that_ends_in_its_last_moment_can_be_done_again(
    last: str, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["convert", str(source), "--out", str(tmp_path / "b.tar")]
    monkeypatch.setattr(convert, "CHECKPOINT", 5)
    with monkeypatch.context() as patched:
        patched.setattr(*((LineFile, "delete") if last == "delete" else (Path, "replace")), raise_interrupt)
        assert main(command) == 130
    assert main(command) == 1  # one record is damaged
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith("b.")) == ["b.tar"]


def raise_interrupt(*arguments: object) -> None:
    """Ctrl-C."""
    raise KeyboardInterrupt


def test_records_of_several_archives_keep_apart(tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        (tmp_path / name).write_bytes(zip_of({"x.xml": XML.read_bytes()}))
    main(["convert", str(tmp_path), "--out", str(tmp_path / "b.zip")])
    assert [member.inner for member in members([tmp_path / "b.zip"])] == ["one/x.mjson", "two/x.mjson"]


def test_a_cut_line_of_a_checkpoint_does_not_count(tmp_path: Path) -> None:
    lines = LineFile(tmp_path / "j", {"files": "x"})
    lines.append({"done": 1})
    lines.append({"done": 2})
    del lines
    data = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(data[:-3])
    again = LineFile(tmp_path / "j", {"files": "x"})
    assert again.last({"done": 0}) == {"done": 1}
    again.append({"done": 3})
    del again
    assert [entry["done"] for entry in LineFile(tmp_path / "j", {"files": "x"}).entries()] == [1, 3]
    with pytest.raises(ValueError, match="of another job"):
        LineFile(tmp_path / "j", {"files": "y"})
    (tmp_path / "j").write_bytes(data[:5])
    assert LineFile(tmp_path / "j", {"files": "y"}).last({"done": 0}) == {"done": 0}


def test_a_job_that_is_interrupted_while_it_reads_what_is_done_can_be_begun_again(tmp_path: Path) -> None:
    lines = LineFile(tmp_path / "j", {"files": "x"})
    lines.append({"done": 1})
    lines.close()
    lines = LineFile(tmp_path / "j", {"files": "x"})
    with pytest.raises(KeyboardInterrupt):
        lines.restore(raise_interrupt)
    again: list[dict[str, Any]] = []
    LineFile(tmp_path / "j", {"files": "x"}).restore(again.append)
    assert again == [{"done": 1}]


@pytest.mark.parametrize("text", ["my notes", "my notes\nmore of them", '{"files": "y"}\nno end'])
def test_a_file_of_another_is_not_touched(text: str, tmp_path: Path) -> None:
    (tmp_path / "j").write_text(text)
    with pytest.raises(ResumeError, match=r"no checkpoint|of another job, with different files"):
        LineFile(tmp_path / "j", {"files": "x"})
    assert (tmp_path / "j").read_text() == text


def test_files_that_were_written_again_are_others(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"as long")
    os.utime(path, ns=(0, 0))
    before = digest_of([path])
    assert digest_of([path]) == before
    os.utime(path, ns=(0, 1000))
    assert digest_of([path]) != before


def test_an_interrupted_validation_counts_no_record_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C comes between the count of a record and that of records."""
    path = write_archive(tmp_path, "a.tar", {f"{number}.xml": XML.read_bytes() for number in range(4)})
    command = ["validate", str(path), "--json", str(tmp_path / "found.json")]
    counted = Report.add

    def interrupted(report: Report, other: Report) -> None:
        counted(report, other)
        if report.n_records == 2:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(Report, "add", interrupted)
        assert main(command) == 130
    assert "interrupted: 2 records are checked" in capsys.readouterr().err
    main(command)
    assert capsys.readouterr().out.startswith("files 4 ")


@pytest.mark.parametrize("command", ["validate", "convert"])
def test_a_worker_that_dies_is_one_line(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_archive(tmp_path, "a.tar", {f"{number}.xml": XML.read_bytes() for number in range(4)})

    def in_order(work: object, found: Iterator[Any], filters: object, jobs: int) -> Iterator[Any]:
        yield from islice(stream.in_order(work, found, filters, jobs), 2)  # type: ignore[arg-type]
        raise WorkerError

    for module in (convert, validate):
        monkeypatch.setattr(module, "in_order", in_order)
    out = {"validate": "--json", "convert": "--out"}[command], str(tmp_path / "b.zip")
    assert main([command, str(path), *out]) == 1
    (line,) = (line for line in capsys.readouterr().err.splitlines() if "records are" in line)
    assert line.startswith("a worker process ended unexpectedly")
    assert line.endswith("the same command continues")
    monkeypatch.undo()
    assert main([command, str(path), *out]) == 0
    assert re.search(r"files 4 |4 records", capsys.readouterr().out)


def test_a_conversion_of_nothing_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["convert", str(tmp_path / "empty"), "--out", str(tmp_path / "b.zip")]) == 1
    assert capsys.readouterr().err == f"no game records in {tmp_path / 'empty'}\n"
    assert [each.name for each in tmp_path.iterdir()] == ["empty"]


def test_one_process_at_a_time_writes_a_checkpoint(tmp_path: Path) -> None:
    lines = LineFile(tmp_path / "j", {"files": "x"})
    lines.append({"done": 1})
    for identity in ({"files": "x"}, {"files": "y"}):
        with pytest.raises(ValueError, match=r"^another process is writing .*j: wait for it, or name another file"):
            LineFile(tmp_path / "j", identity)
    lines.delete()
    assert LineFile(tmp_path / "j", {"files": "y"}).last({"done": 0}) == {"done": 0}


@pytest.mark.slow
def test_records_are_read_only_when_a_worker_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the archive is, a few of its records are in memory."""
    path = write_archive(tmp_path, "a.tar", {f"{number}.xml": b"no record" for number in range(1000)})
    n_read = itertools.count()
    opened = commands.members

    def counted(paths: list[Path]) -> Iterator[Any]:
        for member in opened(paths):
            next(n_read)
            yield member

    monkeypatch.setattr(commands, "members", counted)
    monkeypatch.setattr(stream, "WINDOW", 4)
    stop_after(100, monkeypatch)
    monkeypatch.setenv("NUKIDORA_JOBS", "2")
    assert main(["validate", str(path)]) == 130
    assert next(n_read) < 100 + 4 * 16


@pytest.mark.slow
def test_a_killed_conversion_continues(tmp_path: Path) -> None:
    contents = {f"{number:04}.xml": XML.read_bytes() for number in range(3000)}
    source, out = write_archive(tmp_path, "a.tar.zst", contents), tmp_path / "b.zip"
    command = [sys.executable, "-m", "engine", "convert", str(source), "--out", str(out)]  # many: in several processes
    with subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True) as converting:
        lines = tmp_path / "b.zip.partial.jsonl"
        wait_for(lambda: lines.exists() and lines.read_text().count("\n") > 1)
        converting.kill()
        _, errors = converting.communicate(timeout=60)
    assert converting.returncode == -signal.SIGKILL
    assert "Traceback" not in errors
    again = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert again.returncode == 0
    assert re.match(r"continuing after [12],000 records\n", again.stderr)
    with zipfile.ZipFile(out) as archive:
        assert len(set(archive.namelist())) == 3000
        assert archive.testzip() is None
        data = archive.read("2999.mjson")
    assert len(parse_record(data, "x").rounds()) == len(read_records(XML).rounds())


@pytest.mark.slow
def test_data_of_archives_and_files_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a network to learn from."""
    pytest.importorskip("onnxruntime")
    from agents.bert.cli import main as bert

    for name, made in (("a.zip", "1"), ("a.tar.zst", "2")):
        path = write_archive(tmp_path, name, real_records())
        monkeypatch.setenv("NUKIDORA_JOBS", made)
        assert bert(["data", str(tmp_path / f"data{made}"), "--records", str(path)]) == 0
    monkeypatch.setenv("NUKIDORA_JOBS", "1")
    files = [str(RECORDS / name) for name in sorted(real_records())]
    assert bert(["data", str(tmp_path / "data3"), "--records", *files]) == 0
    for part in ("games", "samples"):
        one, two, three = ((tmp_path / f"data{n}" / f"000000.{part}.npy").read_bytes() for n in "123")
        assert one == two
        assert one == three


def test_a_stream_without_a_size_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such as a shell's process substitution."""
    pipe = tmp_path / "pipe.xml"
    os.mkfifo(pipe)
    with subprocess.Popen(["cp", str(XML), str(pipe)]):
        assert main(["validate", str(pipe)]) == 0
    assert capsys.readouterr().out.startswith("files 1 ")
