"""Runs over the shards of a table on Ray clusters. Each party has its own cluster, and shard `k` of one party meets shard `k` of the other.

Both parties call `map` with the same session, program, number of shards and so on, each with its own table. Shards run in rounds. In each round, both parties
try every unfinished shard in the same order. Then both learn which shards are done on both sides, and retry the others in the next round. So a worker that dies
costs its shard another attempt on both sides. Both parties count and cap attempts, because each one is another evaluation, in which a cheating peer could use
another input.
"""

from __future__ import annotations

import collections
import contextlib
import hashlib
import json
import os
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray
from garblet import (
    CheatingError,
    CompileError,
    GarbletError,
    Identity,
    Inputs,
    Panicked,
    Params,
    PeerError,
    Program,
    Protocol,
    Report,
    Session,
    Sharding,
    Shards,
    Store,
    UsageError,
    __version__,
    compile,
    errors,
)
from garblet.progress import log
from garblet.session import configuration
from garblet.sharding import checked
from garblet.values import columns_of

#: A shard waits for its peer for this many time-outs, and twice as many if the slot's last shard failed: the peer may have just begun to wait for that one.
_PATIENCE = 3
#: Seconds that a cluster may take to notice the end of the previous job.
_CLEARING = 20
#: Seconds between two checks that the nodes are alive.
_LOOK = 10.0


@dataclass(frozen=True)
class Calling:
    """This party calls the peer's single port, `address`, which routes sessions by name. `trust` has the fingerprints of the peer's nodes."""

    address: str
    trust: Mapping[str, str]


@dataclass(frozen=True)
class Listening:
    """The peer calls this party's single port, where HAProxy forwards TLS by server name and holds no key.

    `socket` is HAProxy's runtime socket on the node that calls `map`. `names` is the map file in HAProxy's configuration, to which workers are added while they wait
    for the peer. `trust` has the fingerprints of the peer's nodes.
    """

    socket: str
    names: str
    trust: Mapping[str, str]

    def enter(self, name: str, address: tuple[str, int]) -> None:
        """Routes a session's peer to the address where the session listens."""
        self.remove(name)
        said = self._ask(f"add map {self.names} {name} {address[0]}:{address[1]}")
        if said:
            raise UsageError(f"HAProxy at {self.socket}: {said}", f"does its configuration have the map {self.names}?")

    def remove(self, name: str) -> None:
        """Removes the route to a session. If HAProxy is gone, nobody gets through anyway."""
        try:
            self._ask(f"del map {self.names} {name}")
        except UsageError as error:
            log.warning("%s is not taken out of %s: %s", name, self.names, error)

    def _ask(self, command: str) -> str:
        try:
            with socket.socket(socket.AF_UNIX) as haproxy:
                haproxy.settimeout(10)
                haproxy.connect(self.socket)
                haproxy.sendall(command.encode() + b"\n")
                return b"".join(iter(lambda: haproxy.recv(4096), b"")).decode(errors="replace").strip()
        except OSError as error:
            advice = "start HAProxy on this node, with a `stats socket` of level admin there"
            raise UsageError(f"HAProxy at {self.socket}: {error}", advice) from error


class ShardsError(GarbletError):
    """Some shards do not have a result on both sides. `failed` has the reason for each shard that was tried, and `reports` has all results of this party."""

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        failed: Mapping[int, GarbletError] | None = None,
        reports: Mapping[int, Report] | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.failed = dict(failed or {})
        self.reports = dict(reports or {})


@dataclass(frozen=True)
class _Task:
    """Everything that a worker needs, except secrets."""

    program: Program
    party: int
    peer: Calling | Listening
    identity: str
    protocol: Protocol
    params: dict[str, str | int]
    timeout: float
    top_up: bool
    stores: str | None
    store_key: str | None

    def session(self, name: str, patience: float, store: Store | None, address: str) -> Session:
        """This party's end of a session; listens at once if the peer is the caller."""
        listens = isinstance(self.peer, Listening)
        return Session(
            self.program,
            self.party,
            listen=f"{address}:0" if listens else None,
            connect=None if isinstance(self.peer, Listening) else self.peer.address,
            identity=Identity.load(self.identity),
            trust=self.peer.trust,
            session=name,
            protocol=self.protocol,
            params=self.params,
            store=store,
            top_up=store is not None and self.top_up,
            timeout=self.timeout,
            patience=patience,
        )


