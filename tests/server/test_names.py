"""Names of bots that show as nothing, or look like those of house bots, are refused; all others are not."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from confusable_homoglyphs.confusables import confusables_data
from hypothesis import given
from hypothesis import strategies as st

from agents.built_in import BUILT_IN
from engine.mjai.connection import is_visible
from server import names
from server.names import first_look_alike, imitates_house_bot, skeleton
from server.running import Running
from tests.support.server_bots import Bot

# What Unicode's confusables.txt (15.1) lists for each character of "(house)", in both cases, as single characters; and
# symbols that are letters in frames, which it does not list.
CONFUSABLES = {
    "(": "(（❨❲〔﴾［⦅⁽₍[{<",
    "h": "hHｈℎ𝐡𝒽𝓱𝔥𝕙𝖍𝗁𝗵𝘩𝙝𝚑һհᏂΗℋℌℍ𝐇𝛨𝜢ⲎНᎻᕼꓧⓗ🄷🅗🅷🇭",
    "o": "oOｏℴ𝐨𝑜𝓸𝔬𝗼𝚘ంಂംං०੦૦௦౦೦൦๐໐၀۵ᴏᴑꬽοσⲟоჿօഠဝ𐓪𑣈𑣗𐐬0০୦〇𑓐𝟎𝟘𝟢𝟬𝟶ΟⲞОՕⵔዐଠ𐓂ꓳ𑢵𐊒𐊫𐐄𐔖øⓞ🅞🇴",
    "u": "uUｕ𝐮𝓊𝖚𝙪ꞟᴜꭎꭒʋυ𝛖𝝊ս𐓶𑣘∪⋃Սሀ𐓎ᑌꓴ𖽂𑢸ⓤ🅤🇺",
    "s": "sSｓ𝐬𝓈𝔰𝖘ꜱƽѕꮪ𑣁𐑈ЅՏᏕᏚꓢ𖼺𐊖𐐠šⓢ🅢🇸",
    "e": "eEｅℯⅇ𝐞𝓮𝕖℮ꬲеҽ⋿ΕЕⴹᎬꓰ𑢦𑢮𐊆éⓔ🅔🇪",
    ")": ")）❩❳〕﴿］⦆⁾₎]}>",
}
INVISIBLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u2800\u3164\ufe00\ufe0f\uffa0\u0301\u20e3\U000e0100\U00013441\U00013442"
    "\U0001d159 "
)
WHERE = st.text(st.sampled_from(INVISIBLE), max_size=3)


@pytest.mark.slow
@given(st.data())
def test_imitations_of_house_bots_are_found(data: st.DataObject) -> None:
    """Whatever replaces each character, and whatever shows as nothing is in between."""
    shown = "".join(data.draw(st.sampled_from(CONFUSABLES[letter])) + data.draw(WHERE) for letter in "(house)")
    assert imitates_house_bot(f"rule{shown}")
    assert imitates_house_bot(unicodedata.normalize("NFC", f"rule {shown} 2"))


@pytest.mark.parametrize("character", sorted({*"".join(CONFUSABLES.values())}))
def test_every_look_alike_is_known(character: str) -> None:
    places = [letter for letter, found in CONFUSABLES.items() if character in found]
    for letter in places:
        assert imitates_house_bot("(house)".replace(letter, character))


@pytest.mark.parametrize(
    "name",
    [
        "house", "my house", "(house", "house)", "warehouse", "rulehouses", "a (horse)", "a (houses)",
        "a (mouse)", "a (hous)", "Иван (кошка)", "東京 (大学)", "(東京大学生)", "мой дом (house party)",
        "a (h)", "wahaha (rule)", "0", "55555", "house of cards", "lighthouse", "rule", "rule@-300",
        "rule of the house", "rule lighthouse", "my rule house", "rule horse", "house rule",
        "ruler@-300 -house-", "treehouse (300)",
    ],
)  # fmt: skip
def test_other_names_are_not_refused(name: str) -> None:
    assert not imitates_house_bot(name)


@pytest.mark.parametrize(
    "name", ["rule house", "rule (house", "rule ⊂house⊃", "rule ⎛house⎞", "rule ((h)ouse)", "RULE-HOUSE"]
)
def test_what_ends_as_a_house_bot_does_is_refused_whatever_the_brackets(name: str) -> None:
    assert imitates_house_bot(name)


@pytest.mark.parametrize("strength", ["", "@-300", "@-1011", "@\N{MINUS SIGN}3OO", " 2"])
@pytest.mark.parametrize(
    "shown",
    ["-house-", "⌠house⌡", "ᑕhouseᑐ", "⊂house⊃", "|HOUSE|", "~һ0use~", "*h*o*u*s*e*", "×house×", "-house- 10", "house"],
)
def test_what_looks_like_a_weakened_house_bot_is_refused_whatever_the_signs(strength: str, shown: str) -> None:
    for bot in [*BUILT_IN, *map(str.upper, BUILT_IN), "randorn", "sоftmax", "ruʟe"]:
        assert imitates_house_bot(f"{bot}{strength} {shown}")


@given(st.text(max_size=64))
def test_any_text_is_a_name_or_an_imitation(name: str) -> None:
    assert imitates_house_bot(f"{name} (house)")
    imitates_house_bot(name)


@pytest.mark.parametrize("character", INVISIBLE)
def test_a_character_that_shows_as_nothing_is_known(character: str) -> None:
    assert not is_visible(character)


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["tcp", "websocket"])
async def test_bots_with_such_names_are_refused(server: Running, transport: str) -> None:
    for name in (INVISIBLE[:-1], "\u3164", "\u200b", "\u0301", ".", ".."):
        (error,) = (await Bot(server, name, transport=transport).play()).errors
        assert "name must be 1 to 64 printable characters, not all invisible, and not . or .." in error
    for name in ("rule (house)", "rule（ｈｏｕｓｅ）", "rule (һоυѕе)", "RULE (HOUSE)", "rule\u3164(ho\u034fuse)"):
        (error,) = (await Bot(server, name, transport=transport).play()).errors
        assert error == f"the name {name!r} is reserved for house bots, or looks like one; choose another"


# Names that have a token ----------------------------------------------------------------------------------------------

ALIKE = [
    "Аlice",
    "Al\u200bice",
    "A\u2064lice",
    "Alice\u034f",
    "AIice",
    "Al\u0456ce",
    "ALICE",
    "Álice",
    "Ａｌｉｃｅ",
    "𝐀𝐥𝐢𝐜𝐞",
    "𝐀𝐋𝐈𝐂𝐄",
    "🄰🄻🄸🄲🄴",
    "ᴀʟɪᴄᴇ",
    "ꭺꮮꭵꮯꭼ",
    "A1ice",
]


@pytest.mark.parametrize("name", ALIKE)
def test_imitations_of_a_name_are_found(name: str) -> None:
    """With letters of other scripts, in other styles, and with characters that show as nothing: Unicode's TS 39."""
    assert first_look_alike("Alice", ["Bob", name]) == name
    assert first_look_alike(name, ["Alice"]) == "Alice"


