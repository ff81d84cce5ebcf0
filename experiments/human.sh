#!/usr/bin/env bash
# The recipe of the bot `human` (agents/human/weights): the bundled network of `bert` goes on with games of people. The
# two runs of its weights took 50 minutes of half a core and 35 minutes of a faster one; the results are in
# agents/human/weights/README.md.
#
#   bash experiments/human.sh FOLDER
#
# FOLDER/records has records of your own, as files or archives. The bundled weights learned from 3,437 hanchan of
# Tenhou's phoenix room, which do not come along: Tenhou's terms do not allow passing its records on.
#
# It can be interrupted; the same command continues where it stopped.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/human.sh FOLDER}"
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH=$root
cd "$1"

python -m agents.bert data games --records records
# Twice, since the losses of the first run still fell at its end; each draws most decisions once, in one of 12 symmetries.
python -m agents.bert train games first --from "$root/agents/bert/weights" --batch-size 256 --set learning_rate=6e-4 \
  --steps 2800 --set eval_steps=700
python -m agents.bert train games second --from first/model --batch-size 256 --set learning_rate=6e-4 --steps 3500 \
  --set eval_steps=700
python -m agents.bert evaluate second/model --data games
