"""The HTTP API: records that are sent to be read."""

from __future__ import annotations

import asyncio
import bz2
import gzip
import json
import random
import zlib
from collections.abc import Callable, MutableMapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zstandard
from fastapi import HTTPException
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request

from engine.records.files import RecordError, read_records
from engine.records.wall import true_walls
from server.access import UPLOADS_AT_ONCE, RateLimitError
from server.api.guard import MAX_UPLOAD
from server.api.records import PIECE
from server.api.uploads import GzippedJson, read_record
from server.review_work import MAX_RECORD, MAX_RESULT, read, review
from server.used_time import LeastUsedFirst
from server.worker import TaskStoppedError, WorkerUnavailableError, no_progress
from tests.support.archives import ARCHIVES
from tests.support.running_server import Live, until
from tests.support.sent_records import MJAI, MJLOG, RECORDS, SOON, TENHOU, broken_round, finished


@pytest.mark.slow
@pytest.mark.usefixtures("no_error_is_logged")
async def test_records_of_all_formats_are_read(at: Live) -> None:
    for path in (MJAI, MJLOG, TENHOU):
        for data in (path.read_bytes(), gzip.compress(path.read_bytes())):
            response = await at.http.post("/api/records", content=data)
            assert response.status_code == 200, response.text
            assert response.headers["content-encoding"] == "gzip"
            record = read_records(path)
            events = json.loads(json.dumps(record.events))
            assert response.json() == {
                "messages": events,
                "problems": [],
                "problem_codes": [],
                "walls": true_walls(record),
            }
    plain = await at.http.post("/api/records", content=TENHOU.read_bytes(), headers={"Accept-Encoding": "identity"})
    assert plain.headers.get("content-encoding") is None
    assert plain.content == response.content
    found = (await at.http.post("/api/records", content=broken_round(MJAI))).json()
    assert len(found["messages"]) > 100
    (problem,) = found["problems"]
    assert "the rules say" in problem
    (code,) = found["problem_codes"]
    assert code["code"] == "mismatch"
    assert code["codes"]["round"]["code"] == "round_name"


