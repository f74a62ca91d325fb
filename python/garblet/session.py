"""One party's end of a session with others elsewhere."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar

from . import _garblet, arguments
from ._garblet import Identity
from .errors import GarbletError, Panicked, StoreError, UsageError
from .job import Job
from .local import Params, Protocol
from .program import Program
from .progress import Hearing, Progress, log
from .report import Report, of_native
from .values import Value, encode, library_of

P = ParamSpec("P")
T = TypeVar("T")

#: The order of lists: they must be in order, or rows are sorted by key, or values with the same key are also added up.
Arrange = Literal["check", "sort", "sum-by-key"]


_PROGRAM = arguments.one_of(Program, "a program, as garblet.compile or garblet.load returns")
_JOB = arguments.one_of(Job, "a job, as Job.load returns")
_IDENTITY = arguments.one_of(Identity, "an identity, as Identity.load returns")


def configuration() -> Path:
    """The folder of keys and records, shared with the command."""
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "garblet"


class Store:
    """Prepared one-time material, encrypted under a key. Each piece is used at most once.

    Only one session at a time can open it. `key` is the key file, which is made with the store if it does not exist;
    the default is `store.key` in the configuration folder, as for the command.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None, create: bool = False
    ) -> None:
        self.folder = arguments.path("folder", folder)
        self.key = configuration() / "store.key" if key is None else arguments.path("key", key)
        if key is None:
            self.key.parent.mkdir(parents=True, exist_ok=True)
        known = _garblet.check_store(self._place(create=create, top_up=False))
        if not known:
            log.warning(
                "this machine has no record of the store in %s; if it was restored from a backup, its pieces could be used twice: "
                "let both parties create new stores",
                self.folder,
            )

    def _place(self, *, create: bool, top_up: bool) -> dict[str, Any]:
        records = configuration() / "stores"
        return {"folder": self.folder, "key": self.key, "records": records, "create": create, "top_up": top_up}

    @property
    def stock(self) -> dict[str, tuple[int, int, int]]:
        """The number of pieces of each kind: available, used, lost."""
        return _garblet.stock(self._place(create=False, top_up=False))

    @property
    def kept(self) -> dict[str, list[str]]:
        """The names under which the store keeps outputs, each with the outputs."""
        return _garblet.kept(self._place(create=False, top_up=False))

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"


