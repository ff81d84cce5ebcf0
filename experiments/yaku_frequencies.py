"""Measures how often each hand type of the bot `yaku` is won, and prints the table of agents/bots/yaku/frequencies.py.

    python experiments/yaku_frequencies.py [GAMES]

`rule` plays GAMES hanchan (3,000 by default) against itself; a few minutes on one core.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agents.bots.yaku.targets import NAMES
from agents.registry import make
from engine.common.progress import Progress
from engine.scoring import yaku
from engine.seeds import derive_seed
from engine.table import GAME_OVER, N_SEATS
from engine.tables import Tables

TABLES = 100  # played in lock step
# hand type -> the yaku of which one makes it
YAKU_OF = {
    "riichi": (yaku.RIICHI, yaku.DOUBLE_RIICHI),
    "yakuhai": (yaku.HAKU, yaku.HATSU, yaku.CHUN, yaku.SEAT_WIND, yaku.ROUND_WIND),
    "tanyao": (yaku.TANYAO,),
    "pinfu": (yaku.PINFU,),
    "honitsu": (yaku.HONITSU,),
    "chinitsu": (yaku.CHINITSU,),
    "chiitoitsu": (yaku.CHIITOI,),
    "toitoi": (yaku.TOITOI,),
    "sanankou": (yaku.SANANKOU, yaku.SUUANKOU, yaku.SUUANKOU_TANKI),
    "iipeikou": (yaku.IIPEIKOU, yaku.RYANPEIKOU),
    "ittsu": (yaku.ITTSU,),
    "chanta": (yaku.CHANTA,),
    "junchan": (yaku.JUNCHAN,),
    "honroutou": (yaku.HONROUTOU,),
    "sanshoku doukou": (yaku.SANSHOKU_DOUKOU,),
    "shousangen": (yaku.SHOUSANGEN, yaku.DAISANGEN),
    "kokushi": (yaku.KOKUSHI, yaku.KOKUSHI_13),
}


def count_wins(games: int) -> tuple[int, Counter[str]]:
    """How many hands were won, and how many of each hand type."""
    wins, of_type, bot = 0, Counter[str](), make("rule")
    with Progress("games", games) as progress:
        for first in range(0, games, TABLES):
            n = min(TABLES, games - first)
            tables = Tables([derive_seed(0, "wall", first + k) for k in range(n)])
            finished = 0
            for ended in tables.play([bot.act], np.zeros((n, N_SEATS), dtype=np.int8)):
                for table in tables.records[ended]:
                    for win in table["win"][: table["n_wins"]]:
                        wins += 1
                        of_type.update(name for name in NAMES if (win["yaku"][list(YAKU_OF[name])] > 0).any())
                over = int(np.count_nonzero(tables.records["phase"] == GAME_OVER))
                progress.advance(over - finished)
                finished = over
    return wins, of_type


if __name__ == "__main__":
    n_games = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    n_wins, counts = count_wins(n_games)
    print(f"# {n_wins:,} wins in {n_games:,} hanchan")
    print("FREQUENCIES = {")
    for name in NAMES:
        print(f'    "{name}": {counts[name] / n_wins:.5f},')
    print("}")
