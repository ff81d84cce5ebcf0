"""What only the critic sees of hands, wall and line-up, counted again in plain Python from the whole table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.registry import make
from agents.rl.oracle import N_HAND, N_ORACLE, write_oracle
from engine.events import DRAW, unpack
from engine.rules import N_DRAWS
from engine.shanten import shanten_batch, shanten_of
from engine.table import DEALT, DORA_AT, NOBODY, OFFER_DISCARD, PON_MELD, RESPONSE, RIVER_TILE, TABLE, raw_bytes
from engine.tables import Tables
from engine.tiles import DORA_OF, EAST, HAKU, HONOUR, KIND_1M, KIND_9M, KIND_OF, N_KINDS, NORTH, PIN, SANMA_KINDS, SOU
from tests.engine.test_rules_furiten import TANYAO_5S
from tests.support.scenario import Scenario
from tests.support.swapped_suits import is_swapped

SEATS = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]  # from each seat on, in turn
ONE_OF = np.eye(N_KINDS, dtype=np.int8)  # a tile of each kind
PIN_FIRST: list[int] = SANMA_KINDS.tolist()
SOU_FIRST = [KIND_1M, KIND_9M, *range(SOU, HONOUR), *range(PIN, SOU), *range(HONOUR, N_KINDS)]
RIICHI_AT, FURITEN_AT, DRAWS_AT = 10, 11, 12


def positions(bot: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Random positions of games between three of a bot: whole tables TABLE[n], and a seat that is asked, int8[n].

    Without those in which a north or a kan may be won on: its replacement tile is drawn before the live tiles.
    """
    games, player = Tables(range(4)), make(bot, 1)
    tables: list[np.ndarray] = []
    seats: list[np.ndarray] = []

    def act(views: np.ndarray) -> np.ndarray:
        tables.append(games.records[games.asked_tables[: len(views)]])
        seats.append(games.asked_seats[: len(views)].copy())
        return player.act(views)

    for _ in games.play([act], np.zeros((4, 3), dtype=np.int8)):
        pass
    found, asked = np.concatenate(tables), np.concatenate(seats)
    kept = np.flatnonzero((found["phase"] != RESPONSE) | (found["offer_type"] == OFFER_DISCARD))
    chosen = np.random.default_rng(1).permutation(kept)[:n]
    return found[chosen], asked[chosen]


