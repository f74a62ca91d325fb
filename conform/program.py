"""Programs: the graph, program files in JSON, Bristol Fashion, and the digest (file 5)."""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import types_of
from .notation import CallError, b3_derive, u32, u64
from .types_of import Type, text

XOR, AND, NOT, ZERO, ONE = range(5)
FROM_INPUT, FROM_INSTANCE, FROM_CONSTANT = range(3)
ORDERS = ["ascending once", "ascending", "descending"]


@dataclass
class Circuit:
    """Gates are `(kind, a, b)`; operands that a kind lacks are 0."""

    inputs: int
    gates: list[tuple[int, int, int]] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def append(self, kind: int, a: int = 0, b: int = 0) -> int:
        self.gates.append((kind, a, b))
        return self.inputs + len(self.gates) - 1


@dataclass
class Component:
    inputs: list[tuple[str, Type]]
    outputs: list[tuple[str, Type]]
    circuit: Circuit


@dataclass(frozen=True)
class Link:
    """`kind` is FROM_INPUT, FROM_INSTANCE or FROM_CONSTANT, as in the digest."""

    kind: int
    index: int
    start: int
    length: int


@dataclass
class Input:
    name: str
    type: Type
    owner: int
    order: int | None = None
    below: int | None = None


@dataclass
class Instance:
    component: int
    links: list[Link]


@dataclass
class Output:
    name: str
    type: Type
    to: list[int] | None
    links: list[Link]

    def reaches(self, party: int) -> bool:
        return self.to is None or party in self.to


@dataclass
class Program:
    components: list[Component]
    inputs: list[Input]
    instances: list[Instance]
    outputs: list[Output]

    def input_bits(self, party: int) -> int:
        return sum(port.type.width for port in self.inputs if port.owner == party)

    def output_bits(self, party: int) -> int:
        return sum(port.type.width for port in self.outputs if port.reaches(party))

    def digest(self) -> bytes:
        return b3_derive("garblet 2026 program v1", encode(self))


# The digest


def _ports(ports: list[tuple[str, Type]]) -> list[bytes]:
    return [text(name) + kind.digest() for name, kind in ports]


def _list(items: list[bytes]) -> bytes:
    return u64(len(items)) + b"".join(items)


def _links(links: list[Link]) -> bytes:
    return _list([b"".join(map(u32, (link.kind, link.index, link.start, link.length))) for link in links])


_OPERANDS = {XOR: 2, AND: 2, NOT: 1, ZERO: 0, ONE: 0}


def _circuit(circuit: Circuit) -> bytes:
    gates = [b"".join([n.to_bytes(4, "little") for n in gate[: 1 + _OPERANDS[gate[0]]]]) for gate in circuit.gates]
    return u32(circuit.inputs) + _list(gates) + _list([u32(wire) for wire in circuit.outputs])


def _component(component: Component) -> bytes:
    return _list(_ports(component.inputs)) + _list(_ports(component.outputs)) + _circuit(component.circuit)


def encode(program: Program) -> bytes:
    """`E` of the digest (file 5, "Digest")."""
    out = _list([_component(component) for component in program.components])
    out += _list([text(port.name) + port.type.digest() + u32(port.owner) for port in program.inputs])
    out += _list([u32(instance.component) + _links(instance.links) for instance in program.instances])
    outputs = []
    for port in program.outputs:
        to = u32(0) if port.to is None else u32(1) + _list([u32(party) for party in port.to])
        outputs.append(text(port.name) + port.type.digest() + to + _links(port.links))
    out += _list(outputs)
    for number, relied in enumerate(program.inputs):
        if relied.order is None and relied.below is None:
            continue
        element = relied.type.of()
        key_bits = element.fields[0][1].width if element.kind == "record" else element.width
        if relied.order is not None:
            out += u32(0) + u32(number) + u32(key_bits) + u32(relied.order)
        if relied.below is not None:
            out += u32(1) + u32(number) + u32(key_bits) + u64(relied.below)
    return out


# Program files

