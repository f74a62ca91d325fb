"""Jobs, their signatures, sessions under them, and receipts: with the command on the other side, too."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import garblet
import pytest
from conftest import await_listener, both, free_address, together

Pair = list[garblet.Identity]

ADDED = "pub fn main(a: u8, b: u8) -> u8 { a + b }"


def write_job(folder: Path, identities: Pair, *, source: str = ADDED, name: str = "added", more: str = "") -> Path:
    """Writes a job of two parties, and the program beside it."""
    folder.mkdir(exist_ok=True)
    (folder / "added.garble.rs").write_text(source)
    digest = garblet.load(folder / "added.garble.rs").digest.hex()
    parties = "".join(
        f'[[party]]\nname = "{who}"\nfingerprint = "{identity.fingerprint}"\n'
        for who, identity in zip(("alice", "bob"), identities, strict=True)
    )
    path = folder / f"{name}.job.toml"
    path.write_text(
        f'name = "{name}"\nprogram = "added.garble.rs"\ndigest = "{digest}"\nprotocol = "yao"\n{more}\n{parties}'
    )
    return path


@pytest.fixture
def path(tmp_path: Path, identities: Pair) -> Path:
    return write_job(tmp_path / "job", identities)


@pytest.fixture
def job(path: Path) -> garblet.Job:
    return garblet.Job.load(path)


def run(command: Path, *arguments: object) -> str:
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(command: Path, *arguments: object) -> str:
    """The message of a command that fails."""
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    return done.stderr.removeprefix("error: ").split("\nhint: ")[0].strip()


def pair(
    job: garblet.Job, identities: Pair, folder: Path, theirs: garblet.Job | None = None, **more: Any
) -> tuple[garblet.Session, garblet.Session]:
    """Both parties' sessions, each with a log of its own."""
    alice = garblet.Session(
        job=job, listen="127.0.0.1:0", identity=identities[0], receipts=folder / "alice.jsonl", timeout=20.0, **more
    )
    bob = garblet.Session(
        job=theirs or job, connect=at(alice), identity=identities[1], receipts=folder / "bob.jsonl", timeout=20.0, **more
    )
    return alice, bob


def at(session: garblet.Session) -> str:
    assert session.address is not None
    return "{}:{}".format(*session.address)


def caught(what: Callable[[], Any]) -> Exception:
    with pytest.raises(garblet.GarbletError) as error:
        what()
    return error.value


def test_a_job_is_what_the_command_reads(path: Path, job: garblet.Job, command: Path) -> None:
    shown = json.loads(run(command, "job", "show", path, "--json"))
    assert (job.digest, job.name, job.fields) == (shown["job"], "added", shown["fields"])
    parties = [{"name": p.name, "fingerprint": p.fingerprint, "signed": p.signed} for p in job.parties]
    assert parties == shown["parties"]
    assert (job.protocol, job.batch, job.path) == ("yao", None, path)
    program = job.check()
    assert program.evaluate(a=2, b=3) == {"out0": 5}
    again = pickle.loads(pickle.dumps(job))
    assert again.digest == job.digest and pickle.loads(pickle.dumps(program)).digest == program.digest
    assert "added" in repr(job) and identities_are_in(job._repr_html_(), job)


def identities_are_in(html: str, job: garblet.Job) -> bool:
    return all(party.fingerprint in html for party in job.parties if party.fingerprint)


def test_a_signature_means_the_same_to_the_command(path: Path, job: garblet.Job, identities: Pair, command: Path, tmp_path: Path) -> None:
    assert [party.signed for party in job.parties] == [False, False]
    assert str(caught(job.verify)) == refused(command, "job", "verify", path)
    assert job.sign(identities[0]) == "alice"
    run(command, "job", "sign", path, "--identity", tmp_path / "bob.pem")
    job.verify()
    assert run(command, "job", "verify", path).startswith(job.digest)
    assert [party.signed for party in job.parties] == [True, True]


