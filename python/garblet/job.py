"""Jobs: files that contain the whole agreement of a run, identical for all parties."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from . import _garblet, arguments
from ._garblet import Identity
from .errors import UsageError
from .program import Program, units
from .progress import log
from .report import table


@dataclass(frozen=True)
class JobParty:
    """A party of a job: the name that all parties use, its fingerprint if the job names identities, and its signature."""

    name: str
    fingerprint: str | None
    signed: bool
    #: What is wrong with its signature; None if nothing is, or if it has not signed.
    wrong: str | None


class Job:
    """A job, as the commands `garblet job` and `garblet run --job` read it. Immutable.

    `load` reads the file, `check` compiles its program, `sign` signs it beside the file. A session under it is `Session(job=job, ...)`.
    """

    def __init__(self, native: _garblet.Job, path: Path, effort: int | None) -> None:
        self._native = native
        self._effort = effort
        self._program: Program | None = None
        #: The file.
        self.path = path

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, effort: int | None = None) -> Job:
        """Reads a job. Its program is read later, and compiled with at most `effort` units of work."""
        there = arguments.path("path", path)
        return cls(_garblet.Job.load(there, units(effort)), there, effort)

    @property
    def name(self) -> str:
        """The name, for people."""
        return self._native.name

    @property
    def digest(self) -> str:
        """The digest of the whole agreement, which parties compare, sign and list."""
        return self._native.digest

    @property
    def protocol(self) -> str:
        """The protocol."""
        return self._native.protocol

    @property
    def batch(self) -> int | None:
        """The most rows in a run; None if a run is one evaluation."""
        return self._native.batch

    @property
    def fields(self) -> dict[str, str]:
        """Everything that the digest covers."""
        return dict(self._native.fields)

    @property
    def parties(self) -> tuple[JobParty, ...]:
        """The parties by number, with the signatures that are beside the job now."""
        known = zip(self._native.parties, self._native.signatures(), strict=True)
        return tuple(JobParty(name, own, signed, wrong) for (name, own), (_, signed, wrong) in known)

    @property
    def program(self) -> Program:
        """The program, compiled when it is first needed. It is refused if its digest is not the job's."""
        if self._program is None:
            made = (_program_of, self.digest, str(self.path), self._effort)
            self._program = Program(self._native.program(), made)
        return self._program

    def check(self, *, trust: Mapping[str, str] | None = None) -> Program:
        """Checks what a party is asked to agree to, and returns the program: its `inputs` say who gives what, its `outputs` who learns what.

        A name of the job that `trust`, or `trust.toml` in the configuration folder, has for somebody else is an error. Names that may look like others,
        and inputs that reach an output unchanged, go to the `garblet` logger. `garblet.plan` says what a run costs.
        """
        program = self.program
        note = self._native.check(program._native, arguments.texts("trust", trust))
        if note:
            log.warning("%s", note.strip())
        return program

    def sign(self, identity: Identity, *, trust: Mapping[str, str] | None = None) -> str:
        """Checks the job as `check` does, and signs it for the party with this identity. Returns the party's name."""
        own = arguments.one_of(Identity, "an identity, as Identity.load returns")("identity", identity)
        try:
            return self._native.sign(own, arguments.texts("trust", trust))
        except UsageError as error:
            is_party = own.fingerprint in {party for _, party in self._native.parties}
            if is_party or own.fingerprint not in str(error):
                raise
            # The hint of the other calls names their argument `identity=`, a file.
            raise UsageError(str(error), "pass the Identity of one of these parties, as Identity.load returns it") from None

    def verify(self) -> None:
        """Checks that all parties have signed. `UsageError` names those whose signature is missing or wrong."""
        self._native.verify()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.digest, str(self.path), self._effort)

    def __repr__(self) -> str:
        return f"Job({self.name}, {self.digest})"

    def _repr_html_(self) -> str:
        rows = [
            (escape(party.name), escape(party.fingerprint or "-"), "yes" if party.signed else escape(party.wrong or "no"))
            for party in self.parties
        ]
        fields = [(escape(name), escape(text)) for name, text in self.fields.items()]
        head = f"<p>{escape(self.name)}: job {self.digest}</p>"
        return head + table(("party", "fingerprint", "signed"), rows) + table(("field", "value"), fields)


def _again(digest: str, path: str, effort: int | None) -> Job:
    job = Job.load(path, effort=effort)
    if job.digest != digest:
        raise UsageError(f"{path}: job: it is {job.digest}, expected {digest}", "the file has changed since it was loaded")
    return job


def _program_of(digest: str, path: str, effort: int | None) -> Program:
    return _again(digest, path, effort).program
