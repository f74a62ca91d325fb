"""Sessions over TLS and over plain TCP, and how they end."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import garblet
import pytest
from conftest import both, free_address, together

Pair = list[garblet.Identity]


def listening(program: garblet.Program, identities: Pair, **more: Any) -> garblet.Session:
    alice, bob = identities
    return garblet.Session(
        program, 0, listen="127.0.0.1:0", identity=alice, trust={"bob": bob.fingerprint}, **{"timeout": 20.0, **more}
    )


def calling(program: garblet.Program, identities: Pair, to: garblet.Session, **more: Any) -> garblet.Session:
    alice, bob = identities
    return garblet.Session(
        program, 1, connect=at(to), identity=bob, trust={"alice": alice.fingerprint}, **{"timeout": 20.0, **more}
    )


def at(session: garblet.Session) -> str:
    assert session.address is not None
    return "{}:{}".format(*session.address)


def plain(program: garblet.Program, party: int, **more: Any) -> garblet.Session:
    return garblet.Session(program, party, insecure_plain_tcp=True, **{"timeout": 20.0, **more})


def test_two_parties_compute_over_tls(richer: garblet.Program, identities: Pair) -> None:
    with listening(richer, identities, session="payday") as alice, calling(richer, identities, alice, session="payday") as bob:
        for a, b in [(5, 3), (3, 5)]:
            one, other = both(lambda: alice.run(a=a), lambda: bob.run(b=b))
            assert one.outputs == other.outputs == richer.evaluate(a=a, b=b)
        (bobs, alices) = (report.to_dict()["peers"] for report in (one, other))
        assert bobs == [{"party": 1, "name": "bob", "fingerprint": identities[1].fingerprint}]
        assert alices == [{"party": 0, "name": "alice", "fingerprint": identities[0].fingerprint}]
        assert (one.party, other.party) == (0, 1) and one.costs["online"].seconds > 0
        # Both at once: a party that closes waits for the other's goodbye.
        both(alice.close, bob.close)
    assert alice.closing is None and bob.closing is None


def test_runs_are_prepared_ahead(richer: garblet.Program) -> None:
    with plain(richer, 0, listen="127.0.0.1:0", params={"build": "ahead"}) as alice:
        with plain(richer, 1, connect=at(alice), params={"build": "ahead"}) as bob:
            both(lambda: alice.prepare(2), lambda: bob.prepare(2))
            for a in (1, 9):
                one, _ = both(lambda: alice.run(a=a), lambda: bob.run(b=5))
                assert one["out0"] == (a > 5)
            both(alice.close, bob.close)


def test_sessions_of_other_names_never_meet(richer: garblet.Program, identities: Pair) -> None:
    alice = listening(richer, identities, session="monday", timeout=2.0)
    bob = calling(richer, identities, alice, session="tuesday", timeout=2.0)
    errors = both(lambda: alice.run(a=5), lambda: bob.run(b=3))
    assert all(isinstance(error, garblet.PeerError) for error in errors), errors
    assert any("another session" in str(error) for error in errors), errors


def test_strangers_are_refused(richer: garblet.Program, identities: Pair, tmp_path: Path, caplog: Any) -> None:
    mallory = garblet.Identity.generate(str(tmp_path / "mallory.pem"))
    with caplog.at_level(logging.WARNING, "garblet"):
        alice = listening(richer, identities, timeout=2.0)
        other = garblet.Session(
            richer, 1, connect=at(alice), identity=mallory, trust={"alice": identities[0].fingerprint}, timeout=2.0
        )
        one, error = both(lambda: alice.run(a=5), lambda: other.run(b=3))
    assert isinstance(one, garblet.PeerError) and isinstance(error, garblet.PeerError)
    assert mallory.fingerprint in str(one) and "trust=" in (error.hint or "")
    assert "refused: " in caplog.text


def test_programs_that_differ_are_told(richer: garblet.Program) -> None:
    other = garblet.compile("pub fn main(a: u32, b: u32) -> bool { a < b }", name="richer")
    alice = plain(richer, 0, listen="127.0.0.1:0")
    bob = plain(other, 1, connect=at(alice))
    for error in both(lambda: alice.run(a=5), lambda: bob.run(b=3)):
        assert isinstance(error, garblet.PeerError) and "does not agree" in str(error)
        assert isinstance(error, ConnectionError) and "same version, program" in (error.hint or "")


def test_a_panic_is_told_to_both(richer: garblet.Program) -> None:
    program = garblet.compile("pub fn main(a: u8, b: u8) -> u8 { a + b }", name="sum")
    alice = plain(program, 0, listen="127.0.0.1:0")
    bob = plain(program, 1, connect=at(alice))
    for error in both(lambda: alice.run(a=200), lambda: bob.run(b=56)):
        assert isinstance(error, garblet.Panicked) and "arithmetic overflow" in str(error)


@pytest.mark.parametrize("a", [100, 200])
@pytest.mark.parametrize("kind", ["with", "async with", "group"])
def test_a_panic_is_not_told_to_whom_learns_nothing(a: int, kind: str) -> None:
    program = garblet.compile("pub fn main(a: u8, b: u8) -> u8 { a + b }", name="sum").with_recipients("out0", [0])
    alice = plain(program, 0, listen="127.0.0.1:0")
    bob = plain(program, 1, connect=at(alice))

    def alices_part() -> Any:
        with alice:
            return alice.run(a=a)["out0"]

    async def awaited() -> Any:
        async with alice:
            return (await alice.arun(a=a))["out0"]

    async def grouped() -> Any:
        async with alice, asyncio.TaskGroup() as group:
            task = group.create_task(alice.arun(a=a))
        return task.result()["out0"]

    def alone(work: Callable[[], Any]) -> Any:
        try:
            return work()
        except ExceptionGroup as group:
            return group.exceptions[0]

    ways: dict[str, Callable[[], Any]] = {
        "with": alices_part,
        "async with": lambda: asyncio.run(awaited()),
        "group": lambda: alone(lambda: asyncio.run(grouped())),
    }

    def bobs_part() -> dict[str, Any]:
        with bob:
            return bob.run(b=56).outputs

    one, other = both(ways[kind], bobs_part)
    assert one == 156 or (a == 200 and isinstance(one, garblet.Panicked)), one
    assert other == {} and bob.closing is None and alice.closing is None


@pytest.mark.parametrize("first", [100, 200])
def test_a_panic_that_is_caught_leaves_the_next_run_as_it_is(first: int) -> None:
    program = garblet.compile("pub fn main(a: u8, b: u8) -> u8 { a + b }", name="sum").with_recipients("out0", [0])
    alice = plain(program, 0, listen="127.0.0.1:0")
    bob = plain(program, 1, connect=at(alice))

    def sums() -> list[int | None]:
        found = list[int | None]()
        with alice:
            for a in (first, 1):
                try:
                    found.append(alice.run(a=a)["out0"])
                except garblet.Panicked:
                    found.append(None)
        return found

    def bobs_part() -> list[Any]:
        with bob:
            return [bob.run(b=56).outputs for _ in range(2)]

    one, other = both(sums, bobs_part)
    assert one == [156 if first == 100 else None, 57]
    assert other == [{}, {}] and alice.closing is None and bob.closing is None


def test_a_panic_that_is_caught_in_its_task_leaves_others_as_they_are() -> None:
    program = garblet.compile("pub fn main(a: u8, b: u8) -> u8 { a + b }", name="sum").with_recipients("out0", [0])
    alices = [plain(program, 0, listen="127.0.0.1:0") for _ in range(2)]
    bobs = [plain(program, 1, connect=at(alice)) for alice in alices]

    async def sum_of(alice: garblet.Session, a: int) -> int | None:
        async with alice:
            try:
                return int((await alice.arun(a=a))["out0"])
            except garblet.Panicked:
                return None

    async def alices_part() -> list[int | None]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(sum_of(alice, a)) for alice, a in zip(alices, (200, 100), strict=True)]
        return [task.result() for task in tasks]

    def bobs_part() -> list[Any]:
        outputs = []
        for bob in bobs:
            with bob:
                outputs.append(bob.run(b=56).outputs)
        return outputs

    one, other = both(lambda: asyncio.run(alices_part()), bobs_part)
    assert one == [None, 156] and other == [{}, {}]
    assert [session.closing for session in alices + bobs] == [None] * 4


def test_a_session_is_closed_once_also_if_that_is_interrupted(richer: garblet.Program) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    with plain(richer, 0, listen="127.0.0.1:0") as alice:
        native, alice._native = alice._native, type("Interrupted", (), {"close": interrupt, "given_up": False})()
        with pytest.raises(KeyboardInterrupt):
            alice.close()
        alice.close()
        assert alice.closing is None
        alice._native = native


def test_a_peer_that_dies_is_told(richer: garblet.Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def die() -> None:
            server.accept()[0].close()

        bob = plain(richer, 1, connect="127.0.0.1:{}".format(server.getsockname()[1]))
        error, _ = both(lambda: bob.run(b=3), die)
    assert isinstance(error, garblet.PeerError) and "closed" in str(error), error
    with pytest.raises(garblet.UsageError, match="failed before") as caught:
        bob.run(b=3)
    assert "start another session" in (caught.value.hint or "")


def test_a_peer_that_is_killed_between_runs_is_told(richer: garblet.Program) -> None:
    child = textwrap.dedent(
        """
        import garblet, time
        richer = garblet.compile("pub fn main(a: u32, b: u32) -> bool { a > b }", name="richer")
        alice = garblet.Session(richer, 0, listen="127.0.0.1:0", insecure_plain_tcp=True)
        print("{}:{}".format(*alice.address), flush=True)
        alice.run(a=5)
        time.sleep(60)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    bob = plain(richer, 1, connect=process.stdout.readline().strip())
    assert bob.run(b=3)["out0"] is True
    process.kill()
    with pytest.raises(garblet.PeerError, match="the peer closed the connection") as caught:
        bob.run(b=3)
    assert "look at the peer's own messages" in (caught.value.hint or "")
    process.wait()


