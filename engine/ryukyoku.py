"""The ways a round ends without a win (ryukyoku), and the name of each in every format, as one table."""

from __future__ import annotations

from typing import NamedTuple

NO_RYUKYOKU, EXHAUSTIVE, KYUSHU_KYUHAI, FOUR_KANS, NAGASHI_MANGAN = range(5)


class Ryukyoku(NamedTuple):
    """One way; `number` is the TABLE.ryukyoku_reason."""

    number: int
    english: str
    mjai: str  # `reason` of mjai's ryukyoku
    mjlog: str | None  # `type` of Tenhou's RYUUKYOKU tag; None for an exhaustive draw
    titles: tuple[str, ...]  # in tenhou.net/6 records; the first one is written
    riichienv: str  # `reason` in RiichiEnv's dialect of mjai


# Titles of tenhou.net/6 records: Tenhou's, then those of Mahjong Soul exports in other languages. The two with 全員 say
# who is tenpai: everyone or no one.
_EXHAUSTIVE = ("流局", "全員聴牌", "全員不聴", "Ryuukyoku", "Exhaustive Draw")
_KYUSHU_KYUHAI = ("九種九牌", "Kyuushu Kyuuhai", "Nine Terminal Abortion")
_FOUR_KANS = ("四槓散了", "四開槓", "Suukaikan", "Four Kan Abortion")
_NAGASHI_MANGAN = ("流し満貫", "Nagashi Mangan", "Mangan at Draw")

# Three players have no other abortive draw.
RYUKYOKU: tuple[Ryukyoku, ...] = (
    Ryukyoku(EXHAUSTIVE, "no tiles left", "fanpai", None, _EXHAUSTIVE, "exhaustive_draw"),
    Ryukyoku(KYUSHU_KYUHAI, "kyushu kyuhai", "kyushukyuhai", "yao9", _KYUSHU_KYUHAI, "kyushu_kyuhai"),
    Ryukyoku(FOUR_KANS, "four kans", "sukaikan", "kan4", _FOUR_KANS, "suukansansen"),
    Ryukyoku(NAGASHI_MANGAN, "nagashi mangan", "nagashimangan", "nm", _NAGASHI_MANGAN, "nagashi_mangan"),
)
# Mjai names of the draws in which no points change hands.
ABORTIVE = frozenset(way.mjai for way in RYUKYOKU if way.number in (KYUSHU_KYUHAI, FOUR_KANS))
# The end of a round when the record does not say how it ended, in mjai and in tenhou.net/6.
UNKNOWN_MJAI, UNKNOWN_JAPANESE = "unknown", "不明"

# mjai reasons of RiichiEnv and of jansou; jansou uses the names of mjlog and one more.
MJAI_BY_ALIAS: dict[str, str] = {way.riichienv: way.mjai for way in RYUKYOKU}
MJAI_BY_ALIAS |= {way.mjlog: way.mjai for way in RYUKYOKU if way.mjlog} | {"exhaustive": "fanpai"}
MJAI_BY_MJLOG: dict[str | None, str] = {way.mjlog: way.mjai for way in RYUKYOKU}
MJAI_BY_TITLE: dict[str, str] = {title: way.mjai for way in RYUKYOKU for title in way.titles}
TITLE_BY_MJAI: dict[str, str] = {way.mjai: way.titles[0] for way in RYUKYOKU} | {UNKNOWN_MJAI: UNKNOWN_JAPANESE}
ENGLISH_BY_MJAI: dict[str, str] = {way.mjai: way.english for way in RYUKYOKU}
