"""Peculiarities of the mjai of jansou (0.14.0): rules as an object, and tenpai given by null in ``tehais``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.mjai.keys import Message
from engine.mjai.messages import rules_keys
from engine.rules import MAJSOUL, NOTEN_POOL, START_POINTS, TARGET_POINTS, TENHOU, Rules

_PRESETS = {"tenhou-3p": TENHOU, "mahjong-soul-3p": MAJSOUL}
_LENGTHS = {"E": "east", "S": "hanchan"}
# Fields of its rules that correspond to fields of ours.
_FIELDS = {"aka_dora": "red_fives", "kokushi_ankan_chankan": "kokushi_robs_ankan", "double_yakuman": "double_yakuman"}
# Its other fields, with the only value supported here. Both of its three-player presets have these values, except for
# noten payments, which total 3,000 points there.
_TRUE = (
    "kazoe_yakuman", "multiple_yakuman", "ura_dora", "kan_dora", "nuki_dora", "closed_kan_indicator_immediate",
    "closed_kan_after_riichi", "kuitan", "kuikae_ban", "multiple_ron", "abort_kyuushu_kyuuhai", "abort_suukaikan",
    "formal_tenpai", "nagashi_mangan", "ippatsu", "dealer_repeat_on_tenpai", "pao_daisangen", "pao_daisuushi",
    "pao_honba_to_liable", "agari_yame", "sudden_death", "leftover_deposits_to_first",
)  # fmt: skip
_FALSE = (
    "kiriage_mangan", "open_kan_indicator_immediate", "riichi_without_draw", "riichi_without_tenpai",
    "tenpai_declaration", "pao_suukantsu", "pao_daiminkan", "allow_negative_scores", "rank_ties_shared",
)  # fmt: skip
_NUMBERS = {
    "starting_points": START_POINTS, "sudden_death_target": TARGET_POINTS, "honba_value": 100, "double_wind_fu": 4,
    "noten_penalty_pool": NOTEN_POOL,
}  # fmt: skip
_PLAYED: dict[str, Any] = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False) | _NUMBERS


def plain(message: Message) -> Message:
    """Return a message of any dialect with jansou's peculiarities converted to the form that other programs write."""
    if message["type"] == "start_game" and isinstance(message.get("rules"), dict):
        others = {key: value for key, value in message.items() if key not in ("rules", "preset")}
        rules = _rules(message)
        return others | ({} if rules is None else rules_keys(rules))
    if message["type"] == "ryukyoku" and message.get("reason") == "exhaustive" and "tenpais" not in message:
        hands = message.get("tehais")
        return message | {"tenpais": [hand is not None for hand in hands]} if isinstance(hands, list) else message
    return message


def unsupported_rules(start: Message) -> list[str]:
    """Return the rules in its ``start_game`` that are not supported here, with their values."""
    rules = start.get("rules")
    if not isinstance(rules, dict):
        return []
    odd = [name for name, value in _PLAYED.items() if name in rules and rules[name] != value]
    return [f"{name} {rules[name]!r}" for name in odd]


def _rules(start: Message) -> Rules | None:
    """Return the rules that an object names; None if it is not a rules object of jansou."""
    told: dict[str, Any] = start["rules"]
    if told.get("game_length") not in _LENGTHS:
        return None
    base = _PRESETS.get(start.get("preset", ""), TENHOU).with_length(_LENGTHS[told["game_length"]])  # type: ignore[arg-type]
    given: dict[str, Any] = {ours: bool(told[name]) for name, ours in _FIELDS.items() if name in told}
    return replace(base, **given)
