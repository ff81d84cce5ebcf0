"""python -m benchmarks.records: how fast the records of an archive are validated."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.records.cli:main"))
