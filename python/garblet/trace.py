"""Python functions as programs: tracing a function writes a source in the function language.

The function is called once, with placeholders for secrets. Its operations are recorded line by line and compiled, so types, overflow,
optimisation and messages are the language's own. Python loops unroll, and a Python condition must not be secret: use `where` for that.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, get_origin

from .errors import CompileError, UsageError
from .program import compile
from .values import columns_of, has_times

_TYPE = re.compile(r"\[\s*(?P<inner>.+);\s*(?P<count>\d+)\s*\]|(?P<word>bool|[ui]\d+)")


class Tracer:
    """The source that is being written."""

    def __init__(self, parameters: Iterable[str] = ()) -> None:
        self.lines: list[str] = []
        # No parameter name begins this way.
        self._prefix = "t"
        while any(name.startswith(self._prefix) for name in parameters):
            self._prefix += "_"

    def let(self, expression: str, type: str) -> Secret:
        """Names an expression."""
        return Secret(self, self.name(expression, type), type)

    def name(self, expression: str, type: str, keyword: str = "let") -> str:
        """A new name for a value of any type; with `let mut`, for a mutable one."""
        name = f"{self._prefix}{len(self.lines)}"
        self.lines.append(f"    {keyword} {name}: {type} = {expression};")
        return name

    def begin(self, count: int) -> tuple[int, str]:
        """Begins a loop, and returns its line and the name of its counter, which starts at zero."""
        line = len(self.lines)
        index = f"{self._prefix}{line}"
        self.lines.append(f"    for {index} in 0usize..{count}usize {{")
        return line, index

    def end(self, *statements: str) -> None:
        """Ends the innermost loop with these statements."""
        self.lines += [f"    {statement};" for statement in statements] + ["    }"]

    def declare(self, line: int, number: int, type: str, value: str) -> str:
        """Names a mutable value before a loop."""
        name = f"{self._prefix}{line}_{number}"
        self.lines[line] = f"    let mut {name}: {type} = {value};\n{self.lines[line]}"
        return name


class Secret:
    """A secret word: nobody knows its value during the computation."""

    # Makes numpy arrays and pandas frames, whose priority is 4000, leave operators to this class.
    __array_ufunc__ = None
    __pandas_priority__ = 5000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tracer: Tracer, expression: str, type: str) -> None:
        self._tracer = tracer
        self._expression = expression
        self.type = type

    def __bool__(self) -> bool:
        raise TypeError(
            "a secret cannot decide which code runs: nobody knows it. Use garblet.where(condition, one, other) in place of "
            "`if`, `and`, `or` and comparisons in chains, and & | ~ for conditions"
        )

    def __index__(self) -> int:
        raise TypeError("a secret is no index and no number of iterations: nobody knows it. garblet.where chooses between elements")

    def _with(self, other: Any) -> str | None:
        """The other operand in the source; None if it is not a valid operand."""
        if isinstance(other, Secret):
            _check_home(other, self._tracer)
            if other.type != self.type:
                raise TypeError(f"expected two of one type, got {self.type} and {other.type}: convert one, as {self.type}")
            return other._expression
        if self.type == "bool" and isinstance(other, bool):
            return str(other).lower()
        if self.type != "bool" and isinstance(other, numbers.Integral) and not isinstance(other, bool):
            return _literal(int(other), self.type)
        return None

    def _binary(self, operator: str, other: Any, type: str | None = None, swapped: bool = False) -> Any:
        with_other = self._with(other)
        if with_other is None:
            return NotImplemented
        left, right = (with_other, self._expression) if swapped else (self._expression, with_other)
        return self._tracer.let(f"{left} {operator} {right}", type or self.type)

    def __add__(self, other: Any) -> Any:
        return self._binary("+", other)

    def __radd__(self, other: Any) -> Any:
        return self._binary("+", other, swapped=True)

    def __sub__(self, other: Any) -> Any:
        return self._binary("-", other)

    def __rsub__(self, other: Any) -> Any:
        return self._binary("-", other, swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._binary("*", other)

    def __rmul__(self, other: Any) -> Any:
        return self._binary("*", other, swapped=True)

    def __floordiv__(self, other: Any) -> Any:
        return self._unsigned("//")._binary("/", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._unsigned("//")._binary("/", other, swapped=True)

    def __mod__(self, other: Any) -> Any:
        return self._unsigned("%")._binary("%", other)

    def __rmod__(self, other: Any) -> Any:
        return self._unsigned("%")._binary("%", other, swapped=True)

    def _unsigned(self, operator: str) -> Secret:
        if self.type.startswith("i"):
            raise TypeError(f"{operator} of {self.type}: Python rounds down and the language towards zero; use unsigned numbers")
        return self

    def __and__(self, other: Any) -> Any:
        return self._binary("&", other)

    def __rand__(self, other: Any) -> Any:
        return self._binary("&", other, swapped=True)

    def __or__(self, other: Any) -> Any:
        return self._binary("|", other)

    def __ror__(self, other: Any) -> Any:
        return self._binary("|", other, swapped=True)

    def __xor__(self, other: Any) -> Any:
        return self._binary("^", other)

    def __rxor__(self, other: Any) -> Any:
        return self._binary("^", other, swapped=True)

    def __invert__(self) -> Secret:
        return self._tracer.let(f"!{self._expression}", self.type)

    def __neg__(self) -> Secret:
        return self._tracer.let(f"-{self._expression}", self.type)

    def __lt__(self, other: Any) -> Any:
        return self._binary("<", other, "bool")

    def __le__(self, other: Any) -> Any:
        return self._binary("<=", other, "bool")

    def __gt__(self, other: Any) -> Any:
        return self._binary(">", other, "bool")

    def __ge__(self, other: Any) -> Any:
        return self._binary(">=", other, "bool")

    def __eq__(self, other: Any) -> Any:
        return _compared(self._binary("==", other, "bool"), self.type, other)

    def __ne__(self, other: Any) -> Any:
        return _compared(self._binary("!=", other, "bool"), self.type, other)

    def astype(self, type: str) -> Secret:
        """Converts the number to another type, like `as` in the language."""
        return self._tracer.let(f"{self._expression} as {type}", type)


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

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements)

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return SecretArray(self.elements[at])
        return self.elements[at]

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of all dimensions."""
        inner = self.elements[0].shape if self.elements and isinstance(self.elements[0], SecretArray) else ()
        return (len(self.elements), *inner)

    def _each(self, other: Any, operate: Callable[[Any, Any], Any]) -> Any:
        other = _public(other)
        if isinstance(other, (Secret, numbers.Integral)):
            return SecretArray([operate(own, other) for own in self.elements])
        if not hasattr(other, "__len__"):
            return NotImplemented
        _check_depth("two arrays", self, other)
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

    def __and__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a & b)

    def __or__(self, other: Any) -> Any:
        return self._each(other, lambda a, b: a | b)

    def __invert__(self) -> SecretArray:
        return SecretArray([~element for element in self.elements])

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
        counted = [
            element.astype("u32") if isinstance(element, Secret) and element.type == "bool" else element for element in elements
        ]
        return functools.reduce(lambda a, b: a + b, counted)

    def _looped_sum(self, whole: str, first: Secret) -> Secret:
        tracer, counts = first._tracer, first.type == "bool"
        type = "u32" if counts else first.type
        total = tracer.name(f"0{type}", type, "let mut")
        _, index = tracer.begin(len(self))
        tracer.end(f"{total} = {total} + {whole}[{index}]" + (" as u32" if counts else ""))
        # A copy of the current value: the named one may change.
        return tracer.let(total, type)


