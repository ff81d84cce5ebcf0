"""``python -m server``: a game server for mjai bots."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("server.cli:main"))
