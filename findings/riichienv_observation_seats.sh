#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): the lists of a three-player observation are by seat, where its documentation says by distance.
#
# The type stub that is installed with the package says of Observation3P that lists indexed by player are "ordered as [self,
# shimocha, kamicha]". scores, hands, discards, melds and the others begin with seat 0 for every observer. The planes of
# encode() do begin with the observer.
#
# Surprising: for seat 0 both orders are the same, so that a trial with the first player is right. Features built from the
# lists beside the planes of encode() give the two others the scores and the discards of somebody else.
#
# Seen (scores of seats 0 to 2: 30000, 35000, 40000; the index at which an observer finds its own hand):
#     seat 0: scores 30000 35000 40000, planes 30000 35000 40000, own hand 0
#     seat 1: scores 30000 35000 40000, planes 35000 40000 30000, own hand 1
#     seat 2: scores 30000 35000 40000, planes 40000 30000 35000, own hand 2
#
# What to do: rotate each list by player_id (values[player_id:] + values[:player_id]) before it is used relative to the observer.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11 numpy==2.4.6

cat >probe.py <<'PROBE'
import numpy as np
from riichienv import RiichiEnv

SCORE_PLANES = slice(39, 42)  # points / 100000

env = RiichiEnv(game_mode="3p-red-half", seed=1)
env.reset()
env.set_scores([30000, 35000, 40000])
for seat in range(3):
    it = env.get_observation(seat)
    planes = np.frombuffer(it.encode(), np.float32).reshape(74, 27)[SCORE_PLANES, 0] * 100000
    (own,) = (index for index, hand in enumerate(it.hands) if hand)
    print(f"seat {seat}: scores", *it.scores, end=", planes ")
    print(*planes.round().astype(int), end=f", own hand {own}\n")
PROBE
cat >expected.txt <<'EXPECTED'
seat 0: scores 30000 35000 40000, planes 30000 35000 40000, own hand 0
seat 1: scores 30000 35000 40000, planes 35000 40000 30000, own hand 1
seat 2: scores 30000 35000 40000, planes 40000 30000 35000, own hand 2
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichienv 0.4.11 orders the lists of its observations in another way" >&2
    exit 1
}