def test_forged_signatures_and_wrong_signers_are_refused(path: Path, job: garblet.Job, identities: Pair, tmp_path: Path, command: Path) -> None:
    stranger = garblet.Identity.generate(str(tmp_path / "carol.pem"))
    wrong = caught(lambda: job.sign(stranger))
    assert isinstance(wrong, garblet.UsageError) and stranger.fingerprint in str(wrong)
    assert str(wrong) == refused(command, "job", "sign", path, "--identity", tmp_path / "carol.pem")
    assert wrong.hint == "pass the Identity of one of these parties, as Identity.load returns it"
    for identity in identities:
        job.sign(identity)
    beside = path.with_name(path.name + ".signatures")
    signed = beside.read_text()
    # Bob's signature under Alice's name, and a signature of another job.
    head, _alices, bobs = signed.split("[[signature]]\n")
    beside.write_text(head + "[[signature]]\n" + bobs.replace('"bob"', '"alice"'))
    assert job.parties[0].wrong is not None and "the key belongs to" in job.parties[0].wrong
    assert str(caught(job.verify)) == refused(command, "job", "verify", path)
    beside.write_text(signed)
    path.write_text(path.read_text().replace('name = "added"', 'name = "subtracted"'))
    other = garblet.Job.load(path)
    assert other.digest != job.digest
    assert [party.wrong is not None and "it signs job" in party.wrong for party in other.parties] == [True, True]
    assert str(caught(other.verify)) == refused(command, "job", "verify", path)
    with pytest.raises(garblet.UsageError, match="the file has changed"):
        pickle.loads(pickle.dumps(job))


def test_another_program_in_its_place_is_refused(path: Path, job: garblet.Job, identities: Pair, command: Path) -> None:
    (path.parent / "added.garble.rs").write_text(ADDED.replace("+", "-"))
    for what in (job.check, lambda: job.sign(identities[0]), lambda: garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0])):
        assert str(caught(what)) == refused(command, "job", "check", path)
    assert not any(party.signed for party in job.parties)


def test_names_are_compared_with_those_that_peers_have_here(
    path: Path, job: garblet.Job, identities: Pair, tmp_path: Path, command: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stranger = garblet.Identity.generate(str(tmp_path / "carol.pem")).fingerprint
    clash = caught(lambda: job.check(trust={"bob": stranger}))
    assert "bob is trusted here as" in str(clash)
    assert "bob is trusted here as" in str(caught(lambda: garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0], trust={"bob": stranger})))
    # The command's own list counts, too.
    run(command, "trust", "add", "bob", stranger)
    for what in (job.check, lambda: job.sign(identities[0]), lambda: garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0])):
        assert str(caught(what)) == refused(command, "job", "sign", path, "--identity", tmp_path / "alice.pem")
    odd = garblet.Job.load(write_job(tmp_path / "odd", identities, name="b\u043eb"))
    run(command, "trust", "remove", "bob")
    with caplog.at_level(logging.WARNING, "garblet"):
        odd.check(trust={"robert": identities[1].fingerprint})
    assert "its letters may look like others" in caplog.text


def test_what_reaches_an_output_is_told(tmp_path: Path, identities: Pair, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "garblet"):
        garblet.Job.load(write_job(tmp_path / "job", identities, source="pub fn main(a: u8, b: u8) -> u8 { a }")).check()
    assert "a reaches out0 unchanged; b is not used" in caplog.text


def test_both_parties_have_a_receipt_of_the_same_run(job: garblet.Job, identities: Pair, tmp_path: Path, command: Path) -> None:
    alice, bob = pair(job, identities, tmp_path)
    one, other = both(lambda: alice.run(a=100), lambda: bob.run(b=55))
    assert one.outputs == other.outputs == {"out0": 155}
    # They are on disk before the result is seen, and the session is over.
    logs = [tmp_path / "alice.jsonl", tmp_path / "bob.jsonl"]
    ours, theirs = (garblet.Receipt.load(log) for log in logs)
    assert [(r.number, r.party, r.job, r.has_result, r.outputs) for r in ours] == [(1, 0, job.digest, True, None)]
    assert (ours[0].identity, theirs[0].peers[0]["fingerprint"]) == (identities[0].fingerprint,) * 2
    assert theirs[0].peers[0]["name"] == "alice"
    comparison = garblet.compare_receipts(*logs)
    assert (comparison.alike, comparison.differs) == ([(ours[0], theirs[0])], False)
    assert "the same run" in run(command, "receipts", "compare", *logs)
    shown = json.loads(run(command, "receipts", "show", logs[0], "--json"))["receipts"]
    assert [receipt.to_dict() for receipt in ours] == shown
    with pytest.raises(garblet.UsageError):
        alice.run(a=1)
    alice.close()
    bob.close()
    assert (alice.closing, bob.closing, len(garblet.Receipt.load(logs[0]))) == (None, None, 1)


