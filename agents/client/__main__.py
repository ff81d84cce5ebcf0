"""python -m agents.client: plays a bot at a mjai server."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.client.cli:main"))
