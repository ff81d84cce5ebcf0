"""A review as one page that needs no server and no other file.

The page is drawn by the modules of the server's pages (`server/web`), which are read as data: nothing is imported from
there. Each module becomes a ``data:`` address of an import map.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from agents.review.modules import IMPORT, with_imports
from agents.review.review import Review
from agents.review.totals import Totals
from engine.svg import sprite

ENTRY, TOTALS_ENTRY = "review_view.js", "review_totals.js"  # their `show` draws a page of its data
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
import {{ show }} from "{entry}";
show(document.querySelector("main"), JSON.parse(document.getElementById("data").textContent));
</script>
</body>
</html>
"""


def page(review: Review) -> str:
    """A review as HTML. Raises ValueError where the files of the server's pages are missing."""
    title = f"{review.of.names[review.of.seat]}, reviewed by {', '.join(review.bots)}"
    return drawn_by(ENTRY, title, {"messages": review.of.record.events, "review": review.as_json()})


def totals_page(totals: Totals, player: str, bots: Sequence[str]) -> str:
    """The reviews of many games as HTML, with the costliest mistakes to look at. Raises as `page`."""
    shown = [[{"messages": each.messages, "decision": each.decision} for each in of_bot] for of_bot in totals.mistakes]
    title = f"{player}, {totals.games:,} games reviewed by {', '.join(bots)}"
    return drawn_by(TOTALS_ENTRY, title, {"totals": totals.as_json(player, bots), "shown": shown})


def drawn_by(entry: str, title: str, data: Any) -> str:
    """A page that a module draws. Raises ValueError where the files of the server's pages are missing."""
    try:
        web = files("server") / "web"
        modules = with_imports(entry, lambda name: (web / name).read_text("utf-8"))
        style = "\n".join(
            each.read_text("utf-8") for each in sorted((web / "css").iterdir(), key=lambda file: file.name)
        )
    except (OSError, ModuleNotFoundError) as error:
        raise ValueError(f"--html needs the files of server/web, which are missing here ({error})") from error
    return PAGE.format(
        policy=POLICY,
        title=escape(title),
        style=style,
        imports=json_for_script({"imports": {specifier(name): address(text) for name, text in modules.items()}}),
        sprite=sprite(),
        data=json_for_script(data),
        entry=specifier(entry),
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
