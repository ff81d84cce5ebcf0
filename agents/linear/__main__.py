"""python -m agents.linear: learns the weights of the bots linear and softmax, and shows them."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.linear.cli:main"))
