"""python -m arena: bots play each other, and tables compare their results."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("arena.cli:main"))
