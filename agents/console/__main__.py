"""python -m agents.console: a table in the terminal, where you play against bots or at a server."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.console.cli:main"))
