"""The words of the pages: each in English and Japanese, and none missing. They are read from the sources."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, get_args, get_type_hints

import pytest

from agents.review.decisions import DISCARD_KIND, KINDS
from engine.mjai.schema import EVENTS, REPLIES
from engine.positions.position import Position
from engine.rules import PRESETS
from engine.ryukyoku import RYUKYOKU
from engine.tiles import WINDS
from server.api.errors import LIMITS
from server.pages import WEB
from server.settings import RoomSettings
from server.store import PlayerStatistics
from server.store.lists import PlayerOrder
from server.tournaments.tournament import Status
from tests.support.server_program import REPOSITORY

SOURCES = {path.name: path.read_text(encoding="utf-8") for path in sorted(WEB.glob("*.js"))}
# Codes that are put together of values -> those that there are.
CODES_OF = {
    "no_*": ["no_open_room", "no_player", "no_game", "no_tournament"],  # of `server.api.errors.not_found`
    "value_*": [f"value_{kind}" for kind in LIMITS],
    "wind_*": [f"wind_{wind}" for wind in WINDS],
    "field_*": [
        f"field_{name}"
        for name in ["position", *(field.name for field in fields(Position)), *(f"river_of_{wind}" for wind in WINDS)]
    ],
}
ERROR, PROBLEM = "error_", "problem_"  # how the keys of words of codes begin; those of problems are Japanese only
PLACEHOLDER = re.compile(r"\{\w+\}")
ADDED = re.compile(r"^addWords\(\{$.*?^\}\);$", re.DOTALL | re.MULTILINE)
PART = re.compile(
    r'(?P<language>en|ja): \{|"?(?P<key>[\w-]+)"?:\s+(?P<text>"(?:[^"\\]|\\.)*"),?|addWords\(\{|\}|[\s,;)]+'
)
ASKED = re.compile(r"""\bt\(\s*(?:"(\w+)"|`(\w*)\$\{([^`]*?)\}(\w*)`)""")  # t("key"), or t(`first${…}last`)


def added_in(source: str) -> dict[str, dict[str, str]]:
    """The words that a module adds, by language and key. Raises ValueError for what is written in another way."""
    words: dict[str, dict[str, str]] = {"en": {}, "ja": {}}
    for block in ADDED.findall(source):
        at, language = 0, "en"
        while at < len(block):
            part = PART.match(block, at)
            if part is None:
                raise ValueError(f"no words: {block[at : at + 60]!r}")
            if part["language"]:
                language = part["language"]
            elif part["key"]:
                if part["key"] in words[language]:
                    raise ValueError(f"{part['key']} has two texts in {language}")
                words[language][part["key"]] = json.loads(part["text"])
            at = part.end()
    return words


@pytest.fixture(scope="module")
def words() -> dict[str, dict[str, str]]:
    """All words by language and key."""
    found: dict[str, dict[str, str]] = {"en": {}, "ja": {}}
    for name, source in SOURCES.items():
        assert source.count("addWords({") == len(ADDED.findall(source)), name
        for language, added in added_in(source).items():
            assert not added.keys() & found[language].keys(), name
            found[language] |= added
    return found


def test_both_languages_have_the_same_words(words: dict[str, dict[str, str]]) -> None:
    only = words["ja"].keys() - words["en"].keys()
    assert only == {key for key in words["ja"] if key.startswith(PROBLEM)}
    assert words["en"].keys() - words["ja"].keys() == set()
    assert len(words["en"]) > 500
    for key, english in words["en"].items():
        assert bool(english) == bool(words["ja"][key]), key
        assert set(PLACEHOLDER.findall(english)) == set(PLACEHOLDER.findall(words["ja"][key])), key


def test_words_that_are_asked_for_exist(words: dict[str, dict[str, str]]) -> None:
    asked = {key for text in SOURCES.values() for key, *_ in ASKED.findall(text) if key}
    assert len(asked) > 200
    assert asked - words["en"].keys() == set()


def test_passing_has_one_word(words: dict[str, dict[str, str]]) -> None:
    """In play, in replays and in reviews."""
    for of_language in words.values():
        assert len({of_language[key].lower() for key in ("play_none", "replay_none", "review_act_none")}) == 1


def options(of: Iterable[str], *but: str) -> list[str]:
    return [each for each in of if each not in but]


SETTINGS = [field.name for field in fields(RoomSettings)]
CHOICES = [
    value for hint in get_type_hints(RoomSettings).values() for value in get_args(hint) if isinstance(value, str)
]
CALLS = options(REPLIES, "dahai", "hora", "ryukyoku", "none")
STATISTICS = ["busts", *PlayerStatistics.model_computed_fields]  # on a player's page
# Words whose keys are made of values that Python knows -> the values that there are.
MADE_OF = {
    "choice_*": [*PRESETS, *CHOICES],
    "player_*": STATISTICS,
    "player_*_help": STATISTICS,
    "players_by_*": get_args(PlayerOrder),
    "replay_*": [*options(REPLIES, "dahai"), "kan"],
    "result_*": [way.mjai for way in RYUKYOKU],
    "review_act_*": options(REPLIES, "dahai", "hora"),
    "review_kind_*": [*KINDS, DISCARD_KIND],
    "setting_*": SETTINGS,
    "setting_*_hint": SETTINGS,
    "table_call_*": CALLS,
    "table_event_*": options(EVENTS, "start_game", "reach_accepted", "hora", "end_kyoku"),
    "tour_*": get_args(Status),
}


def test_words_whose_keys_are_put_together_exist(words: dict[str, dict[str, str]]) -> None:
    """All of those made of values that Python knows; at least two of each of the others."""
    asked = {f"{first}*{last}" for text in SOURCES.values() for _, first, value, last in ASKED.findall(text) if value}
    assert MADE_OF.keys() - asked == set()
    for made in asked:
        known = [made.replace("*", value) for value in MADE_OF.get(made, ())]
        assert set(known) - words["en"].keys() == set(), f"{made} has no words in a module words_*.js"
        matching = re.compile(made.replace("*", r"\w+"))
        assert len([key for key in words["en"] if matching.fullmatch(key)]) >= 2, made


def test_errors_that_have_a_code_have_words_and_their_values(words: dict[str, dict[str, str]]) -> None:
    """So that a page in Japanese says them in Japanese; each value that the words name is one of the line's."""
    sources = [
        path.read_text(encoding="utf-8")
        for package in ("engine", "agents", "server")
        for path in sorted((REPOSITORY / package).rglob("*.py"))
    ]
    calls: list[Any] = [
        call for text in sources if "error_text" in text for call in ast.walk(ast.parse(text)) if is_error_text(call)
    ]
    found: dict[str, set[str]] = {}
    for call in calls:
        for code in codes_of(call.args[0]):
            names = {f"{{{keyword.arg}}}" for keyword in call.keywords}
            found[code] = names & found.get(code, names)
    translated = {
        key.removeprefix(kind): text
        for key, text in words["ja"].items()
        for kind in (ERROR, PROBLEM)
        if key.startswith(kind)
    }
    assert len(translated) == sum(key.startswith((ERROR, PROBLEM)) for key in words["ja"])
    assert translated.keys() - found.keys() == set()
    assert found.keys() - translated.keys() == set()
    assert len(found) > 150
    for code, names in found.items():
        assert set(PLACEHOLDER.findall(translated[code])) <= names, code


def is_error_text(node: Any) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "error_text"


def codes_of(code: Any) -> list[str]:
    """The codes that the first argument of a call stands for."""
    if isinstance(code, ast.Constant):
        return [str(code.value)]
    assert isinstance(code, ast.JoinedStr)
    first, _ = code.values
    assert isinstance(first, ast.Constant)
    return CODES_OF[f"{first.value}*"]
