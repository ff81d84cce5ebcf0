"""python -m benchmarks.compiling: what it costs to compile each kernel."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.compiling.cli:main"))