def test_outputs_are_in_a_receipt_only_if_asked_for(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    alice, bob = pair(job, identities, tmp_path, receipt_outputs=True)
    both(lambda: alice.run(a=7), lambda: bob.run(b=8))
    (receipt,) = garblet.Receipt.load(tmp_path / "alice.jsonl")
    assert receipt.outputs is not None and receipt.outputs["out0"]["value"] == 15
    assert "outputs" not in repr(receipt) and "value" not in repr(receipt)
    with pytest.raises(garblet.UsageError, match="receipt_outputs"):
        garblet.Session(job.program, 0, listen="127.0.0.1:0", insecure_plain_tcp=True, receipt_outputs=True)


def test_a_run_that_panics_leaves_a_receipt(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    alice, bob = pair(job, identities, tmp_path)
    for error in both(lambda: alice.run(a=200), lambda: bob.run(b=200)):
        assert isinstance(error, garblet.Panicked)
    for name in ("alice", "bob"):
        (receipt,) = garblet.Receipt.load(tmp_path / f"{name}.jsonl")
        assert (receipt.has_result, receipt.message) == (False, "the computation panicked")


def test_a_prepared_run_has_one_receipt(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    alice, bob = pair(job, identities, tmp_path)
    with pytest.raises(garblet.UsageError, match="has one run"):
        alice.prepare(2)
    alice.abort()
    bob.abort()
    alice, bob = pair(job, identities, tmp_path)
    both(alice.prepare, bob.prepare)
    one, other = both(lambda: alice.run(a=1), lambda: bob.run(b=2))
    assert one["out0"] == other["out0"] == 3
    assert [receipt.has_result for receipt in garblet.Receipt.load(tmp_path / "alice.jsonl")] == [True]


def test_a_session_that_ends_before_its_run_leaves_a_receipt_if_it_met_somebody(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    alice, bob = pair(job, identities, tmp_path)
    both(alice.close, bob.close)
    assert garblet.Receipt.load(tmp_path / "alice.jsonl") == []
    alice, bob = pair(job, identities, tmp_path)
    both(alice.prepare, bob.prepare)
    both(alice.abort, bob.close)
    for name in ("alice", "bob"):
        (receipt,) = garblet.Receipt.load(tmp_path / f"{name}.jsonl")
        assert (receipt.has_result, receipt.message) == (False, "the session ended before its run")


def test_parties_with_other_jobs_refuse_each_other_and_keep_receipts(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    other = garblet.Job.load(write_job(tmp_path / "other", identities, name="other"))
    for error in both(*(lambda s=s, v=v: s.run(**v) for s, v in zip(pair(job, identities, tmp_path, other), ({"a": 1}, {"b": 2}), strict=True))):
        assert isinstance(error, garblet.PeerError) and "job name: ours" in str(error)
    for name in ("alice", "bob"):
        (receipt,) = garblet.Receipt.load(tmp_path / f"{name}.jsonl")
        assert not receipt.has_result and "the peer does not agree with us" in (receipt.message or "")


def test_a_peer_that_does_not_come_leaves_a_receipt(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    log = tmp_path / "alice.jsonl"
    alice = garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0], receipts=log, patience=0.2)
    with pytest.raises(garblet.PeerError) as error:
        alice.run(a=1)
    (receipt,) = garblet.Receipt.load(log)
    assert (receipt.message, receipt.peers) == (str(error.value), [])


def test_a_call_that_is_wrong_leaves_no_receipt(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    alice, bob = pair(job, identities, tmp_path)
    with pytest.raises(garblet.InputError) as wrong:
        alice.run(a=300)
    assert wrong.value.receipt is None
    assert garblet.Receipt.load(tmp_path / "alice.jsonl") == []
    both(alice.abort, bob.abort)


def test_the_usual_log_is_the_command_s(job: garblet.Job, identities: Pair, command: Path) -> None:
    alice = garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0])
    bob = garblet.Session(job=job, connect=at(alice), identity=identities[1])
    both(lambda: alice.run(a=1), lambda: bob.run(b=2))
    assert sorted(receipt.party for receipt in garblet.Receipt.load()) == [0, 1]
    assert run(command, "receipts", "verify").startswith("2 receipts")


def test_a_result_is_not_lost_with_its_receipt(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    alice, bob = pair(job, identities, tmp_path)
    (tmp_path / "alice.jsonl").write_text("no receipt\n")
    error, other = both(lambda: alice.run(a=1), lambda: bob.run(b=2))
    assert isinstance(error, garblet.ReceiptError) and isinstance(error, OSError)
    assert error.report is not None and error.report.outputs == other.outputs == {"out0": 3}
    assert "the run did end" in (error.hint or "") and (tmp_path / "alice.jsonl").read_text() == "no receipt\n"


def test_a_run_without_a_result_tells_of_a_receipt_that_is_not_there(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    alice, bob = pair(job, identities, tmp_path)
    (tmp_path / "alice.jsonl").write_text("no receipt\n")
    error, other = both(lambda: alice.run(a=200), lambda: bob.run(b=200))
    assert isinstance(error, garblet.ReceiptError) and error.report is None
    assert isinstance(error.__cause__, garblet.Panicked) and isinstance(other, garblet.Panicked)
    log = tmp_path / "alone.jsonl"
    alone = garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0], receipts=log, patience=0.2)
    log.write_text("no receipt\n")
    with pytest.raises(garblet.ReceiptError) as gone:
        alone.run(a=1)
    assert gone.value.report is None and isinstance(gone.value.__cause__, garblet.PeerError)
    # Also of one that has met somebody, and had no run.
    (tmp_path / "alice.jsonl").unlink()
    alice, bob = pair(job, identities, tmp_path)
    both(alice.prepare, bob.prepare)
    (tmp_path / "alice.jsonl").write_text("no receipt\n")
    error, _ = both(alice.close, bob.close)
    assert isinstance(error, garblet.ReceiptError)


def test_an_interrupt_waits_for_the_receipt_of_a_run_that_has_ended(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    alice, bob = pair(job, identities, tmp_path)
    locked = open(tmp_path / "alice.jsonl", "r+")
    fcntl.flock(locked, fcntl.LOCK_EX)
    # Longer than an interrupted call waits for its party.
    threading.Timer(5.0, locked.close).start()
    interrupt = threading.Timer(1.0, signal.raise_signal, [signal.SIGUSR1])
    interrupt.daemon = True

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, interrupted)
    theirs = threading.Thread(target=lambda: bob.run(b=2))
    theirs.start()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            interrupt.start()
            alice.run(a=1)
    finally:
        signal.signal(signal.SIGUSR1, before)
        theirs.join()
    told: Any = caught.value
    assert told.report["out0"] == 3 and "`report` of this exception" in caught.value.__notes__[0]
    assert [receipt.has_result for receipt in garblet.Receipt.load(tmp_path / "alice.jsonl")] == [True]


def test_a_second_run_is_told_that_a_receipt_is_for_one(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    alice, bob = pair(job, identities, tmp_path)
    both(lambda: alice.run(a=1), lambda: bob.run(b=2))
    for what in (lambda: alice.run(a=1), alice.prepare):
        with pytest.raises(garblet.UsageError, match="a session with a receipt has one run"):
            what()
    alice.close()
    bob.close()


def test_the_close_after_an_interrupt_speaks_of_no_result(job: garblet.Job, identities: Pair, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def interrupt(phase: str, done: int, total: int) -> None:
        raise RuntimeError("on purpose")

    alice, bob = pair(job, identities, tmp_path, progress=interrupt)
    both(lambda: alice.run(a=1), lambda: bob.run(b=2))
    alice.close()
    bob.close()
    assert "the result is final" not in caplog.text


def test_a_full_disk_is_told_before_a_run(tmp_path: Path) -> None:
    script = """
import os, sys, garblet
folder = sys.argv[1]
def fill():
    with open(f"{folder}/fill", "wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
richer = garblet.compile("pub fn main(a: u32, b: u32) -> bool { a > b }")
def begin(name):
    return garblet.Session(richer, 0, listen="127.0.0.1:0", insecure_plain_tcp=True, receipts=f"{folder}/{name}", patience=0.2)
before = begin("before.jsonl")
fill()
try:
    begin("later.jsonl")
except garblet.GarbletError as error:
    print("told:", error)
try:
    before.run(a=1)
except garblet.PeerError:
    print("its receipt:", [receipt.has_result for receipt in garblet.Receipt.load(f"{folder}/before.jsonl")])
"""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = 'mount -t tmpfs -o size=1m garblet-test "$1" && exec "$2" -c "$3" "$1"'
    unshared = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted, "sh", str(disk), sys.executable, script]
    done = subprocess.run(unshared, capture_output=True, text=True, timeout=60)
    if "told:" not in done.stdout and ("unshare:" in done.stderr or "mount:" in done.stderr):
        pytest.skip(f"no disk can be mounted here: {done.stderr}")
    assert "later.jsonl: cannot be written: no space left on device" in done.stdout.lower(), done.stderr
    assert "its receipt: [False]" in done.stdout, done.stderr


def test_names_are_checked_with_a_file_that_can_be_trusted(path: Path, job: garblet.Job, identities: Pair, tmp_path: Path, command: Path) -> None:
    trust = tmp_path / "config" / "garblet" / "trust.toml"
    trust.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "a.json").write_text('{"a": 1}')
    here = ["--listen", "127.0.0.1:0", "--identity", tmp_path / "alice.pem", "--input", f"0={tmp_path / 'a.json'}", "--timeout", "1s"]
    for text, mode in (("torn [", 0o600), (f'bob = "{identities[0].fingerprint}"\n', 0o666)):
        trust.write_text(text)
        trust.chmod(mode)
        error = caught(lambda: garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0]))
        assert isinstance(error, garblet.UsageError) and "trust.toml" in str(error)
        assert "trust.toml" in refused(command, "run", "--job", path, *here)
        trust.chmod(0o600)
    assert "missing.toml" in refused(command, "run", "--job", path, *here, "--trust", tmp_path / "missing.toml")
    trust.unlink()
    garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0]).abort()
    # A name of one's own is corrected where it was given.
    error = caught(lambda: garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0], trust={"bob": identities[0].fingerprint}))
    assert "correct trust=" in (error.hint or "")  # type: ignore[attr-defined]


