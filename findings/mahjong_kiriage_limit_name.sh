#!/usr/bin/env bash
# mahjong 2.1.0 (PyPI): with kiriage mangan on, a mangan reached by fu has no name.
#
# ScoresCalculator.calculate_scores() returns the points and `yaku_level`, the name of the limit. For 4 han 40 fu, 3 han 70
# fu and all other hands below five han that are a mangan by their fu, `yaku_level` is "mangan" under default rules.
# With OptionalRules(kiriage=True) the points are the same 8000, but `yaku_level` is the empty string, which its
# docstring explains as "below mangan". 4 han 30 fu, which kiriage rounds up, and 5 han are named in both cases.
#
# Surprising: an option that concerns 4 han 30 fu and 3 han 60 fu alone changes what is said of other hands, and no total
# shows it. A table that prints limits, or a count of mangan by name, is wrong only under rules with kiriage.
#
# Seen:
#     kiriage off: 4 han 30 fu 7700 ''; 4 han 40 fu 8000 'mangan'; 3 han 70 fu 8000 'mangan'; 5 han 30 fu 8000 'mangan'
#     kiriage on:  4 han 30 fu 8000 'kiriage mangan'; 4 han 40 fu 8000 ''; 3 han 70 fu 8000 ''; 5 han 30 fu 8000 'mangan'
#
# What to do: derive the limit from han, fu and the points, not from `yaku_level`, when kiriage is on.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mahjong==2.1.0

cat >probe.py <<'PROBE'
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules
from mahjong.hand_calculating.scores import ScoresCalculator

for kiriage in (False, True):
    config = HandConfig(options=OptionalRules(kiriage=kiriage))
    told = []
    for han, fu in ((4, 30), (4, 40), (3, 70), (5, 30)):
        cost = ScoresCalculator.calculate_scores(han, fu, config)
        told.append(f"{han} han {fu} fu {cost['total']} {cost['yaku_level']!r}")
    print(f"kiriage {kiriage}:", "; ".join(told))
PROBE
cat >expected.txt <<'EXPECTED'
kiriage False: 4 han 30 fu 7700 ''; 4 han 40 fu 8000 'mangan'; 3 han 70 fu 8000 'mangan'; 5 han 30 fu 8000 'mangan'
kiriage True: 4 han 30 fu 8000 'kiriage mangan'; 4 han 40 fu 8000 ''; 3 han 70 fu 8000 ''; 5 han 30 fu 8000 'mangan'
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: mahjong 2.1.0 names mangan by fu otherwise than before when kiriage is on" >&2
    exit 1
}
