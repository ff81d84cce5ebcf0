"""``python -m nukidora``: the same as the program ``nukidora``."""

import sys

from nukidora.cli import main

if __name__ == "__main__":
    sys.exit(main())
