#!/usr/bin/env bash
# ms-api 0.11.100 (PyPI), Mahjong Soul's protobuf: in records turned into JSON the first seat and East 1 do not exist.
#
# The messages of a Mahjong Soul record (RecordNewRound, RecordBaBei, RecordDiscardTile, ...) are proto3 with plain fields:
# a field of value 0 or false is not in the binary at all. MessageToDict of the protobuf runtime then leaves it out: what
# the first player does has no `seat`, East 1 has neither `chang` nor `ju` nor `ben`, a discard from the
# hand has no `moqie`. Names change as well: left_tile_count becomes leftTileCount, though `saltSha256` stays.
#
# Surprising: `record["seat"]` works for two of three players and fails for the third, so a parser written against a
# few lines of one player's moves looks right. The schema's own names have underscores, and a
# parser written against it finds neither the zeros nor those names.
#
# Seen:
#     north by seat 0: {}
#     north by seat 1: {'seat': 1}
#     East 1 begins: leftTileCount scores
#     with both options: chang=0 ju=0 ben=0 left_tile_count=55
#
# What to do: always_print_fields_with_no_presence=True and preserving_proto_field_name=True, or read the fields of
# the message itself, where a missing seat is 0.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ms-api==0.11.100 protobuf==7.36.2

cat >probe.py <<'PROBE'
import ms.protocol_pb2 as pb
from google.protobuf.json_format import MessageToDict

for seat in (0, 1):
    sent = pb.RecordBaBei(seat=seat, moqie=False).SerializeToString()
    print(f"north by seat {seat}:", MessageToDict(pb.RecordBaBei.FromString(sent)))
start = pb.RecordNewRound(chang=0, ju=0, ben=0, scores=[35000] * 3, left_tile_count=55)
print("East 1 begins:", *sorted(MessageToDict(start)))
whole = MessageToDict(start, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
print("with both options:", *(f"{name}={whole[name]}" for name in ("chang", "ju", "ben", "left_tile_count")))
PROBE
cat >expected.txt <<'EXPECTED'
north by seat 0: {}
north by seat 1: {'seat': 1}
East 1 begins: leftTileCount scores
with both options: chang=0 ju=0 ben=0 left_tile_count=55
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: ms-api 0.11.100's records become another JSON" >&2
    exit 1
}
