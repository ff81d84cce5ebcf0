"""python -m benchmarks.cluster: workers on a Ray cluster compared with processes."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.cluster.cli:main"))