def meddled(program: garblet.Program, protocol: garblet.Protocol, flip: int) -> list[Any]:
    """Runs two parties with a relay that flips a bit of the `flip`-th byte sent to the caller."""
    alice = plain(program, 0, listen="127.0.0.1:0", protocol=protocol, timeout=10.0)
    assert alice.address is not None
    inside = socket.create_connection(alice.address)
    with socket.create_server(("127.0.0.1", 0)) as server:
        bob = plain(program, 1, connect="127.0.0.1:{}".format(server.getsockname()[1]), protocol=protocol, timeout=10.0)

        def carry(origin: socket.socket, to: socket.socket, flip: int | None) -> None:
            seen = 0
            with contextlib.suppress(OSError):
                while some := bytearray(origin.recv(1 << 16)):
                    if flip is not None and seen <= flip < seen + len(some):
                        some[flip - seen] ^= 1
                    seen += len(some)
                    to.sendall(some)
            with contextlib.suppress(OSError):
                to.shutdown(socket.SHUT_WR)

        def between() -> None:
            outside = server.accept()[0]
            back = threading.Thread(target=carry, args=(outside, inside, None))
            back.start()
            carry(inside, outside, flip)
            back.join()
            outside.close()
            inside.close()

        meddling = threading.Thread(target=between)
        meddling.start()
        results = both(lambda: alice.run(a=5), lambda: bob.run(b=3))
        for session in (alice, bob):
            session.abort()
        meddling.join(20)
        assert not meddling.is_alive()
        return results


