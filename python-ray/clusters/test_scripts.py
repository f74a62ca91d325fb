"""The scripts of README.md for Slurm and Kubernetes, run shard by shard as those systems would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import garblet
import pytest
import yaml
from two_clusters import block, free_ports


#: The sum over an intersection.
PROGRAM = "lib:intersection-sum(2,2,16,16)"


class Shards:
    """Two shards of two parties, in a folder laid out as the scripts expect."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "shards").mkdir()
        (folder / "results").mkdir()
        self.alice, self.bob = (garblet.Identity.generate(str(folder / f"{name}.pem")) for name in ("alice", "bob"))
        for shard in range(2):
            (folder / f"shards/{shard}.csv").write_text(f"key,value\n{7 + shard},{50 + shard}\n9,30\n")
            (folder / f"shards/alice{shard}.json").write_text('{"a": [7, 9]}')
        self.base = min(free_ports(1)[0], 60_000)
        self.environment = {
            **os.environ,
            "PROGRAM": PROGRAM,
            "PEER": self.alice.fingerprint,
            "HOST": "127.0.0.1",
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def here(self, text: str) -> str:
        """A script with the paths and ports of this test."""
        return text.replace("/etc/garblet/identity.pem", str(self.folder / "bob.pem")).replace("7700", str(self.base))

    def run(self, shard: int, script: list[str], **more: str) -> int:
        """The results of both parties for a shard that party 1 runs with a script."""
        other = [
            *("garblet", "run", PROGRAM, "--party", "0", "--input", f"0=shards/alice{shard}.json"),
            *("--identity", "alice.pem", "--peer", self.bob.fingerprint, "--session", f"risk-7f3a9c-{shard}"),
            *("--protocol", "yao", "--listen", f"127.0.0.1:{self.base + shard}"),
        ]
        peer = subprocess.Popen(other, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True)
        subprocess.run(script, cwd=self.folder, env={**self.environment, **more}, check=True, timeout=60)
        said, _ = peer.communicate(timeout=60)
        result: int = json.loads((self.folder / f"results/{shard}.json").read_text())["sum"]
        assert f"sum = {result}\n" in said
        return result


@pytest.fixture
def shards(tmp_path: Path) -> Shards:
    if shutil.which("garblet") is None:
        pytest.fail("there is no command garblet: cargo xtask clusters builds it")
    return Shards(tmp_path)


def test_the_script_for_slurm_runs_shards(shards: Shards) -> None:
    script = shards.here(block("sh"))
    assert "#SBATCH --no-requeue" in script
    assert [shards.run(k, ["bash", "-euc", script], SLURM_ARRAY_TASK_ID=str(k)) for k in range(2)] == [80, 30]


def test_the_job_for_kubernetes_runs_shards(shards: Shards) -> None:
    job = yaml.safe_load(block("yaml"))
    assert (job["spec"]["completionMode"], job["spec"]["backoffLimit"]) == ("Indexed", 0)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    command = [*container["command"], *map(shards.here, container["args"])]
    assert [shards.run(k, command, JOB_COMPLETION_INDEX=str(k)) for k in range(2)] == [80, 30]
