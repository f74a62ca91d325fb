"""Records and lists that change, functions that are called, and mistakes in loops: what Python computes, or a refusal."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import garblet
import numpy as np
import pytest
from garblet import trace
from garblet.types import rebuilt


@dataclass
class Offer:
    id: garblet.u16
    price: garblet.u32


@dataclass
class Bag:
    items: "[u8; ..4]"  # type: ignore[valid-type] # noqa: F722
    n: garblet.u8


@dataclass(frozen=True)
class Fixed:
    x: garblet.u8
    y: garblet.u8


def put(offer: Any, price: Any) -> Any:
    """Changes the price of an offer."""
    offer.price = price
    return price


def given() -> list[Any]:
    made: Any = Offer
    return [made(**values) for values in GIVEN]


GIVEN = [{"id": 1, "price": 90}, {"id": 2, "price": 50}, {"id": 3, "price": 70}]
NAMES = {"Offer": Offer, "Bag": Bag, "Fixed": Fixed}


def program(traced: Callable[..., Any], **types: str) -> garblet.Program:
    return trace.compiled(trace.trace(traced, types, NAMES), "objects")


def changed(use: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function whose offers change before they are used."""

    def work(offers: Any, x: Any) -> Any:
        for offer in offers:
            offer.price = offer.price - x
        offers[1].id = x.astype("u16") if hasattr(x, "astype") else x
        return use(offers, x)

    return work


USES: dict[str, Callable[[Any, Any], Any]] = {
    "sorted": lambda offers, x: garblet.sorted(offers, key=lambda offer: offer.price)[0].price,
    "returned": lambda offers, x: [(offer.id, offer.price) for offer in offers][1],
    "map": lambda offers, x: garblet.map(lambda offer: offer.price + offer.id, offers) if isinstance(offers, list) else garblet.map(lambda offer: offer.price + offer.id.astype("u32"), offers),
    "loop": lambda offers, x: garblet.loop(lambda most, offer: garblet.max(most, offer.price), x, offers),
    "index": lambda offers, x: offers[x - x + 1].price,
    "where": lambda offers, x: garblet.where(x > 1, offers[1], offers[0]).price,
    "slice": lambda offers, x: garblet.sorted(offers[1:], key=lambda offer: offer.price)[1].price,
    "copy": lambda offers, x: (lambda offer: (put(offer, x), offer.price, offers[0].price)[1:])(copy.copy(offers[0])),
}


@pytest.mark.parametrize("use", USES)
def test_records_of_an_array_change(use: str) -> None:
    work = changed(USES[use])
    found = program(work, offers="[Offer; 3]", x="u32").evaluate(offers=GIVEN, x=40)
    expected = work(given(), 40)
    assert list(found.values()) == (list(expected) if isinstance(expected, tuple) else [expected])


def test_an_array_whose_records_change_is_returned_changed() -> None:
    found = program(changed(lambda offers, x: offers), offers="[Offer; 3]", x="u32").evaluate(offers=GIVEN, x=40)
    assert found["out0"] == [{"id": 1, "price": 50}, {"id": 40, "price": 10}, {"id": 3, "price": 30}]


