#!/usr/bin/env bash
# riichi-mahjong-cli 1.2.4 (PyPI): in riichi any north of the hand may be set aside, also one of its pair: the hand is then noten.
#
# A hand in riichi does not change: only the north just drawn may be set aside. Whether one is offered (`can_kita`) asks for a north in
# hand and nothing else, while discards and closed kans are checked for riichi.
#
# Surprising: the package's own bot asks for its shanten first, so that games between bots look right. Any other player that takes
# an offered action is in riichi without tenpai, pays noten at the draw and cannot win. Rounds of three are also aborted as
# "4riichi" by three riichis and as "4wind" by three equal first discards, which Tenhou and Mahjong Soul do not know with three players.
#
# Seen (10 games of its own bots, seeds 0 to 9):
#     norths offered in riichi 46, not the drawn tile 27, noten afterwards 25
#     rounds 96, aborted by four winds 5, by four riichis 2
#
# What to do: in riichi take `can_kita` only if `hand.draw_tile` is the north, and do not count the rounds that are aborted.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check riichi-mahjong-cli==1.2.4

cat >probe.py <<'PROBE'
import random
from collections import Counter

from mahjong.engine.event import EventBus
from mahjong.engine.game import GameConfig, GameState
from mahjong.engine.round import run_round
from mahjong.player.base import build_game_view
from mahjong.player.greedy_ai import GreedyAI
from mahjong.rules.agari import get_waiting_tiles

NORTH = 30
seen = Counter()


def play_round(game, bots):
    current = game.setup_round()

    def act(seat, available):
        hand = current.players[seat].hand
        if hand.is_riichi and available.can_kita:
            rest = hand.to_34_array()
            rest[NORTH] -= 1
            seen["offers"] += 1
            seen["not drawn"] += hand.draw_tile.index34 != NORTH
            seen["noten"] += not get_waiting_tiles(rest)
        view = build_game_view(
            seat, game.players, game.round_wind, game.honba, game.riichi_sticks, current.wall.remaining,
            current.wall.dora_indicators, "", current.last_discard, current.last_discard_player,
        )  # fmt: skip
        return bots[seat].choose_action(view, available)

    result = run_round(current, act)
    seen["rounds"] += 1
    seen[result.draw_type] += 1
    game.advance_round(result)


for seed in range(10):
    random.seed(seed)
    names = ["east", "south", "west"]
    game = GameState(GameConfig(is_sanma=True), names, EventBus())
    bots = [GreedyAI(name) for name in names]
    while not game.is_finished:
        play_round(game, bots)
print(f"norths offered in riichi {seen['offers']}, not the drawn tile {seen['not drawn']}, noten afterwards {seen['noten']}")
print(f"rounds {seen['rounds']}, aborted by four winds {seen['4wind']}, by four riichis {seen['4riichi']}")
PROBE
cat >expected.txt <<'EXPECTED'
norths offered in riichi 46, not the drawn tile 27, noten afterwards 25
rounds 96, aborted by four winds 5, by four riichis 2
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichi-mahjong-cli 1.2.4 offers or aborts otherwise with three players" >&2
    exit 1
}
