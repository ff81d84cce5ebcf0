"""Tables and views as text, SVG, and image arrays.

A view is shown as its seat sees it, a whole table with all hands open. Images are rendered by resvg with the fonts in
``fonts/``, so that they are the same on every machine; the fonts only have the printable ASCII characters. Needs the
extra ``[rl]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from engine.common.program import missing
from engine.svg import FELT, table_svg
from engine.text import table_text

try:
    import resvg_py
    from PIL import Image
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(missing(error), name=error.name) from None

FONT = "DejaVu Sans"
NO_NAMES = ("", "", "")


def render_text(t: Any, names: Sequence[str] = NO_NAMES) -> str:
    """A TABLE record in lines of text, as ``print(t)`` shows it; `names`: of the seats."""
    return table_text(t, names)


def render_svg(t: Any, names: Sequence[str] = NO_NAMES) -> str:
    """A TABLE record as an SVG document; see `engine.svg.table_svg`."""
    return table_svg(t, names)


def render_png(t: Any, names: Sequence[str] = NO_NAMES, width: int | None = None) -> bytes:
    """A TABLE record as a PNG file, `width` pixels wide; by default as large as the SVG says."""
    return resvg_py.svg_to_bytes(
        svg_string=table_svg(t, names),
        width=width,
        background=FELT,
        skip_system_fonts=True,
        font_files=font_files(),
        font_family=FONT,
        sans_serif_family=FONT,
    )


def render_rgb(t: Any, names: Sequence[str] = NO_NAMES, width: int | None = None) -> np.ndarray:
    """A TABLE record as an image: uint8[height, width, 3], by default uint8[546, 558, 3]."""
    with Image.open(BytesIO(render_png(t, names, width))) as image:
        return np.array(image.convert("RGB"))


@cache
def font_files() -> list[str]:
    """The fonts of images."""
    return [str(file) for file in sorted((Path(__file__).parent / "fonts").glob("*.ttf"))]
