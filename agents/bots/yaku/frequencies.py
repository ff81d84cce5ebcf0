"""How often each hand type is won: the share of all wins that have its yaku.

``python experiments/yaku_frequencies.py`` measured it in self-play of `rule`, and prints this table. A win may have
several of these yaku; the share of shousangen includes daisangen, that of sanankou suuankou.
"""

# 21,599 wins in 3,000 hanchan
FREQUENCIES = {
    "riichi": 0.71901,
    "yakuhai": 0.31140,
    "tanyao": 0.07561,
    "pinfu": 0.14718,
    "honitsu": 0.08602,
    "chinitsu": 0.01176,
    "chiitoitsu": 0.07811,
    "toitoi": 0.00995,
    "sanankou": 0.01306,
    "iipeikou": 0.07028,
    "ittsu": 0.02120,
    "chanta": 0.00343,
    "junchan": 0.00028,
    "honroutou": 0.00005,
    "sanshoku doukou": 0.00009,
    "shousangen": 0.00093,
    "kokushi": 0.00144,
}
