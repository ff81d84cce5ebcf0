"""Cut the times of installed Python files to whole seconds: ``python whole_seconds.py FOLDER``.

An image's layers keep no fractions, and numba takes code compiled from a file of another time for outdated.
"""

import os
import sys
from pathlib import Path

for source in Path(sys.argv[1]).rglob("*.py"):
    seconds = int(source.stat().st_mtime)
    os.utime(source, (seconds, seconds))
