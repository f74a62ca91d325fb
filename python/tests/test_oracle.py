"""Random functions, with secrets and with plain numbers of Python: both have one result, or a step does not fit and the computation panics."""

from __future__ import annotations

import itertools
import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import garblet
import pytest
from garblet import trace
from garblet.types import Type, parse


class Unfit(Exception):
    """A step whose result the type does not have."""


class Number:
    """A number of Python, which must fit a type after every step."""

    def __init__(self, value: Any, of: Type) -> None:
        # Products and quotients of fixed-point numbers are rounded down.
        scaled = math.floor(Fraction(value) * 2**of.point)
        if not of.range[0] <= scaled <= of.range[1]:
            raise Unfit
        self.value: Any = Fraction(scaled, 2**of.point)
        self.of = of

    def _by(self, other: Any, operate: Any) -> Any:
        other = other.value if isinstance(other, Number) else Fraction(other)
        try:
            if self.of.is_word:
                return operate(int(self.value), int(other))
            return operate(self.value, other)
        except ZeroDivisionError:
            raise Unfit from None

    def made(self, other: Any, operate: Any) -> Number:
        return Number(self._by(other, operate), self.of)

    __add__ = lambda a, b: a.made(b, lambda x, y: x + y)
    __radd__ = lambda a, b: a.made(b, lambda x, y: y + x)
    __sub__ = lambda a, b: a.made(b, lambda x, y: x - y)
    __rsub__ = lambda a, b: a.made(b, lambda x, y: y - x)
    __mul__ = lambda a, b: a.made(b, lambda x, y: x * y)
    __rmul__ = lambda a, b: a.made(b, lambda x, y: y * x)
    __floordiv__ = lambda a, b: a.made(b, lambda x, y: x // y)
    __rfloordiv__ = lambda a, b: a.made(b, lambda x, y: y // x)
    __truediv__ = lambda a, b: a.made(b, lambda x, y: x / y)
    __rtruediv__ = lambda a, b: a.made(b, lambda x, y: y / x)
    __mod__ = lambda a, b: a.made(b, lambda x, y: x % y)
    __rmod__ = lambda a, b: a.made(b, lambda x, y: y % x)
    __and__ = lambda a, b: a.made(b, lambda x, y: x & y)
    __or__ = lambda a, b: a.made(b, lambda x, y: x | y)
    __xor__ = lambda a, b: a.made(b, lambda x, y: x ^ y)
    __lshift__ = lambda a, b: a.made(b, lambda x, y: x << y)
    __rshift__ = lambda a, b: a.made(b, lambda x, y: x >> y)
    __neg__ = lambda a: Number(-a.value, a.of)
    __abs__ = lambda a: Number(abs(a.value), a.of)
    __invert__ = lambda a: Number(~int(a.value), a.of)
    __lt__ = lambda a, b: a._by(b, lambda x, y: x < y)
    __le__ = lambda a, b: a._by(b, lambda x, y: x <= y)
    __gt__ = lambda a, b: a._by(b, lambda x, y: x > y)
    __ge__ = lambda a, b: a._by(b, lambda x, y: x >= y)

    def __eq__(self, other: object) -> Any:
        return self._by(other, lambda x, y: x == y)

    def __hash__(self) -> int:
        return hash(self.value)

    def __pow__(self, exponent: int) -> Number:
        power = self
        for _ in range(exponent - 1):
            power = power * self
        return power


def literal(rng: random.Random, of: Type) -> str:
    """A number without a type; edges come often."""
    low, high = of.range
    scaled = rng.choice([low, high, -1, 0, 1, 2, 3, -2, 4, -4, 16, rng.randint(low, high)])
    scaled = min(max(scaled, low), high)
    number = Fraction(scaled, 2**of.point)
    return f"({int(number)})" if of.is_word else f"({float(number)!r})"


def expression(rng: random.Random, of: Type, depth: int) -> str:
    """An expression with at least one secret."""
    if depth == 0:
        return rng.choice(["a", "b", "c"])

    def part() -> str:
        return expression(rng, of, rng.randrange(depth))

    pairs = [(part(), literal(rng, of)), (literal(rng, of), part()), (part(), part())]
    one, other = rng.choice(pairs)
    kind = rng.randrange(12)
    if kind < 7:
        operators = ["+", "-", "*", "//", "%", "&", "|", "^"] if of.is_word else ["+", "-", "*", "/", "%"]
        operator = rng.choice(operators)
        if operator in "&|^":
            one, other = part(), other if other != "(0)" else "a"
        return f"({one} {operator} {other})"
    if kind == 7:
        return f"where({part()} {rng.choice(['<', '<=', '>', '>=', '=='])} {other}, {part()}, {rng.choice([part(), literal(rng, of)])})"
    if kind == 8:
        return f"{rng.choice(['max', 'min'])}({one}, {other})"
    if kind == 9:
        return f"abs({part()})" if of.kind == "u" else rng.choice([f"abs({part()})", f"(-{part()})"])
    if kind == 10 and of.is_word:
        shift, by = rng.choice([("<<", rng.randrange(3)), (">>", rng.randrange(of.bits + 3))])
        return f"({part()} {shift} {by})" if of.kind == "u" or rng.random() < 0.7 else f"(~{part()})"
    return f"({part()} ** {rng.randint(1, 3)})"


def plain(text: str, values: dict[str, Number]) -> Any:
    def pick(name: str) -> Any:
        def picked(x: Any, y: Any) -> Any:
            secret = x if isinstance(x, Number) else y
            if not isinstance(secret, Number):
                return (max if name == "max" else min)(x, y)
            x, y = (side if isinstance(side, Number) else Number(Fraction(side), secret.of) for side in (x, y))
            return x if (x > y) == (name == "max") else y

        return picked

    return eval(text, {"where": garblet.where, "max": pick("max"), "min": pick("min"), **values})


def outcome(program: garblet.Program, values: dict[str, Any]) -> Any:
    try:
        return Fraction(program.evaluate(**values)["out0"])
    except garblet.Panicked:
        return "panicked"


@pytest.mark.parametrize("type", ["u8", "i8", "u13", "u16", "i16", "i32", "u64", "i64", "i200", "fixed<4, 4>", "fixed<8, 8>", "fixed<20, 12>"])
def test_random_functions_compute_what_python_computes(type: str) -> None:
    rng, of = random.Random(f"numbers {type}"), parse(type)
    low, high = of.range
    known = {"where": garblet.where, "max": garblet.max, "min": garblet.min}
    right = panics = 0
    for _ in range(25):
        text = expression(rng, of, 3)
        rows = [
            [min(max(rng.choice([low, low + 1, high, -1, 0, 1, 2, -3, 7 << of.point, rng.randint(low, high) >> rng.randrange(of.bits)]), low), high) for _ in "abc"]
            for _ in range(12)
        ]
        expected = []
        for row in rows:
            try:
                found = plain(text, {name: Number(Fraction(value, 2**of.point), of) for name, value in zip("abc", row, strict=True)})
                expected.append(found.value if isinstance(found, Number) else Fraction(found))
            except Unfit:
                expected.append("panicked")
        try:
            program = garblet.compile(trace.source(lambda a, b, c, text=text: eval(text, {**known, "a": a, "b": b, "c": c}), dict.fromkeys("abc", type)))
        except (ZeroDivisionError, garblet.CompileError):
            # It panics for all inputs.
            assert set(expected) == {"panicked"}, text
            continue
        for row, wanted in zip(rows, expected, strict=True):
            values = {name: value if of.is_word else float(Fraction(value, 2**of.point)) for name, value in zip("abc", row, strict=True)}
            assert outcome(program, values) == wanted, (text, values)
            right, panics = right + (wanted != "panicked"), panics + (wanted == "panicked")
    assert right > 60 and panics > 10


@pytest.mark.parametrize("type", ["i8", "u8"])
def test_quotients_and_remainders_are_pythons_for_all_edges(type: str) -> None:
    low, high = parse(type).range
    edges = sorted({low, low + 1, high, high - 1, *range(max(low, -9), 10), 64, 100})
    count = len(edges)
    for divisor in ["b", *(f"({edge})" for edge in edges if edge)]:
        def both(a: Any, b: Any, divisor: str = divisor) -> Any:
            return eval(f"a // {divisor}"), eval(f"a % {divisor}")

        text = trace.source(lambda a, b: both(a, b), {"a": type, "b": type})
        pairs = [pair for pair in itertools.product(edges, edges) if pair[1] and low <= pair[0] // (pair[1] if divisor == "b" else eval(divisor)) <= high]
        pairs = pairs if divisor == "b" else [pair for pair in pairs if pair[1] == 1]
        found = garblet.compile(text).batch(len(pairs)).evaluate(a=[a for a, _ in pairs], b=[b for _, b in pairs])
        by = [b if divisor == "b" else eval(divisor) for _, b in pairs]
        assert found == {"out0": [a // d for (a, _), d in zip(pairs, by, strict=True)], "out1": [a % d for (a, _), d in zip(pairs, by, strict=True)]}
    assert count > 12


WORDS = ["u8", "i8", "u16", "i16", "u32", "i64", "u64", "fixed<4, 4>", "fixed<8, 2>", "fixed<16, 16>"]


@pytest.mark.parametrize("source", WORDS)
@pytest.mark.parametrize("target", WORDS)
def test_a_conversion_keeps_the_number_or_panics(source: str, target: str) -> None:
    own, to = parse(source), parse(target)
    if own.kind == "fixed" and to.is_word:
        with pytest.raises(TypeError, match="math.floor"):
            trace.source(lambda a: a.astype(target), {"a": source})
        return
    program = garblet.compile(trace.source(lambda a: a.astype(target), {"a": source}))
    bounds = [Fraction(edge, 2**of.point) + step for of in (own, to) for edge in of.range for step in (-1, Fraction(-1, 2**own.point), 0, Fraction(1, 2**own.point), 1)]
    for number in {*bounds, Fraction(0), Fraction(1), Fraction(-1)}:
        if (number * 2**own.point).denominator != 1 or not own.range[0] <= number * 2**own.point <= own.range[1]:
            continue
        scaled = math.floor(number * 2**to.point)
        expected = Fraction(scaled, 2**to.point) if to.range[0] <= scaled <= to.range[1] else "panicked"
        given: Any = int(number) if own.is_word else Decimal(number.numerator) / Decimal(number.denominator)
        assert outcome(program, {"a": given}) == expected, number


@pytest.mark.parametrize("type", ["fixed<4, 4>", "fixed<8, 2>", "fixed<16, 1>"])
def test_the_whole_part_is_that_of_math_floor(type: str) -> None:
    of = parse(type)
    program = garblet.compile(trace.source(lambda a: math.floor(a), {"a": type}))
    for scaled in {*of.range, *range(-40, 40)}:
        number = scaled / 2**of.point
        assert program.evaluate(a=number)["out0"] == math.floor(number)


@pytest.mark.parametrize("type", ["fixed<1, 7>", "fixed<8, 60>", "fixed<2, 100>", "fixed<1, 120>", "fixed<64, 40>", "fixed<100, 0>", "fixed<64, 64>", "fixed<20, 108>"])
def test_known_numbers_are_the_nearest_of_the_type(type: str) -> None:
    rng, of = random.Random(f"known {type}"), parse(type)
    for scaled in [*of.range, -1, 0, 1, *(rng.randint(*of.range) for _ in range(20))]:
        # A quarter of a step away, on the inner side.
        near = Fraction(scaled, 2**of.point) - Fraction((scaled > 0) - (scaled < 0), 4 * 2**of.point)
        program = garblet.compile(trace.source(lambda a, near=near: a + near, {"a": type}))
        assert Fraction(program.evaluate(a=0)["out0"]) == Fraction(scaled, 2**of.point)
