"""One party of a test, on its own cluster; prints the outcome of its job."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import garblet
import garblet_ray
import numpy as np
import ray


def column(party: int, rows: int) -> Any:
    """The party's numbers, which the test also computes."""
    return np.random.default_rng(party).integers(0, 2**32, rows, dtype=np.uint32)


def peer(said: dict[str, Any]) -> garblet_ray.Calling | garblet_ray.Listening:
    if "haproxy" in said:
        return garblet_ray.Listening(said["haproxy"], said["names"], said["trust"])
    return garblet_ray.Calling(said["address"], said["trust"])


def run(said: dict[str, Any]) -> dict[str, Any]:
    rows, party = said["rows"], said["party"]
    program = garblet.load("lib:millionaires(32)").batch(rows // said["shards"])
    name = ("alice", "bob")[party]
    try:
        reports = garblet_ray.map(
            program,
            {name: column(party, rows)},
            shards=said["shards"],
            slots=said["slots"],
            party=party,
            peer=peer(said),
            session=said["session"],
            identity=said["identity"],
            records=said["records"],
            cpus=0.5,
            **said["more"],
        )
    except garblet_ray.ShardsError as error:
        done = {str(shard): report["alice_richer"] for shard, report in error.reports.items()}
        return {"error": "ShardsError", "message": str(error), "failed": sorted(error.failed), "done": done}
    except garblet.GarbletError as error:
        return {"error": type(error).__name__, "message": str(error), "hint": error.hint}
    return {"richer": [bit for report in reports for bit in report["alice_richer"]]}


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    given = json.loads(sys.argv[1])
    ray.init(address=given["cluster"], log_to_driver=False, logging_level="error")
    print(json.dumps(run(given)))
