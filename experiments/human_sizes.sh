#!/usr/bin/env bash
# Compares sizes and learning rates of a network that imitates people: first from random weights, ten minutes of one core
# each, then of the last run of `human`, which goes on for six. The bundled network has five layers of 128.
#
#   bash experiments/human_sizes.sh FOLDER
#
# FOLDER/games and FOLDER/third are those of experiments/human.sh, which comes first. It can be interrupted; the same
# command continues where it stopped. docs/experiments.md has what came out.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH=$root OMP_NUM_THREADS=1
cd "${1:?usage: bash experiments/human_sizes.sh FOLDER}"

compare() {  # NAME NETWORK RATE MINUTES
  python -m agents.bert train games "$1" --from "$2" --batch-size 256 --set learning_rate="$3" --minutes "$4" \
    --set eval_steps=1000000
}
for rate in 5e-4 1e-3 2e-3; do
  compare "laptop-$rate" laptop "$rate" 10
done
compare tiny-1e-3 tiny 1e-3 10
compare mini-1e-3 mini 1e-3 10
compare mini-5e-4 mini 5e-4 10
for rate in 2e-4 8e-4 16e-4; do
  compare "on-$rate" third/model "$rate" 6
done
for run in laptop-* tiny-* mini-* on-*; do
  echo "$run: $(tail -n 1 "$run/metrics.csv")"
done