def test_a_log_that_cannot_be_extended_stops_a_session_before_it_begins(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    (tmp_path / "alice.jsonl").write_text("no receipt\n")
    with pytest.raises(garblet.GarbletError, match="not a receipt"):
        garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0], receipts=tmp_path / "alice.jsonl")


def test_changed_cut_and_differing_logs_are_noticed(job: garblet.Job, identities: Pair, tmp_path: Path, command: Path) -> None:
    for a in (1, 2):
        alice, bob = pair(job, identities, tmp_path)
        both(lambda: alice.run(a=a), lambda: bob.run(b=2))
    log, theirs = tmp_path / "alice.jsonl", tmp_path / "bob.jsonl"
    first, last = garblet.Receipt.load(log)
    assert garblet.Receipt.load(log, holds=[first.digest, last.digest]) == [first, last]
    text = log.read_text()
    log.write_text(text.replace('"party":0', '"party":1', 1))
    assert str(caught(lambda: garblet.Receipt.load(log))) == refused(command, "receipts", "verify", log)
    log.write_text(text.splitlines(keepends=True)[0])
    assert garblet.Receipt.load(log) == [first]
    with pytest.raises(garblet.GarbletError, match="no receipt has the digest"):
        garblet.Receipt.load(log, holds=[last.digest])
    with pytest.raises(garblet.UsageError, match="holds: expected 64"):
        garblet.Receipt.load(log, holds=["12"])
    comparison = garblet.compare_receipts(log, theirs)
    assert (len(comparison.alike), comparison.only_ours, [r.number for r in comparison.only_theirs], comparison.differs) == (1, [], [2], True)
    assert "in only one log" in refused(command, "receipts", "compare", log, theirs)


