#!/usr/bin/env bash
# The recipe of the bot `human` (agents/human/weights): the bundled network of `bert` goes on with games of people. The
# three runs of its weights took 50 minutes of half a core, 35 minutes of a faster one and 52 minutes of two; the results
# are in agents/human/weights/README.md. They began at an earlier `bert`, which had not yet learned from people.
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
# Three times, since the losses still fell at the end of a run; every sample is drawn in one of 12 symmetries. The mean of
# networks counts the last one three times.
python -m agents.bert train games first --from "$root/agents/bert/weights" --batch-size 256 --set learning_rate=6e-4 \
  --steps 2800 --set eval_steps=700
python -m agents.bert train games second --from first/model --batch-size 256 --set learning_rate=6e-4 --steps 3500 \
  --set eval_steps=700
python -m agents.bert train games third --from second/model --batch-size 256 --set learning_rate=8e-4 --steps 13257 \
  --set eval_steps=2000
if ! [ -d human ]; then
  python -m agents.bert average second/model third/model third/model third/model unfinished
  mv unfinished human
fi
python -m agents.bert evaluate human --data games
