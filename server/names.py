"""Detection of names that look like another's: a house bot's, such as ``rule (house)``, or that of a token.

Names are compared by their skeletons (Unicode's TS 39): their visual appearance in plain letters. Each character is
replaced by the prototype of its set of confusable characters, which may be several, as rn is for m; compatibility forms
(full-width, mathematical, circled) are decomposed by NFKD, and Latin letters with any accent or hook are reduced to
plain ones by their Unicode names. Invisible characters are left out.
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
NOT_A_LETTER = regex.compile("[^a-z]")
HOUSE = "|" + HOUSE_BOT_SUFFIX.strip(" ()") + "|"  # its skeleton, with all brackets alike


def imitates_house_bot(name: str) -> bool:
    """Return whether a name could be mistaken for a house bot's: with a bracketed "house", or ending like ours."""
    without_signs = "".join(filter(str.isalnum, unicodedata.normalize("NFKD", name)))  # some signs look like letters
    return any(
        HOUSE in _with_plain_brackets(look) or _built_in_house_bot().fullmatch(NOT_A_LETTER.sub("", look))
        for look in _looks(name) | _looks(without_signs)
    )


def _with_plain_brackets(look: str) -> str:
    return "".join("|" if unicodedata.category(each) in BRACKETS or each in "<>" else each for each in look)


@cache
def _built_in_house_bot() -> regex.Pattern[str]:
    """The looks of the built-in house bots' names, of which only the letters are left.

    The digits 0 and 1, of a strength (``rule@-300``) or a number, look like letters.
    """
    bots = "|".join(sorted(look for bot in BUILT_IN for look in _looks(bot)))
    return regex.compile(rf"(?:{bots})[ol]*house[ol]*")


def first_look_alike(name: str, others: Iterable[str]) -> str | None:
    """Return the first of the other names that could be mistaken for this one; None if there is none.

    The looks of the others, which the operator has made tokens for, are remembered; those of the name are not:
    strangers may come with any number of names.
    """
    looks = _looks(name)
    return next((other for other in others if not looks.isdisjoint(_remembered_looks(other))), None)


def _looks(name: str) -> frozenset[str]:
    """Return the skeletons of a name as it is, in lower case, and in plain Latin letters.

    A capital I looks like a small L, but is an i; the look-alikes of letters in small capitals are not always Latin.
    """
    folded = _folded(name)
    return frozenset(map(skeleton, (name, folded, "".join(_latin(each) or each for each in folded))))


_remembered_looks = cache(_looks)


def skeleton(name: str) -> str:
    """Return the skeleton of a name, its visual appearance."""
    return "".join(map(_plain, unicodedata.normalize("NFD", name)))


@lru_cache(maxsize=4_096)  # of 150,000: strangers may come with all of them
def _plain(character: str) -> str:
    """Return the visual appearance of a character: that of the next plainer character or characters, if there are any.

    Unicode's prototype is the first choice, such that a character has the appearance of all that it is listed with.
    """
    if NOTHING.fullmatch(character):
        return ""
    for plainer in (
        _prototypes().get(character, character),
        unicodedata.normalize("NFKD", character),
        _latin(character) or character,
        character.casefold(),  # Cherokee's lower-case letters fold to capitals that look like Latin ones
    ):
        if plainer != character:
            return "".join(map(_plain, plainer))
    return character


def _folded(text: str) -> str:
    """Return a text decomposed, then in lower case: capitals in other styles have none."""
    return unicodedata.normalize("NFKD", text).casefold()


def _latin(text: str) -> str | None:
    """Return the plain small letter of a Latin one; None for any other text."""
    found = LATIN.search(unicodedata.name(text, "")) if len(text) == 1 else None
    return found[1].lower() if found else None


@cache
def _prototypes() -> dict[str, str]:
    """Return a map of all confusable characters listed by Unicode to one representative of each look-alike set.

    The library lists the look-alikes of each entry; the representative, which may be several characters, has the most.
    Of two characters that list only each other, a Latin letter is taken, or else one that is in lower case and
    decomposed, so that no character becomes plainer in a circle.
    """
    others = {_listed(key): [_listed(each["c"]) for each in found] for key, found in confusables_data.items()}

    def rank(entry: str) -> tuple[int, int, bool, bool, str]:
        return -len(others.get(entry, ())), -len(entry), _latin(entry) is None, _folded(entry) != entry, entry

    return {character: min([character, *alike], key=rank) for character, alike in others.items() if len(character) == 1}


def _listed(entry: str) -> str:
    """Return an entry without the marks that Unicode's file has around letters written from right to left."""
    return entry.strip("\u200e")
