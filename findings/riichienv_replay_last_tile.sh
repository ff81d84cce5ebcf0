#!/usr/bin/env bash
# riichienv 0.4.11 (PyPI): MjaiReplay calls every win in the second half of the wall haitei or houtei.
#
# Kyoku.take_win_result_contexts() gives the circumstances of each win of a record and its value by RiichiEnv. With
# MjaiReplay `haitei` and `houtei` are set as if each draw and each discard took one tile from the wall: with three players
# from the 28th of 55 draws, with four from the 35th of 70. The yaku are for the last tile that can be drawn and for the
# discard that follows it (so HandConfig of the package mahjong explains its is_haitei and is_houtei, for one).
#
# Surprising: wins of the first half are right, and a limit hand often keeps its points. In the second half `actual` has one
# han too many, which is easily taken for the dora or the rules of the record.
#
# Seen (one hand that wins at the n-th draw, by tsumo or ron; the draws at which the last tile is claimed):
#     3 players: 28 to 55 of 55
#     4 players: 35 to 70 of 70
#     3 players, ron at draw 30: Houtei Raoyui, Yakuhai (haku)
#
# What to do: count the `tsumo` of the round (live tiles 136 or 108, less 14, less 13 a player), set both fields in what
# `conditions` returns, which is a copy, and give that to calculate().
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichienv==0.4.11

cat >probe.py <<'PROBE'
import json

from riichienv import MjaiReplay

KINDS = [f"{number}{suit}" for suit in "mps" for number in range(1, 10)] + list("ESWNPFC")
HAND = "1p 2p 3p 4p 5p 6p 9s 9s 1m 1m P P P".split()  # of seat 1, waits for 9s and 1m
LIVE = {3: 55, 4: 70}


def win(players, draws):
    """Return the context of a round in which all discard what they draw until 1m is drawn and wins."""
    kinds = [kind for kind in KINDS if players == 4 or kind not in [f"{number}m" for number in range(2, 9)]]
    wall = iter([kind for kind in kinds for _ in range(4) if kind not in (*HAND, "E")] + ["2p", "5p", "3p", "6p"] * 3)
    hands = [HAND if seat == 1 else [next(wall) for _ in range(13)] for seat in range(players)]
    start = dict(bakaze="E", dora_marker="E", kyoku=1, honba=0, kyotaku=0, oya=0, scores=[35000] * players, tehais=hands)
    events = [dict(type="start_game"), dict(type="start_kyoku", **start)]
    for number in range(draws):
        seat, tile = number % players, "1m" if number == draws - 1 else next(wall)
        events.append(dict(type="tsumo", actor=seat, pai=tile))
        if number < draws - 1 or seat != 1:
            events.append(dict(type="dahai", actor=seat, pai=tile, tsumogiri=True))
    events += [dict(type="hora", actor=1, target=seat, deltas=[0] * players, ura_markers=[]), dict(type="end_kyoku")]
    with open("record.jsonl", "w") as file:
        file.writelines(json.dumps(event) + "\n" for event in [*events, dict(type="end_game")])
    (kyoku,) = MjaiReplay.from_jsonl("record.jsonl", "tenhou").take_kyokus()
    (context,) = kyoku.take_win_result_contexts()
    return context


for players, live in LIVE.items():
    conditions = {draws: win(players, draws).conditions for draws in range(2, live + 1)}
    last = [draws for draws, it in conditions.items() if it.haitei or it.houtei]
    assert last == list(range(last[0], last[-1] + 1))
    print(f"{players} players: {last[0]} to {last[-1]} of {live}")
print("3 players, ron at draw 30:", ", ".join(yaku.name_en for yaku in win(3, 30).actual.yaku_list()))
PROBE
cat >expected.txt <<'EXPECTED'
3 players: 28 to 55 of 55
4 players: 35 to 70 of 70
3 players, ron at draw 30: Houtei Raoyui, Yakuhai (haku)
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichienv 0.4.11 claims the last tile at other draws" >&2
    exit 1
}
