"""Truncate the modification times of Python files to whole seconds: ``python truncate_mtimes.py FOLDER``.

numba recompiles a source file whose modification time differs from the cached one, and image layers keep no fractions
of a second.
"""

import os
import sys
from pathlib import Path

for source in Path(sys.argv[1]).rglob("*.py"):
    seconds = int(source.stat().st_mtime)
    os.utime(source, (seconds, seconds))
