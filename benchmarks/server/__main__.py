"""python -m benchmarks.server: the server compared with a bare echo server."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.server.cli:main"))
