"""Functions of Python as programs, against the same functions of plain numbers."""

from __future__ import annotations

from typing import Any

import garblet
import numpy as np
import pytest
from garblet import trace


def test_a_function_costs_what_its_source_costs() -> None:
    @garblet.function
    def auction(a: garblet.u32, b: garblet.u32) -> Any:
        return garblet.where(a > b, a, b)

    by_hand = garblet.compile("pub fn main(a: u32, b: u32) -> u32 { if a > b { a } else { b } }")
    assert (auction.name, auction.and_gates) == ("auction", by_hand.and_gates)
    assert auction.evaluate(a=7, b=9) == {"out0": 9}
    assert [r["out0"] for r in garblet.run_local(auction, [{"a": 7}, {"b": 9}])] == [9, 9]


@pytest.mark.parametrize(
    "expression",
    ["a + b", "a - b", "b - 1", "a * b", "a // b", "a % b", "a & b", "a | b", "a ^ 5", "3 + a", "250 - a", "a * 2", "200 // a"]
    + ["a < b", "a <= b", "a > 9", "a >= b", "a == b", "a != b", "~(a == b)", "(a > 3) & (b > 3)"],
)
def test_operators_are_those_of_numbers(expression: str) -> None:
    def traced(a: Any, b: Any) -> Any:
        return eval(expression, {}, {"a": a, "b": b})

    program = garblet.compile(trace.source(traced, {"a": "u8", "b": "u8"}))
    for a, b in [(9, 4), (77, 3), (4, 4)]:
        expected = traced(a, b)
        # Python negates Booleans differently.
        expected = expected & 1 if expression.startswith("~") else expected
        assert program.evaluate(a=a, b=b)["out0"] == expected


def test_arrays_have_inner_products_and_sums() -> None:
    def work(a: Any, b: Any) -> Any:
        return a @ b, (a + b).sum(), (a * 2 - b)[1:], (a > b).sum(), a @ np.array([1, 2, 3])

    program = garblet.compile(trace.source(work, {"a": "[u32; 3]", "b": "[u32; 3]"}))
    a, b = np.array([5, 7, 9], dtype=np.uint32), np.array([1, 8, 3], dtype=np.uint32)
    assert program.evaluate(a=a, b=b) == {
        "out0": int(a @ b),
        "out1": int((a + b).sum()),
        "out2": [6, 15],
        "out3": 2,
        "out4": 5 + 14 + 27,
    }


def test_matrices_are_multiplied() -> None:
    def work(a: Any, b: Any) -> Any:
        return a @ b

    program = garblet.compile(trace.source(work, {"a": "[[u16; 3]; 2]", "b": "[[u16; 2]; 3]"}))
    a, b = np.arange(6, dtype=np.uint16).reshape(2, 3), np.arange(6, dtype=np.uint16).reshape(3, 2)
    assert program.evaluate(a=a, b=b)["out0"] == (a @ b).tolist()


def test_choices_are_made_element_by_element() -> None:
    def spread(a: Any, b: Any) -> Any:
        return garblet.where(a > b, a, 0)

    program = garblet.compile(trace.source(spread, {"a": "[i16; 2]", "b": "i16"}))
    assert program.evaluate(a=[5, -3], b=-1)["out0"] == [5, 0]


def test_conversions_are_written() -> None:
    program = garblet.compile(trace.source(lambda a, b: a.astype("u16") + b, {"a": "u8", "b": "u16"}))
    assert program.evaluate(a=255, b=1)["out0"] == 256


