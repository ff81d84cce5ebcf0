"""How likely a hand is to win before the others do, as tables made once.

A *go-round* is the discards of the two others and one's own next draw; `turns` counts the own draws still to come,
and the *level* is the number of seats that threaten to win (0-2). The numbers are fitted to how often hands of each
shanten, turn and level won in 1,500 games among bots that only play for speed.
"""

from __future__ import annotations

import numpy as np

MAX_TURNS = 19
MAX_WAIT = 15  # tiles; more are counted as so many
MAX_USEFUL = 60
# Chance that a go-round ends with somebody else's win, by level.
HAZARD = np.array([0.006, 0.10, 0.21])
N_LEVELS = len(HAZARD)
# Of the tiles that would help a hand, how many really come: a step to tenpai, a win.
STEP_SHARE = 0.5
WIN_SHARE = 0.68
# Useful tiles an average hand has by shanten (0: its wait), once it gets there.
USUAL_TILES = np.array([5, 13, 26, 27, 40, 50, 56, 60, 60])
# How readily others discard a winning tile, against a tile at random.
RON_RATE = 0.44
NO_OWN_WIN = 0.88  # chance that a go-round passes without a win of the viewer itself
HIDDEN_FOR_GOOD = 39.0  # tiles the viewer will never see: two hands and most of the dead wall


def hidden_tiles(turns: int) -> float:
    """Tiles a seat does not see with that many draws to come."""
    return HIDDEN_FOR_GOOD + 3.0 * turns


def next_levels(level: int, turns: int) -> list[tuple[int, float]]:
    """Levels a go-round later, each with its chance: other seats may begin to threaten, more so as time passes."""
    arrives = (0.006 + 0.0013 * (MAX_TURNS - 1 - turns)) * (N_LEVELS - 1 - level) / 2
    return [(level, 1 - arrives), (min(level + 1, N_LEVELS - 1), arrives)]


def _later(wins: np.ndarray, level: int, turns: int) -> np.ndarray:
    """Chances a go-round later, for `wins` float64[..., N_LEVELS, MAX_TURNS + 1] and a turn at least: float64[...]."""
    return sum((chance * wins[..., then, turns - 1] for then, chance in next_levels(level, turns)), np.float64(0))


def _wait_wins() -> np.ndarray:
    """float64[2, MAX_WAIT + 1, N_LEVELS, MAX_TURNS + 1]: chance of a tenpai hand to win, by ron or not, and by wait."""
    wins = np.zeros((2, MAX_WAIT + 1, N_LEVELS, MAX_TURNS + 1))
    ron_counts = np.array([[0.0], [1.0]])
    for turns in range(MAX_TURNS + 1):
        hit = WIN_SHARE * np.arange(MAX_WAIT + 1) / hidden_tiles(turns)
        by_others = ron_counts * (1 - (1 - RON_RATE * hit) ** 2)
        for level in range(N_LEVELS):
            own = hit + (1 - hit) * _later(wins, level, turns) if turns > 0 else 0.0
            wins[..., level, turns] = by_others + (1 - by_others) * (1 - HAZARD[level]) * own
    return wins


def _step_wins(then: np.ndarray) -> np.ndarray:
    """Chance for each useful tile to be the one that comes first and to win after it.

    `then` float64[..., N_LEVELS, MAX_TURNS + 1] is the chance to win after the step. The result has an axis of
    MAX_USEFUL + 1 more in front: how many useful tiles there are in all.
    """
    wins = np.zeros((MAX_USEFUL + 1, *then.shape))
    useful = np.arange(MAX_USEFUL + 1).reshape(-1, *(1 for _ in then.shape[:-2]))
    for turns in range(1, MAX_TURNS + 1):
        one = STEP_SHARE / hidden_tiles(turns)
        for level in range(N_LEVELS):
            onward = one * _later(then, level, turns) + (1 - one * useful) * _later(wins, level, turns)
            wins[..., level, turns] = (1 - HAZARD[level]) * onward
    return wins


def _chain_wins() -> np.ndarray:
    """float64[shanten, MAX_USEFUL + 1, N_LEVELS, MAX_TURNS + 1]: the same by shanten, every later step being usual."""
    then = WAIT_WINS[1, USUAL_TILES[0]]
    wins = np.zeros((len(USUAL_TILES), MAX_USEFUL + 1, *then.shape))
    for shanten in range(1, len(USUAL_TILES)):
        wins[shanten] = _step_wins(then)
        then = USUAL_TILES[shanten] * wins[shanten, USUAL_TILES[shanten]]
    return wins


def _drawn_tenpai() -> np.ndarray:
    """float64[3, N_LEVELS, MAX_TURNS + 1]: chance to be tenpai at an exhaustive draw, by shanten; from 2 on it is 0."""
    drawn = np.zeros((3, N_LEVELS, MAX_TURNS + 1))
    drawn[0, :, 0] = 1.0
    for turns in range(1, MAX_TURNS + 1):
        win = WIN_SHARE * (1 + 2 * RON_RATE) * USUAL_TILES[0] / hidden_tiles(turns)
        step = STEP_SHARE * USUAL_TILES[1] / hidden_tiles(turns)
        for level in range(N_LEVELS):
            drawn[0, level, turns] = (1 - HAZARD[level]) * (1 - win) * _later(drawn[0], level, turns)
            onward = step * _later(drawn[0], level, turns) + (1 - step) * _later(drawn[1], level, turns)
            drawn[1, level, turns] = (1 - HAZARD[level]) * onward
    return drawn


WAIT_WINS = _wait_wins()
# float64[MAX_USEFUL + 1, MAX_WAIT + 1, N_LEVELS, MAX_TURNS + 1]: a step from tenpai, by useful tiles and wait.
TENPAI_WINS = _step_wins(WAIT_WINS[1])
CHAIN_WINS = _chain_wins()
DRAWN_TENPAI = _drawn_tenpai()
# Discards still to be made before the round ends, by level and turns.
DISCARDS_LEFT = np.array(
    [
        [sum((NO_OWN_WIN * (1 - hazard)) ** k for k in range(turns)) for turns in range(MAX_TURNS + 1)]
        for hazard in HAZARD
    ]
)
