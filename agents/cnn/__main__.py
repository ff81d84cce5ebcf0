"""python -m agents.cnn: trains networks for the CNN bot."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.cnn.cli:main"))
