"""Clients of two servers of `outsourced`, which the command is; and all of them in this process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import garblet
import pytest
from conftest import await_listener, free_address

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
    between, *visitors = (free_address() for _ in range(3))
    serve: list[str | Path] = [command, "serve", "--protocol", "outsourced", "--agreement", tmp_path / "ledger.toml"]
    processes = []
    for party, (name, way) in enumerate((("one", "--listen"), ("other", "--connect"))):
        own: list[str | Path] = ["--party", str(party), "--identity", tmp_path / f"{name}.pem", "--store", tmp_path / f"{name}.store", "--store-key", tmp_path / f"{name}.key"]
        at = [way, between, "--visitors", visitors[party]]
        processes.append(subprocess.Popen([*serve, *own, *at], stdout=subprocess.DEVNULL))
    try:
        for address, process in zip(visitors, processes, strict=True):
            await_listener(address, process)
        yield garblet.Agreement(
            tmp_path / "ledger.toml",
            (tmp_path / "anna.one", tmp_path / "anna.other"),
            (visitors[0], visitors[1]),
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
    with pytest.raises(garblet.UsageError, match="resume: no visit is waiting"):
        garblet.resume(ledger, "show")
    with pytest.raises(garblet.UsageError, match="clients: the invited client `anna` is not among bo"):
        garblet.visit(replace(ledger, clients=["bo"]), "show", b=1)
    # Nothing is recorded of a visit that cannot be made.
    without_port = replace(ledger, addresses=("127.0.0.1", "127.0.0.1"))
    with pytest.raises(garblet.UsageError, match="is not an address: expected HOST:PORT"):
        garblet.visit(without_port, "begin", a=1, b=1)
    assert garblet.visit(ledger, "show", b=2)["sum"] == 9
    secrets = [Path(path).read_text().strip() for path in ledger.invitations]
    assert not any(secret in repr(ledger) for secret in secrets)


def test_an_answer_that_nobody_saw_is_asked_for_again(ledger: garblet.Agreement) -> None:
    from garblet.visit import _ask

    answer, _ = _ask(ledger, "begin", {"a": 3, "b": 4})
    answer.leave()
    with pytest.raises(garblet.UsageError, match="was not answered, and may have changed the state") as caught:
        garblet.visit(ledger, "begin", a=3, b=4)
    assert "with resume(); forget=True forgets it" in (caught.value.hint or "")
    # The answers of another program are not taken for those of this one.
    with pytest.raises(garblet.UsageError, match="resume: the last visit is for `begin`, got `show`"):
        garblet.resume(ledger, "show")
    assert garblet.resume(ledger, "begin").version == 1
    assert garblet.visit(ledger, "show", b=5)["sum"] == 12


def test_an_answer_that_comes_before_an_interrupt_is_not_lost(ledger: garblet.Agreement, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = sys.modules["garblet.visit"]
    garblet.visit(ledger, "begin", a=3, b=4)

    def interrupt(*_: object) -> Any:
        raise KeyboardInterrupt

    # Before it is recorded that the caller has the answer, it can be asked for again.
    with monkeypatch.context() as patched:
        patched.setattr(module.json, "loads", interrupt)
        with pytest.raises(KeyboardInterrupt):
            garblet.visit(ledger, "show", b=5)
    assert garblet.resume(ledger, "show")["sum"] == 12
    # Then the exception has it.
    keep = module._keep
    with monkeypatch.context() as patched:
        patched.setattr(module, "_keep", lambda answer: (keep(answer), interrupt()))
        with pytest.raises(KeyboardInterrupt) as caught:
            garblet.visit(ledger, "show", b=6)
    answered: Any = caught.value
    assert answered.visit["sum"] == 13 and "`visit` of this exception" in caught.value.__notes__[0]
    with pytest.raises(garblet.UsageError, match="resume: no visit is waiting"):
        garblet.resume(ledger, "show")


def test_an_answer_is_given_although_it_cannot_be_recorded(ledger: garblet.Agreement, tmp_path: Path) -> None:
    from garblet.visit import _ask, _given

    garblet.visit(ledger, "begin", a=3, b=4)
    answer, visit = _ask(ledger, "show", {"b": 5})
    # As on a full disk, no file takes this place.
    kept, aside = tmp_path / "anna.receipts", tmp_path / "aside"
    kept.rename(aside)
    kept.mkdir()
    with pytest.raises(garblet.ReceiptError, match="cannot be written") as caught:
        _given(answer, visit)
    assert caught.value.visit is visit and visit["sum"] == 12 and "resume()" in (caught.value.hint or "")
    kept.rmdir()
    aside.rename(kept)
    assert garblet.resume(ledger, "show")["sum"] == 12


def test_a_task_that_is_cancelled_leaves_its_answer(ledger: garblet.Agreement) -> None:
    garblet.visit(ledger, "begin", a=3, b=4)

    async def leave() -> None:
        task = asyncio.ensure_future(garblet.avisit(ledger, "show", b=5))
        await asyncio.sleep(0)
        # The servers answer while this loop does nothing, so the task ends with an answer that nobody has seen.
        time.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    assert garblet.resume(ledger, "show")["sum"] == 12


def test_a_file_of_the_user_beside_the_receipts_stays(ledger: garblet.Agreement, tmp_path: Path) -> None:
    for name in ("anna.lock", "anna.json.lock"):
        (tmp_path / name).write_text("mine")
    garblet.visit(replace(ledger, receipts=tmp_path / "anna.json"), "begin", a=3, b=4)
    assert [(tmp_path / name).read_text() for name in ("anna.lock", "anna.json.lock")] == ["mine", "mine"]
    # A name that ends like one of a lock is a name as any other.
    (tmp_path / "anna.json").rename(tmp_path / "x.lock")
    locked = replace(ledger, receipts=tmp_path / "x.lock")
    assert [garblet.visit(locked, "show", b=b)["sum"] for b in (1, 2)] == [8, 9]
    assert '"counter"' in (tmp_path / "x.lock").read_text()


def test_servers_that_are_not_there_leave_a_visit_that_can_be_resumed(ledger: garblet.Agreement) -> None:
    nobody = free_address()
    gone = replace(ledger, addresses=(nobody, nobody), timeout=1.0)
    with pytest.raises(garblet.PeerError, match="connection to the generator"):
        garblet.visit(gone, "begin", a=3, b=4)
    assert garblet.resume(ledger, "begin").version == 1


def test_all_parties_of_outsourced_run_here() -> None:
    added = garblet.load("lib:add(8)").with_owner("a", 1).with_owner("b", 2).with_recipients("sum", [1])
    reports = garblet.run_local(added, [{}, {"a": 3}, {"b": 4}, {}], protocol="outsourced")
    assert [report.outputs for report in reports] == [{}, {"sum": 7}, {}, {}]
    with pytest.raises(garblet.UsageError, match="no session of Python runs outsourced"):
        garblet.Session(added, 0, listen="127.0.0.1:0", insecure_plain_tcp=True, protocol="outsourced")
