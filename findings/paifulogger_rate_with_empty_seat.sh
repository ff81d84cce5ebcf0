#!/usr/bin/env bash
# PaifuLogger 0.4.2 (PyPI), Tenhou's logs as tables: the rate change of a three-player game counts the empty fourth seat.
#
# Tenhou adds (mean rate of the table - own rate) / 40 to what a place is worth. In a three-player mjlog `rate` has four entries,
# the last 1500.00 of nobody. PaifuLogger adds all four and divides by 3.
#
# Surprising: it knows three-player games (own places, own sheet, 30, 0 and -30 for the places), and the change is about right. It is
# 2.5 too high for everyone, in every game: what the three win and lose adds up to 7.5 instead of nothing, a second place gains.
#
# Seen (a mjlog of three players with one rate, then the header of a phoenix-room game):
#     rate 2000.00,2000.00,2000.00,1500.00: +8.50 +2.50 -3.50, together 7.50 (0 is right)
#     rate 2185.17,2205.31,2183.33,1500.00: +2.53 -3.57 +8.54, together 7.50 (0 is right)
#
# What to do: subtract 2.5 from `rate_change` of three-player games (1500 / 3 / 40 * 0.2), in files that are written already too.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check PaifuLogger==0.4.2

cat >probe.py <<'PROBE'
import xml.etree.ElementTree as ET

from paifulogger.paifu import Paifu

MJLOG = """<mjloggm ver="2.3"><SHUFFLE seed="" ref=""/><GO type="185" lobby="0"/>
<UN n0="a" n1="b" n2="c" n3="" dan="17,17,16,0" rate="{rate}" sx="M,M,M,C"/><TAIKYOKU oya="0"/>
<INIT seed="0,0,0,1,2,0" ten="350,350,350,0" oya="0"/>
<RYUUKYOKU type="yao9" ba="0,0" sc="350,0,350,0,350,0,0,0" owari="{owari}"/></mjloggm>"""
GAMES = [
    ("2000.00,2000.00,2000.00,1500.00", "592,54.0,230,-17.0,228,-37.0,0,0.0"),
    ("2185.17,2205.31,2183.33,1500.00", "481,8.0,-64,-66.0,633,58.0,0,0.0"),
]
URL = "https://tenhou.net/0/?log=2018110809gm-00b9-0000-00a79b89&tw={}"
for rate, owari in GAMES:
    root = ET.fromstring(MJLOG.format(rate=rate, owari=owari))
    changes = [Paifu(URL.format(seat), root).rate_change for seat in range(3)]
    print(f"rate {rate}:", " ".join(f"{change:+.2f}" for change in changes) + f", together {sum(changes):.2f} (0 is right)")
PROBE
cat >expected.txt <<'EXPECTED'
rate 2000.00,2000.00,2000.00,1500.00: +8.50 +2.50 -3.50, together 7.50 (0 is right)
rate 2185.17,2205.31,2183.33,1500.00: +2.53 -3.57 +8.54, together 7.50 (0 is right)
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: PaifuLogger 0.4.2 computes other rate changes of three-player games" >&2
    exit 1
}
