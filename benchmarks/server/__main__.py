"""python -m benchmarks.server: the server beside a bare echo."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.server.cli:main"))