def _own_address() -> str:
    """This node's address as other nodes see it."""
    own = ray.get_runtime_context().get_node_id()
    address: str = next(node["NodeManagerAddress"] for node in ray.nodes() if node["NodeID"] == own)
    return address


#: The outcome of an attempt: a result, or the name, message and hint of an exception.
_Ended = Report | tuple[str, str, str | None]


def _attempt(task: _Task, door: Any, name: str, slot: int, patience: float, encoded: str, digest: str) -> _Ended:
    """Runs a shard once, in a worker."""
    try:
        if hashlib.sha256(encoded.encode()).hexdigest() != digest:
            raise UsageError(f"{name}: the inputs are not those that the job began with")
        store = None
        if task.stores is not None:
            key = None if task.store_key is None else Path(task.store_key)
            store = Store(task.stores.format(slot=slot), key=key, create=task.top_up)
        with task.session(name, patience, store, _own_address()) as session:
            if door is not None:
                ray.get(door.enter.remote(name, session.address))
            try:
                return session._run(encoded)
            except UsageError as error:
                # The job has reached the peer with the same call, so the call is right, and a failure such as a name that is not found is temporary.
                raise GarbletError(str(error), error.hint) from error
    except GarbletError as error:
        # The class of ours behind an exception that Ray passed on from HAProxy's node.
        own = next(of for of in type(error).__mro__ if of.__module__ == errors.__name__)
        return own.__name__, str(error), error.hint


def _outcome(ended: _Ended) -> Any:
    """A shard's result or panic, which is the same in every attempt; None if there is neither."""
    if isinstance(ended, Report):
        return ended.outputs, ended.panicked
    kind, message, _ = ended
    return message if kind == Panicked.__name__ else None


class _Door:
    """Enters workers into HAProxy's map; runs on HAProxy's node."""

    def __init__(self, listening: Listening) -> None:
        self._listening = listening

    def enter(self, name: str, address: tuple[str, int]) -> None:
        """Routes a session's peer to its worker."""
        self._listening.enter(name, address)


class _Records:
    """The file of a job, written before anything is evaluated. A session name serves once, which bounds evaluations whatever is restarted."""

    def __init__(self, folder: Path, session: str, manifest: dict[str, Any]) -> None:
        # It contains the salt, with which others could test guesses of inputs.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / f"{session}.jsonl"
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise UsageError(
                f"session: {session} has been run, as {self._path} says",
                "a name serves for one job, whose evaluations are counted; agree with the peer on another",
            ) from None
        try:
            self.add(manifest)
            # Sync the folder too, so that the file's name is on disk.
            opened = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)
        except BaseException:
            self.forget()
            raise

    def add(self, entry: dict[str, Any]) -> None:
        """Adds an entry; it is on disk when this returns."""
        with self._path.open("a") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def forget(self) -> None:
        """Removes the file of a job that evaluated nothing, so that its name can serve again."""
        self._path.unlink(missing_ok=True)


