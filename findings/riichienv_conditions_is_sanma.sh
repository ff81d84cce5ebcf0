#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): HandEvaluator takes Conditions(is_sanma=True, kita_count=...) and scores for four players.
#
# Conditions has is_sanma, num_players and kita_count, and both HandEvaluator and HandEvaluator3P take it. HandEvaluator
# ignores the three: norths set aside are no dora, and the indicator 1m shows 2m instead of 9m. HandEvaluator3P
# counts both, and sets is_sanma and num_players itself, whatever the conditions say.
#
# Surprising: the fields have no effect in the class whose conditions need them and are overwritten in the other, so they
# decide nothing here. A port from four players that only sets is_sanma=True undervalues nearly every hand.
#
# Seen (riichi 99m 123456p 123s 999s by ron, two norths aside; han and points for the indicators West and 1m):
#     HandEvaluator: west 1 han 1300, 1m 1 han 1300
#     HandEvaluator3P: west 5 han 8000, 1m 5 han 8000
#
# What to do: choose the class by the number of players; is_sanma is not the switch that it looks like.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11

cat >probe.py <<'PROBE'
from riichienv import Conditions, HandEvaluator, HandEvaluator3P, parse_hand
from riichienv.convert import mpsz_to_tid

tiles, _ = parse_hand("99m123456p12s999s")
conditions = Conditions(riichi=True, player_wind=1, is_sanma=True, num_players=3, kita_count=2)
for evaluator in (HandEvaluator, HandEvaluator3P):
    told = []
    for name, indicator in (("west", "3z"), ("1m", "1m")):
        won = evaluator(tiles).calc(
            mpsz_to_tid("3s"), dora_indicators=[mpsz_to_tid(indicator)], conditions=conditions, ura_indicators=[]
        )
        told.append(f"{name} {won.han} han {won.ron_agari}")
    print(f"{evaluator.__name__}:", ", ".join(told))
PROBE
cat >expected.txt <<'EXPECTED'
HandEvaluator: west 1 han 1300, 1m 1 han 1300
HandEvaluator3P: west 5 han 8000, 1m 5 han 8000
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichienv 0.4.11 scores three-player conditions otherwise" >&2
    exit 1
}
