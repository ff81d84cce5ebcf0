#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): fed with mjai events, it gives equal tiles one number, and the drawn tile cannot be told.
#
# RiichiEnv's hands hold numbers 0 to 135, one for each copy of a tile, when it deals itself. When it follows events
# (observe_event, apply_event) every copy of a kind gets the same number, the red five apart: a pair of 8p is [64, 64],
# and a drawn 6s has the number of the 6s that was in the hand.
#
# Surprising: the field and its range are the same in both uses, and a set or a dict of tiles works in the one
# that is tested (self-play) and loses tiles in the other (online play). select_action_from_mjai() answers the same
# action for `tsumogiri` true and false, so a discard from the hand of a tile equal to the drawn one is gone.
#
# Seen (a hand with two 8p and one 6s in which a second 6s is drawn):
#     dealt itself: 14 tiles, 14 numbers
#     observed: 14 tiles, 11 numbers
#     drawn 92; tsumogiri 92, from the hand 92
#
# What to do: count tiles by kind (number // 4) in code that runs on observations, and keep yourself whether a discard is
# the drawn tile.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11

cat >probe.py <<'PROBE'
from riichienv import GameRule, RiichiEnv

HAND = ["1m", "1m", "9m", "2p", "4p", "7p", "8p", "8p", "9p", "2s", "6s", "8s", "N"]

env = RiichiEnv(game_mode="3p-red-half", rule=GameRule.default_tenhou(), seed=7)
(observation,) = env.reset().values()
print(f"dealt itself: {len(observation.hand)} tiles, {len(set(observation.hand))} numbers")

env = RiichiEnv(game_mode="3p-red-half", rule=GameRule.default_tenhou())
for event in (
    {"type": "start_game"},
    {"type": "start_kyoku", "bakaze": "E", "dora_marker": "3p", "honba": 0, "kyoku": 1, "kyotaku": 0, "oya": 0,
     "scores": [35000] * 3, "tehais": [HAND, ["?"] * 13, ["?"] * 13]},
    {"type": "tsumo", "actor": 0, "pai": "6s"},
):
    observation = env.observe_event(event, 0)
print(f"observed: {len(observation.hand)} tiles, {len(set(observation.hand))} numbers")
drawn, kept = (
    observation.select_action_from_mjai({"type": "dahai", "actor": 0, "pai": "6s", "tsumogiri": tsumogiri}).tile
    for tsumogiri in (True, False)
)
print(f"drawn {env.drawn_tile}; tsumogiri {drawn}, from the hand {kept}")
PROBE
cat >expected.txt <<'EXPECTED'
dealt itself: 14 tiles, 14 numbers
observed: 14 tiles, 11 numbers
drawn 92; tsumogiri 92, from the hand 92
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichienv 0.4.11 numbers observed tiles otherwise" >&2
    exit 1
}
