"""All parties in one process, against the evaluator in the clear."""

from __future__ import annotations

import pickle
import time
from typing import Any, cast, get_args

import garblet
import numpy as np
import pytest

# Each one with parameters that run within a second.
QUICK: dict[str, garblet.Params] = {"cut-and-choose": {"copies": 8}}


@pytest.mark.parametrize("protocol", get_args(garblet.Protocol))
@pytest.mark.parametrize("values", [(5_000_000, 3_000_000), (3, 3)])
def test_every_protocol_agrees_with_the_evaluator(protocol: garblet.Protocol, values: tuple[int, int]) -> None:
    a, b = values
    program = garblet.load("lib:millionaires(32)")
    expected = program.evaluate(alice=a, bob=b)
    inputs: list[garblet.Inputs] = [{"alice": a}, {"bob": b}]
    if protocol == "outsourced":
        # The servers are the first and the last party.
        program = program.with_owner("alice", 1).with_owner("bob", 2)
        inputs = [{}, *inputs, {}]
    if protocol in ("gmw", "bmr", "bmr-bgw4", "bmr-bgw3", "bmr-bgw2"):
        # A party without input, for protocols that need three or more.
        inputs += [{}] * 3
    if protocol in ("authenticated-bmr", "two-garblers"):
        inputs += [{}]
    reports = garblet.run_local(program, inputs, protocol=protocol)
    assert [report.outputs for report in reports] == [expected] * len(inputs)
    assert {report.protocol for report in reports} == {protocol}
    assert sum(report.costs["online"].bytes_sent for report in reports) > 0


def test_a_hundred_thousand_comparisons_of_a_data_frame() -> None:
    polars = pytest.importorskip("polars")
    count = 100_000
    program = garblet.compile(
        f"pub fn main(a: [u32; {count}], b: [u32; {count}]) -> u32 {{ let mut n = 0u32; "
        f"for i in 0..{count} {{ if a[i as usize] > b[i as usize] {{ n = n + 1u32; }} }} n }}",
        name="count",
    )
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 2**32, count, dtype=np.uint32) for _ in range(2))
    frame = polars.DataFrame({"a": a, "b": b})
    begin = time.monotonic()
    reports = garblet.run_local(program, [{"a": frame["a"]}, {"b": frame["b"]}])
    print(f"{time.monotonic() - begin:.2f} s")
    assert reports[0]["out0"] == reports[1]["out0"] == int((a > b).sum())


def test_a_report_says_what_it_cost(richer: garblet.Program) -> None:
    report = garblet.run_local(richer, [{"a": 2}, {"b": 1}])[0]
    assert list(report.costs) == ["setup", "prepare", "build", "online"]
    assert report.adversary == "semi-honest"
    assert report.security["computational_bits"] >= 120
    assert "<td>True</td>" in report._repr_html_()


def test_a_report_is_the_object_of_the_command(richer: garblet.Program) -> None:
    report = garblet.run_local(richer, [{"a": 2}, {"b": 1}])[1]
    said = report.to_dict()
    assert said["outputs"] == {"out0": {"value": True, "hex": "0x1", "bits": "1"}}
    assert said["peers"] == [{"party": 0, "name": "this machine", "fingerprint": None}]
    assert (said["program_digest"], said["program"]["and"]) == (richer.digest.hex(), richer.and_gates)
    assert said["recipients"] == {"out0": [0, 1]}
    (part,) = said["per_party"]
    assert (part["party"], part["role"]) == (1, "evaluator")
    assert {phase: vars(cost) for phase, cost in report.costs.items()} == part["phases"]


def test_a_report_survives_pickling(richer: garblet.Program) -> None:
    report = garblet.run_local(richer, [{"a": 2}, {"b": 1}])[0]
    again = pickle.loads(pickle.dumps(report))
    assert again == report and again.to_dict() == report.to_dict()


def test_progress_is_told(richer: garblet.Program) -> None:
    heard: list[tuple[str, int, int]] = []
    garblet.run_local(richer, [{"a": 2}, {"b": 1}], progress=lambda *said: heard.append(said))
    assert heard and all(done <= total for _, done, total in heard)


def test_an_exception_of_the_callback_ends_the_run(richer: garblet.Program) -> None:
    def fail(phase: str, done: int, total: int) -> None:
        raise KeyError("on purpose")

    with pytest.raises(KeyError, match="on purpose"):
        garblet.run_local(richer, [{"a": 2}, {"b": 1}], progress=fail)


def test_a_plan_has_the_bytes_that_a_run_has(richer: garblet.Program) -> None:
    reports = garblet.run_local(richer, [{"a": 2}, {"b": 1}])
    for row in garblet.plan(richer, link="20ms,100mbit", protocols=["yao"]):
        cost = reports[row["party"]].costs[row["phase"]]
        assert (row["bytes_sent"], row["rounds"]) == (cost.bytes_sent, cost.rounds)
        assert row["exact"] and row["link_seconds"] is not None
    everything = garblet.plan(richer)
    assert set(everything.total_bytes()) > {"yao", "gmw", "lego"}
    assert "<table>" in everything._repr_html_()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: garblet.run_local(p, [{"a": 1}, {"b": 2}], protocol=cast(garblet.Protocol, "yaoo")), "protocol"),
        (lambda p: garblet.Session(p, 0, listen="127.0.0.1:0", protocol="outsourced"), "no session of Python runs outsourced"),
        (lambda p: garblet.run_local(p, [{"a": 1}, {"b": 2}], params={"speed": 3}), "speed"),
        (lambda p: garblet.run_local(p, [{"a": 1}]), "takes 2 parties, and the program needs 2; got 1"),
        (lambda p: garblet.plan(p, link="fast"), "link"),
        (lambda p: p.with_owner("c", 0), "no input `c`"),
        (lambda p: p.with_recipients("out1", [0]), "no output `out1`"),
    ],
)
def test_wrong_calls_are_told(richer: garblet.Program, call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(garblet.UsageError) as caught:
        call(richer)
    assert words in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_inputs_are_given_by_party(richer: garblet.Program) -> None:
    wrong: Any = {"a": 1, "b": 2}
    for inputs in (wrong, {-1: {"a": 1}}):
        with pytest.raises(garblet.UsageError, match="inputs: a party: expected ") as caught:
            garblet.run_local(richer, inputs)
        assert caught.value.hint and "by party" in caught.value.hint
