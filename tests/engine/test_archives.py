"""Archives of records: every kind gives the same records, damage is named, and nothing is read without bounds."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import re
import sqlite3
import sys
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from engine.cli import main
from engine.records import archives
from engine.records.archives import find_records, members
from engine.records.compression import MAX_RECORD, unpack
from engine.records.files import read_records, write_record
from engine.records.model import RecordError
from tests.support.archives import (
    ARCHIVES,
    RECORDS,
    XML,
    houou_logs,
    log_id,
    phoenix_logs,
    real_records,
    tar_of,
    write_archive,
    zip_of,
)

TOTALS = "files 15 · rounds 122 · decisions 4880 · mismatches 0\n"  # of the real records


def validate(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[str]]:
    """The exit code of ``engine validate`` and its lines."""
    capsys.readouterr()
    code = main(["validate", *map(str, arguments)])
    return code, capsys.readouterr().out.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("name", ARCHIVES)
def test_every_kind_of_archive_has_the_same_records(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_archive(tmp_path, name, real_records())
    assert [member.name for member in members([path])] == [f"{path}:{each}" for each in real_records()]
    assert [member.read() for member in members([path])] == list(real_records().values())
    assert main(["validate", str(path)]) == 0
    assert capsys.readouterr().out == TOTALS


@pytest.mark.parametrize("make", [houou_logs, phoenix_logs])
def test_databases_of_logs(make: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ids = [log_id("20180131", number=number) for number in range(3)]
    path = make(tmp_path / "2018.db", {ids[0]: XML.read_bytes(), ids[1]: None, ids[2]: XML.read_bytes()})  # type: ignore[operator]
    assert [member.name for member in members([path])] == [f"{path}:{ids[0]}", f"{path}:{ids[2]}"]
    code, (line,) = validate(capsys, path)
    assert (code, line.split(" · ")[0]) == (0, "files 2")
    assert read_records(f"{path}:{ids[2]}").events == read_records(XML).events
    assert sorted(each.name for each in tmp_path.iterdir()) == ["2018.db"]  # no lock, no journal beside it


def test_folders_patterns_and_compressed_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "deep").mkdir()
    write_archive(tmp_path / "deep", "a.zip", {"x.xml": XML.read_bytes()})
    (tmp_path / "b.xml.gz").write_bytes(gzip.compress(XML.read_bytes()))
    (tmp_path / "c.xml").write_bytes(zlib.compress(XML.read_bytes()))
    (tmp_path / "notes.txt").write_text("no record")
    assert [path.name for path in find_records([tmp_path])] == ["b.xml.gz", "c.xml", "a.zip"]
    assert [path.name for path in find_records([tmp_path / "*.xml*"])] == ["b.xml.gz", "c.xml"]
    assert find_records([tmp_path / "*.none"]) == []
    named = find_records([tmp_path, tmp_path / "c.xml", tmp_path / "notes.txt"])
    assert [path.name for path in named] == ["b.xml.gz", "c.xml", "a.zip", "notes.txt"]
    assert validate(capsys, tmp_path)[1][-1].startswith("files 3 ")
    with pytest.raises(FileNotFoundError, match="missing"):
        find_records([tmp_path / "missing"])


def test_one_record_of_an_archive_has_a_name(tmp_path: Path) -> None:
    path = write_archive(tmp_path, "a.tar.bz2", {"in/one.xml": XML.read_bytes(), "two.json": b"{}"})
    assert main(["show", f"{path}:in/one.xml", "--round", "1"]) == 0
    assert main(["convert", f"{path}:in/one.xml", str(tmp_path / "one.json")]) == 0
    assert len(read_records(tmp_path / "one.json").rounds()) == len(read_records(XML).rounds())


def test_other_files_in_an_archive_are_no_records(tmp_path: Path) -> None:
    contents = {"README.md": b"x", "a.xml": b"<", log_id("20180131"): b"<", "__x.DS_Store": b"", "b.json.zst": b"{"}
    path = write_archive(tmp_path, "a.zip", contents)
    assert [member.inner for member in members([path])] == ["a.xml", log_id("20180131"), "b.json.zst"]


def test_what_macos_adds_to_archives_and_disks_is_no_record(tmp_path: Path) -> None:
    data = (RECORDS / "phoenix_2020_1.mjson").read_bytes()
    attributes = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        "
    inner = {"__MACOSX/games/a.mjson": attributes, "games/._a.mjson": attributes, "games/a.mjson": data}
    (tmp_path / "a.zip").write_bytes(zip_of(inner))
    (tmp_path / "b.tar").write_bytes(tar_of(inner))
    for name in ("._a.zip", "._b.mjson", "._c.db", "__MACOSX.json"):
        (tmp_path / name).write_bytes(attributes)
    assert [member.name for member in members(find_records([tmp_path]))] == [
        str(tmp_path / "__MACOSX.json"),
        f"{tmp_path / 'a.zip'}:games/a.mjson",
        f"{tmp_path / 'b.tar'}:games/a.mjson",
    ]


def test_suffixes_may_be_capitals(tmp_path: Path) -> None:
    data = (RECORDS / "phoenix_2020_1.mjson").read_bytes()
    (tmp_path / "A.MJSON").write_bytes(data)
    (tmp_path / "B.Json.GZ").write_bytes(gzip.compress(data))
    (tmp_path / "C.TAR.GZ").write_bytes(gzip.compress(tar_of({"D.MJSON": data})))
    (tmp_path / "E.DB").write_bytes(b"SQLite format 3\x00")
    found = find_records([tmp_path])
    assert [path.name for path in found] == ["A.MJSON", "B.Json.GZ", "C.TAR.GZ", "E.DB"]
    assert [member.inner for member in members(found[:3])] == [None, None, "D.MJSON"]
    assert main(["convert", *map(str, found[:3]), "--out", str(tmp_path / "out")]) == 0
    assert sorted(each.name for each in (tmp_path / "out").rglob("*.mjson")) == ["A.mjson", "B.mjson", "D.mjson"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_packed_tar_is_recognised_whatever_its_suffix(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "games.gz"
    path.write_bytes(pack(tar_of(real_records())))
    assert [member.inner for member in members([path])] == [*real_records()]


def test_damaged_members_are_named_and_the_others_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    four = XML.read_bytes().replace(b'type="185"', b'type="169"')
    contents = {"a.xml": XML.read_bytes(), "b.xml": XML.read_bytes()[:-90], "c.xml": four, "d.xml": XML.read_bytes()}
    path = write_archive(tmp_path, "a.tar", contents)
    code, lines = validate(capsys, path)
    assert code == 1
    assert lines[0].startswith(f"{path}:b.xml: line 1 column ")
    assert (
        lines[1]
        == f"{path}:c.xml: tag 2 <GO>: GO type 169 is no three-player game; only three-player games can be read"
    )
    assert re.fullmatch(r"files 4 · rounds \d+ · decisions \d+ · mismatches 0 · damaged 1 · games of four 1", lines[2])
    assert main(["convert", str(path), "--out", str(tmp_path / "out"), "--players", "3"]) == 1
    printed = capsys.readouterr()
    assert printed.err.count("only three-player games") == 0
    assert printed.out.endswith("out: 2 records · damaged 1 · left out 1\n")


def test_a_damaged_member_of_a_zip_costs_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(zip_of({"a.xml": XML.read_bytes(), "b.xml": XML.read_bytes()}))
    data[200:210] = bytes(10)  # in the data of the first
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    code, lines = validate(capsys, path)
    assert code == 1
    assert lines[0].startswith(f"{path}:a.xml: zip: damaged in the archive (")
    assert lines[1].startswith("files 2 ")


@pytest.mark.parametrize("name", ARCHIVES)
def test_what_is_left_of_a_cut_archive_is_read(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, records = write_archive(tmp_path, name, real_records()), real_records()
    whole = path.read_bytes()
    for kept in (0.1, 0.9, 0.5):
        path.write_bytes(whole[: int(kept * len(whole))])
        read = 0
        for member in members([path]):
            with suppress(RecordError):
                assert member.read() == records[member.inner or ""]
                read += 1
        assert read < 15
    code, lines = validate(capsys, path, XML)
    assert code == 1
    assert sum("damaged" in line or "cut off" in line for line in lines[:-1]) >= 1
    assert "damaged" in lines[-1]


def test_a_tar_that_ends_between_two_members_is_damaged(tmp_path: Path) -> None:
    data = tar_of({"a.xml": b"<a/>", "b.xml": b"<b/>"})[: 2 * 512]
    (tmp_path / "a.tar").write_bytes(data)
    first, end = members([tmp_path / "a.tar"])
    assert first.inner == "a.xml"
    with pytest.raises(RecordError, match="damaged after 1 records"):
        end.read()


def test_the_only_record_of_a_cut_tar_has_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    data = XML.read_bytes()
    path.write_bytes(tar_of({"a.xml": data})[: 512 + -(-len(data) // 512) * 512])
    assert len(read_records(f"{path}:a.xml").rounds()) == len(read_records(XML).rounds())
    with pytest.raises(RecordError, match="damaged after 1 records"):
        read_records(path)


def test_what_is_no_database_of_logs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        database.execute("CREATE TABLE games (id TEXT)")
    assert find_records([tmp_path]) == []  # in a folder it is no concern of ours
    code, lines = validate(capsys, tmp_path / "a.db")
    assert code == 1
    assert lines[0].startswith(f"{tmp_path / 'a.db'}: archive: no table logs with log_id and log_content")


def test_a_database_that_is_being_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = houou_logs(tmp_path / "a.db", {log_id("20180131"): XML.read_bytes()})
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("DELETE FROM logs")
        database.commit()
        code, lines = validate(capsys, path)
    assert code == 1
    assert "a.db-wal has changes that are not in it yet" in lines[0]


def bomb(size: int) -> bytes:
    """Zeros as a member of a zip."""
    return zip_of({"a.xml": bytes(size), "b.xml": XML.read_bytes()})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.zip", bomb(MAX_RECORD + 1), "longer than 16,777,216 bytes"),
        ("a.zip", bomb(4 << 20), "unpacks to more than 200 times its size"),
        ("a.tar", tar_of({"a.xml": bytes(MAX_RECORD + 1), "b.xml": XML.read_bytes()}), "longer than 16,777,216 bytes"),
        ("a.tar", tar_of({"a.xml": gzip.compress(bytes(4 << 20)), "b.xml": XML.read_bytes()}), "more than 200 times"),
    ],
)
def test_bombs_are_skipped(
    name: str, data: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(data)
    code, lines = validate(capsys, tmp_path)
    assert code == 1
    assert lines[0].startswith(f"{tmp_path / name}:a.xml: ")
    assert told in lines[0]
    assert lines[1].startswith("files 2 · rounds 3 ")


@pytest.mark.slow
def test_a_bomb_takes_no_memory() -> None:
    zeros = gzip.compress(bytes(200 << 20))
    tracemalloc.start()
    with pytest.raises(RecordError, match="longer than"):
        unpack(zeros, "zeros")
    assert tracemalloc.get_traced_memory()[1] < 80 << 20
    tracemalloc.stop()


def test_a_header_of_a_tar_takes_no_memory(tmp_path: Path) -> None:
    """Of a gigabyte, which `tarfile` would read as a whole."""
    info = tarfile.TarInfo("././@PaxHeader")
    info.size, info.type = 1 << 30, tarfile.XHDTYPE
    (tmp_path / "a.tar").write_bytes(info.tobuf() + bytes(1 << 20))
    (only,) = members([tmp_path / "a.tar"])
    with pytest.raises(RecordError, match="a header of 1,073,741,824 bytes"):
        only.read()


def test_links_in_a_tar_are_not_followed(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            info = tarfile.TarInfo("link.xml")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    (tmp_path / "a.tar").write_bytes(stream.getvalue())
    assert list(members([tmp_path / "a.tar"])) == []


def test_names_cannot_forge_lines(tmp_path: Path) -> None:
    path = write_archive(tmp_path, "a.zip", {"a\nfiles 1 · mismatches 0\x1b[2J.xml": b"<"})
    (member,) = members([path])
    assert "\n" not in member.name
    assert "\x1b" not in member.name


def test_an_encrypted_member_is_told(tmp_path: Path) -> None:
    data = bytearray(zip_of({"a.xml": XML.read_bytes()}))
    central = data.index(b"PK\x01\x02")
    data[6] |= 1  # of the flags of the member, and of the list of contents
    data[central + 8] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    (member,) = members([tmp_path / "a.zip"])
    with pytest.raises(RecordError, match="encrypted"):
        member.read()


def test_tars_are_not_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list that `tarfile` keeps of its members stays short."""
    lengths = []
    opened = tarfile.TarFile.next

    def watched(archive: tarfile.TarFile) -> tarfile.TarInfo | None:
        lengths.append(len(archive.members))  # type: ignore[attr-defined]
        return opened(archive)

    monkeypatch.setattr(archives.tarfile.TarFile, "next", watched)
    path = write_archive(tmp_path, "a.tar", {f"{number}.xml": b"<" for number in range(100)})
    assert sum(1 for _ in members([path])) == 100
    assert max(lengths) <= 1


