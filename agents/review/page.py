"""A review as one page that needs no server and no other file.

The page is drawn by the modules of the server's pages (`server/web`), which are read as data: nothing is imported from
there. Each module becomes a ``data:`` address of an import map.
"""

from __future__ import annotations

import base64
import json
from html import escape
from importlib.resources import files
from typing import Any

from agents.review.modules import IMPORT, with_imports
from agents.review.review import Review
from engine.svg import sprite

ENTRY = "review_view.js"  # its `showReview` draws the page
# Nothing is loaded from anywhere. Inline scripts are allowed: the page consists of them.
POLICY = "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:"
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · nukidora</title>
<style>
{style}
</style>
<script type="importmap">
{imports}
</script>
</head>
<body>
{sprite}
<main></main>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="data">
{data}
</script>
<script type="module">
import {{ showReview }} from "{entry}";
const {{ messages, review }} = JSON.parse(document.getElementById("data").textContent);
showReview(document.querySelector("main"), messages, review);
</script>
</body>
</html>
"""


def page(review: Review) -> str:
    """The page as HTML. Raises ValueError where the files of the server's pages are missing."""
    try:
        web = files("server") / "web"
        modules = with_imports(ENTRY, lambda name: (web / name).read_text("utf-8"))
        style = "\n".join(
            each.read_text("utf-8") for each in sorted((web / "css").iterdir(), key=lambda file: file.name)
        )
    except (OSError, ModuleNotFoundError) as error:
        raise ValueError(f"--html needs the files of server/web, which are missing here ({error})") from error
    names = review.of.names
    return PAGE.format(
        policy=POLICY,
        title=escape(f"{names[review.of.seat]}, reviewed by {', '.join(review.bots)}"),
        style=style,
        imports=json_for_script({"imports": {specifier(name): address(text) for name, text in modules.items()}}),
        sprite=sprite(),
        data=json_for_script({"messages": review.of.record.events, "review": review.as_json()}),
        entry=specifier(ENTRY),
    )


def specifier(module: str) -> str:
    """What the modules of the page import a module as: a ``data:`` address has no folder to be relative to."""
    return f"nukidora/{module}"


def address(module: str) -> str:
    """The address that holds the text of a module, which imports others by `specifier`."""
    text = IMPORT.sub(lambda match: match[1] + specifier(match[2]), module)
    return f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"


def json_for_script(value: Any) -> str:
    """JSON that cannot end the script element around it."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
