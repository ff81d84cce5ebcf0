#!/usr/bin/env bash
# mahjong 2.1.0 (PyPI): renhou "as mangan" is a yaku of five han, and nearly every hand with it is a haneman or more.
#
# OptionalRules documents renhou_as_yakuman as "treat renhou as yakuman instead of mangan". With the default (False) renhou is
# not worth a mangan: it is five han to which all other yaku and dora are added. Renhou with pinfu and tanyao is seven
# han and 12000 points, and four dora more make a sanbaiman.
#
# Surprising: where renhou is played as mangan the limit is the value of the hand, taken unless its other yaku and dora
# are worth more. Here both are added, and there is no option for the former; a test on a hand without
# other yaku gives 8000 and shows no difference.
#
# Seen (ron by South before the first draw; han, points, limit):
#     renhou alone: 5 han 8000 mangan
#     with pinfu, tanyao: 7 han 12000 haneman
#     and four dora: 11 han 24000 sanbaiman
#
# What to do: score the hand without is_renhou and take the greater of that and a mangan.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mahjong==2.1.0

cat >probe.py <<'PROBE'
from mahjong.constants import SOUTH
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig
from mahjong.tile import TilesConverter


def told(name, win, dora=(), **tiles):
    hand = TilesConverter.string_to_136_array(**tiles)
    tile = TilesConverter.string_to_136_array(sou=win)[0]
    config = HandConfig(is_renhou=True, player_wind=SOUTH)
    won = HandCalculator.estimate_hand_value(hand, tile, dora_indicators=list(dora), config=config)
    print(f"{name}: {won.han} han {won.cost['total']} {won.cost['yaku_level']}")


INDICATOR = TilesConverter.string_to_136_array(sou="4")[0]
told("renhou alone", "8", pin="123456", sou="11789999")
told("with pinfu, tanyao", "8", pin="234567", sou="23455678")
told("and four dora", "8", [INDICATOR, INDICATOR + 1], pin="234567", sou="23455678")
PROBE
cat >expected.txt <<'EXPECTED'
renhou alone: 5 han 8000 mangan
with pinfu, tanyao: 7 han 12000 haneman
and four dora: 11 han 24000 sanbaiman
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: mahjong 2.1.0 scores renhou otherwise" >&2
    exit 1
}
