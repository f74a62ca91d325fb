"""Values in and out."""

from __future__ import annotations

import array
import datetime
import enum
import importlib
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import garblet
import numpy as np
import pytest
from garblet.values import encode


def through(type: str, value: Any) -> Any:
    """A value after a round trip through a program that returns it unchanged."""
    return garblet.compile(f"pub fn main(a: {type}, b: bool) -> {type} {{ a }}").evaluate(a=value, b=True)["out0"]


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("bool", True),
        ("u8", 255),
        ("i8", -128),
        ("u64", 2**64 - 1),
        ("i64", -(2**63)),
        ("u128", 2**128 - 1),
        ("i128", -(2**127)),
        ("u1", 1),
        ("i13", -(2**12)),
        ("u256", 2**256 - 1),
        ("i300", -(2**299)),
        ("u4096", 2**4096 - 7),
        ("[u24; 2]", [2**24 - 1, 3]),
        ("[u16; 3]", [1, 2, 65535]),
        ("[[i32; 2]; 2]", [[1, -2], [3, -4]]),
        ("[(u8, i8); 2]", [(1, -1), (2, -2)]),
        ("[(u8, (bool, u16)); 1]", [(1, (True, 9))]),
        ("[bool; 4]", [True, False, True, True]),
    ],
)
def test_values_come_back(type: str, value: Any) -> None:
    back = through(type, value)
    assert back == value and repr(back) == repr(value)


def test_numbers_of_numpy_are_numbers() -> None:
    assert through("u32", np.int64(7)) == 7
    assert through("bool", np.bool_(True)) is True
    assert through("[u8; 2]", (np.uint8(1), 2)) == [1, 2]


def test_ranges_and_tuples_are_arrays() -> None:
    assert through("[u16; 4]", range(4)) == [0, 1, 2, 3]


def test_records_are_dictionaries() -> None:
    source = "struct P { x: u8, y: bool } pub fn main(a: P, b: u8) -> [P; 1] { [a] }"
    program = garblet.compile(source)
    assert program.evaluate(a={"x": 3, "y": True}, b=0) == {"out0": [{"x": 3, "y": True}]}
    with pytest.raises(garblet.InputError, match="input `a`"):
        program.evaluate(a={"x": 3, "z": True}, b=0)


