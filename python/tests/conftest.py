"""Shared parts of the tests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import garblet
import pytest


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the tests their own records and keys."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def richer() -> garblet.Program:
    return garblet.compile("pub fn main(a: u32, b: u32) -> bool { a > b }", name="richer")


@pytest.fixture
def identities(tmp_path: Path) -> list[garblet.Identity]:
    return [garblet.Identity.generate(str(tmp_path / f"{name}.pem")) for name in ("alice", "bob")]


def both(one: Callable[[], Any], other: Callable[[], Any]) -> list[Any]:
    """Runs two parties at the same time. Returns an exception in place of a result."""
    return together(one, other)


def together(*parties: Callable[[], Any]) -> list[Any]:
    """Runs parties at the same time. Returns an exception in place of a result."""
    results: list[Any] = [None] * len(parties)

    def keep(at: int, party: Callable[[], Any]) -> None:
        try:
            results[at] = party()
        except Exception as error:
            results[at] = error

    threads = [threading.Thread(target=keep, args=(at, party)) for at, party in enumerate(parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results
