"""python -m engine: validates, converts and shows game records."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("engine.cli:main"))
