"""Runs all parties in this process, and estimates the cost of runs elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from . import _garblet, arguments
from .errors import UsageError
from .program import Program
from .progress import Hearing, Progress
from .report import Report, of_native, table, thousands
from .values import Inputs, encode, library_of

#: The protocols.
Protocol = Literal[
    "yao", "components", "covert", "authenticated", "cut-and-choose", "lego", "gmw", "bmr", "bmr-bgw4", "bmr-bgw3", "bmr-bgw2", "authenticated-bmr", "two-garblers", "outsourced"
]
#: Parameters of a protocol, as in the command's `--param`.
Params = Mapping[str, str | int]


def run_local(
    program: Program,
    inputs: Sequence[Inputs] | Mapping[int, Inputs],
    *,
    protocol: Protocol = "yao",
    params: Params | None = None,
    progress: Progress = False,
) -> list[Report]:
    """Runs all parties in this process, each in its own thread, for experiments. `inputs` has one entry per party.

    >>> from garblet import load
    >>> reports = run_local(load("lib:millionaires(32)"), [{"alice": 5_000_000}, {"bob": 3_000_000}])
    >>> reports[1]["alice_richer"]
    True
    """
    arguments.one_of(Program, "a program, as garblet.compile or garblet.load returns")("program", program)
    of = list(inputs.values()) if isinstance(inputs, Mapping) else list(inputs)
    if isinstance(inputs, Mapping):
        for party in inputs:
            try:
                arguments.party("inputs: a party", party)
            except UsageError as error:
                raise UsageError(str(error), 'give inputs by party: [{"a": 5}, {"b": 3}], or {0: {"a": 5}, 1: {"b": 3}}') from None
        of = [inputs.get(party, {}) for party in range(max([program.parties, *(party + 1 for party in inputs)]))]
    ports = program._native.inputs
    encoded = [encode(ports, own) for own in of]
    with program._located():
        said = _garblet.run_local(program._native, encoded, protocol, arguments.texts("params", params), Hearing(progress))
    return [of_native(report, library_of(own)) for report, own in zip(said, of, strict=True)]


@dataclass(frozen=True)
class Plan:
    """The cost of a run by formula: a row for each protocol, party and phase. `left_out` names the protocols that cannot run it, with the reasons."""

    rows: list[dict[str, Any]]
    left_out: dict[str, str]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def total_bytes(self) -> dict[str, int]:
        """The bytes that all parties send in all phases with known cost, by protocol."""
        sums: dict[str, int] = {}
        for row in self.rows:
            sums[row["protocol"]] = sums.get(row["protocol"], 0) + (row["bytes_sent"] or 0)
        return sums

    def _repr_html_(self) -> str:
        heads = ("protocol", "adversary", "party", "phase", "bytes sent", "bytes received", "rounds", "on the link")
        rows = [
            (
                escape(row["protocol"]),
                escape(row["adversary"]),
                str(row["party"]),
                row["phase"],
                thousands(row["bytes_sent"]),
                thousands(row["bytes_received"]),
                thousands(row["rounds"]),
                "-" if row["link_seconds"] is None else f"{row['link_seconds']:.3f} s",
            )
            for row in self.rows
        ]
        left_out = "".join(f"<p>left out: {escape(name)}: {escape(why)}</p>" for name, why in self.left_out.items())
        return table(heads, rows) + left_out


def plan(program: Program, *, link: str | None = None, protocols: Sequence[Protocol] | None = None) -> Plan:
    """Computes the cost of a run under each protocol, without running it.

    `link` is a one-way latency and a rate, such as `"20ms,100mbit"`: rows then include the time that messages take.

    >>> from garblet import load
    >>> sorted({row["party"] for row in plan(load("lib:millionaires(32)"), protocols=["yao"])})
    [0, 1]
    """
    rows, left_out = _garblet.plan(program._native, link, None if protocols is None else list(protocols))
    return Plan(rows, dict(left_out))
