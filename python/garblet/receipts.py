"""Receipts: the records of runs, with or without a result, in logs that the command reads and writes too."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _garblet, arguments


@dataclass(frozen=True)
class Receipt:
    """The record of one run. It contains no input, and outputs only if the party asked for them."""

    #: The place in its log, from 1, and the digest over it and all before it.
    number: int
    digest: str
    #: When the run ended: RFC 3339, UTC.
    time: str
    party: int
    parties: int
    #: The fingerprint of this party; None over plain TCP.
    identity: str | None
    #: The others that were met: `party`, `name`, `fingerprint`.
    peers: list[dict[str, Any]]
    #: The digest of the job, if there was one.
    job: str | None
    #: The digest of the program.
    program: str
    protocol: str
    #: Whether the run had a result.
    has_result: bool
    #: Why there is no result, or why the session was not closed in order.
    message: str | None
    bytes_sent: int
    bytes_received: int
    #: The outputs, each as `garblet run --json` has it; None if the party did not ask for them.
    outputs: dict[str, Any] | None = field(repr=False)
    _object: str = field(repr=False, compare=False)

    @staticmethod
    def load(path: str | os.PathLike[str] | None = None, *, holds: Sequence[str] = ()) -> list[Receipt]:
        """Reads a log, and checks that no line was changed, dropped or moved; None is the log in the configuration folder.

        `holds` are digests that you noted earlier: if the log still has them, nothing before them was cut off.
        """
        said = _garblet.receipts(arguments.optional(arguments.path, "path", path), arguments.names("holds", holds))
        return [_of_object(receipt) for receipt in json.loads(said)]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as an object of `garblet receipts show --json`."""
        of: dict[str, Any] = json.loads(self._object)
        return of


@dataclass(frozen=True)
class Comparison:
    """The runs of two logs. Runs that met no peer are left out."""

    #: Ours and theirs of the same run: each party received what the other sent.
    alike: list[tuple[Receipt, Receipt]]
    #: Receipts that the other log lacks, or has with other contents.
    only_ours: list[Receipt]
    only_theirs: list[Receipt]
    #: Whether a run with a result that was closed in order is among these.
    differs: bool


def compare_receipts(ours: str | os.PathLike[str], theirs: str | os.PathLike[str]) -> Comparison:
    """Compares the logs of two parties, as `garblet receipts compare` does. First exchange the digests of the last receipts, then the logs."""
    said = json.loads(_garblet.compare_receipts(arguments.path("ours", ours), arguments.path("theirs", theirs)))
    only_ours, only_theirs = said["only"]
    return Comparison(
        alike=[(_of_object(own), _of_object(other)) for own, other in said["alike"]],
        only_ours=[_of_object(receipt) for receipt in only_ours],
        only_theirs=[_of_object(receipt) for receipt in only_theirs],
        differs=said["differs"],
    )


def _of_object(of: dict[str, Any]) -> Receipt:
    ended = of["ended"]
    has_result = "ok" in ended
    return Receipt(
        number=of["number"],
        digest=of["digest"],
        time=of["time"],
        party=of["party"],
        parties=of["parties"],
        identity=of["identity"],
        peers=of["peers"],
        job=of["job"],
        program=of["program"],
        protocol=of["protocol"],
        has_result=has_result,
        message=ended["ok"]["closing"] if has_result else ended["failed"]["message"],
        bytes_sent=of["bytes_sent"],
        bytes_received=of["bytes_received"],
        outputs=of.get("outputs"),
        _object=json.dumps(of),
    )
