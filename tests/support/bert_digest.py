"""``python -m tests.support.bert_digest SEED``: a digest of the encodings and labels of a short game."""

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
    """SHA-256 of the tokens, masks, position ids, legal labels and chosen labels of an East-only game."""
    game, choose = Game(seed, TENHOU.with_length("east")), efficient_driver(random.Random(seed), ALL_HABITS[3])
    views, actions = [], []
    while not game.over:
        for seat in game.asked:
            hand = game.table.seat[seat]
            views.append(game.view(seat))
            actions.append(choose(hand.hand, int(hand.n_melds), int(game.table.drawn), game.legal(seat)))
            game.act(seat, actions[-1])
    all_views = np.array(views)
    encoded, labels = encode(all_views), labels_of(all_views, np.array(actions))
    arrays = (
        *encoded,
        encoded.attention_mask,
        encoded.position_ids,
        legal_masks(all_views),
        labels,
        actions_of(all_views, labels),
    )
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


if __name__ == "__main__":
    print(digest(int(sys.argv[1])))
