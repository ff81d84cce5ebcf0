#!/usr/bin/env bash
# CNN and BERT at equal data and equal time: both learn from the same games. One CNN sees as many samples as the BERT, the
# other trains longer; the validation rows of its metrics.csv tell what it had learned after the BERT's seconds. Each is
# measured by kind of decision on validation games, and in 300 hanchan against two `efficiency`. docs/experiments.md has
# the results.
#
#   bash experiments/cnn_and_bert.sh FOLDER
#
# It can be interrupted; the same command continues where it stopped, and prints the results again if all is done.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/cnn_and_bert.sh FOLDER}"
export PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd) OMP_NUM_THREADS=1
cd "$1"

# Measures a network: measure NAME FAMILY
measure() {
  if [ ! -f "$1.arena.txt" ]; then
    python -m agents.bert evaluate "$1/model" --data dataset --samples 20000 > "$1.evaluate.txt"
    python -m arena --games 300 --bots "$2:$1/model,efficiency,efficiency" > "$1.arena.txt.unfinished"
    mv "$1.arena.txt.unfinished" "$1.arena.txt"
  fi
  echo "== $1"
  sed -n '2,4p' "$1.evaluate.txt"
  cat "$1.arena.txt"
}

python -m agents.bert data dataset --selfplay rule,rule,rule --games 480 --seed 11 --teacher rule
python -m agents.bert train dataset bert --from laptop --batch-size 128 --steps 617
python -m agents.bert train dataset cnn-samples --from compact --batch-size 128 --steps 617
python -m agents.bert train dataset cnn-time --from compact --batch-size 128 --steps 4245
measure bert bert
measure cnn-samples cnn
measure cnn-time cnn
