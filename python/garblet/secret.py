"""Secrets: values that nobody knows while a function is traced. Each operation on them is a line of a source in the function language.

They compute what Python computes on the same numbers, or panic: also `//` and `%` of negative numbers, `<<`, and conversions.
"""

from __future__ import annotations

import dataclasses
import functools
import numbers
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from decimal import Decimal
from fractions import Fraction
from types import FrameType
from typing import Any

from .errors import UsageError
from .progress import log
from .types import BOOL, USIZE, Type, array_of, parse, record_of, tuple_of
from .values import columns_of, has_times

_HERE = os.path.dirname(os.path.abspath(__file__))
#: A read at a secret index that takes at least so many AND gates is logged.
_DEAR = 10_000


def caller() -> FrameType | None:
    """The innermost frame outside the package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _HERE:
        frame = frame.f_back
    return frame


def _place() -> str:
    frame = caller()
    return "?" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


class Module:
    """What the functions of a source share: records, and functions that were called."""

    def __init__(self) -> None:
        self.structs: dict[str, Type] = {}
        #: The name and the type of the result of each function; None while it is traced.
        self.called: dict[Any, tuple[str, Type] | None] = {}
        self.functions: list[list[Line]] = []

    def declare(self, type: Type) -> None:
        """Declares the records of a type."""
        for part in type.parts:
            self.declare(part)
        if type.kind == "record" and self.structs.setdefault(type.text, type) != type:
            raise UsageError(f"two records are called {type.text}", "call one of them otherwise")

    def lines(self) -> list[Line]:
        """The declarations and functions."""
        structs = [
            Line(f"struct {name} {{ {', '.join(f'{field}: {part.text}' for field, part in zip(type.names, type.parts, strict=True))} }}", "")
            for name, type in self.structs.items()
        ]
        return [*structs, *(line for function in self.functions for line in function)]


@dataclasses.dataclass
class Line:
    """A line of a source, with the place in Python. `makes` are the names that it defines or changes, `depth` the loops around it."""

    text: str
    place: str
    makes: tuple[str, ...] = ()
    depth: int = 0


class Tracer:
    """The body of a function that is being written."""

    def __init__(self, parameters: Iterable[str] = (), module: Module | None = None) -> None:
        self.module = module or Module()
        self.lines: list[Line] = []
        # The loops that are open, by number. A secret lives as long as the innermost one at its birth.
        self.scopes = [0]
        self._count = 0
        # No parameter name begins this way.
        self._prefix = "t"
        while any(name.startswith(self._prefix) for name in parameters):
            self._prefix += "_"

    def fresh(self) -> str:
        """A new name."""
        self._count += 1
        return f"{self._prefix}{self._count - 1}"

    def write(self, text: str, *makes: str) -> None:
        """Writes a statement that changes these names."""
        depth = len(self.scopes) - 1
        self.lines.append(Line("    " * (depth + 1) + text, _place(), makes, depth))

    def let(self, expression: str, type: Type | str) -> Secret:
        """Names an expression."""
        type = parse(type)
        return Secret(self, self.name(expression, type), type)

    def name(self, expression: str, type: Type, keyword: str = "let") -> str:
        """A new name for a value of any type; with `let mut`, for a mutable one."""
        self.module.declare(type)
        name = self.fresh()
        self.write(f"{keyword} {name}: {type.text} = {expression};", name)
        return name

    def begin(self, over: str) -> str:
        """Begins a loop, and returns the name of its variable."""
        name = self.fresh()
        self.write(f"for {name} in {over} {{", name)
        self._count += 1
        self.scopes.append(self._count)
        return name

    def end(self, *assigned: tuple[str, str, str]) -> None:
        """Ends the innermost loop with these assignments: the name that changes, the place in it, and the value."""
        for name, place, value in assigned:
            self.write(f"{name}{place} = {value};", name)
        self.scopes.pop()
        self.write("}")


#: The function that is being traced.
_open: ContextVar[tuple[Tracer, ...]] = ContextVar("_open", default=())


def current() -> Tracer | None:
    """The function that is being traced, if there is one."""
    return _open.get()[-1] if _open.get() else None


class Tracing:
    """Traces into a function within a `with` block."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def __enter__(self) -> Tracer:
        _open.set((*_open.get(), self._tracer))
        return self._tracer

    def __exit__(self, *_: object) -> None:
        _open.set(_open.get()[:-1])


