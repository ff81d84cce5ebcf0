"""python -m agents.rl: trains policy networks by reinforcement learning."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("agents.rl.cli:main"))
