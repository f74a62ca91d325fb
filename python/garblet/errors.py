"""Exceptions, by whose fault. Each has a `hint`: what to do about it, where that is not plain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class GarbletError(Exception):
    """Something has ended a computation, or kept it from beginning; nobody in particular is at fault."""

    hint: str | None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint is not None:
            # So that it stands in tracebacks.
            self.add_note(f"hint: {hint}")


class UsageError(GarbletError, ValueError):
    """The call is wrong: an option, an address, an identity, a protocol that does not run the program."""


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong with a file. Line and column count from 1; 0 is the file as a whole."""

    file: str
    line: int
    column: int
    message: str
    hint: str | None


class CompileError(GarbletError):
    """A source or another file is wrong."""

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
    """The computation overflowed, divided by zero or the like, at a place that the message names. There is no result."""


class PeerError(GarbletError, ConnectionError):
    """The peer is gone, silent, not whom it should be, or wants something else."""

    party: int | None

    def __init__(self, message: str, hint: str | None = None, party: int | None = None) -> None:
        super().__init__(message, hint)
        self.party = party


class CheatingError(PeerError):
    """The peer was found out: it did what no honest party does. Keep the message."""


class NotPreparedError(GarbletError):
    """The stores do not have what the run takes."""


class StoreError(GarbletError, OSError):
    """A store cannot be used."""
