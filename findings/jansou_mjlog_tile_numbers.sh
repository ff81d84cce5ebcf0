#!/usr/bin/env bash
# jansou 0.14.0 (PyPI): in the mjlog it writes, one tile number stands for many tiles.
#
# In Tenhou's mjlog the numbers 0 to 135 name the single copies: each occurs once in a deal, and a discard is told to be the
# drawn tile or one from the hand by its number. dump_mjlog() writes every tile of a kind with the same number (red fives
# apart), so one player's hand holds "36,36" for a pair of 1p, and a north set aside is always m="32",
# whose high bits name tile 0, 1m. The type in <GO> is that of an east game (bit 8 is missing) for a hanchan too.
#
# Surprising: the text has mjlog's form and loads in jansou itself, which converts numbers to kinds and assumes a hanchan.
# A reader that tracks copies by their numbers removes the wrong tile or finds it twice.
#
# Seen (first deal of a hanchan, seed 5: numbers written, different ones; north; GO type, its bit for a hanchan):
#     hands 39 numbers, 21 different
#     norths m="32" only
#     GO type 17, hanchan bit 0
#
# What to do: renumber the copies before the file goes to another program, or exchange mjai instead.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jansou==0.14.0

cat >probe.py <<'PROBE'
import re

from jansou.core.rules import preset
from jansou.game.agents import SmartEfficiencyAgent
from jansou.game.environment import Environment
from jansou.io.from_game import paifu_from_game
from jansou.io.mjlog import dump_mjlog

env = Environment(preset("tenhou-3p"), seed=5)
env.run([SmartEfficiencyAgent(seed=number) for number in range(3)])
text = dump_mjlog(paifu_from_game(env))

deal = re.search("<INIT[^>]*>", text).group()
numbers = ",".join(re.findall('hai[0-2]="([^"]*)"', deal)).split(",")
print(f"hands {len(numbers)} numbers, {len(set(numbers))} different")
# A meld whose low six bits are 32 is a north set aside.
norths = {int(code) for code in re.findall('<N who="[0-2]" m="([0-9]+)"', text) if int(code) & 0x3F == 0x20}
print("norths", ", ".join(f'm="{code}"' for code in sorted(norths)), "only")
kind = int(re.search('<GO type="([0-9]+)"', text).group(1))
print(f"GO type {kind}, hanchan bit {kind & 8}")
PROBE
cat >expected.txt <<'EXPECTED'
hands 39 numbers, 21 different
norths m="32" only
GO type 17, hanchan bit 0
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: jansou 0.14.0 numbers the tiles of its mjlog otherwise" >&2
    exit 1
}
