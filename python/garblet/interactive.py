"""Secrets step by step, as in a notebook: inputs, operators, and values that are revealed."""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self, get_args

from .errors import UsageError
from .local import Params, Protocol, run_local
from .program import Program
from .report import Report
from .secret import Line, Module, Tracer, Tracing, caller, current, parameter, result
from .session import Session
from .trace import compiled
from .types import BOOL, Type, check_names, parse, returned

_NAME = re.compile(r"[A-Za-z_]\w*")


class Interactive:
    """Computes with secrets step by step: made by `garblet.interactive`.

    Nothing is computed before `reveal`. Each `reveal` is one run of a program of what the value needs, from the inputs on, so it costs as much as all of that, again.
    """

    #: This party's report of the last run.
    report: Report | None = None

    def __init__(self, parties: int, party: int | None, protocol: Protocol, params: Params | None, session: str | None, way: dict[str, Any]) -> None:
        self.party = party
        self._parties = parties
        self._protocol: Protocol = protocol
        self._params = params
        self._session = session
        self._way = way
        self._tracer = Tracer()
        self._tracing = Tracing(self._tracer)
        # The owner, the type and the value of each input, by name.
        self._inputs: dict[str, tuple[int, Type, Any]] = {}
        self._runs = 0
        self._open = False

    def input(self, party: int, value: Any, type: Any) -> Any:
        """A party's input as a secret of this type. A party that computes with a peer gives None for the peer's inputs."""
        self._check()
        if not 0 <= party < self._parties:
            raise UsageError(f"input: expected a party from 0 to {self._parties - 1}, got {party}")
        is_own = self.party is None or self.party == party
        if is_own == (value is None):
            wrong = "expected a value" if is_own else "expected None, got a value"
            raise UsageError(f"input of party {party}: {wrong}", "each party gives its own inputs, and None for those of others")
        frame = caller()
        of = parse(type, {} if frame is None else {**frame.f_globals, **frame.f_locals})
        name = f"input_{len(self._inputs)}"
        check_names({name: of})
        given = None
        # Classes differ in what they raise.
        with contextlib.suppress(Exception):
            # It is given again in each run, whatever becomes of the caller's value.
            given = copy.deepcopy(value)
        if given is None and is_own:
            kind = value.__class__.__name__
            raise UsageError(f"input of party {party}: expected a value that can be given again in each run, got a {kind}", "give a list or an array")
        self._inputs[name] = party, of, given
        return parameter(self._tracer, name, of)

    def reveal(self, value: Any, *, to: Sequence[int] | None = None) -> Any:
        """The value of a secret, an array, a list, a record or a tuple, for these parties, by default for all. A party that does not learn it gets None.

        All parties call it, for the same value in the same order. It is one run, in which every input that the value needs is given again.
        """
        self._check()
        # A failed call counts: the parties do not fall out of step.
        self._runs += 1
        self._tracer.check_shared()
        type, expression = result(value, self._tracer)
        program, inputs = self._program(type, expression, to)
        self.report = self._run(program, inputs, to)
        outputs = self.report.outputs
        if len(outputs) < len(program.outputs):
            return None
        return returned(type, {port.name: outputs[port.name] for port in program.outputs})

    def _program(self, type: Type, expression: str, to: Sequence[int] | None) -> tuple[Program, dict[str, tuple[int, Any]]]:
        """The program of a value, and the owner and the value of each of its inputs."""
        lines, used = _needed(self._tracer.lines, self._tracer.module, expression)
        inputs = {name: given for name, given in self._inputs.items() if name in used}
        if len(inputs) < 2:
            # A program has inputs, and the elements of a single array would be inputs of several parties.
            owner = next((owner for owner, _, _ in inputs.values()), 0)
            inputs["nothing"] = owner, BOOL, False
        self._tracer.module.declare(type)
        declared = [line for line in lines if line.depth < 0]
        body = [line for line in lines if line.depth >= 0]
        parameters = ", ".join(f"{name}: {of.text}" for name, (_, of, _) in inputs.items())
        head = Line(f"pub fn main({parameters}) -> {type.text} {{", "")
        program = compiled([*declared, head, *body, Line(f"    {expression}", ""), Line("}", "")], "interactive")
        for name, (owner, _, _) in inputs.items():
            program = program.with_owner(name, owner)
        for output in program.outputs if to is not None else ():
            program = program.with_recipients(output.name, to)
        return program, {name: (owner, given) for name, (owner, _, given) in inputs.items()}

    def _run(self, program: Program, inputs: dict[str, tuple[int, Any]], to: Sequence[int] | None) -> Report:
        def own(party: int) -> dict[str, Any]:
            return {name: given for name, (owner, given) in inputs.items() if owner == party}

        if self.party is None:
            reports = run_local(program, [own(party) for party in range(self._parties)], protocol=self._protocol, params=self._params)
            return reports[0 if to is None or not to else to[0]]
        name = None if self._session is None else f"{self._session}-{self._runs}"
        with Session(program, self.party, session=name, protocol=self._protocol, params=self._params, **self._way) as session:
            return session.run(**own(self.party))

    def _check(self) -> None:
        if not self._open:
            raise UsageError("the block is over, or has not begun", "write: with garblet.interactive() as mpc:")
        if current() is not self._tracer or len(self._tracer.scopes) > 1:
            raise UsageError("input and reveal belong to the block itself, not to a function or a loop in it", "return the value, and reveal it after")

    def __enter__(self) -> Self:
        self._open = True
        self._tracing.__enter__()
        return self

    def __exit__(self, t: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self._tracing.__exit__()
        self._open = False


def _needed(lines: list[Line], module: Module, expression: str) -> tuple[list[Line], set[str]]:
    """The statements, functions (of depth -1) and records that an expression needs, and the names in them."""
    used = set(_NAME.findall(expression))
    statements: list[list[Line]] = []
    for line in lines:
        if line.depth == 0 and line.text.strip() != "}":
            statements.append([])
        statements[-1].append(line)
    kept: list[Line] = []
    # Backwards: what comes later cannot change what an earlier statement reads.
    for statement in reversed(statements):
        if any(name in used for line in statement for name in line.makes):
            kept[:0] = statement
            used.update(name for line in statement for name in _NAME.findall(line.text))
    declared: list[Line] = []
    for function in reversed(module.functions):
        if _NAME.findall(function[0].text)[1] in used:
            declared[:0] = [Line(line.text, line.place, depth=-1) for line in function]
            used.update(name for line in function for name in _NAME.findall(line.text))
    structs = [Line(line.text, "", depth=-1) for line in module.lines()[: len(module.structs)]]
    return [*structs, *declared, *kept], used


def interactive(
    parties: int = 2,
    *,
    party: int | None = None,
    protocol: Protocol = "yao",
    params: Params | None = None,
    session: str | None = None,
    **way: Any,
) -> Interactive:
    """Computes with secrets step by step, in a `with` block: all parties in this process, or as one `party` with peers.

    With peers, `way` has what `Session` takes: `listen=` or `connect=`, or `peers=`, and `identity=`, `trust=`, `timeout=` and so on. Both do the same steps: if a program differs, both
    refuse it. Reveal number `k` is the session `session-k`.

    >>> import garblet
    >>> with garblet.interactive(parties=2, protocol="yao") as mpc:
    ...     a = mpc.input(0, 1200, "u32")
    ...     b = mpc.input(1, 3400, "u32")
    ...     total = a + b
    ...     mpc.reveal(total), mpc.reveal(a > b)
    (4600, False)
    """
    if isinstance(parties, bool) or not isinstance(parties, int) or parties < 2:
        raise UsageError(f"parties: expected 2 or more, got {parties!r}")
    if protocol not in get_args(Protocol):
        raise UsageError(f"protocol: expected one of {', '.join(get_args(Protocol))}, got {protocol!r}")
    if party is None and way:
        raise UsageError(f"interactive: {', '.join(way)} without a party", "give party=, this party's number")
    if party is not None and not 0 <= party < parties:
        raise UsageError(f"party: expected 0 to {parties - 1}, got {party}")
    return Interactive(parties, party, protocol, params, session, way)
