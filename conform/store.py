"""A store of triples and masks in memory, for `authenticated`: file 12, "With a store"."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from . import authenticated, hello, softspoken
from .authenticated import PROTOCOL, STREAMS, Material, Session, Shares, batches, identifier, place
from .notation import Misbehaviour, Reader, b3_derive, block_of, string, u64, varint
from .program import Program
from .wire import TRIPLE_SUMMARY, Channel

GROUP = 16
NAME_OF_SECRETS = 13
TRIPLES, MASKS = "triples by 16", "masks by 16"
IDENTIFIERS_MAX = 1 << 40


class StoreError(Exception):
    """A store of prepared material (file 2, "Classes of errors")."""


def kind_digest(name: str) -> bytes:
    """The digest of a kind (file 12, "With a store")."""
    data = name.encode()
    return b3_derive("garblet-store 1 kind parameters", u64(len(data)) + data + PROTOCOL + b" 1")


def ranges(identifiers: list[int]) -> bytes:
    """Available identifiers as a list of ranges."""
    found: list[list[int]] = []
    for one in sorted(identifiers):
        if found and found[-1][1] == one:
            found[-1][1] = one + 1
        else:
            found.append([one, one + 1])
    out, end = varint(len(found)), 0
    for start, after in found:
        out += varint(start - end) + varint(after - start)
        end = after
    return out


def read_ranges(reader: Reader, limit: int) -> list[int]:
    found: list[int] = []
    end = 0
    for number in range(reader.varint(32768)):
        distance, length = reader.varint(), reader.varint()
        if not length or (number and not distance) or end + distance + length > limit:
            raise Misbehaviour(f"summary: expected ranges below {limit} that do not touch, got {distance} and {length}")
        found += range(end + distance, end + distance + length)
        end += distance + length
    return found


@dataclass
class Kind:
    """Pieces of 16, by their identifiers; of a triple three shares, of a mask one."""

    next: int = 0
    pieces: dict[int, tuple[Shares, ...]] = field(default_factory=dict)

    def add(self, parts: tuple[Shares, ...]) -> None:
        for start in range(0, len(parts[0]), GROUP):
            self.pieces[self.next] = tuple(part[slice(start, start + GROUP)] for part in parts)
            self.next += 1

    def take(self, count: int) -> list[tuple[Shares, ...]]:
        """The pieces with the lowest identifiers."""
        if count > len(self.pieces):
            raise StoreError(f"store: expected {count} pieces, got {len(self.pieces)}")
        return [self.pieces.pop(one) for one in sorted(self.pieces)[:count]]


@dataclass
class Summary:
    store: bytes
    changes: int
    seen: dict[bytes, int]
    kinds: dict[str, tuple[int, list[int]]]
    secrets: bytes | None
    nonce: bytes
    unsettled: bytes | None = None

    def encode(self) -> bytes:
        out = self.store + varint(self.changes) + varint(len(self.seen))
        out += b"".join(name + varint(changes) for name, changes in self.seen.items())
        out += varint(len(self.kinds))
        for name in sorted(self.kinds, key=kind_digest):
            following, available = self.kinds[name]
            out += string(name) + kind_digest(name) + varint(following) + ranges(available)
        out += b"\0" if self.secrets is None else b"\1" + self.secrets
        return out + self.nonce + (b"\0" if self.unsettled is None else b"\1" + self.unsettled)


def decode(data: bytes) -> Summary:
    reader = Reader(data, "summary")

    def option(count: int) -> bytes | None:
        which = reader.varint(1)
        return reader.take(count) if which else None

    store, changes = reader.take(16), reader.varint()
    seen = {}
    for _ in range(reader.varint(255)):
        name = reader.take(16)
        seen[name] = reader.varint()
    kinds = {}
    for _ in range(reader.varint(4096)):
        name_of_kind = reader.string()
        if reader.take(32) != kind_digest(name_of_kind):
            raise Misbehaviour(f"summary: expected the digest of the kind {name_of_kind!r}, got another")
        following = reader.varint(IDENTIFIERS_MAX)
        kinds[name_of_kind] = (following, read_ranges(reader, following))
    found = Summary(store, changes, seen, kinds, option(32), reader.take(32), option(64))
    reader.end()
    return found


class Store:
    """What one party keeps between sessions with one peer."""

    def __init__(self) -> None:
        self.name = secrets.token_bytes(16)
        self.changes = 0
        self.seen: dict[bytes, int] = {}
        self.kinds = {TRIPLES: Kind(), MASKS: Kind()}
        self.secrets: bytes | None = None
        self.sides: tuple[softspoken.Sender, softspoken.Receiver] | None = None

    def open(self, channel: Channel, party: int, k: int) -> Session:
        """Exchange summaries, and agree on secrets and pieces."""
        available = {name: (kind.next, list(kind.pieces)) for name, kind in self.kinds.items()}
        ours = Summary(self.name, self.changes, self.seen, available, self.secrets, secrets.token_bytes(32))
        channel.control(TRIPLE_SUMMARY, ours.encode(), "summary")
        theirs = decode(channel.receive_control(TRIPLE_SUMMARY, "summary")[1])
        if theirs.unsettled is not None:
            raise StoreError("store: expected no unsettled batch, got one")
        if theirs.changes < self.seen.get(theirs.store, 0):
            raise StoreError(f"store: expected {self.seen[theirs.store]} changes of the peer's, got {theirs.changes}")
        self.changes += 1
        self.seen[theirs.store] = theirs.changes
        same = ours.secrets is not None and ours.secrets == theirs.secrets
        session = Session(channel, party, k)
        nonces = (ours.nonce, theirs.nonce) if party == 0 else (theirs.nonce, ours.nonce)
        session.id = identifier(ours.secrets if same and ours.secrets else bytes(32), *nonces)
        for name, kind in self.kinds.items():
            following, others = theirs.kinds.get(name, (0, []))
            both = set(others) if same else set()
            kind.pieces = {one: piece for one, piece in kind.pieces.items() if one in both}
            kind.next = max(kind.next, following)
        if same and self.sides is not None:
            session.sender, session.receiver = self.sides
            session.sender.use(channel)
            session.receiver.use(channel)
            session.e = session.sender.delta
            session.difference = session.e | 1
        else:
            for side in (session.sender, session.receiver) if party == 0 else (session.receiver, session.sender):
                side.set_up()
            self.sides = (session.sender, session.receiver)
            self.secrets = session.d(place(0, NAME_OF_SECRETS, 0, 0), b"")
        name_of_session = block_of(session.d(place(0, STREAMS, 0, 0), b"")[:16])
        session.sender.rename(name_of_session)
        session.receiver.rename(name_of_session)
        return session

    def fill(self, session: Session, triples: int, masks: int, statistical: int) -> None:
        """Make at least so many (file 12, "With a store", 5)."""
        triples, masks = -(-triples // GROUP) * GROUP, -(-masks // GROUP) * GROUP
        made = Material(session, batches(triples, masks, statistical))
        whole = slice(0, triples)
        self.kinds[TRIPLES].add((made.x[whole], made.y[whole], made.z[whole]))
        self.kinds[MASKS].add((made.masks[slice(0, masks)],))


class FromStore(Material):
    """The material of a run, taken from a store."""

    def __init__(self, store: Store, triples: int, inputs: int) -> None:
        self.x, self.y, self.z, self.masks = Shares(), Shares(), Shares(), Shares()
        for x, y, z in store.kinds[TRIPLES].take(-(-triples // GROUP)):
            self.x, self.y, self.z = self.x + x, self.y + y, self.z + z
        for (part,) in store.kinds[MASKS].take(-(-inputs // GROUP)):
            self.masks += part
        before = len(self.masks) - inputs
        gates, self.inputs = self.masks[slice(0, before)], self.masks[slice(before, None)]
        for (part,) in store.kinds[MASKS].take(max(0, -(-(triples - before) // GROUP))):
            gates += part
        self.gates = gates[slice(0, triples)]


def prepare(channel: Channel, party: int, store: Store, triples: int, masks: int, given: dict[str, str]) -> None:
    """Fill stores, without a program."""
    values = authenticated.parameters(given)
    stated = [*values.items(), ("low-water", "100"), ("step", "prepare"), ("amounts", f"{triples}, {masks}")]
    hello.meet(channel, hello.Hello(party, 2, "authenticated", bytes(32), stated))
    channel.write_in_background()
    session = store.open(channel, party, int(values["ot-k"]))
    store.fill(session, triples, masks, int(values["statistical"]))
    store.changes += 1
    channel.close()


def run(
    channel: Channel, party: int, store: Store, program: Program, inputs: dict[str, list[int]], given: dict[str, str]
) -> dict[str, list[int]]:
    """One run from a store, without `top-up`."""
    values = authenticated.parameters(given)
    more = [("triples", "from a store"), ("top-up", "no")]
    authenticated.greet(channel, party, program, values, more)
    session = store.open(channel, party, int(values["ot-k"]))
    side = authenticated.Garbler if party == 0 else authenticated.Evaluator
    outputs = side(session, program, inputs, values, lambda n, count: FromStore(store, n, count)).run()
    store.changes += 1
    channel.close()
    return outputs
