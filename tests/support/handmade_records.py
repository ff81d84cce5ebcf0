"""Small games written by hand, and whole ones that the engine plays, for the tests of record formats."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

from engine.game import Game
from engine.mjai.messages import make
from engine.mjai.round_events import RoundReader
from engine.records.model import GameRecord
from engine.rules import TENHOU, Rules
from tests.support.players import Habits, efficient_driver
from tests.support.scenario import Scenario
from tests.support.sides import State

HANDS = [
    ["9m", "9m", "9m", "1p", "5p", "5p", "7p", "8p", "P", "P", "F", "F", "C"],
    ["1p", "4p", "9p", "2s", "5s", "5s", "5sr", "5s", "W", "W", "N", "N", "S"],
    ["9m", "5pr", "6p", "1s", "1s", "2s", "3s", "4s", "6s", "7s", "C", "C", "C"],
]


MJLOG_HEAD = '<GO type="185" lobby="0"/><UN n0="%E6%9D%B1" n1="b" n2="c" n3="" dan="1,1,1,0"/><TAIKYOKU oya="0"/>'
MJLOG_INIT = (
    '<INIT seed="4,1,2,0,3,52" ten="340,350,340,0" oya="0" hai0="0,32,36,52,72,88,108,112,116,120,124,128,132" '
    'hai1="1,33,37,53,73,89,109,113,117,121,125,129,133" hai2="2,34,38,54,74,90,110,114,118,122,126,130,134" hai3=""/>'
)
OWARI = 'owari="500,25.0,300,-10.0,250,-15.0,0,0"'


def start(kyoku: int, honba: int, kyotaku: int, scores: list[int], bakaze: str = "E") -> dict[str, Any]:
    return make(
        "start_kyoku", bakaze=bakaze, kyoku=kyoku, honba=honba, kyotaku=kyotaku, oya=kyoku - 1, dora_marker="9s",
        scores=scores, tehais=HANDS,
    )  # fmt: skip


def tsumo(actor: int, pai: str) -> dict[str, Any]:
    return make("tsumo", actor=actor, pai=pai)


def dahai(actor: int, pai: str, tsumogiri: bool = True) -> dict[str, Any]:
    return make("dahai", actor=actor, pai=pai, tsumogiri=tsumogiri)


FANPAI = [make("ryukyoku", reason="fanpai", deltas=[0, 0, 0]), make("end_kyoku")]


def game(*events: dict[str, Any]) -> GameRecord:
    """A Tenhou hanchan of the given rounds, which a test may change."""
    first = make("start_game", names=["東子", "b", "c"], rules="tenhou", length="hanchan")
    return GameRecord([first, *deepcopy(events), make("end_game")], TENHOU, "own")


def busy_game() -> GameRecord:
    """Every kind of call, a double ron with liability, and every kind of draw."""
    reached, won, first = [35000, 35000, 34000], [35000, 27000, 43000], [83000, 3000, 19000]
    after_fanpai, after_nagashi = [84000, 2000, 19000], [92000, -2000, 15000]
    winds = [["jikaze", 1], ["bakaze", 1], ["dora", 2]]
    record = game(
        start(1, 0, 0, [35000] * 3),
        tsumo(0, "5pr"), make("nukidora", actor=0, pai="N"), tsumo(0, "W"), dahai(0, "W"),
        make("pon", actor=1, target=0, pai="W", consumed=["W", "W"]), dahai(1, "9p", tsumogiri=False),
        tsumo(2, "1s"), make("reach", actor=2), dahai(2, "9m", tsumogiri=False),
        make("reach_accepted", actor=2, deltas=[0, 0, -1000], scores=reached),
        make("daiminkan", actor=0, target=2, pai="9m", consumed=["9m", "9m", "9m"]), tsumo(0, "5s"),
        make("dora", dora_marker="1p"), dahai(0, "5p", tsumogiri=False),
        tsumo(1, "W"), make("kakan", actor=1, pai="W", consumed=["W", "W", "W"]), tsumo(1, "3p"),
        make("ankan", actor=1, consumed=["5s", "5s", "5s", "5sr"]), make("dora", dora_marker="2p"),
        make("dora", dora_marker="3p"), tsumo(1, "7p"), dahai(1, "7p"),
        make("hora", actor=2, target=1, pai="7p", uradora_markers=["4p", "1p"],
             yakus=[["reach", 1], ["sangenpai", 1], ["dora", 2]], fan=4, hora_points=8000, deltas=[0, -8000, 9000],
             scores=won),
        make("hora", actor=0, target=1, pai="7p", uradora_markers=[], yakus=[["daisangen", 13]], fan=13,
             hora_points=48000, pao=2, deltas=[48000, -24000, -24000], scores=first),
        make("end_kyoku"),
        start(1, 1, 0, first), tsumo(0, "1s"),
        make("ryukyoku", reason="kyushukyuhai", deltas=[0, 0, 0], scores=first), make("end_kyoku"),
        start(1, 2, 0, first), tsumo(0, "1s"), dahai(0, "1s"),
        make("ryukyoku", reason="fanpai", tenpais=[True] * 3, deltas=[0, 0, 0], scores=first), make("end_kyoku"),
        start(1, 3, 0, first), tsumo(0, "1s"), dahai(0, "1s"),
        make("ryukyoku", reason="fanpai", tenpais=[True, False, True], deltas=[1000, -2000, 1000],
             scores=[84000, 1000, 20000]), make("end_kyoku"),
        start(1, 4, 0, after_fanpai), tsumo(0, "1s"), dahai(0, "1s"),
        make("ryukyoku", reason="nagashimangan", deltas=[8000, -4000, -4000], scores=after_nagashi), make("end_kyoku"),
        start(1, 5, 0, after_nagashi, "S"), tsumo(0, "1s"), dahai(0, "1s"),
        make("ryukyoku", reason="sukaikan", deltas=[0, 0, 0], scores=after_nagashi), make("end_kyoku"),
        start(2, 6, 0, after_nagashi, "S"), tsumo(1, "1s"),
        make("hora", actor=1, target=1, pai="1s", uradora_markers=[], yakus=winds, fu=30, fan=4, hora_points=7800,
             deltas=[-4500, 9000, -4500], scores=[87500, 7000, 10500]), make("end_kyoku"),
    )  # fmt: skip
    record.events[-1] = make("end_game", scores=[87500, 7000, 10500], points=[82.5, -53.0, -29.5])
    return record


def without(events: list[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in event.items() if key not in keys} for event in events]


def played(seed: int, rules: Rules = TENHOU) -> GameRecord:
    """A game played efficiently, with many calls."""
    choose = efficient_driver(random.Random(seed), Habits(pon=0.5, kan=0.9))
    own_game = Game(seed, rules)
    while not own_game.over:
        for seat in own_game.asked:
            own = own_game.table.seat[seat]
            menu, drawn = own_game.legal(seat), int(own_game.table.drawn)
            own_game.act(seat, choose(own.hand.tolist(), int(own.n_melds), drawn, menu))
    return GameRecord(own_game.messages, own_game.rules, "own")


def of_march_2009(hand: str) -> GameRecord:
    """A game of Tenhou that plays its last round, in which the dealer leads and holds `hand`, again."""
    events = [{"type": "start_game", "names": ["a", "b", "c"], "rules": "tenhou"}]
    for honba, scores in enumerate([(30_000, 30_000, 45_000), (29_000, 29_000, 47_000)]):
        played = Scenario([hand, "5550s"], state=State(1, 2, honba, 0, scores)).quiet_until(0).do("tsumogiri")
        events += RoundReader(played.t).read()
    return GameRecord([*events, {"type": "end_game"}], TENHOU, "own")
