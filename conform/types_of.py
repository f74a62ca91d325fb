"""Types of ports: their texts, widths, encodings in the digest, and values (file 5, "Types")."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .notation import CallError, u32, u64

T = TypeVar("T")


@dataclass(frozen=True)
class Type:
    """A type; `parts` are the element, the fields of a record, or the fields of each variant."""

    kind: str
    size: int = 0
    fraction: int = 0
    element: Type | None = None
    fields: tuple[tuple[str, Type], ...] = ()
    variants: tuple[tuple[str, tuple[Type, ...]], ...] = field(default=())

    def of(self) -> Type:
        assert self.element is not None
        return self.element

    @property
    def count_bits(self) -> int:
        """Bits of the count of a list, or of the tag of an enum."""
        return self.size.bit_length() if self.kind == "list" else max(0, len(self.variants) - 1).bit_length()

    @property
    def width(self) -> int:
        match self.kind:
            case "bytes":
                return 8 * self.size
            case "fixed":
                return self.size + self.fraction
            case "array":
                return self.size * self.of().width
            case "list":
                return self.count_bits + self.size * self.of().width
            case "record":
                return sum(part.width for _, part in self.fields)
            case "enum":
                return self.count_bits + max(sum(part.width for part in parts) for _, parts in self.variants)
            case _:
                return self.size

    def digest(self) -> bytes:
        """The numbers of the type (file 5, "Digest")."""
        simple = {"bits": 0, "bool": 1, "unsigned": 2, "signed": 3, "bytes": 4, "float": 10, "bfloat": 11}
        match self.kind:
            case "array" | "list":
                return u32(5 if self.kind == "array" else 9) + u32(self.size) + self.of().digest()
            case "record":
                out = u32(6) + u32(0) + u64(len(self.fields))
                return out + b"".join(text(name) + part.digest() for name, part in self.fields)
            case "enum":
                out = u32(7) + u32(0) + u64(len(self.variants))
                for name, parts in self.variants:
                    out += text(name) + u64(len(parts)) + b"".join(part.digest() for part in parts)
                return out
            case "fixed":
                return u32(8) + u32(self.size) + u32(self.fraction)
            case kind:
                return u32(simple[kind]) + u32(self.size)

    def bits(self, value: Any) -> list[int]:
        """The bits of a value as this peer's input files write it. That form is this peer's own choice."""
        match self.kind:
            case "bits" | "bytes":
                return self._bits_of_string(value)
            case "bool":
                return [int(bool(value))]
            case "unsigned" | "signed":
                return _integer(int(value), self.size)
            case "fixed":
                return _integer(round(float(value) * (1 << self.fraction)), self.width)
            case "float":
                packed = _packed({16: "<e", 32: "<f", 64: "<d"}[self.size], float(value))
                return _integer(int.from_bytes(packed, "little"), self.size)
            case "bfloat":
                return _integer(_bfloat16(float(value)), self.size)
            case "array":
                if len(value) != self.size:
                    raise CallError(f"a value of an array: expected {self.size} elements, got {len(value)}")
                return [bit for part in value for bit in self.of().bits(part)]
            case "list":
                bits = _integer(len(value), self.count_bits) + [bit for part in value for bit in self.of().bits(part)]
                return bits + [0] * (self.width - len(bits))
            case "record":
                return [bit for name, part in self.fields for bit in part.bits(value[name])]
            case _:
                name, given = (value, []) if isinstance(value, str) else next(iter(value.items()))
                number = [name for name, _ in self.variants].index(name)
                parts = self.variants[number][1]
                given = given if isinstance(given, list) and len(parts) != 1 else [given] if parts else []
                bits = _integer(number, self.count_bits)
                bits += [bit for part, one in zip(parts, given, strict=True) for bit in part.bits(one)]
                return bits + [0] * (self.width - len(bits))

    def _bits_of_string(self, value: Any) -> list[int]:
        if isinstance(value, dict) and "hex" in value:
            data = bytes.fromhex(value["hex"])
            return [byte >> i & 1 for byte in data for i in range(8)][: self.width]
        if isinstance(value, dict) and "bits" in value:
            value = value["bits"]
        if isinstance(value, list):
            return [byte >> i & 1 for byte in value for i in range(8)]
        if isinstance(value, int):
            return _integer(value, self.width)
        if set(value) <= {"0", "1"} and len(value) == self.width:
            return [int(c) for c in value]
        return _integer(int(value, 0), self.width)


def _packed(form: str, value: float) -> bytes:
    try:
        return struct.pack(form, value)
    except OverflowError as error:
        raise CallError(f"expected a number of the format, got {value!r}, which is beyond all of them") from error


def _bfloat16(value: float) -> int:
    """The upper half of a binary32. A number that is not one of bfloat16 is refused, since this peer rounds to none."""
    bits = int.from_bytes(_packed("<f", value), "little")
    if struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0] != value and value == value:
        raise CallError(f"expected a number of bfloat16, got {value!r}")
    return bits >> 16


def _integer(value: int, width: int) -> list[int]:
    return [value >> i & 1 for i in range(width)]


def text(value: str) -> bytes:
    """A text of the digest (file 5, "Digest")."""
    data = value.encode()
    return u64(len(data)) + data


_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_-]*|\d+|\.\.|[\[\]{}()<>;:,])")


def parse(source: str) -> Type:
    """The type of a text (file 5, "Types")."""
    tokens: list[str] = []
    at = 0
    stripped = source.rstrip()
    while at < len(stripped):
        found = _TOKEN.match(stripped, at)
        if not found:
            raise CallError(f"type {source!r}: unexpected {stripped[at:]!r}")
        tokens.append(found[1])
        at = found.end()
    tokens.reverse()

    def take(expected: str | None = None) -> str:
        token = tokens.pop() if tokens else ""
        if expected is not None and token != expected:
            raise CallError(f"type {source!r}: expected {expected!r}, got {token!r}")
        return token

    def separated(end: str, one: Callable[[], T]) -> tuple[T, ...]:
        found: list[T] = []
        if tokens and tokens[-1] != end:
            found.append(one())
            while tokens and tokens[-1] == ",":
                take()
                found.append(one())
        take(end)
        return tuple(found)

    def a_name() -> str:
        name = take()
        if not name.isidentifier() and not name.replace("-", "_").isidentifier():
            raise CallError(f"type {source!r}: expected a name, got {name!r}")
        return name

    def variant() -> tuple[str, tuple[Type, ...]]:
        name = a_name()
        if tokens and tokens[-1] == "(":
            take()
            return name, separated(")", parse_type)
        return name, ()

    def named() -> tuple[str, Type]:
        name = a_name()
        take(":")
        return name, parse_type()

    def parse_type() -> Type:
        token = take()
        if token == "[":
            element = parse_type()
            take(";")
            kind = "array"
            if tokens and tokens[-1] == "..":
                take()
                kind = "list"
            size = int(take())
            take("]")
            return Type(kind, size, element=element)
        if token == "{":
            return Type("record", fields=separated("}", named))
        if token == "enum":
            take("{")
            return Type("enum", variants=separated("}", variant))
        if token == "fixed":
            take("<")
            whole = int(take())
            take(",")
            fraction = int(take())
            take(">")
            return Type("fixed", whole, fraction)
        if token == "bool":
            return Type("bool", 1)
        if token in ("f16", "f32", "f64"):
            return Type("float", int(token[1:]))
        if token == "bf16":
            return Type("bfloat", 16)
        if found := re.fullmatch(r"(bits|bytes|u|i)(\d+)", token):
            return Type({"u": "unsigned", "i": "signed"}.get(found[1], found[1]), int(found[2]))
        raise CallError(f"type {source!r}: expected a type, got {token!r}")

    result = parse_type()
    if tokens:
        raise CallError(f"type {source!r}: expected the end, got {tokens[-1]!r}")
    return result
