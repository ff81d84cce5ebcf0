"""Names of yaku in the record formats, built from the table of yaku (`engine.scoring.yaku`)."""

from __future__ import annotations

from engine.scoring.yaku import NUKI_DORA, ROUND_WIND, SEAT_WIND, YAKU, YAKUMAN_HAN

# Number in mjlog's yaku="..." -> mjai name. Value winds have a number for each wind; mjlog counts nukidora as dora.
MJAI_BY_TENHOU: dict[int, str] = {yaku.tenhou: yaku.mjai for yaku in YAKU if yaku.number != NUKI_DORA} | {
    yaku.tenhou + wind: yaku.mjai for yaku in YAKU if yaku.number in (SEAT_WIND, ROUND_WIND) for wind in range(4)
}

JAPANESE_BY_MJAI: dict[str, str] = {yaku.mjai: yaku.japanese for yaku in reversed(YAKU)}
ENGLISH_BY_MJAI: dict[str, str] = {yaku.mjai: yaku.name for yaku in YAKU}
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
_MJAI_BY_JAPANESE: dict[str, str] = {yaku.japanese: yaku.mjai for yaku in YAKU} | _ALIASES


def yaku_from_japanese(name: str) -> str:
    """The mjai name of a Japanese yaku name, without a wind after it (``"自風 西"``). ValueError if unknown."""
    found = _MJAI_BY_JAPANESE.get(name) or _MJAI_BY_JAPANESE.get(name.split(" ")[0])
    if found is None:
        raise ValueError(f"unknown yaku {name!r}: add its spelling to the aliases of yaku names")
    return found
