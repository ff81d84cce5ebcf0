"""docs/protocol.md agrees with the table of messages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.mjai import protocol_tables
from engine.mjai.bot_messages import parse_join, parse_reply, request_in
from engine.mjai.protocol_tables import TABLES, update
from engine.mjai.schema import EVENTS, NOT_OF_A_GAME
from tests.support.message_checks import check_keys, check_message

PAGE = Path(__file__).resolve().parents[3] / "docs" / "protocol.md"


def test_the_tables_of_the_page_are_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert update(page) == page, "run: python -m engine.mjai.protocol_tables docs/protocol.md"
    assert sorted(re.findall(r"<!-- table (\w+) -->", page)) == sorted(TABLES)


def test_an_outdated_table_is_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table join -->\nold\n<!-- end -->\nafter\n")
    protocol_tables.main(page)
    text = page.read_text()
    assert text == f"before\n<!-- table join -->\n\n{TABLES['join']()}\n<!-- end -->\nafter\n"
    assert "`games`" in text


def test_a_table_that_does_not_exist_is_refused() -> None:
    with pytest.raises(KeyError, match="chi"):
        update("<!-- table chi -->\n<!-- end -->\n")


def test_the_examples_of_the_page_are_messages() -> None:
    """Those with tiles left out (…) have the keys of messages."""
    types = set()
    for sign, text in re.findall(r"^(<- |-> |)(\{.*\})$", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        if "…" in text:
            left_out = json.loads(re.sub(",?…", "", text))
            check_keys(left_out)
            types.add(left_out["type"])
            continue
        types.add(json.loads(text)["type"])
        if request_in(text.encode()):
            assert sign == "-> "
        elif sign == "-> ":
            (parse_join if '"join"' in text else parse_reply)(text)
        else:
            check_message(json.loads(text))
    assert types == EVENTS.keys() | NOT_OF_A_GAME
