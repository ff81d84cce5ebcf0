"""Scoring of winning hands: yaku, han, fu and points.

Begin with `engine.scoring.api.score`, which scores a hand given as text. `engine.scoring.hand.score_hand` is the scorer
itself: `decompose` splits a hand, `patterns` finds its yaku, `fu` and `points` count, and `yaku` is the table of all
yaku. `table_scoring` scores the hand of a seat at a table, `batch` many hands at once.
"""