_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_STATEMENT = re.compile(r"\s*(\S+?)\s*=\s*([^&^]+?)\s*(?:([&^])\s*([^&^]+?)\s*)?")
_WIRE = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)(?:\[(\d+)\])?")
_SOURCE = re.compile(r"([A-Za-z_][\w-]*)(?:\[(\d+)\](?=\.))?(?:\.([A-Za-z_][\w-]*))?(?:\[(\d+)(?:\.\.(\d+))?\])?")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise CallError(f"program file: the key {key!r} occurs twice")
        found[key] = value
    return found


def _compile(name: str, source: dict[str, Any]) -> Component:
    """A component of a program file (file 5, "Gates")."""
    unknown = set(source) - {"inputs", "outputs", "gates"}
    if unknown or "gates" not in source:
        raise CallError(f"component {name!r}: expected inputs, outputs and gates, got {sorted(source)}")
    inputs = [(port, types_of.parse(kind)) for port, kind in source["inputs"].items()]
    outputs = [(port, types_of.parse(kind)) for port, kind in source["outputs"].items()]
    widths = {port: kind.width for port, kind in (*inputs, *outputs)}
    wires: dict[tuple[str, int], int] = {}
    for port, kind in inputs:
        for i in range(kind.width):
            wires[port, i] = len(wires)
    circuit = Circuit(len(wires))

    def key(operand: str) -> tuple[str, int]:
        found = _WIRE.fullmatch(operand)
        if not found:
            raise CallError(f"component {name!r}: expected a wire, got {operand!r}")
        if found[2] is None and widths.get(found[1], 1) != 1:
            raise CallError(
                f"component {name!r}: expected an index after {operand!r}, which has {widths[found[1]]} wires"
            )
        return found[1], int(found[2] or 0)

    def read(operand: str) -> int:
        negated = operand.startswith("!")
        operand = operand[1:].strip() if negated else operand
        if operand in ("0", "1"):
            wire = circuit.append(ONE if operand == "1" else ZERO)
        elif (place := key(operand)) in wires:
            wire = wires[place]
        else:
            raise CallError(f"component {name!r}: the wire {operand!r} is not set before it is read")
        return circuit.append(NOT, wire) if negated else wire

    for statement in source["gates"]:
        found = _STATEMENT.fullmatch(statement)
        if not found:
            raise CallError(f"component {name!r}: expected `target = operand`, got {statement!r}")
        target, first, gate, second = found.groups()
        wire = read(first)
        if gate:
            other = read(second)
            wire = circuit.append(AND if gate == "&" else XOR, wire, other)
        place = key(target)
        if place in wires:
            raise CallError(f"component {name!r}: {target!r} is set twice")
        wires[place] = wire
    for port, kind in outputs:
        for i in range(kind.width):
            if (port, i) not in wires:
                raise CallError(f"component {name!r}: wire {i} of the output {port!r} is not set")
            circuit.outputs.append(wires[port, i])
    return Component(inputs, outputs, circuit)


