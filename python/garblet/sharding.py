"""Tables cut by key, alike at all parties, so that they join shard by shard.

Rows with equal keys are in shards of the same number. Each shard is a list with room for the same number of rows, which follows from public numbers alone, and a list
keeps to itself how many rows it has. So there are no rows that only fill up, and no keys for them.
"""

from __future__ import annotations

import decimal
import hashlib
import json
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, SupportsIndex

from . import arguments
from .errors import GarbletError, InputError, UsageError
from .program import Program
from .values import Inputs, Value, columns_by_name, encode, list_column

#: The bytes of a hash, of which a shard is the remainder.
_HASH = 16
#: The least length of a seed in bytes.
_SEED_MIN = 16
#: The digits with which bounds are computed; 30 of them are more than any error of rounding.
_DIGITS = 60
_ROUNDED = decimal.Decimal("1e-30")

_SHARDS = arguments.within(1, 2**32 - 1)
_BITS = arguments.within(1, 256)


@dataclass(frozen=True, kw_only=True)
class Sharding:
    """The parties' agreement on how each cuts its tables by key into `shards` shards.

    `rows` has the most rows of a table, for each input that a table is given to: public numbers, rounded up as you like. `seed`, such as `secrets.token_hex(16)`, is
    drawn by one party once all tables are fixed, and sent to the other over a private channel. `room` has the rows for which each shard has room. A table with
    distinct keys that were chosen without the seed has too many rows for one of its shards with probability at most 2 to the power of `-failure_bits`.

    >>> import garblet
    >>> sharding = Sharding(shards=4, rows={"a": 1000, "b": 2000}, seed="drawn after the tables were fixed")
    >>> sharding.room
    {'a': 358, 'b': 652}
    >>> program = garblet.load("lib:intersection-sum({a},{b},32,32)".format(**sharding.room))
    >>> sharding.check(program)
    >>> ours = sharding.cut("a", range(0, 1000, 2))
    >>> theirs = sharding.cut("b", {"key": range(300, 2300), "value": [5] * 2000}, key="key")
    >>> reports = [garblet.run_local(program, parts)[0] for parts in zip(ours, theirs, strict=True)]
    >>> sum(report["sum"] for report in reports), all(report["in_order"] for report in reports)
    (1750, True)
    """

    shards: int
    rows: Mapping[str, int]
    seed: str | bytes = field(repr=False)
    failure_bits: int = 40

    def __post_init__(self) -> None:
        if not isinstance(self.rows, Mapping) or not self.rows:
            raise arguments.wrong("rows", 'the most rows for each input, such as {"a": 1_000_000, "b": 1_000_000}', self.rows)
        rows = {arguments.text("rows: an input", name): arguments.rows(f"rows: `{name}`", most) for name, most in self.rows.items()}
        if not isinstance(self.seed, (str, bytes)):
            raise arguments.wrong("seed", "a text or bytes", self.seed)
        seed = self.seed.encode() if isinstance(self.seed, str) else self.seed
        if len(seed) < _SEED_MIN:
            raise UsageError(f"seed: expected {_SEED_MIN} bytes or more, got {len(seed)}", "let one party draw secrets.token_hex(16) when all tables are fixed")
        # Numbers of numpy become those of Python, and a text the bytes that it is hashed as.
        for name, value in (("shards", _SHARDS("shards", self.shards)), ("rows", rows), ("seed", seed), ("failure_bits", _BITS("failure_bits", self.failure_bits))):
            object.__setattr__(self, name, value)

    @cached_property
    def room(self) -> dict[str, int]:
        """The most rows of a shard, for each input. It does not depend on any row."""
        return {name: room_for(rows, self.shards, self.failure_bits) for name, rows in self.rows.items()}

    @cached_property
    def _key(self) -> bytes:
        assert isinstance(self.seed, bytes)
        return hashlib.blake2b(self.seed, digest_size=32, person=b"garblet shards").digest()

    @cached_property
    def agreement(self) -> str:
        """A short digest of everything that the parties must agree on, which does not show the seed."""
        said = json.dumps([1, self.shards, sorted(self.rows.items()), self.failure_bits])
        return hashlib.blake2b(said.encode(), digest_size=8, key=self._key, person=b"garblet agreed").hexdigest()

    def session(self, name: str, shard: int) -> str:
        """The name of the session of a shard. It has the agreement, so parties that cut in different ways do not meet."""
        return f"{name}-{self.agreement}-{arguments.within(0, self.shards - 1)('shard', shard)}"

    def shard_of(self, key: SupportsIndex) -> int:
        """The shard of a key: a keyed hash, the same for a number of any type.

        >>> sharding = Sharding(shards=10, rows={"a": 100}, seed=bytes(16))
        >>> [sharding.shard_of(key) for key in (0, 1, -1, 2**64)]
        [7, 8, 1, 2]
        """
        number = operator.index(key)
        written = number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True)
        return int.from_bytes(hashlib.blake2b(written, digest_size=_HASH, key=self._key).digest(), "little") % self.shards

    def check(self, program: Program) -> None:
        """Checks that the program's inputs are lists with exactly the room of a shard."""
        types = {port.name: port.type for port in program.inputs}
        for name, room in self.room.items():
            if name not in types:
                raise UsageError(f"input `{name}`: expected one of the program's inputs: {', '.join(types)}", "rows= has the names of inputs")
            found = re.search(r"; \.\.(\d+)\]$", types[name])
            if found is None or int(found[1]) != room:
                raise UsageError(
                    f"input `{name}`: expected a list of at most {room} rows, the room of a shard, got {types[name]}",
                    f"take the size from `room`, as in \"lib:NAME({{{name}}},..)\".format(**sharding.room); in a source a list is [T; ..{room}]",
                )

    def cut(self, input: str, table: Value, *, key: str | None = None) -> Shards:
        """Cuts a table: a data frame or a mapping of columns, whose column `key` has the keys, or keys alone.

        Keys are whole numbers, each at most once. Raises `InputError` if they are not, or if a shard has too little room; nothing has been sent by then. The message has the
        place of a row, never a key.
        """
        if input not in self.rows:
            raise UsageError(f"input: expected one of {', '.join(self.rows)}, got {input!r}", "rows= has the names of inputs")
        path = f"input `{input}`"
        columns = columns_by_name(table, path)
        if columns is None and key is not None:
            raise InputError(f"{path}: expected a table with a column `{key}`, got a {type(table).__name__}", "give a data frame or a mapping of columns, or leave out key=")
        if columns is None:
            columns = {"": list_column(table, path)}
        elif key is None or key not in columns:
            raise InputError(f"{path}: expected the name of the column of keys, got {key!r}", f"give key=, one of {', '.join(map(repr, columns))}")
        place = path if key is None else f"{path}, column `{key}`"
        keys = _numbers(columns[key or ""], place)
        other = next((name for name, column in columns.items() if len(column) != len(keys)), None)
        if other is not None:
            raise InputError(f"{path}: expected columns of one length, got {len(keys)} in `{key}` and {len(columns[other])} in `{other}`")
        if len(keys) > self.rows[input]:
            raise InputError(
                f"{path}: expected at most {self.rows[input]} rows, got {len(keys)}", "agree with the peer on more rows=, before you say how many"
            )
        return Shards(self, input, columns if key is not None else columns[""], self._places(keys, input, place))

    def _places(self, keys: list[int], input: str, path: str) -> list[list[int]]:
        """The rows of each shard, in ascending order of their keys."""
        places: list[list[int]] = [[] for _ in range(self.shards)]
        hashed, secret, shards = hashlib.blake2b, self._key, self.shards
        # As `shard_of`, which would take twice the time.
        for place, key in enumerate(keys):
            written = key.to_bytes(key.bit_length() // 8 + 1, "little", signed=True)
            places[int.from_bytes(hashed(written, digest_size=_HASH, key=secret).digest(), "little") % shards].append(place)
        again: tuple[int, int] | None = None
        for rows in places:
            rows.sort(key=keys.__getitem__)
            equal = min(((later, earlier) for earlier, later in zip(rows, rows[1:]) if keys[earlier] == keys[later]), default=None)
            again = equal if again is None else again if equal is None else min(again, equal)
        if again is not None:
            raise InputError(
                f"{path}[{again[0]}]: expected each key once, got the key of [{again[1]}] again",
                "add up or drop the rows of one key: a shard has room for distinct keys only",
            )
        room = self.room[input]
        full = next((shard for shard, rows in enumerate(places) if len(rows) > room), None)
        if full is not None:
            raise InputError(
                f"input `{input}`: shard {full} has more than the {room} rows for which it has room",
                "agree on fewer shards= or another seed=; by chance this does not happen, so ask who could choose keys when the seed was known",
            )
        return places


class Shards:
    """A table that `Sharding.cut` has cut: the inputs of each shard, in which rows are in ascending order of keys."""

    def __init__(
        self, sharding: Sharding, input: str, columns: Value, places: list[list[int]], others: Sequence[Inputs] | None = None
    ) -> None:
        self.sharding, self.input = sharding, input
        self._columns, self._places, self._others = columns, places, others

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, shard: int) -> dict[str, Value]:
        places, others = self._places[shard], {} if self._others is None else self._others[shard]
        if isinstance(self._columns, dict):
            return {**others, self.input: {name: _taken(column, places) for name, column in self._columns.items()}}
        return {**others, self.input: _taken(self._columns, places)}

    def __iter__(self) -> Iterator[dict[str, Value]]:
        return (self[shard] for shard in range(len(self)))

    def check(self, program: Program, party: int) -> None:
        """Checks the program and the inputs of all shards before any is sent, so that none is refused after others have run.

        Raises `InputError` with a note that names the shard, and what `Sharding.check` raises.

        >>> import garblet
        >>> sharding = Sharding(shards=2, rows={"a": 3, "b": 3}, seed="drawn after the tables were fixed")
        >>> program = garblet.load("lib:intersection-sum({a},{b},8,8)".format(**sharding.room))
        >>> sharding.cut("a", [30, 10, 20]).check(program, 0)
        >>> sharding.cut("a", [30, 10, 300]).check(program, 0)
        Traceback (most recent call last):
        garblet.errors.InputError: ...
        """
        self.sharding.check(program)
        for _ in checked(program, self, arguments.party("party", party)):
            pass

    def beside(self, **inputs: Sequence[Value]) -> Shards:
        """The same shards with more inputs, each with a value for every shard.

        >>> sharding = Sharding(shards=2, rows={"a": 3}, seed="drawn after the tables were fixed")
        >>> list(sharding.cut("a", [30, 10, 20]).beside(mask=[7, 8]))
        [{'mask': 7, 'a': [30]}, {'mask': 8, 'a': [10, 20]}]
        """
        for name, values in inputs.items():
            if name == self.input or len(values) != len(self):
                got = "the table's own input" if name == self.input else f"{len(values)}"
                raise UsageError(f"input `{name}`: expected another input, with a value for each of {len(self)} shards, got {got}")
        others = [{**(self._others[shard] if self._others else {}), **{name: values[shard] for name, values in inputs.items()}} for shard in range(len(self))]
        return Shards(self.sharding, self.input, self._columns, self._places, others)

    def gather(self, results: Sequence[Sequence[Any]]) -> list[Any]:
        """Results of rows in the order of the table. `results` has those of each shard, in the order of its rows; what follows behind its last row counts for nothing.

        >>> import garblet
        >>> sharding = Sharding(shards=2, rows={"a": 3, "b": 3}, seed="drawn after the tables were fixed")
        >>> program = garblet.load("lib:join({a},{b},16,16)".format(**sharding.room))
        >>> ours, theirs = sharding.cut("a", [30, 10, 20]), sharding.cut("b", {"key": [10, 30], "value": [1, 3]}, key="key")
        >>> rows = [garblet.run_local(program, parts)[0]["rows"] for parts in zip(ours, theirs, strict=True)]
        >>> [row["value"] if row["found"] else None for row in ours.gather(rows)]
        [3, 1, None]
        """
        if len(results) != len(self):
            raise UsageError(f"results: expected those of {len(self)} shards, got {len(results)}", "give them for every shard, in order")
        gathered: list[Any] = [None] * sum(map(len, self._places))
        for shard, (places, found) in enumerate(zip(self._places, results, strict=True)):
            if len(found) < len(places):
                raise UsageError(f"results: shard {shard}: expected one for each of its {len(places)} rows, got {len(found)}")
            for place, result in zip(places, found, strict=False):
                gathered[place] = result
        return gathered

    def __repr__(self) -> str:
        return f"Shards({self.input!r}, {self.sharding!r})"


