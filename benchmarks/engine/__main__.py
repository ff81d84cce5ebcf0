"""python -m benchmarks.engine: the engine compared with riichienv and mahjong."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.engine.cli:main"))