#: Python has one object here, and a program two: the change would be missed by one.
MISSED: dict[str, Callable[[Any, Any], Any]] = {
    "an index": lambda offers, x: (put(offers[x], x), offers[0].price)[1],
    "what an index chose from": lambda offers, x: (lambda found: (put(offers[0], x), found.price)[1])(offers[x]),
    "a choice": lambda offers, x: (put(garblet.where(x > 1, offers[0], offers[1]), x), offers[0].price)[1],
    "what was chosen from": lambda offers, x: (lambda found: (put(offers[0], x), found.price)[1])(garblet.where(x > 1, offers[0], offers[1])),
    "a choice of arrays": lambda offers, x: (put(garblet.where(x > 1, offers, offers)[0], x), offers[0].price)[1],
    "sorted": lambda offers, x: (put(garblet.sorted(offers, key=lambda offer: offer.price)[0], x), offers[1].price)[1],
    "what was sorted": lambda offers, x: (lambda found: (put(offers[1], x), found[0].price)[1])(garblet.sorted(offers, key=lambda offer: offer.price)),
    "a row of a map": lambda offers, x: (garblet.map(lambda offer: (put(offer, x), offer.price)[1], offers), offers[0].price)[1],
    "a row of a loop": lambda offers, x: (garblet.loop(lambda s, offer: (put(offer, x), s)[1], x, offers), offers[0].price)[1],
    "the state of a loop": lambda offers, x: (garblet.loop(lambda best, offer: (put(best, offer.price), best)[1], offers[0], offers[1:]), offers[0].price)[1],
    "what a loop returns": lambda offers, x: (put(garblet.loop(lambda best, offer: offer, offers[0], offers), x), offers[2].price)[1],
    "an array of a map": lambda offers, x: (put(garblet.map(lambda offer: offer, offers)[0], x), offers[0].price)[1],
    "what was kept": lambda offers, x: (lambda found: (put(offers[1], x), found[0].price)[1])(garblet.keep(garblet.map(lambda offer: offer.price < 60, offers), offers)),
    "what a map appended": lambda offers, x: (lambda found: (garblet.map(lambda o: (found.append(o), o.price)[1], offers), put(offers[0], x), found[0].price)[2])(garblet.keep(garblet.map(lambda o: o.price < x, offers), offers)),
    "what a loop appended": lambda offers, x: (lambda found: (garblet.loop(lambda s, o: (found.append(o), s)[1], x, offers), put(offers[0], x), found[0].price)[2])(garblet.keep(garblet.map(lambda o: o.price < x, garblet.SecretArray([copy.copy(offers[0])])), garblet.SecretArray([copy.copy(offers[0])]))),
    "what was appended": lambda offers, x: (lambda found, own: (found.append(own), put(own, x), found[0].price)[2])(garblet.keep(garblet.SecretArray([x > 1]), garblet.SecretArray([copy.copy(offers[0])])), offers[1]),
    "replaced": lambda offers, x: (put(offers.replaced(x, offers[0])[1], x), offers[1].price)[1],
    "a key": lambda offers, x: garblet.sorted(offers, key=lambda offer: (put(offer, x), offer.price)[1])[0].price,
}


@pytest.mark.parametrize("change", MISSED)
def test_a_change_that_a_copy_would_miss_is_refused(change: str) -> None:
    with pytest.raises(TypeError, match="test_objects.py:.*the field `price` of a record Offer was changed.*dataclasses.replace"):
        program(MISSED[change], offers="[Offer; 3]", x="u32")


def test_a_record_outside_of_a_loop_does_not_change_in_it() -> None:
    def last(offers: Any, x: Any) -> Any:
        seen = Offer(offers[0].id, x)

        def step(state: Any, offer: Any) -> Any:
            state = state + seen.price
            seen.price = offer.price
            return state

        return garblet.loop(step, x, offers)

    assert last(given(), 1) == 1 + 1 + 90 + 50
    with pytest.raises(TypeError, match="keeps something outside of it"):
        program(last, offers="[Offer; 3]", x="u32")


@pytest.mark.parametrize("loop", ["map", "sorted", "loop"])
def test_a_variable_outside_of_a_loop_does_not_change_in_it(loop: str) -> None:
    def counted(offers: Any, x: Any) -> Any:
        count = 0

        def one(offer: Any) -> Any:
            nonlocal count
            count += 1
            return offer.price + count

        return {
            "map": lambda: garblet.map(one, offers)[2],
            "sorted": lambda: garblet.sorted(offers, key=one)[0].price,
            "loop": lambda: garblet.loop(lambda most, offer: garblet.max(most, one(offer)), x, offers),
        }[loop]()

    with pytest.raises(TypeError, match="keeps something outside of it"):
        program(counted, offers="[Offer; 3]", x="u32")


