#!/usr/bin/env bash
# The recipe of a network for the bot `residual`: from `rule`, by games against itself and `rule`. Another run gives
# other weights, because it ends by the clock. docs/experiments.md has the results. The bundled `residual` has learned
# further (experiments/distil_ensemble.py).
#
# The weights of agents/ensemble/weights came from two runs on two quiet cores, and have zeros for later features:
# 1. at commit fcdcbb7: bash experiments/residual.sh FIRST 75 --seed 2901
# 2. with six more features of an action: bash experiments/residual.sh SECOND 70 --start "$PWD/PADDED.npz" --set seed=3001
# PADDED.npz is the network of the first (git show 97eb12b:agents/residual/weights/network.npz > FIRST.npz) with zeros:
#   python -c "import numpy as np; w = dict(np.load('FIRST.npz')); w['action'] = np.pad(w['action'], ((0, 6), (0, 0)));
#   np.savez('PADDED', **w)"
#
# The measurements, with --games 21000 where no other number stands; E is residual:agents/ensemble/weights/network.npz:
#   residual,rule,rule                          --seed 3203 and 3201, at commit d790bd8: after the first run
#   E,rule,rule                                 --games 42000 --seed 3304 and 3503: after the second
#   E,residual:PADDED.npz,residual:PADDED.npz   --seed 3303
#   residual:THIRD,rule,rule                    --games 42000 --seed 3503: an hour more
#   residual:THIRD,E,E                          --seed 3502
#
#   bash experiments/residual.sh FOLDER [MINUTES [OPTIONS...]]
#
# It can be interrupted; the same command continues where it stopped.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/residual.sh FOLDER [MINUTES [OPTIONS...]]}"
PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH
cd "$1"

python -m agents.rl train residual --set width=224 --set hidden=96 --minutes "${2:-75}" --set measure_every=25 "${@:3}"