def from_json(source: str) -> Program:
    """The program of a program file (file 5, "Program files")."""
    plain = _COMMENT.sub(lambda found: found[1] or " ", source)
    file = json.loads(plain, object_pairs_hook=_unique)
    if type(of := file.get("format", 1)) is not int or of != 1:
        raise CallError(f"program file: is of format {of!r}, expected 1")
    unknown = set(file) - {"format", "name", "components", "inputs", "instances", "outputs"}
    if unknown:
        raise CallError(f"program file: unexpected keys {sorted(unknown)}")
    names = {name: number for number, name in enumerate(file["components"])}
    components = [_compile(name, component) for name, component in file["components"].items()]
    inputs = []
    for name, port in file["inputs"].items():
        order = ORDERS.index(port["order"]) if "order" in port else None
        inputs.append(Input(name, types_of.parse(port["type"]), port["owner"], order, port.get("below")))
    input_numbers = {port.name: number for number, port in enumerate(inputs)}
    entries: dict[str, Any] = file.get("instances", {})
    for name, entry in entries.items():
        if name in input_numbers:
            raise CallError(f"instance {name!r}: expected another name than that of an input")
        if "repeat" in entry or "first" in entry:
            raise CallError(f"instance {name!r}: `repeat` and `first` are not supported, convert the program first")

    def sources(feed: Any) -> Iterator[tuple[int, str, int, int]]:
        """Links with the name of the instance in place of its number."""
        for one in feed if isinstance(feed, list) else [feed]:
            if isinstance(one, bool):
                yield FROM_CONSTANT, str(int(one)), 0, 1
            elif isinstance(one, dict):
                for run in re.finditer(r"0+|1+", one["bits"]):
                    yield FROM_CONSTANT, run[0][0], 0, len(run[0])
            else:
                yield named(one)

    def named(source: str) -> tuple[int, str, int, int]:
        found = _SOURCE.fullmatch(source)
        if not found or found[2]:
            raise CallError(f"program file: expected a source of wires, got {source!r}")
        name, _, port, low, high = found.groups()
        start = 0
        if name in entries and (port is not None or name not in input_numbers):
            kind, ports = FROM_INSTANCE, components[names[entries[name]["of"]]].outputs
            width = sum(part.width for _, part in ports)
            if port is not None:
                place = [part for part, _ in ports].index(port)
                start = sum(part.width for _, part in ports[:place])
                width = ports[place][1].width
        elif name in input_numbers and port is None:
            kind, width = FROM_INPUT, inputs[input_numbers[name]].type.width
        else:
            raise CallError(f"program file: no input or instance {source!r}")
        first = int(low) if low is not None else 0
        last = int(high) if high is not None else first + 1 if low is not None else width
        if not first <= last <= width:
            raise CallError(f"program file: {source!r} is beyond the {width} wires of its source")
        return kind, name, start + first, last - first

    fed: dict[str, list[tuple[int, str, int, int]]] = {}
    for name, entry in entries.items():
        ports = components[names[entry["of"]]].inputs
        fed[name] = [link for port, _ in ports for link in sources(entry["in"][port])]

    # The order of instances (file 5): a walk by depth, without recursion.
    numbers: dict[str, int] = {}
    for root in entries:
        stack = [(root, iter(fed[root]))] if root not in numbers else []
        open_names = {root}
        while stack:
            name, rest = stack[-1]
            for kind, source_name, _, _ in rest:
                if kind == FROM_INSTANCE and source_name not in numbers:
                    if source_name in open_names:
                        raise CallError(f"program file: a cycle through the instance {source_name!r}")
                    open_names.add(source_name)
                    stack.append((source_name, iter(fed[source_name])))
                    break
            else:
                numbers[name] = len(numbers)
                stack.pop()
                open_names.discard(name)

    def resolve(links: list[tuple[int, str, int, int]]) -> list[Link]:
        tables = {FROM_INPUT: input_numbers, FROM_INSTANCE: numbers, FROM_CONSTANT: {"0": 0, "1": 1}}
        return [Link(kind, tables[kind][name], start, length) for kind, name, start, length in links]

    instances = [Instance(names[entries[name]["of"]], resolve(fed[name])) for name in numbers]
    outputs = []
    for name, port in file["outputs"].items():
        to = port.get("to", "all")
        recipients = None if to == "all" else sorted(set(to)) if isinstance(to, list) else [to]
        outputs.append(Output(name, types_of.parse(port["type"]), recipients, resolve(list(sources(port["from"])))))
    return check(Program(components, inputs, instances, outputs))


def check(program: Program) -> Program:
    """Links have the widths of what they feed."""
    for number, instance in enumerate(program.instances):
        fed = sum(link.length for link in instance.links)
        wires = program.components[instance.component].circuit.inputs
        if fed != wires:
            raise CallError(f"instance {number}: expected {wires} wires, got {fed}")
    for port in program.outputs:
        if (fed := sum(link.length for link in port.links)) != port.type.width:
            raise CallError(f"output {port.name!r}: expected {port.type.width} wires, got {fed}")
    return program


# Bristol Fashion


