"""Conversion of Python values to inputs of a program: numbers and lists, `bytes`, buffers (numpy), columns of data frames.

A rejected value is still a secret. Messages end up in logs, so they state its place and kind, never the value.
"""

from __future__ import annotations

import array
import contextlib
import dataclasses
import json
import math
import numbers
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from ._garblet import Port
from .errors import InputError
from .progress import log
from .shapes import Shape, shape

#: The types of inputs: numbers, `bool`, `str`, `bytes`, `decimal.Decimal`, sequences and mappings of these; a buffer, such as a numpy array;
#: a column of pandas, polars or pyarrow, or any object with Arrow data if pyarrow is installed; a data frame or a mapping of columns for records.
#: Columns of whole numbers of any width are taken if every number fits.
Value = Any
#: The inputs of a party, by name.
Inputs = Mapping[str, Value]

#: The format letters of word buffers: unsigned, signed.
_LETTERS = {"u": "BHILQN", "i": "bhilqn"}
#: The codes of `array.array` for signed words of so many bytes; those for unsigned words are the same in capitals.
_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}

#: The Arrow types for times.
_ARROW_TIMES = re.compile(r"\b(timestamp|time32|time64|date32|date64|duration)\[")

#: The widest integer to encode; no program has a wider one.
_BITS_MAX = 8192
#: The maximum nesting of a value.
_DEPTH_MAX = 100
#: Floating-point types shorter than a float of Python: the bits of the significand, and the exponent of the least number.
_PRECISIONS = {"f16": (11, -24), "bf16": (8, -133), "f32": (24, -149)}


def encode(ports: list[Port], inputs: Inputs) -> str:
    """Writes inputs as JSON, which programs read. The program reports unknown names."""
    by_name = {port.name: port for port in ports}
    return json.dumps({name: _encode(value, by_name.get(name), f"input `{name}`") for name, value in inputs.items()})


def library_of(inputs: Inputs) -> str | None:
    """The library of data frames from which inputs come, alone or in a mapping of columns; None if there is none."""
    for value in inputs.values():
        for column in value.values() if isinstance(value, Mapping) else (value,):
            library = type(column).__module__.partition(".")[0]
            if library in ("pandas", "polars"):
                return library
    return None


def _encode(value: Value, port: Port | None, path: str) -> Any:
    of = None if port is None else shape(port.type)
    if of is not None and of.rows is not None and isinstance(value, Mapping) and any(_has_rows(column) for column in value.values()):
        column: Value = _rows(value, list(value), path, of.rows)
        _check_index(value, path)
    else:
        column = _column(value, path, of)
    if isinstance(column, _Written):
        return column
    words = port.words if port is not None else None
    if isinstance(column, (bytes, bytearray)) and port is not None and (port.type.startswith("bytes") or _is_of_bytes(words)):
        return {"hex": bytes(column).hex()}
    # Memory has no words of other widths, so the values are checked one by one.
    has_memory = words is not None and (words[0] == "b" or words[1] in (8, 16, 32, 64))
    if port is not None and words is not None and has_memory and not isinstance(column, (bytes, bytearray)) and _is_buffer(column):
        return _words(memoryview(column), words, port.type, path)
    return _Writer(port).write(column, of, path, 0)


def columns_by_name(table: Value, path: str) -> dict[str, Value] | None:
    """The columns of a data frame or a mapping of columns, each as memory or a list; None if it is neither. Refuses missing values and times."""
    if type(table).__name__ == "LazyFrame":
        # It is refused, with the reason.
        _column(table, path, None)
    names = list(table) if isinstance(table, Mapping) else columns_of(table)
    if names is None:
        return None
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        raise InputError(f"{path}: expected columns of different names")
    if isinstance(table, Mapping):
        _check_index(table, path)
    return {text: list_column(table[name], path) for text, name in zip(texts, names, strict=True)}


def list_column(value: Value, path: str) -> Value:
    """A column of any library as memory or a list. Refuses missing values and times."""
    column = _column(value, path, None)
    if not _has_rows(column) or getattr(column, "ndim", 1) == 0:
        raise InputError(f"{path}: expected a column, got a {type(column).__name__}", "give a list, an array or a column of a frame")
    return column


def _check_index(columns: Mapping[Any, Value], path: str) -> None:
    """Rejects columns of pandas whose rows have different labels, because pandas would pair rows by label."""
    labels = [column.index for column in columns.values() if hasattr(getattr(column, "index", None), "equals")]
    if any(not labels[0].equals(of) for of in labels[1:]):
        raise InputError(
            f"{path}: expected columns with one index, got different ones", "let pandas.DataFrame(columns) pair the rows, or give column.to_numpy(), which is in order"
        )


