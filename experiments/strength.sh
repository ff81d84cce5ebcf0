#!/usr/bin/env bash
# The strength scales of bots: measures how far the dial is turned for how many points, and checks that with fresh games.
# On two cores that others used as well: rule 9 minutes and its check 7, efficiency 1 minute and its check 2.
# A network plays some 50 times slower than rule: give it an evening, or fewer GAMES; 3,000 leave intervals of 65 points.
# docs/strength.md has the results.
#
#   [GAMES=30000] bash experiments/strength.sh [BOT...]
#
# It can be interrupted; the same command continues where it stopped. A bot that has a scale is not measured again:
# delete agents/strength/scales/BOT.json for that.
set -euo pipefail
cd "$(dirname "$0")/.."

for bot in "${@:-rule}"; do
  if [ ! -f "agents/strength/scales/$bot.json" ]; then
    python -m arena calibrate --games "${GAMES:-30000}" "$bot"
  fi
  python -m arena calibrate --check --games "${GAMES:-20000}" "$bot"
done
