"""Labels, hashes, schemes and tables: file 9 of the specification."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .notation import MASK_64, MASK_128, Aes, bits_of, bytes_of, double, pack, sigma, u64
from .order import CHUNK_ANDS, Schedule, groups
from .program import FROM_CONSTANT, FROM_INPUT, Link, Program

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


def chunk(scheme: Scheme, tables: Sequence[bytes], bits: Sequence[int]) -> bytes:
    """A chunk of at most 4,096 gates (file 9, "Tables on the wire")."""
    return b"".join(tables) + pack(bits)


def chunk_bytes(scheme: Scheme, gates: int) -> int:
    return gates * scheme.table_bytes + (gates * scheme.further_bits + 7) // 8


def chunk_sizes(ands: int) -> Iterator[int]:
    for start in range(0, ands, CHUNK_ANDS):
        yield min(CHUNK_ANDS, ands - start)


class Walk:
    """Goes through a program, gate by gate, in the order of file 6; the same for both parties.

    `inputs` are the labels of each input of the program. `ones` is the label of the constant 1, `flip` what turns a
    label around.
    """

    def __init__(
        self, program: Program, schedules: list[Schedule], four: bool, inputs: list[list[int]], ones: int, flip: int
    ) -> None:
        self._program = program
        self._schedules = schedules
        self._four = four
        self._inputs = inputs
        self._ones = ones
        self._flip = flip
        self._results: dict[int, list[int]] = {}
        self.ands = sum(schedules[instance.component].ands for instance in program.instances)

    def feed(self, links: Sequence[Link]) -> list[int]:
        labels: list[int] = []
        for link in links:
            if link.kind == FROM_CONSTANT:
                labels += [self._ones if link.index else 0] * link.length
            else:
                source = self._inputs[link.index] if link.kind == FROM_INPUT else self._results[link.index]
                labels += source[link.start : link.start + link.length]
        return labels

    def run(self, gate: Callable[[int, int, int], int]) -> list[list[int]]:
        """The labels of each output; `gate(place, a, b)` makes the label of an AND gate."""
        first, flip = 0, self._flip
        for group in groups(self._program, self._four):
            instances = [self._program.instances[i] for i in group]
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
