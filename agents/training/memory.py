"""Allocator settings for training on a CPU."""

from __future__ import annotations

import ctypes
import sys

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4  # parameters of glibc's mallopt
TRIM_THRESHOLD, TOP_PAD = 2**31 - 1, 2**28  # bytes


def keep_freed_memory() -> None:
    """Let glibc keep freed memory, as every step allocates the same large blocks again.

    By default it returns them to the system, and each step pays for the page faults of getting them back.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        for parameter, value in ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, TRIM_THRESHOLD), (M_TOP_PAD, TOP_PAD)):
            libc.mallopt(parameter, value)
