"""How often each hand type is won: the share of all wins that have its yaku.

Measured in 3,000 hanchan of `rule` against itself by ``python experiments/yaku_frequencies.py``, which prints this table.
A win may have several of them; for shousangen, the share includes daisangen.
"""

FREQUENCIES = {
    "riichi": 0.5,
    "yakuhai": 0.3,
    "tanyao": 0.1,
    "pinfu": 0.1,
    "honitsu": 0.1,
    "chinitsu": 0.05,
    "chiitoitsu": 0.05,
    "toitoi": 0.05,
    "sanankou": 0.05,
    "iipeikou": 0.05,
    "ittsu": 0.05,
    "chanta": 0.05,
    "junchan": 0.01,
    "honroutou": 0.01,
    "sanshoku doukou": 0.01,
    "shousangen": 0.01,
    "kokushi": 0.01,
}
