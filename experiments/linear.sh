#!/usr/bin/env bash
# The recipe of the weights of `linear` and `softmax` (agents/linear/weights): choices of `rule` in 1,000 games, learned
# with each of the two losses; then their agreement with `rule`, `bert` and recorded players, and their strength before
# and after. It took fifteen minutes on two cores that had other work, about five minutes of the processor.
# docs/experiments.md has the results.
#
#   bash experiments/linear.sh FOLDER
#
# It can be interrupted; the same command continues where it stopped, and prints the results again if all is done.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/linear.sh FOLDER}"
export PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)${PYTHONPATH:+:$PYTHONPATH}
records=${PYTHONPATH%%:*}/tests/data/records
cd "$1"

# Runs a command once and prints what it has printed: kept NAME COMMAND...
kept() {
  if [ ! -f "$1.txt" ]; then
    "${@:2}" > "$1.txt.unfinished"
    mv "$1.txt.unfinished" "$1.txt"
  fi
  echo "== $1"
  cat "$1.txt"
}

[ -f choices.parquet ] || python -m agents.linear export choices.parquet --selfplay rule,rule,rule --games 1000 --seed 1
python -m agents.linear train linear --data choices.parquet --set loss=hinge
python -m agents.linear train softmax --data choices.parquet --set loss=softmax

linear=linear:linear/weights.json
softmax=softmax:softmax/weights.json
bots=(linear:start "$linear" "$softmax?temperature=0" "$softmax" efficiency rule bert)
kept agreement-rule python -m agents.linear agreement "${bots[@]}" --selfplay rule,rule,rule --games 30 --seed 2
kept agreement-bert python -m agents.linear agreement "${bots[@]}" --selfplay bert,bert,bert --games 15 --seed 3
kept agreement-records python -m agents.linear agreement "${bots[@]}" --records "$records"
kept arena-linear-start python -m arena --games 3000 --bots linear:start,rule,efficiency --json linear-start.json
kept arena-linear python -m arena --games 3000 --bots "$linear,rule,efficiency" --json linear.json
kept arena-softmax-start python -m arena --games 3000 --bots softmax:start,rule,efficiency --json softmax-start.json
kept arena-softmax python -m arena --games 3000 --bots "$softmax,rule,efficiency" --json softmax.json
kept arena-softmax-greedy \
  python -m arena --games 3000 --bots "$softmax?temperature=0,rule,efficiency" --json softmax-greedy.json
