"""``python -m tests.support.bert_digest SEED``: all that encoder and labels say of a short game."""

from __future__ import annotations

import hashlib
import random
import sys

import numpy as np

from agents.bert.encoding import encode
from agents.bert.labels import actions_of, labels_of, legal_masks
from engine.game import Game
from engine.rules import TENHOU
from tests.support.players import ALL_HABITS, efficient_driver


def digest(seed: int) -> str:
    """Digest of tokens, masks, positions, legal labels, and the labels of what was done, of an East-only game."""
    game, choose = Game(seed, TENHOU.with_length("east")), efficient_driver(random.Random(seed), ALL_HABITS[3])
    views, actions = [], []
    while not game.over:
        for seat in game.asked:
            hand = game.table.seat[seat]
            views.append(game.view(seat))
            actions.append(choose(hand.hand, int(hand.n_melds), int(game.table.drawn), game.legal(seat)))
            game.act(seat, actions[-1])
    seen = np.array(views)
    encoded, labels = encode(seen), labels_of(seen, np.array(actions))
    said = (*encoded, encoded.attention_mask, encoded.position_ids, legal_masks(seen), labels, actions_of(seen, labels))
    return hashlib.sha256(b"".join(array.tobytes() for array in said)).hexdigest()


if __name__ == "__main__":
    print(digest(int(sys.argv[1])))