def test_a_list_that_is_the_state_of_a_loop_has_one_name_in_it() -> None:
    def refused(work: Any, words: str) -> None:
        with pytest.raises(TypeError, match=words):
            garblet.function(work)

    def twice(found: "[u8; ..8]", row: "[u8; 3]") -> Any:  # type: ignore[valid-type] # noqa: F722
        def step(state: Any, one: Any) -> Any:
            state[0].append(one)
            return state

        return garblet.loop(step, (found, found), row)

    refused(twice, "the state has one list twice")

    def outside(found: "[u8; ..8]", row: "[u8; 3]") -> Any:  # type: ignore[valid-type] # noqa: F722
        def step(state: Any, one: Any) -> Any:
            state.append(found.length().astype("u8") + one)
            return state

        return garblet.loop(step, found, row)

    refused(outside, "is the state of a loop that is under way")

    @garblet.function
    def inside(found: "[u8; ..8]", row: "[u8; 3]") -> Any:  # type: ignore[valid-type] # noqa: F722
        def step(state: Any, one: Any) -> Any:
            state.append(state.length().astype("u8") + one)
            return state

        return garblet.loop(step, found, row), found.length()

    assert inside.evaluate(found=[1], row=[5, 6, 7]) == {"out0": [1, 6, 8, 10], "out1": 4}


def test_nested_bodies_are_not_called_twice_at_each_level() -> None:
    calls = 0

    @garblet.function
    def work(row: "[u8; 1]", x: garblet.u8) -> Any:  # type: ignore[valid-type] # noqa: F722
        def deep(levels: int, one: Any) -> Any:
            nonlocal calls
            calls += 1
            return one if levels == 0 else garblet.map(lambda other: deep(levels - 1, other), row)[0]

        return deep(10, row[0] + x)

    assert work.evaluate(row=[7], x=1)["out0"] == 7 and calls < 200


def test_a_refused_change_is_undone_and_a_session_goes_on() -> None:
    with garblet.interactive() as mpc:
        offers = mpc.input(0, [{"id": 1, "price": 2}, {"id": 3, "price": 4}], "[Offer; 2]")
        x = mpc.input(1, 1, "u32")
        garblet.where(x > 0, offers[0], offers[1])
        offers[0].price = x
        with pytest.raises(TypeError, match="the field `price` of a record Offer was changed"):
            mpc.reveal(offers[0].price)
        assert mpc.reveal(x) == 1 and mpc.reveal(offers[0].price) == 2


def test_lists_grow_where_they_are() -> None:
    def work(bags: Any, bag: Any, x: Any) -> Any:
        before = bags[0].length()
        bags[0].append(x)
        bag.items.append(x + 1)
        other = bag.items.copy()
        other.append(x)
        again = copy.copy(other)
        again.append(x)
        garblet.map(lambda k: (bags[1].append(k, when=k > 1), k)[1], garblet.SecretArray([x, x - x]))
        return bags, before, bag, other.length(), again.length(), copy.deepcopy(bag).items.length()

    found = program(work, bags="[[u8; ..3]; 2]", bag="Bag", x="u8").evaluate(bags=[[1], [2]], bag={"items": [5], "n": 1}, x=7)
    assert list(found.values()) == [[[1, 7], [2, 7]], 1, {"items": [5, 8], "n": 1}, 3, 4, 2]


def test_a_list_of_a_loops_state_is_the_first_one() -> None:
    def work(first: Any, a: Any, x: Any) -> Any:
        def step(state: Any, row: Any) -> Any:
            found, count = state
            found.append(row, when=row > x)
            return found, count + 1

        same, count = garblet.loop(step, (first, x), a)
        inner = garblet.loop(lambda found, row: garblet.loop(lambda f, y: (f.append(y), f)[1], found, garblet.SecretArray([row])), same, a)
        inner.append(x)
        bag = garblet.loop(lambda bag, row: (bag.items.append(row), bag)[1], Bag(first.copy(), x), a[:1])
        return first, same.length(), count, inner.length(), bag

    found = program(work, first="[u8; ..9]", a="[u8; 2]", x="u8").evaluate(first=[9], a=[1, 5], x=3)
    assert list(found.values()) == [[9, 5, 1, 5, 3], 5, 5, 5, {"items": [9, 5, 1, 5, 3, 1], "n": 3}]


LISTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a choice": lambda one, other, x: garblet.where(x > 1, one, other).append(x),
    "what was chosen from": lambda one, other, x: (garblet.where(x > 1, one, other), one.append(x)),
    "another state": lambda one, other, x: garblet.loop(lambda s, k: (s.append(x), other)[1], one, range(2)),
    "what a loop returns": lambda one, other, x: garblet.loop(lambda s, k: other, one, range(2)).append(x),
    "the first of a loop": lambda one, other, x: (garblet.loop(lambda s, k: s, one, range(2)), one.append(x)),
    "what a loop returned": lambda one, other, x: (garblet.loop(lambda s, k: other, one, range(2)), other.append(x)),
}


@pytest.mark.parametrize("change", LISTS)
def test_a_list_that_a_copy_would_miss_does_not_grow(change: str) -> None:
    with pytest.raises(TypeError, match=r"list.copy\(\)"):
        program(lambda one, other, x: (LISTS[change](one, other, x), x)[1], one="[u8; ..3]", other="[u8; ..3]", x="u8")


def test_a_function_that_is_called_does_not_change_its_arguments() -> None:
    @garblet.function
    def bump(offer: Offer, k: garblet.u32) -> Any:
        offer.price = offer.price + k
        return offer

    @garblet.function
    def push(items: "[u8; ..3]", x: garblet.u8) -> Any:  # type: ignore[valid-type] # noqa: F722
        items.append(x)
        return items

    @garblet.function
    def same(offer: Offer, k: garblet.u32) -> Any:
        return offer, k

    assert bump.evaluate(offer={"id": 1, "price": 10}, k=5) == {"id": 1, "price": 15}
    assert push.evaluate(items=[1], x=5) == {"out0": [1, 5]}
    for wrong, words in [
        (lambda offer, items, k: bump(offer, k), "`price` of a record Offer was changed"),
        (lambda offer, items, k: push(items, k.astype("u8")), r"list.copy\(\)"),
        (lambda offer, items, k: (put(same(offer, k)[0], k), offer.price)[1], "`price` of a record Offer was changed"),
        (lambda offer, items, k: (same(offer, k), put(offer, k), k)[2], "`price` of a record Offer was changed"),
    ]:
        with pytest.raises(TypeError, match=words):
            program(wrong, offer="Offer", items="[u8; ..3]", k="u32")
    with pytest.raises(TypeError, match="`price` of a record Offer was changed"):
        bump(Offer(1, 10), 5)  # type: ignore[arg-type]


def test_a_function_gets_what_has_changed() -> None:
    @garblet.function
    def total(offers: "[Offer; 2]", k: garblet.u32) -> Any:  # type: ignore[valid-type] # noqa: F722
        return offers[0].price + offers[1].price + k

    @garblet.function
    def size(bags: "[[u8; ..3]; 2]", k: garblet.u32) -> Any:  # type: ignore[valid-type] # noqa: F722
        return bags[0].length() * 10 + bags[1].length() + k

    def work(offers: Any, bags: Any, k: Any) -> Any:
        offers[0].price = offers[0].price + k
        bags[1].append(7)
        return total(offers, k), size(bags, k), garblet.map(lambda offer: total([offer, offers[0]], k), offers)

    found = program(work, offers="[Offer; 2]", bags="[[u8; ..3]; 2]", k="u32").evaluate(offers=GIVEN[:2], bags=[[1], [1]], k=5)
    assert list(found.values()) == [95 + 50 + 5, 10 + 2 + 5, [95 + 95 + 5, 50 + 95 + 5]]


def test_records_are_rebuilt_without_their_constructor() -> None:
    @dataclass
    class Made:
        units: garblet.u8
        double: garblet.u8 = field(init=False)

        def __post_init__(self) -> None:
            self.units = self.units + 1
            self.double = self.units * 2

    def work(made: Any, c: Any) -> Any:
        return garblet.where(c > 0, made, made).units, garblet.map(lambda m: m.double + 1, garblet.SecretArray([made, made]))[1], Made(c).double

    lines = trace.trace(work, {"made": "Made", "c": "u8"}, {"Made": Made})
    made = Made(5)  # type: ignore[arg-type]
    assert list(trace.compiled(lines, "made").evaluate(made=made, c=1).values()) == [6, 13, 4]
    frozen = program(lambda a, b: garblet.where(a.x > b, a, Fixed(b, b)), a="Fixed", b="u8")
    assert frozen.evaluate(a=Fixed(3, 4), b=2) == {"x": 3, "y": 4}  # type: ignore[arg-type]
    assert [of.units for of in (rebuilt(Made, {"units": 1, "double": 2}), made)] == [1, 6]


