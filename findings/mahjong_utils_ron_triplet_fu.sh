#!/usr/bin/env bash
# mahjong-utils 0.8.0 (PyPI): a triplet of terminals or honours completed by ron has six fu; it is four.
#
# A triplet completed by ron counts as an open one, with half the fu of a concealed one: 2 for 4 with simples, 4 for 8 with terminals
# and honours. build_hora() takes 2 off either, so that terminals and honours keep 6.
#
# Surprising: fu are rounded up to tens, so that most hands come out right, those of all simples always. Ron on the second pair of
# terminals is no rare thing in three-player games: the fu were ten too high in 67 of 4,000 random three-player wins.
#
# Seen (a hand with two pairs completed by ron; the pon of 9s has 4 fu, that of 2s 2; with the 20 of each win it should be 30 in all rows):
#     7z, pons 999s 222s: 40 fu, 1300 points
#     1p, pons 555z 222s: 40 fu, 1300 points
#     2p, pons 555z 222s: 30 fu, 1000 points
#
# What to do: with ron on a terminal or honour triplet, count the fu yourself.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mahjong-utils==0.8.0

cat >probe.py <<'PROBE'
from mahjong_utils.hora import build_hora
from mahjong_utils.models.furo import Furo
from mahjong_utils.models.tile import Tile, parse_tiles
from mahjong_utils.models.wind import Wind

for hand, pons, tile in (
    ("33p678s777z", "999s 222s", "7z"), ("11133p678s", "555z 222s", "1p"), ("22233p678s", "555z 222s", "2p")
):  # fmt: skip
    called = [Furo.parse(meld) for meld in pons.split()]
    won = build_hora(parse_tiles(hand), called, Tile.by_text(tile), False, self_wind=Wind.south, round_wind=Wind.east)
    print(f"{tile}, pons {pons}: {won.hu} fu, {won.child_point.ron} points")
PROBE
cat >expected.txt <<'EXPECTED'
7z, pons 999s 222s: 40 fu, 1300 points
1p, pons 555z 222s: 40 fu, 1300 points
2p, pons 555z 222s: 30 fu, 1000 points
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: mahjong-utils 0.8.0 counts other fu for triplets completed by ron" >&2
    exit 1
}
