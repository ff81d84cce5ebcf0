"""Logging: what happened, with its circumstances as keys; no secrets, no messages of bots."""

from __future__ import annotations

import logging
from typing import Literal

import structlog
from structlog.typing import Processor

# Logger -> its least level. uvicorn logs URLs, which may hold tokens, and a warning for each invalid request.
QUIET = {"uvicorn": logging.ERROR, "websockets": logging.WARNING, "alembic": logging.WARNING}
SHARED: list[Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def start_logging(form: Literal["text", "json"], level: int = logging.INFO) -> None:
    """Log to stderr, this program and its libraries: as text, or one JSON object a line."""
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
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for name, least in QUIET.items():
        logging.getLogger(name).setLevel(least)
    use_stdlib_logging()


def use_stdlib_logging() -> None:
    """Send the log entries of structlog to `logging`, whatever handlers it has."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
