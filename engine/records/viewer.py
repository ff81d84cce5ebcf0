"""Links to Tenhou's record viewer, which replays a round in the browser."""

from __future__ import annotations

import json
from urllib.parse import quote

from engine.records.model import FILE, GameRecord, record_errors
from engine.records.tenhou_json import document_of

VIEWER = "https://tenhou.net/5/#json="


def viewer_link(record: GameRecord, number: int) -> str:
    """Return the URL that shows the round with this number, from 1; the URL contains the round itself.

    Raises RecordError if the record lacks required data, such as the hands of all players, or a name cannot be
    encoded in UTF-8.
    """
    document = document_of(record)
    shown = {key: document[key] for key in ("title", "name", "rule")} | {"log": [document["log"][number - 1]]}
    with record_errors(record.source, FILE):
        return VIEWER + quote(json.dumps(shown, ensure_ascii=False, separators=(",", ":")), safe=",:")
