"""Tokens: names that they reserve, and what an admin may."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from server.access import AccessError, UnauthorizedError
from server.cli import make_parser
from server.commands import manage_tokens
from server.flags import parse
from server.settings import Settings
from server.store import Store
from server.tokens import Tokens


def make_tokens(store: Store, access: Literal["open", "token"]) -> Tokens:
    return Tokens(Settings(access=access), store)


async def refusal(asked: Any) -> AccessError:
    """The error that a call raises."""
    with pytest.raises(AccessError) as refused:
        await asked
    assert str(refused.value).isprintable()
    return refused.value


async def test_a_name_with_a_token_is_reserved(sqlite_url: str) -> None:
    store = await Store.open(sqlite_url)
    aki = await store.add_token("aki")
    boss = await store.add_token("boss", admin=True)
    for mode in ("open", "token"):
        tokens = make_tokens(store, mode)
        await tokens.authorize_bot("aki", aki)
        await tokens.authorize_bot("boss", boss)
        assert "belongs to 'aki': join with this name" in str(await refusal(tokens.authorize_bot("beni", aki)))
        unknown = await refusal(tokens.authorize_bot("aki", aki + "x"))
        assert isinstance(unknown, UnauthorizedError)
        assert "unknown or revoked" in str(unknown)
        assert "is reserved for house bots" in str(await refusal(tokens.authorize_bot("rule (house)", aki)))
    tokens = make_tokens(store, "open")
    await tokens.authorize_bot("beni", None)
    assert "the name 'aki' is reserved by a token" in str(await refusal(tokens.authorize_bot("aki", None)))
    imitation = await refusal(tokens.authorize_bot("\u0430k\u2064i", None))
    assert isinstance(imitation, AccessError)
    assert "looks like 'aki'" in str(imitation)
    tokens = make_tokens(store, "token")
    for nothing in (None, ""):
        assert isinstance(await refusal(tokens.authorize_bot("beni", nothing)), UnauthorizedError)
    await store.revoke_token("aki")
    assert "unknown or revoked" in str(await refusal(tokens.authorize_bot("aki", aki)))
    await make_tokens(store, "open").authorize_bot("aki", None)
    await store.close()


async def test_tokens_are_added_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(data=tmp_path)
    for name in ("x" * 64, "雀 士", "rule (horse)"):
        assert await manage_tokens(settings, parse(make_parser(), ["token", "add", name])) == 0
        assert len(capsys.readouterr().out) == 44  # 32 bytes in base64, and a line's end
    assert await manage_tokens(settings, parse(make_parser(), ["token", "list"])) == 0
    assert "雀 士  bot  " in capsys.readouterr().out


async def test_admins_need_an_admin_token(sqlite_url: str) -> None:
    store = await Store.open(sqlite_url)
    aki = await store.add_token("aki")
    boss = await store.add_token("boss", admin=True)
    for mode in ("open", "token"):
        tokens = make_tokens(store, mode)
        owner = await tokens.authorize_admin(boss)
        assert owner is not None
        assert owner.name == "boss"
        assert type(await refusal(tokens.authorize_admin(aki))) is AccessError
        assert isinstance(await refusal(tokens.authorize_admin("nonsense")), UnauthorizedError)
    assert await make_tokens(store, "open").authorize_admin(None) is None
    assert isinstance(await refusal(make_tokens(store, "token").authorize_admin(None)), UnauthorizedError)
    await store.close()
