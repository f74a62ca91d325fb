"""Misuse of the package gives a clear error; it neither ends the interpreter nor hangs."""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import garblet
import numpy as np
import pytest
from conftest import both
from garblet import _garblet
from test_session import at, plain


def through(type: str, value: Any) -> Any:
    return garblet.compile(f"pub fn main(a: {type}, b: bool) -> {type} {{ a }}").evaluate(a=value, b=True)["out0"]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


class Lying:
    """A sequence whose stated length is wrong."""

    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, at: int) -> int:
        if at >= 3:
            raise IndexError
        return at


class Endless:
    """A sequence without an end."""

    def __getitem__(self, at: int) -> int:
        return 0


class Odd(Mapping[str, int]):
    """A mapping that lists names it does not have."""

    def __getitem__(self, name: str) -> int:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(["0"])

    def __len__(self) -> int:
        return 1


class Index:
    def __index__(self) -> int:
        return 5


class Failing:
    def __iter__(self) -> Iterator[int]:
        raise OSError("on purpose")


class Itself:
    """An object with dimensions whose list form is itself."""

    ndim = 1

    def tolist(self) -> Any:
        return self


@pytest.mark.parametrize(
    ("type", "value", "words"),
    [
        ("u8", 1 << 100_000, "got one of more than 8192 bits"),
        ("u8", -(1 << 100_000), "got one of more than 8192 bits"),
        ("[u8; 2]", [1, 1 << 100_000], "input `a`[1]: expected a number"),
        ("u8", nested(90), "input `a`"),
        ("u8", nested(500), "input `a`: expected a value, got more than 100 in one another"),
        ("u8", nested(100_000), "input `a`: expected a value, got more than 100 in one another"),
        ("u8", circle(), "more than 100 in one another"),
        ("[u8; 3]", itertools.count(), "input `a`: expected [u8; 3], got more elements than that has bits"),
        ("[u8; 3]", Endless(), "got more elements than that has bits"),
        ("[u8; 3]", itertools.repeat([1]), "got more elements than that has bits"),
        ("u8", Decimal("1e999999999"), "expected a number"),
        ("u8", Decimal("NaN"), "expected a number, got nan"),
        ("u8", Decimal("sNaN"), "expected a number, got nan"),
        ("u8", float("inf"), "expected a number, got an infinite one"),
        ("u8", 1e308, "input `a`"),
        ("u8", "\ud800", "input `a`"),
        ("u8", "\0", "input `a`"),
        ("u8", complex(1, 2), "expected a value, got a complex"),
        ("u8", {1, 2}, "input `a`"),
        ("u8", {"hex": 5}, "input `a`"),
        ("u8", {"hex": "zz"}, "input `a`"),
        ("[u8; 2]", {"bits": "0"}, "input `a`"),
        ("u8", Itself(), "expected a value, got a Itself"),
        ("[u32; 2]", np.array([1, None], dtype=object), "expected a value, got None"),
        ("[u32; 2]", np.array(["a", "b"]), "expected [u32; 2], got a buffer of format"),
        ("[u32; 0]", np.zeros((0, 5), dtype=np.uint32), "expected 0 words, got 0 x 5"),
        ("[u32; 2]", np.zeros((2, 1), dtype=np.uint32), "expected 2 words, got 2 x 1"),
        ("[u32; 2]", np.array([(1, 2)], dtype="u4,u4"), "expected [u32; 2], got a buffer of format"),
        ("[u32; 2]", np.array([1, 2], dtype="M8[s]"), "input `a`"),
        ("u8", memoryview(b""), "input `a`"),
        ("u8", print, "expected a value"),
        ("u8", type, "expected a value"),
    ],
    ids=(f"case{number}" for number in itertools.count()),
)
def test_odd_values_are_refused(type: str, value: Any, words: str) -> None:
    with pytest.raises(garblet.InputError) as caught:
        through(type, value)
    assert words in str(caught.value)


def test_what_a_value_raises_comes_through() -> None:
    with pytest.raises(OSError, match="on purpose"):
        through("[u8; 3]", Failing())
    with pytest.raises(KeyError):
        through("(u8, u8)", Odd())
    assert through("u8", Index()) == 5 and through("[u8; 3]", Lying()) == [0, 1, 2]


def test_a_released_view_is_no_value() -> None:
    view = memoryview(bytearray(8))
    view.release()
    with pytest.raises((garblet.InputError, ValueError)):
        through("[u8; 8]", view)


