#!/usr/bin/env bash
# The recipe of the bundled weights of the bot `selfplay` (agents/selfplay/weights): from random weights, by games
# against itself. The bundled ones had 35 minutes on two busy cores, 65,000 games. docs/players.md has the curve.
#
#   bash experiments/selfplay.sh FOLDER [MINUTES]
#
# It can be interrupted; the same command continues where it stopped, and with more minutes it goes on after the end.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/selfplay.sh FOLDER [MINUTES]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH
cd "$1"

python -m agents.selfplay train selfplay --minutes "${2:-480}" --buffer 256 --measure-every 5