def _is_of_bytes(words: tuple[str, int, list[int]] | None) -> bool:
    return words is not None and words[:2] == ("u", 8) and len(words[2]) > 0


def _is_buffer(value: Value) -> bool:
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        return False
    # A numpy scalar is a buffer too; an object array is not an array of words.
    return view.ndim > 0 and view.format != "O"


def _words(view: memoryview, words: tuple[str, int, list[int]], type: str, path: str) -> Any:
    """An array of words from memory, if every number fits the words that the program requires, and the shape is the same."""
    kind, bits, shape = words
    letter = (view.format or "B")[-1]
    if kind == "b" and letter != "?":
        raise InputError(f"{path}: expected {type}, got {_kind_of(view)}", "compare them: values != 0")
    if kind != "b" and letter not in _LETTERS["u"] + _LETTERS["i"]:
        raise InputError(f"{path}: expected {type}, got {_kind_of(view)}", _advice_for(letter))
    if list(view.shape or ()) != shape:
        raise InputError(
            f"{path}: expected {' x '.join(map(str, shape))} words, got {' x '.join(map(str, view.shape or ()))}",
            "the size is part of the program: compile it for as many, or give as many",
        )
    if kind == "b":
        return {"bits": "".join("1" if bit else "0" for bit in view.tobytes())}
    memory = view.tobytes()
    swapped = (view.format or "B")[0] in ">!" and view.itemsize > 1
    if letter in _LETTERS[kind] and not swapped and view.itemsize * 8 == bits:
        return {"hex": memory.hex()}
    code = _CODES[view.itemsize]
    found = array.array(code.upper() if letter in _LETTERS["u"] else code, memory)
    if swapped:
        found.byteswap()
    low, high = (0, 2**bits - 1) if kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if len(found) and not (low <= min(found) and max(found) <= high):
        at = next(k for k, number in enumerate(found) if not low <= number <= high)
        word = f"{kind}{bits}"
        raise InputError(f"{path}{_place(at, shape)}: expected {word}, got a number out of range", f"{word} is {low} to {high}")
    code = _CODES[bits // 8]
    return {"hex": array.array(code.upper() if kind == "u" else code, found).tobytes().hex()}


def _place(at: int, shape: list[int]) -> str:
    """The indices of an element, from its number in an array of this shape."""
    indices: list[int] = []
    for length in reversed(shape):
        at, index = divmod(at, length)
        indices.insert(0, index)
    return "".join(f"[{index}]" for index in indices)


def _kind_of(view: memoryview) -> str:
    letter = (view.format or "B")[-1]
    if letter in "efdg":
        return "floats"
    if letter == "?":
        return "Booleans"
    return "whole numbers" if letter in _LETTERS["u"] + _LETTERS["i"] else f"a buffer of format `{view.format}` ({view.itemsize} bytes each)"


def _advice_for(letter: str) -> str | None:
    if letter in "efdg":
        return 'declare the input as fixed, such as fixed<32, 16>; if all are whole, .astype("int64")'
    return '.astype("uint8")' if letter == "?" else None


def _column(value: Value, path: str, of: Shape | None, is_told: bool = True) -> Value:
    """Columns of data frames as buffers. Rejects missing values and says where they are. Rejects times, whose numbers depend on their unit."""
    _refuse_times_and_masks(value, path)
    if type(value).__name__ == "LazyFrame":
        raise InputError(f"{path}: expected rows, got a LazyFrame, which has none yet", "value.collect()")
    if not (hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__") or hasattr(value, "isna")):
        return value
    names = columns_of(value)
    if names is not None:
        if of is not None and of.rows is None and not (of.element is not None and of.element.is_enum):
            raise InputError(f"{path}: expected {of.text}, got a data frame", "a frame is a list of records; .to_numpy() has its numbers")
        return _rows(value, names, path, None if of is None else of.rows)
    if not hasattr(value, "to_numpy"):
        value = _by_pyarrow(value, path)
    missing = _missing(value)
    if missing:
        raise InputError(
            f"{path}: expected a value in every row, got {missing} missing" + (f", the first at [{_first_missing(value)}]" if is_told else ""),
            "drop these rows or fill them: fill_null or fill_nan with polars and pyarrow, fillna with pandas",
        )
    if _is_nested(value):
        # Convert to Python values, since numpy would turn contained times into numbers.
        with contextlib.suppress(ValueError, OverflowError):
            return value.to_pylist() if hasattr(type(value), "to_pylist") else value.to_list()
        # Python lacks nanoseconds and the year 10,000. An error about these or others could have the value, so it is not the cause of this one.
        got = "times" if _ARROW_TIMES.search(str(getattr(value, "type", ""))) else "some that Python has no value for"
        raise InputError(f"{path}: expected numbers, got {got}")
    if str(getattr(value, "dtype", "")) in ("Int128", "UInt128"):
        # Numpy has no such words.
        return value.to_list()
    try:
        # pyarrow copies only if allowed, and must copy bits.
        words = value.to_numpy(zero_copy_only=False)
    except TypeError:
        words = value.to_numpy()
    return _column(words, path, of)


def _refuse_times_and_masks(value: Value, path: str) -> None:
    if has_times(getattr(value, "dtype", None)):
        advice = 'say of which unit: with numpy, .astype("datetime64[D]").astype("int64") has the days since 1970-01-01, and "datetime64[s]" the seconds'
        raise InputError(f"{path}: expected numbers, got times", advice)
    if any(of.__name__ == "MaskedArray" for of in type(value).__mro__):
        masked = _count(value.mask)
        if masked:
            first = f", the first at {_place(int(value.mask.argmax()), list(value.mask.shape))}" if value.mask.dtype.names is None else ""
            raise InputError(f"{path}: expected a value in every row, got {masked} masked{first}", "fill them: .filled(0)")


def has_times(dtype: Any) -> bool:
    """Whether a numpy or pandas type is a time type or has time fields."""
    dtype = getattr(dtype, "base", dtype)
    if getattr(dtype, "kind", "") in ("m", "M"):
        return True
    fields = getattr(dtype, "fields", None)
    return isinstance(fields, Mapping) and any(has_times(field[0]) for field in fields.values())


def _count(mask: Any) -> int:
    """The number of masked values, including those in fields."""
    names = mask.dtype.names
    return int(mask.sum()) if names is None else sum(_count(mask[name]) for name in names)


def _is_nested(column: Value) -> bool:
    """Whether a column of Arrow data contains lists or records."""
    if hasattr(type(column), "to_pylist"):
        return int(getattr(column.type, "num_fields", 0)) > 0
    of = getattr(getattr(column, "dtype", None), "is_nested", None)
    return bool(of()) if callable(of) else False


def columns_of(table: Any) -> list[Any] | None:
    """The names of a data frame's columns. Only an attribute of the class counts, since a row may have a field of that name."""
    for name in ("column_names", "columns"):
        if hasattr(type(table), name):
            return list(getattr(table, name))
    return None


def _rows(frame: Value, names: list[Any], path: str, known: Mapping[str, Shape] | None) -> list[dict[str, Any]]:
    """The rows of a data frame, or of a mapping of columns, as records, with the names of the columns as field names.

    Columns that the records do not have are left out, with a warning. A column that is missing is an error. Only the names that the program has are told: others
    may be variants, or people. `known` is None if the elements are no records.
    """
    fields = [str(name) for name in names]
    if len(set(fields)) < len(fields):
        twice = next(field for at, field in enumerate(fields) if field in fields[:at])
        got = f", got `{twice}` twice" if known is not None and twice in known else ""
        raise InputError(f"{path}: expected columns of different names{got}")
    if known is not None:
        for field in (field for field in known if field not in fields):
            raise InputError(f"{path}: expected a column `{field}`, got none of that name", f"name the columns {', '.join(known)}")
        if len(fields) > len(known):
            left = len(fields) - len(known)
            log.warning("%s: %d %s left out, which the program does not have: it has %s", path, left, "column is" if left == 1 else "columns are", ", ".join(known))
        names = [name for name in names if str(name) in known]
        fields = [str(name) for name in names]
    places = [path if known is None else f"{path}, column `{name}`" for name in names]
    columns = [
        _listed(_column(frame[name], place, None, known is not None), place) for name, place in zip(names, places, strict=True)
    ]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        at = next(k for k, length in enumerate(lengths) if length != lengths[0])
        got = "different ones" if known is None else f"{lengths[0]} in `{names[0]}` and {lengths[at]} in `{names[at]}`"
        raise InputError(f"{path}: expected columns of one length, got {got}")
    rows = (dict(zip(fields, row, strict=True)) for row in zip(*columns, strict=True))
    # The fields are those of the records, so there is nothing more to check.
    is_small = len(columns) * lengths[0] <= _WRITTEN_MAX
    return _Written(rows) if known is not None and is_small and all(map(_are_integers, columns)) else list(rows)


#: The most values that are written without being counted against the room that the program has.
_WRITTEN_MAX = 1 << 16


class _Written(list[Any]):
    """Rows that need not be written once more, since all their values are whole numbers of a size that programs have."""


def _are_integers(values: Any) -> bool:
    """Tells if these are a list of plain whole numbers that are not too large. One question for all of them is faster than one for each."""
    return type(values) is list and set(map(type, values)) == {int} and max(max(values), -min(values)).bit_length() <= _BITS_MAX


def _has_rows(value: Value) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, Mapping, set, frozenset))


