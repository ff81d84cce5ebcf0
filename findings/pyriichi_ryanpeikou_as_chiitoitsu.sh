#!/usr/bin/env bash
# pyriichi 0.1.1 (PyPI): ryanpeikou is scored as chiitoitsu, honroutou gets chanta on top, and 3 han with 70 fu has no limit.
#
# check_all() asks for chiitoitsu before it looks at the combination it is given: seven pairs that are also four runs and a pair
# (ryanpeikou, 3 han, with pinfu and junchan where they apply) come back as chiitoitsu with its 2 han. Honroutou, which replaces chanta,
# is counted beside it. The mangan limit is applied from 4 han 40 fu, not for 3 han with 70 fu and more.
#
# Surprising: which decomposition is passed has no effect, and the package has a yaku RYANPEIKOU, which it finds where a tile is held
# three or four times. With 70 fu a hand of 3 han is worth more than one of 5 han.
#
# Seen (wins by ron, South in an east round; in brackets what it should be):
#     99m 1122337788s 9s + 9s: CHIITOITSU, 2 han 25 fu (JUNCHAN RYANPEIKOU PINFU, 7 han 30 fu)
#     11m 99p 111s 222z 555z: TOITOI SEAT_WIND_SOUTH HAKU SANANKOU HONROUTOU CHANTA, 10 han 60 fu (8 han without CHANTA)
#     3 han 70 fu: 9000 points (8000)
#     5 han 70 fu: 8000 points (8000)
#
# What to do: score with another package, or repair the three cases after check_all() and calculate().
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pyriichi==0.1.1

cat >probe.py <<'PROBE'
from pyriichi import GameState, Hand, ScoreCalculator, YakuChecker, parse_tiles

SOUTH = 1


def best(tiles, won, kan=False, riichi=False, dora=0):
    """The result with the most points of all decompositions, and its yaku."""
    hand, state, tile = Hand(parse_tiles(tiles)), GameState(num_players=4), parse_tiles(won)[0]
    if kan:
        hand.kan(None)
    hand.set_riichi(riichi)
    results = []
    for combination in hand.get_winning_combinations(tile):
        yaku = YakuChecker().check_all(hand, tile, combination, state, is_ippatsu=riichi, player_position=SOUTH)
        score = ScoreCalculator().calculate(
            hand, tile, combination, yaku, dora, state, False, player_position=SOUTH, payment_to=SOUTH
        )
        results.append((score.total_points, score.han, score.fu, [it.yaku.name for it in yaku]))
    return max(results)


_, han, fu, yaku = best("9m9m1s1s2s2s3s3s7s7s8s8s9s", "9s")
print(f"99m 1122337788s 9s + 9s: {' '.join(yaku)}, {han} han {fu} fu (JUNCHAN RYANPEIKOU PINFU, 7 han 30 fu)")
_, han, fu, yaku = best("1m1m9p9p1s1s1s2z2z2z5z5z5z", "1m")
print(f"11m 99p 111s 222z 555z: {' '.join(yaku)}, {han} han {fu} fu (8 han without CHANTA)")
for dora in (1, 3):
    points, han, fu, _ = best("9s9s9s9s1p1p1p3s4s5p6p7p2s2s", "5s", kan=True, riichi=True, dora=dora)
    print(f"{han} han {fu} fu: {points} points (8000)")
PROBE
cat >expected.txt <<'EXPECTED'
99m 1122337788s 9s + 9s: CHIITOITSU, 2 han 25 fu (JUNCHAN RYANPEIKOU PINFU, 7 han 30 fu)
11m 99p 111s 222z 555z: TOITOI SEAT_WIND_SOUTH HAKU SANANKOU HONROUTOU CHANTA, 10 han 60 fu (8 han without CHANTA)
3 han 70 fu: 9000 points (8000)
5 han 70 fu: 8000 points (8000)
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: pyriichi 0.1.1 scores ryanpeikou, honroutou or 70 fu in another way" >&2
    exit 1
}
