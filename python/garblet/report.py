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
        """An output that is an array of words, as a numpy array of exactly that type."""
        import numpy

        kind, bits, shape = self._words.get(output, ("", 0, []))
        names = {"b": "bool", "u": f"uint{bits}", "i": f"int{bits}"}
        if kind != "b" and bits not in (8, 16, 32, 64):
            raise UsageError(f"output `{output}` is no array of words that numpy has", "take it as it is: report[...]")
        if self.panicked:
            raise UsageError(f"output `{output}` has no value in {len(self.panicked)} rows, which panicked", "see panicked")
        value = self.outputs[output]
        return numpy.array(list(value) if isinstance(value, bytes) else value, dtype=names[kind]).reshape(shape)

    def frame(self, output: str | None = None, library: Library | None = None) -> Any:
        """The outputs as a data frame, or one output as a column, of pandas or polars.

        By default the library is the one from which this party's inputs came, else one that is imported, else one that is installed. In a frame of all outputs, lists, as
        those of a batch, have a row for each value; otherwise there is one row. One output of records or tuples is a data frame, too. A column of words keeps their
        type. Rows of a batch that panicked are missing.

        >>> from garblet import load, run_local
        >>> many = load("lib:millionaires(32)").batch(3)
        >>> run_local(many, [{"alice": [5, 1, 7]}, {"bob": [4, 4, 4]}])[0].frame()["alice_richer"].to_list()
        [True, False, True]
        """
        name, module = _frames(library or self._library)
        if output is None:
            lengths = {len(column) if isinstance(column, list) else None for column in self.outputs.values()}
            if len(lengths) > 1:
                raise UsageError("the outputs have different lengths: a frame has one", "name one of them: frame(output)")
            is_table = None not in lengths
            return module.DataFrame({name: column if is_table else [column] for name, column in self.outputs.items()})
        value = self.outputs[output]
        if not isinstance(value, (list, bytes)):
            raise UsageError(f"output `{output}` is a single value", "take it as it is: report[...]")
        rows: list[Any] = list(value)
        first = next((row for row in rows if row is not None), None)
        if isinstance(first, (dict, tuple)):
            fields = list(first) if isinstance(first, dict) else list(range(len(first)))
            return module.DataFrame({str(field): [None if row is None else row[field] for row in rows] for field in fields})
        kind, bits, shape = self._words.get(output, ("", 0, []))
        has_words = len(shape) == 1 and not self.panicked and (kind == "b" or bits in (8, 16, 32, 64))
        values = self.array(output) if has_words else rows
        return module.Series(values, name=output) if name == "pandas" else module.Series(output, values)

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