#: Parameter types, which a type checker sees as secrets. Write other types as `Annotated[SecretArray, "[u32; 10]"]`, or as plain text.
u8 = Annotated[Secret, "u8"]
u16 = Annotated[Secret, "u16"]
u32 = Annotated[Secret, "u32"]
u64 = Annotated[Secret, "u64"]
i8 = Annotated[Secret, "i8"]
i16 = Annotated[Secret, "i16"]
i32 = Annotated[Secret, "i32"]
i64 = Annotated[Secret, "i64"]


def _compared(compared: Any, type: str, other: Any) -> Any:
    """Whether two values are equal. Otherwise Python's default would answer that a secret equals only itself."""
    if compared is NotImplemented and not isinstance(other, SecretArray):
        raise TypeError(f"expected two of one type to compare, got {type} and {other!r}")
    return compared


def _check_home(secret: Secret, tracer: Tracer) -> None:
    if secret._tracer is not tracer:
        raise TypeError("expected a secret of this function, got one of another")


def _depth(value: Any) -> int:
    """The number of dimensions of a secret or public array; 0 for a single value."""
    if isinstance(value, SecretArray):
        return len(value.shape)
    if hasattr(value, "ndim"):
        return int(value.ndim)
    if isinstance(value, (list, tuple)):
        return 1 + (_depth(value[0]) if value else 0)
    return 1 if hasattr(value, "__len__") and not isinstance(value, str) else 0


def _check_depth(what: str, one: Any, other: Any) -> None:
    """Rejects a matrix with a vector, because it is ambiguous whether rows or columns are meant; numpy takes rows."""
    if _depth(one) != _depth(other):
        raise ValueError(
            f"expected {what} of as many dimensions, got {_depth(one)} and {_depth(other)}: to take a vector for each row, write "
            "garblet.SecretArray([row + vector for row in matrix])"
        )


