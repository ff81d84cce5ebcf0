"""The keys `possible_actions` and `cannot_dahai` of a question, and the actions that replies mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents.registry import make
from engine.actions import NUKIDORA, PASS, PON, RIICHI, TSUMOGIRI
from engine.common.error_text import coded, line_of
from engine.game import Game
from engine.mjai.actions import action_message
from engine.mjai.possible_actions import legal_action, possible_actions
from engine.tiles import MJAI_TILES
from tests.support.walls import build_wall

Message = dict[str, Any]


def test_questions_name_the_special_actions_or_the_forbidden_discards() -> None:
    """On a draw or another's discard the special actions, after a riichi or pon the tiles not to be discarded."""
    collected: dict[str, list[Message]] = {"possible_actions": [], "cannot_dahai": []}
    agents = [make(name, seed=7) for name in ("random", "efficiency", "random")]
    game = Game(seed=5)

    while not game.over:
        for seat in game.asked:
            legal = game.legal(seat)
            last = game.new_messages(seat)[-1]
            given = possible_actions(game.table, seat, last, legal)
            for key, value in given.items():
                collected[key] += value
            if "possible_actions" in given:
                actions = [legal_action(game.table, seat, reply, legal) for reply in given["possible_actions"]]
                assert actions == [action for action in legal if action > TSUMOGIRI and action != PASS]
            if last["type"] in ("reach", "pon"):
                for name in given["cannot_dahai"]:
                    with pytest.raises(ValueError, match="may not"):
                        legal_action(game.table, seat, {"type": "dahai", "actor": seat, "pai": name}, legal)
            view = np.array([game.view(seat)])
            assert possible_actions(view[0], seat, last, legal) == given, "a view must give the same keys as the table"
            game.act(seat, int(agents[seat].act(view)[0]))

    assert {"nukidora", "reach", "pon"} <= {action["type"] for action in collected["possible_actions"]}
    assert collected["cannot_dahai"]


def test_red_fives_are_among_the_forbidden_discards() -> None:
    """After a pon of 5s the fourth, red one may not be discarded (kuikae)."""
    game = Game(walls=[build_wall(["5s", "550s"])])
    game.act(0, MJAI_TILES["5s"])
    game.act(1, PON)
    given = possible_actions(game.table, 1, game.new_messages(1)[-1], game.legal(1))
    assert given == {"cannot_dahai": ["5sr"]}


def test_replies_may_leave_out_keys_but_must_match_the_state() -> None:
    game = Game(seed=1)
    view, legal = game.view(0), game.legal(0)
    drawn = Game(seed=1).new_messages(0)[-1]["pai"]
    for tsumogiri in ({}, {"tsumogiri": True}, {"tsumogiri": False}, {"tsumogiri": {}}):
        action = legal_action(view, 0, {"type": "dahai", "actor": 0, "pai": drawn} | tsumogiri, legal)
        assert action == TSUMOGIRI or (not tsumogiri.get("tsumogiri", True) and action in legal)
    for reply, what, code in [
        ({"type": "reach", "actor": 0}, "may not riichi", {"code": "may_not"}),
        ({"type": "dahai", "actor": 0, "pai": "??"}, "a tile like", {}),
        ({"type": "tsumo", "actor": 0}, "is no action", {}),
        ({"type": "dahai", "actor": 2, "pai": drawn}, "actor is 2, but here it can only be 0", {"code": "key_other"}),
    ]:
        assert RIICHI not in legal
        assert NUKIDORA not in legal
        with pytest.raises(ValueError, match=what) as caught:
            legal_action(view, 0, reply, legal)
        assert code.items() <= coded(line_of(caught.value)).items()


@pytest.mark.parametrize(("kind", "key"), [("nukidora", "pai"), ("kakan", "consumed"), ("daiminkan", "consumed")])
def test_a_reply_with_an_unknown_tile_does_not_match(kind: str, key: str) -> None:
    reply, game, seat = next(decisions_with(kind))
    for tiles in (["?"], [*reply[key][:-1], "?"]):
        changed = reply | {key: "?" if key == "pai" else tiles}
        with pytest.raises(ValueError, match=f"{kind}: {key} is .*, but here it can only be"):
            legal_action(game.view(seat), seat, changed, game.legal(seat))


def decisions_with(kind: str) -> Iterator[tuple[Message, Game, int]]:
    """Decisions where an action of type `kind` is legal, in games where every seat plays its highest legal action."""
    for seed in range(100):
        game = Game(seed=seed)
        while not game.over:
            for seat in game.asked:
                legal = game.legal(seat)
                for action in legal:
                    message = action_message(game.table, seat, action)
                    if message["type"] == kind:
                        yield message, game, seat
                game.act(seat, max(action for action in legal if action != PASS or len(legal) == 1))
