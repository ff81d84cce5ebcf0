"""python -m benchmarks.bots: decisions per second of linear and softmax compared with rule and efficiency."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.bots.cli:main"))
