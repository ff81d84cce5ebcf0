#!/usr/bin/env bash
# The recipe of the bundled weights of the bot `residual` (agents/residual/weights): by games against itself and `rule`.
# docs/experiments.md has what came of it.
#
#   bash experiments/residual.sh FOLDER [MINUTES]
#
# It can be interrupted; the same command continues where it stopped.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/residual.sh FOLDER [MINUTES]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH
cd "$1"

python -m agents.rl train residual --minutes "${2:-90}"
