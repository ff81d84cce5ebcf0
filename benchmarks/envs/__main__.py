"""python -m benchmarks.envs: steps a second of the vector environment beside RiichiEnv's."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.envs.cli:main"))
