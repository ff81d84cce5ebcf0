#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): of a double ron MjaiReplay has the decision of the first winner alone.
#
# Kyoku.steps() gives the observation and the action of each decision in a record, as examples to train on. If two players win
# from one discard (two events `hora` in mjai), the step of the second winner is missing: neither the ron nor a pass. The
# winner of a single ron has its step, and so has a player who lets the ron go.
#
# Surprising: take_win_result_contexts() of the same round has both wins, and RiichiEnv's own games, whose log writes double
# rons in this way, had asked both players. Passed rons are all there, so that a policy trained on the steps sees
# too many passes among the chances to win, and nothing shows that a step is missing.
#
# Seen (seats 1 and 2 can win; their steps, winners by take_win_result_contexts()):
#     3 players, seat 1 wins: Ron; Pass; [1]
#     3 players, seat 2 wins: Pass; Ron; [2]
#     3 players, both win: Ron; none; [1, 2]
#     4 players, both win: Ron; none; [1, 2]
#
# What to do: compare the wins of a round with the rons in its steps; for a second winner remove the other `hora` from a
# copy of the record and read its step there.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11

cat >probe.py <<'PROBE'
import json

from riichienv import MjaiReplay

HANDS = [
    "1m 2p 4p 6p 8p 2s 4s 6s 8s E E S W".split(),
    "1p 2p 3p 4p 5p 6p 8s 8s 9s 9s P P P".split(),
    "1p 2p 3p 7p 7p 7p 4s 4s 7s 9s F F F".split(),
    "1m 2p 4p 6p 8p 3s 4s 6s 7s S W N N".split(),
]


def show(name, players, winners):
    hands = HANDS[:players]
    start = dict(bakaze="E", dora_marker="E", kyoku=1, honba=0, kyotaku=0, oya=0, scores=[35000] * players, tehais=hands)
    events = [dict(type="start_game"), dict(type="start_kyoku", **start), dict(type="tsumo", actor=0, pai="C")]
    events.append(dict(type="dahai", actor=0, pai="8s", tsumogiri=False))
    events += [dict(type="hora", actor=seat, target=0, deltas=[0] * players, ura_markers=[]) for seat in winners]
    with open("record.jsonl", "w") as file:
        for event in [*events, dict(type="end_kyoku"), dict(type="end_game")]:
            file.write(json.dumps(event) + "\n")
    (kyoku,) = MjaiReplay.from_jsonl("record.jsonl", "tenhou").take_kyokus()
    steps = ["".join(str(action.action_type).split(".")[1].title() for _, action in kyoku.steps(seat)) for seat in (1, 2)]
    won = [context.seat for context in kyoku.take_win_result_contexts()]
    print(f"{players} players, {name}: {steps[0] or 'none'}; {steps[1] or 'none'}; {won}")


show("seat 1 wins", 3, [1])
show("seat 2 wins", 3, [2])
show("both win", 3, [1, 2])
show("both win", 4, [1, 2])
PROBE
cat >expected.txt <<'EXPECTED'
3 players, seat 1 wins: Ron; Pass; [1]
3 players, seat 2 wins: Pass; Ron; [2]
3 players, both win: Ron; none; [1, 2]
4 players, both win: Ron; none; [1, 2]
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichienv 0.4.11 gives other steps of a double ron" >&2
    exit 1
}
