#!/usr/bin/env bash
# riichienv 0.4.11 beside mjai 0.2.1 (PyPI): a discard as RiichiEnv's actions write it is no valid mjai event.
#
# Action.to_mjai() and Action3P.to_mjai() write a discard without `tsumogiri`, which every `dahai` of mjai has; the
# events in RiichiEnv's own log have it. The reader in mjai 0.2.1 (libriichi's PlayerState) refuses such a line.
#
# Surprising: RiichiEnv advertises "Mortal compatibility" by mjai and the method is named after the protocol, so its
# result looks fit to be sent to a server or to be stored. It is a description of the action instead: whether the tile
# is the drawn one is only known to the environment.
#
# Seen:
#     written {"actor":0,"pai":"N","type":"dahai"}
#     mjai: missing field `tsumogiri`
#     in RiichiEnv's log: actor pai tsumogiri type
#
# What to do: send the event that the environment logs, or add `tsumogiri` yourself before the line leaves the program.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11 mjai==0.2.1

cat >probe.py <<'PROBE'
import json

from mjai.mlibriichi.state import PlayerState
from riichienv import ActionType, GameRule, RiichiEnv

HAND = ["1m", "1m", "9m", "2p", "4p", "7p", "8p", "8p", "9p", "2s", "6s", "8s", "N"]
START = {"type": "start_kyoku", "bakaze": "E", "dora_marker": "3p", "honba": 0, "kyoku": 1, "kyotaku": 0, "oya": 0}

env = RiichiEnv(game_mode="3p-red-half", rule=GameRule.default_tenhou())
env.observe_event({"type": "start_game"}, 0)
env.observe_event(START | {"scores": [35000] * 3, "tehais": [HAND, ["?"] * 13, ["?"] * 13]}, 0)
observation = env.observe_event({"type": "tsumo", "actor": 0, "pai": "6s"}, 0)
discard = next(
    action for action in observation.legal_actions() if action.action_type == ActionType.DISCARD and action.tile // 4 == 30
)
print("written", discard.to_mjai())

player = PlayerState(0)
player.update(json.dumps(START | {"scores": [25000] * 4, "tehais": [HAND, *[["?"] * 13] * 3]}))
player.update(json.dumps({"type": "tsumo", "actor": 0, "pai": "6s"}))
try:
    player.update(discard.to_mjai())
except Exception as error:
    print("mjai:", str(error).splitlines()[0])

env = RiichiEnv(game_mode="3p-red-single", seed=1)
observations = env.reset()
while not any(event["type"] == "dahai" for event in env.mjai_log):
    env.step({seat: it.legal_actions()[0] for seat, it in observations.items()})
print("in RiichiEnv's log:", *sorted(next(event for event in env.mjai_log if event["type"] == "dahai")))
PROBE
cat >expected.txt <<'EXPECTED'
written {"actor":0,"pai":"N","type":"dahai"}
mjai: missing field `tsumogiri`
in RiichiEnv's log: actor pai tsumogiri type
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: a discard by riichienv 0.4.11's to_mjai is other, or mjai 0.2.1 reads it" >&2
    exit 1
}
