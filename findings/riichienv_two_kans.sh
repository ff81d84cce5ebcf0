#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): a complete hand with exactly two kans is no win.
#
# HandEvaluator.calc(win_tile) takes the hand with or without the winning tile and tells the two apart by the number of tiles:
# a number that leaves 1 when divided by 3 is a hand that waits. Each kan has a tile more than a set, so that a complete hand
# with two kans (16 tiles) is taken for one that waits, and gets the winning tile once more. HandEvaluator3P and
# calc_from_text(), which takes a complete hand by its own words, do the same.
#
# Surprising: no error, only is_win False, as for a hand without yaku. Without kans and with one, three or four, both forms give
# the same points, and the form without the winning tile is right with two as well.
#
# Seen (ron on haku, four sets of which 0 to 4 are kans; points of the complete hand, of calc_from_text(), without the tile):
#     0 kans: 2400, 2400, 2400
#     1 kans: 12000, 12000, 12000
#     2 kans: no win, no win, 12000
#     3 kans: 36000, 36000, 36000
#     4 kans: 144000, 144000, 144000
#
# What to do: take the winning tile out of the hand before calc() and never use calc_from_text() with kans.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11

cat >probe.py <<'PROBE'
from riichienv import HandEvaluator, HandEvaluator3P, parse_hand

HANDS = [
    "11199s123456p555z",
    "99s123456p555z(k1z)",
    "99s123p555z(k1z)(k2z)",
    "99s555z(k1z)(k2z)(k9p)",
    "55z(k1z)(k2z)(k9p)(k9s)",
]


def points(result):
    return str(result.ron_agari) if result.is_win else "no win"


for kans, text in enumerate(HANDS):
    tiles, melds = parse_hand(text)
    *rest, haku = tiles
    seen = [HandEvaluator(tiles, melds).calc(haku), HandEvaluator.calc_from_text(text), HandEvaluator(rest, melds).calc(haku)]
    three = HandEvaluator3P(tiles, melds).calc(haku), HandEvaluator3P(rest, melds).calc(haku)
    assert [points(it) for it in three] == [points(seen[0]), points(seen[2])]
    print(f"{kans} kans:", ", ".join(map(points, seen)))
PROBE
cat >expected.txt <<'EXPECTED'
0 kans: 2400, 2400, 2400
1 kans: 12000, 12000, 12000
2 kans: no win, no win, 12000
3 kans: 36000, 36000, 36000
4 kans: 144000, 144000, 144000
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichienv 0.4.11 scores complete hands with kans in another way" >&2
    exit 1
}
