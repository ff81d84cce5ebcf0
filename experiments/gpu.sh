#!/usr/bin/env bash
# Minutes of many cores and one big GPU: (1) the bundled network of `bert`, deepened to three times its size, passes over
# all decisions in games of people until the time is up, (2) one of the bundled size, which begins as `bert`, learns its
# probabilities, and (3) `residual` goes on by reinforcement, acting on all cores and learning on the GPU. Without a
# GPU it does the same with smaller batches, to try it.
#
#   bash experiments/gpu.sh FOLDER RECORDS [MINUTES [OPTIONS...]]
#
# MINUTES (default 10) are of training: 40, 20 and 40 % of them. OPTIONS go to `agents.rl train`. RECORDS has records of
# your own, as files or archives (docs/training.md says which you may use). It can be interrupted; the same command
# continues where it stopped. FOLDER/data follows from the records and may be deleted once `small` is there.
set -euo pipefail
usage="usage: bash experiments/gpu.sh FOLDER RECORDS [MINUTES [OPTIONS...]]"
records=$(realpath -e "${2:?$usage}")
mkdir -p "$1"
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH=$root
cd "$1"
minutes=${3:-10}
read -r device batch < <(python -c 'import torch; print("cuda 2048" if torch.cuda.is_available() else "cpu 64")')

# Prints a percentage of the minutes: percent N
percent() {
  awk "BEGIN { print $minutes * $1 / 100 }"
}

# Trains a network on the data, unless it is there; drops what only resuming needs: trained NETWORK OPTIONS...
trained() {
  [ -d "$1" ] && return
  python -m agents.bert train data "$1.run" --batch-size "$batch" --set eval_steps=2000 "${@:2}"
  mv "$1.run/model" "$1"
  rm -r "$1.run/checkpoint"
}

[ -d small ] || python -m agents.bert data data --records "$records"
if [ ! -d large ]; then
  trap 'rm -rf deeper' EXIT # it is the same each time
  python -m agents.bert deepen "$root/agents/bert/weights" deeper --layers 16
  trained large --from deeper --minutes "$(percent 40)"
fi
trained small --from "$root/agents/bert/weights" --set teacher=large --minutes "$(percent 20)"
# With 256 tables a thread, 16 threads play as many as learned well in the runs of `residual`, and the state is small.
python -m agents.rl train rl --start "$root/agents/residual/weights/network.npz" --device "$device" \
  --set learning_rate=0.003 --set tables=256 --set measure_every=60 --minutes "$(percent 40)" "${@:4}"
[ ! -d data ] || python -m agents.bert evaluate small --data data --samples 10000
du -sch --exclude data .
