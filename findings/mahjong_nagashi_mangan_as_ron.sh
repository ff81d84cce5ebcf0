#!/usr/bin/env bash
# mahjong 2.1.0 (PyPI): nagashi mangan is paid as a ron unless is_tsumo is set, and only three players notice.
#
# HandConfig(is_nagashi_mangan=True) makes estimate_hand_value() skip the hand and return a mangan. How it is paid depends
# on `is_tsumo`, whose default is False: one payment of 8000 in `main`, as if somebody had dealt in.
# Nagashi mangan follows an exhaustive draw, so nobody deals in: the dealer pays 4000 and each other player 2000.
#
# Surprising: the flag of a result that can only be paid by everyone does not imply it, though other impossible
# combinations of flags (chankan with tsumo, haitei without tsumo) are refused with an error. With four players the total
# of both forms is 8000, so a test of `total` passes; with three players nobody sits in the fourth seat, the right
# total is 6000, and the default says 8000.
#
# Seen (total, main, additional):
#     4 players: by default 8000 8000 0; with is_tsumo 8000 4000 2000
#     3 players: by default 8000 8000 0; with is_tsumo 6000 4000 2000
#
# What to do: pass is_tsumo=True together with is_nagashi_mangan=True, and test `main` and `additional`.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mahjong==2.1.0

cat >probe.py <<'PROBE'
from mahjong.constants import SOUTH
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig, OptionalRules


def paid(three, **told):
    options = OptionalRules(is_three_player=three)
    config = HandConfig(is_nagashi_mangan=True, player_wind=SOUTH, options=options, **told)
    cost = HandCalculator.estimate_hand_value([], 0, config=config).cost
    return f"{cost['total']} {cost['main']} {cost['additional']}"


for players in (4, 3):
    print(f"{players} players: by default {paid(players == 3)}; with is_tsumo {paid(players == 3, is_tsumo=True)}")
PROBE
cat >expected.txt <<'EXPECTED'
4 players: by default 8000 8000 0; with is_tsumo 8000 4000 2000
3 players: by default 8000 8000 0; with is_tsumo 6000 4000 2000
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: mahjong 2.1.0 pays nagashi mangan otherwise than before" >&2
    exit 1
}
