#!/usr/bin/env bash
# Minutes of many cores and one big GPU: (1) the bundled network of `bert`, deepened to three times its size, passes over
# all decisions in games of people until the time is up, (2) one of the bundled size, which begins as `bert`, learns its
# probabilities, and (3) `residual` goes on by reinforcement, acting on all cores and learning on the GPU. Without a
# GPU it does the same with smaller batches, to try it.
#
#   bash experiments/gpu.sh FOLDER [MINUTES [OPTIONS...]]
#
# FOLDER/records has records of your own, as files or archives (docs/training.md says which you may use). MINUTES are
# those of training, 10 by default; OPTIONS go to `agents.rl train`. It can be interrupted; the same command continues
# where it stopped. FOLDER/made has what is made again if it is missing.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/gpu.sh FOLDER [MINUTES [OPTIONS...]]}"
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH=$root
cd "$1"
minutes=${2:-10}
if ! [[ $minutes =~ ^[0-9]+(\.[0-9]+)?$ && $minutes =~ [1-9] ]]; then
  echo "MINUTES: $minutes is not a number above 0, such as 10 or 0.5" >&2
  exit 2
fi
if python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then
  device=cuda batch=2048
else
  device=cpu batch=64
fi

# Prints a percentage of the minutes: percent N
percent() {
  awk "BEGIN { print $minutes * $1 / 100 }"
}

# Trains a network on the data, unless it is there; drops what only resuming needs: trained FOLDER OPTIONS...
trained() {
  [ -d "$1" ] && return
  python -m agents.bert train made/data --batch-size "$batch" --set eval_steps=2000 "${@:2}" "$1.run"
  mv "$1.run" "$1"
  rm -rf "$1/checkpoint"
}

python -m agents.bert data made/data --records records
[ -d large ] || python -m agents.bert deepen "$root/agents/bert/weights" made/deeper --layers 16
trained large --from made/deeper --minutes "$(percent 40)"
trained small --from "$root/agents/bert/weights" --set teacher=large/model --minutes "$(percent 20)"
# With 256 tables a thread, 16 threads play as many as learned well in the runs of `residual`, and the state is small.
python -m agents.rl train rl --start "$root/agents/residual/weights/network.npz" --device "$device" \
  --set learning_rate=0.003 --set tables=256 --set measure_every=60 --minutes "$(percent 40)" "${@:3}"
python -m agents.bert evaluate small/model --data made/data --samples 10000
du -sh --exclude made --exclude records .
