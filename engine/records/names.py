"""Names of yaku and of draws across the record formats, built on the one table of yaku."""

from __future__ import annotations

from engine.scoring.yaku import NUKI_DORA, ROUND_WIND, SEAT_WIND, YAKU, YAKUMAN_HAN

# Number in mjlog's yaku="..." -> mjai name. Winds have one number for each wind; nukidora are counted as dora there.
MJAI_BY_TENHOU: dict[int, str] = {yaku.tenhou: yaku.mjai for yaku in YAKU if yaku.number != NUKI_DORA} | {
    yaku.tenhou + wind: yaku.mjai for yaku in YAKU if yaku.number in (SEAT_WIND, ROUND_WIND) for wind in range(4)
}

JAPANESE_BY_MJAI: dict[str, str] = {yaku.mjai: yaku.japanese for yaku in reversed(YAKU)}
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

# Reason of a ryukyoku: mjai, and the type attribute of mjlog's RYUUKYOKU. Three players have no other draws.
REASON_BY_MJLOG: dict[str | None, str] = {
    None: "fanpai",
    "yao9": "kyushukyuhai",
    "kan4": "sukaikan",
    "nm": "nagashimangan",
}
REASON_BY_JAPANESE: dict[str, str] = {
    "流局": "fanpai",
    "全員聴牌": "fanpai",
    "全員不聴": "fanpai",
    "九種九牌": "kyushukyuhai",
    "四槓散了": "sukaikan",
    "四開槓": "sukaikan",
    "流し満貫": "nagashimangan",
}
JAPANESE_BY_REASON: dict[str, str] = {
    "fanpai": "流局",
    "kyushukyuhai": "九種九牌",
    "sukaikan": "四槓散了",
    "nagashimangan": "流し満貫",
}
# What RiichiEnv calls them.
REASON_ALIASES: dict[str, str] = {
    "exhaustive_draw": "fanpai",
    "kyushu_kyuhai": "kyushukyuhai",
    "suukansansen": "sukaikan",
    "nagashi_mangan": "nagashimangan",
}


def yaku_from_japanese(name: str) -> str:
    """The mjai name of a Japanese yaku name, of ``"自風 西"`` without the wind. ValueError if unknown."""
    found = _MJAI_BY_JAPANESE.get(name) or _MJAI_BY_JAPANESE.get(name.split(" ")[0])
    if found is None:
        raise ValueError(f"unknown yaku {name!r}: add its spelling to the aliases of yaku names")
    return found
