"""Outputs as data frames, and the version."""

from __future__ import annotations

import sys

import garblet
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


def test_there_is_a_version() -> None:
    assert garblet.__version__.count(".") == 2
