#!/usr/bin/env bash
# The recipe of the bundled CNN (agents/cnn/weights): imitation of `rule` on self-play, eight minutes of training on one
# core.
#
#   bash experiments/cnn.sh FOLDER
#
# It can be interrupted; the same command continues where it stopped.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/cnn.sh FOLDER}"
export PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
cd "$1"

python -m agents.bert data dataset --selfplay rule,rule,rule --games 480 --seed 11 --teacher rule
python -m agents.bert train dataset cnn --from compact --batch-size 128 --steps 4245
python -m agents.bert evaluate cnn/model --data dataset
