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

TALLIES: dict[str, str] = {}  # name -> definition


def _tally(name: str, definition: str) -> int:
    """Add a tally; returns where it is in a row."""
    if name in TALLIES:
        raise ImportError(f"arena/tallies/names.py has {name} twice")
    TALLIES[name] = definition
    return len(TALLIES) - 1


DAMA_WINS = _tally("dama_wins", "hands won closed and without riichi")
RIICHI_WINS = _tally("riichi_wins", "hands won in riichi")
CALL_WINS = _tally("call_wins", "hands won with an open meld")
DAMA_WIN_POINTS = _tally("dama_win_points", "value of these hands, without honba and riichi sticks: of `dama_wins`")
RIICHI_WIN_POINTS = _tally("riichi_win_points", "of `riichi_wins`")
CALL_WIN_POINTS = _tally("call_win_points", "of `call_wins`")
MANGANS = _tally("mangans", "hands won that count as mangan")
HANEMANS = _tally("hanemans", "as haneman")
BAIMANS = _tally("baimans", "as baiman")
SANBAIMANS = _tally("sanbaimans", "as sanbaiman")
YAKUMANS = _tally("yakumans", "as yakuman, kazoe yakuman included")
KAZOE_YAKUMANS = _tally("kazoe_yakumans", "as kazoe yakuman: 13 han or more without a yakuman by pattern")
DORA_HAN = _tally("dora_han", "dora in hands won that the dora indicators show, Norths set aside included")
RED_DORA_HAN = _tally("red_dora_han", "red fives in hands won")
URA_DORA_HAN = _tally("ura_dora_han", "ura dora in hands won")
NUKIDORA_HAN = _tally("nukidora_han", "nukidora in hands won")
DAMA_DEAL_INS = _tally("dama_deal_ins", "hands that others won on a tile of this bot, closed and without riichi")
RIICHI_DEAL_INS = _tally("riichi_deal_ins", "likewise, in riichi")
CALL_DEAL_INS = _tally("call_deal_ins", "likewise, with an open meld")
DAMA_DEAL_IN_POINTS = _tally(
    "dama_deal_in_points", "value of these hands, without honba and riichi sticks: of `dama_deal_ins`"
)
RIICHI_DEAL_IN_POINTS = _tally("riichi_deal_in_points", "of `riichi_deal_ins`")
CALL_DEAL_IN_POINTS = _tally("call_deal_in_points", "of `call_deal_ins`")
DEAL_INS_IN_RIICHI = _tally(
    "deal_ins_in_riichi", "rounds in which others won on a tile of this bot while it was in riichi itself"
)
DEAL_INS_OPEN = _tally("deal_ins_open", "likewise, while it had an open meld")
TSUMO_LOSSES = _tally("tsumo_losses", "rounds that another won by tsumo")
TSUMO_LOSS_POINTS = _tally("tsumo_loss_points", "points paid in these rounds, honba included")
FIRST_RIICHIS = _tally("first_riichis", "accepted riichi while nobody else was in riichi")
CHASING_RIICHIS = _tally("chasing_riichis", "accepted riichi while another was in riichi")
CHASED_RIICHIS = _tally("chased_riichis", "first riichi of a round that another chased")
DOUBLE_RIICHIS = _tally("double_riichis", "accepted double riichi")
FURITEN_RIICHIS = _tally(
    "furiten_riichis", "accepted riichi with a wait that was discarded before, or by the riichi discard"
)
FIRST_RIICHI_WINS = _tally("first_riichi_wins", "hands won of `first_riichis`")
CHASING_RIICHI_WINS = _tally("chasing_riichi_wins", "hands won of `chasing_riichis`")
RIICHI_WAIT_KINDS = _tally("riichi_wait_kinds", "kinds that complete the hand in riichi, added up")
RIICHI_WAIT_TILES = _tally(
    "riichi_wait_tiles",
    "tiles of these kinds that were neither in the hand nor face up on the table after the riichi discard, added up",
)
RIICHI_DRAWS = _tally("riichi_draws", "rounds with an accepted riichi that nobody won")
RIICHI_NET = _tally("riichi_net", "change of the score in rounds with an accepted riichi, the stick included, added up")
TENPAIS = _tally("tenpais", "rounds in which the hand was tenpai at some time")
EXHAUSTIVE_DRAWS = _tally("exhaustive_draws", "rounds that ended without tiles to draw")
DRAWS_TENPAI = _tally("draws_tenpai", "of these, with a tenpai hand")
DRAW_POINTS = _tally("draw_points", "points that `exhaustive_draws` paid (less those they cost), added up")
NAGASHIS = _tally("nagashis", "nagashi mangan")
KYUSHUS = _tally("kyushus", "rounds ended by kyushu kyuhai of this bot")
FOUR_KAN_DRAWS = _tally("four_kan_draws", "rounds that ended by the fourth kan of more than one player")
PONS = _tally("pons", "pon")
DAIMINKANS = _tally("daiminkans", "daiminkan")
ANKANS = _tally("ankans", "ankan")
KAKANS = _tally("kakans", "kakan, robbed ones included")
CALL_NET = _tally("call_net", "change of the score in rounds with an open meld, added up")
DEALER_ROUNDS = _tally("dealer_rounds", "rounds as the dealer")
DEALER_WINS = _tally("dealer_wins", "hands won as the dealer")
DEALER_WIN_POINTS = _tally("dealer_win_points", "value of these hands, without honba and riichi sticks")
DEALER_DEAL_INS = _tally("dealer_deal_ins", "rounds as the dealer in which others won on a tile of this bot")
DEALER_DEAL_IN_POINTS = _tally("dealer_deal_in_points", "value of what others won in these rounds")
DEALER_REPEATS = _tally(
    "dealer_repeats", "rounds as the dealer that it won or that ended so that it repeats, the last round of a game too"
)
DEALER_TSUMO_LOSSES = _tally("dealer_tsumo_losses", "rounds as the dealer that another won by tsumo")
DEALER_TSUMO_LOSS_POINTS = _tally("dealer_tsumo_loss_points", "points paid in these rounds, honba included")
BUSTING_WINS = _tally("busting_wins", "rounds won at the end of which another score was below zero")
BEHIND_GAMES = _tally("behind_games", "games in which a round began 20,000 points or more behind the first place")
COMEBACKS = _tally("comebacks", "of these, finished first")
N_SINGLE = len(TALLIES)
# Tallies by how a hand is won: compiled code adds DAMA, RIICHI or CALL to the first of three.
BY_STATE = (
    (DAMA_WINS, RIICHI_WINS, CALL_WINS),
    (DAMA_WIN_POINTS, RIICHI_WIN_POINTS, CALL_WIN_POINTS),
    (DAMA_DEAL_INS, RIICHI_DEAL_INS, CALL_DEAL_INS),
    (DAMA_DEAL_IN_POINTS, RIICHI_DEAL_IN_POINTS, CALL_DEAL_IN_POINTS),
)
if any(group != (group[0] + DAMA, group[0] + RIICHI, group[0] + CALL) for group in BY_STATE):
    raise ImportError("arena/tallies/names.py: the three tallies of each group of BY_STATE must follow each other")

