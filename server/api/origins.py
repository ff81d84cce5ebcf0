"""Requests and WebSockets of web pages.

A web page can make its visitor's browser send requests and open WebSockets to any address, including this machine's
own. The browser then sends the page's site in ``Origin``; bots and other programs send no such header.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from engine.common.error_text import error_text

OTHER_SITE = error_text(
    "other_site", "web pages of other sites may not do this; use a page of this server, or no browser"
)
OTHER_NAME = error_text("other_name", "without tokens, web pages may do this only at the server's address or localhost")


class Origins:
    """Web pages may change something or open a WebSocket only if they come from this server.

    The name of another site can be made to resolve to this address (DNS rebinding). If no token is needed, the request
    must therefore name an address, ``localhost`` or the `host` that the server listens on.
    """

    def __init__(self, host: str, tokens_needed: bool) -> None:
        self._host = host
        self._tokens_needed = tokens_needed

    def refusal(self, origin: str | None, host: str) -> str:
        """Why the headers ``Origin`` and ``Host`` are those of a web page of another site; "" if they are not."""
        if origin is None:
            return ""
        if not host or origin.partition("://")[2].lower() != host.lower():
            return OTHER_SITE
        if not self._tokens_needed and not self._is_own(host):
            return OTHER_NAME
        return ""

    def _is_own(self, host: str) -> bool:
        """Whether a Host header cannot be the name of another site."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in ("localhost", self._host.lower()):
                return True
            ip_address(name)
        except ValueError:
            return False
        return True
