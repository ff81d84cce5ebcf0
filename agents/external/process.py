"""A child process with line-based stdin and stdout and with timeouts, which never outlives us (POSIX systems)."""

from __future__ import annotations

import errno
import os
import select
import signal
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import IO

from agents.external.mjai_bot import BotError, excerpt
from agents.external.traffic import RECEIVED, SENT, STDERR, Note

MAX_LINE = 65_536  # bytes, of a line on stdout
STDERR_LINES, STDERR_WIDTH = 2_000, 500  # lines of stderr that are kept, and bytes of each
STDERR_DELAY = 0.5  # seconds for what a program has just said to be read
EXIT_TIMEOUT = 0.5  # seconds to wait for the exit code of a child whose stdout has ended
DRAIN_TIMEOUT = 2.0  # seconds to wait for the end of stderr, which a process that left the group may keep open
GRACE_PERIOD = 0.5  # seconds a child has to exit after its stdin is closed, and again after SIGTERM
TIMEOUT_HINT = "it must flush each reply; if it needs longer, to load a network for example: --timeout SECONDS"
STDOUT_HINT = "stdout is for replies alone: print banners and logs to stderr"
NUMBER = struct.Struct("i")  # what the watchdog writes
WATCHDOG = Path(__file__).with_name("watchdog.py")


class ExitedError(BotError):
    """The child has exited, or has closed its stdin or stdout."""