@pytest.mark.parametrize(
    ("name", "imitation"),
    [
        ("mortal", "rnortal"),
        ("mortal", "Rnortal"),
        ("MORTAL", "RNORTAL"),
        ("mortal", "𝐫𝐧𝐨𝐫𝐭𝐚𝐥"),
        ("mortal", "ⓜortal"),
        ("Mammoth", "Rnamrnoth"),
        ("Ɓrnob", "'Bmob"),
        ("Œuvre", "OEuvre"),
        ("Ken", "ᴋᴇɴ"),
        ("Ali", "Aוi"),
        ("Alibi", "A١ibi"),
    ],
)
def test_what_looks_like_several_characters_or_is_read_from_right_to_left_is_known(name: str, imitation: str) -> None:
    assert first_look_alike(imitation, [name]) == name
    assert first_look_alike(name, [imitation]) == imitation


def test_everything_that_unicode_lists_as_confusable_is() -> None:
    """Alone and together; but for characters with an accent, which are compared without it."""
    pairs = [
        (character, each["c"])
        for character, alike in confusables_data.items()
        for each in alike
        if unicodedata.is_normalized("NFD", character) and unicodedata.is_normalized("NFD", each["c"])
    ]
    assert len(pairs) > 10_000
    assert [pair for pair in pairs if skeleton(pair[0]) != skeleton(pair[1])] == []


@pytest.mark.parametrize("name", ["Alicia", "Bob", "Alise", "東京", "Ali", "Alice 2", "lice", "?"])
def test_other_names_are_not_imitations(name: str) -> None:
    assert first_look_alike("Alice", [name]) is None
    assert first_look_alike(name, [name]) == name


def test_names_of_strangers_leave_little_in_memory() -> None:
    """All characters there are, in names of 64; what is remembered of the names with a token is theirs alone."""
    printable = [chr(code) for code in range(sys.maxunicode) if chr(code).isprintable()]
    names._remembered_looks.cache_clear()
    for start in range(0, len(printable), 64):
        name = "".join(printable[start : start + 64])
        imitates_house_bot(name)
        first_look_alike(name, ["Alice", "Bob"])
    assert names._remembered_looks.cache_info().currsize == 2
    assert names._plain.cache_info().currsize <= 4_096
