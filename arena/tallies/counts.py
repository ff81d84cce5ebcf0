"""The tallies: integers for each bot, which add up over games. All statistics of `arena.tallies.columns` follow.

A row of tallies is int[N_TALLIES]: first those of `TALLIES`, one each, then the blocks of `BLOCKS`, which count by
yaku, by shape of the wait, by places, or by a value (`HISTOGRAMS`, from which medians follow). All are sums over the
rows of rounds, see `engine.statistics.rounds`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arena.tallies.labels import PLACES, SHAPES, YAKU_LABELS
from engine.rules import RIICHI_STICK
from engine.ryukyoku import FOUR_KANS
from engine.scoring.points import MANGAN_BASIC, YAKUMAN_BASIC
from engine.scoring.yaku import DORA, N_YAKU, NUKI_DORA, RED_DORA, URA_DORA
from engine.statistics.counts import Count, Of, drawn, exhausted, in_riichi
from engine.statistics.rounds import CALL, DAMA, NEVER, RIICHI, TSUMO
from engine.table import MAX_RIVER, N_SEATS

SEATS = np.arange(N_SEATS)


def won_as(played: int, field: str = "won") -> Of:
    """A field of the rows of wins with a hand that is ``played`` so, else 0."""
    return lambda rows: rows[field] * (rows["won"] & (rows["played"] == played))


def won_with(yaku: int) -> Of:
    """The han of a yaku in a hand won."""
    return lambda rows: rows["yaku"][..., yaku]


def limit(least: int, below: int = 1 << 30) -> Of:
    """Wins with base points from ``least`` on, ``below`` others."""
    return lambda rows: (rows["basic"] >= least) & (rows["basic"] < below)


def lost_to(played: int) -> Of:
    """How many hands that are ``played`` so were won on a tile of a seat."""
    return lambda rows: ((rows["lost_points"] > 0) & (rows["lost_to"] == played)).sum(axis=-1)


def points_lost_to(played: int) -> Of:
    """The value of these hands."""
    return lambda rows: (rows["lost_points"] * (rows["lost_to"] == played)).sum(axis=-1)


def is_dealer(rows: np.ndarray) -> np.ndarray:
    """Whether each seat is the dealer."""
    return rows["dealer"] == SEATS


def lost_by_tsumo(rows: np.ndarray) -> np.ndarray:
    """Whether another seat won by tsumo."""
    return (rows["result"] == TSUMO) & ~rows["won"]


def result(rows: np.ndarray) -> np.ndarray:
    """The change of each score by what ended the round: without the own riichi stick, paid before."""
    return rows["change"] + RIICHI_STICK * in_riichi(rows)


def busts_others(rows: np.ndarray) -> np.ndarray:
    """Whether a seat won, and the score of another was below zero then."""
    below = rows["start_score"] + rows["change"] < 0
    return rows["won"] & (below.sum(axis=-1, keepdims=True) > below)


def is_last(rows: np.ndarray) -> np.ndarray:
    """Whether the game ended with the round."""
    return rows["final_place"] > 0


HELD = (  # of how a hand is played: the name, and what begins the names of its tallies
    ("closed and without riichi", "dama", DAMA), ("in riichi", "riichi", RIICHI), ("with an open meld", "call", CALL),
)  # fmt: skip
TALLIES: dict[str, Count] = {
    **{f"{name}_wins": Count(f"hands won {text}", won_as(played)) for text, name, played in HELD},
    **{
        f"{name}_win_points": Count(
            f"value of these hands, without honba and riichi sticks: of `{name}_wins`", won_as(played, "points")
        )
        for _, name, played in HELD
    },
    "mangans": Count("hands won that count as mangan", limit(MANGAN_BASIC, MANGAN_BASIC + 1)),
    "hanemans": Count("as haneman", limit(MANGAN_BASIC + 1, 2 * MANGAN_BASIC)),
    "baimans": Count("as baiman", limit(2 * MANGAN_BASIC, 3 * MANGAN_BASIC)),
    "sanbaimans": Count("as sanbaiman", limit(3 * MANGAN_BASIC, YAKUMAN_BASIC)),
    "yakumans": Count("as yakuman, kazoe yakuman included", limit(YAKUMAN_BASIC)),
    "kazoe_yakumans": Count(
        "as kazoe yakuman: 13 han or more without a yakuman by pattern",
        lambda rows: (rows["basic"] >= YAKUMAN_BASIC) & (rows["yakuman"] == 0),
    ),
    "dora_han": Count("dora in hands won that the dora indicators show, Norths set aside included", won_with(DORA)),
    "red_dora_han": Count("red fives in hands won", won_with(RED_DORA)),
    "ura_dora_han": Count("ura dora in hands won", won_with(URA_DORA)),
    "nukidora_han": Count("nukidora in hands won", won_with(NUKI_DORA)),
    **{
        f"{name}_deal_ins": Count(f"hands that others won on a tile of this player, {text}", lost_to(played))
        for text, name, played in HELD
    },
    **{
        f"{name}_deal_in_points": Count(
            f"value of these hands, without honba and riichi sticks: of `{name}_deal_ins`", points_lost_to(played)
        )
        for _, name, played in HELD
    },
    "deal_ins_in_riichi": Count(
        "rounds in which others won on a tile of this player while it was in riichi itself",
        lambda rows: rows["dealt_in"] & in_riichi(rows),
    ),
    "deal_ins_open": Count("likewise, while it had an open meld", lambda rows: rows["dealt_in"] & rows["open"]),
    "tsumo_losses": Count("rounds that another won by tsumo", lost_by_tsumo),
    "tsumo_loss_points": Count(
        "points paid in these rounds, honba included", lambda rows: -result(rows) * lost_by_tsumo(rows)
    ),
    "first_riichis": Count(
        "accepted riichi while nobody else was in riichi", lambda rows: in_riichi(rows) & ~rows["chasing"]
    ),
    "chasing_riichis": Count("accepted riichi while another was in riichi", lambda rows: rows["chasing"]),
    "chased_riichis": Count("first riichi of a round that another chased", lambda rows: rows["chased"]),
    "double_riichis": Count("accepted double riichi", lambda rows: rows["double_riichi"]),
    "furiten_riichis": Count(
        "accepted riichi with a wait that was discarded before, or by the riichi discard", lambda rows: rows["furiten"]
    ),
    "first_riichi_wins": Count(
        "hands won of `first_riichis`", lambda rows: rows["won"] & in_riichi(rows) & ~rows["chasing"]
    ),
    "chasing_riichi_wins": Count("hands won of `chasing_riichis`", lambda rows: rows["won"] & rows["chasing"]),
    "riichi_wait_kinds": Count(
        "kinds that complete the hand in riichi, added up", lambda rows: rows["wait_kinds"]
    ),
    "riichi_wait_tiles": Count(
        "tiles of these kinds that were neither in the hand nor face up on the table after the riichi discard, added "
        "up",
        lambda rows: rows["wait_tiles"],
    ),
    "riichi_draws": Count(
        "rounds with an accepted riichi that nobody won", lambda rows: in_riichi(rows) & drawn(rows)
    ),
    "riichi_net": Count(
        "change of the score in rounds with an accepted riichi, the stick included, added up",
        lambda rows: rows["change"] * in_riichi(rows),
    ),
    "tenpais": Count("rounds in which the hand was tenpai at some time", lambda rows: rows["tenpai_turn"] != NEVER),
    "exhaustive_draws": Count("rounds that ended without tiles to draw", exhausted),
    "draws_tenpai": Count("of these, with a tenpai hand", lambda rows: rows["tenpai"]),
    "draw_points": Count(
        "points that `exhaustive_draws` paid (less those they cost), added up",
        lambda rows: result(rows) * exhausted(rows),
    ),
    "nagashis": Count("nagashi mangan", lambda rows: rows["nagashi"]),
    "kyushus": Count("rounds ended by kyushu kyuhai of this player", lambda rows: rows["kyushu"]),
    "four_kan_draws": Count(
        "rounds that ended by the fourth kan of more than one player", lambda rows: rows["result"] == FOUR_KANS
    ),
    "pons": Count("pon", lambda rows: rows["pons"]),
    "daiminkans": Count("daiminkan", lambda rows: rows["daiminkans"]),
    "ankans": Count("ankan", lambda rows: rows["ankans"]),
    "kakans": Count("kakan, robbed ones included", lambda rows: rows["kakans"]),
    "call_net": Count(
        "change of the score in rounds with an open meld, added up", lambda rows: rows["change"] * rows["open"]
    ),
    "dealer_rounds": Count("rounds as the dealer", is_dealer),
    "dealer_wins": Count("hands won as the dealer", lambda rows: rows["won"] & is_dealer(rows)),
    "dealer_win_points": Count(
        "value of these hands, without honba and riichi sticks", lambda rows: rows["points"] * is_dealer(rows)
    ),
    "dealer_deal_ins": Count(
        "rounds as the dealer in which others won on a tile of this player",
        lambda rows: rows["dealt_in"] & is_dealer(rows),
    ),
    "dealer_deal_in_points": Count(
        "value of what others won in these rounds", lambda rows: rows["deal_in_points"] * is_dealer(rows)
    ),
    "dealer_repeats": Count(
        "rounds as the dealer that it won or that ended so that it repeats, the last round of a game too",
        lambda rows: rows["repeats"],
    ),
    "dealer_tsumo_losses": Count(
        "rounds as the dealer that another won by tsumo", lambda rows: lost_by_tsumo(rows) & is_dealer(rows)
    ),
    "dealer_tsumo_loss_points": Count(
        "points paid in these rounds, honba included",
        lambda rows: -result(rows) * (lost_by_tsumo(rows) & is_dealer(rows)),
    ),
    "busting_wins": Count("rounds won at the end of which another score was below zero", busts_others),
    "behind_games": Count(
        "games in which a round began 20,000 points or more behind the first place",
        lambda rows: is_last(rows) & rows["behind"],
    ),
    "comebacks": Count(
        "of these, finished first", lambda rows: (rows["final_place"] == 1) & rows["behind"]
    ),
}  # fmt: skip
N_SINGLE = len(TALLIES)

# Histograms of points have a bin for each hundred below mangan of the dealer, from there on one for each thousand:
# all values of limit hands are whole thousands. The last bin is for that value and more.
FINE_POINTS, MOST_POINTS = 12_000, 96_000
N_FINE = FINE_POINTS // 100
N_POINTS = N_FINE + (MOST_POINTS - FINE_POINTS) // 1_000 + 1
N_TURNS = MAX_RIVER + 1
NO_BIN = -1


class Block(NamedTuple):
    """Tallies that count by something: ``bins`` gives the places in it that each row adds one to, NO_BIN for none."""

    size: int
    text: str
    bins: Of  # [n, seats], or several for each seat: [n, seats, k]


def only(where: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """The ``bins`` there, NO_BIN elsewhere."""
    return np.where(where, bins, NO_BIN)


def points_bin(points: np.ndarray) -> np.ndarray:
    """The bin of a histogram of points."""
    coarse = N_FINE + (np.minimum(points, MOST_POINTS) - FINE_POINTS) // 1_000
    return np.where(points < FINE_POINTS, points // 100, coarse)


BLOCKS: dict[str, Block] = {
    "wins_by_yaku": Block(N_YAKU, "hands won with each yaku", lambda rows: only(rows["yaku"] > 0, np.arange(N_YAKU))),
    "riichis_by_shape": Block(
        len(SHAPES), "accepted riichi by the shape of the wait", lambda rows: only(in_riichi(rows), rows["wait"])
    ),
    "riichi_wins_by_shape": Block(
        len(SHAPES), "hands won of these", lambda rows: only(in_riichi(rows) & rows["won"], rows["wait"])
    ),
    "games_by_places": Block(
        len(PLACES),
        "games by the place at the start of the last round and the place at its end",
        lambda rows: only(is_last(rows), N_SEATS * (rows["start_place"] - 1) + rows["final_place"] - 1),
    ),
    "wins_by_points": Block(
        N_POINTS,
        "hands won by their value, without honba and riichi sticks",
        lambda rows: only(rows["won"], points_bin(rows["points"])),
    ),
    "deal_ins_by_points": Block(
        N_POINTS,
        "hands that others won on a tile of this player by their value, likewise",
        lambda rows: only(rows["lost_points"] > 0, points_bin(rows["lost_points"])),
    ),
    "wins_by_turn": Block(
        N_TURNS,
        "hands won by the turn: the winner's discards before, and one for a tsumo; at least 1",
        lambda rows: only(rows["won"], rows["win_turn"]),
    ),
    "riichis_by_turn": Block(
        N_TURNS,
        "accepted riichi by the turn: the number of the riichi discard",
        lambda rows: only(in_riichi(rows), rows["riichi_turn"]),
    ),
    "tenpais_by_turn": Block(
        N_TURNS,
        "`tenpais` by the turn: the discards until the hand was first tenpai, 0 as dealt",
        lambda rows: only(rows["tenpai_turn"] != NEVER, rows["tenpai_turn"]),
    ),
}
STARTS: dict[str, int] = {}
N_TALLIES = N_SINGLE
for _name, _block in BLOCKS.items():
    STARTS[_name] = N_TALLIES
    N_TALLIES += _block.size

# The names of tallies that stand for themselves -> where they are; those of a block as in ``wins_by_yaku.tanyao``.
INDEX: dict[str, int] = {name: index for index, name in enumerate(TALLIES)}
INDEX |= {f"wins_by_yaku.{label}": STARTS["wins_by_yaku"] + number for number, label in YAKU_LABELS.items()}
INDEX |= {f"riichis_by_shape.{shape}": STARTS["riichis_by_shape"] + at for at, shape in enumerate(SHAPES)}
INDEX |= {f"riichi_wins_by_shape.{shape}": STARTS["riichi_wins_by_shape"] + at for at, shape in enumerate(SHAPES)}
INDEX |= {f"games_by_places.{places}": STARTS["games_by_places"] + at for at, places in enumerate(PLACES)}

# The least value of each bin: of points, and of turns.
POINTS_OF = np.concatenate([np.arange(0, FINE_POINTS, 100), np.arange(FINE_POINTS, MOST_POINTS + 1, 1_000)])
TURNS_OF = np.arange(N_TURNS)
HISTOGRAMS: dict[str, np.ndarray] = {
    "wins_by_points": POINTS_OF,
    "deal_ins_by_points": POINTS_OF,
    "wins_by_turn": TURNS_OF,
    "riichis_by_turn": TURNS_OF,
    "tenpais_by_turn": TURNS_OF,
}


def block(tallies: np.ndarray, name: str) -> np.ndarray:
    """A block of tallies: [..., N_TALLIES] -> [..., size]."""
    return tallies[..., STARTS[name] : STARTS[name] + BLOCKS[name].size]


def add_rounds(rows: np.ndarray, games: np.ndarray, owners: np.ndarray, tallies: np.ndarray) -> None:
    """Add rounds to ``tallies``, int[n, N_TALLIES]; the rounds of a game are added at once.

    ``rows``: ROUND[rounds, seats] (`engine.statistics.rounds`). ``games``: the game of each round, int[rounds].
    ``owners``: to which row of tallies each seat adds, int[rounds, seats].
    """
    rows = rows.copy()
    behind = np.zeros((games.max(initial=-1) + 1, N_SEATS), dtype=np.bool_)
    np.logical_or.at(behind, games, rows["behind"])
    rows["behind"] = behind[games]  # in any round of the game
    for at, count in enumerate(TALLIES.values()):
        tallies[:, at] += sums(count.of(rows), owners, len(tallies))
    for name, each in BLOCKS.items():
        bins = each.bins(rows).astype(np.int64).reshape(*rows.shape, -1)
        there = np.nonzero(bins != NO_BIN)
        np.add.at(tallies, (owners[there[:2]], STARTS[name] + bins[there]), 1)


def sums(values: np.ndarray, owners: np.ndarray, n: int) -> np.ndarray:
    """The sum of the ``values`` of each of ``n`` owners, both of any shape: int64[n]."""
    return np.bincount(owners.ravel(), values.ravel(), n).astype(np.int64)
