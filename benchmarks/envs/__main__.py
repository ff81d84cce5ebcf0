"""python -m benchmarks.envs: steps per second of the vector environment compared with RiichiEnv's."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.envs.cli:main"))
