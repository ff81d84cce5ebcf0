#!/usr/bin/env bash
# What pretraining, augmentation, the value head and the teacher each bring: five short trainings on the same games, each
# then measured in 900 hanchan against two `rule`. About two hours on two cores. docs/experiments.md has the results.
#
#   bash experiments/ablation.sh FOLDER
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/ablation.sh FOLDER}"
export PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
cd "$1"

games=(--selfplay rule,rule,rule --games 640 --seed 11)
python -m agents.bert data taught "${games[@]}" --teacher rule
python -m agents.bert data played "${games[@]}"
python -m agents.bert pretrain taught pretrained --from laptop --batch-size 128 --steps 1600

run() { # run NAME DATA OPTIONS...
  python -m agents.bert train "$2" "$1" --batch-size 128 --steps 1600 "${@:3}"
  python -m agents.bert evaluate "$1/model" --data "$2"
  python -m arena --games 900 --bots "bert:$1/model,rule,rule" --json "$1.json"
}
run baseline taught --from laptop
run after-pretraining taught --from pretrained/model
run no-augmentation taught --from laptop --no-augment
run no-value taught --from laptop --value 0
run no-teacher played --from laptop
