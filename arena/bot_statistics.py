"""The statistics of a bot, and of two bots compared, as attributes with their types.

Written by ``python -m arena.tallies.attributes arena/bot_statistics.py`` from the tables of `arena.columns` and
`arena.tallies.columns`. Rates are fractions of 1; None is a mean without observations.
"""

from __future__ import annotations

from arena.row import Row
from engine.contests.estimates import Estimate


class BotStatistics(Row):
    """The statistics of a bot in a match."""

    bot: str
    """The bot."""
    rounds: int
    """Rounds played."""
    luck_ratio: float | None
    """How wide the interval of the placement is without luck, as a share of its width."""
    distributions: dict[str, list[list[int]]]
    """Histograms: for each the values that occurred, with their numbers."""
    games: int
    """Games played."""
    placement: Estimate
    """Mean placement, and the half-width of its interval; lower is better."""
    first: float
    """Share of games finished first."""
    second: float
    """Share of games finished second."""
    third: float
    """Share of games finished third."""
    final_points: Estimate
    """Mean final points in thousands, with uma and oka, and the half-width of its interval."""
    score: float | None
    """Mean score at the end of a game."""
    busts: int
    """Games finished with a score below zero."""
    win_rate: float | None
    """Share of rounds won."""
    tsumo_rate: float | None
    """Share of rounds won by tsumo."""
    deal_in_rate: float | None
    """Share of rounds in which others won on a tile of this player (discard, kan, nukidora)."""
    riichi_rate: float | None
    """Share of rounds with an accepted riichi."""
    call_rate: float | None
    """Share of rounds with an open meld."""
    draw_rate: float | None
    """Share of rounds nobody won, abortive draws included."""
    win_points: float | None
    """Mean value of the hands won, without honba and riichi sticks."""
    deal_in_points: float | None
    """Mean value, likewise, of what others won on a tile of this player; a double ron is added up."""
    nukidora: float | None
    """Nukidora (Norths set aside) per round."""
    win_tsumo_share: float | None
    """Share of wins by tsumo."""
    win_ron_share: float | None
    """Share of wins by ron."""
    win_riichi_share: float | None
    """Share of wins in riichi."""
    win_dama_share: float | None
    """Share of wins closed and without riichi."""
    win_call_share: float | None
    """Share of wins with an open meld."""
    win_points_median: float | None
    """Median value of the hands won, without honba and riichi sticks."""
    win_points_riichi: float | None
    """Mean value of the hands won in riichi, without honba and riichi sticks."""
    win_points_dama: float | None
    """Mean value of the hands won closed and without riichi, without honba and riichi sticks."""
    win_points_call: float | None
    """Mean value of the hands won with an open meld, without honba and riichi sticks."""
    win_turn: float | None
    """Mean turn of the wins: the discards before, and one for a tsumo; at least 1."""
    win_turn_median: float | None
    """Median turn of the wins: the discards before, and one for a tsumo; at least 1."""
    win_mangan_share: float | None
    """Share of wins that count as mangan."""
    win_haneman_share: float | None
    """Share of wins that count as haneman."""
    win_baiman_share: float | None
    """Share of wins that count as baiman."""
    win_sanbaiman_share: float | None
    """Share of wins that count as sanbaiman."""
    win_yakuman_share: float | None
    """Share of wins that count as yakuman."""
    win_dora: float | None
    """Dora per win, red fives, ura dora and nukidora not included."""
    win_red_dora: float | None
    """Red fives per win."""
    win_ura_dora: float | None
    """Ura dora per win."""
    win_nukidora: float | None
    """Han of nukidora per win; a North set aside that an indicator shows also counts as dora."""
    riichi_first_share: float | None
    """Share of riichi declared while nobody else was in riichi."""
    riichi_chasing_share: float | None
    """Share of riichi declared while another was in riichi."""
    riichi_chased_share: float | None
    """Share of first riichi that another chased."""
    riichi_double_share: float | None
    """Share of riichi that are double riichi."""
    riichi_furiten_share: float | None
    """Share of riichi with a wait among the own discards, the riichi discard included."""
    riichi_turn: float | None
    """Mean turn of riichi: the number of the riichi discard."""
    riichi_turn_median: float | None
    """Median turn of riichi: the number of the riichi discard."""
    riichi_win_rate: float | None
    """Share of riichi won."""
    riichi_first_win_rate: float | None
    """Share of first riichi won."""
    riichi_chasing_win_rate: float | None
    """Share of chasing riichi won."""
    riichi_deal_in_rate: float | None
    """Share of riichi in which others won on a tile of this player."""
    riichi_draw_rate: float | None
    """Share of riichi in rounds that nobody won."""
    riichi_net: float | None
    """Mean change of the score in a round with riichi, sticks and honba included."""
    riichi_ippatsu_rate: float | None
    """Share of wins in riichi with ippatsu."""
    riichi_ura_rate: float | None
    """Share of wins in riichi with ura dora."""
    riichi_ura: float | None
    """Ura dora per win in riichi."""
    riichi_wait_kinds: float | None
    """Kinds that complete the hand in riichi, with a yaku or not."""
    riichi_wait_tiles: float | None
    """Tiles of these kinds that are neither in the hand nor face up on the table after the riichi discard."""
    riichi_ryanmen_share: float | None
    """Share of riichi with a ryanmen wait: two tiles in a row, open at both ends."""
    riichi_kanchan_share: float | None
    """Share of riichi with a kanchan wait: two tiles with a gap."""
    riichi_penchan_share: float | None
    """Share of riichi with a penchan wait: 1-2 or 8-9."""
    riichi_shanpon_share: float | None
    """Share of riichi with a shanpon wait: two pairs."""
    riichi_tanki_share: float | None
    """Share of riichi with a tanki wait: a single tile, also of seven pairs or thirteen orphans."""
    riichi_multi_share: float | None
    """Share of riichi with a multi wait: any other, such as nobetan and every wait on three kinds or more."""
    riichi_ryanmen_win_rate: float | None
    """Share of riichi with a ryanmen wait that were won."""
    riichi_kanchan_win_rate: float | None
    """Share of riichi with a kanchan wait that were won."""
    riichi_penchan_win_rate: float | None
    """Share of riichi with a penchan wait that were won."""
    riichi_shanpon_win_rate: float | None
    """Share of riichi with a shanpon wait that were won."""
    riichi_tanki_win_rate: float | None
    """Share of riichi with a tanki wait that were won."""
    riichi_multi_win_rate: float | None
    """Share of riichi with a multi wait that were won."""
    deal_in_riichi_share: float | None
    """Share of the hands won on a tile of this player that were in riichi; of a double ron each hand counts."""
    deal_in_dama_share: float | None
    """Share of the hands won on a tile of this player that were closed and without riichi; of a double ron each hand
    counts."""
    deal_in_call_share: float | None
    """Share of the hands won on a tile of this player that were with an open meld; of a double ron each hand counts."""
    deal_in_points_riichi: float | None
    """Mean value of these hands that were in riichi, without honba and riichi sticks."""
    deal_in_points_dama: float | None
    """Mean value of these hands that were closed and without riichi, without honba and riichi sticks."""
    deal_in_points_call: float | None
    """Mean value of these hands that were with an open meld, without honba and riichi sticks."""
    deal_in_points_median: float | None
    """Median value of all of these hands."""
    deal_in_own_riichi_share: float | None
    """Share of the deal-ins while in riichi."""
    deal_in_own_call_share: float | None
    """Share of the deal-ins with an open meld."""
    tsumo_loss_rate: float | None
    """Share of rounds that another won by tsumo."""
    tsumo_loss_points: float | None
    """Mean payment for a tsumo of another, honba included."""
    tenpai_rate: float | None
    """Share of rounds in which the hand was tenpai at some time."""
    tenpai_turn: float | None
    """Mean turn of the first tenpai of a round: the discards until then, 0 as dealt."""
    tenpai_turn_median: float | None
    """Median turn of the first tenpai of a round: the discards until then, 0 as dealt."""
    exhaustive_draw_rate: float | None
    """Share of rounds that ended without tiles to draw, nagashi mangan included."""
    draw_tenpai_rate: float | None
    """Share of exhaustive draws with a hand in tenpai."""
    draw_noten_rate: float | None
    """Share of exhaustive draws with a hand that is not tenpai."""
    draw_points: float | None
    """Mean payment at an exhaustive draw."""
    nagashis: int
    """Nagashi mangan."""
    kyushus: int
    """Rounds ended by kyushu kyuhai of this player."""
    four_kan_draws: int
    """Rounds that ended by the fourth kan."""
    pons: float | None
    """Pon per round."""
    daiminkans: float | None
    """Daiminkan per round."""
    ankans: float | None
    """Ankan per round."""
    kakans: float | None
    """Kakan per round, robbed ones included."""
    kans: float | None
    """Kans of all kinds per round."""
    call_win_rate: float | None
    """Share of the rounds with an open meld that were won."""
    call_deal_in_rate: float | None
    """Share of the rounds with an open meld in which others won on a tile of this player."""
    call_net: float | None
    """Mean change of the score in a round with an open meld, sticks and honba included."""
    dealer_rate: float | None
    """Share of rounds as the dealer."""
    dealer_win_rate: float | None
    """Share of rounds as the dealer won."""
    dealer_win_points: float | None
    """Mean value of the hands won as the dealer, without honba and riichi sticks."""
    dealer_deal_in_rate: float | None
    """Share of rounds as the dealer in which others won on a tile of this player."""
    dealer_deal_in_points: float | None
    """Mean value of what others won on a tile of this player as the dealer; a double ron is added up."""
    dealer_repeat_rate: float | None
    """Share of rounds as the dealer that ended so that it repeats, the last round of a game too."""
    dealer_tsumo_loss_rate: float | None
    """Share of rounds as the dealer that another won by tsumo."""
    dealer_tsumo_loss_points: float | None
    """Mean payment of the dealer for a tsumo of another, honba included."""
    non_dealer_win_rate: float | None
    """Share of the other rounds won."""
    non_dealer_win_points: float | None
    """Mean value of the hands won as non-dealer, without honba and riichi sticks."""
    non_dealer_deal_in_rate: float | None
    """Share of the other rounds in which others won on a tile of this player."""
    non_dealer_deal_in_points: float | None
    """Mean value of what others won on a tile of this player in the other rounds."""
    placement_east: float | None
    """Mean placement of the games that began with this player as East, as played."""
    first_east: float | None
    """Share of first places of the games that began with this player as East, as played."""
    score_east: float | None
    """Mean final score of the games that began with this player as East, as played."""
    win_rate_east: float | None
    """Share of rounds won of the games that began with this player as East, as played."""
    deal_in_rate_east: float | None
    """Share of rounds with a deal-in of the games that began with this player as East, as played."""
    placement_south: float | None
    """Mean placement of the games that began with this player as South, as played."""
    first_south: float | None
    """Share of first places of the games that began with this player as South, as played."""
    score_south: float | None
    """Mean final score of the games that began with this player as South, as played."""
    win_rate_south: float | None
    """Share of rounds won of the games that began with this player as South, as played."""
    deal_in_rate_south: float | None
    """Share of rounds with a deal-in of the games that began with this player as South, as played."""
    placement_west: float | None
    """Mean placement of the games that began with this player as West, as played."""
    first_west: float | None
    """Share of first places of the games that began with this player as West, as played."""
    score_west: float | None
    """Mean final score of the games that began with this player as West, as played."""
    win_rate_west: float | None
    """Share of rounds won of the games that began with this player as West, as played."""
    deal_in_rate_west: float | None
    """Share of rounds with a deal-in of the games that began with this player as West, as played."""
    busting_win_rate: float | None
    """Wins after which another had a score below zero, per game."""
    behind_rate: float | None
    """Share of games in which a round began 20,000 points or more behind the first place."""
    comeback_rate: float | None
    """Share of these games that were finished first."""
    last_round_1_to_1: float | None
    """Share of the games that were place 1 at the start of the last round that ended as place 1."""
    last_round_1_to_2: float | None
    """Share of the games that were place 1 at the start of the last round that ended as place 2."""
    last_round_1_to_3: float | None
    """Share of the games that were place 1 at the start of the last round that ended as place 3."""
    last_round_2_to_1: float | None
    """Share of the games that were place 2 at the start of the last round that ended as place 1."""
    last_round_2_to_2: float | None
    """Share of the games that were place 2 at the start of the last round that ended as place 2."""
    last_round_2_to_3: float | None
    """Share of the games that were place 2 at the start of the last round that ended as place 3."""
    last_round_3_to_1: float | None
    """Share of the games that were place 3 at the start of the last round that ended as place 1."""
    last_round_3_to_2: float | None
    """Share of the games that were place 3 at the start of the last round that ended as place 2."""
    last_round_3_to_3: float | None
    """Share of the games that were place 3 at the start of the last round that ended as place 3."""
    yaku_menzen_tsumo: float | None
    """Share of wins with menzen tsumo."""
    yaku_riichi: float | None
    """Share of wins with riichi."""
    yaku_chankan: float | None
    """Share of wins with chankan."""
    yaku_rinshan_kaihou: float | None
    """Share of wins with rinshan kaihou."""
    yaku_haitei: float | None
    """Share of wins with haitei."""
    yaku_houtei: float | None
    """Share of wins with houtei."""
    yaku_haku: float | None
    """Share of wins with haku."""
    yaku_hatsu: float | None
    """Share of wins with hatsu."""
    yaku_chun: float | None
    """Share of wins with chun."""
    yaku_seat_wind: float | None
    """Share of wins with seat wind."""
    yaku_round_wind: float | None
    """Share of wins with round wind."""
    yaku_tanyao: float | None
    """Share of wins with tanyao."""
    yaku_iipeikou: float | None
    """Share of wins with iipeikou."""
    yaku_pinfu: float | None
    """Share of wins with pinfu."""
    yaku_chanta: float | None
    """Share of wins with chanta."""
    yaku_ittsu: float | None
    """Share of wins with ittsu."""
    yaku_sanshoku: float | None
    """Share of wins with sanshoku."""
    yaku_double_riichi: float | None
    """Share of wins with double riichi."""
    yaku_sanshoku_doukou: float | None
    """Share of wins with sanshoku doukou."""
    yaku_sankantsu: float | None
    """Share of wins with sankantsu."""
    yaku_toitoi: float | None
    """Share of wins with toitoi."""
    yaku_sanankou: float | None
    """Share of wins with sanankou."""
    yaku_shousangen: float | None
    """Share of wins with shousangen."""
    yaku_honroutou: float | None
    """Share of wins with honroutou."""
    yaku_chiitoitsu: float | None
    """Share of wins with chiitoitsu."""
    yaku_junchan: float | None
    """Share of wins with junchan."""
    yaku_honitsu: float | None
    """Share of wins with honitsu."""
    yaku_ryanpeikou: float | None
    """Share of wins with ryanpeikou."""
    yaku_chinitsu: float | None
    """Share of wins with chinitsu."""
    yaku_ippatsu: float | None
    """Share of wins with ippatsu."""
    yaku_dora: float | None
    """Share of wins with dora."""
    yaku_red_dora: float | None
    """Share of wins with red dora."""
    yaku_ura_dora: float | None
    """Share of wins with ura dora."""
    yaku_nukidora: float | None
    """Share of wins with nukidora."""
    yakuman_tenhou: int
    """Hands won with tenhou."""
    yakuman_chiihou: int
    """Hands won with chiihou."""
    yakuman_daisangen: int
    """Hands won with daisangen."""
    yakuman_suuankou: int
    """Hands won with suuankou."""
    yakuman_tsuuiisou: int
    """Hands won with tsuuiisou."""
    yakuman_ryuuiisou: int
    """Hands won with ryuuiisou."""
    yakuman_chinroutou: int
    """Hands won with chinroutou."""
    yakuman_kokushi_musou: int
    """Hands won with kokushi musou."""
    yakuman_shousuushii: int
    """Hands won with shousuushii."""
    yakuman_suukantsu: int
    """Hands won with suukantsu."""
    yakuman_chuuren_poutou: int
    """Hands won with chuuren poutou."""
    yakuman_junsei_chuuren_poutou: int
    """Hands won with junsei chuuren poutou."""
    yakuman_suuankou_tanki: int
    """Hands won with suuankou tanki."""
    yakuman_kokushi_musou_13_wait: int
    """Hands won with kokushi musou 13-wait."""
    yakuman_daisuushii: int
    """Hands won with daisuushii."""
    yakuman_kazoe: int
    """Hands won with 13 han or more, without a yakuman."""


class PairStatistics(Row):
    """Two bots of a match, compared."""

    bot: str
    """The first bot."""
    against: str
    """The second bot."""
    significant: bool
    """Whether the interval of the difference does not contain zero."""
    more_games: int | None
    """About how many more games it takes to a significant one; None if unknown."""
    difference: Estimate
    """Mean placement of the first bot minus that of the second, paired by walls, and the half-width of its interval;
    below zero, the first is the better one."""
    superiority: float | None
    """Likelihood of superiority: probability that the first bot is the better one, that is, that the true difference is
    below zero (Student's t distribution)."""
