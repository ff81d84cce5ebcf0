"""What the arena counts, counted again from the mjai messages of a game: slowly, and without the compiled code.

Hands, waits and their shapes are followed in the names of tiles. Only the table of yaku is shared with the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from engine.scoring.yaku import YAKU

Message = dict[str, Any]

PINZU, SOUZU = ([f"{rank}{suit}" for rank in range(1, 10)] for suit in "ps")
OTHERS = ["1m", "9m", "E", "S", "W", "N", "P", "F", "C"]
KINDS = [*OTHERS, *PINZU, *SOUZU]
ORPHANS = {*OTHERS, "1p", "9p", "1s", "9s"}
LABELS = {yaku.mjai: yaku.name.replace(" ", "_").replace("-", "_") for yaku in YAKU}
YAKUMAN_NAMES = {yaku.mjai for yaku in YAKU if yaku.closed >= 13}
DRAGONS = {"P": "haku", "F": "hatsu", "C": "chun"}
LIMITS = ((13, "yakumans"), (11, "sanbaimans"), (8, "baimans"), (6, "hanemans"), (5, "mangans"))


def kind_of(tile: str) -> str:
    """The kind of a tile: a red five is a five."""
    return tile.removesuffix("r")


# Complete hands and waits --------------------------------------------------------------------------------------------


@cache
def is_sets(counts: tuple[int, ...], runs: bool) -> bool:
    """Whether the tiles of a suit are triplets and runs."""
    first = next((at for at, count in enumerate(counts) if count), None)
    if first is None:
        return True
    rest = list(counts)
    if rest[first] >= 3:
        rest[first] -= 3
        if is_sets(tuple(rest), runs):
            return True
        rest[first] += 3
    if not runs or first > 6 or not (rest[first + 1] and rest[first + 2]):
        return False
    for at in range(first, first + 3):
        rest[at] -= 1
    return is_sets(tuple(rest), runs)


@cache
def is_sets_and_pair(counts: tuple[int, ...], runs: bool) -> bool:
    """Whether the tiles of a suit are triplets, runs and a pair."""
    return any(
        count >= 2 and is_sets((*counts[:at], count - 2, *counts[at + 1 :]), runs) for at, count in enumerate(counts)
    )


def suits_of(hand: Counter[str]) -> list[tuple[tuple[int, ...], bool]]:
    """The counts of each suit, and whether it has runs."""
    return [(tuple(hand[kind] for kind in suit), suit is not OTHERS) for suit in (PINZU, SOUZU, OTHERS)]


def all_sets(hand: Counter[str]) -> bool:
    """Whether the hand is sets alone."""
    return all(is_sets(*suit) for suit in suits_of(hand))


def sets_and_pair(hand: Counter[str]) -> bool:
    """Whether the hand is sets and one pair."""
    suits = suits_of(hand)
    return any(
        is_sets_and_pair(*suit) and all(is_sets(*other) for other in suits if other is not suit) for suit in suits
    )


def is_complete(hand: Counter[str]) -> bool:
    """Whether a hand is complete, yaku or not; melds are not in it."""
    kinds = +hand
    seven_pairs = len(kinds) == 7 and set(kinds.values()) == {2}
    orphans = set(kinds) == ORPHANS and kinds.total() == 14
    return seven_pairs or orphans or sets_and_pair(hand)


def waits_of(hand: Counter[str]) -> set[str]:
    """The kinds that complete a hand, without those of which it holds four."""
    return {kind for kind in KINDS if hand[kind] < 4 and is_complete(hand + Counter([kind]))}


def parts_of_runs() -> Iterator[tuple[str, list[str], set[str]]]:
    """Shape, tiles, and the kinds that complete it, of each part of a run: ryanmen, then kanchan, then penchan."""
    pairs = [(suit, at) for suit in (PINZU, SOUZU) for at in range(8)]
    for suit, at in pairs:
        if 1 <= at <= 6:
            yield "ryanmen", suit[at : at + 2], {suit[at - 1], suit[at + 2]}
    for suit, at in pairs[:-1]:
        if at < 7:
            yield "kanchan", [suit[at], suit[at + 2]], {suit[at + 1]}
    for suit in (PINZU, SOUZU):
        yield "penchan", suit[:2], {suit[2]}
        yield "penchan", suit[7:], {suit[6]}


PARTS_OF_RUNS = list(parts_of_runs())


def shape_of(hand: Counter[str], waits: set[str]) -> str:
    """The shape of the wait of a hand, by the definition of `engine.statistics.waits`."""
    if len(waits) > 2:
        return "multi"
    dead = {kind for kind, count in hand.items() if count == 4}
    for shape, tiles, own in PARTS_OF_RUNS:
        if own - dead == waits and all(hand[tile] for tile in tiles) and sets_and_pair(hand - Counter(tiles)):
            return shape
    doubles = [kind for kind in KINDS if hand[kind] >= 2]
    for at, first in enumerate(doubles):
        for second in doubles[at + 1 :]:
            if {first, second} - dead == waits and all_sets(hand - Counter([first] * 2 + [second] * 2)):
                return "shanpon"
    if len(waits) > 1:
        return "multi"
    (wait,) = waits
    single = hand[wait] > 0 and all_sets(hand - Counter([wait]))
    pairs_or_orphans = len(hand) in (7, 12) or set(hand) <= ORPHANS
    assert single or pairs_or_orphans, "a wait on one kind that is nothing else is tanki"
    return "tanki"


# A round -------------------------------------------------------------------------------------------------------------


class PlainRound:
    """One round: its messages from ``start_kyoku`` to ``end_kyoku`` add to ``counts``, one Counter for each seat."""

    def __init__(self, events: Sequence[Message], counts: Sequence[Counter[str]]) -> None:
        start = events[0]
        self.counts = counts
        self.dealer: int = start["oya"]
        self.hands = [Counter(map(kind_of, hand)) for hand in start["tehais"]]
        self.face_up = Counter([kind_of(start["dora_marker"])])
        self.rivers: list[list[str]] = [[], [], []]
        self.called_from: set[int] = set()
        self.melds: list[list[str]] = [[], [], []]
        self.open: set[int] = set()
        self.riichi: dict[int, str] = {}  # seat -> shape of the wait, in the order of the declarations
        self.tenpai: dict[int, int] = {}  # seat -> turn
        self.wins: list[Message] = []
        self.scores: list[int] = start["scores"]
        self.calls_so_far = 0
        self.double: set[int] = set()  # seats that declared riichi by their first discard, before any call
        self.draw: Message | None = None
        for seat in range(3):
            self.note_tenpai(seat)
        for event in events[1:]:
            getattr(self, "on_" + event["type"], lambda event: None)(event)
            self.scores = event.get("scores", self.scores)
        self.finish(start["scores"])

    def note_tenpai(self, seat: int) -> None:
        if seat not in self.tenpai and waits_of(self.hands[seat]):
            self.tenpai[seat] = len(self.rivers[seat])

    def on_tsumo(self, event: Message) -> None:
        self.hands[event["actor"]][kind_of(event["pai"])] += 1

    def on_dahai(self, event: Message) -> None:
        seat, kind = event["actor"], kind_of(event["pai"])
        self.use(seat, [kind])
        self.rivers[seat].append(kind)
        self.note_tenpai(seat)

    def use(self, seat: int, tiles: Sequence[str]) -> None:
        """Put tiles of a hand face up."""
        used = Counter(map(kind_of, tiles))
        self.hands[seat] -= used
        self.face_up += used

    def on_dora(self, event: Message) -> None:
        self.face_up[kind_of(event["dora_marker"])] += 1

    def on_pon(self, event: Message) -> None:
        seat = event["actor"]
        self.open.add(seat)
        self.called_from.add(event["target"])
        self.melds[seat] += [kind_of(tile) for tile in [event["pai"], *event["consumed"]]]
        self.declare(event, event["consumed"])

    on_daiminkan = on_pon

    def on_ankan(self, event: Message) -> None:
        self.melds[event["actor"]] += [kind_of(tile) for tile in event["consumed"]]
        self.declare(event, event["consumed"])

    def on_kakan(self, event: Message) -> None:
        self.melds[event["actor"]].append(kind_of(event["pai"]))
        self.declare(event, [event["pai"]])

    def declare(self, event: Message, tiles: Sequence[str]) -> None:
        self.calls_so_far += 1
        self.use(event["actor"], tiles)
        self.counts[event["actor"]][event["type"] + "s"] += 1

    def on_nukidora(self, event: Message) -> None:
        self.calls_so_far += 1
        self.use(event["actor"], ["N"])
        self.counts[event["actor"]]["nukidora"] += 1

    def on_reach(self, event: Message) -> None:
        if not self.rivers[event["actor"]] and not self.calls_so_far:
            self.double.add(event["actor"])

    def on_reach_accepted(self, event: Message) -> None:
        seat = event["actor"]
        own, hand = self.counts[seat], self.hands[seat]
        waits = waits_of(hand)
        shape = shape_of(hand, waits)
        if len(self.riichi) == 1:
            self.counts[next(iter(self.riichi))]["chased_riichis"] += 1
        own["chasing_riichis" if self.riichi else "first_riichis"] += 1
        self.riichi[seat] = shape
        own["riichis"] += 1
        own["double_riichis"] += seat in self.double
        own["furiten_riichis"] += bool(waits & set(self.rivers[seat]))
        own["riichi_wait_kinds"] += len(waits)
        own["riichi_wait_tiles"] += sum(4 - hand[kind] - self.face_up[kind] for kind in waits)
        own[f"riichis_by_shape.{shape}"] += 1
        own[f"riichis_by_turn.{len(self.rivers[seat])}"] += 1

    def on_hora(self, event: Message) -> None:
        self.wins.append(event)

    def on_ryukyoku(self, event: Message) -> None:
        self.draw = event

    # At the end of the round

    def state(self, seat: int) -> str:
        return "riichi" if seat in self.riichi else "call" if seat in self.open else "dama"

    def finish(self, start_scores: list[int]) -> None:
        for number, win in enumerate(self.wins):
            self.add_win(win)
            if win["actor"] != win["target"]:
                self.add_deal_in(win, number == 0)
            else:
                self.add_tsumo_losses(win)
        for seat, own in enumerate(self.counts):
            net = self.scores[seat] - start_scores[seat]
            own["rounds"] += 1
            own["calls"] += seat in self.open
            own["draws"] += not self.wins
            own["riichi_net"] += net * (seat in self.riichi)
            own["call_net"] += net * (seat in self.open)
            own["riichi_draws"] += seat in self.riichi and not self.wins
            if seat in self.tenpai:
                own["tenpais"] += 1
                own[f"tenpais_by_turn.{self.tenpai[seat]}"] += 1
            if self.draw is not None:
                self.add_draw(seat, own, self.draw)
        dealer = self.counts[self.dealer]
        dealer["dealer_rounds"] += 1
        dealer["dealer_repeats"] += self.dealer_repeats()

    def add_win(self, win: Message) -> None:
        seat, points, state = win["actor"], win["hora_points"], self.state(win["actor"])
        own, tsumo = self.counts[seat], win["actor"] == win["target"]
        own["wins"] += 1
        own["tsumos"] += tsumo
        own["win_points"] += points
        own[f"{state}_wins"] += 1
        own[f"{state}_win_points"] += points
        own[f"wins_by_points.{value_of(points)}"] += 1
        own[f"wins_by_turn.{max(1, len(self.rivers[seat]) + tsumo)}"] += 1
        if state == "riichi":
            own[f"riichi_wins_by_shape.{self.riichi[seat]}"] += 1
            own["first_riichi_wins" if next(iter(self.riichi)) == seat else "chasing_riichi_wins"] += 1
        if seat == self.dealer:
            own["dealer_wins"] += 1
            own["dealer_win_points"] += points
        own["busting_wins"] += any(score < 0 for other, score in enumerate(self.scores) if other != seat)
        self.add_yaku(win, own)

    def add_yaku(self, win: Message, own: Counter[str]) -> None:
        tiles = Counter([*map(kind_of, win["hora_tehais"]), kind_of(win["pai"]), *self.melds[win["actor"]]])
        dragons = [label for tile, label in DRAGONS.items() if tiles[tile] >= 3]
        for name, han in win["yakus"]:
            own[f"wins_by_yaku.{dragons.pop(0) if name == 'sangenpai' else LABELS[name]}"] += 1
            bonus = {"dora": "dora", "akadora": "red_dora", "uradora": "ura_dora", "nukidora": "nukidora"}.get(name)
            if bonus:
                own[f"{bonus}_han"] += han
        by_pattern = any(name in YAKUMAN_NAMES for name, _ in win["yakus"])
        limit = next((limit for han, limit in LIMITS if win["fan"] >= han), None)
        if limit is None and win["fu"] * 2 ** (2 + win["fan"]) >= 2000:
            limit = "mangans"
        if limit:
            own[limit] += 1
        own["kazoe_yakumans"] += limit == "yakumans" and not by_pattern

    def add_deal_in(self, win: Message, first: bool) -> None:
        seat, points, state = win["target"], win["hora_points"], self.state(win["actor"])
        own, dealer = self.counts[seat], win["target"] == self.dealer
        own["deal_ins"] += first
        own["deal_in_points"] += points
        own[f"{state}_deal_ins"] += 1
        own[f"{state}_deal_in_points"] += points
        own[f"deal_ins_by_points.{value_of(points)}"] += 1
        own["deal_ins_in_riichi"] += first and seat in self.riichi
        own["deal_ins_open"] += first and seat in self.open
        own["dealer_deal_ins"] += first and dealer
        own["dealer_deal_in_points"] += points * dealer

    def add_tsumo_losses(self, win: Message) -> None:
        for seat, own in enumerate(self.counts):
            if seat != win["actor"]:
                own["tsumo_losses"] += 1
                own["tsumo_loss_points"] -= win["deltas"][seat]
                own["dealer_tsumo_losses"] += seat == self.dealer
                own["dealer_tsumo_loss_points"] -= win["deltas"][seat] * (seat == self.dealer)

    def add_draw(self, seat: int, own: Counter[str], draw: Message) -> None:
        if draw["reason"] in ("fanpai", "nagashimangan"):
            own["exhaustive_draws"] += 1
            own["draws_tenpai"] += draw["tenpais"][seat]
            own["draw_points"] += draw["deltas"][seat]
            nagashi = seat not in self.called_from and set(self.rivers[seat]) <= ORPHANS
            assert not nagashi or draw["reason"] == "nagashimangan"
            own["nagashis"] += nagashi
        own["four_kan_draws"] += draw["reason"] == "sukaikan"
        own["kyushus"] += draw["reason"] == "kyushukyuhai" and draw["tenpais"][seat]

    def dealer_repeats(self) -> bool:
        if self.wins:
            return any(win["actor"] == self.dealer for win in self.wins)
        assert self.draw is not None
        return self.draw["reason"] in ("sukaikan", "kyushukyuhai") or self.draw["tenpais"][self.dealer]


def value_of(points: int) -> int:
    """The value by which a hand is counted in histograms."""
    return points if points < 12_000 else min(points // 1_000 * 1_000, 96_000)


# A game --------------------------------------------------------------------------------------------------------------


def places(scores: Sequence[int]) -> list[int]:
    """The place of each seat; ties go to the seat nearer the first dealer."""
    order = sorted(range(3), key=lambda seat: (-scores[seat], seat))
    return [order.index(seat) + 1 for seat in range(3)]


def recount(events: Sequence[Message]) -> list[Counter[str]]:
    """What is counted of each seat in a game, by the names of the counts; ``NAME.VALUE`` for histograms."""
    counts: list[Counter[str]] = [Counter(), Counter(), Counter()]
    starts = [at for at, event in enumerate(events) if event["type"] == "start_kyoku"]
    for first, last in zip(starts, [*starts[1:], len(events)], strict=True):
        PlainRound([event for event in events[first:last] if event["type"] != "end_game"], counts)
    starting_scores = [events[at]["scores"] for at in starts]
    final = events[-1]["scores"]
    before, after = places(starting_scores[-1]), places(final)
    for seat, own in enumerate(counts):
        behind = any(max(scores) - scores[seat] >= 20_000 for scores in starting_scores)
        own["score"] += final[seat]
        own["behind_games"] += behind
        own["comebacks"] += behind and after[seat] == 1
        own[f"games_by_places.{before[seat]}_to_{after[seat]}"] += 1
    return counts
