"""python watchdog.py GROUP: kills a process group if the parent of this process dies.

The parent holds a pipe to the watchdog's stdin, and writes one byte when it has ended the group itself. If stdin ends
without that byte, the parent has died without ending its children (by SIGKILL, for example), and the watchdog does so.
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
