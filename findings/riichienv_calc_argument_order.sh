#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): HandEvaluator.calc() takes its arguments in another order than its README and stub say.
#
# README.md and the type stub of the compiled module give calc(win_tile, dora_indicators, ura_indicators, conditions). The
# class that `from riichienv import HandEvaluator` gives is a wrapper in Python, calc(win_tile, dora_indicators,
# conditions, ura_indicators); the same holds for HandEvaluator3P. The compiled class of the same name does have the
# documented order, and there is a second class Conditions in the compiled module as well.
#
# Surprising: a call by position written after the documentation fails inside the library, with a message on a list
# that has no player_wind. Where both lists are empty and there are no conditions, the mistake makes no error:
# calc(tile, [], []) takes the second list for "no conditions".
#
# Seen:
#     documented order: AttributeError 'list' object has no attribute 'player_wind'
#     other order: 1 han 1300
#     parameters: win_tile, dora_indicators, conditions, ura_indicators
#
# What to do: pass everything but the tile by keyword.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11

cat >probe.py <<'PROBE'
import inspect

from riichienv import Conditions, HandEvaluator, parse_hand
from riichienv.convert import mpsz_to_tid

tiles, _ = parse_hand("99m123456p12s999s")
tile, dora, ura = mpsz_to_tid("3s"), [mpsz_to_tid("7z")], [mpsz_to_tid("6z")]
conditions = Conditions(riichi=True, player_wind=1)
for name, arguments in (("documented order", (dora, ura, conditions)), ("other order", (dora, conditions, ura))):
    try:
        won = HandEvaluator(tiles).calc(tile, *arguments)
        print(f"{name}: {won.han} han {won.ron_agari}")
    except Exception as error:
        print(f"{name}: {type(error).__name__} {error}")
print("parameters:", ", ".join(list(inspect.signature(HandEvaluator.calc).parameters)[1:]))
PROBE
cat >expected.txt <<'EXPECTED'
documented order: AttributeError 'list' object has no attribute 'player_wind'
other order: 1 han 1300
parameters: win_tile, dora_indicators, conditions, ura_indicators
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: HandEvaluator.calc of riichienv 0.4.11 takes its arguments otherwise" >&2
    exit 1
}
