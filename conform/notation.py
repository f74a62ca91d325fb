"""Numbers, varints, packed bits, blocks, AES, BLAKE3 and the field GF(2^128): file 1 of the specification.

A block is a Python integer below 2^128, read with its first byte as the least significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from blake3 import blake3
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

BLOCK_BYTES = 16
MASK_64 = (1 << 64) - 1
MASK_128 = (1 << 128) - 1


class Misbehaviour(Exception):
    """The peer sent what the protocol does not allow (file 2, "Classes of errors")."""


class Disagreement(Exception):
    """The two parties want different things (file 2, "Classes of errors")."""


class Gone(Exception):
    """The network, or a peer that is gone, silent, or aborted (file 2, class "network")."""


class CallError(Exception):
    """This party's own call or files are wrong (file 2, class "call")."""


class _Encryptor(Protocol):
    def update(self, data: bytes) -> bytes: ...


class Aes:
    """AES-128 under one key (file 1, "AES")."""

    def __init__(self, key: int) -> None:
        cipher = Cipher(algorithms.AES(key.to_bytes(BLOCK_BYTES, "little")), modes.ECB())
        self._encryptor: _Encryptor = cipher.encryptor()

    def block(self, x: int) -> int:
        return int.from_bytes(self._encryptor.update(x.to_bytes(BLOCK_BYTES, "little")), "little")

    def blocks(self, xs: Sequence[int]) -> list[int]:
        data = self._encryptor.update(b"".join([x.to_bytes(BLOCK_BYTES, "little") for x in xs]))
        return [int.from_bytes(data[i : i + BLOCK_BYTES], "little") for i in range(0, len(data), BLOCK_BYTES)]

    def stream(self, start: int, count: int) -> bytes:
        """The blocks `start` to `start + count - 1` of the stream PRG of this key."""
        return self._encryptor.update(
            b"".join([i.to_bytes(BLOCK_BYTES, "little") for i in range(start, start + count)])
        )


def b3_derive(context: str, message: bytes, length: int = 32) -> bytes:
    """`B3[context](m)`, BLAKE3 in its mode for key derivation (file 1, "BLAKE3")."""
    return blake3(message, derive_key_context=context).digest(length)


def b3_keyed(key: bytes, message: bytes) -> bytes:
    """`B3{key}(m)`, keyed BLAKE3 (file 1, "BLAKE3")."""
    return blake3(message, key=key).digest()


def block_of(data: bytes) -> int:
    """The block of 16 bytes."""
    if len(data) != BLOCK_BYTES:
        raise ValueError(f"a block has {BLOCK_BYTES} bytes, got {len(data)}")
    return int.from_bytes(data, "little")


def blocks_of(data: bytes) -> list[int]:
    """The blocks of a multiple of 16 bytes."""
    return [int.from_bytes(data[i : i + BLOCK_BYTES], "little") for i in range(0, len(data), BLOCK_BYTES)]


def bytes_of(block: int) -> bytes:
    return block.to_bytes(BLOCK_BYTES, "little")


def bytes_of_blocks(blocks: Sequence[int]) -> bytes:
    return b"".join([block.to_bytes(BLOCK_BYTES, "little") for block in blocks])


def sigma(x: int) -> int:
    """`low = high(x)`, `high = high(x) ^ low(x)` (file 1, "Blocks")."""
    high = x >> 64
    return high | ((high ^ (x & MASK_64)) << 64)


def double(a: int) -> int:
    """`x * a` in the field (file 1, "The field GF(2^128)")."""
    a <<= 1
    return (a & MASK_128) ^ 0x87 if a >> 128 else a


def multiply(a: int, b: int) -> int:
    """The product in the field (file 1, "The field GF(2^128)")."""
    result = 0
    while b:
        if b & 1:
            result ^= a
        a = double(a)
        b >>= 1
    return result


class Multiplier:
    """Products with one element, by tables of bytes."""

    def __init__(self, factor: int) -> None:
        self._tables = []
        for _ in range(16):
            table = [0]
            for _ in range(8):
                table += [entry ^ factor for entry in table]
                factor = double(factor)
            self._tables.append(table)

    def __call__(self, a: int) -> int:
        result = 0
        for table, byte in zip(self._tables, a.to_bytes(BLOCK_BYTES, "little"), strict=True):
            result ^= table[byte]
        return result


def power_sum(blocks: Sequence[int], point: int) -> int:
    """The sum of `point^(i + 1) x_i` (file 12, "Names of hashes")."""
    multiply_by_point, result = Multiplier(point), 0
    for block in reversed(blocks):
        result = multiply_by_point(result ^ block)
    return result


def u16(n: int) -> bytes:
    return n.to_bytes(2, "little")


def u32(n: int) -> bytes:
    return n.to_bytes(4, "little")


def u64(n: int) -> bytes:
    return n.to_bytes(8, "little")


def varint(n: int) -> bytes:
    """The shortest encoding (file 1, "Varints")."""
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def string(text: str) -> bytes:
    data = text.encode()
    return varint(len(data)) + data


def pack(bits: Sequence[int]) -> bytes:
    """Packed bits (file 1, "Packed bits")."""
    n = 0
    for i, bit in enumerate(bits):
        n |= bit << i
    return n.to_bytes((len(bits) + 7) // 8, "little")


def unpack(data: bytes, count: int, what: str) -> list[int]:
    """The bits of a message; padding that is not 0 is refused (file 1, "Packed bits")."""
    n = int.from_bytes(data, "little")
    if n >> count:
        raise Misbehaviour(
            f"{what}: expected {count} packed bits with zeros behind them, got {data[-1:].hex()} at the end"
        )
    return bits_of(n, count)


def bits_of(n: int, count: int) -> list[int]:
    """The lowest `count` bits of `n`, the lowest first."""
    return [n >> i & 1 for i in range(count)] if count < 512 else [int(c) for c in f"{n:0{count}b}"[::-1][:count]]


class Reader:
    """Reads the fields of a control message (file 2, "Messages")."""

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._at = 0
        self._what = what

    def take(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise Misbehaviour(f"{self._what}: expected {count} more bytes, got {len(self._data) - self._at}")
        self._at += count
        return self._data[self._at - count : self._at]

    def varint(self, limit: int = (1 << 64) - 1) -> int:
        n = shift = 0
        while True:
            byte = self.take(1)[0]
            n |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift > 63:
                raise Misbehaviour(f"{self._what}: expected a varint of at most 10 bytes, got a longer one")
        if byte == 0 and shift > 7:
            raise Misbehaviour(f"{self._what}: expected the shortest varint, got one that ends with 00")
        if n > limit:
            raise Misbehaviour(f"{self._what}: expected a number of at most {limit}, got {n}")
        return n

    def string(self) -> str:
        data = self.take(self.varint())
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise Misbehaviour(f"{self._what}: expected UTF-8, got {data.hex()}") from None

    def end(self) -> None:
        if self._at != len(self._data):
            raise Misbehaviour(f"{self._what}: expected the end, got {len(self._data) - self._at} more bytes")
