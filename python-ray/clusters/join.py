"""One party of a join by key, over two Ray clusters, in shards. Both parties give the same options but for their own.

Party 0 has keys, and party 1 keys with values. With `--show total` both learn how many keys both have and the sum of their values, but not that of any shard: party 0 adds random
numbers in every shard, and one more run takes away their sum. With `--show rows` party 0 learns the value for each of its keys that party 1 has, in the order of its table.
"""

from __future__ import annotations

import argparse
import json
import logging
import secrets
import time
from pathlib import Path
from typing import Any

import garblet
import garblet_ray
import numpy as np
import pandas
import ray

#: The numbers that are masked: how many keys match, and the sum of their values.
TOTALS = ("size", "sum")


def made(party: int, rows: int) -> pandas.DataFrame:
    """A table at random, of about `rows` rows and at most that many, whose keys are below four times that number."""
    random = np.random.default_rng(party)
    keys = random.permutation(np.flatnonzero(random.random(4 * rows) < 0.25)[:rows])
    return pandas.DataFrame({"key": keys, "value": random.integers(0, 2**16, len(keys))})


def bits(options: argparse.Namespace) -> dict[str, int]:
    """The widths of keys and values."""
    return {"key_bits": options.key_bits, "value_bits": options.value_bits}


def total(options: argparse.Namespace, sharding: garblet.Sharding, own: garblet.Shards, job: dict[str, Any]) -> dict[str, int]:
    """The number of keys that both parties have, and the sum of party 1's values for them."""
    library = "lib:intersection-sum({a},{b},{key_bits},{value_bits})".format(**sharding.room, **bits(options))
    program = garblet.load(library).masked("size", 0).masked("sum", 0)
    masks = {name: [secrets.randbelow(2**64) for _ in range(sharding.shards)] for name in TOTALS}
    if options.party == 0:
        own = own.beside(**{f"{name}_mask": values for name, values in masks.items()})
    # One attempt: whoever takes part twice under one mask learns the difference of two results.
    reports = garblet_ray.map(program, own, shards=sharding, slots=options.slots, session=options.session, attempts=1, **job)
    if not all(report["in_order"] for report in reports):
        raise SystemExit("a list was not in order in some shard, and so counted as empty: the total is wrong")
    # Numbers wrap around at 2^64, so that the masks hide the others.
    source = "pub fn main(masks: [u64; 2], masked: [u64; 2]) -> [u64; 2] { [masked[0] - masks[0], masked[1] - masks[1]] }"
    difference = garblet.compile(source, name="totals", panics=False)
    known = masks if options.party == 0 else {name: [report[name] for report in reports] for name in TOTALS}
    sums = {("masks", "masked")[options.party]: [sum(known[name]) % 2**64 for name in TOTALS]}
    (last,) = garblet_ray.map(difference, [sums], shards=1, session=f"{options.session}-total", **job)
    return dict(zip(TOTALS, last["out0"], strict=True))


def joined_rows(options: argparse.Namespace, sharding: garblet.Sharding, own: garblet.Shards, job: dict[str, Any]) -> dict[str, Any]:
    """For party 0, the value for each of its rows, None where party 1 lacks the key."""
    library = "lib:join({a},{b},{key_bits},{value_bits})".format(**sharding.room, **bits(options))
    program = garblet.load(library).with_recipients("rows", [0])
    reports = garblet_ray.map(program, own, shards=sharding, slots=options.slots, session=options.session, **job)
    if options.party == 1:
        return {}
    return {"values": [row["value"] if row["found"] else None for row in own.gather([report["rows"] for report in reports])]}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--party", type=int, choices=(0, 1), required=True)
    parser.add_argument("--table", type=Path, help="a Parquet file with columns key and value; by default a table at random")
    parser.add_argument("--rows", type=int, default=10_000_000, help="the most rows of a party, which both know")
    parser.add_argument("--shards", type=int, default=200)
    parser.add_argument("--slots", type=int, default=1, help="the shards that run at once")
    parser.add_argument("--seed", type=Path, required=True, help="a file with what one party drew when both tables were fixed: secrets.token_hex(16)")
    parser.add_argument("--key-bits", type=int, default=32)
    parser.add_argument("--value-bits", type=int, default=16)
    parser.add_argument("--show", choices=("total", "rows"), default="total")
    parser.add_argument("--session", required=True, help="a name that was never used")
    parser.add_argument("--cluster", default="auto", help="the address of the party's own cluster")
    parser.add_argument("--identity", required=True, help="a file on every node")
    parser.add_argument("--trust", required=True, help="the peer's fingerprint")
    parser.add_argument("--connect", help="the peer's port; else this party has HAProxy")
    parser.add_argument("--haproxy", default="/run/garblet/haproxy.sock", help="its runtime socket")
    parser.add_argument("--names", default="/etc/haproxy/garblet.map", help="its map")
    parser.add_argument("--records", help="the folder with the records of jobs")
    return parser.parse_args()


def main() -> None:
    """Cuts the table before it meets the peer, and prints the result as JSON."""
    options = arguments()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    ray.init(address=options.cluster, log_to_driver=False, logging_level="error")
    begun = time.monotonic()
    table = made(options.party, options.rows) if options.table is None else pandas.read_parquet(options.table, columns=["key", "value"])
    sharding = garblet.Sharding(shards=options.shards, rows={"a": options.rows, "b": options.rows}, seed=options.seed.read_text().strip())
    own = sharding.cut("a", table["key"]) if options.party == 0 else sharding.cut("b", table, key="key")
    cut = time.monotonic()
    trust = {"peer": options.trust}
    peer = garblet_ray.Calling(options.connect, trust) if options.connect else garblet_ray.Listening(options.haproxy, options.names, trust)
    job = {"party": options.party, "peer": peer, "identity": options.identity, "records": options.records}
    result = (total if options.show == "total" else joined_rows)(options, sharding, own, job)
    print(json.dumps({**result, "seconds": {"cut": round(cut - begun, 1), "all": round(time.monotonic() - begun, 1)}}))


if __name__ == "__main__":
    main()
