"""The statistics of a bot beyond the tables that are always printed, in groups; rates are shares of 1.

To add one, add a row; for a new count, see `arena.tallies.counts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from arena.statistic import AtSeat, Mean, Median, Ratio, Statistic, Total
from arena.tallies.labels import PLACES, SHAPES, YAKU_LABELS
from engine.scoring.yaku import YAKU, YAKUMAN_HAN

if TYPE_CHECKING:
    from arena.bot_games import BotGames

Of: TypeAlias = "Statistic[BotGames]"
STATES = {"riichi": "in riichi", "dama": "closed and without riichi", "call": "with an open meld"}
LIMITS = ("mangan", "haneman", "baiman", "sanbaiman", "yakuman")
SEATS = ("east", "south", "west")


def _share(key: str, heading: str, counts: str, per: str, text: str) -> Of:
    return Statistic(key, heading, ".1%", Ratio(counts, per), text, "%")


def _points(key: str, heading: str, counts: str, per: str, text: str) -> Of:
    return Statistic(key, heading, ",.0f", Ratio(counts, per), text, "points")


def _net(key: str, heading: str, counts: str, per: str, text: str) -> Of:
    return Statistic(key, heading, "+,.0f", Ratio(counts, per), text, "points")


def _per(key: str, heading: str, counts: str, per: str, text: str, unit: str = "") -> Of:
    return Statistic(key, heading, ".2f", Ratio(counts, per), text, unit)


def _turns(key: str, heading: str, histogram: str, text: str) -> tuple[Of, Of]:
    mean: Of = Statistic(key, f"{heading}, mean", ".2f", Mean(histogram), f"mean {text}", "turn")
    median: Of = Statistic(f"{key}_median", f"{heading}, median", ".1f", Median(histogram), f"median {text}", "turn")
    return mean, median


def _number(key: str, heading: str, counts: str, text: str) -> Of:
    return Statistic(key, heading, ",", Total(counts), text)


def _first_share(games: BotGames) -> float:
    return float((games.placements == 1).mean())


def _mean_placement(games: BotGames) -> float:
    return float(games.placements.mean())


WON = (
    _share("win_tsumo_share", "by tsumo, % of wins", "tsumos", "wins", "share of wins by tsumo"),
    _share("win_ron_share", "by ron, %", "wins - tsumos", "wins", "share of wins by ron"),
    *(
        _share(f"win_{state}_share", f"{state}, %", f"{state}_wins", "wins", f"share of wins {text}")
        for state, text in STATES.items()
    ),
    Statistic("win_points_median", "points, median", ",.0f", Median("wins_by_points"),
              "median value of the hands won, without honba and riichi sticks", "points"),
    *(
        _points(f"win_points_{state}", f"points, {state}", f"{state}_win_points", f"{state}_wins",
                f"mean value of the hands won {text}, without honba and riichi sticks")
        for state, text in STATES.items()
    ),
    *_turns("win_turn", "turn", "wins_by_turn",
            "turn of the wins: the discards before, and one for a tsumo; at least 1"),
    *(
        _share(f"win_{limit}_share", f"{limit}, %", f"{limit}s", "wins", f"share of wins that count as {limit}")
        for limit in LIMITS
    ),
    _per("win_dora", "dora", "dora_han", "wins", "dora per win, red fives, ura dora and nukidora not included"),
    _per("win_red_dora", "red fives", "red_dora_han", "wins", "red fives per win"),
    _per("win_ura_dora", "ura dora", "ura_dora_han", "wins", "ura dora per win"),
    _per("win_nukidora", "nukidora", "nukidora_han", "wins", "han of nukidora per win; a North set aside that an "
         "indicator shows also counts as dora"),
)  # fmt: skip
RIICHI = (
    _share("riichi_first_share", "first, % of riichi", "first_riichis", "riichis",
           "share of riichi declared while nobody else was in riichi"),
    _share("riichi_chasing_share", "chasing, %", "chasing_riichis", "riichis",
           "share of riichi declared while another was in riichi"),
    _share("riichi_chased_share", "chased, % of first", "chased_riichis", "first_riichis",
           "share of first riichi that another chased"),
    _share("riichi_double_share", "double, %", "double_riichis", "riichis", "share of riichi that are double riichi"),
    _share("riichi_furiten_share", "furiten, %", "furiten_riichis", "riichis",
           "share of riichi with a wait among the own discards, the riichi discard included"),
    *_turns("riichi_turn", "turn", "riichis_by_turn", "turn of riichi: the number of the riichi discard"),
    _share("riichi_win_rate", "won, %", "riichi_wins", "riichis", "share of riichi won"),
    _share("riichi_first_win_rate", "first: won, %", "first_riichi_wins", "first_riichis",
           "share of first riichi won"),
    _share("riichi_chasing_win_rate", "chasing: won, %", "chasing_riichi_wins", "chasing_riichis",
           "share of chasing riichi won"),
    _share("riichi_deal_in_rate", "dealt in, %", "deal_ins_in_riichi", "riichis",
           "share of riichi in which others won on a tile of this player"),
    _share("riichi_draw_rate", "draw, %", "riichi_draws", "riichis", "share of riichi in rounds that nobody won"),
    _net("riichi_net", "points gained", "riichi_net", "riichis",
         "mean change of the score in a round with riichi, sticks and honba included"),
    _share("riichi_ippatsu_rate", "ippatsu, % of wins", "wins_by_yaku.ippatsu", "riichi_wins",
           "share of wins in riichi with ippatsu"),
    _share("riichi_ura_rate", "ura dora, % of wins", "wins_by_yaku.ura_dora", "riichi_wins",
           "share of wins in riichi with ura dora"),
    _per("riichi_ura", "ura dora per win", "ura_dora_han", "riichi_wins", "ura dora per win in riichi"),
    _per("riichi_wait_kinds", "wait, kinds", "riichi_wait_kinds", "riichis",
         "kinds that complete the hand in riichi, with a yaku or not", "kinds"),
    _per("riichi_wait_tiles", "wait, tiles not visible", "riichi_wait_tiles", "riichis",
         "tiles of these kinds that are neither in the hand nor face up on the table after the riichi discard",
         "tiles"),
    *(
        _share(f"riichi_{shape}_share", f"{shape}, %", f"riichis_by_shape.{shape}", "riichis",
               f"share of riichi with a {shape} wait: {text}")
        for shape, text in SHAPES.items()
    ),
    *(
        _share(f"riichi_{shape}_win_rate", f"{shape}: won, %", f"riichi_wins_by_shape.{shape}",
               f"riichis_by_shape.{shape}", f"share of riichi with a {shape} wait that were won")
        for shape in SHAPES
    ),
)  # fmt: skip
HANDS_LOST = "riichi_deal_ins + dama_deal_ins + call_deal_ins"
LOST = (
    *(
        _share(f"deal_in_{state}_share", f"to {state}, % of hands", f"{state}_deal_ins", HANDS_LOST,
               f"share of the hands won on a tile of this player that were {text}; of a double ron each hand counts")
        for state, text in STATES.items()
    ),
    *(
        _points(f"deal_in_points_{state}", f"points, to {state}", f"{state}_deal_in_points", f"{state}_deal_ins",
                f"mean value of these hands that were {text}, without honba and riichi sticks")
        for state, text in STATES.items()
    ),
    Statistic("deal_in_points_median", "points, median", ",.0f", Median("deal_ins_by_points"),
              "median value of all of these hands", "points"),
    _share("deal_in_own_riichi_share", "while in riichi, %", "deal_ins_in_riichi", "deal_ins",
           "share of the deal-ins while in riichi"),
    _share("deal_in_own_call_share", "with an open meld, %", "deal_ins_open", "deal_ins",
           "share of the deal-ins with an open meld"),
    _share("tsumo_loss_rate", "tsumo of others, %", "tsumo_losses", "rounds",
           "share of rounds that another won by tsumo"),
    _points("tsumo_loss_points", "points, to a tsumo", "tsumo_loss_points", "tsumo_losses",
            "mean payment for a tsumo of another, honba included"),
)  # fmt: skip
DRAWN = (
    _share("tenpai_rate", "tenpai, % of rounds", "tenpais", "rounds",
           "share of rounds in which the hand was tenpai at some time"),
    *_turns("tenpai_turn", "turn of tenpai", "tenpais_by_turn",
            "turn of the first tenpai of a round: the discards until then, 0 as dealt"),
    _share("exhaustive_draw_rate", "exhaustive draws, %", "exhaustive_draws", "rounds",
           "share of rounds that ended without tiles to draw, nagashi mangan included"),
    _share("draw_tenpai_rate", "tenpai, % of these", "draws_tenpai", "exhaustive_draws",
           "share of exhaustive draws with a hand in tenpai"),
    _share("draw_noten_rate", "noten, % of these", "exhaustive_draws - draws_tenpai", "exhaustive_draws",
           "share of exhaustive draws with a hand that is not tenpai"),
    _net("draw_points", "points gained", "draw_points", "exhaustive_draws", "mean payment at an exhaustive draw"),
    _number("nagashis", "nagashi mangan", "nagashis", "nagashi mangan"),
    _number("kyushus", "kyushu kyuhai", "kyushus", "rounds ended by kyushu kyuhai of this player"),
    _number("four_kan_draws", "four kans", "four_kan_draws", "rounds that ended by the fourth kan"),
)  # fmt: skip
CALLS = (
    _per("pons", "pon per round", "pons", "rounds", "pon per round"),
    _per("daiminkans", "daiminkan", "daiminkans", "rounds", "daiminkan per round"),
    _per("ankans", "ankan", "ankans", "rounds", "ankan per round"),
    _per("kakans", "kakan", "kakans", "rounds", "kakan per round, robbed ones included"),
    _per("kans", "kans", "daiminkans + ankans + kakans", "rounds", "kans of all kinds per round"),
    _share("call_win_rate", "open: won, %", "call_wins", "calls",
           "share of the rounds with an open meld that were won"),
    _share("call_deal_in_rate", "open: dealt in, %", "deal_ins_open", "calls",
           "share of the rounds with an open meld in which others won on a tile of this player"),
    _net("call_net", "open: points gained", "call_net", "calls",
         "mean change of the score in a round with an open meld, sticks and honba included"),
)  # fmt: skip
DEALER = (
    _share("dealer_rate", "rounds as the dealer, %", "dealer_rounds", "rounds", "share of rounds as the dealer"),
    _share("dealer_win_rate", "won, %", "dealer_wins", "dealer_rounds", "share of rounds as the dealer won"),
    _points("dealer_win_points", "win points", "dealer_win_points", "dealer_wins",
            "mean value of the hands won as the dealer, without honba and riichi sticks"),
    _share("dealer_deal_in_rate", "dealt in, %", "dealer_deal_ins", "dealer_rounds",
           "share of rounds as the dealer in which others won on a tile of this player"),
    _points("dealer_deal_in_points", "deal-in points", "dealer_deal_in_points", "dealer_deal_ins",
            "mean value of what others won on a tile of this player as the dealer; a double ron is added up"),
    _share("dealer_repeat_rate", "repeated, %", "dealer_repeats", "dealer_rounds",
           "share of rounds as the dealer that ended so that it repeats, the last round of a game too"),
    _share("dealer_tsumo_loss_rate", "tsumo of others, %", "dealer_tsumo_losses", "dealer_rounds",
           "share of rounds as the dealer that another won by tsumo"),
    _points("dealer_tsumo_loss_points", "points, to a tsumo", "dealer_tsumo_loss_points", "dealer_tsumo_losses",
            "mean payment of the dealer for a tsumo of another, honba included"),
    _share("non_dealer_win_rate", "not the dealer: won, %", "wins - dealer_wins", "rounds - dealer_rounds",
           "share of the other rounds won"),
    _points("non_dealer_win_points", "not the dealer: win points", "win_points - dealer_win_points",
            "wins - dealer_wins",
            "mean value of the hands won as non-dealer, without honba and riichi sticks"),
    _share("non_dealer_deal_in_rate", "not the dealer: dealt in, %", "deal_ins - dealer_deal_ins",
           "rounds - dealer_rounds", "share of the other rounds in which others won on a tile of this player"),
    _points("non_dealer_deal_in_points", "not the dealer: deal-in points", "deal_in_points - dealer_deal_in_points",
            "deal_ins - dealer_deal_ins", "mean value of what others won on a tile of this player in the other rounds"),
)  # fmt: skip
SEAT = tuple(
    Statistic(f"{key}_{name}", f"{name.capitalize()}: {heading}", form, AtSeat(seat, of, what),
              f"{text} of the games that began with this player as {name.capitalize()}, as played", unit)
    for seat, name in enumerate(SEATS)
    for key, heading, form, of, what, text, unit in (
        ("placement", "placement", ".3f", _mean_placement, "mean placement", "mean placement", ""),
        ("first", "1st, %", ".1%", _first_share, "share of first places", "share of first places", "%"),
        ("score", "score", ",.0f", Ratio("score", "games"), "`score / games`", "mean final score", "points"),
        ("win_rate", "won, %", ".1%", Ratio("wins", "rounds"), "`wins / rounds`", "share of rounds won", "%"),
        ("deal_in_rate", "dealt in, %", ".1%", Ratio("deal_ins", "rounds"), "`deal_ins / rounds`",
         "share of rounds with a deal-in", "%"),
    )
)  # fmt: skip
COURSE = (
    _share("busting_win_rate", "busts of others, %", "busting_wins", "games",
           "wins after which another had a score below zero, per game"),
    _share("behind_rate", "20,000 points behind, %", "behind_games", "games",
           "share of games in which a round began 20,000 points or more behind the first place"),
    _share("comeback_rate", "comebacks, % of these", "comebacks", "behind_games",
           "share of these games that were finished first"),
    *(
        _share(f"last_round_{places}", f"last round {places.replace('_to_', ' to ')}, %", f"games_by_places.{places}",
               " + ".join(f"games_by_places.{other}" for other in PLACES if other[0] == places[0]),
               f"share of the games that were place {places[0]} at the start of the last round that ended as place "
               f"{places[-1]}")
        for places in PLACES
    ),
)  # fmt: skip
YAKUMAN = (
    *(
        _number(f"yakuman_{YAKU_LABELS[yaku.number]}", yaku.name, f"wins_by_yaku.{YAKU_LABELS[yaku.number]}",
                f"hands won with {yaku.name}")
        for yaku in YAKU
        if yaku.closed >= YAKUMAN_HAN
    ),
    _number("yakuman_kazoe", "kazoe yakuman", "kazoe_yakumans", "hands won with 13 han or more, without a yakuman"),
)  # fmt: skip
YAKUS = tuple(
    _share(f"yaku_{YAKU_LABELS[yaku.number]}", f"{yaku.name}, %", f"wins_by_yaku.{YAKU_LABELS[yaku.number]}", "wins",
           f"share of wins with {yaku.name}")
    for yaku in YAKU
    if yaku.closed < YAKUMAN_HAN
)  # fmt: skip

GROUPS: dict[str, tuple[Of, ...]] = {
    "Wins": WON,
    "Riichi": RIICHI,
    "Deal-ins and tsumo of others": LOST,
    "Tenpai and draws": DRAWN,
    "Calls": CALLS,
    "As the dealer": DEALER,
    "By seat": SEAT,
    "Course of the games": COURSE,
    "Yaku, % of wins": YAKUS,
    "Yakuman": YAKUMAN,
}
DETAILS: tuple[Of, ...] = tuple(statistic for group in GROUPS.values() for statistic in group)
