"""Decisions of games, with the messages that led there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agents.registry import make
from engine.game import Game
from engine.mjai.messages import Message


def decisions(seed: int, rules: str, share: float) -> Iterator[tuple[Game, list[Message], int, Any, list[int]]]:
    """Some decisions of a game with odd moves: the game, the messages of its round, a seat, its view, what is legal.

    The game may be played on, and must then be restored.
    """
    bots, random = (make("rule"), make("random")), np.random.default_rng(seed)
    game, sent = Game(seed=seed, rules=rules), [list[Message](), list[Message](), list[Message]()]
    while not game.over:
        for seat, messages in enumerate(sent):
            for message in game.new_messages(seat):
                if message["type"] == "start_kyoku":
                    messages.clear()
                messages.append(message)
        for seat in game.asked:
            view = game.view(seat)
            if random.random() < share:
                messages = [each for each in sent[seat] if each["type"] != "start_game"]
                yield game, messages, seat, view, game.legal(seat)
            bot = bots[int(random.random() < 0.25)]
            game.act(seat, int(bot.act(np.array([view]))[0]))
