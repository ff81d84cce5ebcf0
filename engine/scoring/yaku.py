"""All yaku of the three-player game in one table, and the situation bits of a win.

`number` is 1-50, as RiichiEnv numbers them. `tenhou` is the number in Tenhou's
mjlog (``yaku="…"``), `japanese` the name in tenhou.net/6 records, `mjai` the name in mjai's ``hora``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Yaku(NamedTuple):
    """A yaku; `closed` and `open`: its han in a concealed and an open hand (0: not allowed), 13 yakuman, 26 double."""

    number: int
    name: str
    mjai: str
    japanese: str
    tenhou: int
    closed: int
    open: int


(
    MENZEN_TSUMO, RIICHI, CHANKAN, RINSHAN, HAITEI, HOUTEI, HAKU, HATSU, CHUN, SEAT_WIND, ROUND_WIND, TANYAO, IIPEIKOU,
    PINFU, CHANTA, ITTSU, SANSHOKU, DOUBLE_RIICHI, SANSHOKU_DOUKOU, SANKANTSU, TOITOI, SANANKOU, SHOUSANGEN, HONROUTOU,
    CHIITOI, JUNCHAN, HONITSU, RYANPEIKOU, CHINITSU, IPPATSU, DORA, RED_DORA, URA_DORA, NUKI_DORA, TENHOU, CHIIHOU,
    DAISANGEN, SUUANKOU, TSUUIISOU, RYUUIISOU, CHINROUTOU, KOKUSHI, SHOUSUUSHII, SUUKANTSU, CHUUREN,
) = range(1, 46)  # fmt: skip
PURE_CHUUREN, SUUANKOU_TANKI, KOKUSHI_13, DAISUUSHII = 47, 48, 49, 50
N_YAKU = 51
YAKUMAN_HAN = 13

# Without 2m-8m, sanshoku cannot occur, and sanshoku doukou only with 111 and 999.
YAKU: tuple[Yaku, ...] = (
    Yaku(MENZEN_TSUMO, "menzen tsumo", "menzenchin_tsumoho", "門前清自摸和", 0, 1, 0),
    Yaku(RIICHI, "riichi", "reach", "立直", 1, 1, 0),
    Yaku(CHANKAN, "chankan", "chankan", "槍槓", 3, 1, 1),
    Yaku(RINSHAN, "rinshan kaihou", "rinshankaiho", "嶺上開花", 4, 1, 1),
    Yaku(HAITEI, "haitei", "haiteiraoyue", "海底摸月", 5, 1, 1),
    Yaku(HOUTEI, "houtei", "hoteiraoyui", "河底撈魚", 6, 1, 1),
    Yaku(HAKU, "haku", "sangenpai", "役牌 白", 18, 1, 1),
    Yaku(HATSU, "hatsu", "sangenpai", "役牌 發", 19, 1, 1),
    Yaku(CHUN, "chun", "sangenpai", "役牌 中", 20, 1, 1),
    Yaku(SEAT_WIND, "seat wind", "jikaze", "自風", 10, 1, 1),
    Yaku(ROUND_WIND, "round wind", "bakaze", "場風", 14, 1, 1),
    Yaku(TANYAO, "tanyao", "tanyaochu", "断幺九", 8, 1, 1),
    Yaku(IIPEIKOU, "iipeikou", "ipeko", "一盃口", 9, 1, 0),
    Yaku(PINFU, "pinfu", "pinfu", "平和", 7, 1, 0),
    Yaku(CHANTA, "chanta", "honchantaiyao", "混全帯幺九", 23, 2, 1),
    Yaku(ITTSU, "ittsu", "ikkitsukan", "一気通貫", 24, 2, 1),
    Yaku(SANSHOKU, "sanshoku", "sanshokudojun", "三色同順", 25, 2, 1),
    Yaku(DOUBLE_RIICHI, "double riichi", "double_reach", "両立直", 21, 2, 0),
    Yaku(SANSHOKU_DOUKOU, "sanshoku doukou", "sanshokudoko", "三色同刻", 26, 2, 2),
    Yaku(SANKANTSU, "sankantsu", "sankantsu", "三槓子", 27, 2, 2),
    Yaku(TOITOI, "toitoi", "toitoiho", "対々和", 28, 2, 2),
    Yaku(SANANKOU, "sanankou", "sananko", "三暗刻", 29, 2, 2),
    Yaku(SHOUSANGEN, "shousangen", "shosangen", "小三元", 30, 2, 2),
    Yaku(HONROUTOU, "honroutou", "honroto", "混老頭", 31, 2, 2),
    Yaku(CHIITOI, "chiitoitsu", "chitoitsu", "七対子", 22, 2, 0),
    Yaku(JUNCHAN, "junchan", "junchantaiyao", "純全帯幺九", 33, 3, 2),
    Yaku(HONITSU, "honitsu", "honiso", "混一色", 34, 3, 2),
    Yaku(RYANPEIKOU, "ryanpeikou", "ryanpeko", "二盃口", 32, 3, 0),
    Yaku(CHINITSU, "chinitsu", "chiniso", "清一色", 35, 6, 5),
    Yaku(IPPATSU, "ippatsu", "ippatsu", "一発", 2, 1, 0),
    Yaku(DORA, "dora", "dora", "ドラ", 52, 1, 1),
    Yaku(RED_DORA, "red dora", "akadora", "赤ドラ", 54, 1, 1),
    Yaku(URA_DORA, "ura dora", "uradora", "裏ドラ", 53, 1, 0),
    Yaku(NUKI_DORA, "nukidora", "nukidora", "抜きドラ", 52, 1, 1),
    Yaku(TENHOU, "tenhou", "tenho", "天和", 37, 13, 0),
    Yaku(CHIIHOU, "chiihou", "chiho", "地和", 38, 13, 0),
    Yaku(DAISANGEN, "daisangen", "daisangen", "大三元", 39, 13, 13),
    Yaku(SUUANKOU, "suuankou", "suanko", "四暗刻", 40, 13, 0),
    Yaku(TSUUIISOU, "tsuuiisou", "tsuiso", "字一色", 42, 13, 13),
    Yaku(RYUUIISOU, "ryuuiisou", "ryuiso", "緑一色", 43, 13, 13),
    Yaku(CHINROUTOU, "chinroutou", "chinroto", "清老頭", 44, 13, 13),
    Yaku(KOKUSHI, "kokushi musou", "kokushimuso", "国士無双", 47, 13, 0),
    Yaku(SHOUSUUSHII, "shousuushii", "shosushi", "小四喜", 50, 13, 13),
    Yaku(SUUKANTSU, "suukantsu", "sukantsu", "四槓子", 51, 13, 13),
    Yaku(CHUUREN, "chuuren poutou", "churenpoton", "九蓮宝燈", 45, 13, 0),
    Yaku(PURE_CHUUREN, "junsei chuuren poutou", "churenpoton_9", "純正九蓮宝燈", 46, 26, 0),
    Yaku(SUUANKOU_TANKI, "suuankou tanki", "suanko_tanki", "四暗刻単騎", 41, 26, 0),
    Yaku(KOKUSHI_13, "kokushi musou 13-wait", "kokushimuso_13", "国士無双１３面", 48, 26, 0),
    Yaku(DAISUUSHII, "daisuushii", "daisushi", "大四喜", 49, 26, 26),
)
BY_NUMBER: dict[int, Yaku] = {yaku.number: yaku for yaku in YAKU}

HAN_CLOSED = np.zeros(N_YAKU, dtype=np.int64)
HAN_OPEN = np.zeros(N_YAKU, dtype=np.int64)
for _yaku in YAKU:
    HAN_CLOSED[_yaku.number] = _yaku.closed
    HAN_OPEN[_yaku.number] = _yaku.open

# Bonus tiles count han, but are not yaku.
BONUS = (DORA, RED_DORA, URA_DORA, NUKI_DORA)

# Situation bits of a win.
BY_TSUMO = 1 << 0
IN_RIICHI = 1 << 1
IN_DOUBLE_RIICHI = 1 << 2
WITH_IPPATSU = 1 << 3
LAST_TILE = 1 << 4  # haitei with BY_TSUMO, houtei without
AFTER_REPLACEMENT = 1 << 5  # rinshan
ROBBING_KAN = 1 << 6
FIRST_TURN = 1 << 7  # tenhou for the dealer, chiihou for the others; only with BY_TSUMO
