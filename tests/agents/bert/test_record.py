"""What `encode` writes of what has happened in the round, told by every seat from its own place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from agents import registry
from agents.bert.encoding import MAX_RECORD, MAX_STATE, MAX_TOKENS, encode
from agents.bert.labels import PON_LABEL, actions_of, legal_masks
from engine import events
from engine.actions import PASS, PON, PON_RED, TSUMOGIRI
from engine.mjai.round_events import round_messages
from engine.tables import Tables
from engine.tiles import KIND_OF
from tests.support.encoded_positions import IN_USE, ORDER, parts, places
from tests.support.reference_encoder import DEEDS, FIRST, KINDS, TILES
from tests.support.scenario import Scenario
from tests.support.scripted_positions import SCATTERED, view_of
from tests.support.sides import FIRST_ROUND, Ours, State
from tests.support.walls import clustered_wall

# Who did what, players counted from the dealer, and the value counted from the row's first token.
Deed = tuple[int, str, int]
AS_DRAWN = 37
KINDS_IN_USE = [tile for tile in IN_USE if tile[0] != "0"]
# Four of a kind, the red five first.
FOURS = [tile * 4 if tile not in ("5p", "5s") else f"0{tile[1]}" + tile * 3 for tile in KINDS_IN_USE]
DEED_EVENTS = (
    events.DAHAI, events.REACH, events.PON, events.DAIMINKAN, events.ANKAN, events.KAKAN, events.NUKIDORA,
)  # fmt: skip


def mjai(tile: str) -> str:
    """The mjai name of a tile."""
    return TILES[ORDER.index(tile)]


def plain(tile: str) -> str:
    """The kind of a tile, as its plain tile."""
    return tile.replace("0", "5")


def check(hands: Sequence[str], draws: str, moves: Sequence[str], last: Sequence[Deed], replacements: str = "") -> None:
    """Play with each seat as dealer: the record, as each seat tells it, must end with what the moves did."""
    indicators = next(tile for tile in ("1m", "9m") if tile not in "".join(hands) + draws)
    for dealer in range(3):
        state = State(0, dealer, 0, 0, (35_000,) * 3)
        scenario = Scenario([*hands], draws, state=state, replacements=replacements, indicators=indicators)
        scenario.do(*moves)
        deeds = [message for message in round_messages(scenario.t) if message["type"] in DEEDS]
        for viewer in range(3):
            record = parts(scenario, viewer)[1]
            assert len(record) == len(deeds)
            assert record[-len(last) :] == [
                FIRST[f"player{(dealer + player - viewer) % 3}_{name}"] + value for player, name, value in last
            ]


def others(tile: str, count: int) -> str:
    """Tiles nobody does anything with, none of them of the kind of `tile`."""
    return "".join([other for other in ("9s", "1z", "2z", "1s", "9p") if other != tile][:count])


# Discards -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tile", IN_USE)
def test_discards_from_the_hand_and_as_drawn(tile: str) -> None:
    (place,) = places(tile)
    check([tile], others(tile, 1), [tile], [(0, "dahai", place)])
    check([""], tile, ["tsumogiri"], [(0, "dahai", AS_DRAWN + place)])


def test_the_twin_of_the_drawn_tile_goes_from_the_hand() -> None:
    check(["5p"], "5p", ["5p"], [(0, "dahai", *places("5p"))])
    check(["5p"], "0p", ["5p"], [(0, "dahai", *places("5p"))])
    check(["5p"], "0p", ["0p"], [(0, "dahai", AS_DRAWN + places("0p")[0])])
    check(["0p"], "5p", ["0p"], [(0, "dahai", *places("0p"))])


def test_all_three_discard() -> None:
    last = [(n % 3, "dahai", AS_DRAWN + place) for n, place in enumerate(places("2p2s8p8s"))]
    check([SCATTERED] * 3, "2p2s8p8s", ["tsumogiri"] * 4, last)


def test_reach_is_followed_by_its_discard() -> None:
    (chun,) = places("7z")
    deeds = [(0, "reach", 0), (0, "dahai", AS_DRAWN + chun)]
    check(["23456799p67824s"], "7z", ["riichi"], deeds[:1])
    check(["23456799p67824s"], "7z", ["riichi", "7z"], deeds)


# Calls ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("discarded", "held", "call", "shown"),
    [
        *((tile, tile * 2, "pon", tile) for tile in KINDS_IN_USE),
        *((f"5{suit}", f"5{suit}0{suit}", "pon with red", f"0{suit}") for suit in "ps"),
        *((f"0{suit}", f"5{suit}5{suit}", "pon", f"0{suit}") for suit in "ps"),
        *((f"5{suit}", f"5{suit}5{suit}0{suit}", "pon", f"5{suit}") for suit in "ps"),
    ],
)
@pytest.mark.parametrize("caller", [1, 2])
def test_pon(discarded: str, held: str, call: str, shown: str, caller: int) -> None:
    (place,), (gone,), (kept,) = places(shown), places(discarded), places(others(discarded, 1))
    hands = [discarded, "", ""]
    hands[caller] = held + ORDER[kept]
    last = [(0, "dahai", gone), (caller, "pon", place), (caller, "dahai", kept)]
    check(hands, "8p" if discarded != "8p" else "7p", [discarded, call, ORDER[kept]], last)


@pytest.mark.parametrize("four", FOURS)
@pytest.mark.parametrize("caller", [1, 2])
def test_daiminkan(four: str, caller: int) -> None:
    for discarded, held in ((four[:2], four[2:]), (four[-2:], four[:-2])):
        kind, (gone,), (drawn,) = plain(discarded), places(discarded), places(others(plain(discarded), 1))
        hands = [discarded, "", ""]
        hands[caller] = held
        last = [(0, "dahai", gone), (caller, "daiminkan", KINDS.index(mjai(kind))), (caller, "dahai", AS_DRAWN + drawn)]
        moves = [discarded, "daiminkan", "tsumogiri"]
        check(hands, "8p" if kind != "8p" else "7p", moves, last, replacements=ORDER[drawn])


# Kans and norths ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("four", FOURS)
def test_ankan(four: str) -> None:
    kind = mjai(plain(four[:2]))
    for hand, draw in ((four, others(four[:2], 1)), (four[:-2], four[-2:]), (four[2:], four[:2])):
        check([hand], draw, [f"ankan {kind}"], [(0, "ankan", KINDS.index(kind))])


@pytest.mark.parametrize("four", FOURS)
def test_kakan(four: str) -> None:
    kind = plain(four[:2])
    for tiles in (four, four[2:] + four[:2]):
        draws = others(kind, 3)
        moves = [tiles[:2], "pon", draws[:2], "tsumogiri", "tsumogiri", f"kakan {mjai(kind)}"]
        last = [(0, "dahai", AS_DRAWN + places(draws)[2]), (1, "kakan", KINDS.index(mjai(kind)))]
        check([tiles[:2], tiles[2:6] + draws[:2]], draws + tiles[6:], moves, last)


def test_nukidora() -> None:
    last = [(0, "nukidora", 0), (0, "nukidora", 0), (0, "dahai", *places("7z"))]
    check(["4z7z"], "4z", ["nukidora", "nukidora", "7z"], last)


def test_what_is_no_deed_is_not_told() -> None:
    """Draws, indicators, accepted riichis."""
    scenario = Scenario(["23456799p67824s", "1111p"], "7z2z").do("riichi", "7z", "ankan 1p")
    assert scenario.names == ["tsumo", "reach", "dahai", "reach_accepted", "tsumo", "ankan", "dora", "tsumo"]
    deeds = [FIRST["player2_reach"], FIRST["player2_dahai"] + AS_DRAWN + places("7z")[0], FIRST["player0_ankan"] + 9]
    assert parts(scenario, 1)[1] == deeds


# How long it may be ---------------------------------------------------------------------------------------------------


def test_no_round_is_longer_than_there_is_room_for() -> None:
    """Random play, which hardly ever wins, and play that takes every pon besides; counted in the tables' logs."""
    random = registry.make("random", seed=1)
    longest = Counter[str]()

    def call(views: np.ndarray) -> np.ndarray:
        actions = play(views)
        pons = np.flatnonzero(legal_masks(views) >> np.uint64(PON_LABEL) & np.uint64(1))
        actions[pons] = actions_of(views[pons], np.full(len(pons), PON_LABEL))
        return actions

    def play(views: np.ndarray) -> np.ndarray:
        longest["state"] = max(longest["state"], *encode(views).n_state.tolist())
        return random.act(views)

    players = np.zeros((150, 3), dtype=np.int8)
    players[50:] = 1
    tables = Tables(range(150), batch=256)
    for ended in tables.play([play, call], players):
        for table in tables.records[ended]:
            n = Counter((table["log"][: table["n_log"]] & 15).tolist())
            deeds = sum(n[event] for event in DEED_EVENTS)
            assert deeds <= n[events.DRAW] + n[events.REACH] + 2 * n[events.PON] + n[events.DAIMINKAN] <= MAX_RECORD
            if deeds > longest["record"]:
                longest["record"] = deeds
                encoded = encode(view_of(np.frombuffer(table.tobytes(), dtype=np.uint8), 0))
                assert encoded.lengths[0] == encoded.n_state[0] + deeds + 2 <= MAX_TOKENS
    assert 20 < longest["state"] <= MAX_STATE
    assert longest["record"] > 60


