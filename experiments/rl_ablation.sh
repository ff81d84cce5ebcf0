#!/usr/bin/env bash
# What each part of reinforcement learning contributes: short trainings of `residual` from `rule`, three seeds each; each
# network is measured in 6,000 hanchan against two `rule` on the same walls. About two hours on two cores. It was not run
# as a whole yet: docs/experiments.md has no results of it.
#
#   bash experiments/rl_ablation.sh FOLDER [MINUTES OF A TRAINING]
#
# It can be interrupted; the same command continues where it stopped, and prints the results again if all is done.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/rl_ablation.sh FOLDER [MINUTES OF A TRAINING]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH
cd "$1"
MINUTES=${2:-5}

# Trains and measures three networks: seeds BOT NAME OPTIONS...
seeds() {
  for seed in 1 2 3; do
    local folder=$2-$MINUTES-$seed
    if [ ! -f "$folder.txt" ]; then
      python -m agents.rl train "$folder" --bot "$1" --seed "$seed" --minutes "$MINUTES" --measure-every 1000 --walls 1 \
        "${@:3}"
      python -m arena --games 6000 --bots "$1:$folder,rule,rule" --seed 5 --json "$folder.json" > "$folder.txt.unfinished"
      mv "$folder.txt.unfinished" "$folder.txt"
    fi
  done
}

seeds residual baseline
seeds residual view --critic-sees view
seeds residual self-play --against 0
seeds residual rule-alone --against 1
seeds residual large --width 512 --hidden 128
seeds residual small --width 64 --hidden 32
seeds selfplay from-nothing

awk '/^ (residual|selfplay):/ { print; nextfile }' ./*-"$MINUTES"-[123].txt
