"""The notebook runs from top to bottom, says what it should, and is kept without its outputs."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import ROOT

QUICKSTART = ROOT / "notebooks" / "quickstart.ipynb"


@pytest.fixture(scope="module")
def executed():
    notebook = nbformat.read(QUICKSTART, as_version=4)
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(ROOT)}})
    return client.execute()


def text_of(notebook) -> str:
    pieces = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            pieces.append(output.get("text", "") or output.get("data", {}).get("text/plain", ""))
    return "\n".join(pieces)


def test_it_runs_and_its_trees_do_what_was_said(executed):
    said = text_of(executed)
    assert "the constrained tree has it right:     [ True  True]" in said
    assert said.count("satisfied: True") >= 7
    assert "satisfied: False" not in said
    assert "rows at odds: (0, 1)" in said


def test_the_explorer_is_shown_in_its_cell(executed):
    (cell,) = (c for c in executed.cells if "hcviz.explore(" in c.source and c.cell_type == "code")
    kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
    assert kinds & {"text/html", "application/vnd.holoviews_exec.v0+json"}
    assert "Shell" in text_of(executed) or "text/html" in kinds


def test_it_is_kept_without_outputs():
    notebook = nbformat.read(QUICKSTART, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert not any(cell.outputs or cell.execution_count for cell in code)
