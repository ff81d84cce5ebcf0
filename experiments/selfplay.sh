#!/usr/bin/env bash
# The recipe of a network for the bot `selfplay`: from random weights, by games against itself alone.
#
#   bash experiments/selfplay.sh FOLDER [MINUTES]
#
# It can be interrupted; the same command continues where it stopped.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/selfplay.sh FOLDER [MINUTES]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH
cd "$1"

python -m agents.rl train selfplay --bot selfplay --against 0 --learning-rate 2e-3 --width 96 --hidden 48 \
  --minutes "${2:-480}" --measure-against random,efficiency,rule
