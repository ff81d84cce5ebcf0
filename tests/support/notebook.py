"""Runs the notebook of the examples. ``python -m tests.support.notebook`` writes it again with its outputs."""

from __future__ import annotations

from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.support.server_program import REPOSITORY

NOTEBOOK = REPOSITORY / "examples" / "first_ten_minutes.ipynb"
TIME_LIMIT = 600  # seconds for a cell: the first one may compile


def run_notebook() -> Any:
    """The notebook with the outputs of a run: results and what is printed, without progress."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    options = {"kernel_name": "python3", "resources": {"metadata": {"path": str(REPOSITORY)}}}
    NotebookClient(notebook, timeout=TIME_LIMIT, record_timing=False, coalesce_streams=True, **options).execute()
    for cell in code_cells(notebook):
        cell.outputs = [
            output
            for output in cell.outputs
            if output.output_type == "execute_result" or output.get("name") == "stdout"
        ]
    return notebook


def code_cells(notebook: Any) -> list[Any]:
    """The cells with code."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


if __name__ == "__main__":
    nbformat.write(run_notebook(), NOTEBOOK)
