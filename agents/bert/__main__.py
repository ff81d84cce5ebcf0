"""python -m agents.bert: trains networks for the BERT bot."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.bert.cli:main"))
