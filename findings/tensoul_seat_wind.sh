#!/usr/bin/env bash
# tensoul 0.1.8 (PyPI), Mahjong Soul's records to tenhou.net/6: the yaku of the seat wind names the wrong wind after East 1.
#
# The wind in the name is that of seat + round, where it is seat - round: the dealer of East 2 wins with East and the
# record says South. With three players East 2 and 3 even have a north, which nobody's seat wind is.
#
# Surprising: in East 1 all names are right, and the value is right everywhere. A program that compares the yaku of a
# record with its own, or counts them, finds hands that have no triplet of the wind they are named for.
#
# Seen (each seat wins with its seat wind):
#     East 1: 自風 東, 自風 南, 自風 西
#     East 2: 自風 南, 自風 西, 自風 北
#     East 3: 自風 西, 自風 北, 自風 東
#
# What to do: read 自風 without its wind.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check tensoul==0.1.8 ms-api==0.11.100 protobuf==7.36.2

cat >probe.py <<'PROBE'
import ms.protocol_pb2 as pb
from tensoul.parser import MajsoulPaipuParser

SEAT_WIND = 10  # Mahjong Soul's number of the yaku
WINNER = "1p 2p 3p 4p 5p 6p 1s 2s 3s 9s 9s".split()
OTHERS = ["7p 7p 8p 8p 9p 9p 4s 4s 5s 5s 6s 6s 1m".split(), "1p 2p 3p 7p 8p 9p 4s 5s 6s 7s 8s 1m 1m".split()]


def yaku(dealer, seat):
    """Have `seat` draw the third tile of its seat wind at its first draw; return the name of the yaku."""
    wind = f"{1 + (seat - dealer) % 3}z"
    others = iter(OTHERS)
    start = pb.RecordNewRound(ju=dealer, scores=[35000] * 3, doras=["1p"], left_tile_count=55)
    for player in range(3):
        hand = WINNER + [wind, wind] if player == seat else next(others)
        getattr(start, f"tiles{player}").extend(hand + ["9m"] * (player == dealer))
    records = [start, pb.RecordDiscardTile(seat=dealer, tile="9m")]
    for player in (dealer + 1) % 3, (dealer + 2) % 3, dealer:
        records.append(pb.RecordDealTile(seat=player, tile=wind if player == seat else "9m"))
        if player == seat:
            break
        records.append(pb.RecordDiscardTile(seat=player, tile="9m", moqie=True))
    won = pb.HuleInfo(seat=seat, zimo=True, qinjia=seat == dealer, count=1, fu=30, fans=[pb.FanInfo(id=SEAT_WIND, val=1)])
    won.point_zimo_qin, won.point_zimo_xian = 500, 500 if seat == dealer else 300

    parser = MajsoulPaipuParser()
    for record in [*records, pb.RecordHule(hules=[won])]:
        parser.feed(record)
    return parser.getvalue()[0].dump()[-1][-1][-1].removesuffix("(1飜)")


for dealer in range(3):
    print(f"East {dealer + 1}:", ", ".join(yaku(dealer, seat) for seat in range(3)))
PROBE
cat >expected.txt <<'EXPECTED'
East 1: 自風 東, 自風 南, 自風 西
East 2: 自風 南, 自風 西, 自風 北
East 3: 自風 西, 自風 北, 自風 東
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: tensoul 0.1.8 names other seat winds" >&2
    exit 1
}
