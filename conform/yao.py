"""The protocol `yao`: file 10 of the specification."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from . import garble, hello, order, softspoken
from .notation import CallError, block_of, blocks_of, bytes_of, bytes_of_blocks, pack, unpack
from .program import Program
from .wire import Channel

SCHEDULE_BYTES = 16
DEFAULTS = {"scheme": "half-gates", "hash": "rekeyed", "build": "stream", "ot-k": "4"}
VALUES = {
    "scheme": tuple(garble.SCHEMES),
    "hash": garble.HASHES,
    "build": ("stream", "ahead"),
    "ot-k": ("4", "2", "8"),
}


@dataclass
class Settings:
    """The parameters of a run (file 10, "Parameters")."""

    scheme: garble.Scheme
    hash: str
    ahead: bool
    k: int
    tabled: list[int] = field(default_factory=list)


def parameters(given: dict[str, str]) -> dict[str, str]:
    for name, value in given.items():
        if name not in VALUES or value not in VALUES[name]:
            raise CallError(f"parameter {name}: expected one of {VALUES.get(name, ())}, got {value!r}")
    return DEFAULTS | given


def run(
    channel: Channel,
    party: int,
    program: Program,
    inputs: dict[str, list[int]],
    given: dict[str, str],
    session: str | None = None,
    change: dict[str, object] | None = None,
) -> dict[str, list[int]]:
    """One run; the bits of each output that this party learns. `change` replaces fields of the hello."""
    values = parameters(given)
    settings = Settings(
        garble.SCHEMES[values["scheme"]], values["hash"], values["build"] == "ahead", int(values["ot-k"])
    )
    if any(port.owner > 1 for port in program.inputs) or any(n > 1 for port in program.outputs for n in port.to or ()):
        raise CallError("yao: expected a program of the parties 0 and 1, got one with others")
    if settings.scheme.name == "privacy-free" and program.input_bits(0):
        raise CallError(f"yao: privacy-free: expected no input of party 0, got {program.input_bits(0)} bits")
    schedules = order.schedules(program)
    if garble.has_tables(settings.scheme.name, settings.hash):
        settings.tabled = order.tables(program, schedules)
    stated = [*values.items(), ("schedule", order.digest(schedules, settings.tabled)[:SCHEDULE_BYTES].hex())]
    if session is not None:
        stated.append(("session", session))
    ours = hello.Hello(party, 2, "yao", program.digest(), stated)
    for name, value in (change or {}).items():
        setattr(ours, name, value)
    hello.meet(channel, ours)
    side = _garbler if party == 0 else _evaluator
    outputs = side(channel, program, schedules, inputs, settings)
    channel.close()
    found = {}
    at = 0
    for port in program.outputs:
        if port.reaches(party):
            found[port.name] = outputs[at : at + port.type.width]
            at += port.type.width
    return found


def _own_bits(program: Program, party: int, inputs: dict[str, list[int]]) -> list[int]:
    return [bit for port in program.inputs if port.owner == party for bit in inputs[port.name]]


def _split(program: Program, labels: tuple[list[int], list[int]]) -> list[list[int]]:
    """The labels of each input, from those of each party's input bits."""
    at = [0, 0]
    found = []
    for port in program.inputs:
        start = at[port.owner]
        at[port.owner] += port.type.width
        found.append(labels[port.owner][start : start + port.type.width])
    return found


def _selects(program: Program, party: int, labels: list[list[int]]) -> list[int]:
    """The select bits of the outputs of a party."""
    return [
        label & 1 for port, part in zip(program.outputs, labels, strict=True) if port.reaches(party) for label in part
    ]