@pytest.mark.parametrize(
    "call",
    [
        lambda: garblet.compile(cast(str, 5)),
        lambda: garblet.compile("\ud800"),
        lambda: garblet.compile("pub fn main(a: u8) -> u8 { a }", name=cast(str, None)),
        lambda: garblet.compile("pub fn main(a: u8) -> u8 { a }" + "(" * 100_000),
        lambda: garblet.compile("pub fn main(a: u8) -> u8 { " + "(" * 100_000 + "a" + ")" * 100_000 + " }"),
        lambda: garblet.compile("pub fn main(a: u8) -> u8 { a }", constants={"N": cast(int, "x")}),
        lambda: garblet.compile("pub fn main(a: [u64; 4294967295], b: u8) -> u8 { b }"),
        lambda: garblet.load("lib:aes128\0"),
        lambda: garblet.load("/dev/null/x"),
        lambda: garblet.load(cast(str, 7)),
        lambda: garblet.load("lib:millionaires(99999999999999999999)"),
        lambda: garblet.load("lib:millionaires(8)").batch(0),
        lambda: garblet.load("lib:millionaires(8)").batch(-1),
        lambda: garblet.load("lib:millionaires(8)").batch(2**31),
        lambda: garblet.load("lib:millionaires(8)").batch(2).batch(2),
        lambda: garblet.load("lib:millionaires(8)").with_owner("alice", 65535),
        lambda: garblet.load("lib:millionaires(8)").with_owner("alice", -1),
        lambda: garblet.load("lib:millionaires(8)").with_recipients("alice_richer", [65535]),
        lambda: garblet.load("lib:millionaires(8)").with_recipients("alice_richer", [70000]),
        lambda: garblet.load("lib:millionaires(8)").evaluate(alice=1),
        lambda: garblet.run_local(garblet.load("lib:millionaires(8)"), cast(Any, 5)),
        lambda: garblet.run_local(garblet.load("lib:millionaires(8)"), [{}] * 70_000),
        lambda: garblet.run_local(garblet.load("lib:millionaires(8)"), {70_000: {}}),
        lambda: garblet.run_local(garblet.load("lib:millionaires(8)").with_owner("alice", 65534), [{}, {}]),
        lambda: garblet.run_local(garblet.load("lib:millionaires(8)"), [{"alice": 1}, {"bob": 2}], protocol=cast(Any, b"yao")),
        lambda: garblet.plan(garblet.load("lib:millionaires(8)"), protocols=cast(Any, [None])),
        lambda: garblet.plan(garblet.load("lib:millionaires(8)"), link="\ud800"),
        lambda: plain(garblet.load("lib:millionaires(8)"), cast(int, "0"), listen="127.0.0.1:0"),
        lambda: plain(garblet.load("lib:millionaires(8)"), -1, listen="127.0.0.1:0"),
        lambda: plain(garblet.load("lib:millionaires(8)"), 2**80, listen="127.0.0.1:0"),
        lambda: plain(garblet.load("lib:millionaires(8)"), 0, listen="127.0.0.1:99999"),
        lambda: plain(garblet.load("lib:millionaires(8)"), 0, listen="127.0.0.1:0", timeout=float("nan")),
        lambda: plain(garblet.load("lib:millionaires(8)"), 0, listen="127.0.0.1:0", timeout=1e19),
        lambda: plain(garblet.load("lib:millionaires(8)"), 0, listen="127.0.0.1:0", patience=1e300),
        lambda: plain(garblet.load("lib:millionaires(8)"), 0, listen="127.0.0.1:0", session="x" * 10_000),
        lambda: plain(garblet.load("lib:millionaires(8)"), 0, listen="127.0.0.1:0", params={"build": "\0"}),
        lambda: plain(cast(garblet.Program, None), 0, listen="127.0.0.1:0"),
        lambda: garblet.Identity.load(cast(str, None)),
        lambda: garblet.Identity.load("/dev/null"),
        lambda: garblet.Identity.generate("/nowhere/x.pem"),
        lambda: garblet.Store("/dev/null/x", key="/dev/null/y", create=True),
        lambda: garblet.Store("/dev/null"),
    ],
)
def test_odd_calls_are_refused(call: Any) -> None:
    # Any other exception, such as a Rust panic, fails the test.
    with pytest.raises((garblet.GarbletError, TypeError, ValueError, OverflowError, AttributeError)):
        call()


