"""Structured logging: events with key-value context; no secrets and no messages of bots."""

from __future__ import annotations

import io
import logging
import sys
import threading
from types import TracebackType
from typing import Literal, TextIO

import structlog
from structlog.typing import Processor

Format = Literal["text", "json"]
# Logger -> its minimum level. uvicorn logs URLs, which may hold tokens, and a warning for each invalid request.
QUIET = {"uvicorn": logging.ERROR, "websockets": logging.WARNING, "alembic": logging.WARNING}
SHARED: list[Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
ERRORS = ("server: ", "nukidora server: ")  # prefixes of command-line errors; see `engine.common.options.Parser`
log = structlog.get_logger("server")


def start_logging(form: Format, level: int = logging.INFO) -> None:
    """Set up logging to stderr for this program and its libraries: as text, or one JSON object per line.

    With JSON, everything else written to `sys.stderr` becomes log lines, too: errors in arguments, progress, warnings,
    tracebacks.
    """
    stderr = sys.stderr.log if isinstance(sys.stderr, LogLines) else sys.stderr
    text = structlog.dev.ConsoleRenderer(colors=False)
    renderer: Processor = structlog.processors.JSONRenderer() if form == "json" else text
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=SHARED,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            renderer,
        ],
    )
    handler = logging.StreamHandler(stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for name, least in QUIET.items():
        logging.getLogger(name).setLevel(least)
    use_stdlib_logging()
    if form == "json":
        sys.stderr = LogLines(stderr)
        sys.excepthook = log_exception
        threading.excepthook = lambda args: log.error("thread failed", exc_info=args.exc_value)
        logging.captureWarnings(True)
        logging.raiseExceptions = False  # else a failure to write the log would be reported to stderr, which is the log


def use_stdlib_logging() -> None:
    """Send the log entries of structlog to `logging`, with whatever handlers it has."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def log_exception(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """A `sys.excepthook`: log the exception that ends the program."""
    log.critical("the program failed", exc_info=(kind, error, traceback))


class LogLines(io.TextIOBase):
    """A text stream whose lines become log entries."""

    encoding = "utf-8"

    def __init__(self, stream: TextIO) -> None:
        """`stream`: the destination of the log."""
        self.log = stream
        self._partial = ""
        self._lock = threading.Lock()

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the log, for code that writes to it without Python."""
        return self.log.fileno()

    def write(self, text: str) -> int:
        """Log complete lines, and keep the rest."""
        with self._lock:
            *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            if line.strip():
                (log.error if line.startswith(ERRORS) else log.info)(line)
        return len(text)

    def flush(self) -> None:
        """Flush the stream, but not an incomplete line, which may be continued."""
        self.log.flush()
