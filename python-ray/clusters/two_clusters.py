"""Two clusters of Ray, one for each party, on the loopback interface only, with HAProxy in front of the first as in README.md."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import garblet
import pytest

PAGE = Path(__file__).resolve().with_name("README.md")


def block(kind: str) -> str:
    """The block of this kind on the page about clusters."""
    found = re.search(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [own.getsockname()[1] for own in sockets]
    for own in sockets:
        own.close()
    return ports


class Party:
    """One party's cluster."""

    def __init__(self, party: int, folder: Path, **environment: str) -> None:
        self.party, self.folder = party, folder
        folder.mkdir()
        self.identity = folder / "identity.pem"
        self.fingerprint = garblet.Identity.generate(str(self.identity)).fingerprint
        # The paths of its sockets would be too long within the tests' folder.
        self.temporary = tempfile.mkdtemp(prefix=f"ray{party}-", dir="/tmp")
        (port,) = free_ports(1)
        self.address = f"127.0.0.1:{port}"
        first = 20_000 + 500 * party
        resources = json.dumps({f"garblet_slot_{slot}": 1 for slot in range(2)})
        self.node = subprocess.Popen(
            [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", f"--port={port}", f"--temp-dir={self.temporary}"]
            + ["--node-ip-address=127.0.0.1", "--include-dashboard=false", "--disable-usage-stats", "--num-cpus=1"]
            + [f"--min-worker-port={first}", f"--max-worker-port={first + 499}", f"--resources={resources}"]
            + ["--object-store-memory=100000000"],
            stdout=(folder / "ray.log").open("w"),
            stderr=subprocess.STDOUT,
            env={**os.environ, "RAY_DISABLE_IMPORT_WARNING": "1", "RAY_ENABLE_RECORD_ACTOR_TASK_LOGGING": "0", **environment},
            start_new_session=True,
        )
        deadline = time.monotonic() + 60
        while not (folder / "ray.log").read_text().count("Ray runtime started"):
            assert self.node.poll() is None and time.monotonic() < deadline, (folder / "ray.log").read_text()
            time.sleep(0.1)

    def stop(self) -> None:
        self.node.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.node.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.node.pid, signal.SIGKILL)
        self.node.wait(10)
        shutil.rmtree(self.temporary, ignore_errors=True)


class Clusters:
    """Both parties, and the port on which one calls the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.parties = [Party(party, folder / f"party{party}") for party in range(2)]
        (self.port,) = free_ports(1)
        self.socket, self.names = folder / "haproxy.sock", folder / "garblet.map"
        self.names.write_text("")
        configuration = block("haproxy").replace("/run/garblet/haproxy.sock", str(self.socket))
        configuration = configuration.replace("/etc/haproxy/garblet.map", str(self.names)).replace(":7700", f"127.0.0.1:{self.port}")
        (folder / "haproxy.cfg").write_text(configuration)
        self.haproxy = subprocess.Popen(["haproxy", "-db", "-f", folder / "haproxy.cfg"])
        deadline = time.monotonic() + 10
        while not self.socket.exists():
            assert self.haproxy.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)

    def begin(self, party: int, session: str, **more: Any) -> subprocess.Popen[str]:
        """Starts one party's part of a job; `more` are options of `map`."""
        own, other = self.parties[party], self.parties[1 - party]
        said = {
            "cluster": own.address,
            "party": party,
            "rows": more.pop("rows", 24),
            "shards": more.pop("shards", 6),
            "slots": more.pop("slots", 2),
            "session": session,
            "identity": str(more.pop("identity", own.identity)),
            "records": str(own.folder / "records"),
            "trust": {"peer": other.fingerprint},
            "more": {"timeout": 15.0, **more},
        }
        if party == 0:
            said |= {"haproxy": str(more.pop("haproxy", self.socket)), "names": str(self.names)}
            said["more"].pop("haproxy", None)
        else:
            said["address"] = f"127.0.0.1:{self.port}"
        command = [sys.executable, str(Path(__file__).with_name("party.py")), json.dumps(said)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def records(self, party: int, session: str) -> list[dict[str, Any]]:
        """A party's records of a job."""
        return [json.loads(line) for line in self.path(party, session).read_text().splitlines()]

    def path(self, party: int, session: str) -> Path:
        """The file with the records."""
        return self.parties[party].folder / "records" / f"{session}.jsonl"

    def rounds(self, party: int, session: str) -> list[list[int]]:
        """The shards of each round."""
        return [entry["shards"] for entry in self.records(party, session)[1:] if isinstance(entry.get("shards"), list)]

    def stop(self) -> None:
        self.haproxy.terminate()
        self.haproxy.wait(10)
        for party in self.parties:
            party.stop()


def end(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The outcome of a party's job."""
    said, wrong = process.communicate(timeout=180)
    assert process.returncode == 0, wrong
    result: dict[str, Any] = json.loads(said.splitlines()[-1])
    # Helps to diagnose a failing test.
    print(wrong)
    return result


@pytest.fixture(scope="session")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    clusters = Clusters(tmp_path_factory.mktemp("clusters"))
    yield clusters
    clusters.stop()
