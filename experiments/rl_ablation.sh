#!/usr/bin/env bash
# What each part of reinforcement learning contributes: short trainings of `residual` from `rule`, three seeds each, two
# at a time on one core each; each network is measured in 6,000 hanchan against two `rule` on the same walls. Three
# hours and a half on two cores; not run as a whole yet.
#
#   bash experiments/rl_ablation.sh FOLDER [MINUTES OF A TRAINING]
#
# It can be interrupted; the same command continues where it stopped, and prints the results again if all is done.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/rl_ablation.sh FOLDER [MINUTES OF A TRAINING]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH OMP_NUM_THREADS=1
cd "$1"
MINUTES=${2:-10}

# Trains a network: run NAME SEED OPTIONS...
run() {
  python -m agents.rl train "$1-$2" --seed "$2" --jobs 1 --minutes "$MINUTES" --measure-every 1000 --walls 1 "${@:3}" \
    2>&1 | sed -u "s/^/$1-$2: /"
}

# Trains and measures three networks, two at a time: seeds NAME OPTIONS...
seeds() {
  for seed in 1 2 3; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    run "$1" "$seed" "${@:2}" &
  done
}

seeds baseline
seeds view --critic-sees view
seeds self-play --against 0
seeds rule-alone --against 1
seeds former --former-every 2
seeds no-entropy --entropy 0
seeds lambda-0.5 --gae-lambda 0.5
seeds lambda-0.95 --gae-lambda 0.95
seeds large --width 512 --hidden 128
seeds small --width 64 --hidden 32
seeds from-nothing --bot selfplay
wait

for folder in *-[123]; do
  bot=residual
  case $folder in from-nothing*) bot=selfplay ;; esac
  [ -f "$folder.json" ] || python -m arena --games 6000 --bots "$bot:$folder,rule,rule" --seed 5 --json "$folder.json" > "$folder.txt"
  printf '%-16s' "$folder"
  sed -n 's/^ *1  *//p' "$folder.txt" | head -1
done
