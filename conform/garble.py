"""Labels, hashes, schemes and tables: file 9 of the specification."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import xor

from .notation import MASK_64, MASK_128, Aes, bits_of, block_of, blocks_of, bytes_of, bytes_of_blocks, double, pack
from .notation import sigma, u64, unpack
from .order import CHUNK_ANDS, Schedule, groups, table_bytes
from .program import AND, FROM_CONSTANT, FROM_INPUT, NOT, ONE, XOR, Circuit, Link, Program

FIXED_KEY = int.from_bytes(b"garblet fixedkey", "little")


@dataclass(frozen=True)
class Scheme:
    """A row of the table of schemes (file 9, "Hashes")."""

    name: str
    gates_per_key: int
    tweaks: int
    table_bytes: int
    further_bits: int


SCHEMES = {
    scheme.name: scheme
    for scheme in (
        Scheme("half-gates", 1024, 2, 32, 0),
        Scheme("grr3", 1024, 1, 48, 0),
        Scheme("four-row", 1024, 1, 64, 0),
        Scheme("privacy-free", 2048, 1, 16, 0),
        Scheme("three-halves", 512, 3, 24, 5),
    )
}
HASHES = ("rekeyed", "tmmo", "mitccrh", "fixed-key", "sha256")


class GateHash:
    """The hash of a garbling: `H_t(x)` of a gate for many pairs `(x, t)` (file 9, "Hashes")."""

    def __init__(self, name: str, scheme: Scheme, seed: int) -> None:
        self._scheme = scheme
        self._seed = seed
        self._period = -1
        self._aes = Aes(FIXED_KEY if name == "fixed-key" else seed)
        self.of: Callable[[int, Sequence[tuple[int, int]]], list[int]] = {
            "rekeyed": self._rekeyed,
            "tmmo": self._tmmo,
            "mitccrh": self._mitccrh,
            "fixed-key": self._fixed_key,
            "sha256": self._sha256,
        }[name]

    def _sigmas(self, aes: Aes, first: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
        us = []
        for x, t in pairs:
            high = x >> 64
            us.append((high | ((high ^ (x & MASK_64)) << 64)) ^ (first + t))
        return [h ^ u for h, u in zip(aes.blocks(us), us, strict=True)]

    def _rekeyed(self, gate: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
        period, gate = divmod(gate, self._scheme.gates_per_key)
        if period != self._period:
            self._period = period
            self._aes = Aes(self._seed ^ period)
        return self._sigmas(self._aes, self._scheme.tweaks * gate, pairs)

    def _fixed_key(self, gate: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
        return self._sigmas(self._aes, self._scheme.tweaks * gate, pairs)

    def _tmmo(self, gate: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
        first = self._scheme.tweaks * gate
        ys = self._aes.blocks([x for x, _ in pairs])
        inner = [y ^ (first + t) for y, (_, t) in zip(ys, pairs, strict=True)]
        return [h ^ y for h, y in zip(self._aes.blocks(inner), ys, strict=True)]

    def _mitccrh(self, gate: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
        first = self._scheme.tweaks * gate
        out = []
        for x, t in pairs:
            u = sigma(x)
            out.append(Aes(self._seed ^ (first + t)).block(u) ^ u)
        return out

    def _sha256(self, gate: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
        first, seed = self._scheme.tweaks * gate, bytes_of(self._seed)
        digests = [hashlib.sha256(seed + bytes_of(x) + u64(first + t)).digest() for x, t in pairs]
        return [int.from_bytes(digest[:16], "little") for digest in digests]


def combine(x: int, y: int) -> int:
    """`K(x, y) = x + 12 y` (file 9, "four-row and grr3")."""
    return x ^ double(double(y ^ double(y)))


ALL_BUT_BIT_0 = MASK_128 ^ 1


def _lows(x: int, y: int) -> int:
    return x & MASK_64 | (y & MASK_64) << 64


def _highs(x: int, y: int) -> int:
    return x >> 64 | y >> 64 << 64


def _join(x: int, y: int) -> int:
    return x & MASK_64 | y >> 64 << 64


def _lsbh(x: int) -> int:
    return x >> 64 & 1


# Each scheme garbles `(gate, A, B)` into `(table, further bits, C)`, and evaluates `(gate, a, b, table, bits)` into `c`.
Garbled = tuple[bytes, list[int], int]


class Gates:
    """AND gates of one scheme with one hash; `delta` is 0 at the evaluator."""

    def __init__(
        self, scheme: Scheme, hash_: GateHash, delta: int = 0, random: Callable[[int], int] = secrets.randbits
    ):
        self._hash = hash_.of
        self._delta = delta
        self._random = random
        name = scheme.name.replace("-", "_")
        self.garble: Callable[[int, int, int], Garbled] = getattr(self, f"_garble_{name}")
        evaluate = "rows" if name in ("grr3", "four_row") else name
        self.evaluate: Callable[[int, int, int, bytes, int], int] = getattr(self, f"_evaluate_{evaluate}")

    def _garble_half_gates(self, g: int, a: int, b: int) -> Garbled:
        delta = self._delta
        ha0, ha1, hb0, hb1 = self._hash(g, ((a, 0), (a ^ delta, 0), (b, 1), (b ^ delta, 1)))
        first, second = ha0 ^ ha1, hb0 ^ hb1
        c = ha0 ^ hb0
        if b & 1:
            first ^= delta
            c ^= second
        if a & 1:
            c ^= first
        return bytes_of(first) + bytes_of(second ^ a), [], c

    def _evaluate_half_gates(self, g: int, a: int, b: int, table: bytes, bits: int) -> int:
        ha, hb = self._hash(g, ((a, 0), (b, 1)))
        c = ha ^ hb
        if a & 1:
            c ^= int.from_bytes(table[:16], "little")
        if b & 1:
            c ^= int.from_bytes(table[16:], "little") ^ a
        return c

    def _rows(self, g: int, a: int, b: int) -> list[int]:
        """`H_0(K_ij) ^ v_ij * delta`, without the label of the result."""
        delta, p, q = self._delta, a & 1, b & 1
        a0, b0 = a ^ p * delta, b ^ q * delta
        keys = [combine(a0 ^ i * delta, b0 ^ j * delta) for i in (0, 1) for j in (0, 1)]
        hashes = self._hash(g, [(key, 0) for key in keys])
        values = [(p ^ i) & (q ^ j) for i in (0, 1) for j in (0, 1)]
        return [h ^ v * delta for h, v in zip(hashes, values, strict=True)]

    def _garble_grr3(self, g: int, a: int, b: int) -> Garbled:
        rows = self._rows(g, a, b)
        c = rows[0]
        return b"".join(bytes_of(row ^ c) for row in rows[1:]), [], c

    def _garble_four_row(self, g: int, a: int, b: int) -> Garbled:
        c = self._random(128)
        return b"".join(bytes_of(row ^ c) for row in self._rows(g, a, b)), [], c

    def _evaluate_rows(self, g: int, a: int, b: int, table: bytes, bits: int) -> int:
        (c,) = self._hash(g, ((combine(a, b), 0),))
        table = table.rjust(64, b"\0")
        row = 2 * (a & 1) + (b & 1)
        return c ^ int.from_bytes(table[16 * row : 16 * row + 16], "little")

    def _garble_privacy_free(self, g: int, a: int, b: int) -> Garbled:
        h0, h1 = self._hash(g, ((a, 0), (a ^ self._delta, 0)))
        return bytes_of(((h0 ^ h1) & ALL_BUT_BIT_0) ^ b), [], h0 & ALL_BUT_BIT_0

    def _evaluate_privacy_free(self, g: int, a: int, b: int, table: bytes, bits: int) -> int:
        (h,) = self._hash(g, ((a, 0),))
        c = h & ALL_BUT_BIT_0
        return c ^ int.from_bytes(table, "little") ^ b if a & 1 else c

    def _garble_three_halves(self, g: int, a: int, b: int) -> Garbled:
        delta, p, q = self._delta, a & 1, b & 1
        a0, b0 = a ^ p * delta, b ^ q * delta
        pairs = ((a0, 0), (a0 ^ delta, 0), (b0, 1), (b0 ^ delta, 1), (a0 ^ b0, 2), (a0 ^ b0 ^ delta, 2))
        ha, ha1, hb, hb1, hs, hs1 = self._hash(g, pairs)
        da, db, ds = ha ^ ha1, hb ^ hb1, hs ^ hs1
        c, d = self._random(1), self._random(1)
        u = sigma(a0) ^ b0
        w = u ^ sigma(u)
        s = sigma(delta)
        dd = s ^ delta
        np, nq = p ^ 1, q ^ 1
        result = _lows(hb, ha) ^ _lows(hs, hs) ^ _join(a0, b0) ^ c * u ^ d * w ^ (p & q) * delta
        x = _join(delta, b0) ^ nq * u ^ (c ^ nq) * s ^ (p ^ q) * w ^ (d ^ p) * delta
        y = _join(a0, delta) ^ (p ^ q) * u ^ np * w ^ (d ^ np) * dd ^ (c ^ q) * delta
        z = _lows(ds, ds) ^ (p ^ q) * (u ^ s) ^ np * (w ^ delta) ^ c * delta ^ (d ^ nq) * dd
        f = _lows(x, y) ^ _highs(x, y) ^ _lows(da, db)
        bits = [
            _lsbh(ha) ^ _lsbh(hs) ^ c,
            _lsbh(hb) ^ _lsbh(hs) ^ d,
            _lsbh(da) ^ p ^ 1,
            _lsbh(db) ^ q ^ 1,
            _lsbh(ds) ^ p ^ q,
        ]
        return bytes_of(f) + u64(z >> 64), bits, result

    def _evaluate_three_halves(self, g: int, a: int, b: int, table: bytes, bits: int) -> int:
        i, j = a & 1, b & 1
        ha, hb, hs = self._hash(g, ((a, 0), (b, 1), (a ^ b, 2)))
        u = sigma(a) ^ b
        w = u ^ sigma(u)
        z0, z1, z2, z3, z4 = bits_of(bits, 5)
        x = z4 & (i ^ j)
        c = _lsbh(ha) ^ _lsbh(hs) ^ z0 ^ (z2 & i) ^ x
        d = _lsbh(hb) ^ _lsbh(hs) ^ z1 ^ (z3 & j) ^ x
        t0, t1, t2 = (int.from_bytes(table[8 * n : 8 * n + 8], "little") for n in range(3))
        both = (i ^ j) * t2
        low = (hb ^ hs) & MASK_64 ^ (1 - j) * (a & MASK_64) ^ j * t1 ^ both
        high = (ha ^ hs) & MASK_64 ^ (1 - i) * (b >> 64) ^ i * t0 ^ both
        return (low | high << 64) ^ c * u ^ d * w


TABLES = Scheme("table", 2048, 1, 0, 0)


class TableHashes:
    """The hashes of a component that is a table, in groups of tweaks (file 9, "Components as tables")."""

    def __init__(self, name: str, seed: int, first_gate: int) -> None:
        self._hash = GateHash(name, TABLES, seed ^ (first_gate + 1) << 64)
        self._next = 0

    def take(self, count: int) -> int:
        """The first tweak of a group."""
        first = self._next
        self._next += count + -count % 4
        return first

    def of(self, first: int, labels: Sequence[int]) -> list[int]:
        return [self._hash.of(first + i, ((label, 0),))[0] for i, label in enumerate(labels)]


def rows(circuit: Circuit) -> list[list[int]]:
    """`f_o(x)` for each output, by `x`."""
    every = (1 << (1 << circuit.inputs)) - 1
    wires = [sum(1 << x for x in range(1 << circuit.inputs) if x >> k & 1) for k in range(circuit.inputs)]
    for kind, a, b in circuit.gates:
        if kind == XOR:
            wires.append(wires[a] ^ wires[b])
        elif kind == AND:
            wires.append(wires[a] & wires[b])
        elif kind == NOT:
            wires.append(wires[a] ^ every)
        else:
            wires.append(every if kind == ONE else 0)
    return [bits_of(wires[output], 1 << circuit.inputs) for output in circuit.outputs]


def _sum(blocks: Sequence[int], bits: Sequence[int]) -> int:
    return reduce(xor, (block for block, bit in zip(blocks, bits, strict=True) if bit), 0)


def _of_label(hashes: TableHashes, tweaks: tuple[int, int], label: int, k: int, m: int) -> tuple[list[int], list[int]]:
    """The bits `P(o, y)` and the blocks `L(o)` of a label of input `k`."""
    blocks = hashes.of(tweaks[0], [label] * (-(-(m << k) // 128)))
    return bits_of(int.from_bytes(bytes_of_blocks(blocks), "little"), m << k), hashes.of(tweaks[1], [label] * m)


def garble_table(hashes: TableHashes, table: list[list[int]], zeros: list[int], delta: int) -> tuple[bytes, list[int]]:
    """The bytes of a component as a table, and the zero labels of its outputs (file 9, "Components as tables")."""
    n, m = len(zeros), len(table)
    moved = sum((zero & 1) << k for k, zero in enumerate(zeros))
    z = [zero ^ (zero & 1) * delta for zero in zeros]
    r = [[column[y ^ moved] for y in range(1 << n)] for column in table]
    positions = [[delta], [z[0] ^ delta, z[0]]]
    out = []
    for j in range(1, n - 1):
        last = positions[-1]
        without = hashes.of(hashes.take(len(last)), last)
        with_ = [a ^ b for a, b in zip(last, without, strict=True)]
        out.append(bytes_of(reduce(xor, with_, z[j])))
        positions.append(without + with_)
    results = [0] * m
    for k in reversed(range(n)):
        half = 1 << k
        tweaks = hashes.take(-(-(m << k) // 128)), hashes.take(m)
        (p0, l0), (p1, l1) = (_of_label(hashes, tweaks, z[k] ^ b * delta, k, m) for b in (0, 1))
        both = [[a ^ b for a, b in zip(column[:half], column[half:], strict=True)] for column in r]
        out.append(pack([a ^ b ^ c for a, b, c in zip(p0, p1, sum(both, []), strict=True)]))
        for o in range(m):
            own = p0[o * half : (o + 1) * half]
            out.append(bytes_of(l0[o] ^ l1[o] ^ _sum(positions[k], both[o])))
            results[o] ^= l0[o] ^ _sum(positions[k], own)
            r[o] = [a ^ b for a, b in zip(r[o][:half], own, strict=True)]
    return b"".join(out), [result ^ r[o][0] * delta for o, result in enumerate(results)]


def evaluate_table(hashes: TableHashes, labels: list[int], m: int, data: bytes) -> list[int]:
    """The active labels of the outputs of a component as a table."""
    n = len(labels)
    s = sum((label & 1) << k for k, label in enumerate(labels))
    positions = [[0], [labels[0]] * 2]
    for j in range(1, n - 1):
        last, here = positions[-1], s & ((1 << j) - 1)
        without = hashes.of(hashes.take(len(last)), last)
        with_ = [a ^ b for a, b in zip(last, without, strict=True)]
        with_[here] = 0
        with_[here] = reduce(xor, with_, labels[j] ^ block_of(data[16 * (j - 1) : 16 * j]))
        without[here] = last[here] ^ with_[here]
        positions.append(without + with_)
    at = 16 * (n - 2)
    results = [0] * m
    for k in reversed(range(n)):
        half, size = 1 << k, ((m << k) + 7) // 8
        tweaks = hashes.take(-(-(m << k) // 128)), hashes.take(m)
        p, blocks = _of_label(hashes, tweaks, labels[k], k, m)
        sent = bits_of(int.from_bytes(data[at : at + size], "little"), m << k)
        sent_blocks = blocks_of(data[at + size : at + size + 16 * m])
        at += size + 16 * m
        b = s >> k & 1
        for o in range(m):
            u = [x ^ b & c for x, c in zip(p, sent, strict=True)][o * half : (o + 1) * half]
            results[o] ^= blocks[o] ^ b * sent_blocks[o] ^ _sum(positions[k], u)
    return results


def has_tables(scheme: str, hash_name: str) -> bool:
    """Whether components may be garbled as tables (file 6, "Tables of components")."""
    return scheme in ("half-gates", "three-halves") and hash_name != "fixed-key"


def chunk(scheme: Scheme, tables: Sequence[bytes], bits: Sequence[int]) -> bytes:
    """A chunk of at most 4,096 gates (file 9, "Tables on the wire")."""
    return b"".join(tables) + pack(bits)


def chunk_bytes(scheme: Scheme, gates: int) -> int:
    return gates * scheme.table_bytes + (gates * scheme.further_bits + 7) // 8


def chunk_sizes(ands: int) -> Iterator[int]:
    for start in range(0, ands, CHUNK_ANDS):
        yield min(CHUNK_ANDS, ands - start)


def no_table(place: int, component: int, labels: list[int]) -> list[int]:
    raise AssertionError(f"component {component} is no table")


class Walk:
    """Goes through a program, gate by gate, in the order of file 6; the same for both parties.

    `inputs` are the labels of each input of the program. `ones` is the label of the constant 1, `flip` what turns a
    label around. `tabled` are the components that are tables.
    """

    def __init__(
        self,
        program: Program,
        schedules: list[Schedule],
        settings: tuple[Scheme, str, list[int]],
        inputs: list[list[int]],
        ones: int,
        flip: int,
    ) -> None:
        scheme, hash_name, self._tabled = settings
        self._program = program
        self._schedules = schedules
        self._four = side_by_side(scheme.name, hash_name)
        self._inputs = inputs
        self._ones = ones
        self._flip = flip
        self._results: dict[int, list[int]] = {}
        self._scheme = scheme
        self.ands = sum(self.places(instance.component) for instance in program.instances)

    def places(self, component: int) -> int:
        """The number of AND gates whose places an instance takes."""
        if component not in self._tabled:
            return self._schedules[component].ands
        circuit = self._program.components[component].circuit
        return -(-table_bytes(circuit.inputs, len(circuit.outputs)) // self._scheme.table_bytes)

    def feed(self, links: Sequence[Link]) -> list[int]:
        labels: list[int] = []
        for link in links:
            if link.kind == FROM_CONSTANT:
                labels += [self._ones if link.index else 0] * link.length
            else:
                source = self._inputs[link.index] if link.kind == FROM_INPUT else self._results[link.index]
                labels += source[link.start : link.start + link.length]
        return labels

    def run(
        self,
        gate: Callable[[int, int, int], int],
        table: Callable[[int, int, list[int]], list[int]] = no_table,
    ) -> list[list[int]]:
        """The labels of each output; `gate(place, a, b)` makes the label of an AND gate, `table(place, component, labels)`
        those of a component that is a table."""
        first, flip = 0, self._flip
        for group in groups(self._program, self._four, self._tabled):
            instances = [self._program.instances[i] for i in group]
            if instances[0].component in self._tabled:
                self._results[group[0]] = table(first, instances[0].component, self.feed(instances[0].links))
                first += self.places(instances[0].component)
                continue
            scheduled = self._schedules[instances[0].component]
            copies = len(group)
            memories = []
            for instance in instances:
                memory = [0] * (scheduled.inputs + 1 + len(scheduled.gates))
                memory[1 : scheduled.inputs + 1] = self.feed(instance.links)
                memory[0] = 0
                memories.append(memory)
            gates, base = scheduled.gates, scheduled.inputs + 1
            place = first
            for xors, ands in scheduled.steps:
                for memory in memories:
                    for g in xors:
                        _, a, b = gates[g]
                        memory[base + g] = memory[a >> 1] ^ memory[b >> 1]
                for g in ands:
                    _, a, b = gates[g]
                    for memory in memories:
                        one, two = memory[a >> 1], memory[b >> 1]
                        memory[base + g] = gate(place, one ^ flip if a & 1 else one, two ^ flip if b & 1 else two)
                        place += 1
            first += copies * scheduled.ands
            for i, memory in zip(group, memories, strict=True):
                self._results[i] = [
                    (self._ones if literal & 1 else 0)
                    if literal <= 1
                    else memory[literal >> 1] ^ (flip if literal & 1 else 0)
                    for literal in scheduled.outputs
                ]
        return [self.feed(port.links) for port in self._program.outputs]


def side_by_side(scheme: str, hash_name: str) -> bool:
    """Whether copies run side by side (file 6, "Instances and copies")."""
    return hash_name in ("rekeyed", "fixed-key") and scheme != "four-row"
