"""Clients of two servers of `outsourced`, which the command is; and all of them in this process."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import garblet
import pytest
from conftest import await_port, free_port

LEDGER = """
service = "cb6e5a3f0c8d4e1797b2a0f3d5e86412"
clients = ["anna"]
[generator]
key = "{one}"
[cloud]
key = "{other}"
[[program]]
name = "begin"
source = "lib:add(8)"
owner = {{ a = 1, b = 1 }}
to = {{ sum = "nobody" }}
keep = "total"
first = true
[[program]]
name = "show"
source = "lib:add(8)"
owner = {{ a = 1, b = 1 }}
to = {{ sum = 1 }}
read = ["a=total"]
[[program]]
name = "checked"
source = "checked.garble.rs"
owner = {{ a = 1, b = 1 }}
to = {{ out0 = 1 }}
"""


@pytest.fixture
def ledger(tmp_path: Path, command: Path) -> Iterator[garblet.Agreement]:
    """Two servers and the client Anna."""

    def garblet_command(*arguments: object) -> str:
        done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    keys: dict[str, str] = {}
    for name in ("one", "other"):
        garblet_command("keygen", tmp_path / f"{name}.pem")
        invitation = garblet_command("keygen", tmp_path / f"{name}.pem", "--client", "anna", "--server-name", name)
        (tmp_path / f"anna.{name}").write_text(invitation)
        said = garblet_command("id", tmp_path / f"{name}.pem", "--json")
        keys[name] = next(word.strip('",') for word in said.split() if len(word.strip('",')) == 64)
    (tmp_path / "checked.garble.rs").write_text("pub fn main(a: u8, b: u8) -> u8 { a + b }")
    (tmp_path / "ledger.toml").write_text(LEDGER.format(**keys))
    between, *visitors = (free_port() for _ in range(3))
    serve: list[str | Path] = [command, "serve", "--protocol", "outsourced", "--agreement", tmp_path / "ledger.toml"]
    processes = []
    for party, (name, way) in enumerate((("one", "--listen"), ("other", "--connect"))):
        own: list[str | Path] = ["--party", str(party), "--identity", tmp_path / f"{name}.pem", "--store", tmp_path / f"{name}.store", "--store-key", tmp_path / f"{name}.key"]
        at = [way, f"127.0.0.1:{between}", "--visitors", f"127.0.0.1:{visitors[party]}"]
        processes.append(subprocess.Popen([*serve, *own, *at], stdout=subprocess.DEVNULL))
    try:
        for port, process in zip(visitors, processes, strict=True):
            await_port(port, process)
        yield garblet.Agreement(
            tmp_path / "ledger.toml",
            (tmp_path / "anna.one", tmp_path / "anna.other"),
            (f"127.0.0.1:{visitors[0]}", f"127.0.0.1:{visitors[1]}"),
            receipts=tmp_path / "anna.receipts",
        )
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_client_visits_two_servers(ledger: garblet.Agreement, tmp_path: Path, command: Path) -> None:
    begun = garblet.visit(ledger, "begin", a=3, b=4)
    assert (begun.outputs, begun.state, begun.version, begun.attempts) == ({}, "total", 1, 1)
    shown = asyncio.run(garblet.avisit(ledger, "show", b=5))
    assert (shown["sum"], shown.program) == (12, "show")
    assert shown.servers_learn == {"generator": [], "cloud": [], "panics": {"generator": None, "cloud": None}}
    # The command goes on with the same receipts.
    (tmp_path / "b.json").write_text('{"b": 1}')
    invitations = [f"--invitation={Path(path)}" for path in ledger.invitations]
    at: list[str | Path] = ["--generator", ledger.addresses[0], "--cloud", ledger.addresses[1], "--receipts", tmp_path / "anna.receipts"]
    said = subprocess.run(
        [command, "visit", Path(ledger.path), "show", *invitations, *at, "--input", tmp_path / "b.json"], capture_output=True, text=True
    )
    assert "sum = 8" in said.stdout, said.stderr
    with pytest.raises(garblet.Panicked):
        garblet.visit(ledger, "checked", a=200, b=100)
    wrong: list[tuple[str, dict[str, Any], type[Exception], str]] = [
        ("show", {"b": 300}, garblet.InputError, "out of range"),
        ("show", {"c": 3}, garblet.InputError, "c"),
        ("shew", {"b": 3}, garblet.UsageError, "has no program `shew` for `anna`"),
    ]
    for program, inputs, error, what in wrong:
        with pytest.raises(error, match=what):
            garblet.visit(ledger, program, **inputs)
    with pytest.raises(garblet.UsageError, match="no visit is waiting"):
        garblet.resume(ledger, "show")
    secrets = [Path(path).read_text().strip() for path in ledger.invitations]
    assert not any(secret in repr(ledger) for secret in secrets)


def test_an_answer_that_nobody_saw_is_asked_for_again(ledger: garblet.Agreement, monkeypatch: pytest.MonkeyPatch) -> None:
    from garblet.visit import _Asking

    asking = _Asking()
    asking.is_given_up = True
    asking.ask(ledger, "begin", {"a": 3, "b": 4})
    with pytest.raises(garblet.UsageError, match="was not answered, and may have changed the state"):
        garblet.visit(ledger, "begin", a=3, b=4)
    assert garblet.resume(ledger, "begin").version == 1
    assert garblet.visit(ledger, "show", b=5)["sum"] == 12


def test_servers_that_are_not_there_leave_a_visit_that_can_be_resumed(ledger: garblet.Agreement) -> None:
    from dataclasses import replace

    nobody = f"127.0.0.1:{free_port()}"
    gone = replace(ledger, addresses=(nobody, nobody), timeout=1.0)
    with pytest.raises(garblet.GarbletError, match="connection to the generator"):
        garblet.visit(gone, "begin", a=3, b=4)
    assert garblet.resume(ledger, "begin").version == 1


def test_all_parties_of_outsourced_run_here() -> None:
    added = garblet.load("lib:add(8)").with_owner("a", 1).with_owner("b", 2).with_recipients("sum", [1])
    reports = garblet.run_local(added, [{}, {"a": 3}, {"b": 4}, {}], protocol="outsourced")
    assert [report.outputs for report in reports] == [{}, {"sum": 7}, {}, {}]
    with pytest.raises(garblet.UsageError, match="no session of Python runs outsourced"):
        garblet.Session(added, 0, listen="127.0.0.1:0", insecure_plain_tcp=True, protocol="outsourced")
