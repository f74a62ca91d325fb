"""The notebooks of the examples run and give the outputs that they show."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[2] / "examples/notebook"


def texts(cell: Any) -> list[str]:
    """The text output of a cell."""
    return [out["text"] if "text" in out else out.get("data", {}).get("text/plain", "") for out in cell.outputs]


def kinds(cell: Any) -> list[set[str]]:
    """The formats of a cell's output."""
    return [set(out.get("data", {})) for out in cell.outputs]


@pytest.fixture(scope="module", params=["join-sum", "spent"])
def notebooks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, command: Path) -> tuple[Any, Any]:
    os.environ.setdefault("GARBLET", str(command))
    kept, run = (nbformat.read(NOTEBOOKS / f"{request.param}.ipynb", as_version=4) for _ in range(2))
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


def test_the_notebooks_have_tables_and_the_first_a_plot(request: pytest.FixtureRequest, notebooks: tuple[Any, Any]) -> None:
    shown = set().union(*(forms for cell in notebooks[1].cells if cell.cell_type == "code" for forms in kinds(cell)))
    has_plot = {"image/png"} if "join-sum" in request.node.name else set()
    assert {"text/html", "text/plain"} | has_plot <= shown
