"""python watchdog.py CONTROL STATUS PROGRAM …: runs a program, and at the end kills all that it has started.

CONTROL and STATUS are pipes to the parent. To STATUS go numbers, each a C int: first the id of the program's process,
or less than 0 the errno of what kept it from starting; when it has exited, its exit code as `subprocess` gives it. Each
byte of CONTROL is the number of a signal for the process group of the program. When CONTROL ends, because the parent
has closed it or died, all descendants of the program are killed. On systems with subreapers (Linux), that includes
daemons, which have left the group: they become children of this process.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress

NUMBER = struct.Struct("i")
PR_SET_CHILD_SUBREAPER = 36  # of Linux's prctl
PATIENCE = 5.0  # seconds until processes that cannot be killed are left alone


def become_subreaper() -> None:
    """Become the parent of all orphans among the descendants."""
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> list[int]:
    """The children of this process."""
    found = []
    for entry in os.scandir("/proc"):
        with suppress(OSError, ValueError):
            file = os.open(f"/proc/{int(entry.name)}/stat", os.O_RDONLY)
            data = os.read(file, 4096)
            os.close(file)
            if int(data.rpartition(b")")[2].split()[1]) == os.getpid():  # the parent, after the name and the state
                found.append(int(entry.name))
    return found


def kill_all(group: int) -> None:
    """Kill the group, then children until there are none: the children of a killed process become ours."""
    deadline = time.monotonic() + PATIENCE
    with suppress(ChildProcessError):
        while time.monotonic() < deadline:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
            for child in children() if sys.platform == "linux" else ():
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
            time.sleep(0.005)


def main(control: int, status: int, arguments: list[str]) -> None:
    """Run the program; see the module."""
    if sys.platform == "linux":
        become_subreaper()
    for pipe in (control, status):
        os.set_inheritable(pipe, False)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(wake)
    try:
        program = subprocess.Popen(arguments, start_new_session=True)
    except OSError as error:
        os.write(status, NUMBER.pack(-(error.errno or 1)))
        return
    os.write(status, NUMBER.pack(program.pid))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # the program's alone
        os.dup2(nothing, stream)
    while True:
        ready = select.select([control, woken], [], [])[0]
        if woken in ready:
            os.read(woken, 512)
            with suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                    if ended[0] == program.pid:
                        with suppress(BrokenPipeError):
                            os.write(status, NUMBER.pack(os.waitstatus_to_exitcode(ended[1])))
        if control in ready:
            numbers = os.read(control, 16)
            if not numbers:
                kill_all(program.pid)
                return
            for number in numbers:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(program.pid, number)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