def _listed(column: Value, path: str) -> list[Any]:
    """The elements of a column."""
    if not _has_rows(column):
        raise InputError(f"{path}: expected a column, got a {type(column).__name__}", "give a list, an array or a column of a frame")
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _missing(value: Value) -> int:
    if hasattr(value, "isna"):
        return int(value.isna().sum())
    count = getattr(value, "null_count", 0)
    return int(count() if callable(count) else count)


def _first_missing(value: Value) -> int:
    flags = value.isna() if hasattr(value, "isna") else value.is_null()
    listed = flags.to_pylist() if hasattr(type(flags), "to_pylist") else flags.tolist() if hasattr(flags, "tolist") else flags.to_list()
    return int(listed.index(True))


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


class _Writer:
    """Writes one input as JSON, and at most as much as the input can hold."""

    def __init__(self, port: Port | None) -> None:
        # An element has at least one bit; there is no reason to give many empty ones.
        self._left = None if port is None else max(port.width, 1 << 16)
        self._type = None if port is None else port.type
        self._has_bytes = port is None or re.search(r"\bbytes\d|\[u8; ", port.type) is not None
        self._has_decimals = port is None or "fixed<" in port.type
        # Places inside an enum would reveal the variant.
        self._has_told_places = port is not None and "enum {" not in port.type

    def write(self, value: Value, of: Shape | None, path: str, depth: int) -> Any:
        """A value of a shape, if that is known, nested inside `depth` others."""
        if depth > _DEPTH_MAX:
            raise InputError(f"input `{path.split('`')[1]}`: expected a value, got more than {_DEPTH_MAX} in one another")
        if value is None:
            raise InputError(f"{path}: expected a value, got None", "drop or fill what is missing")
        if value is True or value is False:
            return value
        if type(value) is int:
            return _integer(value, path)
        if isinstance(value, (bytes, bytearray)):
            return self._bytes(value, path)
        if isinstance(value, (Decimal, float)):
            return self._number(value, of, path)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        if isinstance(value, Mapping):
            return self._fields(value, of, path, depth)
        if isinstance(value, (set, frozenset)):
            raise InputError(f"{path}: expected a value, got a {type(value).__name__}, whose elements have no place", "give a list: sorted(value)")
        if isinstance(value, str):
            return _text(value, path)
        if type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        _refuse_times_and_masks(value, path)
        if hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0:
            value = _python_list(value, path)
        # numpy.float32 and the like.
        if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
            return self._number(float(value), of, path)
        try:
            index: Any = operator.index(value)
        except TypeError:
            return self._elements(value, of, path, depth)
        return _integer(index, path)

    def _bytes(self, value: bytes | bytearray, path: str) -> list[int]:
        if not self._has_bytes:
            advice = 'for a number, int.from_bytes(value, "big") or "little"; for an array, numpy.frombuffer(value, dtype)'
            raise InputError(f"{path}: expected {self._type}, got bytes", advice)
        # These are numbers, not one word of several bytes.
        return list(value)

    def _number(self, value: Decimal | float, of: Shape | None, path: str) -> Any:
        """A number with a point."""
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            got = "nan" if (value.is_nan() if isinstance(value, Decimal) else math.isnan(value)) else "an infinite one"
            raise InputError(f"{path}: expected a number, got {got}", 'drop or fill what is missing; for floating-point types write "NaN", "inf" or "-inf"')
        if isinstance(value, Decimal):
            return self._decimal(value, of, path)
        # A float keeps its point, so it is never read as an integer. Its decimal digits would be rounded again.
        return _rounded(float(value), of.text) if of is not None and of.text in _PRECISIONS else float(value)

    def _fields(self, value: Mapping[Any, Value], of: Shape | None, path: str, depth: int) -> dict[str, Any]:
        known = None if of is None else of.fields
        # Bits and bytes as text.
        is_text = len(value) == 1 and next(iter(value)) in ("hex", "bits")
        if of is not None and known is None and not of.is_enum and not is_text:
            rows = of.rows
            advice = f"give a list of records, or columns, which are lists: {', '.join(rows)}" if rows is not None else "give a list" if of.element is not None else None
            raise InputError(f"{path}: expected {of.text or 'a list'}, got a {type(value).__name__}", advice)
        written: dict[str, Any] = {}
        for name in self._some(value, path):
            field = _text(name, path) if isinstance(name, str) else str(name)
            if known is not None and field not in known and not is_text:
                # It may be a value.
                raise InputError(f"{path}: expected the fields {', '.join(known)}, got another name", "give records with these fields")
            if field in written:
                # As field names they are the same.
                got = f", got {field} twice" if known is not None else ""
                raise InputError(f"{path}: expected fields of different names{got}")
            inner, is_told = None if known is None else known.get(field), known is not None and self._has_told_places and not is_text
            written[field] = self.write(value[name], inner, f"{path}.{field}" if is_told else path, depth + 1)
        return written

    def _elements(self, value: Any, of: Shape | None, path: str, depth: int) -> list[Any]:
        if _are_integers(value) and (of is None or of.fields is None) and (self._left is None or len(value) <= self._left):
            self._left = None if self._left is None else self._left - len(value)
            return list(value)
        elements = _iterator(value)
        if elements is None:
            hint = "for the days since 1970-01-01, (day - datetime.date(1970, 1, 1)).days" if hasattr(value, "isoformat") else None
            raise InputError(f"{path}: expected a value, got a {type(value).__name__}", hint)
        fields = [] if of is None or of.fields is None else list(of.fields.values())
        written = []
        for at, element in enumerate(self._some(elements, path)):
            inner = of.element if of is not None and of.element is not None else fields[at] if at < len(fields) else None
            written.append(self.write(element, inner, f"{path}[{at}]" if self._has_told_places else path, depth + 1))
        if of is not None and of.fields and not all(name.isdigit() for name in of.fields):
            raise InputError(
                f"{path}: expected a record of {', '.join(of.fields)}, got a {type(value).__name__}", "give a dictionary with these fields; for many, a data frame"
            )
        return written

    def _decimal(self, value: Decimal, of: Shape | None, path: str) -> str:
        if abs(value.adjusted()) > _BITS_MAX:
            raise InputError(f"{path}: expected a number, got one of more than {_BITS_MAX} digits")
        if of is not None and (of.text == "f64" or of.text in _PRECISIONS):
            raise InputError(f"{path}: expected {of.text}, got a Decimal, which is for fixed-point numbers", "float(value)")
        if not self._has_decimals:
            # As text it would count as a value.
            raise InputError(f"{path}: expected {self._type}, got a Decimal, which is for fixed-point numbers", "int(value), if it is whole")
        return format(value, "f")

    def _some(self, elements: Iterable[Any], path: str) -> Iterable[Any]:
        """The elements, up to the maximum length of any value of the type."""
        for element in elements:
            if self._left is not None:
                self._left -= 1
                if self._left < 0:
                    raise InputError(f"{path}: expected {self._type}, got more elements than that has bits")
            yield element


def _rounded(value: float, type: str) -> float:
    """The number of a type next to a float, in a tie the even one. A float that is beyond all of them stays beyond."""
    digits, least = _PRECISIONS[type]
    last = max(math.frexp(value)[1] - digits, least)
    with contextlib.suppress(OverflowError):
        return math.copysign(math.ldexp(round(math.ldexp(value, -last)), last), value)
    return value


def _python_list(value: Any, path: str) -> Any:
    with contextlib.suppress(NotImplementedError):
        return value.tolist()
    # The memory has another byte order.
    words = f"{path}: expected numbers, got a buffer of format `{getattr(value, 'format', '?')}`"
    raise InputError(words, "with numpy, numpy.asarray(value).tolist()")


def _iterator(value: Any) -> Iterator[Any] | None:
    try:
        elements: Iterator[Any] = iter(value)
    except TypeError:
        return None
    return elements


def _text(value: str, path: str) -> str:
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InputError(f"{path}: expected text, got some with half of a character")
    # Take the text itself, also for a member of an enumeration.
    return str.__str__(value)


def _integer(value: int, path: str) -> int:
    if value.bit_length() > _BITS_MAX:
        raise InputError(f"{path}: expected a number, got one of more than {_BITS_MAX} bits")
    return value
