"""What `encode` writes where games hardly come: values that are capped, events of every tile, the longest rounds.

In games its sequences are those of the reference encoder: see test_sources.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from agents import registry
from agents.bert.encoding import MAX_RECORD, MAX_STATE, MAX_TOKENS, encode
from agents.bert.labels import PON_LABEL, actions_of, legal_masks
from engine import events
from engine.actions import PASS, PON, PON_RED, TSUMOGIRI
from engine.mjai.round_events import round_messages
from engine.table import TABLE
from engine.tables import Tables
from engine.tiles import FULL_SET, KIND_OF, MJAI_NAMES, MPSZ_TILES, RED_INDEX
from tests.support.reference_encoder import EVENT_TYPES, TILES, event_token, sequences, values
from tests.support.scenario import Scenario
from tests.support.scripted_positions import view_of
from tests.support.sides import FIRST_ROUND, Ours, State
from tests.support.walls import clustered_wall

FOUR_KANS = "1112223334445p"
RECORDED = (events.DAHAI, events.REACH, events.PON, events.DAIMINKAN, events.ANKAN, events.KAKAN, events.NUKIDORA)


def state_of(scenario: Scenario, seat: int) -> dict[str, list[int]]:
    """The state part of the sequence of `seat`: row -> values, tokens minus the row's first."""
    views = view_of(scenario.side.raw, seat)
    return values(sequences(views)[0][: int(encode(views).n_state[0])])


# The situation of the game --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "given", "value"),
    [
        ("bakaze", State(2, 1, 0, 0, (35_000,) * 3), 2),
        *(("honba", State(0, 0, n, 0, (35_000,) * 3), value) for n, value in ((0, 0), (2, 2), (3, 3), (4, 3), (21, 3))),
        *(
            ("kyotaku", State(0, 0, 0, n, (35_000,) * 3), value)
            for n, value in ((0, 0), (1, 1), (2, 2), (3, 2), (9, 2))
        ),
    ],
)
def test_the_situation_is_capped(row: str, given: State, value: int) -> None:
    assert state_of(Scenario([], state=given), 0)[row] == [value]