def from_bristol(source: str) -> Program:
    """The program of a circuit in Bristol Fashion or the older Bristol format (file 5, "Bristol Fashion")."""
    lines = [words for line in source.splitlines() if (words := re.sub(r"(#|//).*", "", line).split())]
    gates, wires = int(lines[0][0]), int(lines[0][1])
    fashion = len(lines) > 2 and lines[2][-1].isdigit()
    if fashion:
        widths, results, rest = [int(n) for n in lines[1][1:]], [int(n) for n in lines[2][1:]], lines[3:]
    else:
        first, second, result = (int(n) for n in lines[1])
        widths, results, rest = [first, second] if second else [first], [result], lines[2:]
    if len(rest) != gates:
        raise CallError(f"circuit: expected {gates} lines of gates, got {len(rest)}")
    circuit = Circuit(sum(widths))
    names: list[int | None] = [None] * wires
    for i in range(circuit.inputs):
        names[i] = i

    waiting: dict[int, list[int]] = {}
    missing: dict[int, int] = {}

    def append(words: list[str]) -> list[int]:
        """Append the gates of a line, and return the wires that it sets."""
        kind, into, out = words[-1], int(words[0]), [int(words[2 + int(words[0])])]
        if kind == "EQ":
            names[out[0]] = circuit.append(ONE if words[2] == "1" else ZERO)
            return out
        operands = []
        for word in words[2 : 2 + into]:
            wire = names[int(word)]
            assert wire is not None
            operands.append(wire)
        a, b = operands[0], operands[-1]
        match kind:
            case "XOR":
                result = circuit.append(XOR, a, b)
            case "AND":
                result = circuit.append(AND, a, b)
            case "INV" | "NOT":
                result = circuit.append(NOT, a)
            case "EQW":
                result = a
            case "NAND":
                result = circuit.append(NOT, circuit.append(AND, a, b))
            case "XNOR":
                result = circuit.append(NOT, circuit.append(XOR, a, b))
            case "OR" | "LOR" | "NOR":
                both_xor, both_and = circuit.append(XOR, a, b), circuit.append(AND, a, b)
                result = circuit.append(XOR, both_xor, both_and)
                if kind == "NOR":
                    result = circuit.append(NOT, result)
            case "MAND":
                half = into // 2
                out = [int(word) for word in words[2 + into : -1]]
                for k, name in enumerate(out):
                    names[name] = circuit.append(AND, operands[k], operands[half + k])
                return out
            case _:
                raise CallError(f"circuit: unknown gate {kind!r}")
        names[out[0]] = result
        return out

    for number, words in enumerate(rest):
        reads = [] if words[-1] == "EQ" else {int(word) for word in words[2 : 2 + int(words[0])]}
        lacking = [name for name in reads if names[name] is None]
        if lacking:
            missing[number] = len(lacking)
            for name in lacking:
                waiting.setdefault(name, []).append(number)
            continue
        ready = [number]
        while ready:
            for name in append(rest[heapq.heappop(ready)]):
                for reader in waiting.pop(name, []):
                    missing[reader] -= 1
                    if not missing[reader]:
                        del missing[reader]
                        heapq.heappush(ready, reader)
    if missing:
        raise CallError(f"circuit: {len(missing)} gates read wires that nothing sets")
    for name in range(wires - sum(results), wires):
        wire = names[name]
        if wire is None:
            raise CallError(f"circuit: the output wire {name} is not set")
        circuit.outputs.append(wire)
    ins = [(f"in{k}", Type("bits", width)) for k, width in enumerate(widths)]
    outs = [(f"out{k}", Type("bits", width)) for k, width in enumerate(results)]
    inputs = [Input(name, kind, k) for k, (name, kind) in enumerate(ins)]
    links = [Link(FROM_INPUT, k, 0, width) for k, width in enumerate(widths)]
    outputs, start = [], 0
    for port, kind in outs:
        outputs.append(Output(port, kind, None, [Link(FROM_INSTANCE, 0, start, kind.width)]))
        start += kind.width
    return Program([Component(ins, outs, circuit)], inputs, [Instance(0, links)], outputs)


def load(path: str | Path) -> Program:
    """Read a program file or a circuit file, by its content."""
    source = Path(path).read_text()
    return from_json(source) if str(path).endswith(".json") else from_bristol(source)
