"""The tallies: integers for each bot, which add up over games. All statistics of `arena.tallies.columns` follow.

A row of tallies is int[N_TALLIES]: first those of `TALLIES`, one each, then the blocks of `BLOCKS`, which count by
yaku, by shape of the wait, by places, or by a value (`HISTOGRAMS`, from which medians follow).
"""

from __future__ import annotations

import numpy as np

from arena.tallies.labels import PLACES, SHAPES, YAKU_LABELS
from engine.compiling import inner
from engine.scoring.yaku import N_YAKU
from engine.table import MAX_RIVER

# How a hand is won, or was when others won on its tile: the offset from the first of three tallies.
DAMA, RIICHI, CALL = range(3)

TALLIES: dict[str, str] = {
    "dama_wins": "hands won closed and without riichi",
    "riichi_wins": "hands won in riichi",
    "call_wins": "hands won with an open meld",
    "dama_win_points": "value of these hands, without honba and riichi sticks: of `dama_wins`",
    "riichi_win_points": "of `riichi_wins`",
    "call_win_points": "of `call_wins`",
    "mangans": "hands won that count as mangan",
    "hanemans": "as haneman",
    "baimans": "as baiman",
    "sanbaimans": "as sanbaiman",
    "yakumans": "as yakuman, kazoe yakuman included",
    "kazoe_yakumans": "as kazoe yakuman: 13 han or more without a yakuman by pattern",
    "dora_han": "dora in hands won that the dora indicators show, Norths set aside included",
    "red_dora_han": "red fives in hands won",
    "ura_dora_han": "ura dora in hands won",
    "nukidora_han": "nukidora in hands won",
    "dama_deal_ins": "hands that others won on a tile of this player, closed and without riichi",
    "riichi_deal_ins": "likewise, in riichi",
    "call_deal_ins": "likewise, with an open meld",
    "dama_deal_in_points": "value of these hands, without honba and riichi sticks: of `dama_deal_ins`",
    "riichi_deal_in_points": "of `riichi_deal_ins`",
    "call_deal_in_points": "of `call_deal_ins`",
    "deal_ins_in_riichi": "rounds in which others won on a tile of this player while it was in riichi itself",
    "deal_ins_open": "likewise, while it had an open meld",
    "tsumo_losses": "rounds that another won by tsumo",
    "tsumo_loss_points": "points paid in these rounds, honba included",
    "first_riichis": "accepted riichi while nobody else was in riichi",
    "chasing_riichis": "accepted riichi while another was in riichi",
    "chased_riichis": "first riichi of a round that another chased",
    "double_riichis": "accepted double riichi",
    "furiten_riichis": "accepted riichi with a wait that was discarded before, or by the riichi discard",
    "first_riichi_wins": "hands won of `first_riichis`",
    "chasing_riichi_wins": "hands won of `chasing_riichis`",
    "riichi_wait_kinds": "kinds that complete the hand in riichi, added up",
    "riichi_wait_tiles": "tiles of these kinds that were neither in the hand nor face up on the table after the riichi "
    "discard, added up",
    "riichi_draws": "rounds with an accepted riichi that nobody won",
    "riichi_net": "change of the score in rounds with an accepted riichi, the stick included, added up",
    "tenpais": "rounds in which the hand was tenpai at some time",
    "exhaustive_draws": "rounds that ended without tiles to draw",
    "draws_tenpai": "of these, with a tenpai hand",
    "draw_points": "points that `exhaustive_draws` paid (less those they cost), added up",
    "nagashis": "nagashi mangan",
    "kyushus": "rounds ended by kyushu kyuhai of this player",
    "four_kan_draws": "rounds that ended by the fourth kan of more than one player",
    "pons": "pon",
    "daiminkans": "daiminkan",
    "ankans": "ankan",
    "kakans": "kakan, robbed ones included",
    "call_net": "change of the score in rounds with an open meld, added up",
    "dealer_rounds": "rounds as the dealer",
    "dealer_wins": "hands won as the dealer",
    "dealer_win_points": "value of these hands, without honba and riichi sticks",
    "dealer_deal_ins": "rounds as the dealer in which others won on a tile of this player",
    "dealer_deal_in_points": "value of what others won in these rounds",
    "dealer_repeats": "rounds as the dealer that it won or that ended so that it repeats, the last round of a game too",
    "dealer_tsumo_losses": "rounds as the dealer that another won by tsumo",
    "dealer_tsumo_loss_points": "points paid in these rounds, honba included",
    "busting_wins": "rounds won at the end of which another score was below zero",
    "behind_games": "games in which a round began 20,000 points or more behind the first place",
    "comebacks": "of these, finished first",
}
N_SINGLE = len(TALLIES)
(
    DAMA_WINS, RIICHI_WINS, CALL_WINS, DAMA_WIN_POINTS, RIICHI_WIN_POINTS, CALL_WIN_POINTS,
    MANGANS, HANEMANS, BAIMANS, SANBAIMANS, YAKUMANS, KAZOE_YAKUMANS,
    DORA_HAN, RED_DORA_HAN, URA_DORA_HAN, NUKIDORA_HAN,
    DAMA_DEAL_INS, RIICHI_DEAL_INS, CALL_DEAL_INS, DAMA_DEAL_IN_POINTS, RIICHI_DEAL_IN_POINTS, CALL_DEAL_IN_POINTS,
    DEAL_INS_IN_RIICHI, DEAL_INS_OPEN, TSUMO_LOSSES, TSUMO_LOSS_POINTS,
    FIRST_RIICHIS, CHASING_RIICHIS, CHASED_RIICHIS, DOUBLE_RIICHIS, FURITEN_RIICHIS, FIRST_RIICHI_WINS,
    CHASING_RIICHI_WINS, RIICHI_WAIT_KINDS, RIICHI_WAIT_TILES, RIICHI_DRAWS, RIICHI_NET,
    TENPAIS, EXHAUSTIVE_DRAWS, DRAWS_TENPAI, DRAW_POINTS, NAGASHIS, KYUSHUS, FOUR_KAN_DRAWS,
    PONS, DAIMINKANS, ANKANS, KAKANS, CALL_NET,
    DEALER_ROUNDS, DEALER_WINS, DEALER_WIN_POINTS, DEALER_DEAL_INS, DEALER_DEAL_IN_POINTS, DEALER_REPEATS,
    DEALER_TSUMO_LOSSES, DEALER_TSUMO_LOSS_POINTS,
    BUSTING_WINS, BEHIND_GAMES, COMEBACKS,
) = range(N_SINGLE)  # fmt: skip

