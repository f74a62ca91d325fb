"""The results and the cost of a run."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from .errors import UsageError
from .progress import log

#: A library of data frames.
Library = Literal["pandas", "polars"]

#: The phases in order. They depend on the peers only, on sizes, on the function, and on the inputs.
PHASES = ("setup", "prepare", "build", "online")


@dataclass(frozen=True)
class PhaseCost:
    """The cost of a phase to a party. Bytes are payload; seconds include waiting."""

    seconds: float
    bytes_sent: int
    bytes_received: int
    rounds: int


@dataclass(frozen=True)
class Report:
    """One party's results, costs and security."""

    outputs: dict[str, Any]
    party: int
    role: str
    protocol: str
    adversary: str
    costs: dict[str, PhaseCost]
    security: Mapping[str, Any]
    #: The rows of a batch that panicked, with the places; their outputs are None.
    panicked: dict[int, str]
    _words: dict[str, tuple[str, int, list[int]]] = field(repr=False, compare=False)
    #: The library of data frames from which this party's inputs came.
    _library: str | None = field(repr=False, compare=False)
    #: The object that the command prints, without outputs and with outputs only.
    _run: str = field(repr=False, compare=False)
    _known: str = field(repr=False, compare=False)

    def __getitem__(self, output: str) -> Any:
        return self.outputs[output]

    def array(self, output: str) -> Any:
        """An output that is an array of words, as a numpy array of exactly that type. If rows of a batch panicked, it is a masked array, in which they are missing."""
        import numpy

        kind, bits, shape = self._words.get(output, ("", 0, []))
        names = {"b": "bool", "u": f"uint{bits}", "i": f"int{bits}"}
        if kind != "b" and bits not in (8, 16, 32, 64):
            raise UsageError(f"output `{output}` is no array of words that numpy has", "take it as it is: report[...]")
        rows = list(self.outputs[output])
        missing = [row is None for row in rows]
        empty = numpy.zeros(shape[1:], dtype=names[kind])
        array = numpy.array([empty if row is None else row for row in rows], dtype=names[kind]).reshape(shape)
        if not any(missing):
            return array
        return numpy.ma.array(array, mask=numpy.broadcast_to(numpy.reshape(missing, (-1, *[1] * (len(shape) - 1))), shape))

    def frame(self, output: str | None = None, library: Library | None = None) -> Any:
        """The outputs as a data frame, or one output as a column, of pandas or polars.

        By default the library is the one from which this party's inputs came, else one that is imported, else one that is installed. In a frame of all outputs, lists, as
        those of a batch, have a row for each value; otherwise there is one row. One output of records or tuples is a data frame, too. A column of words keeps their
        type, and whole numbers keep all digits. Rows of a batch that panicked are missing, and so are those that a shorter list lacks.

        >>> from garblet import load, run_local
        >>> many = load("lib:millionaires(32)").batch(3)
        >>> run_local(many, [{"alice": [5, 1, 7]}, {"bob": [4, 4, 4]}])[0].frame()["alice_richer"].to_list()
        [True, False, True]
        """
        name, module = _frames(library or self._library)
        if output is None:
            are_lists = {isinstance(column, list) for column in self.outputs.values()}
            if len(are_lists) > 1:
                raise UsageError("some outputs are lists, and others single values: a frame has one length", "name one of them: frame(output)")
            columns = {name: column if True in are_lists else [column] for name, column in self.outputs.items()}
            # What is revealed decides on the lengths of lists, so it does not decide whether there is a frame.
            most = max(map(len, columns.values()), default=0)
            return module.DataFrame({key: self._column(name, module, key, [*column, *[None] * (most - len(column))]) for key, column in columns.items()})
        value = self.outputs[output]
        if not isinstance(value, (list, bytes)):
            raise UsageError(f"output `{output}` is a single value", "take it as it is: report[...]")
        rows: list[Any] = list(value)
        first = next((row for row in rows if row is not None), None)
        if isinstance(first, (dict, tuple)):
            fields = list(first) if isinstance(first, dict) else list(range(len(first)))
            parts = {str(field): [None if row is None else row[field] for row in rows] for field in fields}
            return module.DataFrame({field: self._column(name, module, field, part) for field, part in parts.items()})
        return self._column(name, module, output, rows)

    def _column(self, library: str, module: Any, name: str, values: list[Any]) -> Any:
        """A column, whose numbers keep all their digits: a library would take those beside a missing one for floats."""
        type = self._column_type(name, [value for value in values if value is not None])
        if library == "polars":
            return module.Series(name, values, dtype=getattr(module, type) if type else None)
        if any(value is None for value in values):
            return module.Series(values, name=name, dtype={"Boolean": "boolean", "Object": "object"}.get(type, type or None))
        return module.Series(values, name=name, dtype={"Boolean": "bool"}.get(type, type.lower() or None))

    def _column_type(self, name: str, known: list[Any]) -> str:
        """The type of a column of words or Booleans that has all these values, as polars calls it; "" for other values."""
        kind, bits, shape = self._words.get(name, ("", 0, []))
        if len(shape) == 1 and (kind == "b" or bits in (8, 16, 32, 64)):
            return "Boolean" if kind == "b" else f"{'U' if kind == 'u' else ''}Int{bits}"
        if known and all(isinstance(value, bool) for value in known):
            return "Boolean"
        if not known or not all(isinstance(value, int) for value in known):
            return ""
        low, high = min(known), max(known)
        return "Int64" if -(2**63) <= low and high < 2**63 else "UInt64" if 0 <= low and high < 2**64 else "Object"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as the object of `garblet run --json`, where rows count from 1."""
        return {**json.loads(self._run), "outputs": json.loads(self._known)}

    def _repr_html_(self) -> str:
        outputs = [(escape(name), escape(shortened(value))) for name, value in self.outputs.items()]
        costs = [
            (phase, f"{cost.seconds:.3f} s", thousands(cost.bytes_sent), thousands(cost.bytes_received), str(cost.rounds))
            for phase, cost in self.costs.items()
        ]
        security = ", ".join(f"{escape(str(name))}: {escape(str(value))}" for name, value in self.security.items())
        return (
            f"<p>party {self.party} ({escape(self.role)}), {escape(self.protocol)}, "
            f"secure against {escape(self.adversary)} parties; {security}</p>"
            + table(("output", "value"), outputs)
            + table(("phase", "time", "bytes sent", "bytes received", "rounds"), costs)
        )


def _frames(wanted: str | None) -> tuple[str, Any]:
    names = sorted(("pandas", "polars"), key=lambda name: name not in sys.modules)
    for name in names if wanted is None else [wanted]:
        try:
            return name, importlib.import_module(name)
        except ImportError:
            continue
    raise UsageError(f"data frames: expected {wanted or 'pandas or polars'}, which is not installed", f"pip install {wanted or 'pandas'}")


def of_native(said: Mapping[str, Any], library: str | None = None) -> Report:
    """Makes a report from the native module's data, and the library of data frames from which the inputs came."""
    run = json.loads(said["run"])
    (part,) = run["per_party"]
    if run["security"].get("peer_exposed"):
        log.warning(
            "the peer cheated and thereby revealed its secret; the result is right, and the peer has not learned that it was caught. "
            "Whether it was caught may depend on your input: if you now act differently than planned, the peer may learn a bit of it"
        )
    return Report(
        outputs=said["outputs"],
        party=part["party"],
        role=part["role"],
        protocol=run["protocol"],
        adversary=run["adversary"],
        costs={phase: PhaseCost(**part["phases"][phase]) for phase in PHASES},
        security=run["security"],
        panicked=said["panicked"],
        _words=said["words"],
        _library=library,
        _run=said["run"],
        _known=said["known"],
    )


def table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table in HTML. Cells are HTML."""

    def row(cells: tuple[str, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + row(heads, "th") + "".join(row(cells, "td") for cells in rows) + "</table>"


def thousands(number: int | None) -> str:
    """A count for people; None means unknown."""
    return "-" if number is None else f"{number:,}"


def shortened(value: Any) -> str:
    """A value for people."""
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."
