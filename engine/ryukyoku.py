"""The ways a round ends without a win (ryukyoku), and the name of each in every format, as one table."""

from __future__ import annotations

from typing import NamedTuple

NO_RYUKYOKU, EXHAUSTIVE, KYUSHU_KYUHAI, FOUR_KANS, NAGASHI_MANGAN = range(5)


class Ryukyoku(NamedTuple):
    """One way; `number` is the TABLE.ryukyoku_reason."""

    number: int
    english: str
    mjai: str  # `reason` of mjai's ryukyoku
    mjlog: str | None  # `type` of Tenhou's RYUUKYOKU tag, which an exhaustive draw lacks
    japanese: tuple[str, ...]  # titles in tenhou.net/6 records; the first one is written
    riichienv: str  # `reason` in RiichiEnv's dialect of mjai


# Three players have no other abortive draw. The two titles with 全員 tell who is tenpai: all, or nobody.
RYUKYOKU: tuple[Ryukyoku, ...] = (
    Ryukyoku(EXHAUSTIVE, "no tiles left", "fanpai", None, ("流局", "全員聴牌", "全員不聴"), "exhaustive_draw"),
    Ryukyoku(KYUSHU_KYUHAI, "kyushu kyuhai", "kyushukyuhai", "yao9", ("九種九牌",), "kyushu_kyuhai"),
    Ryukyoku(FOUR_KANS, "four kans", "sukaikan", "kan4", ("四槓散了", "四開槓"), "suukansansen"),
    Ryukyoku(NAGASHI_MANGAN, "nagashi mangan", "nagashimangan", "nm", ("流し満貫",), "nagashi_mangan"),
)

MJAI_BY_RIICHIENV: dict[str, str] = {way.riichienv: way.mjai for way in RYUKYOKU}
MJAI_BY_MJLOG: dict[str | None, str] = {way.mjlog: way.mjai for way in RYUKYOKU}
MJAI_BY_JAPANESE: dict[str, str] = {title: way.mjai for way in RYUKYOKU for title in way.japanese}
JAPANESE_BY_MJAI: dict[str, str] = {way.mjai: way.japanese[0] for way in RYUKYOKU}
ENGLISH_BY_MJAI: dict[str, str] = {way.mjai: way.english for way in RYUKYOKU}