@pytest.mark.parametrize("word", ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"])
def test_arrays_of_exactly_that_word_are_taken(word: str) -> None:
    dtype = np.dtype(word.replace("u", "uint").replace("i", "int") if word[0] == "i" else word.replace("u", "uint"))
    info = np.iinfo(dtype)
    numbers = np.array([[info.min, info.max, 1], [2, 3, 4]], dtype=dtype)
    assert through(f"[[{word}; 3]; 2]", numbers) == numbers.tolist()
    # In another memory order, and not contiguous.
    assert through(f"[[{word}; 2]; 3]", numbers.T) == numbers.T.tolist()
    assert through(f"[{word}; 2]", numbers[0, ::2]) == numbers[0, ::2].tolist()


def test_other_buffers_are_taken() -> None:
    assert through("[bool; 3]", np.array([True, False, True])) == [True, False, True]
    assert through("[u32; 2]", array.array("I", [1, 2**32 - 1])) == [1, 2**32 - 1]
    assert through("[u8; 3]", b"abc") == [97, 98, 99]


@pytest.mark.parametrize(
    ("type", "value", "words", "hint"),
    [
        ("u8", 256, "input `a`: expected u8", None),
        ("u8", -1, "input `a`", None),
        ("u8", 5.0, "input `a`: expected u8", None),
        ("[u8; 2]", [1.0, 2.0], "input `a`[0]: expected u8", None),
        ("u8", "x", "input `a`: expected u8, got a string", None),
        ("u8", None, "input `a`: expected a value, got None", "drop or fill"),
        ("u8", float("nan"), "input `a`: expected a number, got nan", "drop or fill"),
        ("bool", 2, "input `a`", None),
        ("u8", object(), "input `a`: expected a value, got a object", None),
        ("[u8; 2]", [1, None], "input `a`[1]: expected a value, got None", "drop or fill"),
        ("[u8; 2]", [1, 2, 3], "input `a`: expected [u8; 2], got more elements", None),
        ("[[u8; 2]; 2]", [[1, 2], [3]], "input `a`[1]: expected [u8; 2], got fewer elements", None),
        ("[u32; 3]", np.zeros(3), "input `a`: expected [u32; 3], got floats", "fixed"),
        ("[u32; 3]", np.zeros(3, dtype=bool), "input `a`: expected [u32; 3], got Booleans", "astype"),
        ("[bool; 3]", np.zeros(3, dtype=int), "input `a`: expected [bool; 3], got whole numbers", "!= 0"),
        ("u32", datetime.date(2020, 1, 1), "input `a`: expected a value, got a date", "days since 1970-01-01"),
        ("[u32; 3]", np.zeros(4, dtype=np.uint32), "expected 3 words, got 4", "size is part of the program"),
        ("[[u32; 3]; 2]", np.zeros((3, 2), dtype=np.uint32), "expected 2 x 3 words, got 3 x 2", "size"),
        ("[u8; 2]", b"abc", "input `a`", None),
    ],
)
def test_what_does_not_fit_is_refused(type: str, value: Any, words: str, hint: str | None) -> None:
    with pytest.raises(garblet.InputError) as caught:
        through(type, value)
    assert words in str(caught.value)
    assert hint is None or hint in (caught.value.hint or "")
    assert isinstance(caught.value, ValueError)


# Each contains a value that must not appear in a log.
SECRET, WORD = 271_828, "wittgenstein"
SHAPES = "enum Shape { Dot, Circle(u8), Square { side: u8 } }"
OTHER_FIELDS = "input `a`: expected enum {Dot, Circle(u8), Square {side: u8}}, got other fields"


@pytest.mark.parametrize(
    ("type", "value", "words"),
    [
        ("u8", SECRET, "input `a`: expected u8, got a number out of range"),
        ("u8", -SECRET, "input `a`: expected u8, got a number out of range"),
        ("u8", np.int64(SECRET), "input `a`: expected u8, got a number out of range"),
        ("i8", SECRET, "input `a`: expected i8, got a number out of range"),
        ("u32", SECRET + 0.5, "input `a`: expected u32, got a number with a point or an exponent"),
        ("u32", Decimal("271828.5"), "input `a`: expected u32, got a Decimal"),
        ("u32", Decimal("271828e99999999"), "input `a`: expected a number, got one of more than 8192 digits"),
        ("u32", Decimal("NaN271828"), "input `a`: expected a number, got nan"),
        ("u32", WORD, "input `a`: expected u32, got a string"),
        ("u32", WORD + "\ud800", "input `a`: expected text, got some with half of a character"),
        ("[u8; 3]", [1, SECRET, 3], "input `a`[1]: expected u8, got a number out of range"),
        ("[u8; 2]", WORD, "input `a`: expected [u8; 2], that is 2 bytes of UTF-8, got more"),
        ("[u8; 2]", {"hex": "witt"}, "input `a`: expected 4 hex digits, got other characters"),
        ("[bool; 4]", {"bits": "witt"}, "input `a`: character 1 of the bit string is neither `0` nor `1`"),
        ("(u8, u8)", (1, SECRET), "input `a`.1: expected u8, got a number out of range"),
        ("bool", WORD, "input `a`: expected bool, got a string"),
        ("Shape", WORD, "input `a`: expected a variant, got another name"),
        ("Shape", {"Circle": SECRET}, OTHER_FIELDS),
        ("Shape", {"Square": {"side": SECRET}}, OTHER_FIELDS),
        ("Shape", "Circle", OTHER_FIELDS),
        ("Shape", {"Dot": [SECRET]}, OTHER_FIELDS),
        ("[u32; 2]", np.array([WORD, WORD]), "input `a`: expected [u32; 2], got a buffer"),
    ],
    ids=(f"case{number}" for number in itertools.count()),
)
def test_what_is_refused_is_not_told(type: str, value: Any, words: str) -> None:
    program = garblet.compile(f"{SHAPES} pub fn main(a: {type}, b: bool) -> bool {{ b }}")
    with pytest.raises(garblet.InputError) as caught:
        program.evaluate(a=value, b=True)
    said = f"{caught.value} {caught.value.hint}"
    assert words in said
    assert "271828" not in said and "witt" not in said


def test_inputs_are_those_of_the_party(richer: garblet.Program) -> None:
    for inputs, words in [
        ([{"a": 1, "b": 2}, {"b": 2}], "input `b` belongs to party 1"),
        ([{}, {"b": 2}], "input `a` (u32) is missing"),
        ([{"c": 1}, {"b": 2}], "no input `c`"),
    ]:
        with pytest.raises(garblet.InputError) as caught:
            garblet.run_local(richer, inputs)
        assert words in str(caught.value)


def test_fixed_point_numbers_are_decimals() -> None:
    source = "pub fn main(a: fixed<8, 4>, b: bool) -> fixed<8, 4> { a }"
    try:
        program = garblet.compile(source)
    except garblet.CompileError:
        pytest.skip("the language writes them otherwise")
    assert program.evaluate(a=Decimal("1.25"), b=True)["out0"] == Decimal("1.25")
    assert program.evaluate(a=-2.5, b=True)["out0"] == Decimal("-2.5")


def column(library: str, values: list[int | None], dtype: str) -> Any:
    """A column of a data frame."""
    module = pytest.importorskip(library)
    if library == "pandas":
        return module.Series(values, dtype=dtype.capitalize().replace("int", "Int").replace("Uint", "UInt"))
    if library == "polars":
        return module.Series(values, dtype=getattr(module, dtype.capitalize().replace("Uint", "UInt")))
    return module.array(values, type=getattr(module, dtype)())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_data_frames_are_taken_and_missing_values_refused(library: str) -> None:
    assert through("[u32; 3]", column(library, [1, 2, 2**32 - 1], "uint32")) == [1, 2, 2**32 - 1]
    with pytest.raises(garblet.InputError, match="input `a`: expected a value in every row, got 1 missing, the first at \\[1\\]") as caught:
        through("[u32; 3]", column(library, [1, None, 3], "uint32"))
    assert "drop these rows" in (caught.value.hint or "")
    assert through("[u32; 3]", column(library, [1, 2, 3], "int64")) == [1, 2, 3]
    with pytest.raises(garblet.InputError, match=r"input `a`\[1\]: expected u32, got a number out of range"):
        through("[u32; 3]", column(library, [1, -2, 3], "int64"))
    with pytest.raises(garblet.InputError, match="expected 3 words, got 4"):
        through("[u32; 3]", column(library, [1, 2, 3, 4], "uint32"))


class Arrow:
    """An object that has Arrow data and nothing else."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._column.__arrow_c_stream__(requested_schema)


def test_arrow_streams_are_read_by_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    chunks = pyarrow.chunked_array([[1, 2], [3]], type=pyarrow.uint32())
    assert through("[u32; 3]", Arrow(chunks)) == [1, 2, 3]
    importlib.import_module("pyarrow")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(garblet.InputError, match="read by pyarrow only"):
        through("[u32; 3]", Arrow(chunks))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_data_frame_is_a_list_of_records(library: str) -> None:
    module = pytest.importorskip(library)
    columns = {"key": np.array([3, 5], dtype=np.uint32), "value": np.array([30, 50], dtype=np.uint32)}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    program = garblet.load("lib:intersection-sum(2,2,32,32)")
    assert program.evaluate(a=[5, 9], b=frame) == {"size": 1, "sum": 50, "in_order": True}
    with pytest.raises(garblet.InputError, match="input `b`"):
        program.evaluate(a=[5, 9], b=frame[["key"]] if library != "pyarrow" else frame.select(["key"]))


def test_missing_values_of_a_frame_are_refused_by_column() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"key": [3, 5], "value": [30, None]})
    program = garblet.load("lib:intersection-sum(2,2,32,32)")
    with pytest.raises(garblet.InputError, match="input `b`, column `value`: expected a value in every row, got 1 missing"):
        program.evaluate(a=[5, 9], b=frame)


def test_lists_that_are_not_in_order_are_refused() -> None:
    program = garblet.load("lib:intersection-sum(3,3,32,32)")
    for rows, words in [
        ([(5, 1), (3, 2)], "a lesser key than in the previous row"),
        ([(3, 1), (3, 2)], "the key of the previous row again"),
    ]:
        with pytest.raises(garblet.InputError, match="input `b`, row 2: expected ascending order, each key once") as caught:
            program.evaluate(a=[5, 9], b=[{"key": key, "value": value} for key, value in rows])
        assert words in str(caught.value)
        assert caught.value.hint in ("sort the rows by key", "merge the rows that have the same key")
    with pytest.raises(garblet.InputError, match="input `a`, row 3"):
        garblet.run_local(program, [{"a": [1, 5, 5]}, {"b": []}], protocol="yao")


def test_columns_of_one_name_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 2]], columns=["key", "key"])
    with pytest.raises(garblet.InputError, match="input `b`: expected columns of different names, got `key` twice"):
        garblet.load("lib:intersection-sum(2,2,32,32)").evaluate(a=[1, 2], b=frame)
    for type in ("(u8, u8)", "[[u8; 2]; 1]"):
        with pytest.raises(garblet.InputError, match="input `a`: expected .*, got a data frame"):
            through(type, frame)


@pytest.mark.parametrize(
    ("type", "value", "words"),
    [
        ("(u8, u8)", {1: 5, "1": 7}, "input `a`: expected fields of different names, got 1 twice"),
        ("[(u8, u8); 2]", [{}, {"None": 5, None: 7}], "input `a`[1]: expected the fields 0, 1, got another name"),
        # The variant is secret.
        ("Shape", {"Square": {1: 5, "1": 7}}, "input `a`: expected fields of different names"),
    ],
)
def test_keys_that_are_one_field_are_refused(type: str, value: Any, words: str) -> None:
    program = garblet.compile(f"{SHAPES} pub fn main(a: {type}, b: bool) -> bool {{ b }}")
    with pytest.raises(garblet.InputError) as caught:
        program.evaluate(a=value, b=True)
    assert str(caught.value) == words


def test_masked_values_and_times_are_refused() -> None:
    pandas, polars = (importlib.import_module(name) for name in ("pandas", "polars"))
    program = garblet.compile("pub fn main(a: [u64; 2], b: u64) -> u64 { a[0] + a[1] + b }")
    masked = np.ma.array([1, 2], mask=[False, True], dtype=np.uint64)
    with pytest.raises(garblet.InputError, match="input `a`: expected a value in every row, got 1 masked"):
        program.evaluate(a=masked, b=0)
    assert program.evaluate(a=np.ma.array([1, 2], dtype=np.uint64), b=0)["out0"] == 3
    times = np.array([1, 2], dtype="datetime64[ns]")
    for column in (times, times - times[0], pandas.Series(times), polars.Series(times)):
        with pytest.raises(garblet.InputError, match="input `a`: expected numbers, got times"):
            program.evaluate(a=column, b=0)


def times(kind: str) -> Any:
    """Times inside other values."""
    when = datetime.datetime(2020, 1, 1)
    array = np.array(["2020-01-01"], "datetime64[ns]")
    if kind in ("array", "duration", "field", "row"):
        fields = np.array([(array[0], 1)], dtype=[("t", "datetime64[ns]"), ("n", "u8")])
        return {"array": [array], "duration": {"x": array[0] - array[0]}, "field": fields, "row": list(fields)}[kind]
    library, _, shape = kind.partition(" ")
    module = pytest.importorskip(library)
    value = {"list": [when], "struct": {"t": when, "n": 1}, "lists": [{"t": when}]}[shape]
    if library == "polars":
        return module.Series([value])
    if library == "pandas":
        pyarrow = pytest.importorskip("pyarrow")
        return module.Series(module.arrays.ArrowExtensionArray(pyarrow.array([value])))
    of = module.timestamp("ns")
    types = {"list": module.list_(of), "struct": module.struct([("t", of), ("n", module.uint64())]), "lists": module.list_(module.struct([("t", of)]))}
    return module.array([value], type=types[shape])


@pytest.mark.parametrize(
    "kind",
    ["array", "duration", "field", "row"]
    + [f"{library} {shape}" for library in ("pyarrow", "polars", "pandas") for shape in ("list", "struct", "lists")],
)
def test_times_inside_of_values_are_refused(kind: str) -> None:
    source = "struct P { t: u64, n: u64 } struct Q { t: u64 } struct R { x: u64 } pub fn main(a: {}, b: bool) -> bool {{ b }}"
    for type in ["[[u64; 1]; 1]", "[[u64; 2]; 1]", "R", "[P; 1]", "[Q; 1]", "[[Q; 1]; 1]", "[(u64, u64); 1]"]:
        program = garblet.compile(source[: source.index("pub")] + source[source.index("pub") :].format(type))
        with pytest.raises(garblet.InputError, match="got times|got a (datetime|Timestamp|dict|data frame)|got another name"):
            program.evaluate(a=times(kind), b=True)


def test_lists_and_records_of_columns_are_taken() -> None:
    for library in ("pyarrow", "polars"):
        module = pytest.importorskip(library)
        made = module.array if library == "pyarrow" else module.Series
        assert through("[[u32; 2]; 2]", made([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
        source = "struct P { x: u8, y: u8 } pub fn main(a: [P; 1], b: u8) -> u8 { a[0].x - a[0].y + b }"
        assert garblet.compile(source).evaluate(a=made([{"y": 1, "x": 3}]), b=0)["out0"] == 2
        with pytest.raises(garblet.InputError, match=r"input `a`\[1\]\[1\]: expected a value, got None"):
            through("[[u32; 2]; 2]", made([[1, 2], [3, None]]))


def test_masks_of_other_classes_and_of_fields_are_seen() -> None:
    class Masked(np.ma.MaskedArray):
        pass

    masked = np.ma.array([1, 2], mask=[False, True], dtype=np.uint64)
    fields: Any = np.ma.array([(1, 2)], dtype=[("x", "u8"), ("y", "u8")], mask=[(False, True)])
    for type, value, words in [
        ("[u64; 2]", masked.view(Masked), "input `a`: expected a value in every row, got 1 masked"),
        ("[[u64; 2]; 1]", [masked.view(Masked)], r"input `a`\[0\]: expected a value in every row, got 1 masked"),
        ("[(u64, u64); 1]", fields, "input `a`: expected a value in every row, got 1 masked"),
    ]:
        with pytest.raises(garblet.InputError, match=words):
            through(type, value)


@pytest.mark.parametrize(
    ("type", "value", "words"),
    [
        ("u32", b"\x01\x02\x03\x04", "input `a`: expected u32, got bytes"),
        ("[u32; 2]", b"\x01\x02", r"input `a`: expected \[u32; 2\], got bytes"),
        ("[u32; 2]", [b"\x01\x02\x03\x04", 5], r"input `a`\[0\]: expected \[u32; 2\], got bytes"),
        ("[bool; 8]", bytearray(1), r"input `a`: expected \[bool; 8\], got bytes"),
        ("(u32, [u8; 2])", (b"\x01\x02\x03\x04", b"ab"), "input `a`.0: expected u32"),
        ("[u8; 2]", Decimal(65), r"input `a`: expected \[u8; 2\], got a Decimal, which is for fixed-point"),
        ("[u8; 2]", {3, 1}, "input `a`: expected a value, got a set, whose elements have no place"),
        ("[[u8; 2]; 1]", [frozenset([3, 1])], r"input `a`\[0\]: expected a value, got a frozenset"),
    ],
)
def test_what_could_be_taken_for_something_else_is_refused(type: str, value: Any, words: str) -> None:
    program = garblet.compile(f"{SHAPES} pub fn main(a: {type}, b: bool) -> bool {{ b }}")
    with pytest.raises(garblet.InputError, match=words):
        program.evaluate(a=value, b=True)


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("Shape", {"Circle": [None]}),
        ("Shape", {"Square": {"side": None}}),
        ("Shape", {"Box": {"h": 1, "w": None}}),
        ("Shape", {"Range": [2, [True, float("nan")]]}),
        ("Shape", {"Range": [2, np.ma.array([1, 2], mask=[False, True])]}),
        ("[Shape; 2]", ["Dot", {"Circle": {1}}]),
        ("(u8, Shape)", [1, {"Circle": b"a"}]),
        ("P", {"n": 1, "of": {"Box": {"h": 1, "w": Decimal(5)}}}),
    ],
    ids=(f"case{number}" for number in itertools.count()),
)
def test_no_place_tells_the_variant(type: str, value: Any) -> None:
    shape = "enum Shape { Dot, Circle(u8), Square { side: u8 }, Box { w: u8, h: u8 }, Range(u8, (bool, u8)) } struct P { n: u8, of: Shape }"
    program = garblet.compile(f"{shape} pub fn main(a: {type}, b: bool) -> bool {{ b }}")
    for name in ("a", "misspelt"):
        with pytest.raises(garblet.InputError) as caught:
            program.evaluate(**{name: value, "b": True})
        assert "`[" not in str(caught.value) and "`." not in str(caught.value)


def test_no_column_tells_the_variant() -> None:
    polars, pandas = (importlib.import_module(name) for name in ("polars", "pandas"))
    program = garblet.compile(f"{SHAPES} struct P {{ n: u8, of: Shape }} pub fn main(a: [Shape; 2], b: [P; 2]) -> u8 {{ b[0].n }}")
    frames = [polars.DataFrame({"Circle": [1, None]}), pandas.DataFrame([[1, 2]], columns=["Circle", "Circle"])]
    for frame, words in zip(frames, ["input `a`: expected a value in every row, got 1 missing", "input `a`: expected columns of different names"], strict=True):
        with pytest.raises(garblet.InputError) as caught:
            program.evaluate(a=frame, b=[])
        assert str(caught.value) == words
    # Field names of records are not secret.
    with pytest.raises(garblet.InputError, match="input `b`, column `n`: expected a value in every row, got 1 missing"):
        program.evaluate(a=[], b=polars.DataFrame({"n": [1, None], "of": ["Dot", "Dot"]}))


def test_only_times_are_told_as_times() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    texts = pyarrow.ListArray.from_arrays([0, 1], pyarrow.array([b"\xff"]).view(pyarrow.utf8()))
    with pytest.raises(garblet.InputError) as caught:
        through("[[u8; 1]; 1]", texts)
    assert str(caught.value) == "input `a`: expected numbers, got some that Python has no value for"
    late = pyarrow.ListArray.from_arrays([0, 1], pyarrow.array([10_000_000], pyarrow.int32()).view(pyarrow.date32()))
    with pytest.raises(garblet.InputError, match="input `a`: expected numbers, got times"):
        through("[[u8; 1]; 1]", late)


def test_bytes_are_arrays_of_bytes_wherever_they_are() -> None:
    assert through("[[u8; 2]; 2]", [b"ab", bytearray(b"cd")]) == [[97, 98], [99, 100]]
    assert through("[(u32, [u8; 2]); 1]", [(5, b"ab")]) == [(5, [97, 98])]


def test_words_that_no_memory_has_are_looked_at_one_by_one() -> None:
    program = garblet.load("lib:millionaires(20)").batch(2)
    swapped: Any = np.array([1, 9], dtype=">u4")
    assert program.evaluate(alice=swapped, bob=[2, 2]) == {"alice_richer": [False, True]}
    with pytest.raises(garblet.InputError, match="input `alice`: expected numbers, got a buffer of format `>I`"):
        program.evaluate(alice=memoryview(swapped), bob=[2, 2])


def test_members_of_enumerations_are_their_texts() -> None:
    class Colour(str, enum.Enum):
        RED = "Red"

    program = garblet.compile("enum C { Red, Green } pub fn main(a: [C; 2], b: bool) -> bool { b }")
    assert program.evaluate(a=[Colour.RED, "Green"], b=True) == {"out0": True}
    record = garblet.compile("struct P { Red: u8 } pub fn main(a: P, b: u8) -> u8 { a.Red + b }")
    assert record.evaluate(a={Colour.RED: 3}, b=1) == {"out0": 4}


def test_labels_of_rows_are_no_columns() -> None:
    pandas = pytest.importorskip("pandas")
    labels = ["columns", "column_names", "to_pylist"]
    assert through("[u32; 3]", pandas.Series([1, 2, 3], index=labels, dtype="uint32")) == [1, 2, 3]
    program = garblet.load("lib:intersection-sum(2,2,32,32)")
    with pytest.raises(garblet.InputError, match="input `b`"):
        program.evaluate(a=[5, 9], b=pandas.DataFrame({"column_names": [1, 2], "columns": [3, 4]}, dtype="uint32"))


@pytest.mark.parametrize("given", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">u4", ">i8"])
@pytest.mark.parametrize("word", ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"])
def test_whole_numbers_of_any_width_are_taken_where_each_one_fits(given: str, word: str) -> None:
    has, wants = np.iinfo(given), np.iinfo(f"{word[0]}{int(word[1:]) // 8}")
    low, high = max(int(has.min), int(wants.min)), min(int(has.max), int(wants.max))
    program = garblet.compile(f"pub fn main(a: [[{word}; 3]; 2], b: bool) -> [[{word}; 3]; 2] {{ a }}")
    fits = np.array([[low, high, 1], [2, 3, 4]], dtype=given)
    assert program.evaluate(a=fits, b=True)["out0"] == fits.tolist()
    for edge, wrong in [(int(has.min), low - 1), (int(has.max), high + 1)]:
        if min(edge, wrong) < low or max(edge, wrong) > high:
            if not int(has.min) <= wrong <= int(has.max):
                continue
            with pytest.raises(garblet.InputError) as caught:
                program.evaluate(a=np.array([[1, 2, 3], [4, wrong, 5]], dtype=given), b=True)
            assert str(caught.value) == f"input `a`[1][1]: expected {word}, got a number out of range"
            assert caught.value.hint == f"{word} is {wants.min} to {wants.max}"


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "pyarrow", "list"])
def test_columns_in_a_mapping_are_records(library: str, caplog: pytest.LogCaptureFixture) -> None:
    made: dict[str, Any] = {"numpy": np.array, "list": list, "pyarrow": lambda of: pytest.importorskip("pyarrow").array(of)}
    column = made.get(library) or pytest.importorskip(library).Series
    program = garblet.load("lib:intersection-sum(2,2,32,32)")
    columns = {"value": column([30, 50]), "name": column(["x", "y"]), "key": column([3, 5])}
    assert program.evaluate(a=[5, 9], b=columns) == {"size": 1, "sum": 50, "in_order": True}
    assert caplog.messages == ["input `b`: 1 column is left out, which the program does not have: it has key, value"]
    for wrong, words in [
        ({"key": column([3, 5])}, "input `b`: expected a column `value`, got none of that name"),
        ({"key": column([3, 5]), "value": column([1])}, "input `b`: expected columns of one length, got 2 in `key` and 1 in `value`"),
        ({"key": column([3, 5]), "value": 7}, "input `b`, column `value`: expected a column, got a int"),
        ({"key": column([3, 5]), "value": column([1, -7])}, "input `b`[1].value: expected u32, got a number out of range"),
    ]:
        with pytest.raises(garblet.InputError) as caught:
            program.evaluate(a=[5, 9], b=wrong)
        assert str(caught.value) == words


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_of_a_frame_that_are_too_many_are_left_out(library: str, caplog: pytest.LogCaptureFixture) -> None:
    module = pytest.importorskip(library)
    columns = {"name": ["x", "y"], "key": [3, 5], "value": [30, 50]}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    program = garblet.load("lib:intersection-sum(2,2,32,32)")
    assert program.evaluate(a=[5, 9], b=frame) == {"size": 1, "sum": 50, "in_order": True}
    assert caplog.messages == ["input `b`: 1 column is left out, which the program does not have: it has key, value"]


@pytest.mark.parametrize("value", [0.1, -0.1, 2.5, -7.96875, 7.96874, 1 / 3, -1e-9, 0.09375, 0.03125, -0.03125])
def test_a_float_becomes_the_nearest_number_and_in_a_tie_the_even_one(value: float) -> None:
    expected = Decimal(round(Fraction(repr(value)) * 16)) / 16
    for given in (value, np.float64(value), Decimal(repr(value))):
        assert through("fixed<4, 4>", given) == expected
    assert through("[fixed<4, 4>; 2]", np.array([value, 1.0])) == [expected, 1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_results_are_columns_of_the_library_of_the_inputs(library: str) -> None:
    module = pytest.importorskip(library)
    program = garblet.compile("pub fn main(a: [u16; 3], b: u16) -> ([u16; 3], [(u8, bool); 2], [u32; ..2], u16) { (a, [(1, true), (2, false)], [7], b) }")
    own, other = garblet.run_local(program, [{"a": module.Series([1, 2, 65535])}, {"b": 5}])
    column = own.frame("out0")
    assert isinstance(column, module.Series) and str(column.dtype).lower() == "uint16" and column.to_list() == [1, 2, 65535]
    assert own.frame("out1").equals(module.DataFrame({"0": [1, 2], "1": [True, False]}))
    assert own.frame("out2").to_list() == [7]
    assert isinstance(other.frame("out0", "pandas" if library == "pandas" else "polars"), module.Series)
    with pytest.raises(garblet.UsageError, match="a single value"):
        own.frame("out3")
    many = garblet.compile("pub fn main(a: u8, b: u8) -> u8 { a + b }").batch(2)
    assert garblet.run_local(many, [{"a": module.Series([1, 255])}, {"b": [1, 1]}])[0].frame("out0").isna().tolist() == [False, True] if library == "pandas" else True


def test_floating_point_numbers_come_in_and_go_out_as_floats() -> None:
    program = garblet.compile("pub fn main(a: [f64; 3], b: f32) -> ([f64; 3], f32) { ([a[0] + 0.1, a[1] * a[1], -a[2]], b) }")
    numbers = [0.2, 1e200, 0.0]
    for given in (numbers, np.array(numbers), pytest.importorskip("pandas").Series(numbers)):
        assert program.evaluate(a=given, b=0.5) == {"out0": [0.2 + 0.1, float("inf"), -0.0], "out1": 0.5}
    nan, infinite, _ = program.evaluate(a=["NaN", "-inf", 1], b=0.1)["out0"]
    assert nan != nan and infinite == float("inf")
    assert program.evaluate(a=numbers, b=0.1)["out1"] == float(np.float32(0.1))
    with pytest.raises(garblet.InputError, match=r"`a`\[0\]: expected a number, got nan") as error:
        program.evaluate(a=[float("nan"), 1.0, 2.0], b=0.5)
    assert error.value.hint is not None and "NaN" in error.value.hint


PEOPLE = {"anna@example.com": None, "bob@example.org": 5}


@pytest.mark.parametrize(
    ("value", "words", "hint"),
    [
        (PEOPLE, "input `b`: expected [{key: u32, value: u32}; ..4], got a dict", "columns, which are lists: key, value"),
        ({271828: 1999, 3: 4}, "input `b`: expected [{key: u32, value: u32}; ..4], got a dict", "columns"),
        ([{271828: 1999}], "input `b`[0]: expected the fields key, value, got another name", "these fields"),
        ([{"key": 1, "value": PEOPLE}], "input `b`[0].value: expected u32, got a dict", None),
        ([{"key": 1, "value": 2, "anna@example.com": 3}], "input `b`[0]: expected the fields key, value, got another name", "these fields"),
        ({"key": [1], "anna@example.com": [2]}, "input `b`: expected a column `value`, got none of that name", "key, value"),
        ([{"key": 1, "anna@example.com\ud800": 2}], "input `b`[0]: expected text, got some with half of a character", None),
        ([{"key": {"hex": "anna"}, "value": 1}], "input `b`[0].key: expected", None),
    ],
    ids=(f"case{number}" for number in itertools.count()),
)
def test_keys_that_are_values_are_not_told(value: Any, words: str, hint: str | None, caplog: pytest.LogCaptureFixture) -> None:
    program = garblet.load("lib:intersection-sum(4,4,32,32)")
    with pytest.raises(garblet.InputError) as caught:
        program.evaluate(a=[1], b=value)
    assert words in str(caught.value) and (hint is None or hint in str(caught.value.hint))
    told = [str(caught.value), str(caught.value.hint), *caplog.messages]
    cause = caught.value.__context__
    while cause is not None:
        told += [repr(cause), repr(vars(cause)), repr(getattr(cause, "object", ""))]
        cause = cause.__context__
    for text in told:
        assert "anna" not in text and "bob" not in text and "271828" not in text


def test_names_of_columns_that_are_too_many_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    program = garblet.load("lib:intersection-sum(4,4,32,32)")
    columns = {"key": [1], "value": [2], "anna@example.com": [3]}
    for b in (columns, pytest.importorskip("pandas").DataFrame(columns)):
        assert program.evaluate(a=[1], b=b)["sum"] == 2
    assert len(caplog.messages) == 2 and "anna" not in caplog.text


def test_columns_of_pandas_in_a_mapping_have_one_index() -> None:
    pandas = pytest.importorskip("pandas")
    program = garblet.load("lib:intersection-sum(4,4,32,32)")
    keys, values = pandas.Series([1, 2]), pandas.Series([20, 10], index=[1, 0])
    with pytest.raises(garblet.InputError, match="input `b`: expected columns with one index"):
        program.evaluate(a=[1], b={"key": keys, "value": values})
    for b in (pandas.DataFrame({"key": keys, "value": values}), {"key": keys, "value": pandas.Series([10, 20])}):
        assert program.evaluate(a=[1], b=b)["sum"] == 10
    assert program.evaluate(a=[1], b={"key": keys.to_numpy(), "value": values})["sum"] == 20


@pytest.mark.parametrize("value", [1 + 2**-24, 1 + 3 * 2**-24, 0.1, 2**-149 * 0.5, 2**-149 * 0.75, 2**-126 - 2**-151, 16777217.0, -1 - 2**-24 - 2**-40, 3.4e38])
def test_a_float_is_rounded_once_to_f32(value: float) -> None:
    expected = float(np.float32(value))
    for given in (value, np.float64(value)):
        assert through("f32", given) == expected
        assert through("[(f32, f64); 1]", [(given, given)]) == [(expected, value)]
    assert through("[f32; 2]", np.array([value, 1.0])) == [expected, 1.0]


@pytest.mark.parametrize(("type", "digits", "least"), [("f16", 11, -24), ("bf16", 8, -133)])
def test_a_float_is_rounded_once_to_a_short_format(type: str, digits: int, least: int) -> None:
    values = [1.0, 0.1, -0.0, 2.0**least, 1 + 2.0**-digits, 1 + 3 * 2.0**-digits, 2.0**least / 2, 2.0**least * 0.75, 1e-300, -7.25e-5, 64000.0]
    values += [sign * (1 + 2.0**-digits) * 2.0**power * (1 + step * 2.0**-52) for sign in (1, -1) for power in range(-14, 15) for step in (-1, 0, 1)]
    for value in values:
        last = Fraction(2) ** max(math.frexp(value)[1] - digits, least)
        expected = float(round(Fraction(value) / last) * last)
        assert [through(type, given) for given in (value, np.float64(value))] == [expected, expected]
        assert math.copysign(1, through(type, value)) == math.copysign(1, value)
    assert through(f"[{type}; 2]", np.array([0.5, -3.0], dtype=np.float16)) == [0.5, -3.0]
    # The command shows this one as 10010.0, which reads back the same.
    assert through("f16", 10010.0) == 10008.0
    for text in ("NaN", "inf"):
        assert str(through(type, text)) == text.lower()
    for large in (1e39, 1.7976931348623157e308):
        with pytest.raises(garblet.InputError, match="out of range"):
            through(type, large)


def test_records_without_names_are_refused() -> None:
    program = garblet.load("lib:intersection-sum(4,4,32,32)")
    rows = np.array([(1, 2), (3, 4)], dtype=[("value", "u4"), ("key", "u4")])
    for value in (rows, [(1, 2), (3, 4)], [[1, 2]], [(1, 2)]):
        with pytest.raises(garblet.InputError, match=r"input `b`\[0\]: expected a record of key, value, got a (tuple|list)") as caught:
            program.evaluate(a=[1], b=value)
        assert "a dictionary" in str(caught.value.hint)


def test_decimals_have_the_advice_of_their_type() -> None:
    for type, hint in [("f64", "float(value)"), ("f32", "float(value)"), ("u8", "int(value), if it is whole")]:
        with pytest.raises(garblet.InputError, match="got a Decimal") as caught:
            through(type, Decimal(3))
        assert caught.value.hint == hint


def test_frames_of_polars_that_are_lazy_and_wide_words() -> None:
    polars = pytest.importorskip("polars")
    assert through("[u32; 2]", polars.Series([1, 2], dtype=polars.Int128)) == [1, 2]
    with pytest.raises(garblet.InputError, match="got a LazyFrame") as caught:
        garblet.load("lib:intersection-sum(4,4,32,32)").evaluate(a=[1], b=polars.DataFrame({"key": [1], "value": [2]}).lazy())
    assert caught.value.hint == "value.collect()"


def test_rows_of_whole_numbers_are_written_as_others_are() -> None:
    program = garblet.load("lib:intersection-sum(3,3,16,16)")
    columns = {"key": [5, 7], "value": [1, 2]}
    at_once = encode(list(program.inputs), {"a": [5, 7], "b": columns})
    one_by_one = encode(list(program.inputs), {"a": (5, np.int64(7)), "b": [{"key": np.int8(5), "value": 1}, {"key": 7, "value": 2}]})
    assert at_once == one_by_one == encode(list(program.inputs), {"a": np.array([5, 7]), "b": {name: np.array(column) for name, column in columns.items()}})
    for wrong, words in (({**columns, "value": [1, 2**9000]}, "more than 8192 bits"), ({**columns, "value": [1, True]}, "expected u16"), ({**columns, "key": [5, -7]}, "out of range")):
        with pytest.raises(garblet.InputError, match=words):
            program.evaluate(a=[5], b=wrong)
    with pytest.raises(garblet.InputError, match="got more elements than that has bits"):
        program.evaluate(a=list(range(70_000)), b=columns)
