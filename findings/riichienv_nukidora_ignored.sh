#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): the event `nukidora` is dropped silently, and the hand grows to fifteen tiles.
#
# Three-player mjai has two names for setting a north aside: `nukidora` (libriichi3p and the engines around Mortal) and
# `kita` (RiichiEnv). RiichiEnv.observe_event() accepts both without an error, but acts on `kita` alone: after `nukidora`
# the north is still in the hand, the replacement is added to it, and the player is asked to choose among fifteen
# tiles. MjaiReplay, its reader of records, drops the event in the same way.
#
# Surprising: RiichiEnv's README advertises compatibility with Mortal's protocol, and Mortal's own reader (libriichi, in
# mjai 0.2.1) refuses an unknown type. A bot fed with the other dialect plays on, and only its advice gets worse.
#
# Seen (tiles in the hand after start_kyoku and tsumo, after the north, after the replacement; whether a north is left):
#     kita: 14 13 14 False
#     nukidora: 14 14 15 True
#     no such event: 14 14 15 True
#
# What to do: rename `nukidora` to `kita` before the event is passed on, and check the length of the hand.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11

cat >probe.py <<'PROBE'
from riichienv import GameRule, RiichiEnv

HAND = ["1m", "1m", "9m", "2p", "4p", "7p", "8p", "8p", "9p", "2s", "6s", "8s", "N"]
NORTH = 30

for name in ("kita", "nukidora", "no such event"):
    env = RiichiEnv(game_mode="3p-red-half", rule=GameRule.default_tenhou())
    sizes = []
    for event in (
        {"type": "start_game"},
        {"type": "start_kyoku", "bakaze": "E", "dora_marker": "3p", "honba": 0, "kyoku": 1, "kyotaku": 0, "oya": 0,
         "scores": [35000] * 3, "tehais": [HAND, ["?"] * 13, ["?"] * 13]},
        {"type": "tsumo", "actor": 0, "pai": "6s"},
        {"type": name, "actor": 0, "pai": "N"},
        {"type": "tsumo", "actor": 0, "pai": "1p"},
    ):
        env.observe_event(event, 0)
        sizes.append(len(env.hands[0]))
    print(f"{name}:", *sizes[2:], any(tile // 4 == NORTH for tile in env.hands[0]))
PROBE
cat >expected.txt <<'EXPECTED'
kita: 14 13 14 False
nukidora: 14 14 15 True
no such event: 14 14 15 True
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichienv 0.4.11 reads nukidora otherwise" >&2
    exit 1
}
