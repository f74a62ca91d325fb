"""Visits: a client that shares its inputs with two servers of `outsourced`, and combines their answers."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _garblet
from .progress import log
from .values import Value, encode


@dataclass(frozen=True)
class Agreement:
    """The two servers that a client visits: their agreement file, the client's invitation from each, and their addresses; the generator comes first.

    `clients` are the names of all clients of a run in the program's order, if there are several, and `label` distinguishes this run from their other runs. The
    client keeps its counters and what it has seen of each state in `receipts`, by default a file in the configuration folder that the command uses, too. Copies
    of it must not be used. `forget` gives up the last visit if that was not answered: if it ran after all, an input that you give again counts twice.
    """

    path: str | os.PathLike[str]
    invitations: tuple[str | os.PathLike[str], str | os.PathLike[str]]
    addresses: tuple[str, str]
    clients: Sequence[str] = ()
    label: str = ""
    receipts: str | os.PathLike[str] | None = None
    timeout: float = 60.0
    forget: bool = False

    def _visitor(self, program: str) -> _garblet.Visitor:
        generator, cloud = self.invitations
        asked = {
            "agreement": Path(self.path),
            "invitations": (Path(generator), Path(cloud)),
            "addresses": tuple(self.addresses),
            "program": program,
            "clients": list(self.clients),
            "label": self.label,
            "receipts": None if self.receipts is None else Path(self.receipts),
            "timeout": self.timeout,
            "forget": self.forget,
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


class _Asking:
    """One visit, which somebody may give up."""

    def __init__(self) -> None:
        self.is_given_up = False

    def ask(self, agreement: Agreement, program: str, inputs: Mapping[str, Value] | None) -> Visit:
        visitor = agreement._visitor(program)
        if inputs is None:
            answer = visitor.resume()
        else:
            answer = visitor.visit(encode(visitor.program.inputs, inputs))
        # Nobody would see the answer: leave it to `resume`.
        if not self.is_given_up:
            answer.keep()
        outputs, said = answer.say()
        run = json.loads(said)
        return Visit(outputs, run["program"], run["state"], run["version"], run["attempts"], run["servers_learn"])

    async def beside(self, agreement: Agreement, program: str, inputs: Mapping[str, Value] | None) -> Visit:
        try:
            return await asyncio.to_thread(self.ask, agreement, program, inputs)
        except asyncio.CancelledError:
            self.is_given_up = True
            log.info("the visit was given up; resume() asks for its answers")
            raise


def visit(agreement: Agreement, program: str, /, **inputs: Value) -> Visit:
    """Runs a program of the agreement once, with this client's inputs. The servers learn only what the agreement says.

    If it ends without an answer, for instance because a connection is lost, the run may have taken place: `resume` asks for its answers. Until then another visit
    that could change a state is refused.
    """
    return _Asking().ask(agreement, program, inputs)


def resume(agreement: Agreement, program: str, /) -> Visit:
    """Asks again for the answers to the last visit, which did not arrive."""
    return _Asking().ask(agreement, program, None)


async def avisit(agreement: Agreement, program: str, /, **inputs: Value) -> Visit:
    """As `visit`, for asyncio. If the task is cancelled, `resume` asks for the answers."""
    return await _Asking().beside(agreement, program, inputs)


async def aresume(agreement: Agreement, program: str, /) -> Visit:
    """As `resume`, for asyncio."""
    return await _Asking().beside(agreement, program, None)
