"""The order of gates: folding, windows, slots, copies and the digest (file 6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .notation import b3_derive, u32, u64
from .program import AND, FROM_INSTANCE, NOT, ONE, XOR, Circuit, Program

NARROW = 4096
WIDE = 65536
SLOTS = 2048
LANES = 4
CHUNK_ANDS = 4096
TABLE_INPUTS = range(2, 17)
TABLE_OUTPUTS = range(1, 129)
TABLE_GATES = 1 << 20
TABLE_WORK = 1 << 28
TABLE_GATE_BYTES = 24

# A literal is `2 * node + flag`.
FALSE, TRUE = 0, 1


@dataclass
class Schedule:
    """A component's gates in order, as `(is_and, number, a, b)` with literals, and its batches of AND gates."""

    inputs: int
    outputs: list[int]
    steps: list[tuple[list[int], list[int]]] = field(default_factory=list)
    gates: list[tuple[bool, int, int]] = field(default_factory=list)
    slots: int = 0

    @property
    def ands(self) -> int:
        return sum(len(batch) for _, batch in self.steps)

    def digest(self, by_depth: bool = False) -> bytes:
        """A component's digest (file 6, "Digest")."""
        out = [u64(0)] if by_depth else [u64(3), u64(NARROW), u64(WIDE), u64(SLOTS)]
        for _, batch in self.steps:
            if batch:
                out.append(u64(len(batch)))
                out += [u32(gate) + b"".join(map(_literal, self.gates[gate][1:])) for gate in batch]
        out += [u64(0), u64(len(self.outputs))]
        out += [_literal(literal) for literal in self.outputs]
        return b3_derive("garblet 2026 schedule v1", b"".join(out))


def _literal(literal: int) -> bytes:
    return u32(literal >> 1) + u32(literal & 1)


def fold(circuit: Circuit) -> tuple[list[tuple[bool, int, int]], list[int]]:
    """The folded gates `(is_and, a, b)` and the output literals (file 6, "Folding")."""
    literals = [2 * (i + 1) for i in range(circuit.inputs)]
    gates: list[tuple[bool, int, int]] = []
    next_node = circuit.inputs + 1
    for kind, first, second in circuit.gates:
        if kind == NOT:
            literals.append(literals[first] ^ 1)
        elif kind == XOR:
            a, b = literals[first], literals[second]
            if a <= 1:
                literals.append(b ^ a)
            elif b <= 1 or a >> 1 == b >> 1:
                literals.append(a ^ b)
            else:
                gates.append((False, a & ~1, b & ~1))
                literals.append(2 * next_node | (a ^ b) & 1)
                next_node += 1
        elif kind == AND:
            a, b = literals[first], literals[second]
            if a == TRUE or a == b:
                literals.append(b)
            elif b == TRUE:
                literals.append(a)
            elif a == FALSE or b == FALSE or a >> 1 == b >> 1:
                literals.append(FALSE)
            else:
                gates.append((True, a, b))
                literals.append(2 * next_node)
                next_node += 1
        else:
            literals.append(TRUE if kind == ONE else FALSE)
    return gates, [literals[wire] for wire in circuit.outputs]


def _live(inputs: int, gates: list[tuple[bool, int, int]], outputs: list[int]) -> list[bool]:
    live = [False] * (inputs + 1 + len(gates))
    for literal in outputs:
        live[literal >> 1] = True
    for g in range(len(gates) - 1, -1, -1):
        if live[inputs + 1 + g]:
            _, a, b = gates[g]
            live[a >> 1] = live[b >> 1] = True
    return live


def _windows(inputs: int, gates: list[tuple[bool, int, int]], live: list[bool], window: int) -> list[tuple[int, int]]:
    """The order of the live gates, each with its key (file 6, "Levels and windows")."""
    order: list[tuple[int, int]] = []
    depth = [(0, 0)] * (inputs + 1 + len(gates))
    base = 0
    for start in range(0, len(gates), window):
        deepest = base
        found: list[tuple[int, int, int]] = []
        for g in range(start, min(start + window, len(gates))):
            node = inputs + 1 + g
            if not live[node]:
                continue
            is_and, a, b = gates[g]
            level, chain = max((base, 0), depth[a >> 1], depth[b >> 1])
            if is_and:
                depth[node] = (level + 1, 0)
                found.append((2 * level + 1, 0, g))
            else:
                depth[node] = (level, chain + 1)
                found.append((2 * level, chain, g))
            deepest = max(deepest, depth[node][0])
        found.sort()
        order += [(key, g) for key, _, g in found]
        base = deepest
    return order


