#!/usr/bin/env bash
# jansou 0.14.0 beside riichienv 0.4.11 (PyPI): the three-player presets pay 3000 points to tenpai, Tenhou pays 2000.
#
# jansou's presets "tenhou-3p" and "mahjong-soul-3p" have noten_penalty_pool=3000, the value of four players. One player
# in tenpai gets 3000, 1500 from each other; two get 1500 each from the third. On Tenhou the payments of
# three players are 2000 in all (1000 from each, or 2000 from one), which RiichiEnv's Tenhou rules pay as well.
#
# Surprising: the presets carry the platforms' names, and start, target and honba values are right. Every exhaustive
# draw with one or two players in tenpai then differs by 500 or 1000 points, and so do ranks. Payments in halves of
# a thousand are the only visible sign; no three-player draw on Tenhou has them.
#
# Seen (pool of the presets; payments of one and of two in tenpai that occurred, sorted):
#     tenhou-3p 3000, mahjong-soul-3p 3000
#     jansou: [-3000, 1500, 1500] [-1500, -1500, 3000]
#     riichienv: [-2000, 1000, 1000] [-1000, -1000, 2000]
#
# What to do: dataclasses.replace(preset("tenhou-3p"), noten_penalty_pool=2000), and do not read jansou's three-player
# games as games under Tenhou's rules.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jansou==0.14.0 riichienv==0.4.11

cat >probe.py <<'PROBE'
import json

from jansou.core.rules import preset
from jansou.game.agents import SmartEfficiencyAgent
from jansou.game.environment import Environment
from jansou.io.from_game import paifu_from_game
from jansou.io.mjai import dump_mjai
from riichienv import ActionType, GameRule, RiichiEnv, calculate_shanten_3p

PREFERRED = (ActionType.RIICHI, ActionType.KITA, ActionType.PASS)


def played_by_jansou(seed):
    env = Environment(preset("tenhou-3p"), seed=seed)
    env.run([SmartEfficiencyAgent(seed=number) for number in range(3)])
    return [json.loads(line) for line in dump_mjai(paifu_from_game(env)).splitlines()]


def chosen(observation):
    # Never win, so that rounds end in draws; discard what keeps the shanten lowest.
    legal = observation.legal_actions()
    for kind in PREFERRED:
        for action in legal:
            if action.action_type == kind:
                return action
    discards = [action for action in legal if action.action_type == ActionType.DISCARD]

    def shanten(action):
        rest = list(observation.hand)
        rest.remove(action.tile)
        return calculate_shanten_3p(rest)

    return min(discards or legal, key=shanten if discards else id)


def played_by_riichienv(seed):
    env = RiichiEnv(game_mode="3p-red-half", rule=GameRule.default_tenhou(), seed=seed)
    observations = env.reset()
    while not env.done():
        observations = env.step({seat: chosen(it) for seat, it in observations.items()})
    return env.mjai_log


print(", ".join(f"{name} {preset(name).noten_penalty_pool}" for name in ("tenhou-3p", "mahjong-soul-3p")))
for name, play in (("jansou", played_by_jansou), ("riichienv", played_by_riichienv)):
    found = set()
    for seed in range(100):
        draws = (it for it in play(seed) if it["type"] == "ryukyoku" and it["reason"].startswith("exhaustive"))
        found |= {tuple(sorted(it["deltas"])) for it in draws if any(it["deltas"])}
        if len(found) == 2:
            break
    print(f"{name}:", *map(list, sorted(found)))
PROBE
cat >expected.txt <<'EXPECTED'
tenhou-3p 3000, mahjong-soul-3p 3000
jansou: [-3000, 1500, 1500] [-1500, -1500, 3000]
riichienv: [-2000, 1000, 1000] [-1000, -1000, 2000]
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: the noten payments of jansou 0.14.0 or riichienv 0.4.11 for three players are others" >&2
    exit 1
}
