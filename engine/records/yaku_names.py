"""Names of yaku in the record formats, built from the table of yaku (`engine.scoring.yaku`)."""

from __future__ import annotations

from engine.scoring.yaku import NUKI_DORA, ROUND_WIND, SEAT_WIND, YAKU, YAKUMAN_HAN

# Yaku of tournament lobbies that are not supported here: mjai name -> number in mjlog, Japanese name.
UNPLAYED = {"renho": (36, "人和")}

# Number in mjlog's yaku="..." -> mjai name. Value winds have one number per wind; mjlog counts nukidora as dora.
MJAI_BY_TENHOU: dict[int, str] = {yaku.tenhou: yaku.mjai for yaku in YAKU if yaku.number != NUKI_DORA} | {
    yaku.tenhou + wind: yaku.mjai for yaku in YAKU if yaku.number in (SEAT_WIND, ROUND_WIND) for wind in range(4)
}
MJAI_BY_TENHOU |= {number: name for name, (number, _) in UNPLAYED.items()}

JAPANESE_BY_MJAI: dict[str, str] = {yaku.mjai: yaku.japanese for yaku in reversed(YAKU)}
JAPANESE_BY_MJAI |= {name: japanese for name, (_, japanese) in UNPLAYED.items()}
YAKUMAN: frozenset[str] = frozenset(yaku.mjai for yaku in YAKU if yaku.closed >= YAKUMAN_HAN)

# Spellings found in Mahjong Soul exports and in older transcripts.
_ALIASES = {
    "役牌:自風牌": "jikaze",
    "役牌:場風牌": "bakaze",
    "役牌": "sangenpai",
    "役牌 発": "sangenpai",
    "ダブル立直": "double_reach",
    "両立直": "double_reach",
    "ツモ": "menzenchin_tsumoho",
    "断么九": "tanyaochu",
    "混全帯么九": "honchantaiyao",
    "純全帯么九": "junchantaiyao",
    "抜き北": "nukidora",
    "国士無双十三面": "kokushimuso_13",
    "国士無双十三面待ち": "kokushimuso_13",
    "国士無双13面": "kokushimuso_13",
    "九蓮宝灯": "churenpoton",
    "純正九蓮宝灯": "churenpoton_9",
}
# Mahjong Soul's English names, in lower case, as in its English and romaji exports.
_ENGLISH = {
    "fully concealed hand": "menzenchin_tsumoho",
    "robbing a kan": "chankan",
    "after a kan": "rinshankaiho",
    "under the sea": "haiteiraoyue",
    "under the river": "hoteiraoyui",
    "white dragon": "sangenpai",
    "green dragon": "sangenpai",
    "red dragon": "sangenpai",
    "prevalent wind": "bakaze",
    "all simples": "tanyaochu",
    "pure double sequence": "ipeko",
    "half outside hand": "honchantaiyao",
    "pure straight": "ikkitsukan",
    "mixed triple sequence": "sanshokudojun",
    "triple triplets": "sanshokudoko",
    "three quads": "sankantsu",
    "all triplets": "toitoiho",
    "three concealed triplets": "sananko",
    "little three dragons": "shosangen",
    "all terminals and honors": "honroto",
    "seven pairs": "chitoitsu",
    "fully outside hand": "junchantaiyao",
    "half flush": "honiso",
    "twice pure double sequence": "ryanpeko",
    "full flush": "chiniso",
    "red five": "akadora",
    "kita": "nukidora",
    "blessing of heaven": "tenho",
    "blessing of earth": "chiho",
    "hand of man": "renho",
    "big three dragons": "daisangen",
    "four concealed triplets": "suanko",
    "single-wait four concealed triplets": "suanko_tanki",
    "all honors": "tsuiso",
    "all green": "ryuiso",
    "all terminals": "chinroto",
    "thirteen orphans": "kokushimuso",
    "thirteen-wait thirteen orphans": "kokushimuso_13",
    "four little winds": "shosushi",
    "four big winds": "daisushi",
    "four quads": "sukantsu",
    "nine gates": "churenpoton",
    "true nine gates": "churenpoton_9",
}
_MJAI_BY_NAME: dict[str, str] = {yaku.name: yaku.mjai for yaku in YAKU} | _ENGLISH
_MJAI_BY_NAME |= {japanese: name for name, japanese in JAPANESE_BY_MJAI.items()}
_MJAI_BY_NAME |= {yaku.japanese: yaku.mjai for yaku in YAKU} | _ALIASES


def yaku_named(name: str) -> str | None:
    """The mjai name of a yaku by its Japanese, English or romaji name, without a wind after it (``"自風 西"``)."""
    return next((_MJAI_BY_NAME[each] for each in (name.lower(), name.split(" ")[0]) if each in _MJAI_BY_NAME), None)
