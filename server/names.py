"""The names of house bots, such as ``rule (house)``, and of bots that look like one of them, which are refused.

Names are compared by their skeletons (as in Unicode's TS 39): what people see of a name, in plain letters.
Compatibility forms (full-width, mathematical, circled) become plain ones by NFKD, Latin letters with any accent or
hook by their Unicode names, and letters of other scripts by a table, which has only the letters of one word.
"""

from __future__ import annotations

import re
import unicodedata

from agents.registry import BUILT_IN
from engine.mjai.connection import is_visible

HOUSE_BOT_SUFFIX = " (house)"  # of the names of house bots
# What looks like a letter of HOUSE_BOT_SUFFIX and is not Latin: from Unicode's confusables.txt, and digits used so.
LOOK_ALIKES = {
    "h": "һհᏂнΗⲎНᎻᕼꓧ𐋏ћђ",
    "o": "ంಂംං०੦૦௦౦೦൦๐໐၀۵٥סهھہە〇σⲟоჿօഠဝ𐓪𑣈𑣗𐐬𑓐ΟⲞОՕⵔዐଠ𐓂ꓳ𑢵𐊒𐊫𐐄𐔖θфѳ°○●◯",
    "u": "υʊʋꞟ𐓶𑣘ս∪⋃Սሀ𐓎ᑌꓴ𖽂𑢸μц",
    "s": "ƽѕ𑣁𐑈ЅՏᏕᏚꓢ𖼺𐊖𐐠5$",
    "e": "℮еҽⲉєε⋿ΕЕⴹᎬꓰ𑢦𑢮𐊆3€",
}
PLAIN = {look_alike: letter for letter, found in LOOK_ALIKES.items() for look_alike in found}
LATIN = re.compile(
    r"(?:LATIN|INDICATOR) .*?LETTER (?:(?:SMALL CAPITAL|SIDEWAYS|OPEN|CLOSED|REVERSED|TURNED) )*([A-Z])(?: |$)"
)
BRACKETS = frozenset({"Ps", "Pe", "Pi", "Pf"})  # Unicode categories
HOUSE = "|" + HOUSE_BOT_SUFFIX.strip(" ()") + "|"  # its skeleton


def imitates_house_bot(name: str) -> bool:
    """Whether a name may be taken for that of a house bot: it has a bracketed "house", or ends as one of ours does."""
    skeleton = "".join(map(_plain, unicodedata.normalize("NFKD", name)))
    letters = "".join(filter(str.isalpha, skeleton))
    return HOUSE in skeleton or (letters.endswith("house") and letters.removesuffix("house") in BUILT_IN)


def _plain(character: str) -> str:
    """A character of a decomposed name as it looks; "" if it shows as nothing."""
    found = PLAIN.get(character) or PLAIN.get(character.lower()) or PLAIN.get(character.upper())
    if found or not is_visible(character):
        return found or ""
    if unicodedata.category(character) in BRACKETS or character in "<>":
        return "|"
    if unicodedata.digit(character, None) == 0:
        return "o"
    latin = LATIN.search(unicodedata.name(character, ""))
    return latin[1].lower() if latin else character
