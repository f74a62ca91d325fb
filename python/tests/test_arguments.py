"""Arguments that are of no use: the error names the argument, and never an option of the command."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import garblet
import pytest
from test_jobs import at, write_job

Pair = list[garblet.Identity]


def refused(what: Callable[[], Any]) -> garblet.UsageError:
    with pytest.raises(garblet.UsageError) as caught:
        what()
    assert "--" not in f"{caught.value} {caught.value.hint}", "an option of the command"
    return caught.value


@pytest.mark.parametrize(
    ("name", "value", "got"),
    [
        ("program", "lib:add(8)", "str"),
        ("party", "0", "str"),
        ("party", True, "bool"),
        ("party", -1, "-1"),
        ("party", 2**80, str(2**80)),
        ("job", "job.toml", "str"),
        ("store", "folder", "str"),
        ("listen", ("127.0.0.1", 0), "tuple"),
        ("listen", 7000, "int"),
        ("connect", 7000, "int"),
        ("peers", 5, "int"),
        ("identity", "alice.pem", "str"),
        ("trust", "SECRET", "str"),
        ("trust", {"bob": b"SECRET"}, "bytes by str"),
        ("params", "scheme=classic", "str"),
        ("session", 5, "int"),
        ("receipts", 5, "int"),
        ("timeout", "5", "str"),
        ("timeout", None, "NoneType"),
        ("timeout", 0, "0"),
        ("patience", 0.0, "0"),
        ("patience", "1", "str"),
        ("read", "x=kept", "str"),
    ],
)
def test_a_wrong_argument_of_a_session_is_named(richer: garblet.Program, name: str, value: Any, got: str) -> None:
    given: dict[str, Any] = {"program": richer, "party": 0, name: value}
    if name == "job":
        given = {"job": value}
    if name in ("timeout", "patience"):
        given |= {"listen": "127.0.0.1:0", "insecure_plain_tcp": True}
    if name == "read":
        given["store"] = object()
    error = refused(lambda: garblet.Session(**given))
    wanted = "store" if name == "read" else name
    assert str(error).startswith(f"{wanted}: expected ") and str(error).endswith("object" if name == "read" else got), error
    assert "SECRET" not in str(error)


def test_wrong_arguments_of_calls_and_visits_are_named(tmp_path: Path, identities: Pair) -> None:
    job = garblet.Job.load(write_job(tmp_path / "job", identities))
    service = garblet.Service("127.0.0.1:1", identities[0])
    files = (tmp_path / "one", tmp_path / "other")
    at_both = ("127.0.0.1:1", "127.0.0.1:2")

    def visits(**more: Any) -> Callable[[], Any]:
        asked: dict[str, Any] = {"path": tmp_path / "ledger.toml", "invitations": files, "addresses": at_both, **more}
        return lambda: garblet.visit(garblet.Agreement(**asked), "add")

    one: Any = garblet
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: one.call("127.0.0.1:1", job), "service: expected a Service"),
        (lambda: one.call(job, service), "service: expected a Service"),
        (lambda: one.call(service, tmp_path / "job.toml"), "job: expected a job"),
        (lambda: one.call(one.Service(("127.0.0.1", 1), identities[0]), job), "connect: expected an address"),
        (lambda: one.call(one.Service("127.0.0.1", identities[0]), job), "`127.0.0.1` is not an address: expected HOST:PORT"),
        (lambda: one.visit("ledger.toml", "add"), "agreement: expected an Agreement"),
        (lambda: one.resume(service, "add"), "agreement: expected an Agreement"),
        (visits(invitations="anna.one"), "invitations: expected two"),
        (visits(addresses="127.0.0.1:1"), "addresses: expected two"),
        (visits(addresses=(("127.0.0.1", 1), ("127.0.0.1", 2))), "addresses: expected an address"),
        (visits(addresses=("127.0.0.1", "127.0.0.1")), "`127.0.0.1` is not an address: expected HOST:PORT"),
        (visits(clients="bert"), "clients: expected a list of texts"),
        (visits(label=5), "label: expected a text"),
        (visits(timeout="5"), "timeout: expected seconds"),
        (visits(timeout=0), "timeout: expected seconds"),
        (lambda: job.sign(one.Service), "identity: expected an identity"),
        (lambda: one.Receipt.load(tmp_path, holds="abc"), "holds: expected a list of texts"),
        (lambda: one.run_local("lib:add(8)", [{}, {}]), "program: expected a program"),
        (lambda: one.run_local(job.program, {"a": 1, "b": 2}), "inputs: a party: expected a whole number"),
    ]
    for what, words in wrong:
        assert str(refused(what)).startswith(words), words


def test_an_address_without_a_port_is_refused_before_anybody_is_met(richer: garblet.Program, identities: Pair) -> None:
    for address in ("127.0.0.1", "127.0.0.1:", ":7000", "127.0.0.1:port", "http://127.0.0.1"):
        error = refused(lambda: garblet.Session(richer, 0, connect=address, identity=identities[0], trust={"bob": identities[1].fingerprint}))
        assert str(error) == f"`{address}` is not an address: expected HOST:PORT"


def test_plain_tcp_and_identities_exclude_each_other(richer: garblet.Program, identities: Pair) -> None:
    for more, which in (({"identity": identities[0]}, "identity="), ({"trust": {"bob": identities[1].fingerprint}}, "trust=")):
        given: dict[str, Any] = {"listen": "127.0.0.1:0", "insecure_plain_tcp": True, **more}
        assert f"{which} is given" in str(refused(lambda: garblet.Session(richer, 0, **given)))


def test_a_peers_file_that_others_may_write_is_refused(richer: garblet.Program, identities: Pair, tmp_path: Path) -> None:
    peers = tmp_path / "peers.toml"
    peers.write_text("".join(f'[[party]]\naddress = "127.0.0.1:{port}"\nfingerprint = "{one.fingerprint}"\n' for port, one in enumerate(identities, 7961)))
    peers.chmod(0o666)
    error = refused(lambda: garblet.Session(richer, 1, peers=peers, identity=identities[1], protocol="gmw"))
    assert "has mode 666, expected 644" in str(error)
    peers.chmod(0o644)
    garblet.Session(richer, 1, peers=peers, identity=identities[1], protocol="gmw").abort()


def test_a_job_names_arguments_where_the_command_has_options(tmp_path: Path, identities: Pair) -> None:
    job = garblet.Job.load(write_job(tmp_path / "job", identities))
    path = write_job(tmp_path / "plain", identities, more="batch = 3")
    path.write_text("".join(line for line in path.read_text().splitlines(True) if "fingerprint" not in line))
    nameless = garblet.Job.load(path)
    here: dict[str, Any] = {"listen": "127.0.0.1:0", "insecure_plain_tcp": True}
    known: dict[str, Any] = {"listen": "127.0.0.1:0", "identity": identities[0]}
    wrong: list[tuple[Callable[[], Any], str, str]] = [
        (lambda: garblet.Session(job=job, party=1, **known), "party=1: our identity", "leave party= out, or give the identity= of that party"),
        (lambda: garblet.Session(job=job, **here), "insecure_plain_tcp: ", "leave it out"),
        (lambda: garblet.Session(job=job, rows=2, **known), "rows: ", "all parties must agree"),
        (lambda: garblet.Session(job=job, **{**known, "identity": garblet.Identity.generate(str(tmp_path / "eve.pem"))}), "", "with identity=FILE"),
        (lambda: garblet.Session(job=nameless, **here), "party is missing: ", "None"),
        (lambda: garblet.Session(job=nameless, party=2, **here), "party=2: ", "None"),
        (lambda: garblet.Session(job=nameless, party=0, rows=4, **here), "rows: ", "split it"),
    ]
    for what, begins, hint in wrong:
        with pytest.raises(garblet.UsageError) as caught:
            what()
        assert str(caught.value).startswith(begins) and hint in str(caught.value.hint), (str(caught.value), caught.value.hint)
        assert "--" not in f"{caught.value} {caught.value.hint}".replace("`garblet job new --batch N`", "")


def test_paths_stay_what_they_were_when_the_folder_changes(richer: garblet.Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from conftest import both

    monkeypatch.chdir(tmp_path)
    ours = garblet.Identity.generate("alice.pem")
    theirs = garblet.Identity.generate("bob.pem")
    store = garblet.Store("store", key="key", create=True)
    agreement = garblet.Agreement("ledger.toml", ("anna.one", "anna.other"), ("127.0.0.1:1", "127.0.0.1:2"), receipts="anna.json")
    alice = garblet.Session(richer, 0, listen="127.0.0.1:0", identity=ours, trust={"bob": theirs.fingerprint}, receipts="alice.jsonl", timeout=20.0)
    (tmp_path / "else").mkdir()
    os.chdir(tmp_path / "else")
    bob = garblet.Session(richer, 1, connect=at(alice), identity=theirs, trust={"alice": ours.fingerprint}, receipts="bob.jsonl", timeout=20.0)
    one, other = both(lambda: alice.run(a=5), lambda: bob.run(b=3))
    assert one["out0"] is other["out0"] is True
    assert [len(garblet.Receipt.load(path)) for path in (tmp_path / "alice.jsonl", tmp_path / "else" / "bob.jsonl")] == [1, 1]
    assert sorted(os.listdir()) == ["bob.jsonl"] and store.stock == {}
    assert {agreement.path, *agreement.invitations, agreement.receipts} == {tmp_path / name for name in ("ledger.toml", "anna.one", "anna.other", "anna.json")}
