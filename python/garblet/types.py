"""Types of the language, as text in annotations: `u32`, `fixed<16, 16>`, `[u32; 10]`, `[u32; ..10]`, `(u8, bool)`, and dataclasses as records."""

from __future__ import annotations

import dataclasses
import numbers
import re
import sys
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from .errors import UsageError

_TOKEN = re.compile(r"\s*(\.\.|[A-Za-z_]\w*|\d+|[\[\](){}<>;,])")
#: The most decimal digits that the language reads.
_DIGITS_MAX = 38
_WORD = re.compile(r"([ui])([1-9]\d{0,3})")
#: The most bits of a whole number.
WORD_BITS = 4096
#: The words of the language that are no names.
_KEYWORDS = frozenset("as const else enum fn for if in let match mut pub struct".split())
#: The words that name fields, but no parameters: those of Rust that the language lacks, and the functions that are called in the source of a traced function.
_WORDS = frozenset("async await break continue dyn false impl loop mod move ref return self trait true use while max min sqrt sort keep join".split())


@dataclass(frozen=True)
class Type:
    """A type. `kind` is `bool`, `u`, `i`, `fixed`, `array`, `list`, `tuple` or `record`."""

    text: str
    kind: str
    #: The bits of a word; of a fixed-point number, those before the point.
    bits: int = 0
    #: The bits after the point.
    point: int = 0
    #: The length of an array, the most elements of a list.
    count: int = 0
    #: The types of the elements, or of the fields.
    parts: tuple[Type, ...] = ()
    names: tuple[str, ...] = ()
    #: The dataclass of a record. Running its definition again makes another one.
    made: Any = dataclasses.field(default=None, compare=False)

    @property
    def is_word(self) -> bool:
        return self.kind in ("u", "i")

    @property
    def is_number(self) -> bool:
        return self.kind in ("u", "i", "fixed")

    @cached_property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number, times two to the number of bits after the point."""
        bits = self.bits + self.point
        return (0, 2**bits - 1) if self.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    def literal(self, value: Any) -> str:
        """A known number in the source. A number for a fixed-point type is rounded to the nearest one, in a tie to the even one."""
        low, high = self.range
        scaled = round(Fraction(Decimal(repr(float(value))) if isinstance(value, float) else value) * 2**self.point)
        if not low <= scaled <= high:
            raise OverflowError(f"{value} is no {self.text}")
        if self.is_word:
            return f"({scaled}{self.text})" if scaled < 0 else f"{scaled}{self.text}"
        return self._fixed_literal(scaled)

    def _fixed_literal(self, scaled: int) -> str:
        # As many decimal digits as tell two numbers of the type apart.
        count = len(str(2**self.point))
        digits = f"{round(Fraction(abs(scaled) * 10**count, 2**self.point)):0{count + 1}d}"
        part = digits[-count:].rstrip("0") or "0"
        if len(digits) - count + len(part) > _DIGITS_MAX:
            whole = scaled >> self.point << self.point
            return f"({self._fixed_literal(whole)} + {self._fixed_literal(scaled - whole)})"
        return f"({'-' if scaled < 0 else ''}{digits[:-count]}.{part} as {self.text})"

    def zero(self) -> str:
        """A value in the source that stands in a place that is filled later."""
        if self.kind == "bool":
            return "false"
        if self.is_number:
            return self.literal(0)
        if self.kind == "array":
            return f"[{self.parts[0].zero()}; {self.count}]"
        if self.kind == "list":
            return "[]"
        return self.built([part.zero() for part in self.parts])

    def built(self, parts: list[str]) -> str:
        """A tuple or a record of these parts."""
        if self.kind == "tuple":
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        fields = ", ".join(f"{name}: {part}" for name, part in zip(self.names, parts, strict=True))
        return f"{self.text} {{ {fields} }}"


def array_of(part: Type, count: int) -> Type:
    return Type(f"[{part.text}; {count}]", "array", count=count, parts=(part,))


def list_of(part: Type, most: int) -> Type:
    return Type(f"[{part.text}; ..{most}]", "list", count=most, parts=(part,))


def tuple_of(parts: tuple[Type, ...]) -> Type:
    return Type(f"({', '.join(part.text for part in parts)}{',' if len(parts) == 1 else ''})", "tuple", parts=parts)


def record_of(made: Any, parts: tuple[Type, ...]) -> Type:
    """The record of a dataclass whose fields have these types."""
    names = tuple(field.name for field in dataclasses.fields(made))
    return Type(made.__name__, "record", parts=parts, names=names, made=made)


def rebuilt(made: Any, fields: Mapping[str, Any]) -> Any:
    """A record with these fields. Its constructor is not called, because its fields are what they are."""
    record = object.__new__(made)
    for name, value in fields.items():
        # Also if the dataclass is frozen.
        object.__setattr__(record, name, value)
    return record


def valued(type: Type, value: Any) -> Any:
    """An output of this type, with its records."""
    if value is None or not type.parts:
        return value
    if type.kind == "record":
        return rebuilt(type.made, {name: valued(part, value[name]) for name, part in zip(type.names, type.parts, strict=True)})
    if type.kind == "tuple":
        return tuple(valued(part, of) for part, of in zip(type.parts, value, strict=True))
    return [valued(type.parts[0], of) for of in value] if type.parts[0].parts else value


def returned(type: Type, outputs: Mapping[str, Any]) -> Any:
    """The value of a function with a result of this type, from the outputs of its program, in their order."""
    if type.kind == "record":
        return valued(type, outputs)
    return valued(type, tuple(outputs.values()) if type.kind == "tuple" else next(iter(outputs.values())))


def check_names(types: Mapping[str, Type]) -> None:
    """Checks that the names of parameters, and of the fields in their types, are names of the language."""
    for name, type in types.items():
        if not name.isascii() or name in _KEYWORDS | _WORDS:
            raise UsageError(f"parameter `{name}`: expected a name of the language", _NAMES)
        _check_fields(type)


def _check_fields(type: Type) -> None:
    for name in (type.text, *type.names) if type.kind == "record" else ():
        if not name.isascii() or name in _KEYWORDS:
            raise UsageError(f"record {type.text}, `{name}`: expected a name of the language", _NAMES)
    for part in type.parts:
        _check_fields(part)


#: Advice about names.
_NAMES = "call it otherwise: letters are those of ASCII, and words of Rust, such as match and loop, and max, min, sqrt, sort, keep and join are taken"

BOOL = Type("bool", "bool")
USIZE = Type("usize", "u", bits=32)


def parse(annotation: Any, names: Mapping[str, Any] | None = None) -> Type:
    """The type that an annotation means. `names` has the dataclasses and sizes that its text mentions."""
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = annotation.__metadata__[0]
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        return _record(annotation, names or {})
    if isinstance(annotation, Type):
        return annotation
    if annotation is bool:
        return BOOL
    if annotation is int or annotation is float:
        raise _wrong(annotation, "say how wide: garblet.u32 or garblet.i64" if annotation is int else "for numbers with a point, \"fixed<32, 16>\"")
    if not isinstance(annotation, str):
        raise _wrong(annotation)
    try:
        return _Reader(annotation, names or {}).whole()
    except UsageError:
        # With `from __future__ import annotations`, all annotations are text.
        try:
            meant = eval(annotation, dict(names or {}))
        except (NameError, SyntaxError, TypeError, AttributeError):
            raise _wrong(annotation) from None
        if isinstance(meant, (int, float)) or isinstance(meant, str) and meant == annotation:
            raise
        return parse(meant, names)


def _record(made: type, names: Mapping[str, Any]) -> Type:
    module = vars(sys.modules[made.__module__])
    parts = tuple(parse(field.type, {**module, **names}) for field in dataclasses.fields(made))
    return record_of(made, parts)


def _wrong(annotation: Any, advice: str | None = None) -> UsageError:
    return UsageError(
        f"{annotation!r} is not a type of the language",
        advice or 'such as bool, u32, i16, fixed<16, 16>, [u32; 10], the list [u32; ..10], (u8, bool), or the name of a dataclass',
    )


class _Reader:
    def __init__(self, text: str, names: Mapping[str, Any]) -> None:
        self._text, self._names = text, names
        self._tokens = [token.strip() for token in _TOKEN.findall(text)]
        if "".join(self._tokens) != "".join(text.split()):
            raise _wrong(text)
        self._at = 0

    def whole(self) -> Type:
        found = self._type()
        if self._at < len(self._tokens):
            raise _wrong(self._text)
        return found

    def _next(self, *expected: str) -> str:
        token = self._tokens[self._at] if self._at < len(self._tokens) else ""
        if not token or expected and token not in expected:
            raise _wrong(self._text)
        self._at += 1
        return token

    def _number(self) -> int:
        token = self._next()
        number: Any = int(token) if token.isdigit() else self._names.get(token)
        if not isinstance(number, numbers.Integral) or isinstance(number, bool) or not 0 <= int(number) < 2**32:
            raise _wrong(self._text)
        return int(number)

    def _type(self) -> Type:
        token = self._next()
        if token == "[":
            part = self._type()
            self._next(";")
            is_list = self._tokens[self._at : self._at + 1] == [".."]
            self._at += is_list
            made = (list_of if is_list else array_of)(part, self._number())
            self._next("]")
            return made
        if token == "(":
            parts = [self._type()]
            while self._next(",", ")") == ",":
                if self._tokens[self._at : self._at + 1] == [")"]:
                    continue
                parts.append(self._type())
            return tuple_of(tuple(parts))
        if token == "fixed":
            self._next("<")
            bits = self._number()
            self._next(",")
            point = self._number()
            self._next(">")
            if not (0 < bits and bits + point <= 128):
                raise _wrong(self._text)
            return Type(f"fixed<{bits}, {point}>", "fixed", bits, point)
        if token == "bool":
            return BOOL
        if token == "usize":
            return USIZE
        word = _WORD.fullmatch(token)
        if word and int(word[2]) <= WORD_BITS:
            return Type(token, word[1], int(word[2]))
        named = self._names.get(token)
        if named is None or isinstance(named, str):
            raise _wrong(self._text)
        return parse(named, self._names)
