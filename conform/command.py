"""Runs the command under test, whose path is in the environment variable GARBLET."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from .program import Program


def path() -> str:
    found = os.environ.get("GARBLET")
    if not found:
        sys.exit("GARBLET: expected the path of the command under test, got nothing")
    return found


def call(*arguments: str) -> dict[str, Any]:
    """The JSON that a command prints."""
    done = subprocess.run([path(), *arguments, "--json"], check=False, capture_output=True, text=True, timeout=120)
    found: dict[str, Any] = json.loads(done.stdout)
    if done.returncode:
        raise RuntimeError(f"garblet {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return found


def convert(source: str, target: Path, *arguments: str) -> Path:
    subprocess.run([path(), "convert", source, str(target), "--force", *arguments], check=True, capture_output=True)
    return target


def free_address() -> str:
    """An address that nobody listens at, and that nobody is given: systems give callers ports of 127.0.0.1 alone.

    A Mac has no other addresses of loopback.
    """
    host = (
        "127.0.0.1"
        if sys.platform == "darwin"
        else f"127.{random.randrange(1, 255)}.{random.randrange(256)}.{random.randrange(1, 255)}"
    )
    with socket.socket() as chosen:
        # Nobody can be kept from listening there by a copy that a process has for as long as another thread starts it.
        chosen.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        chosen.bind((host, 0))
        return f"{host}:{chosen.getsockname()[1]}"


def write_inputs(program: Program, values: dict[str, Any], folder: Path) -> dict[int, Path]:
    """One file of inputs for each party that has any."""
    files = {}
    for party in sorted({port.owner for port in program.inputs}):
        file = folder / f"party{party}.json"
        file.write_text(json.dumps({port.name: values[port.name] for port in program.inputs if port.owner == party}))
        files[party] = file
    return files


def evaluate(program_file: Path, files: dict[int, Path]) -> dict[str, str]:
    """What `garblet eval` says: the bits of each output."""
    given = [word for party, file in files.items() for word in ("--input", f"{party}={file}")]
    outputs = call("eval", str(program_file), *given)["outputs"]
    return {name: output["bits"] for name, output in outputs.items()}


def keygen(file: Path) -> str:
    """Make an identity, and return its fingerprint."""
    done = subprocess.run([path(), "keygen", str(file)], check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Running:
    """A command that runs."""

    def __init__(self, words: list[str]) -> None:
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait(self, seconds: float = 100) -> tuple[int, dict[str, Any], str]:
        """The exit status, the JSON, and the errors."""
        try:
            out, err = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            out, err = self._process.communicate()
            return -1, {}, f"(still running after {seconds} seconds) {err}"
        return self._process.returncode, json.loads(out) if out.strip() else {}, err

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


class Party(Running):
    """One party of the command, which listens, or connects."""

    def __init__(
        self,
        party: int,
        program_file: Path | str,
        files: dict[int, Path],
        address: str,
        parameters: dict[str, str],
        listen: bool = True,
        more: tuple[str, ...] = (),
    ) -> None:
        words = [path(), "run", str(program_file), "--as-it-is", "--party", str(party), "--json"]
        words += ["--listen" if listen else "--connect", address] if address else []
        words += [] if "--identity" in more else ["--insecure-plain-tcp"]
        words += ["--input", f"{party}={files[party]}"] if party in files else []
        words += [word for name, value in parameters.items() for word in ("--param", f"{name}={value}")]
        words += more
        super().__init__(words)


class Preparation(Running):
    """One party that fills its store for `authenticated`, and listens."""

    def __init__(
        self, party: int, address: str, stock: dict[str, int], parameters: dict[str, str], where: tuple[str, ...]
    ) -> None:
        words = [path(), "prepare", "--protocol", "authenticated", "--party", str(party), "--listen", address]
        words += ["--insecure-plain-tcp", "--json", *where]
        words += [word for name, amount in stock.items() for word in ("--stock", f"{name}={amount}")]
        words += [word for name, value in parameters.items() for word in ("--param", f"{name}={value}")]
        super().__init__(words)
