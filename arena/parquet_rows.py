"""What happened in each round and at each decision, as rows of numbers: collected where games are played.

Rows are NumPy records, which travel to the parent with the other results of a chunk; `arena.parquet` names what the
numbers mean, and writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from arena.schedule import Game
from engine.actions import MASK_WORDS
from engine.rules import RIICHI_STICK, TOTAL_POINTS
from engine.ryukyoku import EXHAUSTIVE, RYUKYOKU
from engine.scoring.yaku import N_YAKU
from engine.table import N_SEATS, TABLE
from engine.tables import Policy, Tables

TSUMO, RON = 0, len(RYUKYOKU) + 1  # how a round ended, in addition to the numbers of engine.ryukyoku
MAX_WINS = 2  # of a round

WHERE = [("wall", "i4"), ("rotation", "i1"), ("round", "i2"), ("seat", "i1"), ("bot", "i1")]
OF_ROUND = [
    ("round_wind", "i1"), ("dealer", "i1"), ("honba", "i2"), ("sticks", "i2"),  # of the table, at the start
    ("result", "i1"),  # TSUMO, RON, or a number of engine.ryukyoku
    ("start_score", "i4"), ("change", "i4"),  # with riichi sticks
    ("won", "?"), ("han", "i2"), ("fu", "i2"), ("yakuman", "i1"), ("yaku", "i1", N_YAKU), ("points", "i4"),
    ("win_turn", "i1"),
    ("dealt_in", "?"), ("deal_in_points", "i4"),
    ("riichi_turn", "i1"),  # 0: no riichi
    ("open", "?"), ("nukidora", "i1"), ("tenpai", "?"),
]  # fmt: skip
ROUND = np.dtype([*WHERE, *OF_ROUND])
# Of games from records; a player is -1 if nobody's (`arena.record_games.RecordedGame`).
RECORDED_ROUND = np.dtype([("game", "i4"), ("round", "i2"), ("seat", "i1"), ("player", "i4"), *OF_ROUND])
DECISION = np.dtype([
    *WHERE, ("phase", "i1"), ("turn", "i1"), ("draws_left", "i1"), ("shanten", "i1"), ("n_legal", "i1"),
    ("action", "i1"),
])  # fmt: skip


KINDS = {"rounds": ROUND, "decisions": DECISION}


class RowCollector:
    """Collects the rows of some games: an `arena.observers.GameObserver`.

    ``rows``: by their kind. ``rounds`` has a row for each round and seat, ``decisions`` one for each answer.
    """

    def __init__(self, games: Sequence[Game], tables: Tables, kinds: Sequence[str]) -> None:
        """``kinds``: of KINDS."""
        self.rows: dict[str, list[np.ndarray]] = {kind: [] for kind in kinds}
        self._tables = tables
        self._bytes = tables.raw.reshape(len(games), TABLE.itemsize)  # NumPy copies bytes faster than nested records
        self._walls = np.array([game.wall for game in games])
        self._rotations = np.array([game.rotation for game in games])
        self._seats = np.array([game.seats for game in games])
        self._round = np.zeros(len(games), dtype=np.int16)  # the number of the round of each table

    def rounds_ended(self, tables: np.ndarray) -> None:
        """See GameObserver."""
        if "rounds" in self.rows:
            rows = np.zeros((len(tables), N_SEATS), dtype=ROUND)
            self._place(rows, np.repeat(tables, N_SEATS).reshape(-1, N_SEATS), np.arange(N_SEATS))
            fill_rounds(rows, self._bytes[tables].view(TABLE)[:, 0])
            self.rows["rounds"].append(rows.reshape(-1))
        self._round[tables] += 1

    def games_ended(self) -> None:
        """See GameObserver."""

    def watched(self, policies: list[Policy]) -> list[Policy]:
        """Return the policies, with their answers recorded as rows if these are wanted."""
        return [self._watched(policy) for policy in policies] if "decisions" in self.rows else policies

    def _watched(self, policy: Policy) -> Policy:
        def act(views: np.ndarray) -> np.ndarray:
            actions = np.asarray(policy(views))
            if actions.shape == views.shape:  # any other answer is a fault, which `Tables` reports
                self._decide(views, actions)
            return actions

        return act

    def _decide(self, views: np.ndarray, actions: np.ndarray) -> None:
        n = len(views)
        rows, seats = np.zeros(n, dtype=DECISION), self._tables.asked_seats[:n]
        self._place(rows, self._tables.asked_tables[:n], seats)
        every, own = np.arange(n), views["seat"]
        rows["phase"], rows["draws_left"], rows["action"] = views["phase"], views["live_left"], actions
        rows["turn"] = own["n_river"][every, seats] + 1
        rows["shanten"] = own["shanten"][every, seats]
        legal = views["legal"][every, seats].reshape(n, MASK_WORDS)
        rows["n_legal"] = np.bitwise_count(legal).sum(axis=1)
        self.rows["decisions"].append(rows)

    def _place(self, rows: np.ndarray, tables: np.ndarray, seats: np.ndarray) -> None:
        """Write which game, seat and bot the rows belong to; ``tables`` and ``seats``: of each row."""
        rows["wall"], rows["rotation"], rows["round"] = (
            of_table[tables] for of_table in (self._walls, self._rotations, self._round)
        )
        rows["seat"] = seats
        rows["bot"] = self._seats[tables, seats]


def in_order(kind: str, parts: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """All rows of a kind, game by game in the order of the schedule; the rows of a game keep their order."""
    rows = np.concatenate([np.empty(0, KINDS[kind]), *chain.from_iterable(parts)])
    return rows[np.lexsort((rows["rotation"], rows["wall"]))]


def fill_rounds(rows: np.ndarray, ended: np.ndarray) -> None:
    """Write what happened in the rounds that have just ended on the tables ``ended``, TABLE[n].

    ``rows``: ROUND or RECORDED_ROUND[n, seats].
    """
    seat, wins = ended["seat"], ended["win"]
    of_tables = {
        "round_wind": ended["round_wind"],
        "dealer": ended["dealer"],
        "honba": ended["honba"],
        "sticks": (TOTAL_POINTS - seat["start_score"].sum(axis=1)) // RIICHI_STICK,
        "result": np.where(ended["n_wins"] == 0, ended["ryukyoku_reason"], RON),
    }
    for name, values in of_tables.items():
        rows[name] = values[:, None]
    rows["start_score"] = seat["start_score"]
    rows["change"] = seat["score"] - seat["start_score"]
    rows["riichi_turn"] = np.where(seat["riichi"] > 0, seat["riichi_river"] + 1, 0)
    rows["open"], rows["nukidora"] = seat["open"], seat["nukidora"]
    rows["tenpai"] = (ended["ryukyoku_tenpai"] > 0) & (ended["ryukyoku_reason"] == EXHAUSTIVE)[:, None]
    for number in range(MAX_WINS):
        of = np.flatnonzero(ended["n_wins"] > number)
        fill_wins(rows, of, wins[of, number], seat["n_river"])


def fill_wins(rows: np.ndarray, of: np.ndarray, wins: np.ndarray, n_river: np.ndarray) -> None:
    """Write ``wins``, WIN[m], of the tables with the indices ``of``; ``n_river``: discards, [tables, seats]."""
    winner, target = wins["winner"], wins["target"]
    by_tsumo = winner == target
    rows["won"][of, winner] = True
    for name in ("han", "fu", "yakuman", "yaku", "points"):
        rows[name][of, winner] = wins[name]
    rows["win_turn"][of, winner] = np.maximum(n_river[of, winner] + by_tsumo, 1)
    rows["result"][of[by_tsumo]] = TSUMO
    losers, loser = of[~by_tsumo], target[~by_tsumo]
    rows["dealt_in"][losers, loser] = True
    rows["deal_in_points"][losers, loser] += wins["points"][~by_tsumo]
