"""python -m benchmarks.playouts: playouts per second on one core."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.playouts.cli:main"))
