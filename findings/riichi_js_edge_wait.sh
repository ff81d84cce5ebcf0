#!/usr/bin/env bash
# riichi 1.2.0 (npm): an edge wait has no fu, and two yaku are lost beside others.
#
# The package looks for 3 of 123 and 7 of 789 by comparing a tile with a flag, so that only middle and pair waits get their 2 fu.
# Houtei does not count with ippatsu (haitei does), and double riichi does not with a closed kan, nor riichi in its place.
#
# Surprising: no error, and mirrored hands have different points. All three happen in three-player games, where the lost yaku may be
# the only one: the hand is then said to be without yaku. Of 201 recorded three-player wins two had wrong fu and one no houtei.
#
# Seen (wins by ron in South's seat; + is the winning tile, 44z after it a closed kan; in brackets what it should be):
#     middle wait 2s: 40 fu, 1300 points (right)
#     edge wait 3s: 30 fu, 1000 points (40 fu, 1300 points)
#     edge wait 7s: 30 fu, 1000 points (40 fu, 1300 points)
#     riichi houtei: 3 han (right)
#     riichi ippatsu houtei: 3 han (4 han)
#     riichi, closed kan: 1 han (right)
#     double riichi, closed kan: 0 han (2 han)
#
# What to do: add the 2 fu of edge waits and the yaku yourself, or use another package (riichi-ts has none of the three).
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix "$work" riichi@1.2.0 >/dev/null

cat >probe.cjs <<'PROBE'
const Riichi = require("riichi");

const fu = (hand) => `${new Riichi(hand).calc().fu} fu, ${new Riichi(hand).calc().ten} points`;
const han = (hand) => `${new Riichi(hand).calc().han} han`;

console.log(`middle wait 2s: ${fu("99m123456p13789s+2s+r12")} (right)`);
console.log(`edge wait 3s: ${fu("99m123456p12789s+3s+r12")} (40 fu, 1300 points)`);
console.log(`edge wait 7s: ${fu("99m123456p12389s+7s+r12")} (40 fu, 1300 points)`);
console.log(`riichi houtei: ${han("99m123456p12378s+9s+rh12")} (right)`);
console.log(`riichi ippatsu houtei: ${han("99m123456p12378s+9s+rih12")} (4 han)`);
console.log(`riichi, closed kan: ${han("99m123456p78s+9s+44z+r12")} (right)`);
console.log(`double riichi, closed kan: ${han("99m123456p78s+9s+44z+w12")} (2 han)`);
PROBE
cat >expected.txt <<'EXPECTED'
middle wait 2s: 40 fu, 1300 points (right)
edge wait 3s: 30 fu, 1000 points (40 fu, 1300 points)
edge wait 7s: 30 fu, 1000 points (40 fu, 1300 points)
riichi houtei: 3 han (right)
riichi ippatsu houtei: 3 han (4 han)
riichi, closed kan: 1 han (right)
double riichi, closed kan: 0 han (2 han)
EXPECTED

node probe.cjs >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: riichi 1.2.0 scores edge waits, houtei or double riichi in another way" >&2
    exit 1
}
