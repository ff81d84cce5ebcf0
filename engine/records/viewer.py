"""Links to Tenhou's viewer of records, which replays a round in the browser."""

from __future__ import annotations

import json
from urllib.parse import quote

from engine.records.model import GameRecord
from engine.records.tenhou_json import document_of

VIEWER = "https://tenhou.net/5/#json="


def viewer_link(record: GameRecord, number: int) -> str:
    """The address that shows the round with this number, from 1; the round itself is in the address.

    Raises RecordError if the record lacks what the viewer needs, such as the hands of all players.
    """
    document = document_of(record)
    shown = {key: document[key] for key in ("title", "name", "rule")} | {"log": [document["log"][number - 1]]}
    return VIEWER + quote(json.dumps(shown, ensure_ascii=False, separators=(",", ":")), safe=",:")
