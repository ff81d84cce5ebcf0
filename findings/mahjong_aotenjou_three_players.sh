#!/usr/bin/env bash
# mahjong 2.1.0 (PyPI): the aotenjou calculator collects from a player who is not there.
#
# OptionalRules(is_three_player=True) makes ScoresCalculator count one payment of a non-dealer for a tsumo in place of
# two. Aotenjou, the other calculator that estimate_hand_value(scores_calculator_factory=...) takes, gets the same
# configuration and does not read the switch: `total` contains the fourth seat's payment.
#
# Surprising: the option is documented as "enable three-player rules", both classes have one signature, and every
# other field agrees. A game of three then creates points out of nothing: the winner receives more than is paid.
#
# Seen (3 han 30 fu by tsumo, three players; total, and what the two opponents pay):
#     ScoresCalculator: non-dealer 3000, paid 3000; dealer 4000, paid 4000
#     Aotenjou: non-dealer 4000, paid 3000; dealer 6000, paid 4000
#
# What to do: with three players take main + additional (twice `main` for a dealer, as both are equal) and ignore `total`.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mahjong==2.1.0

cat >probe.py <<'PROBE'
from mahjong.constants import EAST, SOUTH
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.hand_calculating.scores import Aotenjou, ScoresCalculator

for calculator in (ScoresCalculator, Aotenjou):
    told = []
    for name, wind in (("non-dealer", SOUTH), ("dealer", EAST)):
        config = HandConfig(is_tsumo=True, player_wind=wind, options=OptionalRules(is_three_player=True))
        cost = calculator.calculate_scores(3, 30, config)
        told.append(f"{name} {cost['total']}, paid {cost['main'] + cost['additional']}")
    print(f"{calculator.__name__}:", "; ".join(told))
PROBE
cat >expected.txt <<'EXPECTED'
ScoresCalculator: non-dealer 3000, paid 3000; dealer 4000, paid 4000
Aotenjou: non-dealer 4000, paid 3000; dealer 6000, paid 4000
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: the totals of mahjong 2.1.0's calculators for three players are others now" >&2
    exit 1
}