def test_the_longest_round_there_can_be_has_room() -> None:
    """All draws, and twelve pons: who discards looks for a tile that another has a pair of."""
    side = Ours()
    side.begin(FIRST_ROUND, clustered_wall(Random(13)))

    def unwanted(seat: int, action: int) -> tuple[bool, int, int]:
        t = side.table
        kind = KIND_OF[t.drawn if action == TSUMOGIRI else action]
        held = int(t.seat[seat].hand[kind])
        taken = held != 2 and any(t.seat[other].hand[kind] >= 2 for other in range(3) if other != seat)
        return (not taken, held % 4, action)

    while not side.ended:
        answers = {}
        for seat, menu in side.menus().items():
            discards = [action for action in menu if action <= TSUMOGIRI]
            calls = [action for action in (PON_RED, PON, PASS) if action in menu]
            answers[seat] = calls[0] if calls else min(discards, key=lambda action: unwanted(seat, action))
        side.act(answers)
    n = Counter(name for name, *_ in side.events())
    assert (n["tsumo"], n["pon"], n["dahai"]) == (55, 12, 67)
    for seat in range(3):
        encoded = encode(view_of(side.raw, seat))
        assert encoded.lengths[0] - encoded.n_state[0] - 2 == MAX_RECORD == 79
        assert encoded.positions.max() == MAX_RECORD + 2
