"""python -m agents.analyse: what bots and the rules say about one position."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.analyse.cli:main"))
