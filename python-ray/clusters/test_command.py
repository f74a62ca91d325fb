"""A party in Python against a party that runs the command, which `cargo xtask clusters` builds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import garblet

PROGRAM = "lib:millionaires(32)"

#: Only the command measures this, because a Python process may run several parties.
MEASURED = {"cpu_seconds", "load_seconds"}


def keys(value: Any) -> Any:
    """The keys of an object and, recursively, of its values."""
    if isinstance(value, dict):
        return {name: keys(inner) for name, inner in value.items() if name not in MEASURED}
    return [keys(inner) for inner in value] if isinstance(value, list) else None


def test_reports_have_the_fields_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "bob.json").write_text('{"bob": 3000000}')
    program = garblet.load(PROGRAM)
    alice = garblet.Session(program, 0, listen="127.0.0.1:0", insecure_plain_tcp=True)
    assert alice.address is not None
    command = ["garblet", "run", PROGRAM, "--party", "1", "--input", "1=bob.json", "--protocol", "yao"]
    command += ["--connect", "{}:{}".format(*alice.address), "--insecure-plain-tcp", "--json"]
    bob = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    with alice:
        one = alice.run(alice=5_000_000).to_dict()
    said, _ = bob.communicate(timeout=60)
    other = json.loads(said)
    assert keys(one) == keys(other)
    for name in ("outputs", "program", "program_digest", "protocol", "parameters", "recipients", "version"):
        assert one[name] == other[name]