def test_changed_bytes_end_a_run_and_name_the_peer(richer: garblet.Program) -> None:
    found: list[type] = []
    for flip in (300, 12_000, 16_000, 20_000, 500_000):
        for result in meddled(richer, "authenticated", flip):
            if isinstance(result, garblet.Report):
                # The flip was harmless, or affected only the other party.
                assert result["out0"] is True
            else:
                assert isinstance(result, garblet.PeerError) and result.hint, (flip, result)
                found.append(type(result))
    assert garblet.CheatingError in found and garblet.PeerError in found, found


def test_nobody_comes(richer: garblet.Program) -> None:
    with pytest.raises(garblet.PeerError, match="nobody connected") as caught:
        plain(richer, 0, listen="127.0.0.1:0", timeout=0.3).run(a=5)
    assert "start the peer" in (caught.value.hint or "")


def test_inputs_that_do_not_fit_keep_the_session(richer: garblet.Program) -> None:
    alice = plain(richer, 0, listen="127.0.0.1:0")
    bob = plain(richer, 1, connect=at(alice))
    with pytest.raises(garblet.InputError, match="input `a`: expected u32"):
        alice.run(a="x")
    one, _ = both(lambda: alice.run(a=5), lambda: bob.run(b=3))
    assert one["out0"] is True