class Secret:
    """A secret word, Boolean or fixed-point number: nobody knows its value during the computation. Printing it shows its type and its place."""

    # Makes numpy arrays and pandas frames, whose priority is 4000, leave operators to this class.
    __array_ufunc__ = None
    __pandas_priority__ = 5000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tracer: Tracer, expression: str, type: Type) -> None:
        self._tracer = tracer
        self._expression = expression
        self._of = type
        self._scope = tracer.scopes[-1]
        self._place = _place()

    @property
    def type(self) -> str:
        """The type, as the language writes it."""
        return self._of.text

    def __repr__(self) -> str:
        return f"<secret {self.type}, {self._place}>"

    def __bool__(self) -> bool:
        raise TypeError(
            "a secret cannot decide which code runs: nobody knows it. Use garblet.where(condition, one, other) in place of "
            "`if`, `and`, `or` and comparisons in chains, & | ~ for conditions, and garblet.max, garblet.min and garblet.sorted"
        )

    def __index__(self) -> int:
        raise TypeError(
            "a secret is no index and no number of iterations: nobody knows it. An array of secrets takes a secret index, and garblet.where "
            "chooses between elements"
        )

    def __float__(self) -> float:
        raise TypeError("a secret is no float: nobody knows it. Declare it as fixed")

    def _with(self, other: Any) -> str | None:
        """The other operand in the source; None if it is not a valid operand."""
        if isinstance(other, Secret):
            check_home(other, self._tracer)
            check_home(self, self._tracer)
            if other.type != self.type:
                raise TypeError(f"expected two of one type, got {self.type} and {other.type}: convert one, as {self.type}")
            return other._expression
        check_home(self, self._tracer)
        if isinstance(other, bool):
            return str(other).lower() if self._of is BOOL else None
        if self._of.is_number and isinstance(other, numbers.Integral):
            return self._of.literal(int(other))
        if self._of.kind == "fixed" and isinstance(other, (float, Decimal, Fraction)):
            return self._of.literal(other)
        return None

    def _binary(self, operator: str, other: Any, type: Type | None = None, swapped: bool = False) -> Any:
        with_other = self._with(other)
        if with_other is None:
            return NotImplemented
        left, right = (with_other, self._expression) if swapped else (self._expression, with_other)
        return self._tracer.let(f"{left} {operator} {right}", type or self._of)

    def _number(self, operator: str) -> Secret:
        if not self._of.is_number:
            raise TypeError(f'{operator} of {self.type}: convert it to a number, .astype("u32")')
        return self

    def _bits(self, operator: str) -> Secret:
        if self._of.kind == "fixed":
            raise TypeError(f"{operator} of {self.type}: only whole numbers and conditions have bits")
        return self

    def __add__(self, other: Any) -> Any:
        return self._number("+")._binary("+", other)

    def __radd__(self, other: Any) -> Any:
        return self._number("+")._binary("+", other, swapped=True)

    def __sub__(self, other: Any) -> Any:
        return self._number("-")._binary("-", other)

    def __rsub__(self, other: Any) -> Any:
        return self._number("-")._binary("-", other, swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._number("*")._binary("*", other)

    def __rmul__(self, other: Any) -> Any:
        return self._number("*")._binary("*", other, swapped=True)

    def _fixed(self) -> Secret:
        if self._of.kind != "fixed":
            raise TypeError(
                f"/ of {self.type}: the quotient may be no whole number. Write // for whole numbers, or convert both: "
                '.astype("fixed<32, 16>")'
            )
        return self

    def __truediv__(self, other: Any) -> Any:
        return self._fixed()._divided("/", other, False)

    def __rtruediv__(self, other: Any) -> Any:
        return self._fixed()._divided("/", other, True)

    def _whole(self) -> Secret:
        if self._of.kind == "fixed":
            raise TypeError(f"// of {self.type}: write / for fixed-point numbers, and math.floor for the whole part")
        return self._number("//")

    def __floordiv__(self, other: Any) -> Any:
        return self._whole()._divided("//", other, False)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._whole()._divided("//", other, True)

    def __mod__(self, other: Any) -> Any:
        return self._number("%")._divided("%", other, False)

    def __rmod__(self, other: Any) -> Any:
        return self._number("%")._divided("%", other, True)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def _divided(self, operator: str, other: Any, swapped: bool) -> Any:
        """A quotient or remainder. Python rounds quotients of integers down and the language towards zero, so negative ones are put right."""
        with_other = self._with(other)
        if with_other is None:
            return NotImplemented
        if not swapped and not isinstance(other, Secret) and other == 0:
            raise ZeroDivisionError(f"{operator} by zero")
        of = self._of
        if operator == "/" or of.kind == "u":
            return self._binary(operator[0], other, swapped=swapped)
        if of.kind == "i" and not swapped and not isinstance(other, Secret) and other & (other - 1) == 0 < other:
            # Shifts and masks round down.
            power = int(other).bit_length() - 1
            cut = f"{self._expression} >> {power}" if operator == "//" else f"{self._expression} & {of.literal(int(other) - 1)}"
            return self._tracer.let(cut, of)
        left, right = (with_other, self._expression) if swapped else (self._expression, with_other)
        a, b, r = (self._tracer.fresh() for _ in range(3))
        zero, one = of.literal(0), of.literal(1)
        both = f"let {a}: {of.text} = {left}; let {b}: {of.text} = {right};"
        if operator == "%":
            # The remainder of the least number by -1 is 0, where the language has an overflow.
            rest = f"if {b} == {of.literal(-1)} {{ {zero} }} else {{ {a} % {b} }}" if of.kind == "i" else f"{a} % {b}"
            put_right = f"if {r} != {zero} && ({r} < {zero}) != ({b} < {zero}) {{ {r} + {b} }} else {{ {r} }}"
            return self._tracer.let(f"{{ {both} let {r}: {of.text} = {rest}; {put_right} }}", of)
        # One step towards zero, the quotient, one step down: the same as rounding down, by one division.
        differ, steps = self._tracer.fresh(), f"if {b} < {zero} {{ {a} - {one} }} else {{ {a} + {one} }}"
        unequal = f"let {differ}: bool = ({a} < {zero}) != ({b} < {zero}) && {a} != {zero};"
        stepped = f"let {r}: {of.text} = if {differ} {{ {steps} }} else {{ {a} }};"
        quotient = f"let {r}: {of.text} = {r} / {b}; if {differ} {{ {r} - {one} }} else {{ {r} }}"
        return self._tracer.let(f"{{ {both} {unequal} {stepped} {quotient} }}", of)

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, bool) or not isinstance(exponent, numbers.Integral) or exponent < 0:
            raise TypeError("**: expected a known whole exponent from 0")
        if exponent == 0:
            return self._tracer.let(self._number("**")._of.literal(1), self._of)
        return functools.reduce(lambda power, _: power * self, range(int(exponent) - 1), self._number("**"))

    def _shift(self, operator: str, by: Any) -> int:
        if not self._of.is_word:
            raise TypeError(f"{operator} of {self.type}: only whole numbers are shifted")
        if isinstance(by, bool) or not isinstance(by, numbers.Integral) or by < 0:
            raise TypeError(f"{operator}: expected a known number of bits from 0")
        return int(by)

    def __lshift__(self, by: Any) -> Any:
        # As in Python no bit is lost: a product that does not fit panics.
        return self * 2 ** self._shift("<<", by)

    def __rshift__(self, by: Any) -> Any:
        bits = self._shift(">>", by)
        if bits >= self._of.bits and self._of.kind == "u":
            return self * 0
        return self._tracer.let(f"{self._expression} >> {min(bits, self._of.bits - 1)}", self._of)

    def __and__(self, other: Any) -> Any:
        return self._bits("&")._binary("&", other)

    def __rand__(self, other: Any) -> Any:
        return self._bits("&")._binary("&", other, swapped=True)

    def __or__(self, other: Any) -> Any:
        return self._bits("|")._binary("|", other)

    def __ror__(self, other: Any) -> Any:
        return self._bits("|")._binary("|", other, swapped=True)

    def __xor__(self, other: Any) -> Any:
        return self._bits("^")._binary("^", other)

    def __rxor__(self, other: Any) -> Any:
        return self._bits("^")._binary("^", other, swapped=True)

    def __invert__(self) -> Secret:
        check_home(self, self._tracer)
        if self._bits("~")._of.kind == "u":
            raise TypeError(f"~ of {self.type}: Python's ~a is -a - 1, which is negative. Write a ^ {self._of.range[1]} to turn all bits")
        return self._tracer.let(f"!{self._expression}", self._of)

    def __neg__(self) -> Secret:
        check_home(self, self._tracer)
        if self._number("-")._of.kind == "u":
            raise TypeError(f'- of {self.type}: convert it to a type with signs, such as .astype("i{min(2 * self._of.bits, 128)}")')
        return self._tracer.let(f"-{self._expression}", self._of)

    def __pos__(self) -> Secret:
        return self._number("+")

    def __abs__(self) -> Secret:
        check_home(self, self._tracer)
        if self._number("abs")._of.kind == "u":
            return self
        return self._tracer.let(f"if {self._expression} < {self._of.literal(0)} {{ -{self._expression} }} else {{ {self._expression} }}", self._of)

    def __floor__(self) -> Secret:
        """The whole part, rounded down: `math.floor`."""
        check_home(self, self._tracer)
        if self._number("math.floor")._of.is_word:
            return self
        whole = next(bits for bits in (8, 16, 32, 64, 128) if bits >= self._of.bits)
        return self._tracer.let(f"{self._expression} as i{whole}", f"i{whole}")

    def __lt__(self, other: Any) -> Any:
        return self._number("<")._binary("<", other, BOOL)

    def __le__(self, other: Any) -> Any:
        return self._number("<=")._binary("<=", other, BOOL)

    def __gt__(self, other: Any) -> Any:
        return self._number(">")._binary(">", other, BOOL)

    def __ge__(self, other: Any) -> Any:
        return self._number(">=")._binary(">=", other, BOOL)

    def __eq__(self, other: Any) -> Any:
        return _compared(self._binary("==", other, BOOL), self.type, other)

    def __ne__(self, other: Any) -> Any:
        return _compared(self._binary("!=", other, BOOL), self.type, other)

    def astype(self, type: str) -> Secret:
        """Converts the number to another type. One that does not fit panics; bits after the point that the new type lacks are cut off, which rounds down."""
        check_home(self, self._tracer)
        to, own = parse(type), self._of
        if to.text == own.text:
            return self
        if not to.is_number:
            raise TypeError(f"expected a type of numbers, got {type}" + (": write x != 0" if to is BOOL else ""))
        if own.kind == "fixed" and to.is_word:
            raise TypeError(f"{own.text} to {type}: say how to round it, math.floor(x) or math.floor(x + 0.5)")
        if not own.is_number:
            if to.is_word:
                return self._tracer.let(f"{self._expression} as {type}", to)
            return self.astype("u8").astype(type)
        # The ranges in units of the finer of the two, the greatest number with all its bits after the point.
        point = max(own.point, to.point)
        low, high = (bound << (point - own.point) for bound in own.range)
        low_to, high_to = to.range[0] << (point - to.point), (to.range[1] << (point - to.point)) + (1 << (point - to.point)) - 1
        x, tests = self._expression, []
        if low < low_to:
            tests.append(f"{x} < {own.literal(Fraction(low_to, 2**point))}")
        if high > high_to:
            tests.append(f"{x} > {own.literal(Fraction(high_to >> (point - own.point), 2**own.point))}")
        if not tests:
            return self._tracer.let(f"{x} as {to.text}", to)
        # It overflows exactly if the number does not fit.
        check = f"let {self._tracer.fresh()}: u8 = 255u8 + (({' || '.join(tests)}) as u8);"
        return self._tracer.let(f"{{ {check} {x} as {to.text} }}", to)