class Session:
    """One party's end of a session. Calls block and release the interpreter lock; methods that begin with `a` are their `asyncio` versions.

    With two parties, give `listen` or `connect`; protocols for several parties take `peers`, a file with all addresses. Each party has an `identity`
    and pins the peer's fingerprint in `trust`, under a name of its choice. `insecure_plain_tcp` does without both, on one machine. Sessions with
    different `session` names never meet. The first call meets the peer: it waits `patience` seconds for it, and later `timeout` seconds for each of
    its messages; `patience` defaults to `timeout`.

    A run draws on `store`; with `top_up` the parties make what their stores lack. With `keep`, the stores keep the wires of the outputs under this
    name, and with `read` an input is read from such an output: `read={"x": "name"}`, or `"name.output"` if several were kept.

    Under a `job` the session has the job's program, protocol, parameters and peers, and this party's number follows from its identity; `rows` makes it a batch. Such a
    session has one run. When that has ended, with or without a result, its receipt is added to the log `receipts`, by default the one in the configuration folder;
    with `receipt_outputs` it contains the outputs. Without a job there is a receipt if `receipts` is given. A run with a receipt closes the session: it waits
    `timeout` seconds for a peer that does not close it too.

    With `arrange="sort"`, lists whose order the program relies on are sorted by key; with `"sum-by-key"` values with the same key are also added up.

    An exception in a `with` block aborts the session, which the peer notices; otherwise the end of the block closes it. `Panicked` is a result, so it
    closes the session too: after the last run, a peer that must not learn of the panic does not. After an earlier run, the peer would wait for the
    next run, and learn of the panic when none comes. So catch `Panicked` around each run and go on with the agreed runs, or use `Program.batch`.
    """

    def __init__(
        self,
        program: Program | None = None,
        party: int | None = None,
        *,
        job: Job | None = None,
        rows: int | None = None,
        listen: str | None = None,
        connect: str | None = None,
        peers: str | os.PathLike[str] | None = None,
        identity: Identity | None = None,
        trust: Mapping[str, str] | None = None,
        insecure_plain_tcp: bool = False,
        session: str | None = None,
        protocol: Protocol | None = None,
        params: Params | None = None,
        store: Store | None = None,
        top_up: bool = False,
        keep: str | None = None,
        read: Mapping[str, str] | None = None,
        arrange: Arrange = "check",
        receipts: str | os.PathLike[str] | None = None,
        receipt_outputs: bool = False,
        timeout: float = 60.0,
        patience: float | None = None,
        progress: Progress = False,
    ) -> None:
        needs_store = {"top_up": top_up, "keep": keep is not None, "read": bool(read)}
        for name in (name for name, is_given in needs_store.items() if is_given and store is None):
            raise UsageError(f"{name}: there is no store", "give store=")
        if receipt_outputs and receipts is None and job is None:
            raise UsageError("receipt_outputs: this run writes no receipt", "give receipts=")
        if arrange not in ("check", "sort", "sum-by-key"):
            raise UsageError(f"arrange: expected check, sort or sum-by-key, got {arrange}")
        if insecure_plain_tcp and (identity is not None or trust):
            which = "trust=" if identity is None else "identity="
            raise UsageError(f"insecure_plain_tcp: plain TCP checks no identity, but {which} is given", "leave one of them out")
        if job is not None:
            _JOB("job", job)
            said = {"program": program, "protocol": protocol, "params": params, "keep": keep, "read": read}
            for name in (name for name, value in said.items() if value is not None):
                raise UsageError(f"{name}: the job says it, or does not allow it", "leave it out")
            program = job.program
        elif program is None or party is None:
            raise UsageError("there is no program, or no number of this party", "give program and party, or job=")
        elif rows is not None:
            raise UsageError("rows: it is for jobs", "use Program.batch")
        _PROGRAM("program", program)
        arguments.optional(arguments.rows, "rows", rows)
        self.program = program if job is None or rows is None else program.batch(rows)
        self.closing: GarbletError | None = None
        self._keep = keep
        self._hear = Hearing(progress)
        self._busy = threading.Lock()
        self._open = True
        own = arguments.optional(arguments.one_of(Store, "a Store"), "store", store)
        settings = {
            "party": arguments.optional(arguments.party, "party", party),
            "job": None if job is None else job._native,
            "rows": rows,
            "arrange": arrange,
            "receipts": arguments.optional(arguments.path, "receipts", receipts),
            "receipt_outputs": bool(receipt_outputs),
            "listen": arguments.optional(arguments.address, "listen", listen),
            "connect": arguments.optional(arguments.address, "connect", connect),
            "peers": arguments.optional(arguments.path, "peers", peers),
            "identity": arguments.optional(_IDENTITY, "identity", identity),
            "trust": arguments.texts("trust", trust),
            "insecure_plain_tcp": bool(insecure_plain_tcp),
            "session": arguments.optional(arguments.text, "session", session),
            "protocol": arguments.text("protocol", protocol or "yao"),
            "params": arguments.texts("params", params),
            "store": None if own is None else own._place(create=False, top_up=bool(top_up)),
            "keep": arguments.optional(arguments.text, "keep", keep),
            "read": arguments.texts("read", read),
            "timeout": arguments.seconds("timeout", timeout),
            "patience": arguments.optional(arguments.seconds, "patience", patience),
        }
        self._native = _garblet.Session(program._native, settings, self._hear)
        self._ports = self.program._native.inputs if job is None else self._native.given.inputs
        if self._native.address is not None:
            log.info("listening on %s", self._native.address)

    @property
    def address(self) -> tuple[str, int] | None:
        """The address where the session listens, with the port that the system chose."""
        if self._native.address is None:
            return None
        host, port = self._native.address.rsplit(":", 1)
        return host.strip("[]"), int(port)

    def prepare(self, runs: int = 1) -> None:
        """Prepares this many runs before the inputs are known. All parties must do the same, in the same order."""
        self._call(lambda: self._native.prepare(runs, self._hear))

    def run(self, /, **inputs: Value) -> Report:
        """Runs once, with prepared material if there is any, and returns this party's results.

        Every run with a receipt has one by then, or `ReceiptError` is raised: its `report` has the results, its `__cause__` says how a run without any ended.
        """
        return self._run(encode(self._ports, inputs), library_of(inputs))

    def _run(self, encoded: str, library: str | None = None) -> Report:
        try:
            with self.program._located():
                return of_native(self._call(lambda: self._native.run(encoded, self._hear)), library)
        except BaseException as error:
            # The results are final all the same: the receipt is not written, or the call was interrupted too late.
            said = error.__dict__.pop("_said", None)
            if said is not None:
                error.report = of_native(said, library)  # type: ignore[attr-defined]
                error.add_note("the run has ended: `report` of this exception has its results")
            raise

    def fill(self, **amounts: int) -> int:
        """Fills all parties' stores up to these amounts (`runs=3`, `gates=100_000` and so on, by protocol), and
        returns how many pieces were discarded because not all stores had them. A session that fills cannot run.
        """
        return self._call(lambda: self._native.fill(list(amounts.items()), self._hear))

    def close(self) -> None:
        """Closes the session. All parties do this at the same time: each waits for the others' goodbye.

        An error at this point does not change any result; `closing` has it. With `keep`, `StoreError` is raised if the outputs of the last run were not
        kept: then the value under the name is still the earlier one.
        """
        self._part(abort=False)

    def abort(self) -> None:
        """Aborts the session; the others learn only that it was aborted."""
        self._part(abort=True)

    async def aprepare(self, runs: int = 1) -> None:
        """As `prepare`."""
        await self._beside(self.prepare, runs)

    async def afill(self, **amounts: int) -> int:
        """As `fill`."""
        return await self._beside(functools.partial(self.fill, **amounts))

    async def arun(self, /, **inputs: Value) -> Report:
        """As `run`. Cancelling the task aborts the session."""
        return await self._beside(functools.partial(self.run, **inputs))

    async def aclose(self) -> None:
        """As `close`."""
        await self._beside(self.close)

    async def _beside(self, call: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        try:
            return await arguments.beside(call, *args, **more)
        except asyncio.CancelledError:
            self._native.cancel()
            raise

    def _call(self, call: Callable[[], T]) -> T:
        # Take this first: an abandoned call may still be finishing.
        if not self._open:
            raise UsageError("the session is closed", "begin another, all parties together")
        if not self._busy.acquire(blocking=False):
            raise UsageError("another call of this session is under way", "use a session for each thread")
        try:
            return call()
        finally:
            self._busy.release()

    def _part(self, *, abort: bool) -> None:
        # A call that was given up has aborted the session, and may still be under way.
        if abort or (self._native.given_up and self._busy.locked()):
            # This applies while another thread closes it, too.
            self._open = False
            self._native.abort()
            return
        if not self._open:
            return
        closing = self._call(self._close)
        if isinstance(closing, GarbletError):
            self.closing = closing
            if self._native.given_up:
                return
            if self._keep is not None and isinstance(closing, StoreError):
                raise closing
            log.warning("the result is final, but the peer did not close the session properly: %s", closing)

    def _close(self) -> Exception | None:
        # Closing happens only once, even if it is interrupted.
        self._open = False
        return self._native.close(self._hear)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, t: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self._part(abort=_gives_up(e))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, t: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        await self._beside(self._part, abort=_gives_up(e))


def _gives_up(error: BaseException | None) -> bool:
    """Whether an exception ends a session at once. A panic does not: the peer may not be entitled to learn of it, so the way in which this party leaves must not reveal it."""
    if isinstance(error, BaseExceptionGroup):
        # In a group of exceptions of tasks, only exceptions other than panics matter.
        error = error.split(Panicked)[1]
    return error is not None and not isinstance(error, Panicked)