def _public(value: Any) -> Any:
    """A public array, or a column or frame of a library, as lists; a frame becomes a list of rows."""
    if isinstance(value, (Secret, SecretArray)):
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


def where(condition: Any, one: Any, other: Any) -> Any:
    """Chooses `one` where the secret `condition` holds, and `other` elsewhere. Both are computed, and a panic in either counts. Arrays choose elementwise."""
    if isinstance(condition, SecretArray):
        for side in (one, other):
            if isinstance(side, SecretArray):
                _check_depth("a condition and choices", condition, side)
        ones = one if isinstance(one, SecretArray) else [one] * len(condition)
        others = other if isinstance(other, SecretArray) else [other] * len(condition)
        return SecretArray([where(*three) for three in zip(condition, ones, others, strict=True)])
    if isinstance(condition, bool):
        return one if condition else other
    if not isinstance(condition, Secret) or condition.type != "bool":
        raise TypeError(f"garblet.where: expected a condition, got {getattr(condition, 'type', type(condition).__name__)}")
    if isinstance(one, SecretArray) and isinstance(other, SecretArray):
        _check_depth("two arrays", one, other)
    if isinstance(one, SecretArray) or isinstance(other, SecretArray):
        count = len(one if isinstance(one, SecretArray) else other)
        pairs = zip(*(side if isinstance(side, SecretArray) else [side] * count for side in (one, other)), strict=True)
        return SecretArray([where(condition, *pair) for pair in pairs])
    known = one if isinstance(one, Secret) else other
    if not isinstance(known, Secret):
        raise TypeError("garblet.where: expected a secret to choose, got two known values, which have no type")
    for side in (one, other):
        if isinstance(side, Secret):
            _check_home(side, condition._tracer)
    sides = [side._expression if isinstance(side, Secret) else known._with(side) for side in (one, other)]
    types = {side.type for side in (one, other) if isinstance(side, Secret)}
    if None in sides or len(types) > 1:
        raise TypeError(f"garblet.where: expected two of one type, got {one!r} and {other!r}")
    return condition._tracer.let(f"if {condition._expression} {{ {sides[0]} }} else {{ {sides[1]} }}", known.type)


def map(mapped: Callable[..., Any], *columns: Any) -> Any:
    """Calls a function for each row of columns of equal length, as a loop of the language. `mapped` is traced only once, so a million rows make no longer a source than one.

    Returns an array, or one array for each element of the tuple that `mapped` returns.

    >>> import garblet
    >>> @garblet.function
    ... def fees(amounts: "[u32; 1000]", rate: garblet.u32):
    ...     return garblet.map(lambda amount: garblet.where(amount > 50, amount * rate, 0), amounts).sum()
    >>> fees.evaluate(amounts=range(1000), rate=2)
    {'out0': 996450}
    """
    lengths = sorted({len(column) if isinstance(column, SecretArray) else -1 for column in columns})
    if len(lengths) != 1 or lengths[0] < 1:
        raise TypeError("garblet.map: expected secret arrays of one length, and not of none")
    (count,) = lengths
    tracer = _tracer(columns[0])
    taken = [_named(tracer, column) for column in columns]
    line, index = tracer.begin(count)
    result = mapped(*(_parameter(tracer, f"{name}[{index}]", type) for name, type in taken))
    parts = [_result(part, tracer) for part in (result if isinstance(result, tuple) else (result,))]
    wholes = [
        (tracer.declare(line, at, f"[{type}; {count}]", f"[{_zero(type)}; {count}]"), type)
        for at, (type, _) in enumerate(parts)
    ]
    tracer.end(*(f"{name}[{index}] = {expression}" for (name, _), (_, expression) in zip(wholes, parts, strict=True)))
    arrays = [_parameter(tracer, name, f"[{type}; {count}]") for name, type in wholes]
    return tuple(arrays) if isinstance(result, tuple) else arrays[0]


def _tracer(value: Any) -> Tracer:
    """The source to which a secret or an array of secrets belongs."""
    while isinstance(value, SecretArray):
        value = value.elements[0]
    if not isinstance(value, Secret):
        raise TypeError(f"expected an array of secrets, got one of {type(value).__name__}")
    return value._tracer


def _named(tracer: Tracer, array: SecretArray) -> tuple[str, str]:
    """The name of an array in the source, and the type of its elements."""
    type, expression = _result(array, tracer)
    name = array._whole if array._whole is not None else tracer.name(expression, type)
    return name, type[1:].rpartition("; ")[0]


def _zero(type: str) -> str:
    """A placeholder value of a type."""
    found = _TYPE.fullmatch(type)
    if found is None:
        raise TypeError(f"garblet.map: expected a word or an array for each row, got {type}")
    if found["word"]:
        return "false" if type == "bool" else f"0{type}"
    return f"[{_zero(found['inner'])}; {found['count']}]"