def map(
    program: Program,
    table: Inputs | Sequence[Inputs] | Shards | Any,
    *,
    shards: int | Sharding,
    party: int,
    peer: Calling | Listening,
    session: str,
    identity: str | os.PathLike[str],
    slots: int = 1,
    protocol: Protocol = "yao",
    params: Params | None = None,
    stores: str | None = None,
    store_key: str | None = None,
    top_up: bool = False,
    attempts: int = 3,
    timeout: float = 60.0,
    cpus: float = 1.0,
    records: str | os.PathLike[str] | None = None,
) -> list[Report]:
    """Runs `program` once for each shard, and returns the reports in order. `ray.init` comes first.

    `table` is a data frame or a mapping of columns, which is cut into `shards` parts of equal length, or a list with the inputs of each shard. `slots` shards run at
    a time, and slot `k % slots` always runs shard `k`. `identity` is a file on every node. With `stores`, a folder like `"/var/lib/garblet/{slot}"`, each slot has its
    own store, on the node with the resource `garblet_slot_{slot}`. Both parties must give the same `session`, which serves only once, and the same `shards`, `slots`,
    `attempts`, program and protocol. A program with a masked output has one attempt.

    With a `garblet.Sharding` as `shards`, which both compare, `table` is what its `cut` returns, or a list with the inputs of each shard.

    Raises `ShardsError` if a shard panicked or has no result after `attempts` rounds, or if the job ends early with some results; raises `CheatingError` at once. Any
    exception that ends the job, even Ctrl-C, has the results so far as `reports`.
    """
    sharding = shards if isinstance(shards, Sharding) else None
    count = shards.shards if isinstance(shards, Sharding) else shards
    _check(count, party, slots, attempts, session, stores, cpus)
    if program.is_masked and attempts != 1:
        raise UsageError(
            f"attempts: expected 1 for a program with a masked output, got {attempts}",
            "a mask is for one evaluation: whoever sees two results under one mask learns their difference",
        )
    _look_for_room(slots, cpus, stores is not None)
    _look_for_package()
    frozen = _frozen(program, table, count, party, sharding)
    folder = Path(records) if records is not None else configuration() / "ray"
    task = _Task(
        program, party, peer, os.fspath(identity), protocol, dict(params or {}), timeout, top_up, stores, store_key
    )
    agreed = {
        "program": program.digest.hex(),
        "protocol": protocol,
        "params": sorted((name, str(value)) for name, value in task.params.items()),
        "shards": count,
        "slots": slots,
        "attempts": attempts,
    }
    if sharding is not None:
        agreed["sharding"] = sharding.agreement
    salt = secrets.token_hex(16)
    digests = [hashlib.sha256((salt + encoded).encode()).hexdigest() for encoded in frozen]
    reports: dict[int, Report] = {}
    late: list[GarbletError] = []
    try:
        with _room(slots, cpus, stores is not None) as room:
            job = _Job(task, session, agreed, frozen, slots, cpus, room, reports, late)
            job.records = _Records(folder, session, {**agreed, "party": party, "salt": salt, "inputs": digests})
            try:
                return job.run(attempts)
            finally:
                job.leave()
    except BaseException as error:
        # This includes errors while leaving, such as another Ctrl-C.
        error.reports = dict(reports)  # type: ignore[attr-defined]
        for other in late:
            error.add_note(f"and {type(other).__name__} of a worker that nobody had looked at: {other}")
        raise


#: A session name, which is part of file and server names; rounds and shards are appended to it.
_NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,38}[a-z0-9])?")


def _check(
    shards: int, party: int, slots: int, attempts: int, session: str, stores: str | None, cpus: float
) -> None:
    if not ray.is_initialized():
        raise UsageError("there is no cluster", 'call ray.init(), or ray.init(address="auto") on one of its nodes')
    for name, value in (("shards", shards), ("slots", slots), ("attempts", attempts)):
        if not isinstance(value, int) or value < 1:
            raise UsageError(f"{name}: expected a number from 1, got {value!r}")
    if not cpus > 0:
        raise UsageError(f"cpus: expected a number above 0, got {cpus!r}")
    if party not in (0, 1):
        raise UsageError(f"party: expected 0 or 1, got {party!r}")
    if not _NAME.fullmatch(session):
        raise UsageError(f"session: expected a letter and then at most 39 letters, digits and `-`, all small, got {session!r}")
    if stores is not None and not _is_for_each_slot(stores):
        raise UsageError(f"stores: expected a folder for each slot, got {stores!r}", 'give "{slot}" in it: "/var/lib/garblet/{slot}"')


def _is_for_each_slot(stores: str) -> bool:
    try:
        return stores.format(slot=0) != stores.format(slot=1)
    except (LookupError, ValueError, AttributeError):
        # There are other braces in it.
        return False


