"""Shared parts of the tests."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import threading
import time
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


@pytest.fixture(scope="session")
def command() -> Path:
    """The command `garblet`, which `cargo xtask python` names and builds."""
    built = Path(__file__).resolve().parents[2] / "target/debug/garblet"
    path = Path(os.environ.get("GARBLET", built))
    if "GARBLET" not in os.environ and not path.exists():
        pytest.skip(f"{path} is missing: cargo build --workspace --bin garblet")
    return path


def free_address() -> str:
    """An address that nobody listens at, and that nobody is given: systems give callers ports of 127.0.0.1 alone.

    A Mac has no other addresses of loopback.
    """
    host = "127.0.0.1" if sys.platform == "darwin" else f"127.{random.randrange(1, 255)}.{random.randrange(256)}.{random.randrange(1, 255)}"
    with socket.socket() as chosen:
        # Nobody can be kept from listening there by a copy that a process has for as long as another thread starts it.
        chosen.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        chosen.bind((host, 0))
        return f"{host}:{chosen.getsockname()[1]}"


def await_listener(address: str, process: subprocess.Popen[bytes]) -> None:
    """Waits until the process listens there."""
    host, port = address.split(":")
    for _ in range(400):
        if process.poll() is not None:
            raise AssertionError(f"the process ended with {process.returncode}")
        with socket.socket() as one:
            if one.connect_ex((host, int(port))) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens at {address}")
