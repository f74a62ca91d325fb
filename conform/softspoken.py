"""OT extension after SoftSpoken with the repetition code: file 8 of the specification."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import reduce
from operator import xor

from . import base_ot
from .notation import (
    Aes,
    Disagreement,
    Misbehaviour,
    Multiplier,
    b3_derive,
    bits_of,
    block_of,
    blocks_of,
    bytes_of,
    bytes_of_blocks,
    u32,
)
from .wire import OT_SETUP, Channel

SQUARE = 128
BATCH_SQUARES = 60
OTS_PER_KEY = 2048
CHECK_BYTES = {0: 0, 40: 8, 80: 16}
CHECK_FORMS = {0: 0, 40: 16, 80: 32}


def transpose(columns: Sequence[int], count: int) -> list[int]:
    """Bit `m` of result `i` is bit `i` of column `m`, for `i < count`."""
    rows = [f"{column & ((1 << count) - 1):0{count}b}" for column in reversed(columns)]
    return [int("".join(bits), 2) for bits in zip(*rows, strict=True)][::-1]


def grow(nodes: Sequence[int]) -> list[int]:
    """The children of the nodes of a level (file 8, "Trees")."""
    children = []
    for node in nodes:
        children += Aes(node).blocks([0, 1])
    return children


def full_tree(pads: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Leaves and corrections of the tree of these pads, at the receiver (file 8, "Trees")."""
    p0, p1 = pads[-1]
    nodes = [p1, p0]
    corrections = []
    for p0, p1 in reversed(pads[:-1]):
        nodes = grow(nodes)
        corrections += [reduce(xor, nodes[0::2]) ^ p1, reduce(xor, nodes[1::2]) ^ p0]
    return nodes, corrections


def punctured_tree(pads: Sequence[int], choices: Sequence[int], corrections: Sequence[int]) -> list[int | None]:
    """The leaves that the sender knows; the missing one is None (file 8, "Trees")."""
    b = choices[-1]
    nodes: list[int | None] = [None, None]
    nodes[1 - b] = pads[-1]
    missing = b
    rest = list(corrections)
    for pad, b in zip(reversed(pads[:-1]), reversed(choices[:-1]), strict=True):
        children: list[int | None] = []
        for node in nodes:
            children += [None, None] if node is None else Aes(node).blocks([0, 1])
        side = 1 - b
        others = [child for child in children[side::2] if child is not None]
        children[2 * missing + side] = rest[side] ^ pad ^ reduce(xor, others, 0)
        missing = 2 * missing + b
        nodes = children
        rest = rest[2:]
    return nodes


def tag(session: int, j: int, x: int, leaf: int) -> bytes:
    """`tag(j, x)` (file 8, "Check of the trees")."""
    message = bytes_of(session) + u32(j) + u32(x) + bytes_of(leaf)
    return b3_derive("garblet OT extension: tag of a leaf, v1", message)


def hash_of_tags(session: int, tags: Sequence[bytes]) -> bytes:
    return b3_derive("garblet OT extension: all tags, v1", bytes_of(session) + b"".join(tags))


def _xor_bytes(parts: Sequence[bytes]) -> bytes:
    return reduce(xor, (int.from_bytes(part, "little") for part in parts)).to_bytes(len(parts[0]), "little")


def hash_of_squares(column: int, squares: int, by_chi: Multiplier) -> int:
    """The hash of a column at the point `chi` (file 8, "Check of the choices")."""
    result = 0
    data = column.to_bytes(16 * squares, "little")
    for block in blocks_of(data):
        result = by_chi(result) ^ block
    return result


