"""What functions of secrets have in place of branches and loops: each function is also called with plain values, which is the reference answer."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

import garblet
import numpy as np
import pytest
from garblet import trace


def noted(kept: list[Any], value: Any) -> Any:
    """The value, which it also keeps."""
    kept.append(value)
    return value


def check(traced: Callable[..., Any], types: dict[str, str], *rows: dict[str, Any]) -> garblet.Program:
    """Compares a program with the function of plain values."""
    program = garblet.compile(trace.source(traced, types))
    for row in rows:
        expected = traced(**row)
        found = list(program.evaluate(**row).values())
        assert found == (list(expected) if isinstance(expected, tuple) else [expected])
    return program


def test_extremes_and_roots() -> None:
    def work(a: Any, b: Any) -> Any:
        top = garblet.max(list(a)) if isinstance(a, list) else garblet.max(a)
        return top, garblet.min(a), garblet.max(a[0], b, 3), garblet.min(-2, b), abs(b)

    check(work, {"a": "[i16; 4]", "b": "i16"}, {"a": [5, -7, 32767, 0], "b": -9}, {"a": [-32768, -1, -1, -5], "b": 4})
    check(lambda a, b: garblet.sqrt(a) + b, {"a": "u32", "b": "u32"}, *({"a": a, "b": 1} for a in (0, 1, 15, 16, 2**32 - 2)))


def test_sorting_is_pythons() -> None:
    rng = random.Random("sorting")
    rows = [[rng.choice([0, 1, 2, 65535]) for _ in range(7)] for _ in range(6)]

    def work(a: Any, b: Any) -> Any:
        pairs = garblet.rows(list(a), [x % 2 == b for x in a], [x * 0 + k for k, x in enumerate(a)])
        by = garblet.sorted(pairs, key=lambda row: (row[1], row[0]), reverse=True)
        return (
            *(garblet.sorted(a), garblet.sorted(a, reverse=True), garblet.sorted(pairs)),
            *(garblet.sorted(pairs, key=lambda row: row[0] % 3), by),
        )

    check(work, {"a": "[u16; 7]", "b": "u16"}, *({"a": row, "b": 1} for row in rows))


def test_loops_stay_loops() -> None:
    def work(a: Any, b: Any) -> Any:
        def step(state: Any, x: Any, k: Any) -> Any:
            before, rises, total = state
            return x, rises + garblet.where(x > before, 1, garblet.known(0, "u32")), total + x * k.astype("u32") if hasattr(k, "astype") else total + x * k

        last, rises, total = garblet.loop(step, (b, garblet.known(0, "u32"), b - b), a, range(2, 302))
        return last, rises, total

    program = check(work, {"a": "[u32; 300]", "b": "u32"}, {"a": [(k * 37) % 101 for k in range(300)], "b": 50})
    assert trace.source(work, {"a": "[u32; 300]", "b": "u32"}).count("\n") < 25 and program.and_gates > 300
    # Names of a state that change places.
    swap = check(lambda a, b: garblet.loop(lambda state, _: (state[1], state[0] + state[1]), (a, b), range(7)), {"a": "u16", "b": "u16"}, {"a": 2, "b": 3})
    assert swap.evaluate(a=1, b=1)["out0"] == 21


def test_loops_that_are_over_have_no_values() -> None:
    def leaks(a: Any, b: Any) -> Any:
        kept: list[Any] = []
        garblet.map(lambda x: noted(kept, x), a)
        return kept[0] + b

    def state(a: Any, b: Any) -> Any:
        kept: list[Any] = []
        garblet.loop(lambda s, x: noted(kept, s + x), b, a)
        return garblet.where(kept[0] > 1, b, b)

    for wrong in (leaks, state):
        with pytest.raises(TypeError, match="was made in a loop that is over"):
            trace.source(wrong, {"a": "[u8; 3]", "b": "u8"})
    for loop, words in [
        (lambda a, b: garblet.loop(lambda s, x: s + x, b, a, a[1:]), "of one length"),
        (lambda a, b: garblet.loop(lambda s, x: s + x, b, range(0, 9, 2)), "of step 1"),
        (lambda a, b: garblet.loop(lambda s: s, b), "columns or a range"),
        (lambda a, b: garblet.loop(lambda s, x: s.astype("u16"), b, a), "expected u8, got u16"),
    ]:
        with pytest.raises(TypeError, match=words):
            trace.source(loop, {"a": "[u8; 3]", "b": "u8"})


def test_a_secret_index_takes_every_element() -> None:
    for type in ("u8", "i8", "u64", "i64"):
        program = garblet.compile(trace.source(lambda a, k: (a[k], a.replaced(k, 7), a.replaced(1, a[2])), {"a": "[u16; 3]", "k": type}))
        for k in range(3):
            changed = [1, 20, 300]
            changed[k] = 7
            assert program.evaluate(a=[1, 20, 300], k=k) == {"out0": [1, 20, 300][k], "out1": changed, "out2": [1, 300, 300]}
        # Python would count a negative index from the end; a wide one must not wrap around.
        for k in [3, 127, *([-1, -3] if type[0] == "i" else []), *([2**32, 2**32 + 1] if type[1:] == "64" else [])]:
            with pytest.raises(garblet.Panicked):
                program.evaluate(a=[1, 20, 300], k=k)


def test_the_cost_of_a_secret_index_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "garblet")
    trace.source(lambda a, k: a[k], {"a": "[u32; 1000]", "k": "u16"})
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("test_functions.py:") and caplog.messages[0].endswith("a secret index among 1000 elements takes about 32,000 AND gates")


def test_fixed_point_numbers() -> None:
    program = garblet.compile(trace.source(lambda a, b: (a / b, a * 1.5 + b, a > 0.1, a % b), {"a": "fixed<8, 8>", "b": "fixed<8, 8>"}))
    assert program.evaluate(a=-1, b=3) == {"out0": Decimal(-86) / 256, "out1": Decimal("1.5"), "out2": False, "out3": 2}
    for wrong, words in [
        (lambda a, b: a // b, "write / for fixed-point numbers"),
        (lambda a, b: a & b, "have bits"),
        (lambda a, b: a.astype("u8"), "math.floor"),
        (lambda a, b: float(a), "Declare it as fixed"),
    ]:
        with pytest.raises(TypeError, match=words):
            trace.source(wrong, {"a": "fixed<8, 8>", "b": "fixed<8, 8>"})
    for wrong, words in [
        (lambda a, b: a / b, "Write // for whole numbers"),
        (lambda a, b: 5 / a, "Write // for whole numbers"),
        (lambda a, b: -a, r'.astype\("i16"\)'),
        (lambda a, b: ~a, r"Write a \^ 255"),
        (lambda a, b: (a > b) + 1, "convert it to a number"),
        (lambda a, b: (a > b) < (b > a), "convert it to a number"),
        (lambda a, b: a << b, "known number of bits"),
        (lambda a, b: a.astype("bool"), "write x != 0"),
        (lambda a, b: max(a, b), "garblet.max"),
        (lambda a, b: sorted([a, b]), "garblet.sorted"),
        (lambda a, b: int(a), "is no index|int()"),
    ]:
        with pytest.raises(TypeError, match=words):
            trace.source(wrong, {"a": "u8", "b": "u8"})
    tenth = garblet.compile(trace.source(lambda a: (a + np.float64(0.1), a + 0.1, a + Decimal("0.1")), {"a": "fixed<8, 60>"}))
    assert {Fraction(found) for found in tenth.evaluate(a=0).values()} == {Fraction(round(Fraction(1, 10) * 2**60), 2**60)}
    with pytest.raises(ZeroDivisionError):
        trace.source(lambda a: a // 0, {"a": "u8"})
    with pytest.raises(OverflowError, match="8.5 is no fixed<4, 4>"):
        trace.source(lambda a: a + 8.5, {"a": "fixed<4, 4>"})


@dataclass
class Offer:
    id: garblet.u16
    price: garblet.u32


def test_records_are_dataclasses() -> None:
    @dataclass
    class Pair:
        offer: Offer
        marks: Annotated[Any, "(bool, bool)"]

    @garblet.function
    def best(ours: "[Offer; 3]", theirs: Offer) -> Any:  # type: ignore[valid-type] # noqa: F722
        found = garblet.loop(lambda best, offer: garblet.where(offer.price < best.price, offer, best), theirs, ours)
        ordered = garblet.sorted(ours, key=lambda offer: offer.price)
        return found, Pair(Offer(found.id + 1, found.price), (ordered[0].id > 1, ordered[2].id > 1)), [offer.id for offer in ours][1]

    with pytest.raises(TypeError, match="return a dataclass"):
        trace.source(lambda a: {"a": a}, {"a": "u8"})
    values = {"ours": [{"id": 1, "price": 90}, {"id": 2, "price": 50}, {"id": 3, "price": 70}], "theirs": {"id": 9, "price": 60}}
    assert best.evaluate(**values)["out0"] == {"id": 2, "price": 50}
    assert best.evaluate(**values)["out2"] == 2


def test_records_whose_fields_stand_in_another_order_are_the_same_program() -> None:
    def made(flipped: bool) -> garblet.Program:
        order = [("at", garblet.u16), ("name", garblet.u8)]
        Pair = dataclasses.make_dataclass("Pair", order[::-1] if flipped else order)
        return garblet.compile(trace.source(lambda a, b: (a.at > b.at, Pair(name=a.name, at=b.at)), {"a": Pair, "b": Pair}))

    one, other = made(False), made(True)
    assert one.digest == other.digest
    values = {"a": {"at": 300, "name": 2}, "b": {"name": 5, "at": 7}}
    assert one.evaluate(**values) == other.evaluate(**values) == {"out0": True, "out1": {"at": 7, "name": 2}}
    # A record is told by its names, never by a place.
    with pytest.raises(garblet.InputError):
        one.evaluate(a=(300, 2), b=(7, 5))


def test_lists_grow_and_have_a_secret_length() -> None:
    def work(a: Any, least: Any) -> Any:
        def step(found: Any, x: Any) -> Any:
            found.append(x * 2, when=x > least)
            return found

        found = garblet.loop(step, garblet.keep(a > 250, a), a)
        kept = garblet.keep(a > least, a)
        return found, found.length(), kept, kept.sum(), garblet.sorted(kept), kept[-1], kept[least - least]

    program = garblet.compile(trace.source(work, {"a": "[u16; 5]", "least": "u16"}))
    assert list(program.evaluate(a=[9, 3, 7, 1, 5], least=4).values()) == [[18, 14, 10], 3, [9, 7, 5], 21, [5, 7, 9], 5, 9]
    with pytest.raises(garblet.Panicked):
        program.evaluate(a=[1, 2, 3, 4, 4], least=4)
    for wrong, words in [
        (lambda a, b: len(a), r"\.length\(\)"),
        (lambda a, b: [x for x in a], "garblet.loop"),
        (lambda a, b: b if a else b, "compare .length"),
    ]:
        with pytest.raises(TypeError, match=words):
            trace.source(wrong, {"a": "[u8; ..3]", "b": "u8"})
    given = garblet.compile(trace.source(lambda a, b: (garblet.loop(lambda s, x: s + x, b, a), a), {"a": "[u8; ..3]", "b": "u8"}))
    assert given.evaluate(a=[4, 5], b=1) == {"out0": 10, "out1": [4, 5]}
    assert garblet.keep([True, False], [1, 2]) == [1]


def test_joins_take_rows_in_any_order_and_each_key_once() -> None:
    def work(a: Any, b: Any) -> Any:
        return garblet.join(a, b)

    types = {"a": "[(u8, u16); 3]", "b": "[(u8, bool); 2]"}
    program = check(work, types, {"a": [(9, 1), (3, 2), (5, 3)], "b": [(5, True), (9, False)]}, {"a": [(9, 1), (3, 2), (5, 3)], "b": [(4, True), (0, False)]})
    for a, b in [([(9, 1), (3, 2), (9, 3)], [(5, True), (9, False)]), ([(9, 1), (3, 2), (8, 3)], [(5, True), (5, False)])]:
        with pytest.raises(garblet.Panicked):
            program.evaluate(a=a, b=b)
        with pytest.raises(ArithmeticError):
            work(a, b)


def test_a_function_that_another_calls_is_written_once() -> None:
    @garblet.function
    def fee(amount: garblet.u32, rate: garblet.u32) -> Any:
        return amount * rate // 100

    @garblet.function
    def twice(amount: garblet.u32, rate: garblet.u32) -> Any:
        return fee(amount, rate) + fee(amount, 3)

    @garblet.function
    def total(a: "[u32; 4]", rate: garblet.u32) -> Any:  # type: ignore[valid-type] # noqa: F722
        return garblet.map(lambda amount: twice(amount, rate=rate), a).sum() + fee(7, rate)

    text = trace.source(total._traced, {"a": "[u32; 4]", "rate": "u32"})
    assert text.count("fn f0_fee") == 1 and text.count("fn f1_twice") == 1 and text.count("f0_fee(") == 4
    assert fee(1000, 5) == 50
    expected = sum(x * 5 // 100 + x * 3 // 100 for x in (100, 200, 300, 400)) + 7 * 5 // 100
    assert total.evaluate(a=[100, 200, 300, 400], rate=5)["out0"] == expected
    with pytest.raises(TypeError, match="missing a required argument"):
        trace.source(lambda a: fee(a), {"a": "u32"})
    with pytest.raises(TypeError, match="expected u32, got u8"):
        trace.source(lambda a: fee(a, 1), {"a": "u8"})


def test_errors_name_the_line_of_python() -> None:
    @garblet.function
    def work(a: garblet.u8, b: garblet.u8) -> Any:
        c = a * 2
        return c + b

    line = inspect.getsourcelines(work._traced)[1] + 2
    with pytest.raises(garblet.Panicked) as caught:
        work.evaluate(a=200, b=1)
    assert caught.value.__notes__[-1] == f"in Python at test_functions.py:{line}"
    with pytest.raises(garblet.Panicked) as caught:
        garblet.run_local(work, [{"a": 100}, {"b": 100}])
    assert caught.value.__notes__[-1] == f"in Python at test_functions.py:{line + 1}"
    with pytest.raises(garblet.CompileError) as wrong:
        trace.compiled(trace.trace(lambda a: a + 1 - a, {"a": "u8"}), "work", effort=1)
    assert any(note.startswith("in Python at") for note in wrong.value.__notes__)


def test_printing_a_secret_tells_its_type_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    def work(a: Any, b: Any, of: Any) -> Any:
        print(a + 77, [a][0] is a, of, b)
        return a + b

    line = inspect.getsourcelines(work)[1] + 1
    trace.source(work, {"a": "u16", "b": "u16", "of": "[bool; ..4]"})
    said = capsys.readouterr().out
    assert said.startswith(f"<secret u16, test_functions.py:{line}> True <secret [bool; ..4], ") and "77" not in said


def test_values_that_are_known_have_a_type_where_they_need_one() -> None:
    program = garblet.compile(trace.source(lambda a, b: garblet.where(a > b, garblet.known(-1, "i8"), 1), {"a": "u8", "b": "u8"}))
    assert [program.evaluate(a=a, b=3)["out0"] for a in (4, 3)] == [-1, 1]
    table = garblet.compile(trace.source(lambda k, b: garblet.known([5, 7, 9], "[u8; 3]")[k] + b, {"k": "u8", "b": "u8"}))
    assert table.evaluate(k=2, b=1)["out0"] == 10
    assert garblet.known(3, "u8") == 3
    with pytest.raises(TypeError, match="garblet.known"):
        trace.source(lambda a, b: garblet.where(a > b, 1, 0), {"a": "u8", "b": "u8"})


def test_types_that_the_language_does_not_have_are_told() -> None:
    for wrong in ["u0", "u4097", "fixed<8>", "fixed<0, 4>", "fixed<100, 100>", "[u8]", "[u8; x]", "(u8", "u8 u8", "", "Missing", "[u8; 2"]:
        with pytest.raises(garblet.UsageError, match="is not a type of the language"):
            trace.source(lambda a: a, {"a": wrong})


def test_arrays_of_numpy_beside_secrets() -> None:
    program = garblet.compile(trace.source(lambda a, b: (a // 3, a % b, abs(-(a.sum().astype("i32"))), a - np.array([1, 1, 1])), {"a": "[u16; 3]", "b": "u16"}))
    assert list(program.evaluate(a=[7, 8, 9], b=4).values()) == [[2, 2, 3], [3, 0, 1], 24, [6, 7, 8]]


@pytest.mark.parametrize(
    ("expression", "type", "gates"),
    [("a // b", "i32", 903), ("a % b", "i32", 936), ("a // 8", "i32", 0), ("a % 8", "i32", 0), ("a.astype('i64')", "u32", 0)],
)
def test_what_the_book_says_that_it_costs(expression: str, type: str, gates: int) -> None:
    source = trace.source(lambda a, b: eval(expression, {}, {"a": a, "b": b}), {"a": type, "b": type})
    assert garblet.compile(source).and_gates == gates
