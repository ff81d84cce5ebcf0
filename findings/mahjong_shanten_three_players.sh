#!/usr/bin/env bash
# mahjong 2.1.0 (PyPI) beside xiangting 6.0.2: shanten of three-player hands counts tiles that do not exist.
#
# mahjong has a three-player mode (OptionalRules.is_three_player: dora, nuki dora, payments), but Shanten has none:
# calculate_shanten() takes a count of tiles and always supposes four players, so that 1m may become 123m although
# 2m to 8m are not in the wall. Of random three-player hands next to none show it (none of 100000 tried), for it needs
# four copies of 1m or 9m in the hand, which is just what a random test of agreement does not meet.
#
# Surprising: the library's own three-player switch is set and scoring is right, while the shanten beside it is too low by
# one; a search or a reward built upon it waits for 2m and 3m.
#
# Seen (1111m 1111222 33z, thirteen tiles; shanten):
#     mahjong 1
#     xiangting, four players 1
#     xiangting, three players 2
#
# What to do: use a calculator that knows the number of players (xiangting's PlayerCount.THREE, riichienv's
# calculate_shanten_3p), and test it with four copies of 1m.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mahjong==2.1.0 xiangting==6.0.2

cat >probe.py <<'PROBE'
from mahjong.shanten import Shanten
from xiangting import PlayerCount, calculate_replacement_number

hand = [0] * 34
hand[0], hand[27], hand[28], hand[29] = 4, 4, 3, 2
print("mahjong", Shanten.calculate_shanten(hand))
print("xiangting, four players", calculate_replacement_number(hand, PlayerCount.FOUR) - 1)
print("xiangting, three players", calculate_replacement_number(hand, PlayerCount.THREE) - 1)
PROBE
cat >expected.txt <<'EXPECTED'
mahjong 1
xiangting, four players 1
xiangting, three players 2
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: mahjong 2.1.0 or xiangting 6.0.2 give another shanten for 1111m 1111222 33z" >&2
    exit 1
}
