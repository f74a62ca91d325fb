"""Exceptions, classified by who caused them. Each has a `hint`: what to do about it, if that is not obvious."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report import Report
    from .visit import Visit


class GarbletError(Exception):
    """A computation ended, or could not begin, without a particular party at fault."""

    hint: str | None
    #: The number in the log of the receipt that a run without a result has left; None if it left none.
    receipt: int | None = None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint is not None:
            # Tracebacks then show it.
            self.add_note(f"hint: {hint}")


class UsageError(GarbletError, ValueError):
    """The call is wrong: for example an option, an address, an identity, or a protocol that does not support the program."""


@dataclass(frozen=True)
class Diagnostic:
    """One mistake in a file. Line and column count from 1; 0 means the whole file."""

    file: str
    line: int
    column: int
    message: str
    hint: str | None


class CompileError(GarbletError):
    """A source or another file has mistakes."""

    diagnostics: list[Diagnostic]

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        diagnostics: Sequence[tuple[str, tuple[int, int], str, str | None]] = (),
    ) -> None:
        super().__init__(message, hint)
        self.diagnostics = [
            Diagnostic(file, line, column, words, advice) for file, (line, column), words, advice in diagnostics
        ]


class InputError(GarbletError, ValueError):
    """Values do not fit the program."""


class Panicked(GarbletError, ArithmeticError):
    """The computation failed a check, such as an overflow or a division by zero, at the place that the message names. There is no result."""


class PeerError(GarbletError, ConnectionError):
    """The peer is gone or silent, has the wrong identity, or requests a different run."""

    party: int | None

    def __init__(self, message: str, hint: str | None = None, party: int | None = None) -> None:
        super().__init__(message, hint)
        self.party = party


class CheatingError(PeerError):
    """The peer was caught cheating: no honest party behaves this way. Keep the message as evidence."""


class NotPreparedError(GarbletError):
    """The stores do not have enough material for the run."""


class ReceiptError(GarbletError, OSError):
    """A run or a visit has ended, and its receipt could not be written. The peer may have one. Begin nothing more before the log can be written.

    If the run had no result, `__cause__` says why.
    """

    #: The results of the run, if it had any.
    report: Report | None = None
    #: The answer of the visit, if it was one that had an answer.
    visit: Visit | None = None


class StoreError(GarbletError, OSError):
    """A store cannot be used."""
