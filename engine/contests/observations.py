"""By how much a wall counts as off, where the walls of a contest are alike by chance (`engine.common.student`).

Such a wall is off with all of its games: in its mean placement; its final points, in thousands (the uma of a place);
the difference of the placements of two bots, which change places; a share of its games.
"""

from __future__ import annotations

PLACE = 1.0
POINTS = 20.0
DIFFERENCE = 2.0
SHARE = 1.0