def test_a_session_without_a_job_has_a_receipt_if_asked_for(richer: garblet.Program, identities: Pair, tmp_path: Path) -> None:
    logs = [tmp_path / "alice.jsonl", tmp_path / "bob.jsonl"]
    names = [{"bob": identities[1].fingerprint}, {"alice": identities[0].fingerprint}]
    alice = garblet.Session(richer, 0, listen="127.0.0.1:0", identity=identities[0], trust=names[0], receipts=logs[0])
    bob = garblet.Session(richer, 1, connect=at(alice), identity=identities[1], trust=names[1], receipts=logs[1])
    both(lambda: alice.run(a=2), lambda: bob.run(b=1))
    (receipt,) = garblet.Receipt.load(logs[0])
    assert (receipt.job, receipt.program) == (None, richer.digest.hex())
    assert not garblet.compare_receipts(*logs).differs


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"protocol": "yao"}, "protocol"),
        ({"params": {"scheme": "three-halves"}}, "params"),
        ({"keep": "sum", "store": None}, "keep"),
        ({"read": {"a": "sum"}}, "read"),
        ({"party": 1}, "our identity"),
        ({"insecure_plain_tcp": True, "identity": None}, "names identities, which plain TCP cannot verify"),
        ({"rows": 2}, "allows one evaluation per run"),
        ({"arrange": "sort"}, "does not rely on the order"),
        ({"arrange": "random"}, "arrange"),
        ({"peers": "peers.toml"}, "has one peer"),
        ({"identity": None}, "identity"),
    ],
)
def test_a_job_is_not_changed_by_a_call(job: garblet.Job, identities: Pair, more: dict[str, Any], what: str) -> None:
    def begin() -> None:
        with garblet.Session(job=job, **{"listen": "127.0.0.1:0", "identity": identities[0], **more}) as alice:
            alice.run(a=1)

    assert what in str(caught(begin))