class SecretArray:
    """An array of secrets, or of such arrays. Operators work elementwise on arrays of equal shape, or with a single value."""

    __array_ufunc__ = None
    # The same for pandas frames, whose priority is 4000 and which would take rows for columns.
    __pandas_priority__ = 5000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, elements: Any, whole: str | None = None) -> None:
        # Rows have the operators of arrays, not of lists.
        known = (_public(element) for element in _public(elements))
        self.elements = tuple(SecretArray(element) if isinstance(element, list) else element for element in known)
        # The array's name in the source, if it has one.
        self._whole = whole

    @classmethod
    def of_rows(cls, rows: Iterable[Any], whole: str | None = None) -> SecretArray:
        """An array whose elements stay what they are, also if they are tuples."""
        array = cls((), whole)
        array.elements = tuple(rows)
        return array

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements)

    def __repr__(self) -> str:
        first: Any = self.elements[0] if self.elements else None
        while isinstance(first, SecretArray) and first.elements:
            first = first.elements[0]
        return f"<array of {' x '.join(map(str, self.shape))}: {first!r}, ...>"

    def __getitem__(self, at: int | slice | Secret) -> Any:
        if isinstance(at, slice):
            return SecretArray.of_rows(self.elements[at])
        if not isinstance(at, Secret):
            return self.elements[at]
        tracer = at._tracer
        name, type = named(tracer, self)
        _tell_cost(len(self) * width(type), "a secret index", len(self))
        return parameter(tracer, tracer.name(f"{name}[{_index(at)}]", type), type)

    def replaced(self, at: int | Secret, value: Any) -> SecretArray:
        """The same array with another element at this index, which may be secret. An index out of bounds panics."""
        if not isinstance(at, Secret):
            return SecretArray.of_rows(value if k == range(len(self))[at] else element for k, element in enumerate(self.elements))
        tracer = at._tracer
        type, expression = result(self, tracer)
        _tell_cost(len(self) * width(type.parts[0]), "a write at a secret index", len(self))
        changed = tracer.fresh()
        write = f"let mut {changed}: {type.text} = {expression}; {changed}[{_index(at)}] = {result_as(value, type.parts[0], tracer)}; {changed}"
        made = parameter(tracer, tracer.name(f"{{ {write} }}", type), type)
        assert isinstance(made, SecretArray)
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of all dimensions."""
        inner = self.elements[0].shape if self.elements and isinstance(self.elements[0], SecretArray) else ()
        return (len(self.elements), *inner)

    def _each(self, other: Any, operate: Callable[[Any, Any], Any]) -> Any:
        other = _public(other)
        if isinstance(other, (Secret, numbers.Number, Decimal)):
            return SecretArray([operate(own, other) for own in self.elements])
        if not hasattr(other, "__len__"):
            return NotImplemented
        check_depth("two arrays", self, other)
        if len(other) != len(self):
            raise ValueError(f"expected two arrays of one length, got {len(self)} and {len(other)}")
        return SecretArray([operate(own, of_other) for own, of_other in zip(self.elements, other, strict=True)])

    def __add__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: b * a)

    def __truediv__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a / b)

    def __floordiv__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a // b)

    def __mod__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a % b)

    def __and__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a & b)

    def __or__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a | b)

    def __invert__(self) -> SecretArray:
        return SecretArray([~element for element in self.elements])

    def __neg__(self) -> SecretArray:
        return SecretArray([-element for element in self.elements])

    def __abs__(self) -> SecretArray:
        return SecretArray([abs(element) for element in self.elements])

    def __lt__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a >= b)

    def __eq__(self, other: Any) -> Any:
        return _compared(self._each(other, lambda a, b: a == b), "array of secrets", other)

    def __ne__(self, other: Any) -> Any:
        return _compared(self._each(other, lambda a, b: a != b), "array of secrets", other)

    def __bool__(self) -> bool:
        raise TypeError("an array of secrets is neither true nor false: use garblet.where")

    def __matmul__(self, other: Any) -> Any:
        """The inner product, also of matrices."""
        right = other if isinstance(other, SecretArray) else SecretArray(other)
        if len(self.shape) > 1:
            return SecretArray([row @ right for row in self.elements])
        if len(self) != len(right):
            raise ValueError(f"expected as many rows as columns, got {len(self)} and {len(right)}")
        if len(right) and isinstance(right[0], SecretArray):
            columns = [SecretArray(column) for column in zip(*right, strict=True)]
            return SecretArray([self @ column for column in columns])
        return (self * right).sum()

    def __rmatmul__(self, other: Any) -> Any:
        return SecretArray(other) @ self

    def sum(self) -> Any:
        """The sum of all elements; for Booleans, the number of true ones, as u32."""
        elements = [element.sum() if isinstance(element, SecretArray) else element for element in self.elements]
        if not elements:
            raise ValueError("the sum of no elements has no type")
        if self._whole is not None and isinstance(self.elements[0], Secret):
            return self._looped_sum(self._whole, self.elements[0])
        counted = [element.astype("u32") if isinstance(element, Secret) and element._of is BOOL else element for element in elements]
        return functools.reduce(lambda a, b: a + b, counted)

    def _looped_sum(self, whole: str, first: Secret) -> Secret:
        tracer, counts = first._tracer, first._of is BOOL
        check_home(first, tracer)
        type = parse("u32") if counts else first._of
        total = tracer.name(type.literal(0), type, "let mut")
        index = tracer.begin(f"0usize..{len(self)}usize")
        tracer.end((total, "", f"{total} + {whole}[{index}]" + (" as u32" if counts else "")))
        # A copy of the current value: the named one may change.
        return tracer.let(total, type)


class SecretList:
    """A list of at most so many secrets, whose length is secret. `append` changes it, as in Python."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tracer: Tracer, expression: str, type: Type) -> None:
        self._tracer = tracer
        self._of = type
        self._name = tracer.name(expression, type, "let mut")
        self._scope = tracer.scopes[-1]
        self._place = _place()

    def __repr__(self) -> str:
        return f"<secret {self._of.text}, {self._place}>"

    def __len__(self) -> int:
        raise TypeError("the length of this list is secret: .length() is a secret number")

    def __bool__(self) -> bool:
        raise TypeError("nobody knows whether this list is empty: compare .length() with 0")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("nobody knows how many elements this list has: garblet.loop(step, first, list) goes through them")

    def length(self) -> Secret:
        """The number of elements, as u32."""
        check_home(self, self._tracer)
        return self._tracer.let(f"{self._name}.len() as u32", "u32")

    def __getitem__(self, at: int | Secret) -> Any:
        check_home(self, self._tracer)
        if isinstance(at, Secret):
            index = _index(at)
        else:
            index = f"{at}usize" if at >= 0 else f"{self._name}.len() - {-at}usize"
        _tell_cost(self._of.count * width(self._of.parts[0]), "an element of a list", self._of.count)
        return parameter(self._tracer, self._tracer.name(f"{self._name}[{index}]", self._of.parts[0]), self._of.parts[0])

    def append(self, value: Any, when: Secret | bool = True) -> None:
        """Appends a value, where `when` holds. A list that is full panics."""
        check_home(self, self._tracer)
        push = f"{self._name}.push({result_as(value, self._of.parts[0], self._tracer)});"
        if isinstance(when, Secret):
            push = f"if {result_as(when, BOOL, self._tracer)} {{ {push} }}"
        if when is not False:
            self._tracer.write(push, self._name)

    def sum(self) -> Secret:
        """The sum of all elements."""
        check_home(self, self._tracer)
        type, tracer = self._of.parts[0], self._tracer
        if not type.is_number:
            raise TypeError(f"the sum of {self._of.text}: expected numbers")
        total = tracer.name(type.literal(0), type, "let mut")
        element = tracer.begin(self._name)
        tracer.end((total, "", f"{total} + {element}"))
        return tracer.let(total, type)


