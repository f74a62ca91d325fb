"""Secrets: values that nobody knows while a function is traced. Each operation on them is a line of a source in the function language.

They compute what Python computes on the same numbers, or panic: also `//` and `%` of negative numbers, `<<`, and conversions.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import math
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
from .types import BOOL, USIZE, WORD_BITS, Type, array_of, parse, rebuilt, record_of, tuple_of
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

    def __init__(self, panics: bool = True) -> None:
        self.panics = panics
        self.structs: dict[str, Type] = {}
        #: The functions that are being traced, because they were called.
        self.calls: list[Any] = []
        #: The name and the type of the result of each function, by its body.
        self.bodies: dict[tuple[Any, ...], tuple[str, Type]] = {}
        self.functions: list[list[Line]] = []
        # The costs that were told, each once.
        self._told: set[tuple[str, str]] = set()

    def tell_cost(self, gates: int, what: str, count: int) -> None:
        """Logs what takes many AND gates."""
        told = _place(), f"{what} among {count} elements takes about {gates:,} AND gates"
        if gates >= _DEAR and told not in self._told:
            self._told.add(told)
            log.info("%s: %s", *told)

    def declare(self, type: Type) -> None:
        """Declares the records of a type."""
        for part in type.parts:
            self.declare(part)
        if type.kind == "record" and self.structs.setdefault(type.text, type) != type:
            raise UsageError(
                f"two records are called {type.text}, with fields of different names or types",
                "call one of them otherwise; in a notebook, begin a new block of garblet.interactive",
            )

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
        # The records of which there are copies, with the values of their fields then, and the place.
        self._copied: dict[int, tuple[Any, tuple[Any, ...], str]] = {}
        # The second calls of bodies that are under way: within one, bodies are called once.
        self._checking = 0
        #: How many records and lists were appended to lists.
        self.appended = 0
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

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Statements that are written all or, if an exception leaves the block, none."""
        lines, scopes = len(self.lines), len(self.scopes)
        try:
            yield
        except BaseException:
            del self.lines[lines:], self.scopes[scopes:]
            raise

    def body(self, call: Callable[[], Any]) -> Any:
        """What `call` returns, which writes the body of a loop, and returns all that the loop needs of it: types and expressions.

        It is called twice, and the second time nothing is kept. If that differs, the body depends on something that changes from row to row, such as a variable
        or a record outside of it. As one loop of the language it would not compute what it computes in Python.
        """
        starts = [(len(self.lines), self._count)]
        made = []
        for again in range(2 - (self._checking > 0)):
            self._count = starts[0][1]
            self._checking += again
            try:
                made.append(call())
            finally:
                self._checking -= again
            starts.append((len(self.lines), self._count))
        if len(made) == 1:
            return made[0]
        (start, _), (middle, count), _ = starts
        one, other = ([(line.text, line.makes) for line in self.lines[of]] for of in (slice(start, middle), slice(middle, None)))
        del self.lines[middle:]
        self._count = count
        if one != other or made[0] != made[1]:
            raise TypeError(
                "the function of a loop keeps something outside of it, so that a second call computes something else. It is written once, for all rows: let garblet.loop "
                "carry from row to row what changes, or use a loop of Python"
            )
        return made[0]

    def share(self, value: Any, lists: bool = True) -> None:
        """Notes that there are copies of the records and lists in a value, or that they are copies. Python has one object, so a change of either is refused."""
        if isinstance(value, SecretList):
            value._copied = value._copied or (_place() if lists else None)
        elif isinstance(value, (SecretArray, tuple, list)):
            for element in value if can_change(value) else ():
                self.share(element, lists)
        elif is_record(value):
            fields = tuple(fields_of(value).values())
            if id(value) not in self._copied:
                self._copied[id(value)] = value, fields, _place()
                self.share(fields, lists)

    def check_shared(self) -> None:
        """Checks that no record of which there are copies was changed."""
        for record, values, place in self._copied.values():
            for (name, now), then in zip(fields_of(record).items(), values, strict=True):
                if now is not then:
                    # Undone, so that a session can go on.
                    object.__setattr__(record, name, then)
                    where = f"{now._place}: " if isinstance(now, (Secret, SecretList)) else ""
                    raise TypeError(
                        f"{where}the field `{name}` of a record {type(record).__name__} was changed. There is another copy of it, made at {place}, that would not change with it: "
                        f"make a new record, dataclasses.replace(record, {name}=...)"
                    )


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

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, _: Any) -> Secret:
        return self

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
        raise TypeError("a secret is no float: nobody knows it. Declare it as fixed; math.floor and math.ceil round it")

    def _with(self, other: Any) -> str | None:
        """The other operand in the source; None if it is not a valid operand."""
        if isinstance(other, Secret):
            check_home(other, self._tracer)
            check_home(self, self._tracer)
            if other.type != self.type:
                raise TypeError(f"expected two of one type, got {self.type} and {other.type}: convert one, {_conversion(self._of, other._of)}")
            return other._expression
        check_home(self, self._tracer)
        if is_condition(other):
            return str(bool(other)).lower() if self._of is BOOL else None
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
                f"/ of {self.type}: the quotient may not be a whole number. Write // for whole numbers, or convert both: "
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
        if of.kind == "i" and not swapped and not isinstance(other, Secret):
            divisor = int(other)
            if divisor & (divisor - 1) == 0 < divisor:
                # Shifts and masks round down.
                cut = f">> {divisor.bit_length() - 1}" if operator == "//" else f"& {of.literal(divisor - 1)}"
                return self._tracer.let(f"{self._expression} {cut}", of)
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
            raise TypeError(f'- of {self.type}: convert it to a type with signs, such as .astype("i{min(2 * self._of.bits, WORD_BITS)}")')
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

    def __ceil__(self) -> Secret:
        """The least whole number that is not less: `math.ceil`."""
        return self if self._of.is_word else -math.floor(-self)

    def __trunc__(self) -> Secret:
        raise TypeError("a secret is rounded by math.floor(x) or math.ceil(x)")

    def __round__(self, _: Any = None) -> Secret:
        raise TypeError("a secret is rounded by math.floor(x), or math.floor(x + 0.5), which rounds halves up")

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
            raise TypeError(f"expected a type of numbers, got {to.text}" + (": write x != 0" if to is BOOL else ""))
        if own.kind == "fixed" and to.is_word:
            raise TypeError(f"{own.text} to {to.text}: say how to round it, math.floor(x) or math.floor(x + 0.5)")
        if not own.is_number:
            if to.is_word:
                return self._tracer.let(f"{self._expression} as {to.text}", to)
            return self.astype("u8").astype(to.text)
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
    """An array of secrets, of such arrays, or of tuples or records of secrets. Operators work elementwise on arrays of equal shape, or with a single value."""

    __array_ufunc__ = None
    # The same for pandas frames, whose priority is 4000 and which would take rows for columns.
    __pandas_priority__ = 5000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, elements: Any, whole: str | None = None) -> None:
        # Lists are rows, which have the operators of arrays. Tuples with secrets stay tuples, which have none.
        known = (_public(element) if home_of(element) is None or not isinstance(element, tuple) else element for element in _public(elements))
        self._elements = tuple(SecretArray(element) if isinstance(element, list) else element for element in known)
        # The array's name in the source, if it has one.
        self._name = whole

    @classmethod
    def of_rows(cls, rows: Iterable[Any], whole: str | None = None) -> SecretArray:
        """An array whose elements stay what they are."""
        array = cls((), whole)
        array._elements = tuple(rows)
        return array

    @property
    def elements(self) -> tuple[Any, ...]:
        """The elements."""
        return self._elements

    @property
    def whole(self) -> str | None:
        """The array's name in the source, if it has one, and nothing in the array was changed since."""
        if self._name is None or not can_change(self):
            return self._name
        return self._name if all(_is_at(element, f"{self._name}[{k}]") for k, element in enumerate(self._elements)) else None

    def __copy__(self) -> SecretArray:
        return self

    def __deepcopy__(self, seen: Any) -> SecretArray:
        return SecretArray.of_rows(copy.deepcopy(self._elements, seen))

    def __len__(self) -> int:
        return len(self._elements)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements)

    def __repr__(self) -> str:
        first: Any = self._elements[0] if self._elements else None
        while isinstance(first, SecretArray) and first.elements:
            first = first.elements[0]
        return f"<array of {' x '.join(map(str, self.shape))}: {first!r}, ...>"

    def __getitem__(self, at: int | slice | Secret) -> Any:
        if isinstance(at, slice):
            return SecretArray.of_rows(self._elements[at])
        if not isinstance(at, Secret):
            return self._elements[at]
        tracer = at._tracer
        name, type = named(tracer, self)
        tracer.module.tell_cost(len(self) * width(type), "a secret index", len(self))
        found = parameter(tracer, tracer.name(f"{name}[{_index(at)}]", type), type)
        tracer.share((self, found))
        return found

    def __setitem__(self, at: Any, value: Any) -> None:
        raise TypeError("an array of secrets does not change: write a = a.replaced(k, x)")

    def replaced(self, at: int | Secret, value: Any) -> SecretArray:
        """The same array with another element at this index, which may be secret. An index out of bounds panics."""
        if not isinstance(at, Secret):
            return SecretArray.of_rows(value if k == range(len(self))[at] else element for k, element in enumerate(self._elements))
        tracer = at._tracer
        type, expression = result(self, tracer)
        tracer.module.tell_cost(len(self) * width(type.parts[0]), "a write at a secret index", len(self))
        changed = tracer.fresh()
        write = f"let mut {changed}: {type.text} = {expression}; {changed}[{_index(at)}] = {result_as(value, type.parts[0], tracer)}; {changed}"
        made = parameter(tracer, tracer.name(f"{{ {write} }}", type), type)
        assert isinstance(made, SecretArray)
        tracer.share((self, value, made))
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of all dimensions."""
        inner = self._elements[0].shape if self._elements and isinstance(self._elements[0], SecretArray) else ()
        return (len(self), *inner)

    def _each(self, operator: str, other: Any, operate: Callable[[Any, Any], Any]) -> Any:
        self._operands(operator)
        other = _public(other)
        if isinstance(other, (Secret, numbers.Number, Decimal)):
            return SecretArray.of_rows(operate(own, other) for own in self._elements)
        if not hasattr(other, "__len__"):
            return NotImplemented
        check_depth("two arrays", self, other)
        if len(other) != len(self):
            raise ValueError(f"expected two arrays of one length, got {len(self)} and {len(other)}")
        return SecretArray.of_rows(operate(own, of_other) for own, of_other in zip(self._elements, other, strict=True))

    def _operands(self, operator: str) -> tuple[Any, ...]:
        """The elements, if they have operators: those of Python's tuples and lists would join or repeat them."""
        if self._elements and isinstance(self._elements[0], (tuple, SecretList)):
            raise TypeError(f"{operator} of an array of tuples or lists: it works on numbers. Rows of a matrix are arrays: garblet.SecretArray([[a, b], [c, d]])")
        return self._elements

    def _map(self, operator: str, operate: Callable[[Any], Any]) -> SecretArray:
        return SecretArray.of_rows(map(operate, self._operands(operator)))

    def __add__(self, other: Any) -> Any:
        return self._each("+", other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self._each("+", other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Any:
        return self._each("-", other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._each("-", other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._each("*", other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self._each("*", other, lambda a, b: b * a)

    def __truediv__(self, other: Any) -> Any:
        return self._each("/", other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._each("/", other, lambda a, b: b / a)

    def __floordiv__(self, other: Any) -> Any:
        return self._each("//", other, lambda a, b: a // b)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._each("//", other, lambda a, b: b // a)

    def __mod__(self, other: Any) -> Any:
        return self._each("%", other, lambda a, b: a % b)

    def __rmod__(self, other: Any) -> Any:
        return self._each("%", other, lambda a, b: b % a)

    def __pow__(self, exponent: Any) -> Any:
        return self._each("**", exponent, lambda a, b: a**b)

    def __lshift__(self, by: Any) -> Any:
        return self._each("<<", by, lambda a, b: a << b)

    def __rshift__(self, by: Any) -> Any:
        return self._each(">>", by, lambda a, b: a >> b)

    def __and__(self, other: Any) -> Any:
        return self._each("&", other, lambda a, b: a & b)

    def __rand__(self, other: Any) -> Any:
        return self._each("&", other, lambda a, b: b & a)

    def __or__(self, other: Any) -> Any:
        return self._each("|", other, lambda a, b: a | b)

    def __ror__(self, other: Any) -> Any:
        return self._each("|", other, lambda a, b: b | a)

    def __xor__(self, other: Any) -> Any:
        return self._each("^", other, lambda a, b: a ^ b)

    def __rxor__(self, other: Any) -> Any:
        return self._each("^", other, lambda a, b: b ^ a)

    def __invert__(self) -> SecretArray:
        return self._map("~", lambda a: ~a)

    def __neg__(self) -> SecretArray:
        return self._map("-", lambda a: -a)

    def __abs__(self) -> SecretArray:
        return self._map("abs", abs)

    def astype(self, type: str) -> SecretArray:
        """The array with every number converted, as by `Secret.astype`."""
        return self._map("astype", lambda a: a.astype(type))

    def __lt__(self, other: Any) -> Any:
        return self._each("<", other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._each("<=", other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._each(">", other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._each(">=", other, lambda a, b: a >= b)

    def __eq__(self, other: Any) -> Any:
        return _compared(self._each("==", other, lambda a, b: a == b), "array of secrets", other)

    def __ne__(self, other: Any) -> Any:
        return _compared(self._each("!=", other, lambda a, b: a != b), "array of secrets", other)

    def __bool__(self) -> bool:
        raise TypeError("an array of secrets is neither true nor false: use garblet.where")

    def __matmul__(self, other: Any) -> Any:
        """The inner product, also of matrices."""
        right = other if isinstance(other, SecretArray) else SecretArray(other)
        if len(self.shape) > 1:
            return SecretArray.of_rows(row @ right for row in self._elements)
        if len(self) != len(right):
            raise ValueError(f"expected as many rows as columns, got {len(self)} and {len(right)}")
        if len(right) and isinstance(right[0], SecretArray):
            return SecretArray.of_rows(self @ SecretArray.of_rows(column) for column in zip(*right, strict=True))
        return (self * right).sum()

    def __rmatmul__(self, other: Any) -> Any:
        return SecretArray(other) @ self

    def sum(self) -> Any:
        """The sum of all elements, added one by one; for Booleans, the number of true ones, as u32."""
        elements = [element.sum() if isinstance(element, SecretArray) else element for element in self._operands("sum")]
        if not elements:
            raise ValueError("the sum of no elements has no type")
        if self.whole is not None and isinstance(self._elements[0], Secret):
            return self._looped_sum(self.whole, self._elements[0])
        counted = [element.astype("u32") if isinstance(element, Secret) and element._of is BOOL else element for element in elements]
        return functools.reduce(lambda a, b: a + b, counted)

    def _looped_sum(self, whole: str, first: Secret) -> Secret:
        tracer, counts = first._tracer, first._of is BOOL
        check_home(first, tracer)
        type = parse("u32") if counts else first._of
        with tracer.together():
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
        # The place where this list was copied, or became a copy; and whether it was changed.
        self._copied: str | None = None
        self._is_changed = False
        # Set while a loop is under way whose state it is.
        self._is_state = False

    def __repr__(self) -> str:
        return f"<secret {self._of.text}, {self._place}>"

    def copy(self) -> SecretList:
        """Another list with the same elements."""
        check_home(self, self._tracer)
        return SecretList(self._tracer, self._name, self._of)

    __copy__ = copy

    def __deepcopy__(self, _: Any) -> SecretList:
        return self.copy()

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
        tracer, type = self._tracer, self._of.parts[0]
        tracer.module.tell_cost(self._of.count * width(type), "an element of a list", self._of.count)
        found = parameter(tracer, tracer.name(f"{self._name}[{index}]", type), type)
        tracer.share(found)
        return found

    def append(self, value: Any, when: Secret | bool = True) -> None:
        """Appends a value, where `when` holds. A list that is full panics."""
        self._check_single()
        push = f"{self._name}.push({result_as(value, self._of.parts[0], self._tracer)});"
        if isinstance(when, Secret):
            push = f"if {result_as(when, BOOL, self._tracer)} {{ {push} }}"
        elif not is_condition(when):
            raise TypeError(f"append: expected a condition as when=, got {type(when).__name__}")
        if isinstance(when, Secret) or when:
            self._tracer.share(value)
            self._tracer.appended += can_change(value)
            self._is_changed = True
            self._tracer.write(push, self._name)

    def _check_single(self) -> None:
        check_home(self, self._tracer)
        if self._copied is not None:
            raise TypeError(f"there is another copy of this list, made at {self._copied}, that would not grow with it: append to a new list, list.copy()")

    def _grow(self, grown: SecretList) -> None:
        """Makes this list the one that it has become in a loop."""
        self._check_single()
        self._is_changed = True
        self._tracer.write(f"{self._name} = {grown._name};", self._name)

    def sum(self) -> Secret:
        """The sum of all elements."""
        check_home(self, self._tracer)
        type, tracer = self._of.parts[0], self._tracer
        if not type.is_number:
            raise TypeError(f"the sum of {self._of.text}: expected numbers")
        with tracer.together():
            total = tracer.name(type.literal(0), type, "let mut")
            element = tracer.begin(self._name)
            tracer.end((total, "", f"{total} + {element}"))
            return tracer.let(total, type)


def width(type: Type) -> int:
    """The number of bits of a value, without the lengths of lists."""
    if type.kind in ("array", "list"):
        return type.count * width(type.parts[0])
    return sum(map(width, type.parts)) if type.parts else max(1, type.bits + type.point)


def is_condition(value: Any) -> bool:
    """Whether a value is a known condition, of Python or numpy."""
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def is_record(value: Any) -> bool:
    """Whether a value is an object of a dataclass."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def fields_of(record: Any) -> dict[str, Any]:
    """The fields of a record, by name."""
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}


def lists_of(value: Any) -> list[SecretList]:
    """The lists in a value, as often as they are there."""
    if isinstance(value, SecretList):
        return [value]
    parts = value if isinstance(value, (SecretArray, tuple, list)) else fields_of(value).values() if is_record(value) else ()
    return [found for part in parts for found in lists_of(part)]


def can_change(value: Any) -> bool:
    """Whether there are records or lists in a value, which Python can change. The elements of an array are alike."""
    if isinstance(value, SecretArray):
        return can_change(value.elements[:1])
    return isinstance(value, SecretList) or is_record(value) or isinstance(value, (tuple, list)) and any(map(can_change, value))


def _is_at(value: Any, expression: str) -> bool:
    """Whether a value is still what this expression has in the source. A list has its own name there."""
    if isinstance(value, SecretArray):
        return value.whole == expression
    if isinstance(value, tuple):
        return all(_is_at(part, f"{expression}.{k}") for k, part in enumerate(value))
    if is_record(value):
        return all(_is_at(part, f"{expression}.{name}") for name, part in fields_of(value).items())
    return isinstance(value, Secret) and value._expression == expression


def home_of(value: Any) -> Tracer | None:
    """The function to which a value with secrets belongs; None if nothing in it is secret."""
    if isinstance(value, (Secret, SecretList)):
        return value._tracer
    if isinstance(value, (SecretArray, tuple, list)):
        return next((home for home in map(home_of, value) if home is not None), None)
    if isinstance(value, Mapping):
        return home_of(tuple(value.values()))
    return home_of(tuple(fields_of(value).values())) if is_record(value) else None


def _conversion(one: Type, other: Type) -> str:
    """A conversion between two types that keeps most numbers."""
    return f'.astype("{max((one, other), key=lambda of: (of.point, of.bits, of.kind == "i")).text}")' if one.is_number and other.is_number else "or compare it with 0"


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
    if isinstance(secret, SecretList) and secret._is_state:
        raise TypeError(f"{secret!r} is the state of a loop that is under way: use the list that the loop's function is given")
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
    name = array.whole or tracer.name(expression, type)
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
        return rebuilt(type.made, {name: parameter(tracer, f"{expression}.{name}", part) for name, part in zip(type.names, type.parts, strict=True)})
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
        whole = value.whole
        if whole is not None and value.elements:
            return array_of(result(value.elements[0], tracer)[0], len(value)), whole
        parts = [result(element, tracer) for element in value.elements]
        texts = sorted({type.text for type, _ in parts})
        if len(texts) != 1:
            raise TypeError(f"expected an array of one type as the result, got {texts}")
        return array_of(parts[0][0], len(parts)), f"[{', '.join(expression for _, expression in parts)}]"
    if isinstance(value, tuple) and value:
        parts = [result(element, tracer) for element in value]
        of = tuple_of(tuple(type for type, _ in parts))
        return of, of.built([expression for _, expression in parts])
    if is_record(value):
        parts = [result(part, tracer) for part in fields_of(value).values()]
        of = record_of(type(value), tuple(part for part, _ in parts))
        tracer.module.declare(of)
        return of, of.built([expression for _, expression in parts])
    if hasattr(value, "__array__") and _depth(value) > 0:
        # The result of pandas for `frame @ secrets`.
        return result(SecretArray(value), tracer)
    if home_of(value) is not None:
        advice = "a dataclass" if isinstance(value, Mapping) else "a tuple, or garblet.SecretArray(list)"
        raise TypeError(f"a {type(value).__name__} of secrets is no value of the language: return {advice}")
    raise TypeError(f"expected a result that depends on an input, got {value!r}")


def result_as(value: Any, type: Type, tracer: Tracer) -> str:
    """A value in the source, where one of this type is expected: it may be known."""
    if isinstance(value, (Secret, SecretList)):
        found, expression = result(value, tracer)
        if found.text != type.text:
            raise TypeError(f"expected {type.text}, got {found.text}: convert it")
        return expression
    if type.kind == "bool" and is_condition(value):
        return str(bool(value)).lower()
    if type.is_number and isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return type.literal(int(value))
    if type.kind == "fixed" and isinstance(value, (float, Decimal, Fraction)):
        return type.literal(value)
    if type.kind == "array":
        if isinstance(value, SecretArray) and value.whole is not None:
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
