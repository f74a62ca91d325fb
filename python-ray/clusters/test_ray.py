"""Jobs of two parties, each on its own cluster."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import garblet
import pytest
from party import column
from two_clusters import Clusters, Party, clusters, end


def expected(rows: int) -> list[bool]:
    return (column(0, rows) > column(1, rows)).tolist()  # type: ignore[no-any-return]


def both(clusters: Clusters, session: str, **more: Any) -> list[dict[str, Any]]:
    begun = [clusters.begin(party, session, **more) for party in range(2)]
    return [end(party) for party in begun]


def named(prefix: str) -> str:
    return f"{prefix}-{secrets.token_hex(4)}"


def workers(title: str) -> list[int]:
    """The Ray processes that run a task with this name."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if (folder / "cmdline").read_bytes().startswith(f"ray::garblet {title}".encode()):
                    found.append(int(folder.name))
            except OSError:
                pass
    return found


class Killer(threading.Thread):
    """Kills the first worker of either party that runs an attempt, after a moment."""

    def __init__(self, *titles: str, after: float = 0.2) -> None:
        super().__init__(daemon=True)
        self.titles, self.after, self.killed = list(titles), after, 0
        self.over = threading.Event()

    def run(self) -> None:
        while self.titles and not self.over.is_set():
            for title in self.titles:
                for process in workers(title)[:1]:
                    time.sleep(self.after)
                    os.kill(process, signal.SIGKILL)
                    self.killed += 1
                    self.titles.remove(title)
                    break
                else:
                    continue
                break
            time.sleep(0.01)


def test_a_worker_that_is_killed_costs_its_shard_another_attempt_on_both_sides(clusters: Clusters) -> None:
    rows, session = 90_000, named("kill")
    killer = Killer(f"{session}-3-1")
    killer.start()
    results = both(clusters, session, rows=rows)
    killer.over.set()
    assert killer.killed == 1
    for party, result in enumerate(results):
        assert result == {"richer": expected(rows)}, result
        assert clusters.rounds(party, session) == [[0, 1, 2, 3, 4, 5], [3]]


def test_attempts_are_capped(clusters: Clusters) -> None:
    rows, session = 90_000, named("cap")
    killer = Killer(f"{session}-1-1", f"{session}-1-2")
    killer.start()
    # A party waits three times as long for a worker that was killed before it connected.
    results = both(clusters, session, rows=rows, attempts=2, timeout=8.0)
    killer.over.set()
    assert killer.killed == 2
    for party, result in enumerate(results):
        assert (result["error"], result["failed"]) == ("ShardsError", [1]), result
        assert "1 of 6 shards have no result after at most 2 attempts; shard 1" in result["message"]
        own = expected(rows)
        assert result["done"] == {str(shard): own[15_000 * shard : 15_000 * (shard + 1)] for shard in (0, 2, 3, 4, 5)}
        assert clusters.rounds(party, session) == [[0, 1, 2, 3, 4, 5], [1]]


def test_a_name_serves_once(clusters: Clusters) -> None:
    session = named("once")
    assert [result["richer"] for result in both(clusters, session)] == [expected(24)] * 2
    again = end(clusters.begin(0, session))
    assert again["error"] == "UsageError" and f"{session} has been run" in again["message"]
    assert "evaluations are counted" in again["hint"]


def test_inputs_are_written_down_by_salted_digests(clusters: Clusters) -> None:
    session = named("frozen")
    both(clusters, session)
    manifest = clusters.records(0, session)[0]
    assert len(set(manifest["inputs"])) == manifest["shards"] == 6 and len(manifest["salt"]) == 32
    assert clusters.records(1, session)[0]["inputs"] != manifest["inputs"]


def test_jobs_that_differ_are_told_before_anything_is_evaluated(clusters: Clusters) -> None:
    session = named("differ")
    begun = [clusters.begin(0, session), clusters.begin(1, session, attempts=2)]
    for party, result in enumerate(end(process) for process in begun):
        assert result["error"] == "PeerError" and "does not agree" in result["message"], result
        assert not clusters.path(party, session).exists()
    # The name can serve again.
    assert [result["richer"] for result in both(clusters, session)] == [expected(24)] * 2


def test_a_job_has_no_room_where_another_is_at_work(clusters: Clusters) -> None:
    session = named("first")
    first = clusters.begin(0, session, timeout=30.0)
    deadline = time.monotonic() + 60
    while not clusters.path(0, session).exists():
        assert first.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    second = end(clusters.begin(0, named("second"), timeout=2.0))
    assert second["error"] == "UsageError" and "others are at work on this cluster" in second["message"], second
    # The first one is unaffected.
    assert [end(party)["richer"] for party in (clusters.begin(1, session, timeout=30.0), first)] == [expected(24)] * 2


def test_slots_have_stores(clusters: Clusters) -> None:
    for prefix in ("first", "second"):
        session = named(prefix)
        begun = [
            clusters.begin(
                party,
                session,
                protocol="authenticated",
                stores=str(clusters.parties[party].folder / "stores-{slot}"),
                store_key=str(clusters.parties[party].folder / "store.key"),
                top_up=True,
                timeout=40.0,
            )
            for party in range(2)
        ]
        for result in [end(process) for process in begun]:
            assert result == {"richer": expected(24)}, result
    for party in clusters.parties:
        assert all((party.folder / f"stores-{slot}").is_dir() for slot in range(2))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"rows": 25}, "25 rows cannot be cut into 6 shards"),
        ({"slots": 3}, "slots: 3 at once need 1.5 processors, and the cluster has 1"),
        ({"haproxy": "/nowhere/haproxy.sock"}, "HAProxy at /nowhere/haproxy.sock"),
        ({"identity": "/nowhere/identity.pem"}, "/nowhere/identity.pem"),
        ({"attempts": 0}, "attempts: expected a number from 1, got 0"),
    ],
)
def test_wrong_calls_are_told(clusters: Clusters, more: dict[str, Any], words: str) -> None:
    result = end(clusters.begin(0, named("wrong"), **more))
    assert result["error"] == "UsageError" and words in result["message"], result


def test_nobody_comes(clusters: Clusters) -> None:
    result = end(clusters.begin(0, named("alone"), timeout=0.5))
    assert result["error"] == "PeerError" and "nobody connected" in result["message"]


def test_a_cluster_without_the_package_is_told(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'garblet_ray':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}')\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    party = Party(0, tmp_path / "party", PYTHONPATH=str(hidden))
    try:
        program = (
            "import garblet, garblet_ray, ray, sys\n"
            "ray.init(address=sys.argv[1], log_to_driver=False, logging_level='error')\n"
            "program = garblet.load('lib:millionaires(32)').batch(1)\n"
            "peer = garblet_ray.Calling('127.0.0.1:1', {})\n"
            "garblet_ray.map(program, {'bob': [3]}, shards=1, party=1, peer=peer, session='hidden', identity='x', records=sys.argv[2])\n"
        )
        command = [sys.executable, "-c", program, party.address, str(tmp_path / "records")]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60)
    finally:
        party.stop()
    assert "UsageError: the workers have no package garblet-ray" in said.stderr, said.stderr
    assert f"hint: install it on every node, from the wheel of the release: pip install ./garblet_ray-{garblet.__version__}-" in said.stderr


# Imported as a fixture of this file.
__all__ = ["clusters"]
