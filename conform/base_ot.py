"""Base OT after Canetti, Sarkar and Wang over ristretto255: file 7 of the specification."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from . import ristretto
from .notation import Misbehaviour, b3_derive, b3_keyed, block_of, blocks_of, bytes_of, bytes_of_blocks, u16
from .wire import Channel

OTS = 128
ENCODED_BYTES = 32


@dataclass
class SenderPads:
    """Both pads of each OT, and the public name of this run."""

    pads: list[tuple[int, int]]
    session: int


@dataclass
class ReceiverPads:
    """The chosen pad of each OT, and the public name of this run."""

    pads: list[int]
    session: int


class _Hash:
    """`H(d, i, v, m)` (file 7, "Values")."""

    def __init__(self, seed: bytes, points: bytes, z: bytes) -> None:
        context = "garblet base OT: Canetti-Sarkar-Wang over ristretto255, v1"
        self._key = b3_derive(context, seed + points + z)

    def __call__(self, d: int, i: int = 0, v: int = 0, message: bytes = b"") -> bytes:
        return b3_keyed(self._key, bytes([d]) + u16(i) + bytes([v]) + message)

    def block(self, d: int, i: int = 0, v: int = 0, message: bytes = b"") -> int:
        return block_of(self(d, i, v, message)[:16])


def offset(seed: bytes) -> ristretto.Point:
    """`T` (file 7, "Values")."""
    h = ristretto.from_uniform(b3_derive("garblet base OT: offset point of a seed, v1", seed, 64))
    return ristretto.double(h)


def decode(data: bytes, what: str) -> ristretto.Point:
    """A received point (file 7, "The group")."""
    if data == ristretto.ENCODED_IDENTITY:
        raise Misbehaviour(f"base OT: {what}: expected another element than the identity")
    point = ristretto.decode(data)
    if point is None:
        raise Misbehaviour(f"base OT: {what}: expected a canonical encoding, got {data.hex()}")
    return point


def _answer(hash_: _Hash, responses: Sequence[int]) -> bytes:
    return hash_(3, message=bytes_of_blocks(responses))


class Receiver:
    """The receiver; the answer waits until the caller sends it, which is right after the proof."""

    def __init__(
        self, channel: Channel, choices: Sequence[int], seed: bytes | None = None, scalars: Sequence[int] | None = None
    ) -> None:
        self._channel = channel
        self.choices = choices
        self.seed = seed or secrets.token_bytes(32)
        self.scalars = scalars or [secrets.randbelow(ristretto.ORDER) for _ in range(OTS)]

    def points(self) -> bytes:
        t = ristretto.cache(offset(self.seed))
        base = ristretto.Base(ristretto.GENERATOR)
        encodings = []
        for scalar, choice in zip(self.scalars, self.choices, strict=True):
            point = base.multiply(scalar)
            encodings.append(ristretto.encode(ristretto.add_cached(point, t) if choice else point))
        return b"".join(encodings)

    def send_points(self) -> None:
        """Steps 1 and 2."""
        self._channel.bulk(self.seed, "base OT seed")
        self._points = self.points()
        self._channel.bulk(self._points, "base OT points")

    def finish(self) -> ReceiverPads:
        """Steps 3 to 6."""
        channel = self._channel
        encoded = channel.receive_bulk(ENCODED_BYTES, "base OT z")
        z = ristretto.Base(decode(encoded, "z"))
        challenges = blocks_of(channel.receive_bulk(16 * OTS, "base OT challenges"))
        proof = channel.receive_bulk(32, "base OT proof")
        hash_ = _Hash(self.seed, self._points, encoded)
        pads, responses = [], []
        for i, (scalar, choice) in enumerate(zip(self.scalars, self.choices, strict=True)):
            pad = hash_.block(1, i, choice, ristretto.encode(z.multiply(scalar)))
            pads.append(pad)
            responses.append(hash_.block(2, i, choice, bytes_of(pad)) ^ (challenges[i] if choice else 0))
        answer = _answer(hash_, responses)
        if hash_(4, message=answer) != proof:
            raise Misbehaviour("base OT: expected the proof of our answer, got another")
        channel.bulk(answer, "base OT answer")
        return ReceiverPads(pads, hash_.block(5))


class Sender:
    """The sender; `check` reads the answer, after whatever else the caller has sent."""

    def __init__(self, channel: Channel, scalar: int | None = None) -> None:
        self._channel = channel
        self.scalar = scalar or secrets.randbelow(ristretto.ORDER - 1) + 1

    def send(self) -> SenderPads:
        """Steps 1 to 5."""
        channel = self._channel
        seed = channel.receive_bulk(32, "base OT seed")
        points = channel.receive_bulk(ENCODED_BYTES * OTS, "base OT points")
        z = ristretto.encode(ristretto.multiply(self.scalar, ristretto.GENERATOR))
        hash_ = _Hash(seed, points, z)
        minus_rt = ristretto.cache(ristretto.negate(ristretto.multiply(self.scalar, offset(seed))))
        pads, challenges, responses = [], [], []
        decoded = [decode(points[32 * i : 32 * i + 32], f"point {i}") for i in range(OTS)]
        channel.bulk(z, "base OT z")
        for i, point in enumerate(decoded):
            k0 = ristretto.multiply(self.scalar, point)
            k1 = ristretto.add_cached(k0, minus_rt)
            p0, p1 = hash_.block(1, i, 0, ristretto.encode(k0)), hash_.block(1, i, 1, ristretto.encode(k1))
            s0, s1 = hash_.block(2, i, 0, bytes_of(p0)), hash_.block(2, i, 1, bytes_of(p1))
            pads.append((p0, p1))
            responses.append(s0)
            challenges.append(s0 ^ s1)
        self._answer = _answer(hash_, responses)
        channel.bulk(bytes_of_blocks(challenges), "base OT challenges")
        channel.bulk(hash_(4, message=self._answer), "base OT proof")
        return SenderPads(pads, hash_.block(5))

    def check(self) -> None:
        """Step 6."""
        answer = self._channel.receive_bulk(32, "base OT answer")
        if answer != self._answer:
            raise Misbehaviour(f"base OT: expected the answer {self._answer.hex()}, got {answer.hex()}")