COMEBACK = 20_000  # points behind the first

RYANMEN, KANCHAN, PENCHAN, SHANPON, TANKI, MULTI = range(len(SHAPES))

# Histograms of points have a bin for each hundred below mangan of the dealer, from there on one for each thousand:
# all values of limit hands are whole thousands. The last bin is for that value and more.
FINE_POINTS, MOST_POINTS = 12_000, 96_000
N_FINE = FINE_POINTS // 100
N_POINTS = N_FINE + (MOST_POINTS - FINE_POINTS) // 1_000 + 1
N_TURNS = MAX_RIVER + 1

BLOCKS: dict[str, tuple[int, str]] = {  # name -> size, definition
    "wins_by_yaku": (N_YAKU, "hands won with each yaku"),
    "riichis_by_shape": (len(SHAPES), "accepted riichi by the shape of the wait"),
    "riichi_wins_by_shape": (len(SHAPES), "hands won of these"),
    "games_by_places": (len(PLACES), "games by the place at the start of the last round and the place at its end"),
    "wins_by_points": (N_POINTS, "hands won by their value, without honba and riichi sticks"),
    "deal_ins_by_points": (N_POINTS, "hands that others won on a tile of this player by their value, likewise"),
    "wins_by_turn": (N_TURNS, "hands won by the turn: the winner's discards before, and one for a tsumo; at least 1"),
    "riichis_by_turn": (N_TURNS, "accepted riichi by the turn: the number of the riichi discard"),
    "tenpais_by_turn": (N_TURNS, "`tenpais` by the turn: the discards until the hand was first tenpai, 0 as dealt"),
}
STARTS: dict[str, int] = {}
N_TALLIES = N_SINGLE
for _name, (_size, _) in BLOCKS.items():
    STARTS[_name] = N_TALLIES
    N_TALLIES += _size
(
    WINS_BY_YAKU, RIICHIS_BY_SHAPE, RIICHI_WINS_BY_SHAPE, GAMES_BY_PLACES, WINS_BY_POINTS, DEAL_INS_BY_POINTS,
    WINS_BY_TURN, RIICHIS_BY_TURN, TENPAIS_BY_TURN,
) = STARTS.values()  # fmt: skip

# The names of tallies that stand for themselves -> where they are; those of a block as in ``wins_by_yaku.tanyao``.
INDEX: dict[str, int] = {name: index for index, name in enumerate(TALLIES)}
INDEX |= {f"wins_by_yaku.{label}": WINS_BY_YAKU + number for number, label in YAKU_LABELS.items()}
INDEX |= {f"riichis_by_shape.{shape}": RIICHIS_BY_SHAPE + at for at, shape in enumerate(SHAPES)}
INDEX |= {f"riichi_wins_by_shape.{shape}": RIICHI_WINS_BY_SHAPE + at for at, shape in enumerate(SHAPES)}
INDEX |= {f"games_by_places.{places}": GAMES_BY_PLACES + at for at, places in enumerate(PLACES)}


@inner
def points_bin(points: int) -> int:
    """The bin of a histogram of points."""
    if points < FINE_POINTS:
        return points // 100
    return N_FINE + (min(points, MOST_POINTS) - FINE_POINTS) // 1_000


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
    return tallies[..., STARTS[name] : STARTS[name] + BLOCKS[name][0]]