class LineProcess:
    """A running program, in its own process group, below a watchdog that ends it when we end (`watchdog`).

    Whatever the child does, no call here takes much longer than `timeout`. When writing or reading fails, the child is
    ended, and BotError reports its exit code and the end of its stderr: ExitedError if it has exited by itself.
    """

    def __init__(self, arguments: Sequence[str], timeout: float, note: Note | None = None) -> None:
        """Start it. It has `timeout` seconds for each line. Raises BotError if it cannot be started.

        `note` is called with each line that it is sent, sends, or writes to stderr; the last by another thread.
        """
        self._note = note or no_note
        self.n_bytes_read = 0  # of its stdout
        self._timeout = timeout
        self._unread = bytearray()
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._ended = False
        self._code: int | None = None  # once it has exited
        control, self._control = os.pipe()
        self._status, far_status = os.pipe()
        command = [sys.executable, "-I", "-S", str(WATCHDOG), str(control), str(far_status), *arguments]
        try:
            self._watchdog = subprocess.Popen(
                command, bufsize=0, start_new_session=True, pass_fds=(control, far_status),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as error:  # no descriptors or memory left, or arguments that are too long
            os.close(self._control)
            os.close(self._status)
            raise BotError(f"cannot start {arguments[0]}: {error.strerror}") from error
        finally:
            os.close(control)
            os.close(far_status)
        self._stdin, self._stdout = pipe(self._watchdog.stdin), pipe(self._watchdog.stdout)
        self._drain = Thread(target=self._read_stderr, args=(pipe(self._watchdog.stderr),), daemon=True)
        try:
            os.set_blocking(self._stdin.fileno(), False)
            self._drain.start()
            self.pid = self._read_status(-errno.ENOEXEC)
            if self.pid < 0:
                raise BotError(f"cannot start {arguments[0]}: {os.strerror(-self.pid)}")
        except BaseException:
            self.end()
            raise

    @property
    def running(self) -> bool:
        """Whether it has not exited yet."""
        return not self._exits(0.0)

    def write(self, line: bytes) -> None:
        """Write `line` and a line end. Raises BotError also if the child has written output that was not asked for."""
        if not self._unread and ready(self._stdout, select.POLLIN, 0.0):
            self._fill()
        if self._unread:
            unread = bytes(self._unread.partition(b"\n")[0])
            self._note(RECEIVED, unread)
            raise self._fault(f"wrote a line that is no reply ({STDOUT_HINT}): {excerpt(unread)}")
        self._note(SENT, line)
        deadline = monotonic() + self._timeout
        left = memoryview(line + b"\n")
        while left:
            if not ready(self._stdin, select.POLLOUT, deadline - monotonic()):
                raise self._fault(f"did not read its stdin for {self._timeout:g} s")
            try:
                left = left[os.write(self._stdin.fileno(), left) :]
            except BrokenPipeError:
                raise self._fault("has closed its stdin", ExitedError) from None

    def read(self) -> bytes:
        """The next line it writes, without the line end."""
        deadline = monotonic() + self._timeout
        while (end := self._unread.find(b"\n")) < 0 and len(self._unread) <= MAX_LINE:
            if not ready(self._stdout, select.POLLIN, deadline - monotonic()):
                raise self._fault(f"did not reply within {self._timeout:g} s ({TIMEOUT_HINT})")
            self._fill()
        if not 0 <= end <= MAX_LINE:
            raise self._fault(f"wrote a line of more than {MAX_LINE:,} bytes")
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        self._note(RECEIVED, line)
        return line

    def _fill(self) -> None:
        data = os.read(self._stdout.fileno(), MAX_LINE)
        if not data:
            raise self._fault("has exited", ExitedError)
        self._unread += data
        self.n_bytes_read += len(data)

    def _fault(self, what: str, kind: type[BotError] = BotError) -> BotError:
        self._exits(EXIT_TIMEOUT if kind is ExitedError else 0.0)
        code = self._code
        self.end()
        if code is None:
            return kind(what, self.stderr())
        if kind is ExitedError:
            what = "has exited"  # whichever of its pipes was seen closed first
        return kind(f"{what} ({describe_exit(code)})", self.stderr())

    def stderr(self) -> list[str]:
        """The last lines it has written to stderr; they are complete once it has been ended."""
        return list(self._stderr)

    def take_stderr(self) -> list[str]:
        """The lines it has written to stderr so far; they are forgotten. Waits a moment for the thread that reads."""
        deadline = monotonic() + STDERR_DELAY
        while not self._stderr and monotonic() < deadline:
            sleep(0.01)
        return [self._stderr.popleft() for _ in range(len(self._stderr))]

    def end(self) -> None:
        """End it and all processes it has started: close its stdin, then SIGTERM, then SIGKILL."""
        if self._ended:
            return
        self._ended = True
        self._stdin.close()
        if not self._exits(GRACE_PERIOD):
            with suppress(BrokenPipeError):
                os.write(self._control, bytes([signal.SIGTERM]))
            self._exits(GRACE_PERIOD)
        os.close(self._control)  # processes that it has started may still run
        self._watchdog.wait()
        if self._drain.is_alive():  # it was never started if the start failed
            self._drain.join(DRAIN_TIMEOUT)
        self._stdout.close()
        os.close(self._status)

    def _exits(self, seconds: float) -> bool:
        """Return whether it exits within that many seconds, or has exited."""
        if self._code is None and ready(self._status, select.POLLIN, seconds):
            self._code = self._read_status(-signal.SIGKILL)
        return self._code is not None

    def _read_status(self, otherwise: int) -> int:
        """The next number of the watchdog; `otherwise` if it was killed."""
        data = os.read(self._status, NUMBER.size)
        return int(NUMBER.unpack(data)[0]) if data else otherwise

    def _read_stderr(self, stderr: IO[bytes]) -> None:
        # Buffered: the pipe itself would be read byte by byte.
        with stderr, open(stderr.fileno(), "rb", closefd=False) as lines:
            for line in iter(lambda: lines.readline(STDERR_WIDTH), b""):
                self._note(STDERR, line.rstrip(b"\n"))
                text = line.decode(errors="replace").rstrip()
                if text:
                    self._stderr.append("".join(char if char.isprintable() else repr(char)[1:-1] for char in text))


def no_note(mark: str, line: bytes) -> None:
    """Where the traffic is not logged."""


def pipe(opened: IO[bytes] | None) -> IO[bytes]:
    """The pipe `opened`, which is not None because it was asked for."""
    assert opened is not None
    return opened


def ready(pipe: IO[bytes] | int, event: int, seconds: float) -> bool:
    """Whether `pipe` becomes ready for `event` of `select.poll` within `seconds`."""
    poll = select.poll()
    poll.register(pipe, event)
    return bool(poll.poll(max(0.0, seconds) * 1000))


def describe_exit(code: int) -> str:
    """A return code of `subprocess` in words."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"ended by {signal.Signals(-code).name}"
    return f"ended by signal {-code}"
