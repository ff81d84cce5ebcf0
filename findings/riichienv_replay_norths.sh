#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): in wins of three-player records norths set aside are no dora, and a ron on one takes 1m.
#
# Kyoku.take_win_result_contexts() gives the circumstances of each win of a record (MjaiReplay) and its value by RiichiEnv.
# With three players `kita_count` is right but `is_sanma` false and the calculator that for four: neither the norths nor a
# 9m shown by the indicator 1m count. Of a ron on a north that is being set aside `agari_tile` is 0 and
# `tiles` has 1m for the north, so that there is no win.
#
# Surprising: Kyoku.steps() of the same record has three-player observations, the north and the ron on it. By the usual rules
# (mahjong-rule.jp, ドラ抜き) each north set aside is a dora and may be won on; HandEvaluator3P counts it, and RiichiEnv's
# own three-player games offer the ron.
#
# Seen (9m by ron, one north aside, indicator 1m; then a ron on a north that is discarded, and on one that is set aside):
#     kita_count 1, is_sanma False: 1 han; HandEvaluator3P 5 han
#     discarded: N, 1 han
#     set aside: 1m, no win; in steps() N
#
# What to do: give tiles, melds and `kita_count` of the context to HandEvaluator3P, and put the north in place of tile 0 if the
# event before `hora` is `kita`.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11

cat >probe.py <<'PROBE'
import json

from riichienv import Conditions, HandEvaluator3P, MjaiReplay
from riichienv.convert import tid_to_mjai

OTHERS = ["1m 2p 4p 6p 8p 2s 4s 6s 8s E E S W".split(), "1m 7p 7p 8p 8p 1s 3s 5s 7s E S S W".split()]


def replayed(hand, marker, target, *events):
    """Return the round that ends when seat 1 wins after `events`, and the context of the win."""
    hands = [OTHERS[0], hand.split(), OTHERS[1]]
    start = dict(bakaze="E", dora_marker=marker, kyoku=1, honba=0, kyotaku=0, oya=0, scores=[35000] * 3, tehais=hands)
    won = dict(type="hora", actor=1, target=target, deltas=[0, 0, 0], ura_markers=[])
    ends = [dict(type="end_kyoku"), dict(type="end_game")]
    with open("record.jsonl", "w") as file:
        for event in [dict(type="start_game"), dict(type="start_kyoku", **start), *events, won, *ends]:
            file.write(json.dumps(event) + "\n")
    (kyoku,) = MjaiReplay.from_jsonl("record.jsonl", "tenhou").take_kyokus()
    (context,) = kyoku.take_win_result_contexts()
    return kyoku, context


def turn(seat, tile):
    return dict(type="tsumo", actor=seat, pai=tile), dict(type="dahai", actor=seat, pai=tile, tsumogiri=True)


north = turn(1, "N")[0], dict(type="kita", actor=1, pai="N")
_, it = replayed("9m 9m 1p 2p 3p 4p 5p 6p 9s 9s P P P", "1m", 2, *turn(0, "C"), *north, *turn(1, "C"), *turn(2, "9m"))
conditions = Conditions(player_wind=1, kita_count=it.conditions.kita_count)
right = HandEvaluator3P(it.tiles, it.melds).calc(it.agari_tile, it.dora_indicators, conditions)
found = f"kita_count {it.conditions.kita_count}, is_sanma {it.conditions.is_sanma}"
print(f"{found}: {it.actual.han} han; HandEvaluator3P {right.han} han")

WAITS_FOR_NORTH = "1p 2p 3p 4p 5p 6p 9s 9s N N P P P"
_, it = replayed(WAITS_FOR_NORTH, "E", 0, *turn(0, "N"))
print(f"discarded: {tid_to_mjai(it.agari_tile)}, {it.actual.han} han")
kyoku, it = replayed(WAITS_FOR_NORTH, "E", 0, turn(0, "N")[0], dict(type="kita", actor=0, pai="N"))
*_, (_, ron) = kyoku.steps(1)
print(f"set aside: {tid_to_mjai(it.agari_tile)}, {'a' if it.actual.is_win else 'no'} win; in steps() {tid_to_mjai(ron.tile)}")
PROBE
cat >expected.txt <<'EXPECTED'
kita_count 1, is_sanma False: 1 han; HandEvaluator3P 5 han
discarded: N, 1 han
set aside: 1m, no win; in steps() N
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichienv 0.4.11 reads the norths of three-player wins in another way" >&2
    exit 1
}
