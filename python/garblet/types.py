"""Types of the language, as text in annotations: `u32`, `fixed<16, 16>`, `[u32; 10]`, `[u32; ..10]`, `(u8, bool)`, and dataclasses as records."""

from __future__ import annotations

import dataclasses
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
_WORD = re.compile(r"([ui])(8|16|32|64|128)")


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
    #: The dataclass of a record.
    made: Any = None

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
        # As many decimal digits as tell two numbers of the type apart: the language reads 38 at most.
        count = len(str(2**self.point))
        digits = f"{round(Fraction(abs(scaled) * 10**count, 2**self.point)):0{count + 1}d}"
        part = digits[-count:].rstrip("0") or "0"
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
        if isinstance(meant, (int, float)) or meant == annotation:
            raise
        return parse(meant, names)


def _record(made: type, names: Mapping[str, Any]) -> Type:
    module = vars(sys.modules[made.__module__])
    parts = tuple(parse(field.type, {**module, **names}) for field in dataclasses.fields(made))
    return record_of(made, parts)


def _wrong(annotation: Any) -> UsageError:
    return UsageError(
        f"a type of a parameter: expected one of the language, got {annotation!r}",
        'such as bool, u32, i16, fixed<16, 16>, [u32; 10], the list [u32; ..10], (u8, bool), or the name of a dataclass',
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
        number = int(token) if token.isdigit() else self._names.get(token)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 2**32:
            raise _wrong(self._text)
        return number

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
        if word:
            return Type(token, word[1], int(word[2]))
        named = self._names.get(token)
        if named is None or isinstance(named, str):
            raise _wrong(self._text)
        return parse(named, self._names)
