#!/usr/bin/env bash
# The recipe of a network for the bot `selfplay`: from random weights, by games against itself alone. The bundled weights
# (agents/selfplay/weights) came from 18 minutes with --set seed=2902; another run gives others, because it ends by the clock.
#
#   bash experiments/selfplay.sh FOLDER [MINUTES [OPTIONS...]]
#
# It can be interrupted; the same command continues where it stopped.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/selfplay.sh FOLDER [MINUTES [OPTIONS...]]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH
cd "$1"

python -m agents.rl train selfplay --bot selfplay --set against=0 --minutes "${2:-18}" --set measure_every=6 --set walls=300 \
  --set measure_against=random,efficiency,rule "${@:3}"
