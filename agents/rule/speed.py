"""How likely a hand is to win before the others do, as tables made once.

A *go-round* is the discards of the two others and one's own next draw; `turns` counts the own draws still to come, and the
*level* is the number of seats that threaten to win (0-2). The numbers are fitted to how often hands of each shanten, turn and
level won in 1,500 games among bots that only play for speed.
"""

from __future__ import annotations

import numpy as np

from engine.compiling import inner

MAX_TURNS = 19
MAX_WAIT = 24  # tiles
# Chance that a go-round ends with somebody else's win, by level.
HAZARD = np.array([0.006, 0.10, 0.21])
N_LEVELS = len(HAZARD)
# Of the tiles that would help a hand, how many really come: a step to tenpai, a win.
STEP_SHARE = 0.5
WIN_SHARE = 0.68
# Useful tiles an average hand has by shanten (0: its wait), once it gets there.
USUAL_TILES = np.array([5.4, 13.3, 25.7, 27.0, 40.0, 50.0, 56.0, 60.0, 60.0])
# How readily others discard a winning tile, against a tile at random.
RON_RATE = 0.44
HIDDEN_FOR_GOOD = 39.0  # tiles the viewer will never see: two hands and most of the dead wall


def hidden_tiles(turns: int) -> float:
    """Tiles a seat does not see with that many draws to come."""
    return HIDDEN_FOR_GOOD + 3.0 * turns


def next_levels(level: int, turns: int) -> list[tuple[int, float]]:
    """Levels a go-round later, each with its chance: seats that do not threaten yet may begin to, more so as time passes."""
    arrives = (0.006 + 0.0013 * (MAX_TURNS - 1 - turns)) * (N_LEVELS - 1 - level) / 2
    return [(level, 1 - arrives), (min(level + 1, N_LEVELS - 1), arrives)]


# LEVEL_STAYS[level, turns]: chance that the level is the same a go-round later; else it rises by one.
LEVEL_STAYS = np.array(
    [[next_levels(level, turns)[0][1] for turns in range(MAX_TURNS + 1)] for level in range(N_LEVELS)]
)


def _later(wins: np.ndarray, level: int, turns: int) -> float:
    """Chance to win a go-round later, for `wins` float64[N_LEVELS, MAX_TURNS + 1]; 0 when no draw is left."""
    if turns == 0:
        return 0.0
    return sum(chance * float(wins[then, turns - 1]) for then, chance in next_levels(level, turns))


def _wait_wins() -> np.ndarray:
    """float64[2, MAX_WAIT + 1, N_LEVELS, MAX_TURNS + 1]: chance of a tenpai hand to win, by whether ron counts and wait."""
    wins = np.zeros((2, MAX_WAIT + 1, N_LEVELS, MAX_TURNS + 1))
    for turns in range(MAX_TURNS + 1):
        for by_ron, wait, level in np.ndindex(wins.shape[:3]):
            hit = min(WIN_SHARE * wait / hidden_tiles(turns), 1.0)
            by_others = by_ron * (1 - (1 - RON_RATE * hit) ** 2)
            own = hit + (1 - hit) * _later(wins[by_ron, wait], level, turns) if turns > 0 else 0.0
            wins[by_ron, wait, level, turns] = by_others + (1 - by_others) * (1 - HAZARD[level]) * own
    return wins


WAIT_WINS = _wait_wins()


def _chain_wins() -> np.ndarray:
    """float64[shanten, N_LEVELS, MAX_TURNS + 1]: chance of a hand with the usual useful tiles to win."""
    wins = np.zeros((len(USUAL_TILES), N_LEVELS, MAX_TURNS + 1))
    low, part = divmod(float(USUAL_TILES[0]), 1)
    wins[0] = (1 - part) * WAIT_WINS[1, int(low)] + part * WAIT_WINS[1, int(low) + 1]
    for shanten in range(1, len(USUAL_TILES)):
        for turns in range(1, MAX_TURNS + 1):
            step = STEP_SHARE * USUAL_TILES[shanten] / hidden_tiles(turns)
            for level in range(N_LEVELS):
                onward = step * _later(wins[shanten - 1], level, turns)
                onward += (1 - step) * _later(wins[shanten], level, turns)
                wins[shanten, level, turns] = (1 - HAZARD[level]) * onward
    return wins


CHAIN_WINS = _chain_wins()
# Discards still to be made before the round ends, by level and turns.
DISCARDS_LEFT = np.array(
    [[sum((0.88 * (1 - hazard)) ** k for k in range(turns)) for turns in range(MAX_TURNS + 1)] for hazard in HAZARD]
)


@inner
def after_step(step: float, leave: float, level: int, turns: int, wins: np.ndarray) -> float:
    """Chance to win of a hand whose next step comes with chance `step` a draw and then wins with `wins`.

    `wins` is float64[N_LEVELS, MAX_TURNS + 1]; `leave` is the chance a draw of any step, this one included.
    """
    zero = one = two = 0.0  # by level
    for turn in range(1, turns + 1):
        stays = LEVEL_STAYS[0, turn]
        here = stays * (step * wins[0, turn - 1] + (1 - leave) * zero)
        zero = (1 - HAZARD[0]) * (here + (1 - stays) * (step * wins[1, turn - 1] + (1 - leave) * one))
        stays = LEVEL_STAYS[1, turn]
        here = stays * (step * wins[1, turn - 1] + (1 - leave) * one)
        one = (1 - HAZARD[1]) * (here + (1 - stays) * (step * wins[2, turn - 1] + (1 - leave) * two))
        two = (1 - HAZARD[2]) * (step * wins[2, turn - 1] + (1 - leave) * two)
    return zero if level == 0 else one if level == 1 else two