def checked(program: Program, parts: Iterable[Inputs], party: int) -> Iterator[str]:
    """The inputs of each shard as JSON, once they are checked."""
    for shard, inputs in enumerate(parts):
        try:
            encoded = encode(program._native.inputs, inputs)
            program._native.check(party, encoded)
        except GarbletError as error:
            error.add_note(f"in shard {shard}")
            raise
        yield encoded


def room_for(rows: int, shards: int, failure_bits: int) -> int:
    """The room of a shard: so many rows that one of `shards` shards has more with probability at most 2 to the power of `-failure_bits`.

    A key is in a given shard with probability p, which is 1 / `shards` but for the remainder of a hash. Of n keys, k > n p or more are there with probability at most
    exp(-n D), where D = x ln(x / p) + (1 - x) ln((1 - x) / (1 - p)) and x = k / n (Hoeffding 1963, theorem 1), so in one of all shards with at most `shards` times that.
    The room is k - 1 for the least k for which this suffices, or n. The logarithms of `decimal` are rounded correctly, so all machines have the same room.

    >>> [room_for(10_000_000, shards, 40) for shards in (1, 100, 10_000)]
    [10000000, 102540, 1283]
    """
    if shards == 1:
        return rows
    with decimal.localcontext(decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_HALF_EVEN)):
        hashes = 2 ** (8 * _HASH)
        p = decimal.Decimal(-(-hashes // shards)) / hashes
        least = failure_bits * decimal.Decimal(2).ln() + decimal.Decimal(shards).ln() + _ROUNDED

        def suffices(k: int) -> bool:
            there, elsewhere = decimal.Decimal(k), decimal.Decimal(rows - k)
            exponent = there * (there / (rows * p)).ln()
            if k < rows:
                exponent += elsewhere * (elsewhere / (rows * (1 - p))).ln()
            return bool(exponent >= least)

        # From n p to n the bound falls.
        low, high = int(rows * p), rows
        if not suffices(high):
            return rows
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if suffices(middle) else (middle, high)
        return high - 1


def _numbers(column: Value, path: str) -> list[int]:
    """The keys in a column."""
    keys: list[Any] = column.tolist() if hasattr(column, "tolist") else list(column)
    for place, key in enumerate(keys):
        if type(key) is not int:
            keys[place] = _number(key, f"{path}[{place}]")
    return keys


def _number(key: Any, path: str) -> int:
    """A key of another type, such as a number of numpy."""
    if not isinstance(key, bool):
        try:
            return operator.index(key)
        except TypeError:
            pass
    advice = {
        "str": "make numbers of texts, alike at all parties: int(text), or a hash if they write no numbers",
        "bytes": 'int.from_bytes(key, "big"), alike at all parties',
        "float": 'if all are whole, .astype("int64")',
        "bool": 'two keys need no shards; .astype("uint8")',
        "NoneType": "drop the rows without a key",
        "date": "the days since 1970-01-01, (day - datetime.date(1970, 1, 1)).days",
    }
    raise InputError(f"{path}: expected a whole number, got a {type(key).__name__}", advice.get(type(key).__name__))


def _taken(column: Value, places: list[int]) -> Value:
    """The elements of a column at these places."""
    # A numpy array stays memory.
    return column.take(places, axis=0) if places and hasattr(column, "take") else [column[place] for place in places]