def _literal(value: int, type: str) -> str:
    bits = int(type[1:])
    low, high = (0, 2**bits) if type.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    if not low <= value < high:
        raise OverflowError(f"{value} is no {type}")
    return f"({value}{type})" if value < 0 else f"{value}{type}"


def _parameter(tracer: Tracer, expression: str, type: str) -> Any:
    found = _TYPE.fullmatch(type.strip())
    if found is None:
        raise UsageError(f"a type of a parameter: expected bool, u32, i16 or an array like [u32; 10], got {type!r}")
    if found["word"]:
        return Secret(tracer, expression, found["word"])
    elements = [_parameter(tracer, f"{expression}[{k}]", found["inner"]) for k in range(int(found["count"]))]
    return SecretArray(elements, expression)


def _result(value: Any, tracer: Tracer) -> tuple[str, str]:
    """The type of a result and its expression."""
    if isinstance(value, Secret):
        _check_home(value, tracer)
        return value.type, value._expression
    if isinstance(value, SecretArray):
        if value._whole is not None and value.elements:
            return f"[{_result(value.elements[0], tracer)[0]}; {len(value)}]", value._whole
        parts = [_result(element, tracer) for element in value.elements]
        types = sorted({type for type, _ in parts})
        if len(types) != 1:
            raise TypeError(f"expected an array of one type as the result, got {types}")
        return f"[{types[0]}; {len(parts)}]", f"[{', '.join(expression for _, expression in parts)}]"
    if isinstance(value, tuple):
        parts = [_result(element, tracer) for element in value]
        return f"({', '.join(type for type, _ in parts)})", f"({', '.join(expression for _, expression in parts)})"
    if hasattr(value, "__array__") and _depth(value) > 0:
        # The result of pandas for `frame @ secrets`.
        return _result(SecretArray(value), tracer)
    raise TypeError(f"expected a result that depends on an input, got {value!r}")


def source(traced: Callable[..., Any], types: dict[str, str]) -> str:
    """Traces a function with parameters of these types to a source."""
    tracer = Tracer(types)
    arguments = {name: _parameter(tracer, name, type) for name, type in types.items()}
    type, expression = _result(traced(**arguments), tracer)
    parameters = ", ".join(f"{name}: {of}" for name, of in types.items())
    body = "\n".join([*tracer.lines, f"    {expression}"])
    return f"pub fn main({parameters}) -> {type} {{\n{body}\n}}\n"


def _annotated(name: str, traced: Callable[..., Any], parameter: inspect.Parameter) -> str:
    """The type of a parameter, from its annotation. Every parameter is a party's input, so optional parameters are not allowed."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise UsageError(f"{name}: parameter `{parameter}` stands for several", "write them one by one: each is an input")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise UsageError(f"{name}: parameter `{parameter.name}` is taken by place alone", "leave the `/` out: inputs are given by name")
    if parameter.default is not parameter.empty:
        raise UsageError(
            f"{name}: parameter `{parameter.name}` has a default value, but each parameter is an input, which a party gives",
            "take what all know from outside: let the function use a variable of a function around it",
        )
    annotation = parameter.annotation
    if isinstance(annotation, str) and not _TYPE.fullmatch(annotation.strip()):
        # With `from __future__ import annotations`, all annotations are text.
        annotation = eval(annotation, getattr(traced, "__globals__", {}))
    if get_origin(annotation) is Annotated:
        annotation = annotation.__metadata__[0]
    if not isinstance(annotation, str):
        advice = 'annotate it: a: garblet.u32, or as text, a: "[u32; 10]"'
        raise UsageError(f"{name}: parameter `{parameter.name}` has no type of the language", advice)
    return annotation


def function(traced: Callable[..., Any] | None = None, /, *, panics: bool = True, effort: int | None = None) -> Any:
    """Makes a program from a function whose parameters are annotated with types of the language (`garblet.u32`, `"[u32; 10]"`). Party `k` provides parameter `k`. The elements of a returned tuple are separate outputs.

    >>> import garblet
    >>> @garblet.function
    ... def auction(a: garblet.u32, b: garblet.u32):
    ...     return garblet.where(a > b, a, b), a > b
    >>> auction.evaluate(a=7, b=9)
    {'out0': 9, 'out1': False}
    """
    if traced is None:
        return functools.partial(function, panics=panics, effort=effort)
    name = getattr(traced, "__name__", "function")
    types = {parameter.name: _annotated(name, traced, parameter) for parameter in inspect.signature(traced).parameters.values()}
    try:
        return compile(source(traced, types), name=name, panics=panics, effort=effort)
    except CompileError as error:
        error.add_note("the source was written by garblet.function, a line for each operation")
        raise


__all__ = ["Secret", "SecretArray", "function", "i16", "i32", "i64", "i8", "map", "source", "u16", "u32", "u64", "u8", "where"]