def test_a_stranger_and_a_job_that_others_may_write_are_refused(path: Path, job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    stranger = garblet.Identity.generate(str(tmp_path / "carol.pem"))
    with pytest.raises(garblet.UsageError, match="is not one of its parties"):
        garblet.Session(job=job, listen="127.0.0.1:0", identity=stranger)
    path.chmod(0o666)
    for what in (lambda: garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0]), lambda: job.sign(identities[0])):
        assert "other users of this machine can write it" in str(caught(what))


def test_a_batch_has_at_most_the_rows_of_the_job(tmp_path: Path, identities: Pair) -> None:
    job = garblet.Job.load(write_job(tmp_path / "job", identities, more="batch = 3"))
    with pytest.raises(garblet.UsageError, match="allows 3 rows per run, got 4"):
        garblet.Session(job=job, rows=4, listen="127.0.0.1:0", identity=identities[0])
    alice, bob = pair(job, identities, tmp_path, rows=2)
    one, other = both(lambda: alice.run(a=[1, 200]), lambda: bob.run(b=[2, 100]))
    assert one.outputs == other.outputs == {"out0": [3, None]}
    assert list(one.panicked) == [1]


def test_texts_are_hashed_as_the_job_says(tmp_path: Path, identities: Pair, command: Path) -> None:
    out = tmp_path / "match.job.toml"
    named = [f"--party={who}={identity.fingerprint}" for who, identity in zip(("alice", "bob"), identities, strict=True)]
    run(command, "job", "new", "lib:intersection-sum(4,4,40,16)", "--hash-keys", "email", *named, "--out", out)
    job = garblet.Job.load(out)
    alice, bob = pair(job, identities, tmp_path, arrange="sort")
    seen = ["Ann@Example.org", "cy@example.org", "bo@example.org"]
    spent = [{"key": "ann@example.org", "value": 5}, {"key": "di@example.org", "value": 7}, {"key": "bo@example.org", "value": 9}]
    one, other = both(lambda: alice.run(a=seen), lambda: bob.run(b=spent))
    assert (one["size"], one["sum"], other["sum"]) == (2, 14, 14)


def test_a_run_that_is_given_up_leaves_a_receipt(job: garblet.Job, identities: Pair, tmp_path: Path) -> None:
    log = tmp_path / "alice.jsonl"

    async def give_up() -> None:
        async with garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0], receipts=log) as alice:
            await asyncio.wait_for(alice.arun(a=1), 0.3)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    (receipt,) = garblet.Receipt.load(log)
    assert (receipt.has_result, receipt.message) == (False, "the run was given up, as was asked for")


