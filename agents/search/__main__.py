"""python -m agents.search: fits the model of hidden hands."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.search.cli:main"))
