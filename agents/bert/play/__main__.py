"""python -m agents.bert.play: connects a network to a mjai server, with the command line of wahaha."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.bert.play.cli:main"))
