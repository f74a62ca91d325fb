"""The shapes of inputs, from the types of ports as text: `u8`, `[u8; 4]`, `[{key: u32, value: u32}; ..16]`, `enum {No, Yes(u8)}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(r"\s*(\w+|\.\.|[^\s\w])")


@dataclass(frozen=True)
class Shape:
    """A type. At most one of `element` and `fields` is there."""

    text: str
    #: The type of the elements of an array or a list.
    element: Shape | None = None
    #: The types of the fields of a record or a tuple.
    fields: Mapping[str, Shape] | None = None

    @property
    def is_enum(self) -> bool:
        """Whether names in a value are variants, which are as secret as values."""
        return self.text.startswith("enum")

    @property
    def rows(self) -> Mapping[str, Shape] | None:
        """The types of the fields of the elements, of an array or a list of records."""
        return None if self.element is None else self.element.fields


@lru_cache(maxsize=1024)
def shape(type: str) -> Shape:
    """The shape of a type, as a port has it."""
    found, _ = _read(_TOKEN.findall(type), 0)
    return Shape(type, found.element, found.fields)


def _read(tokens: list[str], at: int) -> tuple[Shape, int]:
    """The shape that begins at a token, and the place behind it."""
    if tokens[at] == "[":
        element, end = _read(tokens, at + 1)
        end = tokens.index("]", end) + 1
        return Shape("", element), end
    if tokens[at] == "{":
        fields: dict[str, Shape] = {}
        end = at + 1
        while tokens[end] != "}":
            name, end = tokens[end], end + 2
            fields[name], end = _read(tokens, end)
            end += tokens[end] == ","
        return Shape("", fields=fields), end + 1
    # A word, with what is in brackets behind it.
    end, depth = at + 1, 0
    while end < len(tokens) and (depth or tokens[end] in "<{"):
        depth += (tokens[end] in "<{[(") - (tokens[end] in ">}])")
        end += 1
    return Shape(tokens[at]), end
