"""Values of Python on their way into a program: numbers and lists, `bytes`, buffers (numpy), columns of data frames."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from ._garblet import Port
from .errors import InputError

#: What an input may be: numbers, `bool`, `str`, `bytes`, `decimal.Decimal`, sequences and mappings of these; a buffer, as numpy arrays are;
#: a column of pandas, polars or pyarrow, or whatever gives Arrow data where pyarrow is installed.
Value = Any
#: The inputs of a party, by name.
Inputs = Mapping[str, Value]

#: The letters of buffers for words: unsigned, signed, truth.
_LETTERS = {"u": "BHILQN", "i": "bhilqn", "b": "?"}
_NAMES = {"u": "uint", "i": "int", "b": "bool"}


def encode(ports: list[Port], inputs: Inputs) -> str:
    """Writes inputs as JSON, which is what programs read. Names that the program does not have are told there."""
    by_name = {port.name: port for port in ports}
    return json.dumps({name: _encode(value, by_name.get(name), f"input `{name}`") for name, value in inputs.items()})


def _encode(value: Value, port: Port | None, path: str) -> Any:
    column = _column(value, path)
    if isinstance(column, (bytes, bytearray)):
        return {"hex": bytes(column).hex()}
    words = port.words if port is not None else None
    if words is not None and _is_buffer(column):
        return _words(memoryview(column), words, path)
    return _plain(column, path)


def _is_buffer(value: Value) -> bool:
    try:
        view = memoryview(value)
    except TypeError:
        return False
    # A scalar of numpy is a buffer, too; one of objects is no array of words.
    return view.ndim > 0 and view.format != "O"


def _words(view: memoryview, words: tuple[str, int, list[int]], path: str) -> Any:
    """An array of words from memory: of exactly the type and the shape that the program takes."""
    kind, bits, shape = words
    order = (view.format or "B")[0] if len(view.format or "B") > 1 else "@"
    letter = (view.format or "B")[-1]
    expected = "bool" if kind == "b" else f"{_NAMES[kind]}{bits}"
    swapped = order in ">!" and view.itemsize > 1
    if kind != "b" and bits not in (8, 16, 32, 64):
        # There is no such word in memory: the values are looked at one by one.
        return _plain(view.tolist(), path)
    if letter not in _LETTERS[kind] or swapped or (kind != "b" and view.itemsize * 8 != bits):
        raise InputError(
            f"{path}: expected words of {expected}, got a buffer of format `{view.format}` ({view.itemsize} bytes each)",
            f"with numpy, .astype(numpy.{expected}) makes it so, if every value fits",
        )
    if list(view.shape or ()) != shape:
        raise InputError(
            f"{path}: expected {' x '.join(map(str, shape))} words, got {' x '.join(map(str, view.shape or ()))}",
            "the size is part of the program: compile it for as many, or give as many",
        )
    if kind == "b":
        return {"bits": "".join("1" if bit else "0" for bit in view.tobytes())}
    return {"hex": view.tobytes().hex()}


def _column(value: Value, path: str) -> Value:
    """Columns of data frames as buffers. A value that is missing is refused by name."""
    if not (hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__") or hasattr(value, "isna")):
        return value
    if not hasattr(value, "to_numpy"):
        value = _by_pyarrow(value, path)
    missing = _missing(value)
    if missing:
        raise InputError(
            f"{path}: expected a value in every row, got {missing} missing",
            "drop these rows or fill them: fill_null or fill_nan with polars and pyarrow, fillna with pandas",
        )
    try:
        # pyarrow does not copy unless it may; it must for bits.
        return value.to_numpy(zero_copy_only=False)
    except TypeError:
        return value.to_numpy()


def _missing(value: Value) -> int:
    if hasattr(value, "isna"):
        return int(value.isna().sum())
    count = getattr(value, "null_count", 0)
    return int(count() if callable(count) else count)


def _by_pyarrow(value: Value, path: str) -> Value:
    try:
        import pyarrow
    except ImportError:
        kind = type(value).__name__
        raise InputError(
            f"{path}: a {kind} of Arrow data can be read by pyarrow only, which is not installed", "pip install pyarrow"
        ) from None
    if hasattr(value, "__arrow_c_stream__"):
        return pyarrow.chunked_array(value)
    return pyarrow.array(value)


def _plain(value: Value, path: str) -> Any:
    """A value as JSON has it."""
    if value is None:
        raise InputError(f"{path}: expected a value, got None", "drop or fill what is missing")
    if value is True or value is False or type(value) in (int, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return {"hex": bytes(value).hex()}
    if isinstance(value, (Decimal, float)):
        if not math.isfinite(value):
            raise InputError(f"{path}: expected a number, got {value}", "drop or fill what is missing")
        # A float keeps its point, and so is none of the integers.
        return format(value, "f") if isinstance(value, Decimal) else float(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(inner, f"{path}.{name}") for name, inner in value.items()}
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0:
        value = value.tolist()
    try:
        return operator.index(value)
    except TypeError:
        pass
    try:
        elements = iter(value)
    except TypeError:
        raise InputError(f"{path}: expected a value, got a {type(value).__name__}") from None
    return [_plain(element, f"{path}[{at}]") for at, element in enumerate(elements)]