ENTITIES = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
BOMB = f'<!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">{ENTITIES}]><mjloggm><UN n0="&a9;"/></mjloggm>'
BROKEN = {
    "garbage": (b"garbage", "no game record"),
    "a blank": (b" ", "no game record"),
    "no UTF-8": (b"\xff\xfe{", "not UTF-8"),
    "half a gzip file": (gzip.compress(MJLOG.read_bytes())[:1000], "gzip data is damaged"),
    "zeros": (gzip.compress(bytes(10 << 20)), "200 times its size"),
    "too much": (gzip.compress(random.Random(1).randbytes(20_000) * 500), "longer than 4,194,304 bytes"),
    "half a record": (MJLOG.read_bytes()[:5000], "cut"),
    "half a line": (MJAI.read_bytes()[:30], "line 1: not JSON"),
    "entities": (BOMB.encode(), "DOCTYPE"),
    "nesting": (b'{"log":' + b"[" * 100_000, "file"),
    "nested objects": (b'{"type":' * 30_000, "RecursionError"),
    "a long number": (b'{"log":' + b"9" * 10_000 + b"}", "file"),
    "a list": (b"[]", "no game record"),
    "no game": (b"{}", "no tenhou.net/6 record"),
    "four players": (b'{"log":[[[0,0,0],[],[],[],[],[],[],[],[],[],[],[],[],[11],[],[],[]]]}', "three-player"),
    "a page": (b"<html><body>404</body></html>", "unknown tag"),
    "an empty page": (b"<html></html>", "the log ends before"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_records_are_refused_in_one_line(name: str) -> None:
    data, told = BROKEN[name]
    with pytest.raises(ValueError, match=told) as refused:
        read(no_progress, data=data)
    assert str(refused.value).startswith("record: ")
    assert len(str(refused.value)) < 400


@pytest.mark.slow
@pytest.mark.usefixtures("no_error_is_logged")
async def test_broken_and_long_records_are_refused(at: Live) -> None:
    for data, _ in BROKEN.values():
        assert (await at.refused(422, "POST", "/api/records", content=data)).startswith("record: ")
    asked = await at.http.post("/api/reviews?bot=rule&seat=0", content=BOMB.encode())
    over = await finished(at, asked.json()["id"])
    assert over["status"] == "failed"
    assert "DOCTYPE" in over["error"]
    assert over["error"] == await at.refused(409, "GET", f"/api/reviews/{over['id']}/result")
    for path in ("/api/records", "/api/reviews?bot=rule&seat=0"):
        assert "262,144" in await at.refused(413, "POST", path, content=b"x" * (MAX_UPLOAD + 1))
    assert "no game record" in await at.refused(422, "POST", "/api/records", content=b" " * MAX_UPLOAD)
    assert "it is empty" in await at.refused(422, "POST", "/api/records", content=b"")
    assert "8,192" in await at.refused(413, "POST", "/api/rooms", content=b"x" * 8193)


def mutated(chance: random.Random, data: bytes) -> bytes:
    """A record with a few bytes changed, left out or repeated."""
    for _ in range(chance.choice([1, 1, 2, 5])):
        at, length = chance.randrange(len(data)), chance.choice([1, 1, 3, 50])
        new = chance.choice([b"", b"0", b"-1", b"99", b'"', b"9" * 30, b"null", data[at : at + 2 * length]])
        data = data[:at] + new + data[at + length :]
    return data


def renumbered(chance: random.Random, data: bytes) -> bytes:
    """A record with one number changed."""
    starts = [number for number in range(len(data) - 1) if data[number : number + 1].isdigit()]
    at = chance.choice(starts)
    return data[:at] + str(chance.choice([-1, 0, 3, 9, 37, 255, 2**31, 2**70])).encode() + data[at + 1 :]


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(RECORDS), st.sampled_from([mutated, renumbered]))
def test_a_changed_record_is_read_or_refused(
    seed: int, path: Path, change: Callable[[random.Random, bytes], bytes]
) -> None:
    """Whatever is wrong, it is a ValueError."""
    chance = random.Random(seed)
    data = change(chance, path.read_bytes())
    for work in (
        partial(read, data=data),
        partial(review, records=[("x", data)], bots=("rule",), seat=seed % 3, player=""),
    ):
        with suppress(ValueError):
            assert work(no_progress).startswith(b"\x1f\x8b")


@pytest.mark.parametrize("compress", [bz2.compress, zlib.compress, zstandard.compress])
def test_records_are_unpacked_by_gzip_alone(compress: Callable[[bytes], bytes]) -> None:
    """The server need not have the other packages, and nobody sends these from a browser."""
    data = compress(MJAI.read_bytes())
    with pytest.raises(ValueError, match="as they are, or gzipped"):
        read(no_progress, data=data)
    with pytest.raises(ValueError, match="as they are, or gzipped"):
        review(no_progress, records=[("record", data)], bots=("rule",), seat=0, player="")


@pytest.mark.parametrize("archive", ARCHIVES)
def test_archives_are_not_opened(archive: str) -> None:
    with pytest.raises(RecordError):
        read(no_progress, data=ARCHIVES[archive]({"a.mjson": MJAI.read_bytes()}))


def test_a_result_that_is_too_long_is_refused() -> None:
    chance = random.Random(1)
    lines = MJAI.read_text(encoding="utf-8").splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {"x": chance.randbytes(MAX_RESULT).hex()})
    with pytest.raises(ValueError, match="the result is longer than"):
        read(no_progress, data="\n".join(lines).encode())
    assert MAX_RECORD > 2 * MAX_RESULT


