"""python -m tests.server.attacks: all attacks in turn, for as long as wanted."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("tests.server.attacks.soak:main"))
