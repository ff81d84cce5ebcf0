"""python -m benchmarks.rl: what acting and learning cost on one core."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.rl.cli:main"))