def _look_for_room(slots: int, cpus: float, has_stores: bool) -> None:
    """Checks that all slots can run at once: a shard that waits for room would keep the peer waiting."""
    there = ray.cluster_resources()
    if there.get("CPU", 0.0) < slots * cpus:
        got = f"{there.get('CPU', 0.0):g}"
        raise UsageError(f"slots: {slots} at once need {slots * cpus:g} processors, and the cluster has {got}", "give cpus= or fewer slots=")
    for slot in range(slots if has_stores else 0):
        if f"garblet_slot_{slot}" not in there:
            advice = f"start the node that keeps its store with: ray start --resources='{{\"garblet_slot_{slot}\": 1}}'"
            raise UsageError(f"stores: no node has the resource garblet_slot_{slot}", advice)


@contextlib.contextmanager
def _room(slots: int, cpus: float, has_stores: bool) -> Iterator[Any]:
    """Reserves room for every slot of this job. Then two jobs on one cluster never wait for each other while their peers wait for them."""
    bundles = [{"CPU": cpus, **_pinned(slot, has_stores)} for slot in range(slots)]
    room = ray.util.placement_group(bundles)
    try:
        if not room.wait(_CLEARING):
            raise UsageError(
                f"slots: no room for {slots} at once in {_CLEARING} seconds, as others are at work on this cluster",
                "wait until their job has ended, or give fewer slots=",
            )
        yield room
    finally:
        ray.util.remove_placement_group(room)


def _pinned(slot: int, has_stores: bool) -> dict[str, float]:
    """The resource of the node that has a slot's store."""
    return {f"garblet_slot_{slot}": 1.0} if has_stores else {}


def _present() -> bool:
    return True


def _look_for_package() -> None:
    """Checks that workers have this package and `garblet`, before the peer waits for one that lacks them."""
    try:
        ray.get(ray.remote(_present).options(num_cpus=0, max_retries=0).remote())
    except ray.exceptions.RayError as error:
        raise _without_package(error) or error from error


def _without_package(error: Exception) -> UsageError | None:
    if "No module named 'garblet" not in str(error):
        return None
    wheel = f"garblet_ray-{__version__}-py3-none-any.whl"
    return UsageError("the workers have no package garblet-ray", f"install it on every node, from the wheel of the release: pip install ./{wheel}")


def _parts(program: Program, table: Any, shards: int, sharding: Sharding | None) -> Sequence[Inputs] | Shards:
    """The inputs of every shard."""
    if sharding is not None:
        sharding.check(program)
    if isinstance(table, Shards):
        if table.sharding != sharding:
            raise UsageError("shards: expected the sharding by which the table was cut, got another", "give shards=sharding, which both parties compare")
    elif not isinstance(table, (list, tuple)):
        if sharding is not None:
            raise UsageError(f"table: expected the inputs of each shard, got a {type(table).__name__}", "sharding.cut(input, table, key=...) cuts it by key")
        table = _cut(table, shards)
    if len(table) != shards:
        raise UsageError(f"table: expected {shards} shards, got {len(table)}")
    parts: Sequence[Inputs] | Shards = table
    return parts


def _frozen(program: Program, table: Any, shards: int, party: int, sharding: Sharding | None = None) -> list[str]:
    """The checked inputs of every shard, as sent to workers."""
    return list(checked(program, _parts(program, table, shards, sharding), party))


def _cut(table: Any, shards: int) -> list[Inputs]:
    """Cuts a table into parts of equal length."""
    named = columns_of(table)
    names = list(table) if named is None else named
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        raise UsageError(f"table: expected columns of different names, got {', '.join(texts)}")
    columns = {text: table[name] for text, name in zip(texts, names, strict=True)}
    lengths = sorted({len(column) for column in columns.values()})
    if len(lengths) > 1:
        raise UsageError(f"table: expected columns of one length, got {' and '.join(str(length) for length in lengths)}")
    rows = lengths[0] if lengths else 0
    if rows % shards:
        raise UsageError(
            f"table: {rows} rows cannot be cut into {shards} shards of one length",
            "add rows that count for nothing: the number of rows is known to the peer, whatever is in them",
        )
    size = rows // shards
    return [
        {name: _between(column, shard * size, (shard + 1) * size) for name, column in columns.items()} for shard in range(shards)
    ]


