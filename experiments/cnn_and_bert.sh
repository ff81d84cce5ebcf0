#!/usr/bin/env bash
# CNN and BERT at equal data and equal time: both learn from the same games; one CNN sees as many samples as the BERT, the
# other trains for as many minutes. Each is measured by kind of decision on validation games, and in 300 hanchan against
# two `efficiency`. docs/experiments.md has the results.
#
#   bash experiments/cnn_and_bert.sh MINUTES FOLDER
#
# It can be interrupted; the same command continues where it stopped, and prints the results again if all is done.
set -euo pipefail
minutes=${1:?usage: bash experiments/cnn_and_bert.sh MINUTES FOLDER}
mkdir -p "${2:?usage: bash experiments/cnn_and_bert.sh MINUTES FOLDER}"
export PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd) OMP_NUM_THREADS=1
cd "$2"

# The steps that a family takes in MINUTES, from the seconds of steps 51 to 150: steps FAMILY SIZE
steps() {
  if [ ! -f "$1.steps" ]; then
    python -m agents."$1" train dataset "$1-speed" --from "$2" --batch-size 128 --steps 150 --eval-steps 50 >&2
    awk -F, -v minutes="$minutes" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "seconds") column = i }
      $1 == 50 { start = $column } $1 == 150 { end = $column }
      END { print int(minutes * 60 * 100 / (end - start)) }' "$1-speed/metrics.csv" > "$1.steps"
  fi
  cat "$1.steps"
}

# Measures a network: measure NAME FAMILY
measure() {
  if [ ! -f "$1.arena.txt" ]; then
    python -m agents."$2" evaluate "$1/model" --data dataset --samples 20000 > "$1.evaluate.txt"
    python -m arena --games 300 --bots "$2:$1/model,efficiency,efficiency" > "$1.arena.txt.unfinished"
    mv "$1.arena.txt.unfinished" "$1.arena.txt"
  fi
  echo "== $1"
  sed -n '2,4p' "$1.evaluate.txt"
  cat "$1.arena.txt"
}

python -m agents.bert data dataset --selfplay rule,rule,rule --games 480 --seed 11 --teacher rule
bert=$(steps bert laptop)
cnn=$(steps cnn compact)
python -m agents.bert train dataset bert --from laptop --batch-size 128 --steps "$bert"
python -m agents.cnn train dataset cnn-samples --from compact --batch-size 128 --steps "$bert"
python -m agents.cnn train dataset cnn-time --from compact --batch-size 128 --steps "$cnn"
measure bert bert
measure cnn-samples cnn
measure cnn-time cnn
