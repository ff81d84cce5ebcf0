"""Log lines: what happened, with its circumstances as keys; no secrets, no messages of bots."""

from __future__ import annotations

import logging
from typing import Literal

import structlog
from structlog.typing import Processor

SHARED: list[Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def start_logging(form: Literal["text", "json"], level: int = logging.INFO) -> None:
    """Write lines of this program and of its libraries to stderr, as text or as one JSON object each."""
    text = structlog.dev.ConsoleRenderer(colors=False)
    last: Processor = structlog.processors.JSONRenderer() if form == "json" else text
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=SHARED,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            last,
        ],
    )
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for chatty in ("uvicorn", "alembic"):  # the one logs URLs, which may hold tokens
        logging.getLogger(chatty).setLevel(logging.WARNING)
    log_by_the_standard_library()


def log_by_the_standard_library() -> None:
    """Hand what this program logs to `logging`, whoever handles it there."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
