"""The protocol `authenticated`, without stores: file 12 of the specification."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from blake3 import blake3

from . import garble, hello, order, softspoken
from .notation import (
    MASK_128,
    Aes,
    CallError,
    Disagreement,
    Misbehaviour,
    b3_derive,
    b3_keyed,
    block_of,
    blocks_of,
    bytes_of,
    bytes_of_blocks,
    pack,
    power_sum,
    u16,
    u64,
    unpack,
)
from .program import Program
from .wire import Channel

DEFAULTS = {"check": "tags", "build": "ahead", "statistical": "40", "ot-k": "4"}
VALUES = {
    "check": ("tags", "reveal"),
    "build": ("ahead", "stream"),
    "statistical": ("40", "64", "80"),
    "ot-k": ("4", "2", "8"),
}
PROTOCOL = b"authenticated"
BATCH_MAX = 1 << 19
MASKS_MAX = 1 << 20
LEAKY_PER_KEY = 1024
LOT_GATES = 65536
PIECE_GATES = 4096

# Steps of places (file 12, "Names of hashes").
STREAMS, LEAKY_HASH, PRODUCT_BITS, EQUALITY_COINS, SHIFT_COINS, EQUALITY, EQUALITY_DIGEST = range(7)
BUCKET_BITS, MASK_BITS, TRANSCRIPT, REVEALED_LABELS, OUTPUT_MASKS, OUTPUT_LABELS = range(7, 13)


def identifier(digest: bytes, nonce_0: bytes, nonce_1: bytes) -> bytes:
    """A session identifier (file 12, "Names of hashes")."""
    message = u64(len(PROTOCOL)) + PROTOCOL + digest + nonce_0 + nonce_1
    return b3_derive("garblet 2026 session identifier", message)


def place(party: int, step: int, branch: int, index: int) -> bytes:
    return u16(party) + bytes([step, branch]) + u64(index)


def commitment(identifier_: bytes, at: bytes, message: bytes, randomness: bytes) -> bytes:
    fields = randomness + u64(len(identifier_) + len(at)) + identifier_ + at + message
    return b3_derive("garblet 2026 hash commitment", fields)


def least(bucket: int, statistical: int) -> int:
    """The fewest triples of a batch (file 12, "Batches")."""
    low, high = 1, 1 << 64
    while low < high:
        middle = (low + high) // 2
        if middle ** (bucket - 1) * ((1 << bucket) - 1) * 127 >= 128 << statistical:
            high = middle
        else:
            low = middle + 1
    return low


@dataclass(frozen=True)
class Batch:
    """`triples` in buckets of `bucket`, and masks."""

    triples: int
    bucket: int
    masks: int


def batches(triples: int, masks: int, statistical: int) -> list[Batch]:
    """File 12, "Batches"."""
    c = -(-triples // BATCH_MAX)
    total = max(c, -(-masks // MASKS_MAX))
    found = []
    for t in range(total):
        own_masks = masks * (t + 1) // total - masks * t // total
        if t >= c:
            found.append(Batch(0, 0, own_masks))
            continue
        share = triples * (t + 1) // c - triples * t // c
        share = -(-share // 16) * 16 if c > 1 else share
        bucket = min(range(3, 9), key=lambda b: (max(share, least(b, statistical)) * b, b))
        found.append(Batch(max(share, least(bucket, statistical)), bucket, own_masks))
    return found


@dataclass
class Shares:
    """Shares of bits: the blocks `own` and `peer` of each (file 12, "Shares")."""

    own: list[int] = field(default_factory=list)
    peer: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, which: slice) -> Shares:
        return Shares(self.own[which], self.peer[which])

    def __add__(self, other: Shares) -> Shares:
        return Shares(self.own + other.own, self.peer + other.peer)

    def __xor__(self, other: Shares) -> Shares:
        return Shares(
            [a ^ b for a, b in zip(self.own, other.own, strict=True)],
            [a ^ b for a, b in zip(self.peer, other.peer, strict=True)],
        )

    @property
    def bits(self) -> list[int]:
        return [block & 1 for block in self.peer]

    @staticmethod
    def joined(wires: Sequence[int]) -> Shares:
        """From wires of a walk: `own`, and `peer` above it."""
        return Shares([wire & MASK_128 for wire in wires], [wire >> 128 for wire in wires])

    def wires(self) -> list[int]:
        return [own | peer << 128 for own, peer in zip(self.own, self.peer, strict=True)]


class Session:
    """A session of one party: differences, OTs and the identifier."""

    def __init__(self, channel: Channel, party: int, k: int) -> None:
        self.channel = channel
        self.party = party
        e = secrets.randbits(128)
        self.e = e | 1 if party == 0 else e & ~1
        self.difference = self.e | 1
        self.sender = softspoken.Sender(channel, k, self.e, 80)
        self.receiver = softspoken.Receiver(channel, k, 80)

    def set_up(self) -> None:
        """File 12, "Set-up"."""
        for side in (self.sender, self.receiver) if self.party == 0 else (self.receiver, self.sender):
            side.set_up()
        ours = secrets.token_bytes(32)
        theirs = self.exchange(ours, "nonce")
        self.id = identifier(bytes(32), *((ours, theirs) if self.party == 0 else (theirs, ours)))
        name = block_of(self.d(place(0, STREAMS, 0, 0), b"")[:16])
        self.sender.rename(name)
        self.receiver.rename(name)

    def d(self, at: bytes, message: bytes) -> bytes:
        """`D(place, m)` (file 12, "Names of hashes")."""
        return b3_keyed(self.id, at + message)

    def exchange(self, data: bytes, step: str, length: int | None = None) -> bytes:
        self.channel.bulk(data, step)
        return self.channel.receive_bulk(len(data) if length is None else length, step)

    def commit(self, at: bytes, message: bytes, under: bytes | None = None) -> tuple[bytes, bytes]:
        """A commitment and its opening."""
        randomness = secrets.token_bytes(32)
        return commitment(under or self.id, at, message, randomness), message + randomness

    def opened(self, at: bytes, committed: bytes, opening: bytes, what: str, under: bytes | None = None) -> bytes:
        """The message of an opening that fits."""
        message, randomness = opening[:-32], opening[-32:]
        if commitment(under or self.id, at, message, randomness) != committed:
            raise Misbehaviour(f"{what}: expected the opening of the commitment, got another")
        return message

    def coins(self, step: int, t: int, one: bytes, other: bytes) -> Aes:
        share = bytes(a ^ b for a, b in zip(one, other, strict=True))
        return Aes(block_of(self.d(place(0, step, 1, t), share)[:16]))

    def opening(self, at: bytes, shares: Shares) -> bytes:
        """This party's part of shared bits (file 12, "Opening bits")."""
        bits = pack(shares.bits)
        return bits + bytes_of(power_sum(shares.peer, block_of(self.d(at, bits)[:16])))

    def read_opening(self, at: bytes, shares: Shares, what: str) -> list[int]:
        """The values of the bits that the peer opens."""
        count = len(shares)
        data = self.channel.receive_bulk((count + 7) // 8 + 16, what)
        theirs = unpack(data[:-16], count, what)
        values = [x ^ y for x, y in zip(theirs, shares.bits, strict=True)]
        blocks = [own ^ self.difference if x else own for own, x in zip(shares.own, values, strict=True)]
        if power_sum(blocks, block_of(self.d(at, data[:-16])[:16])) != block_of(data[-16:]):
            raise Misbehaviour(f"{what}: expected the proof of these bits, got another")
        return values


class Material:
    """Triples and masks of all batches, in order (file 12, "The order of material")."""

    def __init__(self, session: Session, made: list[Batch]) -> None:
        self._session = session
        self.x, self.y, self.z, self.masks = Shares(), Shares(), Shares(), Shares()
        for t, batch in enumerate(made):
            self._make(t, batch)

    def deal(self, gates: int, inputs: int, inputs_first: bool) -> None:
        """Choose the masks of input bits and of gates."""
        end = len(self.masks)
        self.inputs = self.masks[slice(0, inputs) if inputs_first else slice(end - inputs, end)]
        self.gates = self.masks[slice(inputs, inputs + gates) if inputs_first else slice(0, gates)]

    def _make(self, t: int, batch: Batch) -> None:
        """File 12, "Preparation of a batch"."""
        s, leaky = self._session, batch.triples * batch.bucket
        total = 3 * leaky + batch.masks
        s.receiver.send_corrections(total)
        s.sender.receive_corrections(total)
        chi = secrets.token_bytes(16)
        their_chi = s.exchange(chi, "OT check point")
        s.receiver.send_hashes(block_of(their_chi))
        s.sender.check_hashes(block_of(chi))
        x, m = s.receiver.result(total)
        k = s.sender.result(total)
        e = s.e
        bits = Shares(
            [(key ^ (e if bit else 0)) & ~1 | bit for key, bit in zip(k, x, strict=True)],
            [mac & ~1 | bit for mac, bit in zip(m, x, strict=True)],
        )
        self.masks += bits[slice(3 * leaky, None)]
        if not leaky:
            return
        d = self._products(t, leaky, chi, their_chi, x, m, k)
        a, b, r = (bits[slice(leaky * i, leaky * (i + 1))] for i in range(3))
        c = Shares(
            [own ^ (e & ~1 if bit else 0) for own, bit in zip(r.own, d, strict=True)],
            list(r.peer),
        )
        if s.party == 0:
            c = Shares(
                [x ^ bit for x, bit in zip(c.own, d, strict=True)], [x ^ bit for x, bit in zip(c.peer, d, strict=True)]
            )
        self._bucket(t, batch, a, b, c)

    def _products(
        self, t: int, leaky: int, chi: bytes, their_chi: bytes, x: list[int], m: list[int], k: list[int]
    ) -> list[int]:
        """P2, P3 and P5; the public bits `d`."""
        s, e = self._session, self._session.e
        both = chi + their_chi if s.party == 0 else their_chi + chi
        f = block_of(s.d(place(0, LEAKY_HASH, 0, t), both)[:16])
        us, ss = [], []
        high = 1 << 63
        for j in range(leaky):
            if j % LEAKY_PER_KEY == 0:
                aes = Aes(f ^ (j // LEAKY_PER_KEY))
            u, v = (j, high + j) if s.party == 0 else (high + j, j)
            a, b, r = x[j], x[leaky + j], x[2 * leaky + j]
            k_a, m_a = k[j], m[j]
            inner = aes.blocks((k_a, k_a ^ e, m_a))
            outer = aes.blocks((inner[0] ^ u, inner[1] ^ u, inner[2] ^ v))
            h0, h1, hm = inner[0] ^ outer[0], inner[1] ^ outer[1], inner[2] ^ outer[2]
            phi = b * e ^ k[leaky + j] ^ m[leaky + j]
            us.append(h0 ^ h1 ^ phi)
            ss.append(a * phi ^ h0 ^ hm ^ r * e ^ k[2 * leaky + j] ^ m[2 * leaky + j])
        me, peer = s.party, 1 - s.party
        equality, shift = secrets.token_bytes(32), secrets.token_bytes(32)
        c_equality, o_equality = s.commit(place(me, EQUALITY_COINS, 0, t), equality)
        c_shift, self._o_shift = s.commit(place(me, SHIFT_COINS, 0, t), shift)
        self._shift = shift
        data = s.exchange(bytes_of_blocks(us) + c_equality + c_shift, "leaky triples")
        their_equality, self._their_shift = data[-64:-32], data[-32:]
        for j, block in enumerate(blocks_of(data[:-64])):
            ss[j] ^= x[j] * block
        ours = [block & 1 for block in ss]
        committed, opening = s.commit(place(me, PRODUCT_BITS, 0, t), pack(ours))
        theirs = s.exchange(committed, "commitment to product bits")
        data = s.exchange(opening, "product bits")
        packed = s.opened(place(peer, PRODUCT_BITS, 0, t), theirs, data, "product bits")
        d = [one ^ two for one, two in zip(ours, unpack(packed, leaky, "product bits"), strict=True)]
        ss = [block ^ bit * e for block, bit in zip(ss, d, strict=True)]
        data = s.exchange(o_equality, "equality coins")
        theirs = s.opened(place(peer, EQUALITY_COINS, 0, t), their_equality, data, "equality coins")
        point = s.coins(EQUALITY_COINS, t, equality, theirs).block(0)
        self._equality(t, s.d(place(0, EQUALITY_DIGEST, 0, t), bytes_of(power_sum(ss, point))))
        return d

    def _equality(self, t: int, digest: bytes) -> None:
        """P5."""
        s = self._session
        under = identifier(s.d(place(0, EQUALITY_DIGEST, 1, t), b"name"), bytes(32), bytes(32))
        at = place(0, EQUALITY, 0, 0)
        if s.party == 0:
            committed, opening = s.commit(at, digest, under)
            s.channel.bulk(committed, "commitment to the digest")
            theirs = s.channel.receive_bulk(32, "digest")
            if theirs != digest:
                raise Misbehaviour(f"equality: expected the digest {digest.hex()}, got {theirs.hex()}")
            s.channel.bulk(opening, "opening of the digest")
            return
        committed = s.channel.receive_bulk(32, "commitment to the digest")
        s.channel.bulk(digest, "digest")
        theirs = s.opened(at, committed, s.channel.receive_bulk(64, "opening of the digest"), "equality", under)
        if theirs != digest:
            raise Misbehaviour(f"equality: expected the digest {digest.hex()}, got {theirs.hex()}")

    def _bucket(self, t: int, batch: Batch, a: Shares, b: Shares, c: Shares) -> None:
        """P6."""
        s, size = self._session, batch.triples
        data = s.exchange(self._o_shift, "shift coins") if s.party == 0 else b""
        if s.party == 1:
            data = s.channel.receive_bulk(64, "shift coins")
            s.channel.bulk(self._o_shift, "shift coins")
        theirs = s.opened(place(1 - s.party, SHIFT_COINS, 0, t), self._their_shift, data, "shift coins")
        stream = s.coins(SHIFT_COINS, t, self._shift, theirs).stream(0, batch.bucket)
        met = []
        for row in range(1, batch.bucket):
            by = int.from_bytes(stream[8 * (row - 1) : 8 * row], "little") % size
            met.append([row * size + (i + by) % size for i in range(size)])
        sums = Shares()
        for places in met:
            sums += b[slice(0, size)] ^ _pick(b, places)
        ours, others = place(s.party, BUCKET_BITS, 0, t), place(1 - s.party, BUCKET_BITS, 0, t)
        if s.party == 1:
            s.channel.bulk(s.opening(ours, sums), "bucket bits")
            e = s.read_opening(others, sums, "bucket bits")
        else:
            e = s.read_opening(others, sums, "bucket bits")
            s.channel.bulk(s.opening(ours, sums), "bucket bits")
        x, z = a[slice(0, size)], c[slice(0, size)]
        for row, places in enumerate(met):
            more_a, more_c, bits = _pick(a, places), _pick(c, places), e[row * size : (row + 1) * size]
            x ^= more_a
            scaled = Shares(
                [block * bit for block, bit in zip(more_a.own, bits, strict=True)],
                [block * bit for block, bit in zip(more_a.peer, bits, strict=True)],
            )
            z = z ^ more_c ^ scaled
        self.x, self.y, self.z = self.x + x, self.y + b[slice(0, size)], self.z + z


def _pick(shares: Shares, places: list[int]) -> Shares:
    return Shares([shares.own[i] for i in places], [shares.peer[i] for i in places])


class Run:
    """One run of a program, of one party (file 12, "Joining the function" to "`build` = `stream`")."""

    def __init__(
        self,
        session: Session,
        program: Program,
        inputs: dict[str, list[int]],
        values: dict[str, str],
        material: Callable[[int, int], Material] | None = None,
    ) -> None:
        self.s = session
        self.party = session.party
        self.program = program
        self.inputs = inputs
        self.schedules = order.schedules(program)
        self.stream = values["build"] == "stream"
        self.reveal = values["check"] == "reveal"
        self.tag_bytes = 0 if self.reveal else int(values["statistical"]) // 8 + 1
        self.n = sum(self.schedules[instance.component].ands for instance in program.instances)
        self.n0, self.n1 = program.input_bits(0), program.input_bits(1)
        if material is not None:
            self.material = material(self.n, self.n0 + self.n1)
        else:
            self.material = Material(session, batches(self.n, self.n + self.n0 + self.n1, int(values["statistical"])))
            self.material.deal(self.n, self.n0 + self.n1, self.stream and self.n > 0)
        self.transcript = blake3(place(0, TRANSCRIPT, 0, 0) + program.digest(), key=session.id)
        self.exchanges = 0
        lots = max(1, -(-self.n // LOT_GATES)) if self.stream else 1
        self.lots = [(self.n * i // lots, self.n * (i + 1) // lots) for i in range(lots)]
        self._masks()

    def _split(self, labels: list[int]) -> list[list[int]]:
        """Labels of all input bits, for each input."""
        found, at = [], 0
        for port in self.program.inputs:
            found.append(labels[at : at + port.type.width])
            at += port.type.width
        return found

    def _walk(self, inputs: list[int], flip: int) -> garble.Walk:
        masked: tuple[garble.Scheme, str, list[int]] = (garble.SCHEMES["half-gates"], "rekeyed", [])
        return garble.Walk(self.program, self.schedules, masked, self._split(inputs), flip, flip)

    def _masks(self) -> None:
        """Shares of masks on wires, and the operands of all gates."""
        self.input_masks, gates = self.material.inputs, self.material.gates
        wires = gates.wires()
        left, right = [0] * self.n, [0] * self.n

        def gate(number: int, a: int, b: int) -> int:
            left[number], right[number] = a, b
            return wires[number]

        outputs = self._walk(self.input_masks.wires(), 0).run(gate)
        self.left, self.right, self.results = Shares.joined(left), Shares.joined(right), gates
        self.outputs = [Shares.joined(part) for part in outputs]
        self.owners = [port.owner for port in self.program.inputs for _ in range(port.type.width)]
        self.products = Shares()

    def join(self, start: int, end: int, with_inputs: bool, gates: bool = True) -> None:
        """B1 for a lot."""
        s, count = self.s, end - start
        here = slice(start, end)
        x, y, z = self.material.x[here], self.material.y[here], self.material.z[here]
        sums = (self.left[here] ^ x) + (self.right[here] ^ y) if count else Shares()
        mine = Shares() if not with_inputs else _pick(self.input_masks, self._places(self.party))
        theirs = Shares() if not with_inputs else _pick(self.input_masks, self._places(1 - self.party))
        values: list[int] = []
        if len(sums) + len(mine) + len(theirs):
            at = self.exchanges
            self.exchanges += 1
            s.channel.bulk(s.opening(place(self.party, MASK_BITS, 0, at), sums + theirs), "mask bits")
            values = s.read_opening(place(1 - self.party, MASK_BITS, 0, at), sums + mine, "mask bits")
        d, e = values[:count], values[count : 2 * count]
        if with_inputs:
            self.own_masks = values[2 * count :]
        if gates:
            self.transcript.update(pack(d + e))
        m = self.results[here]
        k_own = s.difference if self.party == 0 else s.difference ^ 1
        k_peer = 1 if self.party == 0 else 0
        own, peer = list(m.own), list(m.peer)
        for i in range(count):
            own[i] ^= z.own[i] ^ d[i] * y.own[i] ^ e[i] * x.own[i] ^ (d[i] & e[i]) * k_own
            peer[i] ^= z.peer[i] ^ d[i] * y.peer[i] ^ e[i] * x.peer[i] ^ (d[i] & e[i]) * k_peer
        self.products += Shares(own, peer)

    def _places(self, owner: int) -> list[int]:
        return [i for i, one in enumerate(self.owners) if one == owner]

    def hash(self, seed: int) -> garble.GateHash:
        tweaks, per_key = (2, 1024) if self.reveal else (4, 512)
        return garble.GateHash("rekeyed", garble.Scheme("authenticated", per_key, tweaks, 32, 0), seed)

    def own_masked(self) -> list[int]:
        """This party's input bits XOR their masks."""
        bits = [bit for port in self.program.inputs if port.owner == self.party for bit in self.inputs[port.name]]
        return [bit ^ mask for bit, mask in zip(bits, self.own_masks, strict=True)]

    def to(self, party: int, parts: Sequence[list[int]]) -> list[int]:
        """Of parts for each output, those of a party."""
        return [
            one for port, part in zip(self.program.outputs, parts, strict=True) if port.reaches(party) for one in part
        ]

    def masks_to(self, party: int) -> Shares:
        return Shares.joined(self.to(party, [part.wires() for part in self.outputs]))

    def results_of(self, values: list[int]) -> dict[str, list[int]]:
        found, at = {}, 0
        for port in self.program.outputs:
            if port.reaches(self.party):
                found[port.name] = values[at : at + port.type.width]
                at += port.type.width
        return found

    def truncate(self, block: int) -> int:
        """A check value: all bytes but the last are zero (file 12, "Gates")."""
        return block if self.reveal else block >> (128 - 8 * self.tag_bytes) << (128 - 8 * self.tag_bytes)

    def tag(self, block: int) -> bytes:
        return bytes_of(block)[16 - self.tag_bytes :] if self.tag_bytes else b""


class Garbler(Run):
    """Party 0."""

    def run(self) -> dict[str, list[int]]:
        s, channel = self.s, self.s.channel
        delta = s.difference
        zeros = [secrets.randbits(128) & ~1 for _ in self.owners]
        self.labels = [0] * self.n
        self.seed = secrets.token_bytes(16)
        self._hash = self.hash(block_of(self.seed))
        self._pieces: list[tuple[bytes, bytes, int]] = []
        self.checks: list[int] = []
        self.sum = 0
        self._masked_lots: list[int] = []
        walk = self._walk(zeros, delta ^ 1)
        outputs: list[list[int]] = []
        if self.stream:
            self.join(0, 0, True, gates=False)
        else:
            self.join(0, self.n, True)
            outputs = walk.run(self._gate)
        data = channel.receive_bulk(8 + (self.n1 + 7) // 8, "masked inputs")
        if data[:8] != u64(0):
            raise Disagreement(f"number of the run: expected 0, got {int.from_bytes(data[:8], 'little')}")
        self.transcript.update(data[8:])
        self.masked = [0] * len(self.owners)
        for owner, bits in ((0, self.own_masked()), (1, unpack(data[8:], self.n1, "masked inputs"))):
            for i, bit in zip(self._places(owner), bits, strict=True):
                self.masked[i] = bit
        channel.bulk(u64(0), "number of the run")
        active = bytes_of_blocks([zero ^ bit * delta for zero, bit in zip(zeros, self.masked, strict=True)])
        channel.bulk(active, "active labels")
        self.transcript.update(active)
        self._operands: list[tuple[int, int]] = []
        if self.stream:
            outputs = walk.run(self._gate)
        elif self.n:
            self._end_of_lot(0, self.n)
        if self.n:
            if self.reveal:
                self._check_revealed()
            channel.bulk(bytes_of(self.sum), "sum of check values")
        if masks := self.masks_to(1):
            channel.bulk(s.opening(place(0, OUTPUT_MASKS, 0, 0), masks), "output masks")
        found: list[int] = []
        ours = self.masks_to(0)
        if count := len(ours):
            masked = unpack(channel.receive_bulk((count + 7) // 8, "masked outputs"), count, "masked outputs")
            masks_of_outputs = s.read_opening(place(1, OUTPUT_MASKS, 0, 0), ours, "output masks")
            digest = channel.receive_bulk(32, "digest of labels")
            labels = [zero ^ bit * delta for zero, bit in zip(self.to(0, outputs), masked, strict=True)]
            if s.d(place(0, OUTPUT_LABELS, 0, 0), bytes_of_blocks(labels)) != digest:
                raise Misbehaviour("outputs: expected the digest of their labels, got another")
            found = [bit ^ mask for bit, mask in zip(masked, masks_of_outputs, strict=True)]
        return self.results_of(found)

    def _gate(self, g: int, a: int, b: int) -> int:
        start, end = next(lot for lot in self.lots if lot[0] <= g < lot[1])
        if g == start and self.stream:
            self.join(start, end, False)
        if g == 0:
            self.s.channel.bulk(self.seed, "hash seed")
            self.transcript.update(self.seed)
        delta, s = self.s.difference, self.products
        l_own, l_peer, r_own, r_peer = self.left.own[g], self.left.peer[g], self.right.own[g], self.right.peer[g]
        pairs = [(a, 0), (a ^ delta, 0), (b, 1), (b ^ delta, 1)]
        if not self.reveal:
            pairs += [(a, 2), (a ^ delta, 2), (b, 3), (b ^ delta, 3)]
        h = self._hash.of(g, pairs)
        table = bytes_of(h[0] ^ h[1] ^ r_own) + bytes_of(h[2] ^ h[3] ^ a ^ l_own)
        x = h[0] ^ h[2] ^ s.own[g]
        tags = b""
        if not self.reveal:
            tags = self.tag(h[4] ^ h[5] ^ r_peer) + self.tag(h[6] ^ h[7] ^ l_peer)
            self.checks.append(self.truncate(h[4] ^ h[6] ^ s.peer[g]))
        self._pieces.append((table, tags, x & 1))
        self.labels[g] = x & ~1
        if len(self._pieces) == PIECE_GATES or g + 1 == end:
            piece = b"".join(one[0] for one in self._pieces) + b"".join(one[1] for one in self._pieces)
            piece += pack([one[2] for one in self._pieces])
            self.s.channel.bulk(piece, "tables")
            self.transcript.update(piece)
            self._pieces.clear()
        if g + 1 == end and self.stream:
            self._end_of_lot(start, end)
        return x & ~1

    def _end_of_lot(self, start: int, end: int) -> None:
        """Add the power sum of the lot's check values; with `reveal` after the masked values of its results."""
        if not self.reveal:
            self.sum ^= power_sum(self.checks, block_of(self.transcript.digest()[:16]))
            self.checks = []
            return
        channel, count = self.s.channel, end - start
        self._masked_lots += unpack(channel.receive_bulk((count + 7) // 8, "masked values"), count, "masked values")
        point = block_of(channel.receive_bulk(16, "point of a lot"))
        known, values = self._masked_lots, [(0, 0)] * count

        def gate(g: int, a: int, b: int) -> int:
            if start <= g < end:
                values[g - start] = (a, b)
            return known[g] if g < end else 0

        self._walk(self.masked, 1).run(gate)
        checks = []
        for g, (v_l, v_r) in enumerate(values, start):
            checks.append(self.products.peer[g] ^ v_l * self.right.peer[g] ^ v_r * self.left.peer[g])
        self.sum ^= power_sum(checks, point)

    def _check_revealed(self) -> None:
        digest = self.s.channel.receive_bulk(32, "hash of revealed labels")
        delta = self.s.difference
        labels = [zero ^ bit * delta for zero, bit in zip(self.labels, self._masked_lots, strict=True)]
        if self.s.d(place(0, REVEALED_LABELS, 0, 0), bytes_of_blocks(labels)) != digest:
            raise Misbehaviour("revealed values: expected the hash of their labels, got another")


class Evaluator(Run):
    """Party 1."""

    def run(self) -> dict[str, list[int]]:
        s, channel = self.s, self.s.channel
        self.checks: list[int] = []
        self.sum = 0
        self.labels: list[int] = []
        self._tables: list[tuple[bytes, bytes, bytes, int]] = []
        if self.stream:
            self.join(0, 0, True, gates=False)
        else:
            self.join(0, self.n, True)
            self._receive(0, self.n)
        own = self.own_masked()
        channel.bulk(u64(0) + pack(own), "masked inputs")
        self.transcript.update(pack(own))
        number = int.from_bytes(channel.receive_bulk(8, "number of the run"), "little")
        if number:
            raise Disagreement(f"number of the run: expected 0, got {number}")
        data = channel.receive_bulk(16 * len(self.owners), "active labels")
        self.transcript.update(data)
        active = blocks_of(data)
        for i, bit in zip(self._places(1), own, strict=True):
            if active[i] & 1 != bit:
                raise Misbehaviour(f"active labels: expected the masked value {bit} of input bit {i}, got {1 - bit}")
        outputs = self._walk(active, 1).run(self._gate)
        if self.n:
            if self.reveal:
                message = bytes_of_blocks(self.labels)
                channel.bulk(s.d(place(0, REVEALED_LABELS, 0, 0), message), "hash of revealed labels")
            theirs = block_of(channel.receive_bulk(16, "sum of check values"))
            if theirs != self.sum:
                raise Misbehaviour(f"check values: expected the sum {self.sum:032x}, got {theirs:032x}")
        found: list[int] = []
        ours = self.masks_to(1)
        if ours:
            masks = s.read_opening(place(0, OUTPUT_MASKS, 0, 0), ours, "output masks")
            found = [label & 1 ^ mask for label, mask in zip(self.to(1, outputs), masks, strict=True)]
        if masks_of_0 := self.masks_to(0):
            labels = self.to(0, outputs)
            channel.bulk(pack([label & 1 for label in labels]), "masked outputs")
            channel.bulk(s.opening(place(1, OUTPUT_MASKS, 0, 0), masks_of_0), "output masks")
            channel.bulk(s.d(place(0, OUTPUT_LABELS, 0, 0), bytes_of_blocks(labels)), "digest of labels")
        return self.results_of(found)

    def _receive(self, start: int, end: int) -> None:
        """B2 of a lot."""
        if start == end:
            return
        channel = self.s.channel
        if start == 0:
            seed = channel.receive_bulk(16, "hash seed")
            self.transcript.update(seed)
            self._hash = self.hash(block_of(seed))
        for first in range(start, end, PIECE_GATES):
            g, tb = min(PIECE_GATES, end - first), self.tag_bytes
            piece = channel.receive_bulk((32 + 2 * tb) * g + (g + 7) // 8, "tables")
            self.transcript.update(piece)
            selects = unpack(piece[(32 + 2 * tb) * g :], g, "select bits")
            for i in range(g):
                tags = piece[32 * g + 2 * tb * i :]
                self._tables.append((piece[32 * i : 32 * i + 32], tags[:tb], tags[tb : 2 * tb], selects[i]))

    def _gate(self, g: int, a: int, b: int) -> int:
        start, end = next(lot for lot in self.lots if lot[0] <= g < lot[1])
        if g == start and self.stream:
            self.join(start, end, False)
            self._receive(start, end)
        s, left, right = self.products, self.left, self.right
        pairs = [(a, 0), (b, 1)] if self.reveal else [(a, 0), (b, 1), (a, 2), (b, 3)]
        h = self._hash.of(g, pairs)
        table, left_tag, right_tag, select = self._tables[g]
        i, j = a & 1, b & 1
        c = h[0] ^ h[1] ^ s.peer[g] ^ select
        check = s.own[g]
        if not self.reveal:
            check ^= h[2] ^ h[3]
        if i:
            c ^= int.from_bytes(table[:16], "little") ^ right.peer[g]
            check ^= right.own[g] ^ int.from_bytes(left_tag.rjust(16, b"\0"), "little")
        if j:
            c ^= int.from_bytes(table[16:], "little") ^ a ^ left.peer[g]
            check ^= left.own[g] ^ int.from_bytes(right_tag.rjust(16, b"\0"), "little")
        if (i & j) ^ (c & 1):
            check ^= self.s.difference
        self.checks.append(self.truncate(check))
        self.labels.append(c)
        if g + 1 == end:
            self._end_of_lot(start, end)
        return c

    def _end_of_lot(self, start: int, end: int) -> None:
        point = block_of(self.transcript.digest()[:16])
        if self.reveal:
            channel = self.s.channel
            point = secrets.randbits(128)
            channel.bulk(pack([label & 1 for label in self.labels[start:end]]), "masked values")
            channel.bulk(bytes_of(point), "point of a lot")
        self.sum ^= power_sum(self.checks, point)
        self.checks = []


def parameters(given: dict[str, str]) -> dict[str, str]:
    for name, value in given.items():
        if name not in VALUES or value not in VALUES[name]:
            raise CallError(f"parameter {name}: expected one of {VALUES.get(name, ())}, got {value!r}")
    return DEFAULTS | given


def greet(channel: Channel, party: int, program: Program, values: dict[str, str], more: list[tuple[str, str]]) -> None:
    """The hello of a run."""
    schedule = order.digest(order.schedules(program), [])[:16].hex()
    stated = [*values.items(), ("schedule", schedule), *more]
    hello.meet(channel, hello.Hello(party, 2, "authenticated", program.digest(), stated))
    channel.write_in_background()


def run(
    channel: Channel,
    party: int,
    program: Program,
    inputs: dict[str, list[int]],
    given: dict[str, str],
    session: str | None = None,
) -> dict[str, list[int]]:
    """One run; the bits of each output that this party learns."""
    values = parameters(given)
    greet(channel, party, program, values, [("session", session)] if session else [])
    made = Session(channel, party, int(values["ot-k"]))
    made.set_up()
    side = Garbler if party == 0 else Evaluator
    outputs = side(made, program, inputs, values).run()
    channel.close()
    return outputs
