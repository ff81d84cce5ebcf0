"""python -m benchmarks.linear: decisions a second of linear and softmax beside rule and efficiency."""

import sys

from engine.common.program import start

if __name__ == "__main__":
    sys.exit(start("benchmarks.linear.cli:main"))
