"""python -m agents.review: what bots think of every decision of a seat in a recorded game."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.review.cli:main"))
