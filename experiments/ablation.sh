#!/usr/bin/env bash
# What pretraining, augmentation, the value head and the teacher each contribute: five short trainings on the same games,
# each measured on validation games and in 900 hanchan against two `rule`. About half an hour on two cores.
# docs/experiments.md has the results.
#
#   bash experiments/ablation.sh FOLDER
#
# It can be interrupted; the same command continues where it stopped, and prints the results again if all is done.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/ablation.sh FOLDER}"
export PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
cd "$1"

# Trains a network and measures it: run NAME DATA OPTIONS...
run() {
  python -m agents.bert train "$2" "$1" --batch-size 128 --steps 1600 "${@:3}"
  if [ ! -f "$1.arena.txt" ]; then
    python -m agents.bert evaluate "$1/model" --data taught --samples 20000 > "$1.evaluate.txt"
    python -m arena --games 900 --bots "bert:$1/model,rule,rule" --json "$1.arena.json" > "$1.arena.txt.unfinished"
    mv "$1.arena.txt.unfinished" "$1.arena.txt"
  fi
  echo "== $1"
  sed -n '2,3p' "$1.evaluate.txt"
  cat "$1.arena.txt"
}

python -m agents.bert data taught --selfplay rule,rule,rule --games 1536 --seed 11 --teacher rule
python -m agents.bert data played --selfplay rule,rule,rule --games 1536 --seed 11
python -m agents.bert pretrain taught pretrained --from laptop --batch-size 128 --steps 1600

run baseline taught --from laptop
run after-pretraining taught --from pretrained/model
run no-augmentation taught --from laptop --set augment=false
run no-value-head taught --from laptop --set value_weight=0
run no-teacher played --from laptop
