#!/usr/bin/env bash
# The recipe of the bundled network (agents/bert/weights): self-play data, imitation of `rule`, then four rounds of
# learning from hard examples and rollouts. About nine hours on two cores. docs/experiments.md has the results.
#
#   bash experiments/bundled_network.sh FOLDER
#
# Interrupt it whenever you like; the same command continues where it stopped. The weights come out equally trained, not
# bit-identical: parts of the bundled network's data were made by earlier versions of this code.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/bundled_network.sh FOLDER}"
repository=$(cd "$(dirname "$0")/.." && pwd)
cd "$1"
export PYTHONPATH=$repository

bert() { python -m agents.bert "$@"; }
# Trains in two processes, one for each core.
train2() { ACCELERATE_USE_CPU=true OMP_NUM_THREADS=1 torchrun --standalone --nproc-per-node 2 -m agents.bert "$@"; }
# Writes a checkpoint once: once NAME COMMAND...
once() { [ -d "$1" ] || bert "${@:2}" "$1"; }
# Hard examples: the decisions of NETWORK against two rule that rule would decide otherwise: hard_examples DATA NETWORK OPTIONS...
hard_examples() {
  bert data "$1" --selfplay "bert:$2,rule,rule" --decisions "player:bert:$2" --teacher rule --hard-examples "${@:3}"
}
# Rollouts: games of rule, in which close decisions are played out many times: rollouts DATA OPTIONS...
rollouts() { bert data "$1" --selfplay rule,rule,rule --teacher rule "${@:2}"; }

# 1. Imitate rule: 8.4 million samples, 44,000 steps of 3 layers.
bert data data --selfplay rule,rule,rule --games 25600 --seed 11 --teacher rule
bert train data run --from laptop --batch-size 128 --steps 44000 --eval-steps 4000

# 2. Imitate rule in the decisions that the network's own play leads to.
bert data more --selfplay bert:run/model,rule,rule --decisions player:bert:run/model --games 9216 --seed 21 --teacher rule
bert data more --add --selfplay rule,rule,rule --games 3584 --seed 11 --teacher rule
train2 train more fine --from run/model --batch-size 256 --steps 8000 --learning-rate 4e-4 --eval-steps 2000

# 3. Deepen to 5 layers, and imitate rule in hard examples.
hard_examples hard fine/model --games 28160 --seed 31
hard_examples hard fine/model --games 8192 --seed 32 --add
once deeper deepen fine/model --layers 5
train2 train hard deep --from deeper --batch-size 256 --steps 14000 --learning-rate 8e-4 --eval-steps 1400

# 4. Improve by rollouts, four times; from the second time on the weights before and after are averaged.
rollouts own1 --games 8448 --seed 61 --rollouts 2
hard_examples own1 fine/model --games 6144 --seed 31 --add
train2 improve own1 better --from deep/model --batch-size 256 --steps 1800 --learning-rate 1e-4 --eval-steps 600

rollouts own2 --games 12544 --seed 81 --rollouts 8
hard_examples own2 better/model --games 13312 --seed 91 --add
train2 improve own2 best --from better/model --batch-size 256 --steps 4800 --learning-rate 2e-4 --eval-steps 800
once even average deep/model best/model

rollouts own3 --games 8960 --seed 82 --rollouts 8
hard_examples own3 even --games 11520 --seed 92 --add
train2 improve own3 further --from even --batch-size 256 --steps 3100 --learning-rate 25e-5 --eval-steps 550
once mean average even further/model

rollouts own4 --games 4608 --seed 82 --rollouts 8
hard_examples own4 even --games 11520 --seed 92 --add
hard_examples own4 mean --games 14080 --seed 951 --add
train2 improve own4 clear --from mean --batch-size 256 --steps 6000 --learning-rate 4e-4 --eval-steps 750 --seed 6
once settled average mean clear/model

# 5. Measure it: as the bot plays it, and the network alone.
python -m arena --games 60000 --bots bert:settled,rule,rule --seed 60 --json arena.json
bert evaluate settled --data data
