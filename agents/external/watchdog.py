"""python watchdog.py GROUP: kills a process group when whoever started this is gone.

It waits for a byte that says all is well. If its stdin ends without one, its parent has died without ending its
children, by SIGKILL say, and nobody else would.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not sys.stdin.buffer.read(1):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(int(sys.argv[1]), signal.SIGKILL)
