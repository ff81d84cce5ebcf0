"""Actions in words."""

from __future__ import annotations

from engine.common.complete import require_rows
from engine.mjai.messages import Message
from engine.mjai.schema import REPLIES

# Type of an mjai action -> its words; {pai} is its tile.
WORDS = {
    "dahai": "discard {pai}",
    "reach": "riichi",
    "pon": "pon {pai}",
    "daiminkan": "daiminkan {pai}",
    "ankan": "ankan {pai}",
    "kakan": "kakan {pai}",
    "nukidora": "nukidora",
    "ryukyoku": "kyushu kyuhai",
    "none": "pass",
}
require_rows("WORDS of agents/review/words.py", (*WORDS, "hora"), REPLIES, "REPLIES of engine/mjai/schema.py")


def action_words(action: Message) -> str:
    """An mjai action in words: ``discard 5p``."""
    if action["type"] == "hora":
        return "tsumo" if action["actor"] == action["target"] else "ron"
    return WORDS[action["type"]].format(pai=action.get("pai") or (action.get("consumed") or [""])[0])
