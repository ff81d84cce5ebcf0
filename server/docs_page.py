"""The page /docs: Swagger UI, with the files of fastapi-offline, so that nothing is loaded from other hosts."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from starlette.routing import BaseRoute, Route

from server.pages import HEADERS, File

PATH = "/docs"
FILES = ("swagger-ui.css", "swagger-ui-bundle.js")
START = """\
SwaggerUIBundle({ url: "/openapi.json", dom_id: "#swagger-ui", deepLinking: true, showCommonExtensions: true });
"""
PAGE = f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · nukidora</title>
<link rel="icon" href="/web/icon.svg">
<link rel="stylesheet" href="{PATH}/swagger-ui.css">
<script src="{PATH}/swagger-ui-bundle.js" defer></script>
<script src="{PATH}/start.js" defer></script>
</head>
<body>
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript; <a href="/openapi.json">/openapi.json</a> has all that it shows.</noscript>
</body>
</html>
"""
# Swagger UI's style sheet contains embedded images.
DOCS_HEADERS = HEADERS | {
    "Content-Security-Policy": HEADERS["Content-Security-Policy"].replace("img-src 'self'", "img-src 'self' data:")
}


@cache  # tests start a thousand servers
def docs_routes() -> tuple[BaseRoute, ...]:
    """The routes of the page and of the files that it loads."""
    folder = files("fastapi_offline") / "static"
    page = File(PAGE.encode(), ".html", headers=DOCS_HEADERS)
    start = File(START.encode(), ".js")
    others = {name: File((folder / name).read_bytes(), name[name.rindex(".") :]) for name in FILES}
    sent = {PATH: page, f"{PATH}/start.js": start} | {f"{PATH}/{name}": file for name, file in others.items()}
    return tuple(Route(path, file.respond) for path, file in sent.items())