def test_arrays_of_tuples_keep_their_type() -> None:
    def work(a: Any, b: Any, c: Any) -> Any:
        chosen = garblet.where(c, a, b)
        swapped = garblet.SecretArray([a[1], a[0]])
        return chosen, swapped, garblet.join(chosen, swapped), garblet.where(garblet.SecretArray([c, ~c]), a, b), garblet.sorted(swapped)

    for part in ("u8", "bool"):
        types = {"a": f"[(u8, {part}); 2]", "b": f"[(u8, {part}); 2]", "c": "bool"}
        one, other = (7, 8) if part == "u8" else (True, False)
        a, b = [(1, one), (2, other)], [(3, other), (1, one)]
        found = program(work, **types).evaluate(a=a, b=b, c=False)
        assert list(found.values()) == [b, [a[1], a[0]], [((1, one), (1, one))], [b[0], a[1]], sorted(a)]


@pytest.mark.parametrize("expression", ["a + b", "a * 2", "2 * a", "a.sum()", "a == b", "a < b", "-a", "~a", "a & b", "abs(a)", "a ** 2", "a << 1", "a.astype('u16')", "a @ b"])
def test_operators_are_not_those_of_tuples(expression: str) -> None:
    for type in ("[(u8, u8); 2]", "[[(u8, u8); 2]; 2]", "[[u8; ..2]; 2]"):
        with pytest.raises(TypeError, match="of an array of tuples or lists"):
            program(lambda a, b: eval(expression, {}, {"a": a, "b": b}), a=type, b=type)


@pytest.mark.parametrize("expression", ["a ^ b", "a << 2", "a >> 1", "a ** 2", "10 // a", "10 % a", "5 & a", "3 | a", "6 ^ a", "a.astype('u16')"])
def test_all_operators_work_on_arrays(expression: str) -> None:
    a, b = [3, 7, 2], [1, 2, 9]
    found = program(lambda a, b: eval(expression, {}, {"a": a, "b": b}), a="[u8; 3]", b="[u8; 3]").evaluate(a=a, b=b)
    assert found["out0"] == eval(expression.replace("u16", "uint16"), {}, {"a": np.array(a), "b": np.array(b)}).tolist()


def test_quotients_of_a_known_number_by_an_array() -> None:
    assert program(lambda a, b: b / a, a="[fixed<8, 8>; 2]", b="fixed<8, 8>").evaluate(a=[2, 4], b=3)["out0"] == [Decimal("1.5"), Decimal("0.75")]
    assert program(lambda a, b: 3 / a, a="[fixed<8, 8>; 2]", b="u8").evaluate(a=[2, 4], b=0)["out0"] == [Decimal("1.5"), Decimal("0.75")]


def test_a_function_takes_lists_as_arrays() -> None:
    @garblet.function
    def add(a: "[u8; 2]", b: "[u8; 2]") -> Any:  # type: ignore[valid-type] # noqa: F722
        return a + b

    @garblet.function
    def twice(a: "[u8; 2]", b: garblet.u8) -> Any:  # type: ignore[valid-type] # noqa: F722
        return a * 2

    assert program(lambda x, y: add([x, y], (x, 3)), x="u8", y="u8").evaluate(x=10, y=20)["out0"] == [20, 23]
    assert add([1, 2], np.array([3, 4])) == [4, 6] and twice([1, 2], 0) == [2, 4]
    with pytest.raises(garblet.Panicked):
        twice([200, 1], 0)
    with pytest.raises(garblet.InputError):
        twice([1, 2, 3], 0)


