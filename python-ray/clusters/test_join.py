"""The join of two tables in shards, by the example `join.py` on two clusters, against pandas."""

from __future__ import annotations

import json
import secrets
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import garblet
import pandas
import pytest
from join import arguments, made
from two_clusters import Clusters, block, clusters

SEED = "drawn when both tables were fixed"


def begin(clusters: Clusters, party: int, session: str, **options: Any) -> subprocess.Popen[str]:
    """Starts a party of the example."""
    own, other = clusters.parties[party], clusters.parties[1 - party]
    seed = own.folder / "seed"
    seed.write_text(options.pop("seed", SEED) + "\n")
    given = {
        "party": party,
        "seed": seed,
        "session": session,
        "cluster": own.address,
        "identity": own.identity,
        "trust": other.fingerprint,
        "records": own.folder / "records",
        **({"haproxy": clusters.socket, "names": clusters.names} if party == 0 else {"connect": f"127.0.0.1:{clusters.port}"}),
        **options,
    }
    command = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
    return subprocess.Popen([sys.executable, str(Path(__file__).with_name("join.py")), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def both(clusters: Clusters, session: str, **options: Any) -> list[dict[str, Any]]:
    """The results of both parties."""
    begun = [begin(clusters, party, session, **options) for party in range(2)]
    results = []
    for process in begun:
        said, wrong = process.communicate(timeout=600)
        assert process.returncode == 0, wrong
        results.append(json.loads(said.splitlines()[-1]))
    # Helps to see how long it took.
    print(results[0]["seconds"])
    return results


def named(prefix: str) -> str:
    return f"{prefix}-{secrets.token_hex(4)}"


def test_the_totals_of_100_000_rows_are_those_of_pandas(clusters: Clusters) -> None:
    rows, session = 100_000, named("total")
    common = made(0, rows).merge(made(1, rows), on="key")
    assert len(common) > 20_000
    for result in both(clusters, session, rows=rows, shards=8, key_bits=19):
        assert (result["size"], result["sum"]) == (len(common), common["value_y"].sum())
    for party in range(2):
        manifest = clusters.records(party, session)[0]
        sharding = garblet.Sharding(shards=8, rows={"a": rows, "b": rows}, seed=SEED)
        assert manifest["sharding"] == sharding.agreement and SEED not in json.dumps(manifest)


def test_the_rows_of_a_table_are_those_of_pandas(clusters: Clusters, tmp_path: Path) -> None:
    ours, theirs = made(2, 500), made(3, 700)
    tables = [tmp_path / f"{party}.parquet" for party in range(2)]
    for table, path in zip((ours, theirs), tables, strict=True):
        table.to_parquet(path)
    session, agreed = named("rows"), {"rows": 700, "shards": 3, "show": "rows"}
    begun = [begin(clusters, party, session, table=tables[party], **agreed) for party in range(2)]
    said = [process.communicate(timeout=180) for process in begun]
    assert [process.returncode for process in begun] == [0, 0], said
    result, other = (json.loads(out.splitlines()[-1]) for out, _ in said)
    joined = ours[["key"]].merge(theirs, on="key", how="left")["value"]
    assert result["values"] == [None if pandas.isna(value) else int(value) for value in joined] and "values" not in other


@pytest.mark.parametrize("more", [{"seed": "another one, by mistake"}, {"rows": 201}])
def test_parties_that_cut_in_different_ways_refuse_each_other(clusters: Clusters, more: dict[str, Any]) -> None:
    session = named("differ")
    begun = [begin(clusters, 0, session, rows=200, shards=2), begin(clusters, 1, session, **{"rows": 200, "shards": 2, **more})]
    for party, process in enumerate(begun):
        _, wrong = process.communicate(timeout=180)
        assert process.returncode != 0 and "the peer does not agree with us" in wrong, wrong
        assert not clusters.path(party, session).exists()


def test_the_commands_of_the_page_are_those_of_the_example(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = block("bash").replace("\\\n", " ").splitlines()
    for party, command in enumerate(commands):
        program, *given = shlex.split(command)[1:]
        monkeypatch.setattr(sys, "argv", [program, *given])
        options = arguments()
        assert program == "join.py" and (options.party, options.rows, options.connect is None) == (party, 10_000_000, party == 0)
    assert len(commands) == 2


# Imported as a fixture of this file.
__all__ = ["clusters"]
