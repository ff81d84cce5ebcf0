"""python -m benchmarks.arena: what the statistics cost."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.arena.cli:main"))
