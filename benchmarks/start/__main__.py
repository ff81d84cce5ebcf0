"""python -m benchmarks.start: the time from a clone to the first table, of two commits in turn."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.start.cli:main"))
