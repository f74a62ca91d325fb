"""The two notebooks of the README, each in a kernel of its own."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import nbformat
from conftest import free_address
from nbclient import NotebookClient

README = Path(__file__).resolve().parents[2] / "README.md"
CELL = re.compile(r"^```python notebook=(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(party: str) -> list[str]:
    """The cells that a party writes, in order."""
    return [source for whose, source in CELL.findall(README.read_text()) if whose in (party, "both")]


def printed(cell: Any) -> str:
    """The text that a cell has printed."""
    return "".join(out["text"] for out in cell.outputs if out["output_type"] == "stream" and out["name"] == "stdout").strip()


async def one_by_one(sources: dict[str, list[str]], folder: Path) -> dict[str, list[str]]:
    """What each cell of each party prints. The last cells run at the same time, with the fingerprints that the first have printed."""
    notebooks = {party: nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in own]) for party, own in sources.items()}
    clients = {party: NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}) for party, notebook in notebooks.items()}

    async def cell(party: str, at: int) -> str:
        return printed(await clients[party].async_execute_cell(notebooks[party].cells[at], at))

    async with clients["alice"].async_setup_kernel(), clients["bob"].async_setup_kernel():
        said = {party: [await cell(party, at) for at in range(2)] for party in clients}
        address = free_address()
        known = {f"{party.upper()}'S FINGERPRINT": said[party][0] for party in clients} | {"0.0.0.0:7766": address, "alice.example.org:7766": address}
        for notebook in notebooks.values():
            for name, value in known.items():
                notebook.cells[2].source = notebook.cells[2].source.replace(name, value)
        for party, last in zip(clients, await asyncio.gather(*(cell(party, 2) for party in clients)), strict=True):
            said[party].append(last)
    return said


def test_two_notebooks_compute_what_the_readme_says(tmp_path: Path) -> None:
    sources = {party: cells(party) for party in ("alice", "bob")}
    assert [len(own) for own in sources.values()] == [3, 3]
    promised = re.search(r"Both notebooks print `(\d+)`", README.read_text())
    assert promised is not None
    said = asyncio.run(one_by_one(sources, tmp_path))
    assert [own[2] for own in said.values()] == [promised[1]] * 2
    assert said["alice"][0] != said["bob"][0]