def test_a_secret_decides_nothing() -> None:
    def branch(a: Any, b: Any) -> Any:
        return a if a > b else b

    for wrong, words in [
        (branch, "garblet.where"),
        (lambda a, b: a if a and b else b, "garblet.where"),
        (lambda a, b: a if 1 < a < 5 else b, "garblet.where"),
        (lambda a, b: [1, 2, 3][a], "garblet.where"),
        (lambda a, b: a + b.astype("u16"), "expected two of one type, got u8 and u16"),
        (lambda a, b: garblet.where(a, a, b), "expected a condition, got u8"),
        (lambda a, b: a + 1.5, "unsupported operand"),
        (lambda a, b: 7, "depends on an input"),
    ]:
        with pytest.raises(TypeError, match=words):
            trace.source(wrong, {"a": "u8", "b": "u8"})
    with pytest.raises(OverflowError, match="300 is no u8"):
        trace.source(lambda a, b: a + 300, {"a": "u8", "b": "u8"})
    with pytest.raises(ValueError, match="of one length, got 2 and 3"):
        trace.source(lambda a, b: a + b, {"a": "[u8; 2]", "b": "[u8; 3]"})


def test_parameters_have_types() -> None:
    with pytest.raises(garblet.UsageError, match="parameter `a` has no type of the language"):
        garblet.function(lambda a: a)
    with pytest.raises(garblet.UsageError, match="is not a type of the language"):
        trace.source(lambda a: a, {"a": "float"})


def test_parameters_are_inputs_and_nothing_else() -> None:
    def with_default(a: garblet.u32, rate: garblet.u32 = 3) -> Any:  # type: ignore[assignment]
        return a * rate

    def several(*a: garblet.u32) -> Any:
        return a[0]

    def named(**a: garblet.u32) -> Any:
        return a["a"]

    def nameless(a: garblet.u32, /, b: garblet.u32) -> Any:
        return a + b

    def at_rate(rate: int) -> garblet.Program:
        @garblet.function
        def fee(a: garblet.u32, b: garblet.u32) -> Any:
            return (a + b) * rate

        program: garblet.Program = fee
        return program

    cases: list[tuple[Any, str]] = [
        (with_default, "parameter `rate` has a default value"),
        (several, r"parameter `\*a: .*` stands for several"),
        (named, r"parameter `\*\*a: .*` stands for several"),
        (nameless, "parameter `a` is taken by place alone"),
    ]
    for wrong, words in cases:
        with pytest.raises(garblet.UsageError, match=words) as caught:
            garblet.function(wrong)
        assert caught.value.hint
    assert at_rate(3).evaluate(a=2, b=5) == {"out0": 21}


@pytest.mark.parametrize("wrong", ["m + v", "v + m", "m * [1, 2]", "m == v", "m - m[0]", "np.array([1, 2]) + m", "v + np.array([[1, 2], [3, 4]])"])
def test_a_matrix_with_a_vector_is_refused(wrong: str) -> None:
    def traced(m: Any, v: Any) -> Any:
        return eval(wrong, {}, {"m": m, "v": v, "np": np})

    with pytest.raises(ValueError, match="of as many dimensions, got . and .: to take a vector for each row"):
        trace.source(traced, {"m": "[[u8; 2]; 2]", "v": "[u8; 2]"})


@pytest.mark.parametrize("wrong", ["where(v > 1, m, 0)", "where(v > 1, v, m)", "where(m > 1, v, 0)", "where(v[0] > 1, m, v)"])
def test_a_choice_between_a_matrix_and_a_vector_is_refused(wrong: str) -> None:
    def traced(m: Any, v: Any) -> Any:
        return eval(wrong, {}, {"m": m, "v": v, "where": garblet.where})

    with pytest.raises(ValueError, match="of as many dimensions"):
        trace.source(traced, {"m": "[[u8; 2]; 2]", "v": "[u8; 2]"})


def test_arrays_of_one_shape_and_single_values_are_taken() -> None:
    def work(m: Any, v: Any) -> Any:
        by_row = garblet.SecretArray([row + v for row in m])
        return m * 2 + [[1, 2], [3, 4]], m + v[0], garblet.where(v[0] > 1, m, 0), garblet.where(m > 2, m + m, 0), by_row

    m, v = np.array([[1, 2], [3, 4]]), np.array([2, 3])
    program = garblet.compile(trace.source(work, {"m": "[[u8; 2]; 2]", "v": "[u8; 2]"}))
    expected = (m * 2 + [[1, 2], [3, 4]], m + v[0], m, np.where(m > 2, m + m, 0), m + v)
    assert list(program.evaluate(m=m.tolist(), v=v.tolist()).values()) == [array.tolist() for array in expected]


