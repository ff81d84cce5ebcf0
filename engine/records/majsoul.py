"""Mahjong Soul's native records as JSON of its protobuf messages: ``RecordNewRound``, ``RecordDealTile`` and so on.

Each message is an object with ``name`` and ``data``, whose keys are the protobuf field names, as they are or in
lowerCamelCase; a missing field has its default: 0, false or empty. The messages form a list, which programs put in
different places; ``head`` has names, rules and the result. `engine.records.majsoul_binary` converts the binary form to
such JSON. Only reading is implemented.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from engine.common.error_text import error_text
from engine.mjai.kinds import TILES, no_tile, sort_tiles
from engine.mjai.messages import Message, complete, make, start_game, start_kyoku
from engine.records.model import (
    FOUR_NAMED,
    FOURTH_PLAYS,
    OF_TENHOU,
    GameRecord,
    NotThreePlayersError,
    RecordError,
    custom_rules,
    no_result,
    record_errors,
    round_name,
    unknown_yaku,
)
from engine.records.tenhou_rounds import accept_riichi, place_indicators
from engine.rules import MAJSOUL, Rules
from engine.ryukyoku import UNKNOWN_MJAI
from engine.scoring.yaku import BY_NUMBER, YAKUMAN_HAN
from engine.table import N_SEATS

Fields = dict[str, Any]

BINARY = b".lq.GameDetailRecords"  # occurs in the binary form, which names its messages
FIRST_RECORD = "RecordNewRound"
_RENHOU = 59  # its number for renhou; the yaku played here have our numbers
_CALLS = {1: "pon", 2: "daiminkan"}
_ADDED, _CONCEALED = 2, 3  # types of RecordAnGangAddGang
_KYUSHU_KYUHAI = 1  # type of RecordLiuJu
_MAX_KANS = 4
_MAX_PLAY = 1000  # events of a round, which has about 300 at most; the time to read a kan grows with their number
_EAST_MODE = 1  # last digit of the mode; 2 is a hanchan
# Rules of friends' rooms and tournaments that are not supported here: field, value -> description.
_CUSTOM = {
    ("have_zimosun", False): "no tsumo loss",
    ("shiduan", False): "no open tanyao",
    ("guyi_mode", True): "local yaku",
    ("enable_renhe", True): "renhou",
    ("disable_leijiyiman", True): "no kazoe yakuman",
    ("have_qieshangmanguan", True): "kiriage mangan",
    ("have_toutiao", True): "only one win on a discard",
    ("have_liujumanguan", False): "no nagashi mangan",
    ("have_yifa", False): "no ippatsu",
    ("have_li_dora", False): "no ura dora",
}
_CAMEL = re.compile(r"(?<=[a-z])([A-Z])")


def is_binary(data: bytes) -> bool:
    """Return whether these bytes are a record in binary form."""
    return BINARY in data and data.lstrip()[:1] not in (b"{", b"<")


def is_record(document: Any) -> bool:
    """Whether a JSON document has records of Mahjong Soul."""
    return isinstance(document, dict) and "log" not in document and next(_records(document), None) is not None


def read(document: Fields, source: str) -> GameRecord:
    """Read the game in the JSON of a file; `source`: file name, for messages. Raises RecordError."""
    with record_errors(source, "head"):
        head = _snake(_found(document, "head") or {})
        rules, custom = _rules(head)
        if len(head.get("accounts", [])) > N_SEATS:
            raise NotThreePlayersError(FOUR_NAMED)
        names = ["AI"] * N_SEATS
        for account in head.get("accounts", []):
            names[account.get("seat", 0)] = account.get("nickname", "")
        start = start_game(names if head.get("accounts") else [], rules)
        kept = {OF_TENHOU: {"ref": head["uuid"]}} if head.get("uuid") else {}
    reader = _Reader(custom_rules(custom))
    for number, (name, data) in enumerate(_records(document), 1):
        location = error_text("at_record", "record {n} {name}", n=number, name=name)
        if reader.round:
            location = error_text("in_round", "{place} in {round}", place=location, round=reader.round)
        with record_errors(source, location):
            reader.read(name, _snake(data))
    if reader.round and not reader.is_over:
        where = error_text("record_of_round", "record of {round}", round=reader.round)
        what = error_text("majsoul_cut", "the record ends before the round does; fetch it again")
        raise RecordError(source, where, what)
    with record_errors(source, "result"):
        events = [start | kept, *reader.events, _end_game(head)]
        return GameRecord(complete(events), rules, source, reader.notes)


def _records(value: Any) -> Iterator[tuple[str, Fields]]:
    """Yield name and fields of each message in a document, in order, wherever they are."""
    if isinstance(value, list):
        for each in value:
            yield from _records(each)
    elif isinstance(value, dict):
        name = value.get("name")
        if isinstance(name, str) and name.removeprefix(".lq.").startswith("Record"):
            yield name.removeprefix(".lq."), value.get("data") or {}
        else:
            for key, each in value.items():
                if key != "head":
                    yield from _records(each)


def _found(value: Any, key: str) -> Any:
    """Find the value of a key in a document or in an object inside it."""
    if not isinstance(value, dict):
        return None
    return value.get(key) or next(filter(None, (_found(each, key) for each in value.values())), None)


def _snake(value: Any) -> Any:
    """Return a value with all keys renamed as in the protobuf."""
    if isinstance(value, list):
        return [_snake(each) for each in value]
    if isinstance(value, dict):
        return {_CAMEL.sub(r"_\1", key).lower(): _snake(each) for key, each in value.items()}
    return value


def _rules(head: Fields) -> tuple[Rules, list[str]]:
    """Return the rules of a game, and those that are not supported here."""
    mode = head.get("config", {}).get("mode", {})
    rules = MAJSOUL.with_length("east" if mode.get("mode", 0) % 10 == _EAST_MODE else "hanchan")
    detail = mode.get("detail_rule", {}) if not head.get("config", {}).get("meta", {}).get("mode_id") else {}
    if detail.get("dora_count") == 0:
        rules = replace(rules, red_fives=False)
    rules = replace(
        rules,
        double_yakuman=not detail.get("disable_double_yakuman", False),
        kokushi_robs_ankan=not detail.get("disable_angang_guoshi", False),
    )
    return rules, [what for (name, value), what in _CUSTOM.items() if name in detail and bool(detail[name]) is value]


def _end_game(head: Fields) -> Message:
    """Read the result, which has scores and a thousand times the final points."""
    players = head.get("result", {}).get("players", [])
    if len(players) != N_SEATS:
        return make("end_game")
    by_seat = sorted(players, key=lambda player: player.get("seat", 0))
    scores = [int(player.get("part_point_1", 0)) for player in by_seat]
    return make("end_game", scores=scores, points=[player.get("total_point", 0) / 1000 for player in by_seat])


class _Reader:
    """Reads records one after another into `events`."""

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes
        self.events: list[Message] = []
        self.round = ""
        self.is_over = False
        self.start: Message = {}
        self.play: list[Message] = []
        self.markers: list[str] = []
        self.has_reds = False
        self.handlers: dict[str, Callable[[Fields], None]] = {
            FIRST_RECORD: self.new_round,
            "RecordDealTile": self.deal,
            "RecordDiscardTile": self.discard,
            "RecordChiPengGang": self.call,
            "RecordAnGangAddGang": self.own_kan,
            "RecordBaBei": self.north,
            "RecordHule": self.win,
            "RecordNoTile": self.exhaustive,
            "RecordLiuJu": self.abort,
        }

    def read(self, name: str, fields: Fields) -> None:
        """Read one record. Raises ValueError, KeyError or IndexError for a record that does not make sense."""
        if name not in self.handlers:
            raise ValueError(error_text("majsoul_other", "a record of another game than riichi mahjong for three"))
        if name != FIRST_RECORD and (self.is_over or not self.round):
            raise ValueError(error_text("outside_rounds", "it belongs to no round"))
        if len(self.play) > _MAX_PLAY and name != FIRST_RECORD:
            raise ValueError(error_text("round_long", "more than {n:,} events: no round has as many", n=_MAX_PLAY))
        markers = [_tile(name) for name in fields.get("doras", [])]
        if name not in (FIRST_RECORD, "RecordHule") and len(markers) > len(self.markers):
            self.markers = markers
        self.handlers[name](fields)

    def new_round(self, fields: Fields) -> None:
        if fields.get("tiles3") or len(fields["scores"]) > N_SEATS:
            raise NotThreePlayersError(FOURTH_PLAYS)
        if self.round and not self.is_over:
            raise ValueError(no_result(self.round))
        hands = [[_tile(name) for name in fields[f"tiles{seat}"]] for seat in range(N_SEATS)]
        oya = fields.get("ju", 0)
        drawn = hands[oya].pop()
        self.markers = [_tile(name) for name in fields.get("doras") or [fields["dora"]]]
        index = 4 * fields.get("chang", 0) + oya
        self.start = start_kyoku(
            index, fields.get("ben", 0), fields.get("liqibang", 0), self.markers[0], fields["scores"], hands
        )
        self.round, self.is_over = round_name(self.start), False
        self.play = [make("tsumo", actor=oya, pai=drawn)]

    def deal(self, fields: Fields) -> None:
        self.play.append(make("tsumo", actor=fields.get("seat", 0), pai=_tile(fields["tile"])))

    def discard(self, fields: Fields) -> None:
        seat = fields.get("seat", 0)
        if fields.get("is_liqi") or fields.get("is_wliqi"):
            self.play.append(make("reach", actor=seat))
        pai = _tile(fields["tile"])
        self.play.append(make("dahai", actor=seat, pai=pai, tsumogiri=bool(fields.get("moqie"))))

    def call(self, fields: Fields) -> None:
        kind, seat = fields.get("type", 0), fields.get("seat", 0)
        if kind not in _CALLS:
            raise ValueError(
                error_text("majsoul_call", "a call of type {n}, which three players do not have", n=str(kind))
            )
        pairs = [(_tile(name), origin) for name, origin in zip(fields["tiles"], fields["froms"], strict=True)]
        ((pai, target),) = [pair for pair in pairs if pair[1] != seat]
        consumed = sort_tiles([tile for tile, origin in pairs if origin == seat])
        self.play.append(make(_CALLS[kind], actor=seat, target=target, pai=pai, consumed=consumed))

    def own_kan(self, fields: Fields) -> None:
        kind, seat, pai = fields.get("type", 0), fields.get("seat", 0), _tile(fields["tiles"])
        if kind == _ADDED:
            pons = (event for event in self.play if event["type"] == "pon" and event["actor"] == seat)
            pon = next((event for event in pons if event["pai"][:2] == pai[:2]), None)
            if pon is None:
                raise ValueError(error_text("kan_alone", "a kan of {tile} is added to no pon", tile=pai))
            consumed = sort_tiles([pon["pai"], *pon["consumed"]])
            self.play.append(make("kakan", actor=seat, pai=pai, consumed=consumed))
        elif kind == _CONCEALED:
            held = [*self.start["tehais"][seat], *(each["pai"] for each in self.play if _draws(each, seat))]
            consumed = sort_tiles([tile for tile in held if tile[:2] == pai[:2]])[-4:]
            self.play.append(make("ankan", actor=seat, consumed=consumed))
        else:
            raise ValueError(error_text("majsoul_kan", "a kan of type {n}, which does not exist", n=str(kind)))

    def north(self, fields: Fields) -> None:
        self.play.append(make("nukidora", actor=fields.get("seat", 0), pai="N"))

    def win(self, fields: Fields) -> None:
        wins = [self.hora(each) for each in fields["hules"]]
        if len(wins) == 1:
            wins[0]["deltas"] = fields["delta_scores"][:N_SEATS]
        after = [old + delta for old, delta in zip(fields["old_scores"], fields["delta_scores"], strict=True)]
        wins[-1]["scores"] = after[:N_SEATS]
        self.end(wins)

    def hora(self, fields: Fields) -> Message:
        """Read a win; of a double ron, the record does not say what each winner was paid."""
        seat, by_tsumo = fields.get("seat", 0), fields.get("zimo", False)
        worth = YAKUMAN_HAN if fields.get("yiman") else 1
        yakus: list[list[Any]] = []
        unknown: list[str] = []
        for fan in fields.get("fans", []):
            number, han = fan.get("id", 0), worth * fan.get("val", 0)
            if number not in BY_NUMBER and number != _RENHOU:
                unknown.append(str(fan.get("name") or number))
            elif han:
                yakus.append(["renho" if number == _RENHOU else BY_NUMBER[number].mjai, han])
        if unknown:
            self.notes += unknown_yaku(self.round, unknown)
        tile, hand = _tile(fields["hu_tile"]), [_tile(name) for name in fields["hand"]]
        if len(hand) % 3 == 2:  # with the winning tile
            hand.remove(tile)
        if by_tsumo:
            others = fields.get("point_zimo_xian", 0)
            points = 2 * others if fields.get("qinjia") else others + fields.get("point_zimo_qin", 0)
        else:
            points = fields.get("point_rong", 0)
        return make(
            "hora",
            actor=seat,
            target=seat if by_tsumo else self.play[-1]["actor"],
            pai=tile,
            uradora_markers=[_tile(name) for name in fields.get("li_doras", [])] if fields.get("liqi") else [],
            hora_tehais=hand,
            yakus=None if unknown else yakus,
            fan=None if unknown else sum(han for _, han in yakus),
            hora_points=points,
        )

    def exhaustive(self, fields: Fields) -> None:
        deltas = [0] * N_SEATS
        for score in fields.get("scores", []):  # with several nagashi mangan, one for each
            given = score.get("delta_scores") or [0] * N_SEATS
            deltas = [total + delta for total, delta in zip(deltas, given[:N_SEATS], strict=True)]
        reason = "nagashimangan" if fields.get("liujumanguan") else "fanpai"
        tenpais = [bool(player.get("tingpai")) for player in fields.get("players", [])[:N_SEATS]]
        self.end([make("ryukyoku", reason=reason, tenpais=tenpais or None, deltas=deltas)])

    def abort(self, fields: Fields) -> None:
        n_kans = sum(event["type"] in ("ankan", "kakan", "daiminkan") for event in self.play)
        reason = "sukaikan" if n_kans == _MAX_KANS else UNKNOWN_MJAI
        if fields.get("type") == _KYUSHU_KYUHAI:
            reason = "kyushukyuhai"
        self.end([make("ryukyoku", reason=reason)])

    def end(self, result: list[Message]) -> None:
        body = accept_riichi(place_indicators(self.play, self.markers[1:]), result)
        self.events += [self.start, *body, *result, make("end_kyoku")]
        self.is_over = True


def _draws(event: Message, seat: int) -> bool:
    return event["type"] == "tsumo" and bool(event["actor"] == seat)


def _tile(name: str) -> str:
    """The mjai name of a tile. Raises ValueError for one that three players do not have."""
    if name not in TILES or name == "?":
        raise ValueError(no_tile(name))
    return TILES[name]
