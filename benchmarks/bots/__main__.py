"""python -m benchmarks.bots: decisions a second of linear and softmax beside rule and efficiency."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.bots.cli:main"))
