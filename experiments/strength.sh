#!/usr/bin/env bash
# The strength scales of bots that come along: measures how far the dial is turned for how many points, and checks that
# with fresh games. On two cores shared with other work: rule 8 minutes and its check 13, efficiency 2 minutes and its
# check 4, bert (GAMES=1020) 40 minutes and its check as long. docs/strength.md has the results.
#
#   [GAMES=40000] bash experiments/strength.sh [BOT...]
#
# It can be interrupted; the same command continues where it stopped. A bot that has a scale is not measured again:
# delete agents/strength/scales/BOT.json for that.
set -euo pipefail
cd "$(dirname "$0")/.."

for bot in "${@:-rule}"; do
  if [ ! -f "agents/strength/scales/$bot.json" ]; then
    python -m arena calibrate --games "${GAMES:-40000}" "$bot"
  fi
  python -m arena calibrate --check --games "${GAMES:-24000}" "$bot"
done