def test_a_session_is_for_one_thread_at_a_time(richer: garblet.Program) -> None:
    with plain(richer, 0, listen="127.0.0.1:0") as alice:
        waiting = threading.Thread(target=lambda: pytest.raises(garblet.GarbletError, alice.run, a=5))
        waiting.start()
        time.sleep(0.3)
        for call in (lambda: alice.run(a=5), alice.prepare, alice.close):
            with pytest.raises(garblet.UsageError, match="another call of this session is under way"):
                call()
        alice.abort()
        waiting.join(10)
        assert not waiting.is_alive()
    later: list[Any] = [lambda: alice.run(a=5), alice.prepare, alice.fill]
    for call in later:
        with pytest.raises(garblet.UsageError, match="the session is closed"):
            call()
    alice.close()
    alice.abort()


@pytest.mark.parametrize("what", ["run", "close", "abort", "raise", "interrupt"])
def test_a_callback_may_do_what_it_likes(richer: garblet.Program, what: str) -> None:
    sessions: list[garblet.Session] = []

    def callback(phase: str, done: int, total: int) -> None:
        match what:
            case "run":
                sessions[0].run(a=5)
            case "close":
                sessions[0].close()
            case "abort":
                sessions[0].abort()
            case "raise":
                raise RuntimeError("on purpose")
            case "interrupt":
                raise KeyboardInterrupt

    alice = plain(richer, 0, listen="127.0.0.1:0", progress=callback)
    sessions.append(alice)
    bob = plain(richer, 1, connect=at(alice))

    def run() -> Any:
        try:
            return alice.run(a=5)
        except KeyboardInterrupt as error:
            return RuntimeError(repr(error))

    begin = time.monotonic()
    one, other = both(run, lambda: bob.run(b=3))
    assert time.monotonic() - begin < 15
    expected = {"run": garblet.UsageError, "close": garblet.UsageError, "abort": garblet.GarbletError}
    # An abort may arrive after the result.
    assert isinstance(one, expected.get(what, RuntimeError)) or (what == "abort" and isinstance(one, garblet.Report)), one
    assert isinstance(other, (garblet.PeerError, garblet.Report)), other
    alice.abort()
    bob.abort()


def test_a_call_never_has_the_answer_of_one_that_was_left(richer: garblet.Program) -> None:
    told: list[str] = []
    over = threading.Event()

    def callback(phase: str, done: int, total: int) -> None:
        told.append(phase)
        if len(told) == 1:
            # Meanwhile this party reaches its result, too.
            assert over.wait(20)
            time.sleep(0.5)
            raise RuntimeError("on purpose")
        if len(told) == 2:
            # Longer than an abandoned call waits for its party.
            time.sleep(3.5)

    # It reports progress more than once.
    alice = plain(richer, 0, listen="127.0.0.1:0", protocol="authenticated", progress=callback)
    bob = plain(richer, 1, connect=at(alice), protocol="authenticated")

    def other() -> garblet.Report:
        try:
            return bob.run(b=3)
        finally:
            over.set()

    one, report = both(lambda: alice.run(a=5), other)
    assert isinstance(one, RuntimeError) and report["out0"] is True
    assert len(told) == 2, "it did not wait for the answer"
    with pytest.raises(garblet.GarbletError, match="the run was given up"):
        alice.run(a=1)
    alice.abort()
    bob.abort()


