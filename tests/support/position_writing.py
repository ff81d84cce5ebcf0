"""The position that a seat is in after the messages of a round: the inverse of `engine.positions.views.place`."""

from __future__ import annotations

from collections.abc import Sequence

from engine.mjai.messages import Message, hand_names
from engine.mjai.player_state import PlayerState
from engine.positions.notation import ANKAN, CALLED, DAIMINKAN, KAKAN, NUKIDORA, PON, RIICHI, TSUMOGIRI
from engine.positions.position import Position
from engine.rules import N_SEATS, Rules
from engine.table import DORA_AT
from engine.tiles import KIND_OF, MJAI_NAMES, MJAI_TILES, MPSZ_NAMES, WINDS

LETTERS = {"reach": RIICHI, "nukidora": NUKIDORA, "pon": PON, "daiminkan": DAIMINKAN, "ankan": ANKAN, "kakan": KAKAN}
NO_STEP = frozenset({"tsumo", "reach_accepted", "dora"})


def position_of(messages: Sequence[Message], seat: int, rules: Rules) -> Position:
    """The position of `seat`, which is to move, after `messages`: those of one round, from ``start_kyoku`` on.

    The hand of `seat` must be known; others may be. Raises ValueError for messages that are impossible.
    """
    state = PlayerState(rules)
    state.update({"type": "start_game", "id": seat})
    for message in messages:
        state.update(message)
    view, start = state.view, messages[0]
    dealer, drawn = int(view["dealer"]), int(view["drawn"])
    seats = [(dealer + wind) % N_SEATS for wind in range(N_SEATS)]
    hand = sorted(hand_names(view["seat"][seat], drawn), key=rank) + ([MJAI_NAMES[drawn]] if drawn >= 0 else [])
    scores = [int(view["seat"][each]["score"]) for each in seats]
    first, second, third = rivers(messages, seats)
    return Position(
        hand=mpsz_text(hand),
        seat=WINDS[seats.index(seat)],
        round=f"{start['bakaze']}{dealer + 1}",
        honba=int(start["honba"]),
        scores=(scores[0], scores[1], scores[2]),
        dora="".join(MPSZ_NAMES[view["wall"][at]] for at in DORA_AT[: view["n_indicators"]]),
        rivers=(first, second, third),
        left=int(view["live_left"]),
        rules=rules.name,
        length=rules.length,
    )


def rivers(messages: Sequence[Message], seats: Sequence[int]) -> list[str]:
    """The rivers of `seats`, as `engine.positions.notation` has them; all discards that were called are marked."""
    steps: dict[int, list[str]] = {seat: [] for seat in seats}
    for message in messages[1:]:
        name = message["type"]
        if name in NO_STEP:
            continue
        own = steps[message["actor"]]
        if name == "dahai":
            own.append(mpsz_name(message["pai"]) + TSUMOGIRI * bool(message["tsumogiri"]))
            continue
        if name in ("pon", "daiminkan"):
            steps[message["target"]][-1] += CALLED
            tiles = [message["pai"], *message["consumed"]]
        elif name == "ankan":
            tiles = message["consumed"]
        else:
            tiles = [message["pai"]] if name == "kakan" else []
        own.append(LETTERS[name] + mpsz_text(tiles))
    return [" ".join(steps[seat]) for seat in seats]


def rank(name: str) -> tuple[int, int]:
    """The place of an mjai tile in a hand: a red five follows the other fives."""
    tile = MJAI_TILES[name]
    return int(KIND_OF[tile]), tile


def mpsz_name(name: str) -> str:
    """The mpsz name of an mjai tile."""
    return MPSZ_NAMES[MJAI_TILES[name]]


def mpsz_text(names: Sequence[str]) -> str:
    """Mjai tiles in mpsz, in their order: ``19m0z``."""
    text = ""
    for name in map(mpsz_name, names):
        if text.endswith(name[1]):
            text = text[:-1]
        text += name
    return text
