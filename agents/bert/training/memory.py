"""Memory for training on a CPU."""

from __future__ import annotations

import ctypes
import sys

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # of glibc's mallopt
FREED_AT, GROWN_BY = 2**31 - 1, 2**28


def keep_memory() -> None:
    """Let glibc keep what is freed: every step asks for the same large blocks again.

    Otherwise they go back to the system each time and come again page by page.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        for setting, value in ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, FREED_AT), (M_TOP_PAD, GROWN_BY)):
            libc.mallopt(setting, value)
