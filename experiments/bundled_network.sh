#!/usr/bin/env bash
# The recipe of the bundled network (agents/bert/weights): imitation of `rule` on self-play, hard examples, four rounds of
# policy improvement by rollouts, then imitation of `residual`, of people and of `ensemble`. About 23 hours on two cores;
# where PyTorch finds a GPU, step 5 takes minutes instead of an estimated nine hours. docs/experiments.md has the results.
#
#   bash experiments/bundled_network.sh FOLDER
#
# FOLDER/records has games of people, as files or archives (docs/training.md says which you may use).
#
# It can be interrupted; the same command continues where it stopped. It gives a network trained in the same way, not the
# same weights: parts of the bundled network's data were made by earlier versions of this code.
set -euo pipefail
mkdir -p "${1:?usage: bash experiments/bundled_network.sh FOLDER}"
export PYTHONPATH=$(cd "$(dirname "$0")/.." && pwd)
cd "$1"
if [ -z "$(ls -A records 2> /dev/null)" ]; then  # step 7 needs them, after 21 hours
  echo "$1/records: has no games of people; put some there" >&2
  exit 2
fi

# Trains in two processes, one a core: train2 train|improve DATA OUT OPTIONS...
train2() {
  ACCELERATE_USE_CPU=true OMP_NUM_THREADS=1 \
    python -m torch.distributed.run --standalone --nproc-per-node 2 -m agents.bert "$@"
}

# Writes a checkpoint that takes no training, unless it is there: once OUT deepen|average ARGUMENTS...
once() {
  [ -d "$1" ] && return
  python -m agents.bert "${@:2}" "$1.unfinished"
  mv "$1.unfinished" "$1"
}

# Adds hard examples from games of a network against two `rule`: hard_examples DATA NETWORK OPTIONS...
hard_examples() {
  python -m agents.bert data "$1" --add --selfplay "bert:$2,rule,rule" --decisions "player:bert:$2" --teacher rule \
    --hard-examples "${@:3}"
}

# Rolls out close decisions in games of `rule`: rollouts DATA OPTIONS...
rollouts() {
  python -m agents.bert data "$1" --selfplay rule,rule,rule --teacher rule "${@:2}"
}

# Adds games with a teacher, whose probabilities are the targets: taught DATA TEACHER BOTS OPTIONS...
taught() {
  python -m agents.bert data "$1" --add --selfplay "$3" --teacher "$2" "${@:4}"
}

# 1. Imitate `rule`: 8.4 million samples, 44,000 steps, 3 layers.
python -m agents.bert data dataset --selfplay rule,rule,rule --games 25600 --seed 11 --teacher rule
python -m agents.bert train dataset run --from laptop --batch-size 128 --steps 44000 --set eval_steps=4000

# 2. Imitate `rule` in the decisions that the network's own play leads to.
python -m agents.bert data more --selfplay bert:run/model,rule,rule --decisions player:bert:run/model --games 9216 \
  --seed 21 --teacher rule
python -m agents.bert data more --add --selfplay rule,rule,rule --games 3584 --seed 11 --teacher rule
train2 train more fine --from run/model --batch-size 256 --steps 8000 --set learning_rate=4e-4 --set eval_steps=2000

# 3. Deepen to 5 layers, and imitate `rule` in hard examples.
hard_examples hard fine/model --games 28160 --seed 31
hard_examples hard fine/model --games 8192 --seed 32
once deeper deepen fine/model --layers 5
train2 train hard deep --from deeper --batch-size 256 --steps 14000 --set learning_rate=8e-4 --set eval_steps=1400

# 4. Improve by rollouts, four times; from the second time on, average the weights before and after.
rollouts own1 --games 8448 --seed 61 --rollouts 2
hard_examples own1 fine/model --games 6144 --seed 31
train2 improve own1 better --from deep/model --batch-size 256 --steps 1800 --set learning_rate=1e-4 --set eval_steps=600

rollouts own2 --games 12544 --seed 81 --rollouts 8
hard_examples own2 better/model --games 13312 --seed 91
train2 improve own2 best --from better/model --batch-size 256 --steps 4800 --set learning_rate=2e-4 --set eval_steps=800
once even average deep/model best/model

rollouts own3 --games 8960 --seed 82 --rollouts 8
hard_examples own3 even --games 11520 --seed 92
train2 improve own3 further --from even --batch-size 256 --steps 3100 --set learning_rate=2.5e-4 --set eval_steps=550
once mean average even further/model

rollouts own4 --games 4608 --seed 82 --rollouts 8
hard_examples own4 even --games 11520 --seed 92
hard_examples own4 mean --games 14080 --seed 951
train2 improve own4 clear --from mean --batch-size 256 --steps 6000 --set learning_rate=4e-4 --set eval_steps=750 --set seed=6
once settled average mean clear/model

# 5. Imitate `residual`, which plays better than `rule`: 5.2 million samples, seven times each.
taught many residual residual,rule,rule --decisions player:residual --games 12000 --seed 1000001
taught many residual rule,rule,residual --decisions player:rule --games 12000 --seed 3000001 --hard-examples
taught many residual residual,residual,rule --decisions player:residual --games 12000 --seed 5000001
python -m agents.bert train many student --from settled --batch-size 2048 --steps 17941 --set learning_rate=2e-3 --set eval_steps=2990

# 6. Imitate `residual` in hard examples of the network's own games.
taught own5 residual bert:student/model,residual,rule --decisions player:bert:student/model --games 12288 --seed 7000001 \
  --hard-examples
taught own5 residual residual,rule,rule --decisions player:residual --games 4096 --seed 9000001
train2 train own5 last --from student/model --batch-size 256 --steps 5000 --set learning_rate=4e-4 --set eval_steps=1250

# 7. Imitate people, as the first two runs of experiments/human.sh do, and average the weights before and after.
python -m agents.bert data games --records records
python -m agents.bert train games first --from last/model --batch-size 256 --set learning_rate=6e-4 --steps 2800 --set eval_steps=700
python -m agents.bert train games person --from first/model --batch-size 256 --set learning_rate=6e-4 --steps 3500 --set eval_steps=700
once between average last/model person/model

# 8. Imitate `ensemble` in hard examples, in all decisions of other games, and in those of people.
taught pupil ensemble bert:person/model,rule,rule --decisions player:bert:person/model --games 3000 --seed 45001 --hard-examples
taught pupil ensemble bert:between,rule,rule --decisions player:bert:between --games 1500 --seed 45003 --hard-examples
taught pupil ensemble bert:between,residual,rule --games 400 --seed 45004
python -m agents.bert data pupil --add --records records --teacher ensemble
python -m agents.bert train pupil final --from between --batch-size 128 --minutes 46 --set learning_rate=4e-4 \
  --set eval_steps=1000 --set seed=45

# 9. Imitate people once more, from step 7 on, and average the weights with those of step 8.
python -m agents.bert train games third --from person/model --batch-size 256 --set learning_rate=8e-4 --steps 13257 \
  --set eval_steps=2000
once bundled average final/model third/model

# 10. Measure it: the network alone on validation games, and the bot against two `rule`.
python -m agents.bert evaluate bundled --data dataset
[ -f arena.json ] || python -m arena --games 21000 --bots bert:bundled,rule,rule --seed 2602 --json arena.json
