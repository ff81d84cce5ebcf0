#!/usr/bin/env bash
# tensoul 0.1.8 (PyPI), Mahjong Soul's records to tenhou.net/6: a ron on a north that is set aside is paid by another player.
#
# Mahjong Soul lets players win on the north that an opponent sets aside (RecordBaBei). The parser remembers who
# dealt the last tile at a discard, at an ankan and at a kakan, but not at a north. A ron on it is written as one
# from whoever discarded last, and that player pays; with no discard before it, seat index -1 pays, the last one.
#
# Surprising: the same ron on the tile of a kakan is right. The record looks whole: the sum of the payments is zero, and the
# next round starts from the scores that the server sent. Only these scores contradict the payment.
#
# Seen (seat 0 discards, seat 1 draws and sets aside a north or makes a kakan, seat 2 wins 1000 points with it):
#     ron on a kakan: pays seat 1 [0, -1000, 1000, 0]
#     ron on a north: pays seat 0 [-1000, 0, 1000, 0]
#
# What to do: take payments from the scores at the start of the next round where a hand ends after an "f44".
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check tensoul==0.1.8 ms-api==0.11.100 protobuf==7.36.2

cat >probe.py <<'PROBE'
import ms.protocol_pb2 as pb
from tensoul.parser import MajsoulPaipuParser

DEALT = [
    "1m 9m 1p 1p 2p 3p 5p 6p 7p 8p 9p 1z 2z 9s".split(),
    "1m 9m 2p 3p 4p 7p 7p 1s 1s 2s 3s 5z 5z".split(),
    "2s 3s 4s 5s 6s 7s 8s 8s 8s 3z 3z 4z 4z".split(),
]


def won(name, *taken):
    parser = MajsoulPaipuParser()
    start = pb.RecordNewRound(scores=[35000] * 3, doras=["1p"], left_tile_count=55)
    for seat, tiles in enumerate(DEALT):
        getattr(start, f"tiles{seat}").extend(tiles)
    yaku = [pb.FanInfo(id=2, val=1)]
    ron = pb.RecordHule(hules=[pb.HuleInfo(seat=2, point_rong=1000, count=1, fu=40, fans=yaku)])
    for record in (start, pb.RecordDiscardTile(seat=0, tile="9s"), *taken, ron):
        parser.feed(record)
    _, payments, (_, payer, *_) = parser.getvalue()[0].dump()[-1]
    print(f"{name}: pays seat {payer} {payments}")


draw = pb.RecordDealTile(seat=1, tile="4z")
won("ron on a kakan", draw, pb.RecordAnGangAddGang(seat=1, type=2, tiles="4z"))
won("ron on a north", draw, pb.RecordBaBei(seat=1))
PROBE
cat >expected.txt <<'EXPECTED'
ron on a kakan: pays seat 1 [0, -1000, 1000, 0]
ron on a north: pays seat 0 [-1000, 0, 1000, 0]
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: tensoul 0.1.8 has another player pay for a ron on a north" >&2
    exit 1
}
