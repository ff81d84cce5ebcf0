"""python -m benchmarks.selfplay: what self-play and learning cost on one core."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.selfplay.cli:main"))
