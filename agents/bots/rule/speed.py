"""The chance that a hand wins before the others do, as tables computed at import.

A *go-around* is the discards of the two opponents and the viewer's next draw; `draws` counts the viewer's draws still
to come, and the *threat level* is the number of opponents that threaten to win (0-2). The constants are fitted to how
often hands of each shanten, go-around and threat level won in 1,500 games among bots that only play for speed.
"""

from __future__ import annotations

import numpy as np

MAX_DRAWS = 19
MAX_WAIT = 15  # tiles in a wait; larger waits count as this
MAX_UKEIRE = 60
# Chance that a go-around ends with an opponent's win, by threat level.
OPPONENT_WIN_CHANCE = np.array([0.006, 0.10, 0.21])
N_LEVELS = len(OPPONENT_WIN_CHANCE)
# A tile of the ukeire (a winning tile) comes less often than a random unseen tile would, by this factor.
UKEIRE_FACTOR = 0.5
WAIT_FACTOR = 0.68
# Typical ukeire by shanten, in tiles (0: the size of the wait).
TYPICAL_UKEIRE = np.array([5, 13, 26, 27, 40, 50, 56, 60, 60])
RON_FACTOR = 0.44  # an opponent discards a winning tile less often than a random tile, by this factor
NO_OWN_WIN_CHANCE = 0.88  # chance that the viewer does not win within a go-around
NEVER_SEEN = 39.0  # tiles the viewer will never see: two hands and most of the dead wall


def hidden_tiles(draws: int) -> float:
    """Number of tiles that a seat does not see with `draws` draws to come."""
    return NEVER_SEEN + 3.0 * draws


def next_levels(level: int, draws: int) -> list[tuple[int, float]]:
    """Threat levels one go-around later, each with its chance: the level rises more often as the round goes on."""
    rises = (0.006 + 0.0013 * (MAX_DRAWS - 1 - draws)) * (N_LEVELS - 1 - level) / 2
    return [(level, 1 - rises), (min(level + 1, N_LEVELS - 1), rises)]


def _next_go_around(chances: np.ndarray, level: int, draws: int) -> np.ndarray:
    """Chances one go-around later: float64[...] of `chances` float64[..., N_LEVELS, MAX_DRAWS + 1]; `draws` > 0."""
    return sum((rate * chances[..., then, draws - 1] for then, rate in next_levels(level, draws)), np.float64(0))


def _tenpai_win_chance() -> np.ndarray:
    """float64[2, MAX_WAIT + 1, N_LEVELS, MAX_DRAWS + 1]: chance of a tenpai hand to win, by ron allowed and by wait."""
    wins = np.zeros((2, MAX_WAIT + 1, N_LEVELS, MAX_DRAWS + 1))
    ron_allowed = np.array([[0.0], [1.0]])
    for draws in range(MAX_DRAWS + 1):
        hit = WAIT_FACTOR * np.arange(MAX_WAIT + 1) / hidden_tiles(draws)
        by_ron = ron_allowed * (1 - (1 - RON_FACTOR * hit) ** 2)
        for level in range(N_LEVELS):
            by_tsumo = hit + (1 - hit) * _next_go_around(wins, level, draws) if draws > 0 else 0.0
            wins[..., level, draws] = by_ron + (1 - by_ron) * (1 - OPPONENT_WIN_CHANCE[level]) * by_tsumo
    return wins


def _step_win_chance(then: np.ndarray) -> np.ndarray:
    """Chance that one given tile of the ukeire comes before the others of it, and that the hand wins after that.

    `then` float64[..., N_LEVELS, MAX_DRAWS + 1] is the chance to win after the step. The result has one more axis in
    front, of MAX_UKEIRE + 1: the ukeire in tiles.
    """
    wins = np.zeros((MAX_UKEIRE + 1, *then.shape))
    ukeire = np.arange(MAX_UKEIRE + 1).reshape(-1, *(1 for _ in then.shape[:-2]))
    for draws in range(1, MAX_DRAWS + 1):
        one = UKEIRE_FACTOR / hidden_tiles(draws)
        for level in range(N_LEVELS):
            stay = (1 - one * ukeire) * _next_go_around(wins, level, draws)
            onward = one * _next_go_around(then, level, draws) + stay
            wins[..., level, draws] = (1 - OPPONENT_WIN_CHANCE[level]) * onward
    return wins


def _shanten_win_chance() -> np.ndarray:
    """float64[shanten, MAX_UKEIRE + 1, N_LEVELS, MAX_DRAWS + 1]: the same by shanten, with typical ukeire later on."""
    then = TENPAI_WIN_CHANCE[1, TYPICAL_UKEIRE[0]]
    wins = np.zeros((len(TYPICAL_UKEIRE), MAX_UKEIRE + 1, *then.shape))
    for shanten in range(1, len(TYPICAL_UKEIRE)):
        wins[shanten] = _step_win_chance(then)
        then = TYPICAL_UKEIRE[shanten] * wins[shanten, TYPICAL_UKEIRE[shanten]]
    return wins


def _draw_tenpai_chance() -> np.ndarray:
    """float64[3, N_LEVELS, MAX_DRAWS + 1]: chance to be tenpai at an exhaustive draw, by shanten; from 2 on it is 0."""
    tenpai = np.zeros((3, N_LEVELS, MAX_DRAWS + 1))
    tenpai[0, :, 0] = 1.0
    for draws in range(1, MAX_DRAWS + 1):
        win = WAIT_FACTOR * (1 + 2 * RON_FACTOR) * TYPICAL_UKEIRE[0] / hidden_tiles(draws)
        step = UKEIRE_FACTOR * TYPICAL_UKEIRE[1] / hidden_tiles(draws)
        for level in range(N_LEVELS):
            nobody_wins = 1 - OPPONENT_WIN_CHANCE[level]
            tenpai[0, level, draws] = nobody_wins * (1 - win) * _next_go_around(tenpai[0], level, draws)
            stay = (1 - step) * _next_go_around(tenpai[1], level, draws)
            onward = step * _next_go_around(tenpai[0], level, draws) + stay
            tenpai[1, level, draws] = nobody_wins * onward
    return tenpai


TENPAI_WIN_CHANCE = _tenpai_win_chance()
# float64[MAX_UKEIRE + 1, MAX_WAIT + 1, N_LEVELS, MAX_DRAWS + 1]: for one tile of the ukeire, by ukeire and later wait.
IISHANTEN_WIN_CHANCE = _step_win_chance(TENPAI_WIN_CHANCE[1])
SHANTEN_WIN_CHANCE = _shanten_win_chance()
DRAW_TENPAI_CHANCE = _draw_tenpai_chance()
# Expected number of the viewer's discards before the round ends, by threat level and draws left.
DISCARDS_LEFT = np.array(
    [
        [sum((NO_OWN_WIN_CHANCE * (1 - chance)) ** k for k in range(draws)) for draws in range(MAX_DRAWS + 1)]
        for chance in OPPONENT_WIN_CHANCE
    ]
)