def _between(column: Any, begin: int, end: int) -> Any:
    """The rows of a column between two positions. Slices of a pandas column use `iloc`, since pandas before 3 takes positions for labels if the labels are floats."""
    return column.iloc[begin:end] if hasattr(column, "iloc") else column[begin:end]


class _Job:
    """The rounds of a job."""

    records: _Records

    def __init__(
        self,
        task: _Task,
        session: str,
        agreed: dict[str, Any],
        frozen: list[str],
        slots: int,
        cpus: float,
        room: Any,
        reports: dict[int, Report],
        late: list[GarbletError],
    ) -> None:
        self._task, self._session, self._slots, self._cpus, self._room = task, session, slots, cpus, room
        self._count = len(frozen)
        self._digests = [hashlib.sha256(encoded.encode()).hexdigest() for encoded in frozen]
        self._inputs = [ray.put(encoded) for encoded in frozen]
        # The caller owns this dictionary, and so has the results even if the job ends with an error.
        self._reports = reports
        # Errors that would have ended the job, found only while leaving it.
        self._late = late
        self._failed: dict[int, GarbletError] = {}
        # The first outcome of each shard, which is kept.
        self._outcomes: dict[int, Any] = {}
        self._changed: CheatingError | None = None
        # Slot, shard, name and the deadline for the peer to connect.
        self._running: dict[Any, tuple[int, int, str, float]] = {}
        # Names that are entered at the proxy or may still be entered.
        self._entered: set[str] = set()
        self._status = _status(agreed, self._count)
        self._door: Any = None

    def _open(self) -> Any:
        here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
            ray.get_runtime_context().get_node_id(), soft=False
        )
        return ray.remote(_Door).options(num_cpus=0, scheduling_strategy=here).remote(self._task.peer)

    def run(self, attempts: int) -> list[Report]:
        """Runs rounds until all shards are done or no attempts are left."""
        try:
            if isinstance(self._task.peer, Listening):
                self._door = self._open()
            # Before anything is evaluated, distinguish a peer with another job from an absent one.
            done = self._compare(0, 1)
        except CheatingError:
            raise
        except BaseException:
            self.records.forget()
            raise
        for number in range(1, attempts + 1):
            shards = [shard for shard in range(self._count) if not done[shard]]
            if not shards:
                break
            log.info("%s: round %d, %d shards", self._session, number, len(shards))
            self.records.add({"round": number, "shards": shards})
            try:
                self._round(number, shards)
            except CheatingError:
                raise
            except GarbletError as error:
                if not self._reports:
                    raise
                raise self._ended(error) from error
            try:
                done = self._compare(number, max(collections.Counter(shard % self._slots for shard in shards).values()))
            except CheatingError:
                raise
            except GarbletError as error:
                raise self._unconfirmed(error) from error
            self.records.add({"round": number, "done": sum(done)})
        for shard in range(self._count):
            if done[shard] and shard in self._reports:
                self._failed.pop(shard, None)
            elif shard not in self._failed:
                has_result = "this party has its result, but the peer has none"
                untried = "the peer says that it has been done on both sides, but this party has not tried it"
                self._failed[shard] = PeerError(has_result if shard in self._reports else untried)
        if self._failed or self._changed:
            raise self._failure(attempts)
        return [self._reports[shard] for shard in range(self._count)]

    def _ended(self, error: GarbletError) -> GarbletError:
        words = f"the job has ended; this party has {len(self._reports)} of {self._count} shards: {error}"
        return self._changed or ShardsError(words, error.hint, self._failed, self._reports)

    def _unconfirmed(self, error: GarbletError) -> GarbletError:
        failed = {shard: self._failed.get(shard, error) for shard in range(self._count) if shard not in self._reports}
        words = f"the peer did not say which shards it has done; this party has {len(self._reports)} of {self._count}: {error}"
        return self._changed or ShardsError(words, error.hint, failed, self._reports)

    def _failure(self, attempts: int) -> GarbletError:
        if self._changed:
            return self._changed
        shard, error = min(self._failed.items())
        words = f"{len(self._failed)} of {self._count} shards have no result after at most {attempts} attempts; shard {shard}: {error}"
        return ShardsError(words, error.hint, self._failed, self._reports)

    def _round(self, number: int, shards: list[int]) -> None:
        """Tries each of these shards once, in sequence within each slot."""
        lanes: dict[int, collections.deque[int]] = collections.defaultdict(collections.deque)
        for shard in shards:
            lanes[shard % self._slots].append(shard)
        for slot in sorted(lanes):
            self._begin(number, slot, lanes[slot].popleft(), self._patience(1))
        while self._running:
            over, _ = ray.wait(list(self._running), num_returns=1, timeout=_LOOK)
            for ended in over or self._lost():
                slot, shard, name, _ = self._running[ended]
                has_returned = False
                try:
                    result, has_returned = self._result(ended, name) if over else (self._given_up(ended, name), False)
                    # Keep it before anything else.
                    error = self._end(shard, result)
                    del self._running[ended]
                finally:
                    self._remove(name, is_last=has_returned)
                if error is not None:
                    raise error
                if lanes[slot]:
                    # A panic does not delay the peer, and this party's patience must not reveal it.
                    has_failed = _outcome(result) is None
                    self._begin(number, slot, lanes[slot].popleft(), self._patience(2 if has_failed else 1))

    def _patience(self, times: int) -> float:
        """Seconds for the peer to connect; no session waits longer than a day."""
        return min(times * _PATIENCE * self._task.timeout, 86_400.0)

    def _begin(self, number: int, slot: int, shard: int, patience: float) -> None:
        name = f"{self._session}-{shard}-{number}"
        resources = _pinned(slot, self._task.stores is not None)
        inside = ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy(self._room, slot)
        # Ray must not retry: an attempt is one evaluation.
        remote = ray.remote(_attempt).options(
            name=f"garblet {name}", num_cpus=self._cpus, resources=resources, scheduling_strategy=inside, max_retries=0
        )
        self._entered.add(name)
        begun = remote.remote(self._task, self._door, name, slot, patience, self._inputs[shard], self._digests[shard])
        self._running[begun] = (slot, shard, name, time.monotonic() + patience)

    def _lost(self) -> list[Any]:
        """Attempts on lost nodes that Ray did not replace before the deadline for the peer."""
        alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
        nodes = ray.util.placement_group_table(self._room)["bundles_to_node_id"]
        now = time.monotonic()
        return [begun for begun, (slot, _, _, until) in self._running.items() if now > until and nodes.get(slot) not in alive]

    def _remove(self, name: str, *, is_last: bool) -> None:
        """Removes the route for a name. Forgets the name only if nobody can enter it again."""
        if isinstance(self._task.peer, Listening):
            self._task.peer.remove(name)
        if is_last:
            self._entered.discard(name)

    def _given_up(self, begun: Any, name: str) -> _Ended:
        ray.cancel(begun, force=True)
        return "GarbletError", f"{name}: the node of its slot is gone", "start it again, or another with as much room"

    def _result(self, ended: Any, name: str) -> tuple[_Ended, bool]:
        """The outcome of an attempt, and whether its worker returned. Requests of a worker that died may still arrive later."""
        try:
            return ray.get(ended), True
        except ray.exceptions.RayError as error:
            # The worker or its node died, or lacks the package.
            words = str(error).strip().splitlines()
            if missing := _without_package(error):
                return (type(missing).__name__, str(missing), missing.hint), False
            return ("GarbletError", f"{name}: the worker died: {words[0] if words else type(error).__name__}", None), False

    def _end(self, shard: int, ended: _Ended) -> GarbletError | None:
        """Keeps the outcome of an attempt, and returns an error if it ends the job."""
        outcome = _outcome(ended)
        if outcome is not None and self._outcomes.setdefault(shard, outcome) != outcome:
            return self._noticed(shard)
        if isinstance(ended, Report):
            self._reports.setdefault(shard, ended)
            self._failed.pop(shard, None)
            return None
        kind, message, hint = ended
        error: GarbletError = getattr(errors, kind, GarbletError)(message, hint)
        if outcome is None:
            log.warning("%s: shard %d: %s", self._session, shard, message)
        if not isinstance(self._failed.get(shard), Panicked):
            self._failed[shard] = error
        if isinstance(error, (CheatingError, UsageError, CompileError)):
            error.add_note(f"in shard {shard}; the job has ended")
            return error
        return None

    def _noticed(self, shard: int) -> CheatingError | None:
        """Records that an attempt's result differs from the first one, which is kept.

        Returns an error only if the peer knows all results: otherwise the end of the job would reveal to it whether they differ.
        """
        self._changed = CheatingError(
            f"shard {shard}: another attempt gave another result: the peer has changed its input",
            "inputs are the same in all attempts, and no failure changes them, so keep the message; the first result is kept",
            1 - self._task.party,
        )
        log.warning("%s: %s", self._session, self._changed)
        outputs = self._task.program.outputs
        is_known = all(port.recipients is None or 1 - self._task.party in port.recipients for port in outputs)
        return self._changed if is_known else None

    def _compare(self, number: int, longest: int) -> list[bool]:
        """The shards that are done on both sides. This party's panic counts as done, like a result, so it is not revealed to a peer that must not learn it."""
        name = f"{self._session}-status-{number}"
        own = [shard in self._outcomes for shard in range(self._count)]
        # The peer may have to wait for every shard of a slot.
        patience = self._patience(2 * longest + 1)
        task = replace(self._task, program=self._status, protocol="yao", params={})
        self._entered.add(name)
        try:
            with task.session(name, patience, None, _own_address()) as session:
                if isinstance(task.peer, Listening) and session.address is not None:
                    task.peer.enter(name, session.address)
                port = self._status.inputs[task.party].name
                both: list[bool] = session.run(**{port: own})["out0"]
                return both
        finally:
            self._remove(name, is_last=True)

    def leave(self) -> None:
        """Keeps finished outcomes and cancels the rest; every step runs even if others fail."""
        # Steps run in reverse order, so names are removed only when nobody can enter them again.
        with contextlib.ExitStack() as ending:
            if isinstance(self._task.peer, Listening):
                for name in self._entered:
                    ending.callback(self._do, self._task.peer.remove, name)
            if self._door is not None:
                ending.callback(self._do, ray.kill, self._door)
            for begun in self._running:
                ending.callback(self._do, ray.cancel, begun, force=True)
            for begun, (_, shard, name, _) in self._running.items():
                ending.callback(self._do, self._keep, begun, shard, name)

    def _do(self, part: Callable[..., object], *args: Any, **more: Any) -> None:
        """Runs one step of leaving. A failure is logged, so that it does not hide why the job ended."""
        try:
            part(*args, **more)
        except Exception as error:
            log.warning("%s: while the job was left: %s", self._session, error)

    def _keep(self, begun: Any, shard: int, name: str) -> None:
        """Keeps the outcome of an attempt that was not examined yet."""
        # A result on another node counts as available too.
        over, _ = ray.wait([begun], num_returns=1, timeout=0, fetch_local=False)
        if over and (error := self._end(shard, self._result(begun, name)[0])) is not None:
            self._late.append(error)


def _status(agreed: dict[str, Any], count: int) -> Program:
    """The program that tells both parties which shards are done on both sides. The names of its inputs encode everything that the parties must agree on."""
    job = hashlib.sha256(json.dumps(agreed, sort_keys=True).encode()).hexdigest()[:16]
    return compile(
        f"pub fn main(mine_{job}: [bool; {count}], yours_{job}: [bool; {count}]) -> [bool; {count}] {{\n"
        f"    let mut both = [false; {count}];\n"
        f"    for k in 0usize..{count}usize {{\n        both[k] = mine_{job}[k] & yours_{job}[k];\n    }}\n    both\n}}\n",
        name="status",
    )


__all__ = ["Calling", "Listening", "ShardsError", "map"]
