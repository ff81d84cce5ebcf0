"""python -m agents.selfplay: a network that learns from nothing but games against itself."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.selfplay.cli:main"))
