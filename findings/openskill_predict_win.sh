#!/usr/bin/env bash
# openskill 6.2.0 (PyPI): predict_win gives a player who is sure to win 2/3 with three players, 1/2 with four.
#
# With two players predict_win is the probability of winning. With N it is, for each player, the sum of the
# probabilities of beating each other one, divided by the number of pairs, N (N - 1) / 2: the expected share of all pairwise
# wins. It sums to 1 and sorts the players rightly, but its largest value is 2 / N, and the two last of three who are certain to
# lose have 1/6 each. predict_rank returns the same numbers beside the rank.
#
# Surprising: the names and the sum say probability of first place. Compared with how often somebody wins (calibration,
# a log-likelihood, the choice of the next pairing) a good rating of a three-player game looks far too cautious.
#
# Seen (skill 100 against 0, sigma 1):
#     2 players: 1.0 0.0
#     3 players: 0.6667 0.1667 0.1667
#     4 players: 0.5 0.1667 0.1667 0.1667
#     rank of the first of 3: 1 with 0.6667
#
# What to do: draw performances from N(mu, sigma² + beta²) and count first places. For the mean placement take N less the
# value times N (N - 1) / 2.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openskill==6.2.0

cat >probe.py <<'PROBE'
from openskill.models import PlackettLuce

model = PlackettLuce()
for players in (2, 3, 4):
    teams = [[model.rating(mu=skill, sigma=1)] for skill in (100, *[0] * (players - 1))]
    print(f"{players} players:", *(round(chance, 4) for chance in model.predict_win(teams)))
    if players == 3:
        (rank, chance), *_ = model.predict_rank(teams)
print(f"rank of the first of 3: {rank} with {chance:.4f}")
PROBE
cat >expected.txt <<'EXPECTED'
2 players: 1.0 0.0
3 players: 0.6667 0.1667 0.1667
4 players: 0.5 0.1667 0.1667 0.1667
rank of the first of 3: 1 with 0.6667
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: openskill 6.2.0 predicts other chances" >&2
    exit 1
}
