"""Outputs as data frames, and the version."""

from __future__ import annotations

import sys
from typing import Any

import garblet
import numpy as np
import polars as pl
import pytest

pd = pytest.importorskip("pandas")


def ran(source: str, *inputs: garblet.Inputs, rows: int | None = None) -> garblet.Report:
    program = garblet.compile(source)
    return garblet.run_local(program if rows is None else program.batch(rows), inputs)[0]


def test_the_outputs_of_a_batch_are_rows() -> None:
    report = ran("pub fn main(a: u8, b: u8) -> (u8, bool) { (a + b, a > b) }", {"a": [1, 200]}, {"b": [2, 100]}, rows=2)
    frame = report.frame()
    assert isinstance(frame, pd.DataFrame) and len(frame) == 2
    assert list(frame) == list(report.outputs)


def test_single_values_are_one_row_and_records_have_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    report = ran("pub fn main(a: u8, b: u8) -> u8 { a + b }", {"a": 1}, {"b": 2})
    assert report.frame().to_dict("list") == {"out0": [3]}
    monkeypatch.delitem(sys.modules, "pandas")
    polars = report.frame()
    assert isinstance(polars, pl.DataFrame) and polars.to_dict(as_series=False) == {"out0": [3]}
    source = "pub struct R { k: u8, v: u8 } pub fn main(a: [u8; 2], b: u8) -> [R; 2] { [R { k: a[0], v: b }, R { k: a[1], v: b }] }"
    assert ran(source, {"a": [1, 2]}, {"b": 3}).frame("out0").to_dict(as_series=False) == {"k": [1, 2], "v": [3, 3]}


def test_lists_of_different_lengths_are_no_frame() -> None:
    program = garblet.load("lib:intersection-sum(2,2,8,8)")
    report = garblet.run_local(program, [{"a": [1, 2]}, {"b": [{"key": 2, "value": 3}]}])[0]
    assert report.frame()["sum"].to_list() == [3]


LARGE = 2**60 + 1


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(("type", "add"), [("u64", 2**64 - 1), ("i64", 2**63 - 1), ("u128", 2**128 - 1), ("i128", 2**127 - 1)])
def test_numbers_beside_missing_ones_keep_their_digits(library: Any, type: str, add: int) -> None:
    source = f"pub struct R {{ k: {type}, v: bool }} pub fn main(a: {type}, b: {type}) -> ({type}, bool, R) {{ let s = a + b; (s, s > b, R {{ k: s, v: true }}) }}"
    report = ran(source, {"a": [LARGE, add]}, {"b": [0, 1]}, rows=2)
    frame, records = report.frame(library=library), report.frame("out2", library=library)
    for column in (frame["out0"], report.frame("out0", library=library), records["k"]):
        found = list(column)
        assert found[0] == LARGE and isinstance(found[0], int | np.integer) and (found[1] is None or found[1] is pd.NA)
    for column in (frame["out1"], report.frame("out1", library=library), records["v"]):
        assert list(column)[0] in (True, np.True_) and list(column)[1] in (None, pd.NA)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_numbers_on_both_sides_of_the_widest_word_keep_their_digits(library: Any) -> None:
    source = "pub struct R { k: i128 } pub fn main(a: i128, b: i128) -> [R; 2] { [R { k: a }, R { k: b }] }"
    report = ran(source, {"a": 2**63 + 1}, {"b": -1})
    assert list(report.frame("out0", library=library)["k"]) == [2**63 + 1, -1]
    report = ran("pub fn main(a: u128, b: u128) -> [u128; 2] { [a, b] }", {"a": 2**128 - 1}, {"b": 0})
    assert list(report.frame("out0", library=library)) == [2**128 - 1, 0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_no_result_decides_whether_there_is_a_frame(library: Any) -> None:
    program = "pub fn main(a: [u8; ..3], b: [u8; ..3]) -> ([u8; ..3], [u8; ..3]) { (a, b) }"
    frame = ran(program, {"a": [1, 2, 3]}, {"b": [4]}).frame(library=library)
    assert list(frame["out0"]) == [1, 2, 3]
    assert list(frame["out1"])[0] == 4 and all(one is None or one is pd.NA for one in list(frame["out1"])[1:])
    with pytest.raises(garblet.UsageError, match="others single values"):
        ran("pub fn main(a: [u8; 2], b: u8) -> ([u8; 2], u8) { (a, b) }", {"a": [1, 2]}, {"b": 4}).frame(library=library)


def test_arrays_mask_the_rows_that_panicked() -> None:
    report = ran("pub fn main(a: u8, b: u8) -> (u16, [bool; 2]) { let s = a + b; (s as u16, [s > 1, s > 2]) }", {"a": [1, 255]}, {"b": [1, 1]}, rows=2)
    sums, flags = report.array("out0"), report.array("out1")
    assert (sums.tolist(), sums.dtype, flags.tolist(), flags.dtype) == ([2, None], np.uint16, [[True, False], [None, None]], np.bool_)
    whole = ran("pub fn main(a: u8, b: u8) -> u16 { (a + b) as u16 }", {"a": [1, 254]}, {"b": [1, 1]}, rows=2).array("out0")
    assert not isinstance(whole, np.ma.MaskedArray) and whole.tolist() == [2, 255]


def test_there_is_a_version() -> None:
    assert garblet.__version__.count(".") == 2