def test_an_exception_in_the_block_gives_up(richer: garblet.Program) -> None:
    def leave() -> None:
        with plain(richer, 0, listen="127.0.0.1:0") as alice:
            address.append(at(alice))
            both(lambda: alice.run(a=5), lambda: bobs(address[0]))
            raise KeyError("on purpose")

    def bobs(to: str) -> None:
        bob.append(plain(richer, 1, connect=to))
        bob[0].run(b=3)

    address: list[str] = []
    bob: list[garblet.Session] = []
    with pytest.raises(KeyError):
        leave()
    with pytest.raises(garblet.PeerError, match="aborted|closed"):
        bob[0].run(b=3)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "expected exactly one of listen= and connect="),
        ({"listen": "127.0.0.1:0", "connect": "127.0.0.1:1"}, "expected exactly one of listen= and connect="),
        ({"listen": "7000", "insecure_plain_tcp": True}, "`7000` is not an address: expected HOST:PORT"),
        ({"listen": "0.0.0.0:0", "insecure_plain_tcp": True}, "not on this machine"),
        ({"listen": "127.0.0.1:0"}, "there is no identity"),
        ({"listen": "127.0.0.1:0", "insecure_plain_tcp": True, "session": "A b"}, "session: expected a letter"),
        ({"listen": "127.0.0.1:0", "insecure_plain_tcp": True, "timeout": -1.0}, "timeout: expected seconds"),
        ({"listen": "127.0.0.1:0", "protocol": "gmw"}, "needs a peers file"),
        ({"listen": "127.0.0.1:0", "insecure_plain_tcp": True, "top_up": True}, "there is no store"),
    ],
)
def test_wrong_sessions_are_told(richer: garblet.Program, more: dict[str, Any], words: str) -> None:
    with pytest.raises(garblet.UsageError) as caught:
        garblet.Session(richer, 0, **more)
    assert words in str(caught.value)


@pytest.mark.parametrize("party", [0, 1])
def test_plain_tcp_among_several_is_for_this_machine(richer: garblet.Program, tmp_path: Path, party: int) -> None:
    peers = tmp_path / "here.toml"
    peers.write_text("".join(f'[[party]]\naddress = "{free_address()}"\n' for _ in range(2)))
    plain(richer, party, peers=peers, protocol="gmw", listen="127.0.0.1:0").abort()
    elsewhere = "is not on this machine"
    for address, wrong in (("0.0.0.0:0", elsewhere), ("[::]:0", elsewhere), ("ws://127.0.0.1:0", "is open to every web page in a browser on this machine")):
        with pytest.raises(garblet.UsageError) as caught:
            plain(richer, party, peers=peers, protocol="gmw", listen=address)
        assert str(caught.value) == f"insecure_plain_tcp: {address} {wrong}"


