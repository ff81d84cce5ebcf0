#!/usr/bin/env bash
# sb3-contrib 2.9.2 (PyPI): a mask that allows nothing makes every action equally likely, without an error.
#
# MaskableCategorical (the distribution of MaskablePPO) sets the logits of forbidden actions to -1e8. If all are forbidden
# they are all equal after that, and softmax gives the uniform distribution: what the network preferred is lost, and each
# illegal action is sampled with the same probability. Its entropy, the bonus of the loss, is zero for such a row.
#
# Surprising: "everything forbidden" is the natural mask of a seat that has nothing to decide (others answer a discard,
# the game is over), and libraries for turn-based games produce it. Nothing fails; the environment is handed
# a random illegal action, and what it does about that is learned from.
#
# Seen (logits 0, 1, 2; probabilities, entropy):
#     no mask: [0.09, 0.245, 0.665] 0.832
#     one allowed: [0.0, 0.0, 1.0] 0.0
#     none allowed: [0.333, 0.333, 0.333] 0.0
#
# What to do: never step the learner where it has no choice, or give such states one harmless legal action ("pass"), and
# assert mask.any() in action_masks().
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 stable-baselines3==2.9.2 sb3-contrib==2.9.2

cat >probe.py <<'PROBE'
import numpy as np
import torch
from sb3_contrib.common.maskable.distributions import MaskableCategorical

for name, mask in (("no mask", None), ("one allowed", [False, False, True]), ("none allowed", [False] * 3)):
    distribution = MaskableCategorical(logits=torch.tensor([[0.0, 1.0, 2.0]]))
    distribution.apply_masking(None if mask is None else np.array([mask]))
    chances = [round(float(chance), 3) for chance in distribution.probs[0]]
    print(f"{name}: {chances} {abs(round(float(distribution.entropy()[0]), 3))}")
PROBE
cat >expected.txt <<'EXPECTED'
no mask: [0.09, 0.245, 0.665] 0.832
one allowed: [0.0, 0.0, 1.0] 0.0
none allowed: [0.333, 0.333, 0.333] 0.0
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: sb3-contrib 2.9.2 treats a mask without any action otherwise" >&2
    exit 1
}
