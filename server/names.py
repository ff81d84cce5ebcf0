"""Detection of names that look like another's: a house bot's, such as ``rule (house)``, or that of a token.

Names are compared by their skeletons (Unicode's TS 39): their visual appearance in plain letters. Compatibility forms
(full-width, mathematical, circled) are normalised by NFKD, each set of confusable characters is mapped to one of them,
and Latin letters with any accent or hook are reduced to plain ones by their Unicode names. Invisible characters are
left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

import regex
from confusable_homoglyphs.confusables import confusables_data

from agents.built_in import BUILT_IN

HOUSE_BOT_SUFFIX = " (house)"  # of the names of house bots
# The last four, an empty braille cell, blank hieroglyphs and a note without a head, are invisible symbols.
NOTHING = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Mn}\p{Me}\p{C}\p{Z}\u2800\U00013441\U00013442\U0001d159]")
LATIN = regex.compile(
    r"(?:LATIN|INDICATOR) .*?LETTER (?:(?:SMALL CAPITAL|SIDEWAYS|OPEN|CLOSED|REVERSED|TURNED) )*([A-Z])(?: |$)"
)
BRACKETS = frozenset({"Ps", "Pe", "Pi", "Pf"})  # Unicode categories
HOUSE = "|" + HOUSE_BOT_SUFFIX.strip(" ()") + "|"  # its skeleton, with all brackets alike


def imitates_house_bot(name: str) -> bool:
    """Return whether a name could be mistaken for a house bot's: with a bracketed "house", or ending like ours."""
    bracketed = "".join(
        "|" if unicodedata.category(each) in BRACKETS or each in "<>" else each for each in skeleton(name)
    )
    letters = skeleton("".join(filter(str.isalnum, unicodedata.normalize("NFKD", name))))
    return HOUSE in bracketed or (letters.endswith("house") and letters.removesuffix("house") in BUILT_IN)


def first_look_alike(name: str, others: Iterable[str]) -> str | None:
    """Return the first of the other names that could be mistaken for this one; None if there is none.

    The looks of the others, which the operator has made tokens for, are remembered; those of the name are not:
    strangers may come with any number of names.
    """
    looks = _looks(name)
    return next((other for other in others if not looks.isdisjoint(_remembered_looks(other))), None)


def _looks(name: str) -> frozenset[str]:
    """Return the skeletons of a name as it is and in lower case: a capital I looks like a small L, but is an i.

    The name is decomposed first, as capitals in other styles have no lower case.
    """
    return frozenset({skeleton(name), skeleton(unicodedata.normalize("NFKD", name).casefold())})


_remembered_looks = cache(_looks)


def skeleton(name: str) -> str:
    """Return the skeleton of a name, its visual appearance."""
    return "".join(map(_plain, NOTHING.sub("", unicodedata.normalize("NFKD", name))))


@lru_cache(maxsize=4_096)  # of 150,000: strangers may come with all of them
def _plain(character: str) -> str:
    """Return the visual appearance of a character of a decomposed name."""
    letter = _prototypes().get(character, character)
    folded = letter.casefold()  # Cherokee's lower-case letters fold to capitals that look like Latin ones
    for each in (letter, character, _prototypes().get(folded, folded)):
        if len(each) == 1 and (latin := LATIN.search(unicodedata.name(each, ""))):
            return latin[1].lower()
    return folded


@cache
def _prototypes() -> dict[str, str]:
    """Return a map of all confusable characters listed by Unicode to one representative of each look-alike set.

    The library lists the look-alikes of each entry; the representative, which may be several characters, has the most.
    """
    others = {key: [each["c"] for each in found] for key, found in confusables_data.items()}
    found = {}
    for character, alike in others.items():
        if len(character) == 1:
            prototype = max([character, *alike], key=lambda each: (len(others.get(each, ())), len(each), each))
            found[character] = NOTHING.sub("", unicodedata.normalize("NFKD", prototype))
    return found