def test_rows_of_lists_are_rows() -> None:
    def work(m: Any, v: Any) -> Any:
        (a, b), (c, d) = m
        lists = garblet.SecretArray([[a, b], [c, d]])
        return lists * 2, lists + lists, lists + ((1, 2), (3, 4)), lists @ [[1, 0], [2, 1]], [[1, 0], [2, 1]] @ lists, lists @ v, lists.sum()

    m = np.array([[1, 2], [3, 4]])
    known = np.array([[1, 0], [2, 1]])
    program = garblet.compile(trace.source(work, {"m": "[[u8; 2]; 2]", "v": "[u8; 2]"}))
    expected = (m * 2, m + m, m + m, m @ known, known @ m, m @ np.array([2, 3]), m.sum())
    assert list(program.evaluate(m=m.tolist(), v=[2, 3]).values()) == [array.tolist() for array in expected]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    "expression",
    ["m + frame", "m * frame", "m == frame", "m @ frame", "v + column", "v @ column", "m @ column", "v @ frame", "where(m > 2, m + frame, m)"]
    + ["m + array(frame)", "v @ array(frame)", "array(frame) @ m", "where(m > 2, array(frame), m)", "v + array(column)"],
)
def test_frames_are_their_rows(library: str, expression: str) -> None:
    module = pytest.importorskip(library)
    table = np.array([[5, 6], [7, 9]], dtype=np.uint8)
    columns = {"x": table[:, 0], "y": table[:, 1]}
    frame = {"pandas": lambda: module.DataFrame(table), "polars": lambda: module.DataFrame(columns), "pyarrow": lambda: module.table(columns)}[library]()
    column = frame[1] if library == "pandas" else frame["y"]

    def traced(m: Any, v: Any) -> Any:
        return eval(expression, {}, {"m": m, "v": v, "frame": frame, "column": column, "where": garblet.where, "array": garblet.SecretArray})

    m, v = np.array([[1, 2], [3, 4]]), np.array([2, 3])
    expected = eval(expression, {}, {"m": m, "v": v, "frame": table, "column": table[:, 1], "where": np.where, "array": np.array})
    program = garblet.compile(trace.source(traced, {"m": "[[u8; 2]; 2]", "v": "[u8; 2]"}))
    assert program.evaluate(m=m.tolist(), v=v.tolist())["out0"] == expected.tolist()


@pytest.mark.parametrize(
    "expression",
    ["frame + m", "frame * m", "frame - m", "frame == m", "frame < m", "frame @ m", "frame @ v", "column + v", "column @ v", "column @ m"],
)
def test_frames_leave_operators_to_arrays_of_secrets(expression: str) -> None:
    pandas = pytest.importorskip("pandas")
    table = np.array([[9, 6], [7, 9]], dtype=np.uint8)
    frame = pandas.DataFrame(table)

    def traced(m: Any, v: Any) -> Any:
        return eval(expression, {}, {"m": m, "v": v, "frame": frame, "column": frame[1]})

    m, v = np.array([[1, 2], [3, 4]]), np.array([2, 3])
    expected = eval(expression, {}, {"m": m, "v": v, "frame": table, "column": table[:, 1]})
    program = garblet.compile(trace.source(traced, {"m": "[[u8; 2]; 2]", "v": "[u8; 2]"}))
    assert program.evaluate(m=m.tolist(), v=v.tolist())["out0"] == expected.tolist()


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "pyarrow"])
def test_times_are_no_operand(library: str) -> None:
    module = pytest.importorskip(library)
    array = np.array(["2020-01-01", "2020-01-02"], "datetime64[ns]")
    made = getattr(module, {"numpy": "asarray", "pyarrow": "array"}.get(library, "Series"))
    other = made(array)
    with pytest.raises(TypeError, match="got times"):
        trace.source(lambda a: a + other, {"a": "[u64; 2]"})


