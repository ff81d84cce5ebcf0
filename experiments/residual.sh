#!/usr/bin/env bash
# The recipe of a network for the bot `residual`: from `rule`, by games against itself and `rule`. The bundled weights
# (agents/residual/weights) came from two runs of it, 75 minutes with --seed 2901 and, with more features and --start, 70
# with --seed 3001 (docs/experiments.md). Another run gives others, because it ends by the clock.
#
#   bash experiments/residual.sh FOLDER [MINUTES [OPTIONS...]]
#
# It can be interrupted; the same command continues where it stopped.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/residual.sh FOLDER [MINUTES [OPTIONS...]]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH
cd "$1"

python -m agents.rl train residual --width 224 --hidden 96 --minutes "${2:-75}" --measure-every 25 "${@:3}"