@pytest.mark.slow
async def test_one_record_at_a_time_of_an_address(at: Live) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", at.server.port)
    writer.write(b"POST /api/records HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    await until(lambda: bool(at.server.lobby.access._uploading))
    response = await at.http.post("/api/records", content=b"{}")
    assert response.status_code == 429
    assert int(response.headers["retry-after"]) > 0
    assert response.headers["connection"] == "close"  # what is still sent is not read
    writer.transport.abort()
    await reader.read()
    async with asyncio.timeout(SOON):
        while (await at.http.post("/api/records", content=b"{}")).status_code == 429:
            await asyncio.sleep(0.02)


async def ask_to_read(run: Any, reading: LeastUsedFirst, address: str, data: bytes) -> None:
    """A request to read a record, done by `run`."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data}

    scope = {"type": "http", "method": "POST", "headers": [], "client": (address, 1)}
    service: Any = SimpleNamespace(reader=SimpleNamespace(run=run), reading=reading)
    await read_record(service, Request(scope, receive))


async def test_a_worker_that_ends_is_not_the_fault_of_the_record() -> None:
    async def run(work: Any, timeout: float, begin: Callable[[], None]) -> bytes:
        raise WorkerUnavailableError("the worker process has ended unexpectedly; try again")

    with pytest.raises(HTTPException) as failed:
        await ask_to_read(run, LeastUsedFirst(), "10.0.0.1", b"{}")
    assert failed.value.status_code == 503
    assert failed.value.headers == {"Retry-After": "5"}


async def test_the_address_whose_records_took_least_time_is_next() -> None:
    reading, begun = LeastUsedFirst(), list[bytes]()

    async def run(work: Any, timeout: float, begin: Callable[[], None]) -> bytes:
        begun.append(work.keywords["data"])
        return b""

    async with reading.held_by("10.0.0.1") as begin:
        begin()
        await asyncio.sleep(0.01)  # that it has used
        asked = [
            asyncio.create_task(ask_to_read(run, reading, f"10.0.0.{number}", b"%d" % number)) for number in (1, 2)
        ]
        while len(reading._waiting) < len(asked):
            await asyncio.sleep(0)
    await asyncio.gather(*asked)
    assert begun == [b"2", b"1"]


async def test_whose_record_is_stopped_pays_for_the_next_process() -> None:
    reading, begun = LeastUsedFirst(), list[bytes]()

    async def stopped(work: Any, timeout: float, begin: Callable[[], None]) -> bytes:
        raise TaskStoppedError("it took longer than 10 s", 5.0)

    async def run(work: Any, timeout: float, begin: Callable[[], None]) -> bytes:
        begun.append(work.keywords["data"])
        return b""

    with pytest.raises(HTTPException) as failed:
        await ask_to_read(stopped, reading, "10.0.0.1", b"{}")
    assert failed.value.status_code == 503
    async with reading.held_by("10.0.0.3"):
        asked = [
            asyncio.create_task(ask_to_read(run, reading, f"10.0.0.{number}", b"%d" % number)) for number in (1, 2)
        ]
        while len(reading._waiting) < len(asked):
            await asyncio.sleep(0)
    await asyncio.gather(*asked)
    assert begun == [b"2", b"1"]


async def test_a_result_is_unzipped_while_everything_else_goes_on() -> None:
    """A few kilobytes may be megabytes of JSON, and `send` returns at once where the client reads fast."""
    sent: list[int] = []
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(len(message.get("body", b"")))

    async def receive() -> dict[str, Any]:
        return {}

    others = asyncio.create_task(take_turns())
    try:
        await GzippedJson(gzip.compress(b" " * MAX_RECORD), ExitStack())({"type": "http", "headers": []}, receive, send)
    finally:
        others.cancel()
    assert sum(sent) == MAX_RECORD
    assert max(sent) <= PIECE
    assert turns >= MAX_RECORD // PIECE


async def test_uploads_are_counted(at: Live) -> None:
    uploading = at.server.lobby.access.uploading
    with ExitStack() as held:
        for number in range(UPLOADS_AT_ONCE - 1):
            held.enter_context(uploading(f"10.0.0.{number}"))
        with uploading("2001:db8::1"), pytest.raises(RateLimitError, match="too many"), uploading("10.0.1.1"):
            pass
        with uploading("2001:db8::1"), pytest.raises(RateLimitError, match="another"), uploading("2001:db8::2"):
            pass
        for _ in range(2):  # what fails is over, too
            with pytest.raises(ValueError, match="broken"), uploading("10.0.1.1"):
                raise ValueError("broken")