@pytest.mark.parametrize("other", [{3, 1}, frozenset([3, 1]), {3: 1, 1: 3}])
@pytest.mark.parametrize("expression", ["a + other", "a @ other", "other @ a", "a == other", "array(other)", "array([other, other])", "a[0] + array(other)"])
def test_what_has_no_order_is_no_operand(other: Any, expression: str) -> None:
    with pytest.raises(TypeError, match="whose elements have no place"):
        trace.source(lambda a: eval(expression, {}, {"a": a, "other": other, "array": garblet.SecretArray}), {"a": "[u8; 2]"})


@pytest.mark.parametrize("expression", ["a + 'ab'", "a @ 'ab'", "'ab' @ a", "a == 'ab'", "array('ab')", "array(['a', 'b'])"])
def test_text_is_no_operand(expression: str) -> None:
    with pytest.raises(TypeError, match="expected numbers, got text"):
        trace.source(lambda a: eval(expression, {}, {"a": a, "array": garblet.SecretArray}), {"a": "[u8; 2]"})


@pytest.mark.parametrize("of", [bytes, bytearray, memoryview, np.frombuffer, list, tuple], ids=lambda of: of.__name__)
@pytest.mark.parametrize("expression", ["a + known", "known + a", "a @ known", "known @ a", "a + array(known)", "array([a, known]) @ a"])
def test_bytes_are_an_array_of_numbers(of: Any, expression: str) -> None:
    known = of(b"\x05\x07", np.uint8) if of is np.frombuffer else of(b"\x05\x07")

    def traced(a: Any, b: Any) -> Any:
        return eval(expression, {}, {"a": a + b, "known": known, "array": garblet.SecretArray})

    program = garblet.compile(trace.source(traced, {"a": "[u8; 2]", "b": "u8"}))
    expected = eval(expression, {}, {"a": np.array([1, 2]), "known": np.array([5, 7]), "array": np.array})
    assert program.evaluate(a=[0, 1], b=1)["out0"] == expected.tolist()


@pytest.mark.parametrize("known", [[200], np.array([200], dtype=np.uint8), [np.uint8(200)]])
def test_arrays_that_are_known_have_numbers_of_no_width(known: Any) -> None:
    with pytest.raises(OverflowError, match="300 is no u8"):
        trace.source(lambda a: garblet.SecretArray(known) + 100 + a, {"a": "[u8; 1]"})


@pytest.mark.parametrize("expression", ["frame + a", "a + frame", "column + a", "a + column", "frame < a"])
def test_a_frame_with_a_single_secret_is_told(expression: str) -> None:
    frame = pytest.importorskip("pandas").DataFrame([[5, 6], [7, 9]])
    with pytest.raises(TypeError, match="'(DataFrame|Series)'.*'Secret'|'Secret'.*'(DataFrame|Series)'"):
        trace.source(lambda a: eval(expression, {}, {"a": a, "frame": frame, "column": frame[1]}), {"a": "u8"})


def test_an_overflow_of_a_function_is_a_panic() -> None:
    program = garblet.compile(trace.source(lambda a, b: a + b, {"a": "u8", "b": "u8"}))
    with pytest.raises(garblet.Panicked):
        program.evaluate(a=200, b=56)


