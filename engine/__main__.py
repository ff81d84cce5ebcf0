"""Validate, convert and show game records: ``python -m engine``."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("engine.cli:main"))
