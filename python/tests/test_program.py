"""Programs: their properties, and mistakes in sources."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path

import garblet
import pytest


def test_a_program_says_what_it_is(richer: garblet.Program) -> None:
    assert (richer.name, richer.and_gates, richer.and_depth, richer.parties) == ("richer", 32, 32, 2)
    assert [(port.name, port.type, port.owner) for port in richer.inputs] == [("a", "u32", 0), ("b", "u32", 1)]
    assert [(port.name, port.type, port.recipients) for port in richer.outputs] == [("out0", "bool", None)]
    assert len(richer.digest) == 32
    assert repr(richer) == "Program(richer(a: u32, b: u32) -> out0: bool)"
    assert richer.svg().startswith("<svg") and "32 AND gates" in richer._repr_html_()


def test_owners_and_recipients_change_a_copy(richer: garblet.Program) -> None:
    other = richer.with_owner("a", 1).with_recipients("out0", [1])
    assert [port.owner for port in other.inputs] == [1, 1] and other.outputs[0].recipients == [1]
    assert [port.owner for port in richer.inputs] == [0, 1] and other.digest != richer.digest
    reports = garblet.run_local(other, [{}, {"a": 3, "b": 2}])
    assert [report.outputs for report in reports] == [{}, {"out0": True}]


def test_constants_are_given() -> None:
    source = "const N: usize = PARTY_0::N; pub fn main(a: [u8; N], b: u8) -> u8 { a[0] + b }"
    program = garblet.compile(source, constants={"PARTY_0::N": 3})
    assert program.inputs[0].type == "[u8; 3]"
    with pytest.raises(garblet.UsageError, match="is not a constant's name"):
        garblet.compile(source, constants={"1": 3})


def test_mistakes_have_their_places() -> None:
    with pytest.raises(garblet.CompileError) as caught:
        garblet.compile("pub fn main(a: u8, b: u8) -> u8 { a + c }", name="bad")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == ("bad.garble.rs", 1, 39)
    assert "`c`" in diagnostic.message and diagnostic.message in str(caught.value)
    with pytest.raises(garblet.CompileError, match="no/such/file.txt: cannot be read"):
        garblet.load("no/such/file.txt")
    with pytest.raises(garblet.UsageError, match="is not a function source"):
        garblet.load("lib:millionaires(8)", panics=False)


def test_a_file_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "sum.garble.rs"
    path.write_text("pub fn main(a: u8, b: u8) -> u8 { a + b }")
    assert garblet.load(path).evaluate(a=1, b=2) == {"out0": 3}


def test_a_circuit_file_loses_gates_unless_it_is_to_run_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "choice.txt"
    path.write_text("4 7\n3 1 1 1\n1 1\n\n1 1 0 3 INV\n2 1 0 1 4 AND\n2 1 3 2 5 AND\n2 1 4 5 6 XOR\n")
    better, own = garblet.load(path), garblet.load(path, as_it_is=True)
    assert (better.and_gates, own.and_gates) == (1, 2)
    assert better.digest != own.digest
    assert pickle.loads(pickle.dumps(own)).digest == own.digest


def test_warnings_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "garblet"):
        garblet.compile("fn idle(x: u8) -> u8 { x } pub fn main(a: u8, b: u8) -> u8 { a }")
    assert "idle" in caplog.text


def test_a_panic_is_no_result() -> None:
    program = garblet.compile("pub fn main(a: u8, b: u8) -> u8 { a + b }", name="sum")
    assert [port.name for port in program.outputs] == ["out0"]
    assert garblet.run_local(program, [{"a": 200}, {"b": 55}])[1]["out0"] == 255
    for call in (
        lambda: garblet.run_local(program, [{"a": 200}, {"b": 56}]),
        lambda: program.evaluate(a=200, b=56),
    ):
        with pytest.raises(garblet.Panicked, match=r"panicked at sum.garble.rs:1:35: arithmetic overflow") as caught:
            call()
        assert isinstance(caught.value, ArithmeticError) and caught.value.hint
    wrapping = garblet.compile("pub fn main(a: u8, b: u8) -> u8 { a + b }", panics=False)
    assert wrapping.evaluate(a=200, b=57) == {"out0": 1}


def test_a_batch_computes_each_row_for_itself(caplog: pytest.LogCaptureFixture) -> None:
    program = garblet.compile("pub fn main(a: u8, b: u8) -> u8 { a + b }", name="sum").batch(3)
    assert (program.rows, program.inputs[0].type) == (3, "[u8; 3]")
    assert program.evaluate(a=[1, 200, 3], b=[1, 56, 3]) == {"out0": [2, None, 6]}
    with caplog.at_level(logging.WARNING, "garblet"):
        reports = garblet.run_local(program, [{"a": [1, 200, 3]}, {"b": [1, 56, 3]}])
    for report in reports:
        assert report["out0"] == [2, None, 6]
        said = report.to_dict()
        assert (said["rows"], list(said["panicked"]), said["outputs"]) == (3, ["2"], {"out0": {"value": [2, None, 6]}})
        assert list(report.panicked) == [1] and report.panicked[1].startswith("sum.garble.rs:1:35: arithmetic overflow")
        assert report.array("out0").tolist() == [2, None, 6]
    assert caplog.text == "", "which rows have panicked is a result, and nothing for a log"
    with pytest.raises(garblet.Panicked, match="none of 3 rows has a result; the first panicked at"):
        program.evaluate(a=[255] * 3, b=[1] * 3)


def test_outputs_are_arrays_of_numpy() -> None:
    program = garblet.compile("pub fn main(a: [[u16; 2]; 2], b: [bool; 2]) -> ([[u16; 2]; 2], [bool; 2], u8) { (a, b, 1u8) }")
    report = garblet.run_local(program, [{"a": [[1, 2], [3, 65535]]}, {"b": [True, False]}])[0]
    assert report.array("out0").dtype == "uint16" and report.array("out0").tolist() == [[1, 2], [3, 65535]]
    assert report.array("out1").dtype == "bool" and report.array("out1").tolist() == [True, False]
    with pytest.raises(garblet.UsageError, match="no array of words"):
        report.array("out2")