def _cut(gates: list[tuple[bool, int, int]], order: list[tuple[int, int]]) -> list[tuple[list[int], list[int]]]:
    """Steps (file 6, "Steps")."""
    steps: list[tuple[list[int], list[int]]] = []
    at = 0
    while at < len(order):
        xors: list[int] = []
        ands: list[int] = []
        while at < len(order) and not gates[order[at][1]][0]:
            xors.append(order[at][1])
            at += 1
        key = order[at][0] if at < len(order) else None
        while at < len(order) and gates[order[at][1]][0] and order[at][0] == key:
            ands.append(order[at][1])
            at += 1
        steps.append((xors, ands))
    return steps


def _slots(schedule: Schedule, live: list[bool]) -> int:
    """Slots of the memory (file 6, "Slots")."""
    readers = [0] * len(live)
    for g, (_, a, b) in enumerate(schedule.gates):
        if live[schedule.inputs + 1 + g]:
            readers[a >> 1] += 1
            readers[b >> 1] += 1
    for literal in schedule.outputs:
        if literal > 1:
            readers[literal >> 1] += 1
    slots = schedule.inputs
    free = sum(1 for node in range(1, schedule.inputs + 1) if not readers[node])
    for xors, ands in schedule.steps:
        for g in xors:
            for operand in schedule.gates[g][1:]:
                readers[operand >> 1] -= 1
                free += not readers[operand >> 1]
            if free:
                free -= 1
            else:
                slots += 1
        taken = min(free, len(ands))
        free -= taken
        slots += len(ands) - taken
        for g in ands:
            for operand in schedule.gates[g][1:]:
                readers[operand >> 1] -= 1
                free += not readers[operand >> 1]
    return slots


def schedule(circuit: Circuit, by_depth: bool = False) -> Schedule:
    """A component's schedule (file 6, "The choice of the window" and "By depth")."""
    gates, outputs = fold(circuit)
    live = _live(circuit.inputs, gates, outputs)

    def make(window: int) -> Schedule:
        steps = _cut(gates, _windows(circuit.inputs, gates, live, window))
        made = Schedule(circuit.inputs, outputs, steps, gates)
        made.slots = _slots(made, live)
        return made

    if by_depth:
        return make(max(1, len(gates)))
    wide = make(WIDE)
    if wide.slots <= SLOTS or len(gates) <= NARROW:
        return wide
    narrow = make(NARROW)
    return narrow if narrow.slots < wide.slots else wide


def schedules(program: Program, by_depth: bool = False) -> list[Schedule]:
    return [schedule(component.circuit, by_depth) for component in program.components]


def table_bytes(inputs: int, outputs: int) -> int:
    """`S`, the bytes of a garbled table (file 6, "Tables of components")."""
    return 16 * (inputs - 2) + 16 * inputs * outputs + sum(((outputs << k) + 7) // 8 for k in range(inputs))


def tables(program: Program, made: list[Schedule]) -> list[int]:
    """The components that are garbled as tables, where the scheme and the hash allow it (file 6, "Tables of components")."""

    def shorter(circuit: Circuit, ands: int) -> bool:
        inputs, outputs = circuit.inputs, len(circuit.outputs)
        shape = (
            inputs in TABLE_INPUTS
            and outputs in TABLE_OUTPUTS
            and len(circuit.gates) <= TABLE_GATES
            and len(circuit.gates) << inputs <= TABLE_WORK
        )
        return shape and -(-table_bytes(inputs, outputs) // TABLE_GATE_BYTES) < ands

    each = zip(program.components, made, strict=True)
    return [number for number, (one, schedule) in enumerate(each) if shorter(one.circuit, schedule.ands)]


def digest(made: list[Schedule], tabled: list[int]) -> bytes:
    """The digest of a program's schedules, by windows (file 6, "Digest")."""
    counts = u64(2 + len(tabled)) + u64(LANES) + u64(CHUNK_ANDS) + b"".join(map(u64, tabled))
    return b3_derive("garblet 2026 schedules v1", counts + b"".join(one.digest() for one in made))


def groups(program: Program, four: bool, tabled: list[int]) -> list[list[int]]:
    """Instances that run side by side, in order (file 6, "Instances and copies")."""
    found = []
    i = 0
    while i < len(program.instances):
        copies = program.instances[i : i + LANES]
        together = (
            four
            and len(copies) == LANES
            and len({copy.component for copy in copies}) == 1
            and copies[0].component not in tabled
            and not any(link.kind == FROM_INSTANCE and link.index >= i for copy in copies[1:] for link in copy.links)
        )
        found.append(list(range(i, i + LANES)) if together else [i])
        i += LANES if together else 1
    return found
