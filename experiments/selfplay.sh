#!/usr/bin/env bash
# The recipe of a network for the bot `selfplay`: from random weights, by games against itself alone. The bundled weights
# (agents/selfplay/weights) came from it with --seed 2902, and need not come again: runs are measured in minutes.
#
#   bash experiments/selfplay.sh FOLDER [MINUTES]
#
# It can be interrupted; the same command continues where it stopped.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/selfplay.sh FOLDER [MINUTES]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH
cd "$1"

python -m agents.rl train selfplay --bot selfplay --against 0 --minutes "${2:-18}" --measure-every 6 --walls 300 \
  --measure-against random,efficiency,rule
