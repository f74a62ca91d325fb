"""The results and the cost of a run."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from .errors import UsageError
from .progress import log

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

    def frame(self, output: str | None = None) -> Any:
        """The outputs as a data frame of pandas or polars: of the one that is imported, else of the one that is installed.

        Each output is a column: lists, as those of a batch, have a row for each value; otherwise there is one row. For one `output`, a list of records has a
        column for each field.

        >>> from garblet import load, run_local
        >>> many = load("lib:millionaires(32)").batch(3)
        >>> run_local(many, [{"alice": [5, 1, 7]}, {"bob": [4, 4, 4]}])[0].frame()["alice_richer"].to_list()
        [True, False, True]
        """
        frame = _frames()
        value = self.outputs if output is None else self.outputs[output]
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            return frame(value)
        columns = value if output is None else {output: value}
        lengths = {len(column) if isinstance(column, list) else None for column in columns.values()}
        if len(lengths) > 1:
            raise UsageError("the outputs have different lengths: a frame has one", "name one of them: frame(output)")
        is_table = None not in lengths
        return frame({name: column if is_table else [column] for name, column in columns.items()})

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


def _frames() -> Any:
    names = sorted(("pandas", "polars"), key=lambda name: name not in sys.modules)
    for name in names:
        try:
            return importlib.import_module(name).DataFrame
        except ImportError:
            continue
    raise UsageError("there are no data frames: neither pandas nor polars is installed", "pip install pandas")


def of_native(said: Mapping[str, Any]) -> Report:
    """Makes a report from the native module's data."""
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