def test_identities_are_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "alice.pem")
    alice = garblet.Identity.generate(path)
    assert garblet.Identity.load(path).fingerprint == alice.fingerprint
    with pytest.raises(garblet.UsageError, match="exists already"):
        garblet.Identity.generate(path)
    with pytest.raises(garblet.UsageError) as caught:
        garblet.Identity.load(str(tmp_path / "nobody.pem"))
    assert "Identity.generate" in (caught.value.hint or "")
    os.chmod(path, 0o644)
    with pytest.raises(garblet.UsageError) as caught:
        garblet.Identity.load(path)
    assert "chmod 600" in (caught.value.hint or "")


def test_sessions_work_with_asyncio(richer: garblet.Program) -> None:
    async def run() -> list[garblet.Report]:
        async with plain(richer, 0, listen="127.0.0.1:0") as alice, plain(richer, 1, connect=at(alice)) as bob:
            reports = await asyncio.gather(alice.arun(a=5), bob.arun(b=3))
            # Both at once: a party that closes waits for the other's goodbye.
            await asyncio.gather(alice.aclose(), bob.aclose())
            return list(reports)

    assert [report["out0"] for report in asyncio.run(run())] == [True, True]


def test_a_task_that_is_cancelled_gives_up(richer: garblet.Program) -> None:
    async def run() -> float:
        alice = plain(richer, 0, listen="127.0.0.1:0")
        begin = time.monotonic()
        with pytest.raises(asyncio.TimeoutError):
            async with alice:
                await asyncio.wait_for(alice.arun(a=5), 0.2)
        with pytest.raises(garblet.UsageError, match="the session is closed"):
            alice.run(a=5)
        return time.monotonic() - begin

    begin = time.monotonic()
    assert asyncio.run(run()) < 5
    # The thread has ended too, since the loop waits for it.
    assert time.monotonic() - begin < 10


def met(richer: garblet.Program, by: str, **more: Any) -> tuple[garblet.Session, garblet.Session]:
    """Two connected parties, the second of which falls silent."""
    alice = plain(richer, 0, listen="127.0.0.1:0", params={"build": "ahead"}, **more)
    bob = plain(richer, 1, connect=at(alice), params={"build": "ahead"}, **more)
    if by == "run":
        assert [report["out0"] for report in both(lambda: alice.run(a=5), lambda: bob.run(b=3))] == [True, True]
    else:
        both(alice.prepare, bob.prepare)
    return alice, bob


@pytest.mark.parametrize("by", ["run", "prepare"])
def test_a_session_that_is_closing_can_be_given_up(richer: garblet.Program, by: str) -> None:
    alice, bob = met(richer, by, timeout=30.0)

    def close() -> None:
        # It may report that it was aborted.
        with contextlib.suppress(garblet.GarbletError):
            alice.close()

    closing = threading.Thread(target=close)
    closing.start()
    # It waits for the goodbye of a silent peer.
    closing.join(0.5)
    assert closing.is_alive()
    begin = time.monotonic()
    alice.abort()
    closing.join(10)
    assert not closing.is_alive() and time.monotonic() - begin < 8
    with pytest.raises(garblet.UsageError, match="the session is closed"):
        alice.run(a=5)
    bob.abort()


def test_the_peer_hears_of_a_close_that_was_given_up_before(richer: garblet.Program, caplog: pytest.LogCaptureFixture) -> None:
    alice, bob = met(richer, "run", timeout=30.0)
    # Like a task that is cancelled just as its answer arrives.
    alice._native.cancel()
    alice.close()
    assert "given up" in str(alice.closing) and "in order" not in caplog.text
    bob.close()
    assert "aborted" in str(bob.closing)


def test_a_timeout_that_is_caught_leaves_the_block_as_it_is(richer: garblet.Program) -> None:
    async def part() -> None:
        async with plain(richer, 0, listen="127.0.0.1:0") as alice:
            try:
                await asyncio.wait_for(alice.arun(a=5), 0.2)
            except TimeoutError:
                pass

    begin = time.monotonic()
    asyncio.run(part())
    assert time.monotonic() - begin < 8