def width(type: Type) -> int:
    """The number of bits of a value, without the lengths of lists."""
    if type.kind in ("array", "list"):
        return type.count * width(type.parts[0])
    return sum(map(width, type.parts)) if type.parts else max(1, type.bits + type.point)


def _tell_cost(gates: int, what: str, count: int) -> None:
    if gates >= _DEAR:
        log.info("%s: %s among %d elements takes about %s AND gates", _place(), what, count, f"{gates:,}")


def _index(at: Secret) -> str:
    if not at._of.is_word:
        raise TypeError(f"expected a whole number as an index, got {at.type}")
    check_home(at, at._tracer)
    # A negative number becomes one that is out of bounds.
    return f"{at._expression} as usize" if at._of.bits <= 32 else at.astype("u32")._expression + " as usize"


def _compared(compared: Any, type: str, other: Any) -> Any:
    """Whether two values are equal. Otherwise Python's default would answer that a secret equals only itself."""
    if compared is NotImplemented and not isinstance(other, SecretArray):
        raise TypeError(f"expected two of one type to compare, got {type} and {other!r}")
    return compared


def check_home(secret: Secret | SecretList, tracer: Tracer) -> None:
    """Checks that a secret is of this function, and that its loop is not over."""
    if secret._tracer is not tracer:
        raise TypeError("expected a secret of this function, got one of another")
    if secret._scope not in tracer.scopes:
        raise TypeError(f"{secret!r} was made in a loop that is over, so it has no value here: let the loop's function return it")


