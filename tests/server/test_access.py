"""Limits of connections, joins and downloads."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic
from typing import Any

import pytest

from server import running
from server.access import (
    DOWNLOADS_AT_ONCE,
    Access,
    AddressRateLimiter,
    RateLimitError,
    ServerFullError,
)
from server.addresses import Proxies, limited_address
from server.limits import Limits
from server.settings import Settings
from tests.support.server_bots import until

HERE, THERE = "192.0.2.1", "192.0.2.2"


class Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_access(clock: Callable[[], float] = monotonic, **settings: Any) -> Access:
    """Access with those settings."""
    return Access(Settings(**settings), Limits(clock=clock))


def test_connections_are_limited_by_address_and_in_total() -> None:
    limits = make_access(max_connections=3, connections_per_address=2)
    first, second = (limits.admit(HERE, maybe_proxy=False) for _ in range(2))
    with pytest.raises(RateLimitError, match=r"has 2 connections \(the server's setting connections_per_") as refused:
        limits.admit(HERE, maybe_proxy=False)
    assert refused.value.retry_after > 0
    limits.admit(THERE, maybe_proxy=False)
    with pytest.raises(ServerFullError, match=r"the server is full \(its setting max_connections\); try again later"):
        limits.admit(THERE, maybe_proxy=False)
    first.release()
    first.release()
    assert limits.n_connections() == 2
    limits.admit(THERE, maybe_proxy=False)
    second.release()
    limits.admit(HERE, maybe_proxy=False)


def test_new_connections_of_an_address_are_limited_however_short_they_are() -> None:
    clock = Clock()
    limits = make_access(clock=clock, connections_per_address=5)
    for _ in range(10):
        limits.admit(HERE, maybe_proxy=False).release()
    with pytest.raises(RateLimitError, match="more than 50 new connections a minute"):
        limits.admit(HERE, maybe_proxy=False)
    limits.admit(THERE, maybe_proxy=False)
    clock.now += 60 / 50
    limits.admit(HERE, maybe_proxy=False)


def test_a_connection_of_a_trusted_proxy_counts_for_the_address_that_it_forwards_for() -> None:
    limits = make_access(connections_per_address=2, trusted_proxies="10.0.0.0/8")
    forwarded = [limits.admit("10.1.2.3", maybe_proxy=True) for _ in range(4)]
    for admission in forwarded[:2]:
        admission.forward(f"203.0.113.9, {HERE}")
        assert admission.address == HERE
    with pytest.raises(RateLimitError, match=f"{HERE} has 2 connections"):
        forwarded[2].forward(HERE)
    forwarded[2].forward(THERE)
    for admission in forwarded:
        admission.release()
    assert limits.n_connections() == 0
    limits.admit(HERE, maybe_proxy=True)
    direct = limits.admit(HERE, maybe_proxy=True)
    direct.forward(THERE)  # a header of anybody else is not believed
    assert direct.address == HERE


async def test_proxies_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a container is known once it runs, and may have another address after a restart."""
    known: dict[str, str] = {}

    async def getaddrinfo(name: str, port: None, **options: int) -> Any:
        if name not in known:
            raise socket.gaierror(socket.EAI_NONAME, "not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[name], 0))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    proxies = Proxies("caddy, 10.0.0.0/8")
    resolving = asyncio.create_task(running.keep_resolved(proxies, every=0.01))
    for address in ("172.18.0.5", "172.18.0.6"):
        assert not proxies.trusts(address)
        known["caddy"] = address
        await until(lambda: proxies.trusts(known["caddy"]))
        known.clear()  # stopped
        await asyncio.sleep(0.03)
        assert proxies.client(address, "1.2.3.4") == "1.2.3.4"
        assert proxies.client("172.18.0.1", "1.2.3.4") == "172.18.0.1", "the gateway of a published port"
        assert proxies.trusts("10.1.1.1")
    resolving.cancel()
    assert Proxies("*").trusts("1.2.3.4")
    for wrong in ("10.0.0.0/33", "10.0.0.300", "a b", "caddy:80", "-"):
        with pytest.raises(ValueError, match=wrong):
            Proxies(wrong)


@pytest.mark.parametrize(
    ("trusted", "peer", "header", "client"),
    [
        ("127.0.0.1", "127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "127.0.0.1", "198.51.100.7, 192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "192.0.2.9", "192.0.2.1", "192.0.2.9"),
        ("10.0.0.0/8, 127.0.0.1", "127.0.0.1", "192.0.2.1:4711, 10.3.2.1", "192.0.2.1"),
        ("::1", "::1", "[2001:db8::1]:99", "2001:db8::1"),
        ("::1", "::1", "2001:db8::1", "2001:db8::1"),
        ("172.16.0.0/12", "172.18.0.2", "172.18.0.5", "172.18.0.5"),
        ("127.0.0.1", "127.0.0.1", "unknown, _hidden", "127.0.0.1"),
        ("*", "192.0.2.9", "192.0.2.1, 192.0.2.2", "192.0.2.1"),
        ("", "127.0.0.1", "192.0.2.1", "127.0.0.1"),
    ],
)
def test_the_client_behind_proxies_is_the_last_address_that_is_no_trusted_proxy(
    trusted: str, peer: str, header: str, client: str
) -> None:
    assert Proxies(trusted).client(peer, header) == client


@pytest.mark.parametrize(("what", "setting"), [("join", "joins_per_minute"), ("download", "downloads_per_minute")])
def test_uses_are_limited_by_address(what: str, setting: str) -> None:
    clock = Clock()
    limits = make_access(clock=clock, **{setting: 30})

    def use(address: str) -> None:
        if what == "join":
            limits.join(address)
        else:
            with limits.downloading(address):
                pass

    for _ in range(30):
        use(HERE)
    with pytest.raises(RateLimitError, match=f"more than 30 {what}s a minute from {HERE} ") as refused:
        use(HERE)
    assert refused.value.retry_after == 2
    use(THERE)
    clock.now += 2.0
    use(HERE)
    with pytest.raises(RateLimitError):
        use(HERE)
    clock.now += 3600.0  # no more than a minute's uses are saved up
    for _ in range(30):
        use(HERE)
    with pytest.raises(RateLimitError):
        use(HERE)


def test_records_are_sent_to_an_address_a_few_at_a_time() -> None:
    limits = make_access()
    with ExitStack() as running:
        for _ in range(DOWNLOADS_AT_ONCE):
            running.enter_context(limits.downloading(HERE))
        with pytest.raises(RateLimitError, match=f"4 records are being sent to {HERE}; read them first"):
            running.enter_context(limits.downloading(HERE))
        with limits.downloading(THERE):
            pass
    with limits.downloading(HERE):
        pass


def test_a_use_is_left_after_retry_after() -> None:
    clock = Clock()
    for per_minute in (1, 7, 59, 600):
        limit = AddressRateLimiter(per_minute, per_minute, "uses", "x", Limits(clock=clock))
        for _ in range(per_minute):
            limit.take(HERE)
        with pytest.raises(RateLimitError) as refused:
            limit.take(HERE)
        clock.now += refused.value.retry_after
        limit.take(HERE)


def test_the_number_of_limited_addresses_is_bounded() -> None:
    limit = AddressRateLimiter(1, 1, "uses", "x", Limits(clock=Clock(), max_addresses=3))
    for address in ("a", "b", "c"):
        limit.take(address)
    with pytest.raises(RateLimitError):
        limit.take("a")
    limit.take("d")  # "b" was seen least recently
    for address in ("a", "c", "d"):
        with pytest.raises(RateLimitError):
            limit.take(address)
    assert len(limit._limiters) == 3
    limit.take("b")
    assert len(limit._limiters) == 3


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("unix:", "unix:"),
    ],
)
def test_limits_apply_to_ipv4_addresses_and_ipv6_networks(address: str, counted: str) -> None:
    assert limited_address(address) == counted
    limits = make_access(connections_per_address=1)
    admission = limits.admit(address, maybe_proxy=False)
    with pytest.raises(RateLimitError):
        limits.admit(address, maybe_proxy=False)
    admission.release()
    limits.admit(address, maybe_proxy=False)


def test_annotations_are_limited_by_address_and_in_all() -> None:
    clock = Clock()
    limits = make_access(clock=clock, annotations_per_minute=1)
    assert limits.stores(HERE, 1000)
    assert not limits.stores(HERE, 1000)
    assert limits.stores(HERE, 24)
    for number in range(7):
        assert limits.stores(f"192.0.2.{10 + number}", 1024)
    assert not limits.stores(THERE, 1024), "seven others have used what all may store"
    clock.now += 60
    assert limits.stores(HERE, 1000)
    assert limits.stores(THERE, 1024)