def test_a_map_is_a_loop() -> None:
    count = 2_000

    @garblet.function
    def fees(a: "[u32; 2000]", rate: garblet.u32) -> Any:  # type: ignore[valid-type] # noqa: F722
        large, fee = garblet.map(lambda amount: (amount > 1_000, garblet.where(amount > 1_000, amount * rate, 0)), a)
        return fee.sum(), large.sum(), fee[7]

    values = np.arange(count, dtype=np.uint32)
    expected = int((values[values > 1_000] * 3).sum())
    assert fees.evaluate(a=values, rate=3) == {"out0": expected, "out1": 999, "out2": 0}
    by_hand = garblet.compile(
        f"pub fn main(a: [u32; {count}], rate: u32) -> (u32, u32, u32) {{ let mut fee = [0u32; {count}]; let mut large = [false; {count}];"
        f"for k in 0usize..{count}usize {{ let l = a[k] > 1000u32; large[k] = l; fee[k] = if l {{ a[k] * rate }} else {{ 0u32 }}; }}"
        f"let mut f = 0u32; let mut n = 0u32; for k in 0usize..{count}usize {{ f = f + fee[k]; n = n + (large[k] as u32); }} (f, n, fee[7]) }}"
    )
    assert fees.and_gates <= by_hand.and_gates


def test_maps_take_several_columns_and_one_another() -> None:
    def work(a: Any, b: Any) -> Any:
        sums = garblet.map(lambda x, y: x + y, a, b)
        return garblet.map(lambda row, s: garblet.map(lambda x: x * s, row).sum(), garblet.SecretArray([a, b]), sums[:2]), (sums * 2).sum()

    text = trace.source(work, {"a": "[u32; 3]", "b": "[u32; 3]"})
    assert text.count("for ") == 4
    assert garblet.compile(text).evaluate(a=[1, 2, 3], b=[4, 5, 6]) == {"out0": [6 * 5, 15 * 7], "out1": 42}


def test_parameters_may_be_called_as_they_like() -> None:
    def work(t0: Any, t1: Any) -> Any:
        return (t0 + t1) * t0 + garblet.map(lambda x: x + t1, garblet.SecretArray([t0])).sum()

    assert garblet.compile(trace.source(work, {"t0": "u32", "t1": "u32"})).evaluate(t0=3, t1=4)["out0"] == 28


def test_wrong_maps_are_told() -> None:
    for wrong, words in [
        (lambda a, b: garblet.map(lambda x: x, b), "expected secret arrays of one length"),
        (lambda a, b: garblet.map(lambda x: x, a, a[1:]), "expected secret arrays of one length"),
        (lambda a, b: garblet.map(lambda x: 7, a), "depends on an input"),
        (lambda a, b: garblet.map(lambda x: x, garblet.SecretArray([1])), "expected an array of secrets"),
    ]:
        with pytest.raises(TypeError, match=words):
            trace.source(wrong, {"a": "[u8; 3]", "b": "u8"})


@pytest.mark.parametrize("compared", ["a == 5.0", "a != None", "a == 'x'", "a == True", "c == 1", "row == 1.0", "row != None", "row == [1, None]", "row == ['x', 1]", "row == [None, 1]"])
def test_what_no_secret_is_compared_with_is_told(compared: str) -> None:
    def traced(a: Any, c: Any, row: Any) -> Any:
        return garblet.where(eval(compared, {}, {"a": a, "c": c, "row": row}), a, -a)

    with pytest.raises(TypeError, match="of one type to compare"):
        trace.source(traced, {"a": "i32", "c": "bool", "row": "[u8; 2]"})


def test_a_secret_of_another_function_is_told() -> None:
    kept: list[Any] = []

    def first(a: Any, b: Any) -> Any:
        kept.append(a + b)
        return a + b

    trace.source(first, {"a": "u8", "b": "u8"})
    for second in (lambda a, b: a + kept[0], lambda a, b: garblet.where(a > b, a, kept[0]), lambda a, b: (a * b, kept[0])):
        with pytest.raises(TypeError, match="a secret of this function, got one of another"):
            trace.source(second, {"a": "u8", "b": "u8"})


def test_an_array_stays_as_it_was_given() -> None:
    def turned(a: Any) -> Any:
        return a.elements.reverse()

    with pytest.raises(AttributeError):
        trace.source(turned, {"a": "[u8; 2]"})
