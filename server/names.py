"""Names that look like the name of another: of a house bot, such as ``rule (house)``, or of a bot that has a token.

Names are compared by their skeletons (Unicode's TS 39): what people see of a name, in plain letters. Compatibility
forms (full-width, mathematical, circled) become plain ones by NFKD, what Unicode lists as confusable becomes one of its
kind, and Latin letters with any accent or hook become plain by their names. What shows as nothing is left out.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache

import regex
from confusable_homoglyphs.confusables import confusables_data

from agents.built_in import BUILT_IN

HOUSE_BOT_SUFFIX = " (house)"  # of the names of house bots
# The last four, an empty braille cell, blank hieroglyphs and a note without a head, are symbols that show as nothing.
NOTHING = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Mn}\p{Me}\p{C}\p{Z}\u2800\U00013441\U00013442\U0001d159]")
LATIN = regex.compile(
    r"(?:LATIN|INDICATOR) .*?LETTER (?:(?:SMALL CAPITAL|SIDEWAYS|OPEN|CLOSED|REVERSED|TURNED) )*([A-Z])(?: |$)"
)
BRACKETS = frozenset({"Ps", "Pe", "Pi", "Pf"})  # Unicode categories
HOUSE = "|" + HOUSE_BOT_SUFFIX.strip(" ()") + "|"  # its skeleton, with all brackets alike


def imitates_house_bot(name: str) -> bool:
    """Whether a name may be taken for that of a house bot: it has a bracketed "house", or ends as one of ours does."""
    bracketed = "".join(
        "|" if unicodedata.category(each) in BRACKETS or each in "<>" else each for each in skeleton(name)
    )
    letters = skeleton("".join(filter(str.isalnum, unicodedata.normalize("NFKD", name))))
    return HOUSE in bracketed or (letters.endswith("house") and letters.removesuffix("house") in BUILT_IN)


def look_alike(first: str, second: str) -> bool:
    """Whether two names may be taken for each other."""
    return not _looks(first).isdisjoint(_looks(second))


@lru_cache(maxsize=10_000)
def _looks(name: str) -> frozenset[str]:
    """The skeletons of a name as it is and in small letters: a capital I looks like a small L, and is an i.

    Decomposed first: the capitals of other styles have no small letters.
    """
    return frozenset({skeleton(name), skeleton(unicodedata.normalize("NFKD", name).casefold())})


def skeleton(name: str) -> str:
    """What people see of a name."""
    return "".join(map(_plain, NOTHING.sub("", unicodedata.normalize("NFKD", name))))


@cache
def _plain(character: str) -> str:
    """A character of a decomposed name as it looks."""
    letter = _prototypes().get(character, character)
    folded = letter.casefold()  # Cherokee's small letters fold to its capitals, which look like ours
    for each in (letter, character, _prototypes().get(folded, folded)):
        if len(each) == 1 and (latin := LATIN.search(unicodedata.name(each, ""))):
            return latin[1].lower()
    return folded


@cache
def _prototypes() -> dict[str, str]:
    """Character -> what it is confused with, for all that Unicode lists: one of those that look alike stands for all.

    The library gives the others of each; the prototype, which may be several characters, is the one with most.
    """
    others = {key: [each["c"] for each in found] for key, found in confusables_data.items()}
    found = {}
    for character, alike in others.items():
        if len(character) == 1:
            prototype = max([character, *alike], key=lambda each: (len(others.get(each, ())), len(each), each))
            found[character] = NOTHING.sub("", unicodedata.normalize("NFKD", prototype))
    return found