def _depth(value: Any) -> int:
    """The number of dimensions of a secret or public array; 0 for a single value."""
    if isinstance(value, SecretArray):
        return len(value.shape)
    if hasattr(value, "ndim"):
        return int(value.ndim)
    if isinstance(value, (list, tuple)):
        return 1 + (_depth(value[0]) if value else 0)
    return 1 if hasattr(value, "__len__") and not isinstance(value, str) else 0


def check_depth(what: str, one: Any, other: Any) -> None:
    """Rejects a matrix with a vector, because it is ambiguous whether rows or columns are meant; numpy takes rows."""
    if _depth(one) != _depth(other):
        raise ValueError(
            f"expected {what} of as many dimensions, got {_depth(one)} and {_depth(other)}: to take a vector for each row, write "
            "garblet.SecretArray([row + vector for row in matrix])"
        )


def _public(value: Any) -> Any:
    """A public array, or a column or frame of a library, as lists; a frame becomes a list of rows."""
    if isinstance(value, (Secret, SecretArray, SecretList)):
        return value
    if isinstance(value, (set, frozenset, Mapping)):
        raise TypeError(f"expected an array, got a {type(value).__name__}, whose elements have no place")
    if isinstance(value, str):
        raise TypeError("expected numbers, got text")
    if hasattr(value, "to_numpy") and hasattr(value, "__len__"):
        value = value.to_numpy()
    elif columns_of(value) is not None:
        # A pyarrow table, whose elements are its columns.
        value = value.__array__()
    if has_times(getattr(value, "dtype", None)):
        raise TypeError("expected numbers, got times, whose numbers depend on their unit")
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, Sequence) else value


