"""Rendering for the Gymnasium environments: render modes, and the functions of `nukidora.envs.rendering` for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# render mode -> function of nukidora.envs.rendering, which is only imported for rendering
RENDERERS = {"ansi": "render_text", "svg": "render_svg", "rgb_array": "render_rgb"}


def check_mode(render_mode: str | None) -> str | None:
    """Return `render_mode`. Raises ValueError if there is no such mode."""
    if render_mode is not None and render_mode not in RENDERERS:
        raise ValueError(f"unknown render_mode {render_mode!r}: choose one of {', '.join(RENDERERS)}")
    return render_mode


def render(render_mode: str, view: Any, *names: str) -> Any:
    """A view or a table as text (``ansi``), SVG (``svg``) or an image uint8[height, width, 3] (``rgb_array``).

    `names`: the names of the three seats, or empty.
    """
    return getattr(import_module("nukidora.envs.rendering"), RENDERERS[render_mode])(view, *[names] * bool(names))