def test_three_parties_have_receipts_of_one_run(tmp_path: Path, identities: Pair, command: Path) -> None:
    parties = [*identities, garblet.Identity.generate(str(tmp_path / "carol.pem"))]
    named = [f"--party={who}={party.fingerprint}" for who, party in zip(("alice", "bob", "carol"), parties, strict=True)]
    (tmp_path / "sum.garble.rs").write_text("pub fn main(a: u8, b: u8, c: u8) -> u8 { a + b + c }")
    source, out = tmp_path / "sum.garble.rs", tmp_path / "sum.job.toml"
    run(command, "job", "new", source, "--protocol", "gmw", *named, "--out", out)
    peers = tmp_path / "peers.toml"
    peers.write_text("".join(f'[[party]]\naddress = "{free_address()}"\n' for _ in parties))
    job = garblet.Job.load(out)

    def part(k: int) -> garblet.Report:
        with garblet.Session(job=job, peers=peers, identity=parties[k], receipts=tmp_path / f"{k}.jsonl", timeout=20.0) as one:
            return one.run(**{"abc"[k]: 10 * k})

    assert [report["out0"] for report in together(*(lambda k=k: part(k) for k in range(3)))] == [30] * 3
    assert all(len(garblet.compare_receipts(tmp_path / "0.jsonl", tmp_path / f"{k}.jsonl").alike) == 1 for k in (1, 2))
    known = [garblet.Identity.generate(str(tmp_path / "dan.pem")), *parties[1:]]
    peers.write_text(
        "".join(f'[[party]]\naddress = "{free_address()}"\nfingerprint = "{one.fingerprint}"\n' for one in known)
    )
    assert "differs from that of alice" in str(caught(lambda: part(1)))


def test_stores_are_filled_and_used_under_a_job(tmp_path: Path, identities: Pair, command: Path) -> None:
    named = [f"--party={who}={identity.fingerprint}" for who, identity in zip(("alice", "bob"), identities, strict=True)]
    out = tmp_path / "richer.job.toml"
    run(command, "job", "new", "lib:millionaires(8)", "--protocol", "authenticated", *named, "--out", out)
    job = garblet.Job.load(out)
    stores = [garblet.Store(tmp_path / f"{k}.store", key=tmp_path / f"{k}.key", create=True) for k in range(2)]

    def sessions() -> list[garblet.Session]:
        logs = [tmp_path / f"{k}.jsonl" for k in range(2)]
        alice = garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0], store=stores[0], receipts=logs[0])
        return [alice, garblet.Session(job=job, connect=at(alice), identity=identities[1], store=stores[1], receipts=logs[1])]

    alice, bob = sessions()
    assert both(lambda: alice.fill(triples=500), lambda: bob.fill(triples=500)) == [0, 0]
    # Filling is no run.
    assert garblet.Receipt.load(tmp_path / "0.jsonl") == []
    alice, bob = sessions()
    one, other = both(lambda: alice.run(alice=5), lambda: bob.run(bob=3))
    assert one.outputs == other.outputs == {"alice_richer": True}
    assert len(garblet.Receipt.load(tmp_path / "0.jsonl")) == 1


def test_values_with_the_same_key_are_added_up_and_told(tmp_path: Path, identities: Pair, command: Path, caplog: pytest.LogCaptureFixture) -> None:
    named = [f"--party={who}={identity.fingerprint}" for who, identity in zip(("alice", "bob"), identities, strict=True)]
    run(command, "job", "new", "lib:intersection-sum(4,4,8,8)", *named, "--out", tmp_path / "spent.job.toml")
    job = garblet.Job.load(tmp_path / "spent.job.toml")
    seen, spent = [1, 3], [{"key": key, "value": value} for key, value in ((3, 5), (2, 1), (3, 6))]
    alice, bob = pair(job, identities, tmp_path)
    with pytest.raises(garblet.InputError, match="expected ascending order"):
        bob.run(b=spent)
    bob.abort()
    alice.abort()
    alice = garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0])
    bob = garblet.Session(job=job, connect=at(alice), identity=identities[1], arrange="sum-by-key")
    with caplog.at_level(logging.INFO, "garblet"):
        one, _ = both(lambda: alice.run(a=seen), lambda: bob.run(b=spent))
    assert (one["size"], one["sum"]) == (1, 11)
    assert "input `b` has 3 rows with 2 keys: values with the same key were added up" in caplog.text


def test_the_command_runs_a_job_with_python(path: Path, job: garblet.Job, identities: Pair, tmp_path: Path, command: Path) -> None:
    logs = [tmp_path / "alice.jsonl", tmp_path / "bob.jsonl"]
    alice = garblet.Session(job=job, listen="127.0.0.1:0", identity=identities[0], receipts=logs[0])
    (tmp_path / "bob.json").write_text('{"b": 4}')
    arguments = ["run", "--job", path, "--identity", tmp_path / "bob.pem", "--input", f"1={tmp_path / 'bob.json'}", "--receipts", logs[1]]
    report, said = both(lambda: alice.run(a=3), lambda: json.loads(run(command, *arguments, "--connect", at(alice), "--json")))
    assert report["out0"] == said["outputs"]["out0"]["value"] == 7
    assert not garblet.compare_receipts(*logs).differs and len(garblet.compare_receipts(*logs).alike) == 1


