"""The words of the pages: each in English and Japanese, and none missing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from server.pages import WEB
from tests.support.server_program import REPOSITORY
from tests.web.conftest import Site

SOURCES = {path.name: path.read_text(encoding="utf-8") for path in sorted(WEB.glob("*.js"))}
ADDING = [name for name, text in SOURCES.items() if "addWords({" in text]
LOAD = """async (modules) => {
  for (const module of modules) await import(`/web/${module}`);
  return (await import("/web/words.js")).WORDS;
}"""
NOT_FOUND = ["no_open_room", "no_player", "no_game", "no_tournament"]  # of `server.api.errors.not_found`
PLACEHOLDER = re.compile(r"\{\w+\}")


@pytest.fixture(scope="module")
def words(browser: Browser, site: Site) -> Iterator[dict[str, dict[str, str]]]:
    """All words by language and key."""
    with browser.new_context(base_url=site.url) as context:
        page = context.new_page()
        shown = SOURCES["words.js"].replace("const WORDS", "export const WORDS")
        page.route("**/web/words.js", lambda route: route.fulfill(body=shown, content_type="text/javascript"))
        page.goto("/openapi.json")  # no page of ours, which would load words of its own
        found: Any = page.evaluate(LOAD, ADDING)
        yield found


def test_both_languages_have_the_same_words(words: dict[str, dict[str, str]]) -> None:
    assert words["en"].keys() == words["ja"].keys()
    assert len(words["en"]) > 500
    for key, english in words["en"].items():
        assert bool(english) == bool(words["ja"][key]), key
        assert set(PLACEHOLDER.findall(english)) == set(PLACEHOLDER.findall(words["ja"][key])), key


def test_words_that_are_asked_for_exist(words: dict[str, dict[str, str]]) -> None:
    asked = {key for text in SOURCES.values() for key in re.findall(r"\bt\(\s*\"(\w+)\"", text)}
    assert len(asked) > 200
    assert asked - words["en"].keys() == set()


def test_errors_that_have_a_code_have_words_and_their_values(words: dict[str, dict[str, str]]) -> None:
    """So that a page in Japanese says them in Japanese; each value that the words name is one of the line's."""
    sources = [path.read_text(encoding="utf-8") for path in sorted((REPOSITORY / "server").rglob("*.py"))]
    calls = [call for text in sources for call in ast.walk(ast.parse(text)) if is_error_text(call)]
    found: dict[str, set[str]] = {}
    for call in calls:
        code = call.args[0]
        for each in [code.value] if isinstance(code, ast.Constant) else NOT_FOUND:
            names = {f"{{{keyword.arg}}}" for keyword in call.keywords}
            found[each] = names & found.get(each, names)
    assert {key.removeprefix("error_") for key in words["en"] if key.startswith("error_")} == found.keys()
    assert len(found) > 30
    for code, names in found.items():
        assert set(PLACEHOLDER.findall(words["ja"][f"error_{code}"])) <= names, code


def is_error_text(node: Any) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "error_text"
