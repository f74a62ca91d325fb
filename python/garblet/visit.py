"""Visits: a client that shares its inputs with two servers of `outsourced`, and combines their answers."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _garblet, arguments
from .errors import Panicked, ReceiptError
from .progress import log
from .values import Value, encode


@dataclass(frozen=True)
class Agreement:
    """The two servers that a client visits: their agreement file, the client's invitation from each, and their addresses; the generator comes first.

    `clients` are the names of all clients of a run in the program's order, if there are several, and `label` distinguishes this run from their other runs. The
    client keeps its counters and what it has seen of each state in `receipts`, by default a file in the configuration folder that the command uses, too. Copies
    of it must not be used. `forget` gives up the last visit if that was not answered, and counts from the clock on: if it ran after all, an input that you give again counts twice.
    """

    path: str | os.PathLike[str]
    invitations: tuple[str | os.PathLike[str], str | os.PathLike[str]]
    addresses: tuple[str, str]
    clients: Sequence[str] = ()
    label: str = ""
    receipts: str | os.PathLike[str] | None = None
    timeout: float = 60.0
    forget: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", arguments.path("path", self.path))
        object.__setattr__(self, "invitations", arguments.pair(arguments.path, "invitations", self.invitations))
        if self.receipts is not None:
            object.__setattr__(self, "receipts", arguments.path("receipts", self.receipts))

    def _visitor(self, program: str) -> _garblet.Visitor:
        asked = {
            "agreement": self.path,
            "invitations": self.invitations,
            "addresses": arguments.pair(arguments.address, "addresses", self.addresses),
            "program": arguments.text("program", program),
            "clients": arguments.names("clients", self.clients),
            "label": arguments.text("label", self.label),
            "receipts": self.receipts,
            "timeout": arguments.seconds("timeout", self.timeout),
            "forget": bool(self.forget),
        }
        return _garblet.Visitor(asked)


@dataclass(frozen=True)
class Visit:
    """What a client learned from a visit."""

    outputs: dict[str, Any]
    #: The name of the program in the agreement.
    program: str
    #: The state that the run read or kept, and its version after the run.
    state: str | None
    version: int | None
    #: How often the input was shared, since other clients were faster.
    attempts: int
    #: The outputs that each server learns, and what it learns of a panic.
    servers_learn: Mapping[str, Any]

    def __getitem__(self, output: str) -> Any:
        return self.outputs[output]


def _ask(agreement: Agreement, program: str, inputs: Mapping[str, Value] | None) -> tuple[_garblet.Answer, Visit]:
    """The answer of a visit, which can still be asked for again."""
    visitor = arguments.one_of(Agreement, "an Agreement, and after it the name of a program")("agreement", agreement)._visitor(program)
    answer = visitor.resume() if inputs is None else visitor.visit(encode(visitor.program.inputs, inputs))
    try:
        outputs, said = answer.say()
        run = json.loads(said)
    except Panicked as error:
        _keep(answer, error)
        raise
    except BaseException:
        answer.leave()
        raise
    return answer, Visit(outputs, run["program"], run["state"], run["version"], run["attempts"], run["servers_learn"])


def _keep(answer: _garblet.Answer, cause: Panicked | None = None) -> None:
    try:
        answer.keep()
    except ReceiptError as error:
        raise error from cause


def _given(answer: _garblet.Answer, visit: Visit) -> Visit:
    """Gives an answer to the caller, and then records that it was given. An exception in between has it as `visit`."""
    try:
        _keep(answer)
        return visit
    except BaseException as error:
        error.visit = visit  # type: ignore[attr-defined]
        error.add_note("the visit was answered: `visit` of this exception has the answer")
        raise


async def _beside(agreement: Agreement, program: str, inputs: Mapping[str, Value] | None) -> Visit:
    try:
        answer, visit = await arguments.beside(_ask, agreement, program, inputs)
    except asyncio.CancelledError:
        log.info("the visit was given up; resume() asks for its answers")
        raise
    # From here on nobody can cancel it before the caller has the answer.
    return _given(answer, visit)


def visit(agreement: Agreement, program: str, /, **inputs: Value) -> Visit:
    """Runs a program of the agreement once, with this client's inputs. The servers learn only what the agreement says.

    An exception that comes after the answer has it as `visit`: `ReceiptError`, if it cannot be recorded that it was given, or an interrupt. If it ends without an answer, for instance because a connection is lost, the run may have taken place: `resume` asks for its answers. Until then another visit
    that could change a state is refused.
    """
    return _given(*_ask(agreement, program, inputs))


def resume(agreement: Agreement, program: str, /) -> Visit:
    """Asks again for the answers to the last visit, which did not arrive. It must have been one of this program."""
    return _given(*_ask(agreement, program, None))


async def avisit(agreement: Agreement, program: str, /, **inputs: Value) -> Visit:
    """As `visit`, for asyncio. If the task is cancelled, `resume` asks for the answers."""
    return await _beside(agreement, program, inputs)


async def aresume(agreement: Agreement, program: str, /) -> Visit:
    """As `resume`, for asyncio."""
    return await _beside(agreement, program, None)