def test_more_tasks_wait_than_a_loop_has_threads(richer: garblet.Program) -> None:
    pairs = (os.cpu_count() or 1) + 6

    async def all_of_them() -> list[garblet.Report]:
        ours = [plain(richer, 0, listen="127.0.0.1:0") for _ in range(pairs)]
        theirs = [plain(richer, 1, connect=at(alice)) for alice in ours]
        # All of one side wait before the other side begins.
        runs = [*(alice.arun(a=5) for alice in ours), *(bob.arun(b=3) for bob in theirs)]
        reports = await asyncio.gather(*runs)
        await asyncio.gather(*(session.aclose() for session in (*ours, *theirs)))
        return reports

    assert [report["out0"] for report in asyncio.run(all_of_them())] == [True] * (2 * pairs)


@pytest.mark.parametrize("by", ["run", "prepare"])
def test_a_task_that_is_cancelled_while_it_closes_gives_up(richer: garblet.Program, by: str) -> None:
    alice, bob = met(richer, by, timeout=30.0)

    async def close() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(alice.aclose(), 0.2)

    begin = time.monotonic()
    # The thread has ended too, since the loop waits for it.
    asyncio.run(close())
    assert time.monotonic() - begin < 8
    bob.abort()


def test_a_run_whose_inputs_are_read_when_it_is_given_up_says_so() -> None:
    count = 200_000
    program = garblet.compile(f"pub fn main(a: [u64; {count}], b: u64) -> u64 {{ a[7] ^ b }}", panics=False)
    alice = plain(program, 0, listen="127.0.0.1:0")
    bob = plain(program, 1, connect=at(alice))
    both(lambda: alice.run(a=range(count)), lambda: bob.run(b=3))
    told: list[BaseException] = []

    def run() -> None:
        try:
            alice.run(a=range(count))
        except garblet.GarbletError as error:
            told.append(error)

    running = threading.Thread(target=run)
    running.start()
    while not alice._busy.locked():
        time.sleep(0.0001)
    alice.abort()
    running.join(20)
    assert not running.is_alive()
    assert isinstance(told[0], garblet.UsageError) and "the session is closed" in str(told[0]), told
    bob.abort()


def test_a_closed_session_says_so_while_what_was_given_up_still_ends(richer: garblet.Program) -> None:
    alice = plain(richer, 0, listen="127.0.0.1:0")
    with alice._busy:
        alice.abort()
        with pytest.raises(garblet.UsageError, match="the session is closed"):
            alice.run(a=5)


def test_the_interpreter_is_free_meanwhile() -> None:
    program = garblet.compile("pub fn main(a: [u64; 400], b: u64) -> u64 { let mut n = 1u64; for x in a { n = n ^ (x * b); } n }", panics=False)
    over = threading.Event()
    ticks = [0]

    def tick() -> None:
        while not over.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    ticking = threading.Thread(target=tick)
    ticking.start()
    begin = time.monotonic()
    garblet.run_local(program, [{"a": list(range(400))}, {"b": 3}])
    seconds = time.monotonic() - begin
    over.set()
    ticking.join()
    assert ticks[0] > 20 * seconds


