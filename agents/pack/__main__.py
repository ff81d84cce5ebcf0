"""python -m agents.pack: puts a bot into one file."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.pack.cli:main"))