@pytest.mark.parametrize(
    ("difference", "value"),
    [
        (0, 48), (900, 48), (1_000, 49), (1_900, 49), (47_900, 95), (48_000, 96), (48_900, 96), (49_000, 96),
        (130_000, 96), (-100, 48), (-900, 48), (-1_000, 47), (-1_900, 47), (-47_000, 1), (-47_900, 1), (-48_000, 0),
        (-48_900, 0), (-49_000, 0), (-130_000, 0),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_delta_scores(difference: int, value: int, seat: int) -> None:
    """Cut towards zero to whole thousands, and at 48 of them; the seat before comes first."""
    for step, name, other in (
        (1, "delta_score_after", "delta_score_before"),
        (2, "delta_score_before", "delta_score_after"),
    ):
        scores = [60_000] * 3
        scores[(seat + step) % 3] = 60_000 - difference
        a, b, c = scores
        state = state_of(Scenario([], state=State(0, seat, 0, 0, (a, b, c))), seat)
        assert (state[name], state[other]) == ([value], [48])


def test_one_to_five_dora_markers() -> None:
    scenario = Scenario([FOUR_KANS], "1p", replacements="2p3p4p9s", indicators="0p1m9m7z0s")
    markers = [TILES.index(MJAI_NAMES[MPSZ_TILES[tile]]) for tile in ("0p", "1m", "9m", "7z", "0s")]
    for kans in range(5):
        if kans:
            scenario.do(f"ankan {kans}p")
        state = state_of(scenario, 0)
        assert state["dora_marker"] == markers[: kans + 1]
        assert len(state["tehai"]) == 14 - 3 * kans


# Events ---------------------------------------------------------------------------------------------------------------


def word_of(event: int, seat: int, tile: int, *, tsumogiri: int = 0, red: int = 0) -> int:
    """An event as the log has it: see `engine.events`."""
    return event | seat << 4 | (seat + 1) % 3 << 6 | tile << 8 | tsumogiri << 14 | red << 15


def every_event() -> Iterator[int]:
    """Events of each seat with each tile: discards, riichis, calls, and events that have no token."""
    for seat in range(3):
        for event in (events.REACH, events.NUKIDORA, events.DRAW, events.REACH_ACCEPTED, events.NEW_DORA):
            yield word_of(event, seat, MPSZ_TILES["4z"])
        for tile in np.unique(FULL_SET).tolist():
            kind = int(KIND_OF[tile])
            yield from (word_of(events.DAHAI, seat, tile, tsumogiri=tsumogiri) for tsumogiri in (0, 1))
            for red in (0, 1) if tile == kind and RED_INDEX[kind] >= 0 else (0,):
                yield from (
                    word_of(event, seat, tile, red=red) for event in (events.PON, events.DAIMINKAN, events.KAKAN)
                )
                yield word_of(events.ANKAN, seat, kind, red=red)


@pytest.mark.parametrize("viewer", range(3))
def test_every_event_has_the_token_of_its_tile_and_of_its_seat_as_the_viewer_counts(viewer: int) -> None:
    words = list(every_event())
    views = np.repeat(view_of(Scenario([]).side.raw, viewer), len(words))
    views["log"][:, 0], views["n_log"] = words, 1
    encoded = encode(views)
    found = [
        ids[n_state + 1 : length - 1].tolist()
        for ids, n_state, length in zip(encoded.input_ids, encoded.n_state, encoded.lengths)
    ]
    messages = [round_messages(view)[0] for view in views]
    assert found == [[event_token(each, viewer)] if each["type"] in EVENT_TYPES else [] for each in messages]
    assert len({token for tokens in found for token in tokens}) == 3 * (2 * 29 + 1 + 29 + 3 * 27 + 1)


# Padding, attention mask and position ids -----------------------------------------------------------------------------


def test_position_ids_and_attention_mask() -> None:
    scenarios = [Scenario([]).quiet(n) for n in range(5)]
    views = np.concatenate([view_of(scenario.side.raw, int(scenario.t.turn)) for scenario in scenarios])
    encoded = encode(views)
    assert encoded.input_ids.shape == encoded.attention_mask.shape == encoded.position_ids.shape == (5, MAX_TOKENS)
    assert encoded.input_ids.dtype == np.uint16
    for n, (ids, mask, positions) in enumerate(
        zip(encoded.input_ids, encoded.attention_mask, encoded.position_ids, strict=True)
    ):
        state = 1 + 9 + 1 + 14 + 1 + 1  # [CLS], single values, marker, hand, tile drawn, can_dahai
        record = n  # discards so far
        padding = MAX_TOKENS - state - record - 2
        assert encoded.n_state[n] == state
        assert encoded.lengths[n] == state + record + 2
        assert (ids[0], ids[state], ids[state + record + 1]) == (1, 2, 3)
        assert (ids != 0).tolist() == mask.tolist() == [True] * (state + record + 2) + [False] * padding
        assert positions.tolist() == [*[0] * state, *range(1, record + 3), *[0] * padding]


def test_a_seat_that_is_not_to_act_and_no_views() -> None:
    assert state_of(Scenario([]), 2).keys() >= {"[CLS]", "num_pipais"}
    empty = encode(np.zeros(0, dtype=TABLE))
    assert (len(empty.input_ids), len(empty.attention_mask), len(empty.position_ids)) == (0, 0, 0)


# Maximum length -------------------------------------------------------------------------------------------------------


def test_no_round_exceeds_the_maximum_length() -> None:
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
            n_recorded = sum(n[event] for event in RECORDED)
            assert (
                n_recorded <= n[events.DRAW] + n[events.REACH] + 2 * n[events.PON] + n[events.DAIMINKAN] <= MAX_RECORD
            )
            if n_recorded > longest["record"]:
                longest["record"] = n_recorded
                encoded = encode(view_of(np.frombuffer(table.tobytes(), dtype=np.uint8), 0))
                assert encoded.lengths[0] == encoded.n_state[0] + n_recorded + 2 <= MAX_TOKENS
    assert 20 < longest["state"] <= MAX_STATE
    assert longest["record"] > 60


def test_the_longest_possible_round_has_the_maximum_length() -> None:
    """All draws and twelve pons: seats discard tiles of which an opponent holds a pair."""
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
        assert encoded.position_ids.max() == MAX_RECORD + 2
