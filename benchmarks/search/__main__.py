"""python -m benchmarks.search: milliseconds of a decision that `search` compares in sampled worlds."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.search.cli:main"))