@contextmanager
def service(command: Path, job: garblet.Job, identities: Pair, folder: Path, often: str, inputs: str = '{"a": 40}') -> Iterator[str]:
    """The command's service of Alice for Bob, at this address."""
    for name in ("jobs", "seen"):
        (folder / name).mkdir()
    for identity in identities:
        job.sign(identity)
    for name in (job.path.name, "added.garble.rs"):
        (folder / "jobs" / name.replace(".job", "")).write_text((job.path.parent / name).read_text())
    (folder / "seen" / "bob.json").write_text(inputs)
    run(command, "trust", "add", "bob", identities[1].fingerprint, "--trust", folder / "trust.toml")
    address = free_address()
    (folder / "serve.toml").write_text(
        f'listen = "{address}"\nidentity = "alice.pem"\ntrust = "trust.toml"\njobs = "jobs"\nstate = "state"\nkey = "state.key"\n'
        f'[[rule]]\njob = "added"\npeers = ["bob"]\noften = {often}\ninputs = {{ folder = "seen" }}\n'
    )
    with subprocess.Popen([command, "serve", "--config", folder / "serve.toml"], stderr=subprocess.DEVNULL) as process:
        try:
            await_listener(address, process)
            yield address
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0


def test_a_service_answers_as_often_as_its_rule_says(job: garblet.Job, identities: Pair, tmp_path: Path, command: Path) -> None:
    log = tmp_path / "bob.jsonl"
    with service(command, job, identities, tmp_path, "{ peer_per_day = 2 }") as address:
        alice = garblet.Service(address, identities[1], receipts=log)
        assert garblet.call(alice, job, b=2)["out0"] == 42
        assert asyncio.run(garblet.acall(alice, job, b=3))["out0"] == 43
        with pytest.raises(garblet.PeerError, match="the job has used up its runs; more are allowed in") as refusal:
            garblet.call(alice, job, b=4)
        assert refusal.value.hint == "its operator limits the runs: ask for more, or wait if more are allowed later"
    receipts = garblet.Receipt.load(log)
    assert [receipt.has_result for receipt in receipts] == [True, True, False]
    # The exception says which receipt is that of the call.
    assert refusal.value.receipt == 3 and receipts[2].message == str(refusal.value)
    comparison = garblet.compare_receipts(tmp_path / "state/receipts.jsonl", log)
    assert (len(comparison.alike), comparison.differs) == (2, False)
    key = (tmp_path / "bob.pem").read_text().splitlines()[1]
    assert key not in repr(alice) and key not in repr(refusal.value)
    with pytest.raises(TypeError):
        pickle.dumps(alice)


def test_a_service_counts_a_run_that_its_caller_leaves(job: garblet.Job, identities: Pair, tmp_path: Path, command: Path) -> None:
    log = tmp_path / "bob.jsonl"
    with service(command, job, identities, tmp_path, "{ peer_per_day = 1 }") as address:
        with garblet.Session(job=job, connect=address, identity=identities[1], receipts=log) as bob:
            bob.prepare()
            bob.abort()
        with pytest.raises(garblet.PeerError, match="the job has used up its runs"):
            garblet.call(garblet.Service(address, identities[1], receipts=log), job, b=4)
    assert [receipt.has_result for receipt in garblet.Receipt.load(log)] == [False, False]


def test_a_service_does_not_know_another_job(job: garblet.Job, identities: Pair, tmp_path: Path, command: Path) -> None:
    forged = garblet.Job.load(write_job(tmp_path / "forged", identities, source=ADDED.replace("a + b", "b")))
    with service(command, job, identities, tmp_path, "{ peer_per_day = 1 }") as address:
        alice = garblet.Service(address, identities[1], receipts=tmp_path / "bob.jsonl")
        with pytest.raises(garblet.PeerError, match="it has no such job for us"):
            garblet.call(alice, forged, b=4)
        # Nothing was counted.
        assert garblet.call(alice, job, b=2)["out0"] == 42
