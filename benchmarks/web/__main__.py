"""python -m benchmarks.web: the budgets of the web pages."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.web.cli:main"))