def test_an_interrupt_ends_a_run_and_the_peer_hears_of_it(richer: garblet.Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        child = textwrap.dedent(
            f"""
            import garblet, signal, sys
            # Whoever began the tests may have had it ignored.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            richer = garblet.compile("pub fn main(a: u32, b: u32) -> bool {{ a > b }}", name="richer")
            session = garblet.Session(richer, 1, connect="127.0.0.1:{server.getsockname()[1]}", insecure_plain_tcp=True)
            try:
                with session as bob:
                    bob.run(b=3)
            except KeyboardInterrupt:
                sys.exit(42)
            """
        )
        process = subprocess.Popen([sys.executable, "-c", child])
        connection = server.accept()[0]
        # By then it waits for our hello.
        time.sleep(0.5)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 42
        assert time.monotonic() - begin < 5
        connection.settimeout(5)
        while connection.recv(4096):
            pass


def test_an_interrupt_ends_a_local_run() -> None:
    child = textwrap.dedent(
        """
        import garblet, signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)
        program = garblet.compile(
            "pub fn main(a: [u64; 20000], b: u64) -> u64 { let mut n = 1u64; for x in a { n = n ^ (x * b); } n }", panics=False
        )
        print("ready", flush=True)
        try:
            garblet.run_local(program, [{"a": range(20000)}, {"b": 3}], protocol="gmw")
        except KeyboardInterrupt:
            sys.exit(42)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 42


def test_stores_are_filled_and_drawn_on(tmp_path: Path) -> None:
    program = garblet.load("lib:millionaires(8)")
    stores = [garblet.Store(tmp_path / name, key=tmp_path / "key", create=True) for name in ("alice", "bob")]
    peers = tmp_path / "peers.toml"
    peers.write_text("".join(f'[[party]]\naddress = "{free_address()}"\n' for _ in range(2)))

    def party(number: int, work: Any) -> Any:
        with plain(program, number, peers=peers, protocol="gmw", store=stores[number]) as session:
            return work(session)

    both(lambda: party(0, lambda s: s.fill(runs=1)), lambda: party(1, lambda s: s.fill(runs=1)))
    assert any(available for available, _, _ in stores[0].stock.values()), stores[0].stock
    runs: list[Any] = both(lambda: party(0, lambda s: s.run(alice=7)), lambda: party(1, lambda s: s.run(bob=6)))
    assert [report["alice_richer"] for report in runs] == [True, True]
    for error in both(lambda: party(0, lambda s: s.run(alice=7)), lambda: party(1, lambda s: s.run(bob=6))):
        assert isinstance(error, garblet.NotPreparedError) and "fill" in (error.hint or ""), error
    with pytest.raises(garblet.StoreError) as caught:
        garblet.Store(tmp_path / "none", key=tmp_path / "key")
    assert "create=True" in (caught.value.hint or "") and isinstance(caught.value, OSError)
    with pytest.raises(garblet.UsageError, match="uses no store"):
        plain(program, 0, listen="127.0.0.1:0", store=stores[0])


class Three:
    """Three parties with stores, malicious ones included."""

    def __init__(self, folder: Path) -> None:
        self.stores = [garblet.Store(folder / f"store-{k}", key=folder / f"key-{k}", create=True) for k in range(3)]
        self.peers = folder / "peers.toml"
        self.peers.write_text("".join(f'[[party]]\naddress = "{free_address()}"\n' for _ in range(3)))

    def session(self, program: garblet.Program, party: int, **more: Any) -> garblet.Session:
        return plain(program, party, peers=self.peers, protocol="authenticated-bmr", store=self.stores[party], **more)

    def all(self, program: garblet.Program, work: Callable[[garblet.Session, int], Any], **more: Any) -> list[Any]:
        def part(party: int) -> Any:
            with self.session(program, party, **more) as session:
                return work(session, party)

        return together(*(functools.partial(part, party) for party in range(3)))


def test_three_parties_fill_stores_keep_values_and_top_up(tmp_path: Path) -> None:
    three = Three(tmp_path)
    first = garblet.compile("pub fn main(a: u8, b: u8, c: u8) -> u8 { a + b + c }", name="first")
    then = garblet.compile("pub fn main(before: u8, d: u8) -> u8 { before & d }", name="then")

    def mine(session: garblet.Session, party: int) -> garblet.Report:
        return session.run(**{"abc"[party]: party + 1})

    def theirs(session: garblet.Session, party: int) -> garblet.Report:
        return session.run(**({"d": 12} if party == 1 else {}))

    assert three.all(first, lambda session, _: session.fill(triples=100)) == [0, 0, 0]
    for store in three.stores:
        assert all(available > 0 for available, _, _ in store.stock.values()) and set(store.stock) == {"triples by 16", "masks by 16"}
        assert store.kept == {}
    reports = three.all(first, mine, keep="sum")
    assert [report["out0"] for report in reports] == [6, 6, 6], reports
    assert [report.costs["prepare"].bytes_sent for report in reports] == [0, 0, 0]
    assert [store.kept for store in three.stores] == [{"sum": ["out0"]}] * 3
    assert [report["out0"] for report in three.all(then, theirs, read={"before": "sum"})] == [4, 4, 4]
    assert [report["out0"] for report in three.all(then, theirs, read={"before": "sum.out0"})] == [4, 4, 4]

    long = garblet.load("lib:aes128")
    own: list[dict[str, bytes]] = [{"key": bytes(16)}, {"block": bytes(16)}, {}]

    def encrypt(session: garblet.Session, party: int) -> garblet.Report:
        return session.run(**own[party])

    for error in three.all(long, encrypt):
        assert isinstance(error, garblet.NotPreparedError) and "triples" in str(error), error
    reports = three.all(long, encrypt, top_up=True)
    assert {report["ciphertext"] for report in reports} == {bytes.fromhex("66e94bd4ef8a2c3b884cfa59ca342b2e")}


def test_what_cannot_be_kept_or_read_is_told_at_once(tmp_path: Path) -> None:
    three = Three(tmp_path)
    program = garblet.compile("pub fn main(a: u8, b: u8, c: u8) -> u8 { a ^ b ^ c }", name="first")
    with pytest.raises(garblet.UsageError, match="keep: there is no store"):
        plain(program, 0, peers=three.peers, protocol="authenticated-bmr", keep="x")
    with pytest.raises(garblet.GarbletError, match="without a dot"):
        three.session(program, 0, keep="x.y")
    with pytest.raises(garblet.UsageError, match="read: .*without a dot"):
        three.session(program, 0, read={"a": ".y"})
    with pytest.raises(garblet.GarbletError, match="`d`"):
        three.session(program, 0, read={"d": "x"})
    with pytest.raises(garblet.GarbletError, match="gmw"):
        plain(program, 0, peers=three.peers, protocol="gmw", store=three.stores[0], keep="x")


class Closing:
    """The native part of a session that closes with an error."""

    given_up = False

    def __init__(self, error: Exception) -> None:
        self.error = error

    def close(self, _: Any) -> Exception:
        return self.error


def test_outputs_that_were_not_kept_are_told_when_the_session_closes(tmp_path: Path) -> None:
    three = Three(tmp_path)
    program = garblet.compile("pub fn main(a: u8, b: u8, c: u8) -> u8 { a ^ b ^ c }", name="first")
    lost, gone = garblet.StoreError("another party could not keep its part"), garblet.PeerError("the peer is gone")
    # Only that the outputs were not kept is an exception: the result is final, whatever else happens.
    for keep, error, is_raised in [("x", lost, True), ("x", gone, False), (None, lost, False)]:
        session = three.session(program, 0, keep=keep)
        session.abort()
        native: Any = Closing(error)
        session._native, session._open = native, True
        if is_raised:
            with pytest.raises(garblet.StoreError, match="keep its part"), session:
                pass
        else:
            session.close()
        assert session.closing is error


def test_three_parties_as_tasks(tmp_path: Path) -> None:
    three = Three(tmp_path)
    program = garblet.compile("pub fn main(a: u8, b: u8, c: u8) -> u8 { (a & b) ^ c }", name="tasks")

    async def part(party: int) -> Any:
        async with three.session(program, party) as session:
            await session.afill(triples=100)
        async with three.session(program, party) as session:
            return await session.arun(**{"abc"[party]: 7})

    async def main() -> list[Any]:
        return await asyncio.gather(*(part(party) for party in range(3)))

    assert [report["out0"] for report in asyncio.run(main())] == [0, 0, 0]


def test_a_wrong_key_leaves_no_file(tmp_path: Path) -> None:
    garblet.Store(tmp_path / "store", key=tmp_path / "right.key", create=True)
    for create in (False, True):
        with pytest.raises(garblet.StoreError, match="wrong.key"):
            garblet.Store(tmp_path / "store", key=tmp_path / "wrong.key", create=create)
        assert not (tmp_path / "wrong.key").exists()
    assert garblet.Store(tmp_path / "store", key=tmp_path / "right.key").stock == {}