def oracle_of(tables: np.ndarray, players: np.ndarray, of: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """float32[n, N_ORACLE] of `seats` int[n] at the tables `of` int[n] among `tables`, which stay as they are."""
    raw = raw_bytes(tables)
    before, out = raw.copy(), np.full((len(of), N_ORACLE), np.nan, dtype=np.float32)
    write_oracle(raw, players, of.astype(np.int32), seats.astype(np.int8), out)
    assert np.array_equal(raw, before)
    return out


# In plain Python ------------------------------------------------------------------------------------------------------


def shanten_of_all(hands: np.ndarray, n_melds: int) -> np.ndarray:
    """The shanten of `hands` int8[n, 34] with as many melds."""
    return shanten_batch(hands, np.full(len(hands), n_melds, dtype=np.int8))


def ukeire_of(hand: np.ndarray, n_melds: int) -> set[int]:
    """The kinds that lower the shanten of a hand; of 14 tiles, after any discard that keeps it.

    No discard keeps a complete hand complete: it has no ukeire.
    """
    now = shanten_of(hand.tolist(), n_melds)
    if hand.sum() % 3 == 2:
        rests = hand - ONE_OF[np.flatnonzero(hand)]
        best = rests[shanten_of_all(rests, n_melds) == now]
        return set[int]().union(*(ukeire_of(rest, n_melds) for rest in best))
    kinds = [kind for kind in SANMA_KINDS.tolist() if hand[kind] < 4]
    after = shanten_of_all(hand + ONE_OF[kinds], n_melds).tolist()
    return {kind for kind, shanten in zip(kinds, after) if shanten < now}


def melds_of(p: Any) -> list[tuple[int, int]]:
    """Type and kind of each meld of a seat."""
    return list(zip(p["meld_type"].tolist(), p["meld_kind"].tolist()))[: int(p["n_melds"])]


def dora_of(t: Any, p: Any) -> int:
    """Han of red fives, of norths, and of the tiles that the indicators show, each as often as it is shown."""
    nukidora, n_indicators = int(p["nukidora"]), int(t["n_indicators"])
    tiles = Counter(dict(enumerate(p["hand"].tolist())))
    for what, kind in melds_of(p):
        tiles[kind] += 3 if what == PON_MELD else 4
    tiles[NORTH] += nukidora
    shown = KIND_OF[t["wall"][DORA_AT[:n_indicators]]]
    reds = int(p["red"].sum()) + int(p["meld_red"].sum())
    return reds + nukidora + sum(tiles[kind] for kind in DORA_OF[shown].tolist())


def value_of(t: Any, seat: int) -> int:
    """Han of the triplets and kans of dragons, of the wind of `seat`, and of that of the round."""
    p = t["seat"][seat]
    winds = [EAST + SEATS[int(t["dealer"])].index(seat), EAST + int(t["round_wind"])]
    triplets = [kind for kind, count in enumerate(p["hand"].tolist()) if count >= 3]
    triplets += [kind for _, kind in melds_of(p)]
    return sum((kind >= HAKU) + winds.count(kind) for kind in triplets)


def is_furiten(p: Any) -> bool:
    """Whether a seat may not win on a discard."""
    waits = {kind for kind in range(N_KINDS) if int(p["waits"]) >> kind & 1}
    river = {int(KIND_OF[entry & RIVER_TILE]) for entry in p["river"][: int(p["n_river"])].tolist()}
    return bool(p["temporary_furiten"]) or bool(p["riichi_furiten"]) or bool(waits & river)


def coming_draws(t: Any, seat: int) -> list[int]:
    """The kinds that `seat` will draw if nobody calls: the next seat draws first."""
    events = map(unpack, t["log"][: int(t["n_log"])].tolist())
    drawn = {event.detail for event in events if event.type == DRAW}
    live = [index for index in range(DEALT, DEALT + N_DRAWS) if index not in drawn][: N_DRAWS - len(drawn)]
    first = SEATS[(int(t["turn"]) + 1) % 3].index(seat)
    kinds: list[int] = KIND_OF[t["wall"]][live[first::3]].tolist()
    return kinds


def plain_hand(t: Any, seat: int) -> list[float]:
    """The numbers of the hand of `seat`."""
    p = t["seat"][seat]
    hand, n_melds = p["hand"], int(p["n_melds"])
    shanten = min(max(shanten_of(hand.tolist(), n_melds), 0), 4)
    ukeire = ukeire_of(hand, n_melds)
    unseen = KIND_OF[t["wall"][t["known_by"] == NOBODY]].tolist()
    others = [t["seat"]["hand"][other].tolist() for other in SEATS[seat][1:]]
    useful = [kind in ukeire for kind in coming_draws(t, seat)]
    return [
        *(float(shanten == level) for level in range(5)),
        dora_of(t, p) / 5,
        value_of(t, seat) / 2,
        sum(unseen.count(kind) for kind in ukeire) / 10,
        *(sum(other[kind] for kind in ukeire) / 6 for other in others),
        float(p["riichi"] > 0),
        float(is_furiten(p)),
        1 / (1 + useful.index(True)) if any(useful) else 0.0,
        sum(useful[:3]) / 2,
        sum(useful[:6]) / 3,
        sum(useful) / 6,
    ]


def plain_tiles(p: Any, kinds: Sequence[int]) -> list[float]:
    """The tiles that a seat holds and its waits, of `kinds` in their order."""
    hand, waits = p["hand"].tolist(), int(p["waits"])
    return [*(hand[kind] / 2 for kind in kinds), *(float(waits >> kind & 1) for kind in kinds)]


def plain_oracle(t: Any, seat: int, players: Sequence[int]) -> list[float]:
    """All numbers for `seat`."""
    kinds = SOU_FIRST if is_swapped(t, seat) else PIN_FIRST
    hands = [number for each in SEATS[seat] for number in plain_hand(t, each)]
    tiles = [number for each in SEATS[seat][1:] for number in plain_tiles(t["seat"][each], kinds)]
    return [*hands, *tiles, *(float(players[each] != 0) for each in SEATS[seat][1:])]


# Tests ----------------------------------------------------------------------------------------------------------------


def test_the_critic_sees_what_is_in_the_hands_and_in_the_wall() -> None:
    played = [positions(bot, 200) for bot in ("rule", "random")]
    tables, seats = (np.concatenate(part) for part in zip(*played))
    rng = np.random.default_rng(2)
    players, of = rng.integers(3, size=(len(tables), 3)).astype(np.int8), rng.permutation(len(tables))
    expected = np.array([plain_oracle(tables[i], int(seats[i]), players[i].tolist()) for i in of.tolist()])
    found = oracle_of(tables, players, of, seats[of])
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    hands = expected[:, : 3 * N_HAND].reshape(-1, N_HAND)
    assert np.delete(hands, FURITEN_AT, axis=1).any(axis=0).all(), "each number is somewhere not 0"
    assert (tables["seat"]["n_melds"] > 0).sum() > 20
    assert 0.2 < np.mean([is_swapped(t, int(seat)) for t, seat in zip(tables, seats)]) < 0.8


def hand_seen(scenario: Scenario, asked: int, seat: int) -> list[float]:
    """The numbers of the hand of `seat` as the critic sees them when `asked` is to choose."""
    tables, nobody = scenario.side.raw.view(TABLE), np.zeros((1, 3), dtype=np.int8)
    at = N_HAND * SEATS[asked].index(seat)
    row: list[float] = oracle_of(tables, nobody, np.array([0]), np.array([asked]))[0].tolist()
    return row[at : at + N_HAND]


def test_all_kinds_of_furiten_are_seen() -> None:
    own = Scenario(["", TANYAO_5S, "5s"], "1z5s").do("1z")
    assert hand_seen(own, 1, 1)[FURITEN_AT] == 0
    assert hand_seen(own.do("5s"), 2, 1)[FURITEN_AT] == 1
    temporary = Scenario(["55s", "5s", TANYAO_5S], "1z2z3z").do("5s")
    assert hand_seen(temporary, 2, 2)[FURITEN_AT] == 0
    assert hand_seen(temporary.do("pass"), 1, 2)[FURITEN_AT] == 1
    assert hand_seen(temporary.do("5s").quiet(1), 0, 2)[FURITEN_AT] == 0
    riichi = Scenario(["55s", TANYAO_5S], "1z2z3z4z5z6z").do("1z", "riichi", "2z", "tsumogiri", "5s")
    assert hand_seen(riichi, 1, 1)[RIICHI_AT : FURITEN_AT + 1] == [1, 0]
    assert hand_seen(riichi.do("pass").quiet(2), 0, 1)[RIICHI_AT : FURITEN_AT + 1] == [1, 1]