def test_functions_are_tested_without_secrets() -> None:
    @garblet.function
    def score(a: "[u16; 3]", b: "[u16; 3]") -> Any:  # type: ignore[valid-type] # noqa: F722
        product = a @ b
        return garblet.where(product > 100, 100, product)

    @garblet.function
    def cheapest(ours: "[Offer; 3]", theirs: Offer) -> Any:  # type: ignore[valid-type] # noqa: F722
        return garblet.loop(lambda best, offer: garblet.where(offer.price < best.price, offer, best), theirs, ours)

    @garblet.function
    def filled(a: "[u8; 3]", least: garblet.u8) -> Any:  # type: ignore[valid-type] # noqa: F722
        found = garblet.keep(a > least, a)
        found.append(least, when=a[0] > 1)
        return found, ~(a[0] > least), Offer(a[0].astype("u16"), a.sum().astype("u32"))

    assert score([1, 2, 3], [4, 5, 60]) == 100 and score(np.array([1, 2, 3]), b=[4, 5, 6]) == 32
    made: Any = Offer
    assert cheapest(given(), {"id": 9, "price": 60}) == made(2, 50)
    assert filled([5, 1, 9], 3) == ([5, 9, 3], False, made(5, 15))
    assert (garblet.sqrt(np.int64(10)), garblet.where(np.int64(3) > 2, 1, 2)) == (3, 1)
    assert garblet.where(np.array([True, False]), [1, 2], 7).tolist() == [1, 7]
    mixed = program(lambda a, b: garblet.where([True, False], a, b) & garblet.where(np.bool_(True), a, 0), a="[u8; 2]", b="u8")
    assert mixed.evaluate(a=[5, 6], b=7)["out0"] == [5, 6]

    @garblet.function
    def total(a: "[u8; 3]") -> Any:  # type: ignore[valid-type] # noqa: F722
        return a.sum()

    assert total([1, 2, 3]) == 6
    with pytest.raises(garblet.InputError, match=r"expected \[u8; 3\], got another number of elements"):
        total([1, 2])


def test_a_function_is_what_its_variables_are_now() -> None:
    rate = 5

    @garblet.function
    def fee(a: garblet.u32, b: garblet.u32) -> Any:
        return (a + b) * rate

    def work(a: Any) -> Any:
        nonlocal rate
        rate = 5
        one = fee(a, 0)
        rate = 15
        return one, fee(a, 0), fee(a, 1)

    assert list(program(work, a="u32").evaluate(a=1).values()) == [5, 15, 30]
    assert "f2_" not in trace.source(work, {"a": "u32"})
    assert fee(1, 0) == 15 and fee.evaluate(a=1, b=0) == {"out0": 5}


def test_functions_that_panic_do_not_call_functions_that_wrap() -> None:
    @garblet.function
    def checked(a: garblet.u8, b: garblet.u8) -> Any:
        return a + b

    def adds(a: garblet.u8, b: garblet.u8) -> Any:
        return a + b

    wraps = garblet.function(adds, panics=False)

    def of(called: Any) -> Any:
        def calls(a: garblet.u8, b: garblet.u8) -> Any:
            return called(a, b)

        return calls

    assert garblet.function(of(wraps), panics=False).evaluate(a=200, b=100) == {"out0": 44} and wraps(200, 100) == 44
    for outer, called in [(False, checked), (True, wraps)]:
        with pytest.raises(garblet.UsageError, match="but the function that calls it has panics"):
            garblet.function(of(called), panics=outer)


def oops(x: Any) -> Any:
    return x + "oops"