def test_zstd_without_its_package_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from engine.common.program import start

    path = write_archive(tmp_path, "a.tar.zst", {"a.xml": XML.read_bytes()})
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert start("engine.cli:main", ["validate", str(path)]) == 2
    assert "pip install -c constraints.txt -e '.[archive]'" in capsys.readouterr().err
    with pytest.raises(RecordError, match="zstandard is not installed"):
        unpack(path.read_bytes(), "a.json.zst")


def test_a_damaged_database_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = {log_id("20180131", number=number): XML.read_bytes() for number in range(20)}
    path = phoenix_logs(tmp_path / "a.db", dict(logs))
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    path.write_bytes(data)
    code, lines = validate(capsys, tmp_path)
    assert code == 1
    assert "damaged" in lines[-1]
    assert any(line.startswith(f"{path}") for line in lines[:-1])


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--room", "phoenix"], r"phoenix_(?!2020)"),  # that one is mjai, which does not say the room
        (["--room", "silver"], r"majsoul_(chankan|kan3.*shan\.json)"),
        (["--length", "east"], r"majsoul_(chankan|kan3.*shan\.json)"),
        (["--rate", "1500", "--length", "hanchan"], r"phoenix_(?!2020)|majsoul_kokushi"),
        (["--rate", "1501"], r"none"),
        (["--since", "2021-01-01"], r"none"),
    ],
)
def test_filters_by_what_records_say(
    options: list[str], left: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_archive(tmp_path, "a.zip", real_records())
    names = {Path(name).stem for name in real_records() if re.match(left, name)}
    code = main(["convert", str(path), "--out", str(tmp_path / "out"), *options, "--format", "json"])
    assert code == (0 if names else 1)
    assert {each.name for each in (tmp_path / "out").iterdir()} == {f"{name}.json" for name in names}
    assert capsys.readouterr().out.endswith(f"out: {len(names)} records · left out {15 - len(names)}\n")


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (["--room", "phoenix"], [0, 1, 3]),
        (["--room", "expert"], [2]),
        (["--length", "hanchan"], [0, 2, 3]),
        (["--since", "2019-01-01"], [1]),
        (["--players", "3"], [0, 1, 2]),
        (["--players", "3", "--since", "2018-01-01", "--length", "east"], [1]),
    ],
)
def test_log_ids_are_filtered_unread(
    options: list[str], left: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The type and the date in the id decide before the record is read."""
    ids = [log_id("20180131"), log_id("20200229", 0xB1), log_id("20170615", 0x39), log_id("20180131", 0xA9)]
    path = phoenix_logs(tmp_path / "a.db", dict.fromkeys(ids, b"unreadable"))
    main(["convert", str(path), "--out", str(tmp_path / "out"), *options])
    faults = [line for line in capsys.readouterr().err.splitlines() if line.startswith(f"{path}:")]
    assert [line.split(": ")[0] for line in faults] == [f"{path}:{ids[number]}" for number in left]


def test_ratings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every player has the rating; a record that does not say it of all is left out."""
    document = json.loads((RECORDS / "phoenix_2024_1.json").read_text())
    for name, rates in (
        ("a", [2000.5, 2100, 2200, 1500]),
        ("b", [2300, 1999, 2200, 1500]),
        ("c", None),
        ("d", [2000.5, 2100]),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(document | {"rate": rates}))
    assert main(["convert", str(tmp_path), "--out", str(tmp_path / "out"), "--rate", "2000"]) == 0
    assert capsys.readouterr().out.endswith("out: 1 records · left out 3\n")
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["a.mjson"]


def test_the_date_of_a_folder_is_none_of_the_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "backup-2026-11-30"
    folder.mkdir()
    write_record(read_records(XML), folder / "2009-01-02.mjson")
    out = ["--out", str(tmp_path / "out"), "--since", "2020-01-01"]
    assert main(["convert", str(folder), *out]) == 1
    assert capsys.readouterr().out.endswith("out: 0 records · left out 1\n")


def test_a_folder_or_a_zip_without_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty"
    path.mkdir()
    for given in (path, path / "a.zip"):
        assert main(["validate", str(given)]) == 1
        printed = capsys.readouterr()
        assert printed.out == "files 0 · rounds 0 · decisions 0 · mismatches 0\n"
        assert str(given) in printed.err
        zipfile.ZipFile(path / "a.zip", "w").close()
    assert validate(capsys, path) == (1, ["files 0 · rounds 0 · decisions 0 · mismatches 0"])