def named(tracer: Tracer, array: SecretArray) -> tuple[str, Type]:
    """The name of an array in the source, and the type of its elements."""
    type, expression = result(array, tracer)
    name = array._whole if array._whole is not None else tracer.name(expression, type)
    return name, type.parts[0]


def parameter(tracer: Tracer, expression: str, type: Type) -> Any:
    """What stands for a value of this type in a function that is traced."""
    tracer.module.declare(type)
    if type.kind == "array":
        return SecretArray.of_rows([parameter(tracer, f"{expression}[{k}]", type.parts[0]) for k in range(type.count)], expression)
    if type.kind == "list":
        return SecretList(tracer, expression, type)
    if type.kind == "tuple":
        return tuple(parameter(tracer, f"{expression}.{k}", part) for k, part in enumerate(type.parts))
    if type.kind == "record":
        fields = {name: parameter(tracer, f"{expression}.{name}", part) for name, part in zip(type.names, type.parts, strict=True)}
        return type.made(**fields)
    return Secret(tracer, expression, type)


def result(value: Any, tracer: Tracer) -> tuple[Type, str]:
    """The type of a value and its expression."""
    if isinstance(value, Secret):
        check_home(value, tracer)
        return value._of, value._expression
    if isinstance(value, SecretList):
        check_home(value, tracer)
        return value._of, value._name
    if isinstance(value, SecretArray):
        if value._whole is not None and value.elements:
            return array_of(result(value.elements[0], tracer)[0], len(value)), value._whole
        parts = [result(element, tracer) for element in value.elements]
        texts = sorted({type.text for type, _ in parts})
        if len(texts) != 1:
            raise TypeError(f"expected an array of one type as the result, got {texts}")
        return array_of(parts[0][0], len(parts)), f"[{', '.join(expression for _, expression in parts)}]"
    if isinstance(value, tuple) and value:
        parts = [result(element, tracer) for element in value]
        of = tuple_of(tuple(type for type, _ in parts))
        return of, of.built([expression for _, expression in parts])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [result(getattr(value, field.name), tracer) for field in dataclasses.fields(value)]
        of = record_of(type(value), tuple(part for part, _ in parts))
        tracer.module.declare(of)
        return of, of.built([expression for _, expression in parts])
    if hasattr(value, "__array__") and _depth(value) > 0:
        # The result of pandas for `frame @ secrets`.
        return result(SecretArray(value), tracer)
    raise TypeError(f"expected a result that depends on an input, got {value!r}")