COMEBACK = 20_000  # points behind the first

RYANMEN, KANCHAN, PENCHAN, SHANPON, TANKI, MULTI = range(len(SHAPES))

# Histograms of points have a bin for each hundred below mangan of the dealer, from there on one for each thousand:
# all values of limit hands are whole thousands. The last bin is for that value and more.
FINE_POINTS, MOST_POINTS = 12_000, 96_000
N_FINE = FINE_POINTS // 100
N_POINTS = N_FINE + (MOST_POINTS - FINE_POINTS) // 1_000 + 1
N_TURNS = MAX_RIVER + 1

BLOCKS: dict[str, tuple[int, str]] = {}  # name -> size, definition
STARTS: dict[str, int] = {}


def _block(name: str, size: int, definition: str) -> int:
    """Add a block; returns where it begins in a row."""
    STARTS[name] = N_SINGLE + sum(size for size, _ in BLOCKS.values())
    BLOCKS[name] = size, definition
    return STARTS[name]


WINS_BY_YAKU = _block("wins_by_yaku", N_YAKU, "hands won with each yaku")
RIICHIS_BY_SHAPE = _block("riichis_by_shape", len(SHAPES), "accepted riichi by the shape of the wait")
RIICHI_WINS_BY_SHAPE = _block("riichi_wins_by_shape", len(SHAPES), "hands won of these")
GAMES_BY_PLACES = _block(
    "games_by_places", len(PLACES), "games by the place at the start of the last round and the place at its end"
)
WINS_BY_POINTS = _block("wins_by_points", N_POINTS, "hands won by their value, without honba and riichi sticks")
DEAL_INS_BY_POINTS = _block(
    "deal_ins_by_points", N_POINTS, "hands that others won on a tile of this bot by their value, likewise"
)
WINS_BY_TURN = _block(
    "wins_by_turn", N_TURNS, "hands won by the turn: the winner's discards before, and one for a tsumo; at least 1"
)
RIICHIS_BY_TURN = _block("riichis_by_turn", N_TURNS, "accepted riichi by the turn: the number of the riichi discard")
TENPAIS_BY_TURN = _block(
    "tenpais_by_turn", N_TURNS, "`tenpais` by the turn: the discards until the hand was first tenpai, 0 as dealt"
)
N_TALLIES = N_SINGLE + sum(size for size, _ in BLOCKS.values())

# The names of tallies that stand for themselves -> where they are; those of a block as in ``wins_by_yaku.tanyao``.
INDEX: dict[str, int] = {name: index for index, name in enumerate(TALLIES)}
if _wrong := [name for name, at in (INDEX | STARTS).items() if globals().get(name.upper()) != at]:
    raise ImportError(f"arena/tallies/names.py: {_wrong[0]!r} must be that of the constant {_wrong[0].upper()}")
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
