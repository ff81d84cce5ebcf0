#!/usr/bin/env bash
# What each part of reinforcement learning contributes: trainings of ten minutes, one for each part changed, and two of
# the baseline, for a first idea of how much runs differ. Each network plays 21,000 hanchan against two `rule`, all on
# the same walls. Eighty minutes on two cores, on which nothing else may run: the minutes are those of the clock.
#
#   bash experiments/rl_ablation.sh FOLDER [MINUTES OF A TRAINING]
#
# It can be interrupted; the same command continues where it stopped, and prints the results again if all is done.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/rl_ablation.sh FOLDER [MINUTES OF A TRAINING]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH
cd "$1"
MINUTES=${2:-10}

# Trains and measures a network: run BOT NAME SEED OPTIONS...
run() {
  local folder=$2-$MINUTES-$3
  if [ ! -f "$folder.txt" ]; then
    python -m agents.rl train "$folder" --bot "$1" --set seed="$3" --minutes "$MINUTES" --set measure_every=1000 \
      --set walls=1 "${@:4}"
    python -m arena --games 21000 --bots "$1:$folder,rule,rule" --seed 3101 --json "$folder.json" > "$folder.txt.unfinished"
    mv "$folder.txt.unfinished" "$folder.txt"
  fi
}

run residual baseline 1
run residual view 1 --set critic_sees=view
run residual self-play 1 --set against=0
run residual rule-alone 1 --set against=1
run residual large 1 --set width=512 --set hidden=128
run residual baseline 2
run selfplay from-nothing 1 --set against=0

awk '/^ (residual|selfplay):/ { print; nextfile }' ./*-"$MINUTES"-[12].txt
