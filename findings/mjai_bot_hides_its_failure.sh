#!/usr/bin/env bash
# mjai 0.2.1 (PyPI): its base class turns every fault of a bot into the answer `none`, even where no pass exists.
#
# Bot.react() catches every exception of think(), prints its text to stderr without a traceback, and answers
# {"type":"none"}. That is an illegal answer on one's own turn, and a silent pass where the bot meant to win or call.
#
# Surprising: a typing mistake looks like a server's fault ("illegal action") or like weak play. The printed text is
# str(exception) alone, which for a KeyError is the key in quotes; neither file nor line are told, and
# "Brief info:" is followed by None, because brief_info() prints and returns nothing.
#
# Seen (own turn, 14 tiles, think() raises KeyError("dora")):
#     answer {"type":"none"}
#     stderr: ===========================================
#     stderr: Exception: 'dora'
#     stderr: Brief info:
#     stderr: None
#
# What to do: wrap the body of think() in try/except that prints traceback.format_exc() and ends the process, and let the
# server treat `none` on a bot's own turn as a fault of the bot.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mjai==0.2.1

cat >probe.py <<'PROBE'
import contextlib
import io
import json

from mjai import Bot


class Broken(Bot):
    def think(self):
        return {}["dora"]


HAND = ["1m", "9m", "1p", "2p", "3p", "5pr", "6p", "1s", "2s", "3s", "E", "S", "N"]
events = [
    {"type": "start_game", "names": ["A", "B", "C", "D"], "id": 0},
    {"type": "start_kyoku", "bakaze": "E", "dora_marker": "2s", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0,
     "scores": [25000] * 4, "tehais": [HAND, *[["?"] * 13] * 3]},
    {"type": "tsumo", "actor": 0, "pai": "N"},
]
said = io.StringIO()
with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
    answer = Broken(player_id=0).react(json.dumps(events))
print("answer", answer)
for line in filter(None, said.getvalue().splitlines()):
    print("stderr:", line)
PROBE
cat >expected.txt <<'EXPECTED'
answer {"type":"none"}
stderr: ===========================================
stderr: Exception: 'dora'
stderr: Brief info:
stderr: None
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: mjai 0.2.1's Bot tells of exceptions otherwise" >&2
    exit 1
}
