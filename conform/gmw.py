"""The protocol `gmw`: file 11 of the specification."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from . import hello, order, softspoken, wire
from .notation import Aes, CallError, Disagreement, pack, u64, unpack
from .program import AND, FROM_CONSTANT, FROM_INPUT, NOT, ONE, XOR, ZERO, Circuit, Link, Program
from .wire import Channel, Tamper

CHUNK = 16384
SILENT_FROM = 200000
PARTIES_MAX = 255
DEFAULTS = {"form": "triples", "ot-k": "4", "ot": "extension"}
VALUES = {"form": ("triples", "2012"), "ot-k": ("4", "2", "8"), "ot": ("extension", "silent")}


def flatten(program: Program) -> Circuit:
    """The program as one circuit (file 11, "The circuit")."""
    circuit = Circuit(sum(port.type.width for port in program.inputs))
    inputs, at = [], 0
    for port in program.inputs:
        inputs.append(list(range(at, at + port.type.width)))
        at += port.type.width
    results: list[list[int]] = []

    def feed(links: list[Link]) -> list[int]:
        wires: list[int] = []
        for link in links:
            if link.kind == FROM_CONSTANT:
                wires += [circuit.append(ONE if link.index else ZERO)] * link.length
            else:
                source = inputs[link.index] if link.kind == FROM_INPUT else results[link.index]
                wires += source[link.start : link.start + link.length]
        return wires

    for instance in program.instances:
        component = program.components[instance.component].circuit
        wires = feed(instance.links)
        for kind, a, b in component.gates:
            if kind in (XOR, AND):
                wires.append(circuit.append(kind, wires[a], wires[b]))
            elif kind == NOT:
                wires.append(circuit.append(NOT, wires[a]))
            else:
                wires.append(circuit.append(kind))
        results.append([wires[wire] for wire in component.outputs])
    for output in program.outputs:
        circuit.outputs += feed(output.links)
    return circuit


@dataclass
class Pair:
    """What a party has with one peer."""

    peer: int
    channel: Channel
    sender: softspoken.Sender
    receiver: softspoken.Receiver
    our_seed: int = 0
    their_seed: int = 0
    pads: list[tuple[int, int]] = field(default_factory=list)
    choices: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    their_corrections: list[int] = field(default_factory=list)


class _PadBits:
    """Bit 0 of `P(i, y)` for numbers in ascending order (file 8, "Random OT")."""

    def __init__(self, session: int) -> None:
        self._session = session
        self._period = -1
        self._aes = Aes(session)

    def __call__(self, number: int, blocks: list[int]) -> list[int]:
        period = number // softspoken.OTS_PER_KEY
        if period != self._period:
            self._period, self._aes = period, Aes(self._session ^ period)
        ys = self._aes.blocks(blocks)
        return [(h ^ y) & 1 for h, y in zip(self._aes.blocks([y ^ number for y in ys]), ys, strict=True)]


def connect(addresses: list[str], party: int, session: str | None, tamper: Tamper | None = None) -> dict[int, Channel]:
    """Join the mesh (file 4, "Joining a mesh")."""
    parties = len(addresses)
    channels = {}
    listener = wire.listen(addresses[party]) if party < parties - 1 else None
    for peer in range(party):
        channels[peer] = Channel(wire.connect(addresses[peer]), tamper)
        hello.join(channels[peer], party, parties, peer, session)
    while listener is not None and len(channels) < parties - 1:
        channel = Channel(listener.accept()[0], tamper)
        peer = hello.join(channel, party, parties, None, session)
        if peer in channels:
            raise Disagreement(f"party {peer}: expected each party once, got it twice")
        channels[peer] = channel
    if listener is not None:
        listener.close()
    return channels


def run(
    channels: dict[int, Channel],
    party: int,
    program: Program,
    inputs: dict[str, list[int]],
    given: dict[str, str],
    session: str | None = None,
) -> dict[str, list[int]]:
    """One run on a joined mesh; the bits of each output that this party learns."""
    for name, value in given.items():
        if name not in VALUES or value not in VALUES[name]:
            raise CallError(f"parameter {name}: expected one of {VALUES.get(name, ())}, got {value!r}")
    values = DEFAULTS | given
    parties = len(channels) + 1
    schedule = order.schedule(flatten(program), by_depth=True)
    ands = schedule.ands
    if values["ot"] == "silent" and ands >= SILENT_FROM:
        raise CallError(f"gmw: silent OT is not supported: expected less than {SILENT_FROM} AND gates, got {ands}")
    stated = [*values.items(), ("schedule", schedule.digest(by_depth=True)[:16].hex())]
    stated += [("session", session)] if session else []
    ours = hello.Hello(party, parties, "gmw", program.digest(), stated)
    peers = sorted(channels)
    for peer in peers:
        hello.send(channels[peer], ours)
    for peer in peers:
        hello.conclude(channels[peer], ours, hello.receive(channels[peer]))
    k = int(values["ot-k"])
    pairs = []
    for peer in peers:
        channels[peer].write_in_background()
        delta = secrets.randbits(128) | 1
        pairs.append(
            Pair(
                peer,
                channels[peer],
                softspoken.Sender(channels[peer], k, delta),
                softspoken.Receiver(channels[peer], k),
            )
        )
    for pair in pairs:
        _set_up(pair, party)
    both = values["form"] == "triples"
    a, b, c = _prepare(pairs, ands, both)
    shares = _input_shares(pairs, party, program, inputs)
    for pair in pairs:
        pair.channel.bulk(u64(0), "number of the run")
    for pair in pairs:
        number = int.from_bytes(pair.channel.receive_bulk(8, "number of the run"), "little")
        if number:
            raise Disagreement(f"number of the run: expected 0, got {number}")
    outputs = _online(pairs, party, schedule, shares, both, a, b, c)
    found = _open(pairs, party, program, outputs)
    for pair in pairs:
        pair.channel.send_close()
    for pair in pairs:
        pair.channel.await_close()
    return found


def _set_up(pair: Pair, party: int) -> None:
    """File 11, "Set-up, with each peer"."""
    seed = secrets.token_bytes(16)
    pair.our_seed = int.from_bytes(seed, "little")
    pair.channel.bulk(seed, "seed of shares")
    pair.their_seed = int.from_bytes(pair.channel.receive_bulk(16, "seed of shares"), "little")
    for side in (pair.sender, pair.receiver) if party < pair.peer else (pair.receiver, pair.sender):
        side.set_up()


def _prepare(pairs: list[Pair], ands: int, triples: bool) -> tuple[list[int], list[int], list[int]]:
    """Random OTs, and triples of them (file 11, "Preparation")."""
    a, b = [secrets.randbits(1) for _ in range(ands)], [secrets.randbits(1) for _ in range(ands)]
    hashes = {pair.peer: (_PadBits(pair.sender.session), _PadBits(pair.receiver.session)) for pair in pairs if ands}
    sizes = [(start, min(CHUNK, ands - start)) for start in range(0, ands, CHUNK)]
    for start, n in sizes:
        for pair in pairs:
            choices, ts = pair.receiver.extend(n)
            received = hashes[pair.peer][1]
            pair.choices += choices
            pair.chosen += [received(start + i, [t])[0] for i, t in enumerate(ts)]
            if triples:
                masked = [x ^ s for x, s in zip(a[start : start + n], choices, strict=True)]
                pair.channel.bulk(pack(masked), "corrections of a")
    for start, n in sizes:
        for pair in pairs:
            sent, delta = hashes[pair.peer][0], pair.sender.delta
            for i, q in enumerate(pair.sender.extend(n)):
                p0, p1 = sent(start + i, [q, q ^ delta])
                pair.pads.append((p0, p1))
            if triples:
                data = pair.channel.receive_bulk((n + 7) // 8, "corrections of a")
                pair.their_corrections += unpack(data, n, "corrections of a")
    c = [x & y for x, y in zip(a, b, strict=True)]
    if triples and ands:
        for pair in pairs:
            e = [p0 ^ p1 ^ y for (p0, p1), y in zip(pair.pads, b, strict=True)]
            pair.channel.bulk(pack(e), "corrections of b")
        for pair in pairs:
            e = unpack(pair.channel.receive_bulk((ands + 7) // 8, "corrections of b"), ands, "corrections of b")
            for i, (p0, p1) in enumerate(pair.pads):
                c[i] ^= p0 ^ (p0 ^ p1) & pair.their_corrections[i] ^ pair.chosen[i] ^ a[i] & e[i]
    return a, b, c


def _stream(seed: int, count: int) -> list[int]:
    """The first bits of the share stream of run 0 (file 11, "Shares of inputs")."""
    aes = Aes(Aes(seed).block(0))
    n = int.from_bytes(aes.stream(0, -(-count // 128)), "little")
    return [n >> i & 1 for i in range(count)]


def _input_shares(pairs: list[Pair], party: int, program: Program, inputs: dict[str, list[int]]) -> list[int]:
    own = [bit for port in program.inputs if port.owner == party for bit in inputs[port.name]]
    streams: dict[int, list[int]] = {}
    for pair in pairs:
        for i, bit in enumerate(_stream(pair.our_seed, len(own))):
            own[i] ^= bit
        streams[pair.peer] = _stream(pair.their_seed, program.input_bits(pair.peer))
    streams[party] = own
    at = dict.fromkeys(streams, 0)
    shares = []
    for port in program.inputs:
        start = at[port.owner]
        at[port.owner] += port.type.width
        shares += streams[port.owner][start : at[port.owner]]
    return shares


def _online(
    pairs: list[Pair],
    party: int,
    schedule: order.Schedule,
    inputs: list[int],
    triples: bool,
    a: list[int],
    b: list[int],
    c: list[int],
) -> list[int]:
    """The shares of all outputs (file 11, "Online")."""
    first = int(party == 0)
    memory = [0, *inputs] + [0] * len(schedule.gates)
    base = schedule.inputs + 1

    def read(literal: int) -> int:
        return memory[literal >> 1] ^ (literal & first)

    done = 0
    for xors, ands in schedule.steps:
        for g in xors:
            _, left, right = schedule.gates[g]
            memory[base + g] = memory[left >> 1] ^ memory[right >> 1]
        if not ands:
            continue
        x = [read(schedule.gates[g][1]) for g in ands]
        y = [read(schedule.gates[g][2]) for g in ands]
        m = len(ands)
        here = slice(done, done + m)
        results = (
            _layer_of_triples(pairs, first, x, y, a[here], b[here], c[here])
            if triples
            else _layer_of_2012(pairs, x, y, here)
        )
        for g, result in zip(ands, results, strict=True):
            memory[base + g] = result
        done += m
    return [read(literal) for literal in schedule.outputs]


def _layer_of_triples(
    pairs: list[Pair], first: int, x: list[int], y: list[int], a: list[int], b: list[int], c: list[int]
) -> list[int]:
    """File 11, "With triples"."""
    m = len(x)
    size = (m + 7) // 8
    d = [one ^ two for one, two in zip(x, a, strict=True)]
    e = [one ^ two for one, two in zip(y, b, strict=True)]
    for pair in pairs:
        pair.channel.bulk(pack(d) + pack(e), "layer")
    for pair in pairs:
        data = pair.channel.receive_bulk(2 * size, "layer")
        d = [one ^ two for one, two in zip(d, unpack(data[:size], m, "layer"), strict=True)]
        e = [one ^ two for one, two in zip(e, unpack(data[size:], m, "layer"), strict=True)]
    return [c[i] ^ d[i] & b[i] ^ e[i] & a[i] ^ first & d[i] & e[i] for i in range(m)]


def _layer_of_2012(pairs: list[Pair], x: list[int], y: list[int], here: slice) -> list[int]:
    """File 11, "With `2012`"."""
    m = len(x)
    size = (m + 7) // 8
    results = [one & two for one, two in zip(x, y, strict=True)]
    for pair in pairs:
        pair.channel.bulk(pack([one ^ s for one, s in zip(x, pair.choices[here], strict=True)]), "choices of a layer")
    for pair in pairs:
        g = unpack(pair.channel.receive_bulk(size, "choices of a layer"), m, "choices of a layer")
        r = [secrets.randbits(1) for _ in range(m)]
        pads = pair.pads[here]
        zeros = [p0 ^ (p0 ^ p1) & g[i] ^ r[i] for i, (p0, p1) in enumerate(pads)]
        ones = [p1 ^ (p0 ^ p1) & g[i] ^ r[i] ^ y[i] for i, (p0, p1) in enumerate(pads)]
        pair.channel.bulk(pack(zeros) + pack(ones), "masked bits of a layer")
        results = [one ^ two for one, two in zip(results, r, strict=True)]
    for pair in pairs:
        data = pair.channel.receive_bulk(2 * size, "masked bits of a layer")
        t = [unpack(data[:size], m, "masked bits of a layer"), unpack(data[size:], m, "masked bits of a layer")]
        results = [
            result ^ p ^ t[bit][i] for i, (result, p, bit) in enumerate(zip(results, pair.chosen[here], x, strict=True))
        ]
    return results


def _open(pairs: list[Pair], party: int, program: Program, shares: list[int]) -> dict[str, list[int]]:
    """File 11, "Outputs"."""
    parts, at = [], 0
    for port in program.outputs:
        parts.append(shares[at : at + port.type.width])
        at += port.type.width

    def of(who: int) -> list[int]:
        return [bit for port, part in zip(program.outputs, parts, strict=True) if port.reaches(who) for bit in part]

    values = of(party)
    for pair in pairs:
        pair.channel.bulk(pack(of(pair.peer)), "shares of outputs")
    for pair in pairs:
        data = pair.channel.receive_bulk((len(values) + 7) // 8, "shares of outputs")
        values = [one ^ two for one, two in zip(values, unpack(data, len(values), "shares of outputs"), strict=True)]
    found, at = {}, 0
    for port in program.outputs:
        if port.reaches(party):
            found[port.name] = values[at : at + port.type.width]
            at += port.type.width
    return found