def child(text: str, **more: Any) -> subprocess.Popen[str]:
    prelude = 'import garblet\nricher = garblet.compile("pub fn main(a: u32, b: u32) -> bool { a > b }", name="richer")\n'
    command = [sys.executable, "-c", prelude + textwrap.dedent(text)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def over(process: subprocess.Popen[str], seconds: float = 30) -> tuple[int, str]:
    said, wrong = process.communicate(timeout=seconds)
    return process.returncode, said + wrong


def test_the_interpreter_ends_while_a_thread_waits_for_a_peer() -> None:
    for _ in range(3):
        code, said = over(
            child(
                """
                import threading, time
                def wait():
                    garblet.Session(richer, 0, listen="127.0.0.1:0", insecure_plain_tcp=True).run(a=5)
                for _ in range(4):
                    threading.Thread(target=wait, daemon=True).start()
                time.sleep(0.3)
                """
            )
        )
        assert code == 0, said


def test_the_interpreter_ends_while_a_thread_computes() -> None:
    code, said = over(
        child(
            """
            import threading, time
            program = garblet.compile("pub fn main(a: [u64; 9000], b: u64) -> u64 { let mut n = 1u64; for x in a { n = n ^ (x * b); } n }", panics=False)
            def compute():
                garblet.run_local(program, [{"a": range(9000)}, {"b": 3}], progress=lambda *said: None)
            for _ in range(3):
                threading.Thread(target=compute, daemon=True).start()
            time.sleep(0.7)
            """
        )
    )
    assert code == 0, said


def test_the_interpreter_ends_with_sessions_in_circles() -> None:
    code, said = over(
        child(
            """
            class Keeps: pass
            keeps = Keeps()
            keeps.session = garblet.Session(richer, 0, listen="127.0.0.1:0", insecure_plain_tcp=True, progress=lambda *said: keeps)
            keeps.itself = keeps
            """
        )
    )
    assert code == 0, said


def test_sessions_are_collected(richer: garblet.Program) -> None:
    before = threading.active_count()
    threads = len(os.listdir("/proc/self/task"))
    for _ in range(20):
        plain(richer, 0, listen="127.0.0.1:0")
    gc.collect()
    deadline = time.monotonic() + 10
    while len(os.listdir("/proc/self/task")) > threads + 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(os.listdir("/proc/self/task")) <= threads + 2 and threading.active_count() == before


def in_fork(work: Any) -> str:
    """The output of a forked process."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            os.write(writing, str(work()).encode())
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        deadline = threading.Timer(20, os.kill, (process, signal.SIGKILL))
        deadline.start()
        text = said.read()
        deadline.cancel()
    os.waitpid(process, 0)
    return text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_no_part_in_a_session(richer: garblet.Program) -> None:
    with plain(richer, 0, listen="127.0.0.1:0") as alice, plain(richer, 1, connect=at(alice)) as bob:
        assert "UsageError: the session is one of process" in in_fork(lambda: alice.run(a=5))
        assert in_fork(alice.abort) == "None"
        # It can compute on its own, and has not harmed its parent.
        assert in_fork(lambda: garblet.run_local(richer, [{"a": 2}, {"b": 1}])[0]["out0"]) == "True"
        one, other = both(lambda: alice.run(a=5), lambda: bob.run(b=3))
        assert one["out0"] is other["out0"] is True
        both(alice.close, bob.close)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_does_not_wait_for_threads_that_it_does_not_have(richer: garblet.Program) -> None:
    heard, go_on = threading.Event(), threading.Event()

    def hear(*_: Any) -> None:
        heard.set()
        go_on.wait(20)

    def leaving() -> float:
        begin = time.monotonic()
        _garblet.leave()
        return time.monotonic() - begin

    with plain(richer, 0, listen="127.0.0.1:0", progress=hear) as alice, plain(richer, 1, connect=at(alice)) as bob:
        threads = [threading.Thread(target=alice.run, kwargs={"a": 5}), threading.Thread(target=bob.run, kwargs={"b": 3})]
        for thread in threads:
            thread.start()
        assert heard.wait(20)
        assert float(in_fork(leaving)) < 0.9
        go_on.set()
        for thread in threads:
            thread.join()
        both(alice.close, bob.close)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_processes_make_keys_of_their_own(tmp_path: Path) -> None:
    garblet.Identity.generate(str(tmp_path / "first.pem"))
    of_child = in_fork(lambda: garblet.Identity.generate(str(tmp_path / "child.pem")).fingerprint)
    of_parent = garblet.Identity.generate(str(tmp_path / "parent.pem")).fingerprint
    assert len(of_child) == len(of_parent) and of_child != of_parent


def evaluated(program: garblet.Program) -> bool:
    return bool(program.evaluate(a=5, b=3)["out0"])


def test_programs_go_to_other_processes(richer: garblet.Program) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(evaluated, [richer, richer.with_owner("a", 1)]) == [True, True]


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1, 0.3, 0.6])
def test_an_interrupt_comes_at_any_time(delay: float) -> None:
    process = child(
        """
        import signal, sys, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def bob(address):
            try:
                while True:
                    with garblet.Session(richer, 1, connect=address, insecure_plain_tcp=True) as session:
                        session.run(b=3)
            except garblet.GarbletError:
                pass
        try:
            print("ready", flush=True)
            while True:
                with garblet.Session(richer, 0, listen="127.0.0.1:0", insecure_plain_tcp=True, timeout=5) as alice:
                    threading.Thread(target=bob, args=["{}:{}".format(*alice.address)], daemon=True).start()
                    alice.run(a=5)
        except KeyboardInterrupt:
            sys.exit(42)
        """
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    code, said = over(process)
    assert code == 42, said
