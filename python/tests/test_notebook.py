"""The notebook of the examples runs and gives the outputs that it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples/notebook/join-sum.ipynb"


def texts(cell: Any) -> list[str]:
    """The text output of a cell."""
    return [out["text"] if "text" in out else out.get("data", {}).get("text/plain", "") for out in cell.outputs]


def kinds(cell: Any) -> list[set[str]]:
    """The formats of a cell's output."""
    return [set(out.get("data", {})) for out in cell.outputs]


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    kept = nbformat.read(NOTEBOOK, as_version=4)
    run = nbformat.read(NOTEBOOK, as_version=4)
    for cell in run.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    folder = tmp_path_factory.mktemp("notebook")
    NotebookClient(run, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return kept, run


def test_the_notebook_gives_what_it_shows(notebooks: tuple[Any, Any]) -> None:
    kept, run = notebooks
    checked = 0
    for before, now in zip(kept.cells, run.cells, strict=True):
        if now.cell_type != "code":
            continue
        assert kinds(now) == kinds(before), now.source
        if not {"varies", "picture"} & set(now.metadata.get("tags", [])):
            assert texts(now) == texts(before), now.source
            checked += len(now.outputs)
    assert checked >= 5


def test_the_notebook_has_a_plot_and_tables(notebooks: tuple[Any, Any]) -> None:
    shown = set().union(*(forms for cell in notebooks[1].cells if cell.cell_type == "code" for forms in kinds(cell)))
    assert {"image/png", "text/html", "text/plain"} <= shown