def _garbler(
    channel: Channel,
    program: Program,
    schedules: list[order.Schedule],
    inputs: dict[str, list[int]],
    settings: Settings,
) -> list[int]:
    n0, n1 = program.input_bits(0), program.input_bits(1)
    delta = secrets.randbits(128) | 1
    free = settings.scheme.name == "privacy-free"
    ots = softspoken.Sender(channel, settings.k, delta)
    q: list[int] = []
    if n1:
        ots.set_up()
        q = ots.extend(n1)
    zeros = ([secrets.randbits(128) & (-2 if free else -1) for _ in range(n0)],) + (
        [secrets.randbits(128) & (-2 if free else -1) for _ in range(n1)],
    )
    one = delta ^ 1 if free else delta
    seed = secrets.randbits(128)
    scheme = settings.scheme
    walk = garble.Walk(program, schedules, (scheme, settings.hash, settings.tabled), _split(program, zeros), one, one)
    gates = garble.Gates(settings.scheme, garble.GateHash(settings.hash, settings.scheme, seed), delta)

    def build() -> list[list[int]]:
        channel.bulk(bytes_of(seed), "hash seed")
        tables: list[bytes] = []
        bits: list[int] = []

        def send(number: int, one: bytes, further: list[int]) -> None:
            tables.append(one)
            bits.extend(further)
            if len(tables) == order.CHUNK_ANDS or number + 1 == walk.ands:
                channel.bulk(garble.chunk(scheme, tables, bits), "tables")
                tables.clear()
                bits.clear()

        def gate(number: int, a: int, b: int) -> int:
            one, further, c = gates.garble(number, a, b)
            send(number, one, further)
            return c

        def table(number: int, component: int, labels: list[int]) -> list[int]:
            hashes = garble.TableHashes(settings.hash, seed, number)
            data, results = garble.garble_table(hashes, rows[component], labels, delta)
            for place in range(walk.places(component)):
                one = data[place * scheme.table_bytes : (place + 1) * scheme.table_bytes]
                send(number + place, one.ljust(scheme.table_bytes, b"\0"), [0] * scheme.further_bits)
            return results

        return walk.run(gate, table)

    rows = {one: garble.rows(program.components[one].circuit) for one in settings.tabled}
    labels = build() if settings.ahead else []
    if n1:
        corrections = unpack(
            channel.receive_bulk((n1 + 7) // 8, "corrections of choices"), n1, "corrections of choices"
        )
        masked = [x ^ y ^ bit * delta for x, y, bit in zip(zeros[1], q, corrections, strict=True)]
        channel.bulk(bytes_of_blocks(masked), "labels of party 1")
    own = _own_bits(program, 0, inputs)
    channel.bulk(bytes_of_blocks([x ^ bit * delta for x, bit in zip(zeros[0], own, strict=True)]), "labels of party 0")
    if not settings.ahead:
        labels = build()
    channel.bulk(pack(_selects(program, 1, labels)), "select bits")
    m0 = program.output_bits(0)
    theirs = unpack(channel.receive_bulk((m0 + 7) // 8, "select bits"), m0, "select bits of outputs")
    return [mine ^ their for mine, their in zip(_selects(program, 0, labels), theirs, strict=True)]


def _evaluator(
    channel: Channel,
    program: Program,
    schedules: list[order.Schedule],
    inputs: dict[str, list[int]],
    settings: Settings,
) -> list[int]:
    n0, n1 = program.input_bits(0), program.input_bits(1)
    scheme = settings.scheme
    free = scheme.name == "privacy-free"
    own = _own_bits(program, 1, inputs)
    ots = softspoken.Receiver(channel, settings.k)
    choices: list[int] = []
    t: list[int] = []
    if n1:
        ots.set_up()
        choices, t = ots.extend(n1)
    of_garbling = scheme, settings.hash, settings.tabled
    ands = garble.Walk(program, schedules, of_garbling, [], 0, 0).ands

    def receive() -> tuple[int, list[bytes]]:
        seed = block_of(channel.receive_bulk(16, "hash seed"))
        sizes = garble.chunk_sizes(ands)
        return seed, [channel.receive_bulk(garble.chunk_bytes(scheme, size), "tables") for size in sizes]

    ahead = receive() if settings.ahead else None
    labels: tuple[list[int], list[int]] = ([], [])
    if n1:
        channel.bulk(pack([x ^ c for x, c in zip(own, choices, strict=True)]), "corrections of choices")
        masked = blocks_of(channel.receive_bulk(16 * n1, "labels of party 1"))
        labels[1].extend(e ^ block for e, block in zip(masked, t, strict=True))
    labels[0].extend(blocks_of(channel.receive_bulk(16 * n0, "labels of party 0")))
    seed, chunks = ahead or receive()
    gates = garble.Gates(scheme, garble.GateHash(settings.hash, scheme, seed))
    one = 1 if free else 0
    walk = garble.Walk(program, schedules, of_garbling, _split(program, labels), one, one)
    further = [
        int.from_bytes(data[size * scheme.table_bytes :], "little")
        for data, size in zip(chunks, garble.chunk_sizes(ands), strict=True)
    ]

    def of_gate(number: int) -> bytes:
        which, place = divmod(number, order.CHUNK_ANDS)
        return chunks[which][place * scheme.table_bytes : (place + 1) * scheme.table_bytes]

    def gate(number: int, a: int, b: int) -> int:
        which, place = divmod(number, order.CHUNK_ANDS)
        bits = further[which] >> (5 * place) & 31 if scheme.further_bits else 0
        return gates.evaluate(number, a, b, of_gate(number), bits)

    def table(number: int, component: int, labels: list[int]) -> list[int]:
        hashes = garble.TableHashes(settings.hash, seed, number)
        data = b"".join(of_gate(number + place) for place in range(walk.places(component)))
        return garble.evaluate_table(hashes, labels, len(program.components[component].circuit.outputs), data)

    outputs = walk.run(gate, table)
    m1 = program.output_bits(1)
    theirs = unpack(channel.receive_bulk((m1 + 7) // 8, "select bits"), m1, "select bits of outputs")
    channel.bulk(pack(_selects(program, 0, outputs)), "select bits")
    return [mine ^ their for mine, their in zip(_selects(program, 1, outputs), theirs, strict=True)]
