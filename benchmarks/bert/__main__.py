"""python -m benchmarks.bert: ways to run a network, compared."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.bert.cli:main"))