class Receiver:
    """The receiver of correlated OTs: random choices and `t`."""

    def __init__(self, channel: Channel, k: int, check: int = 0) -> None:
        self._channel = channel
        self.k = k
        self.check = check
        self._position = 0

    def set_up(self) -> None:
        """File 8, "Set-up"."""
        channel, k = self._channel, self.k
        _, payload = channel.receive_control(OT_SETUP, "OT set-up")
        expected = k + CHECK_FORMS[self.check]
        if len(payload) != 1 or payload[0] & 15 not in (2, 4, 8) or payload[0] >> 4 > 2:
            raise Misbehaviour(f"OT set-up: expected the form {expected}, got {payload.hex()}")
        if payload[0] != expected:
            raise Disagreement(f"OT set-up: expected the form {expected}, got {payload[0]}")
        base = base_ot.Sender(channel)
        made = base.send()
        self.session = made.session
        trees = [full_tree(made.pads[k * j : k * j + k]) for j in range(128 // k)]
        corrections = [block for _, part in trees for block in part]
        channel.bulk(bytes_of_blocks(corrections), "OT corrections of trees")
        if self.check:
            tags = [
                [tag(self.session, j, x, leaf) for x, leaf in enumerate(leaves)] for j, (leaves, _) in enumerate(trees)
            ]
            sums = b"".join(_xor_bytes(of_tree) for of_tree in tags)
            all_tags = [one for of_tree in tags for one in of_tree]
            channel.bulk(sums + hash_of_tags(self.session, all_tags), "OT tags")
        base.check()
        self._leaves = [leaves for leaves, _ in trees]
        self._streams = [[Aes(leaf) for leaf in leaves] for leaves in self._leaves]

    def use(self, channel: Channel) -> None:
        self._channel = channel

    def rename(self, name: int) -> None:
        """Begin a session of this name (file 8, "Seeds that serve many sessions")."""
        self._streams = [[Aes(Aes(leaf).block(name)) for leaf in leaves] for leaves in self._leaves]
        self._position, self.session = 0, name

    def _batch(self, squares: int) -> tuple[int, list[int], bytes]:
        """Choices, columns and corrections of a batch (file 8, "Extension")."""
        sums, columns = [], []
        for streams in self._streams:
            rows = [int.from_bytes(stream.stream(self._position, squares), "little") for stream in streams]
            sums.append(reduce(xor, rows))
            columns += [reduce(xor, (row for x, row in enumerate(rows) if x >> bit & 1)) for bit in range(self.k)]
        self._position += squares
        corrections = b"".join((u ^ sums[0]).to_bytes(16 * squares, "little") for u in sums[1:])
        return sums[0], columns, corrections

    def send_corrections(self, count: int) -> None:
        """Step 1 of an extension by `count`."""
        self._squares = -(-count // SQUARE) + (1 if self.check else 0)
        self._choices, self._columns, done = 0, [0] * 128, 0
        while done < self._squares:
            now = min(BATCH_SQUARES, self._squares - done)
            batch_choices, batch_columns, corrections = self._batch(now)
            self._channel.bulk(corrections, "OT corrections")
            shift = SQUARE * done
            self._choices |= batch_choices << shift
            self._columns = [column | part << shift for column, part in zip(self._columns, batch_columns, strict=True)]
            done += now

    def send_hashes(self, chi: int) -> None:
        """Step 3 of an extension with checks (file 8, "Check of the choices")."""
        size, by_chi = CHECK_BYTES[self.check], Multiplier(chi)
        hashes = [hash_of_squares(column, self._squares, by_chi) for column in (self._choices, *self._columns)]
        self._channel.bulk(b"".join(bytes_of(one)[:size] for one in hashes), "OT check hashes")

    def result(self, count: int) -> tuple[list[int], list[int]]:
        """Choices and blocks `t` of the extension."""
        return bits_of(self._choices & ((1 << count) - 1), count), transpose(self._columns, count)

    def extend(self, count: int) -> tuple[list[int], list[int]]:
        """`count` choices and blocks `t`."""
        if not count:
            return [], []
        self.send_corrections(count)
        if self.check:
            self.send_hashes(block_of(self._channel.receive_bulk(16, "OT check point")))
        return self.result(count)


class Sender:
    """The sender of correlated OTs: `delta` and `q`."""

    def __init__(self, channel: Channel, k: int, delta: int, check: int = 0) -> None:
        self._channel = channel
        self.k = k
        self.check = check
        self.delta = delta
        self._position = 0

    def set_up(self) -> None:
        """File 8, "Set-up"."""
        channel, k = self._channel, self.k
        channel.control(OT_SETUP, bytes([k + CHECK_FORMS[self.check]]), "OT set-up")
        choices = bits_of(self.delta, 128)
        base = base_ot.Receiver(channel, choices)
        base.send_points()
        made = base.finish()
        self.session = made.session
        size = 2 * (k - 1) * 16
        data = channel.receive_bulk(128 // k * size, "OT corrections of trees")
        trees = []
        for j in range(128 // k):
            corrections = blocks_of(data[size * j : size * j + size])
            trees.append(punctured_tree(made.pads[k * j : k * j + k], choices[k * j : k * j + k], corrections))
        if self.check:
            self._check_trees(trees, channel.receive_bulk(32 * (128 // k + 1), "OT tags"))
        self._leaves = trees
        self._streams = [[None if leaf is None else Aes(leaf) for leaf in tree] for tree in trees]

    def use(self, channel: Channel) -> None:
        self._channel = channel

    def rename(self, name: int) -> None:
        """Begin a session of this name (file 8, "Seeds that serve many sessions")."""
        self._streams = [
            [None if leaf is None else Aes(Aes(leaf).block(name)) for leaf in tree] for tree in self._leaves
        ]
        self._position, self.session = 0, name

    def _check_trees(self, trees: list[list[int | None]], data: bytes) -> None:
        """File 8, "Check of the trees"."""
        all_tags = []
        for j, tree in enumerate(trees):
            tags = [None if leaf is None else tag(self.session, j, x, leaf) for x, leaf in enumerate(tree)]
            known = [one for one in tags if one is not None]
            missing = _xor_bytes([data[32 * j : 32 * j + 32], *known])
            all_tags += [missing if one is None else one for one in tags]
        if hash_of_tags(self.session, all_tags) != data[-32:]:
            raise Misbehaviour("OT set-up: expected the hash of all tags, got another")

    def receive_corrections(self, count: int) -> None:
        """Step 1 of an extension by `count`."""
        k = self.k
        self._squares = -(-count // SQUARE) + (1 if self.check else 0)
        self._columns, done = [0] * 128, 0
        while done < self._squares:
            now = min(BATCH_SQUARES, self._squares - done)
            size = 16 * now
            data = self._channel.receive_bulk(size * (128 // k - 1), "OT corrections")
            shift = SQUARE * done
            for j, streams in enumerate(self._streams):
                part = self.delta >> (k * j) & ((1 << k) - 1)
                rows = [
                    (x ^ part, int.from_bytes(stream.stream(self._position, now), "little"))
                    for x, stream in enumerate(streams)
                    if stream is not None
                ]
                correction = int.from_bytes(data[size * (j - 1) : size * j], "little") if j else 0
                for bit in range(k):
                    column = reduce(xor, (row for x, row in rows if x >> bit & 1))
                    if part >> bit & 1:
                        column ^= correction
                    self._columns[k * j + bit] |= column << shift
            self._position += now
            done += now

    def check_hashes(self, chi: int) -> None:
        """Step 3 of an extension with checks (file 8, "Check of the choices")."""
        size, by_chi = CHECK_BYTES[self.check], Multiplier(chi)
        data = self._channel.receive_bulk(129 * size, "OT check hashes")
        hashes = [data[size * i : size * i + size] for i in range(129)]
        for i, column in enumerate(self._columns):
            ours = bytes_of(hash_of_squares(column, self._squares, by_chi))[:size]
            theirs = _xor_bytes([hashes[1 + i], hashes[0]]) if self.delta >> i & 1 else hashes[1 + i]
            if ours != theirs:
                raise Misbehaviour(f"OT extension: expected the hash {ours.hex()} of column {i}, got {theirs.hex()}")

    def result(self, count: int) -> list[int]:
        """Blocks `q` of the extension."""
        return transpose(self._columns, count)

    def extend(self, count: int) -> list[int]:
        """`count` blocks `q`."""
        if not count:
            return []
        self.receive_corrections(count)
        if self.check:
            chi = secrets.randbits(128)
            self._channel.bulk(bytes_of(chi), "OT check point")
            self.check_hashes(chi)
        return self.result(count)


def pad_hash(session_key: int, number: int, block: int) -> int:
    """`P(i, y)` of random OT (file 8, "Random OT")."""
    aes = Aes(session_key ^ (number // OTS_PER_KEY))
    y = aes.block(block)
    return aes.block(y ^ number) ^ y