MISTAKES: dict[str, Callable[[Any, Any], Any]] = {
    "map": lambda a, b: garblet.map(oops, a),
    "sorted": lambda a, b: garblet.sorted(a, key=oops),
    "loop": lambda a, b: garblet.loop(lambda s, x: s + oops(x), b, a),
    "inner": lambda a, b: garblet.map(lambda x: garblet.loop(lambda s, y: oops(y), x, a), a),
    "state": lambda a, b: garblet.loop(lambda s, x: x > 1, b, a),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_that_is_caught_leaves_nothing_behind(mistake: str) -> None:
    def work(a: Any, b: Any) -> Any:
        with pytest.raises(TypeError):
            MISTAKES[mistake](a, b)
        return garblet.map(lambda x: x + b, a)

    assert program(work, a="[u8; 2]", b="u8").evaluate(a=[1, 2], b=3)["out0"] == [4, 5]


def test_a_call_that_is_interrupted_can_be_made_again() -> None:
    interrupts: list[bool] = []

    @garblet.function
    def fee(a: garblet.u8, b: garblet.u8) -> Any:
        if interrupts:
            interrupts.pop()
            raise KeyboardInterrupt
        return a + b

    interrupts.append(True)

    def work(a: Any) -> Any:
        with pytest.raises(KeyboardInterrupt):
            fee(a, 1)
        return fee(a, 1)

    assert program(work, a="u8").evaluate(a=1)["out0"] == 2


def test_names_that_the_language_has_taken_are_told() -> None:
    for name in ["max", "sort", "keep", "join", "loop", "match", "größe", "fn", "use"]:
        with pytest.raises(garblet.UsageError, match=f"parameter `{name}`: expected a name of the language"):
            trace.source(lambda **given: garblet.max(*given.values()), {name: "u8", "b": "u8"})
    made = dataclasses.make_dataclass("Made", [("fn", "u8"), ("b", "u8")])
    with pytest.raises(garblet.UsageError, match="record Made, `fn`"):
        trace.trace(lambda a: a.fn, {"a": "Made"}, {"Made": made})


def test_types_of_python_are_told_or_taken() -> None:
    n = np.int64(3)

    @dataclass
    class Flag:
        ok: bool
        n: garblet.u8

    @garblet.function
    def work(a: bool, b: "[u8; n]", c: Flag) -> Any:  # type: ignore[valid-type] # noqa: F821
        return garblet.where(a & c.ok, b[2], c.n)

    assert n == 3 and work(True, [1, 2, 3], Flag(True, 9)) == 3  # type: ignore[arg-type]
    for annotation, words, hint in [("u0", "parameter `a`: 'u0' is not a type", "such as bool"), (int, "parameter `a`: <class 'int'> is not a type", "garblet.u32")]:
        def wrong(a: Any) -> Any:
            return a

        wrong.__annotations__["a"] = annotation
        with pytest.raises(garblet.UsageError, match=words) as caught:
            garblet.function(wrong)
        assert hint in str(caught.value.hint)


def test_results_that_are_no_values_are_told() -> None:
    for wrong, words in [
        (lambda a, b: [a, b], "a list of secrets is no value of the language: return a tuple, or garblet.SecretArray"),
        (lambda a, b: {"a": a}, "a dict of secrets is no value of the language: return a dataclass"),
        (lambda a, b: None, "expected a result that depends on an input, got None"),
    ]:
        with pytest.raises(TypeError, match=words):
            program(wrong, a="u8", b="u8")


def test_wrong_operands_say_how_to_go_on() -> None:
    import math

    for wrong, words in [
        (lambda a, b, c: a + b, r'convert one, \.astype\("u16"\)'),
        (lambda a, b, c: b + a, r'convert one, \.astype\("u16"\)'),
        (lambda a, b, c: round(c), "math.floor"),
        (lambda a, b, c: math.trunc(c), "math.ceil"),
        (lambda a, b, c: garblet.SecretArray([a]).__setitem__(0, a), r"a.replaced\(k, x\)"),
    ]:
        with pytest.raises(TypeError, match=words):
            program(wrong, a="u8", b="u16", c="fixed<4, 4>")
    ceiling = program(lambda c: math.ceil(c), c="fixed<4, 4>")
    assert [ceiling.evaluate(c=c)["out0"] for c in (1.5, -1.5, 2, 0.0625, -7.9375)] == [2, -1, 2, 1, -7]
    assert program(lambda a: a.astype(garblet.u32), a="u8").evaluate(a=7)["out0"] == 7
    assert program(lambda a: a // np.int64(-(2**63)), a="i64").evaluate(a=-(2**63))["out0"] == 1
