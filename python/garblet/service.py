"""Calls of a service, `garblet serve --config`, which runs jobs with many callers."""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import arguments
from ._garblet import Identity
from .job import Job
from .progress import Progress
from .report import Report
from .session import Arrange, Session, Store
from .values import Value


@dataclass(frozen=True)
class Service:
    """Where a service is, and how this party calls it.

    `address` is for two parties; a job of several has `peers`, a file with all addresses, and a name `session` for each session. The receipt of each call goes to
    `receipts`, by default the log in the configuration folder. The other fields are as for `Session`.
    """

    address: str | None
    identity: Identity
    peers: str | os.PathLike[str] | None = None
    session: str | None = None
    rows: int | None = None
    arrange: Arrange = "check"
    store: Store | None = None
    receipts: str | os.PathLike[str] | None = None
    receipt_outputs: bool = False
    timeout: float = 60.0
    patience: float | None = None
    progress: Progress = False

    def __post_init__(self) -> None:
        for name in ("peers", "receipts"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, arguments.path(name, getattr(self, name)))

    def _session(self, job: Job) -> Session:
        return Session(
            job=job,
            connect=self.address,
            identity=self.identity,
            peers=self.peers,
            session=self.session,
            rows=self.rows,
            arrange=self.arrange,
            store=self.store,
            receipts=self.receipts,
            receipt_outputs=self.receipt_outputs,
            timeout=self.timeout,
            patience=self.patience,
            progress=self.progress,
        )


def call(service: Service, job: Job, /, **inputs: Value) -> Report:
    """Runs a job once with a service, and returns this party's results. `PeerError` says why a service refuses, and its `receipt` is the number of the receipt of that call."""
    with _session(service, job) as session:
        return session.run(**inputs)


async def acall(service: Service, job: Job, /, **inputs: Value) -> Report:
    """As `call`, for asyncio. Cancelling the task aborts the run, which the service may have counted."""
    async with await arguments.beside(_session, service, job) as session:
        return await session.arun(**inputs)


def _session(service: Service, job: Job) -> Session:
    of = arguments.one_of(Service, "a Service, and after it a job")("service", service)
    return of._session(arguments.one_of(Job, "a job, as Job.load returns")("job", job))
