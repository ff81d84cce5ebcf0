"""The notebook of the examples: it runs from top to bottom, and its outputs are those of this version."""

from __future__ import annotations

import nbformat
import pytest

from tests.support.notebook import NOTEBOOK, code_cells, run_notebook


@pytest.mark.slow
def test_the_notebook_runs_and_says_what_it_said() -> None:
    """Where it differs rightly: ``python -m tests.support.notebook``."""
    stored, ran = nbformat.read(NOTEBOOK, as_version=4), run_notebook()
    for before, now in zip(code_cells(stored), code_cells(ran), strict=True):
        assert [dict(output) for output in now.outputs] == [dict(output) for output in before.outputs], before.source


def test_the_notebook_is_small_and_shows_tables() -> None:
    assert NOTEBOOK.stat().st_size < 150_000
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    shown = [
        output for cell in code_cells(notebook) for output in cell.outputs if "image/svg+xml" in output.get("data", {})
    ]
    assert len(shown) == 3
