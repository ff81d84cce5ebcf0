#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): a game mode it does not know is a single round of four players, without a word.
#
# RiichiEnv(game_mode=...) takes a name of its table ("3p-red-half" and five more). Any other string is accepted and
# plays "4p-red-single": one round, four seats, 25000 points. An unknown number is accepted too, and plays with three.
#
# Surprising: the most natural misspellings ("3p-red-hanchan", "3p-red-tonpuu", "3P-red-half") yield an environment that
# runs, trains and ends properly, only of another game. An error is raised neither by the constructor nor by reset().
#
# Seen (seats, scores after reset):
#     3p-red-half: 3 [35000, 35000, 35000]
#     3p-red-hanchan: 4 [25000, 25000, 25000, 25000]
#     3P-red-half: 4 [25000, 25000, 25000, 25000]
#     sanma: 4 [25000, 25000, 25000, 25000]
#     99: 3 [35000, 35000, 35000]
#
# What to do: check `len(env.scores())` and `env.game_mode` after the constructor, where 0 means the default.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11

cat >probe.py <<'PROBE'
from riichienv import RiichiEnv

for mode in ("3p-red-half", "3p-red-hanchan", "3P-red-half", "sanma", 99):
    env = RiichiEnv(game_mode=mode)
    env.reset()
    print(f"{mode}: {len(env.hands)} {env.scores()}")
PROBE
cat >expected.txt <<'EXPECTED'
3p-red-half: 3 [35000, 35000, 35000]
3p-red-hanchan: 4 [25000, 25000, 25000, 25000]
3P-red-half: 4 [25000, 25000, 25000, 25000]
sanma: 4 [25000, 25000, 25000, 25000]
99: 3 [35000, 35000, 35000]
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichienv 0.4.11 treats unknown game modes otherwise" >&2
    exit 1
}
