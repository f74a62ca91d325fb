"""Programs: the computation, the owner of each input and the recipients of each output."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from . import _garblet, arguments
from ._garblet import Port
from .errors import Panicked, UsageError
from .progress import log
from .report import table
from .values import Value, encode


class Program:
    """A computation, with the owner of each input and the recipients of each output. Immutable.

    >>> richer = compile("pub fn main(a: u32, b: u32) -> bool { a > b }", name="richer")
    >>> richer.and_gates, [port.name for port in richer.inputs]
    (32, ['a', 'b'])
    """

    def __init__(self, native: _garblet.Program, made: tuple[Any, ...]) -> None:
        self._native = native
        # The call that recreates it in another process.
        self._made = made
        #: Of a source that was traced: the places in Python, by line.
        self._places: Mapping[int, str] = {}

    @property
    def name(self) -> str:
        """The name."""
        return self._native.name

    @property
    def digest(self) -> bytes:
        """The digest of everything that the parties must agree on."""
        return self._native.digest

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The inputs, in order."""
        return tuple(self._native.inputs)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The outputs, in order."""
        return tuple(self._native.outputs)

    @property
    def and_gates(self) -> int:
        """The number of AND gates, which determines the cost of a run."""
        return self._native.and_gates

    @property
    def and_depth(self) -> int:
        """The AND depth: the most AND gates on a path, which determines the rounds of some protocols."""
        return self._native.and_depth

    @property
    def parties(self) -> int:
        """The number of parties in the program."""
        return self._native.parties

    @property
    def rows(self) -> int | None:
        """The number of rows, if the program is a batch."""
        return self._native.rows

    @property
    def is_masked(self) -> bool:
        """True if an output is masked, so that no run may be repeated with the same mask.

        >>> load("lib:add(8)").masked("sum", 0).batch(3).is_masked
        True
        """
        base = self._made[1] if len(self._made) > 1 else None
        return self._made[0] is Program.masked or (isinstance(base, Program) and base.is_masked)

    def with_owner(self, input: str, party: int) -> Program:
        """The same program with another owner for an input."""
        return self._derived(self._native.with_owner(input, party), (Program.with_owner, self, input, party))

    def with_recipients(self, output: str, parties: Sequence[int] | None) -> Program:
        """The same program with other recipients for an output; None means all parties."""
        of = None if parties is None else list(parties)
        return self._derived(self._native.with_recipients(output, of), (Program.with_recipients, self, output, of))

    def masked(self, output: str, party: int) -> Program:
        """The same program, where the others learn an output only under a mask: its sum with one more input `{output}_mask` of `party`, modulo 2^64.

        **A mask is for one evaluation**: whoever takes part twice under one mask, also in another attempt of a job on a cluster, learns the difference of two results. If
        `party` gives a random mask in each of many runs, the others learn nothing of a single result. Of all, they learn the sum of the results, if `party` reveals the
        sum of its masks. A random mask is `secrets.randbelow(2**64)`.

        >>> masked = load("lib:intersection-sum(4,4,8,8)").masked("sum", 0)
        >>> masked.evaluate(a=[5, 9], b={"key": [3, 5], "value": [30, 50]}, sum_mask=2**64 - 1)
        {'size': 1, 'sum': 49, 'in_order': True}
        >>> masked.outputs[1].recipients
        [1]
        """
        of = arguments.party("party", party)
        return self._derived(self._native.masked(output, of), (Program.masked, self, output, of))

    def evaluate(self, /, **inputs: Value) -> dict[str, Any]:
        """Evaluates in the clear: the reference answer.

        >>> load("lib:millionaires(32)").evaluate(alice=5_000_000, bob=3_000_000)
        {'alice_richer': True}
        """
        with self._located():
            return self._native.evaluate(encode(self._native.inputs, inputs))

    def batch(self, rows: int) -> Program:
        """The program for many independent rows at once: an input or output of type `T` becomes a list of `rows` values.

        A row that panics has None as its outputs, and does not affect other rows.

        >>> load("lib:millionaires(32)").batch(3).evaluate(alice=[5, 1, 7], bob=[4, 4, 4])
        {'alice_richer': [True, False, True]}
        """
        return self._derived(self._native.batch(rows), (Program.batch, self, rows))

    def _derived(self, native: _garblet.Program, made: tuple[Any, ...]) -> Program:
        program = Program(native, made)
        program._places = self._places
        return program

    @contextlib.contextmanager
    def _located(self) -> Iterator[None]:
        """Adds the place in Python to a panic of a program that was traced."""
        try:
            yield
        except Panicked as error:
            line = re.search(r":(\d+):\d+: ", str(error))
            if line is not None and int(line[1]) in self._places:
                error.add_note(f"in Python at {self._places[int(line[1])]}")
            raise

    def svg(self) -> str:
        """A diagram of the components and their links."""
        return self._native.svg()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.digest, *self._made)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{port.name}: {port.type}" for port in self.inputs)
        outputs = ", ".join(f"{port.name}: {port.type}" for port in self.outputs)
        return f"Program({self.name}({inputs}) -> {outputs})"

    def _repr_html_(self) -> str:
        def learns(port: Port) -> str:
            return "all" if port.recipients is None else ", ".join(map(str, port.recipients))

        rows = [("input", escape(port.name), escape(port.type), f"party {port.owner} gives it") for port in self.inputs]
        rows += [("output", escape(port.name), escape(port.type), f"learned by {learns(port)}") for port in self.outputs]
        head = f"<p>{escape(self.name)}: {self.and_gates:,} AND gates, AND depth {self.and_depth:,}</p>"
        return head + table(("", "name", "type", "who"), rows)


def compile(
    source: str,
    *,
    name: str = "program",
    constants: Mapping[str, int | bool] | None = None,
    panics: bool = True,
    effort: int | None = None,
    function: str = "main",
) -> Program:
    """Compiles a source in the function language, a subset of Rust, whose public function `function` defines the computation.

    `constants` are values for names like `PARTY_0::ROWS` or `ROWS`. Without `panics`, arithmetic wraps around.
    Compilation may take `effort` units of work, 200 million by default.
    """
    return _compiled(source, name, _texts(constants), panics, units(effort), function)


def load(
    path: str | os.PathLike[str],
    *,
    constants: Mapping[str, int | bool] | None = None,
    panics: bool = True,
    effort: int | None = None,
    function: str = "main",
    as_it_is: bool = False,
) -> Program:
    """Loads a program: a file in any format that the command reads, or `lib:NAME` from the library.

    Of a circuit file, AND gates are saved that can be in a second, unless it is to run `as_it_is`.
    """
    return _loaded(os.fspath(path), _texts(constants), panics, units(effort), function, as_it_is)


def units(effort: int | None) -> int | None:
    if effort is not None and not 0 < effort < 2**63:
        raise UsageError(f"effort: expected a positive number of units of work, got {effort}", "200000000 is the default")
    return effort


def _texts(constants: Mapping[str, int | bool] | None) -> list[tuple[str, str]]:
    def text(value: int | bool) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return [(name, text(value)) for name, value in (constants or {}).items()]


def _compiled(
    source: str, name: str, constants: list[tuple[str, str]], panics: bool, effort: int | None, function: str
) -> Program:
    compiled = _garblet.compile(source, name, constants, panics, effort, function)
    return _told(compiled, (_compiled, source, name, constants, panics, effort, function))


def _loaded(
    name: str, constants: list[tuple[str, str]], panics: bool, effort: int | None, function: str, as_it_is: bool
) -> Program:
    # Another process may have another working directory.
    again = name if name.startswith("lib:") else os.path.abspath(name)
    loaded = _garblet.load(name, constants, panics, effort, function, as_it_is)
    return _told(loaded, (_loaded, again, constants, panics, effort, function, as_it_is))


def _again(digest: bytes, make: Callable[..., Program], *arguments: Any) -> Program:
    """Restores a pickled program. If it was loaded from a file, reads the file again."""
    program = make(*arguments)
    if program.digest != digest:
        raise UsageError(
            f"{program.name}: expected the program of digest {digest.hex()}, got {program.digest.hex()}",
            "its file is another one here: give every process the same",
        )
    return program


def _told(native: _garblet.Program, made: tuple[Any, ...]) -> Program:
    for warning in native.warnings:
        log.warning("%s", warning)
    return Program(native, made)