def result_as(value: Any, type: Type, tracer: Tracer) -> str:
    """A value in the source, where one of this type is expected: it may be known."""
    if isinstance(value, (Secret, SecretList)):
        found, expression = result(value, tracer)
        if found.text != type.text:
            raise TypeError(f"expected {type.text}, got {found.text}: convert it")
        return expression
    if type.kind == "bool" and isinstance(value, bool):
        return str(value).lower()
    if type.is_number and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return type.literal(int(value))
    if type.kind == "fixed" and isinstance(value, (float, Decimal, Fraction)):
        return type.literal(value)
    if type.kind == "array":
        if isinstance(value, SecretArray) and value._whole is not None:
            found, expression = result(value, tracer)
            if found.text == type.text:
                return expression
        elements = value.elements if isinstance(value, SecretArray) else SecretArray(value).elements
        if len(elements) == type.count:
            return f"[{', '.join(result_as(element, type.parts[0], tracer) for element in elements)}]"
    if type.kind == "tuple" and isinstance(value, tuple) and len(value) == len(type.parts):
        return type.built([result_as(part, of, tracer) for part, of in zip(value, type.parts, strict=True)])
    if type.kind == "record" and isinstance(value, type.made):
        return type.built([result_as(getattr(value, name), of, tracer) for name, of in zip(type.names, type.parts, strict=True)])
    raise TypeError(f"expected {type.text}, got {value!r}")
