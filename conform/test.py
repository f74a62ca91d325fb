"""Meets the command under test as either party, on programs beyond every border that the text names.

The command's path is in the environment variable GARBLET. Each result must be that of `garblet eval`.
"""

from __future__ import annotations

import json
import os
import random
import socket
import ssl
import sys
import tempfile
import threading
import unittest
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from OpenSSL import SSL

from . import authenticated, command, gmw, hello, order, program, store, tls, wire, yao
from .notation import Gone, Misbehaviour
from .types_of import Type

AES_KEY, AES_BLOCK = "000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff"
AES_ANSWER = "69c4e0d86a7b0430d8cdb78070b4c55a"


def copies(count: int, chained: bool = False) -> str:
    """A program file: `count` equal instances of a multiplier of 4 bits and more, with constants and negations."""
    gates = ["c = 0", "n = !b[0]"]
    for i in range(8):
        gates += [
            f"p{i} = a[{i}] & !b[{i}]",
            f"s{i} = p{i} ^ {'n' if i == 0 else f's{i - 1}'}",
            f"o[{i}] = !s{i} & a[{i}]",
        ]
    instances: dict[str, Any] = {}
    for i in range(count):
        second: Any = f"y[{8 * i}..{8 * i + 8}]"
        if chained and i:
            second = f"k{i - 1}.o"
        if i == 2:
            second = [{"bits": "0110"}, "y[0..2]", True, False]
        instances[f"k{i}"] = {"of": "m", "in": {"a": f"x[{8 * i}..{8 * i + 8}]", "b": second}}
    file = {
        "components": {"m": {"inputs": {"a": "u8", "b": "u8"}, "outputs": {"o": "u8"}, "gates": gates[1:]}},
        "inputs": {
            "x": {"type": f"[u8; {count}]", "owner": 0},
            "y": {"type": f"[u8; {count}]", "owner": 1},
        },
        "instances": instances,
        "outputs": {
            "all": {"type": f"[u8; {count}]", "from": [f"k{i}" for i in range(count)], "to": "all"},
            "first": {"type": "u8", "from": "k0.o", "to": 0},
            "last": {"type": "u8", "from": [f"k{count - 1}.o[4..8]", "x[0..3]", True], "to": [1]},
            "nobody": {"type": "bool", "from": "y[1]", "to": []},
        },
    }
    return json.dumps(file)


def dense(inputs: int, outputs: int, ands: int) -> list[str]:
    """Gates of a component with port `a` of so many bits and port `o`; all AND gates have an effect."""
    wires = [f"a[{i}]" for i in range(inputs)]
    gates = []
    for i in range(ands):
        gates += [
            f"t{i} = {wires[-1]} & !{wires[7 * i % len(wires)]}",
            f"u{i} = t{i} ^ {wires[(3 * i + 1) % len(wires)]}",
        ]
        wires += [f"t{i}", f"u{i}"]
    return gates + [f"o[{i}] = {wires[-1 - i]}" for i in range(outputs)]


def lookups(large: int) -> str:
    """A program file: components that are tables, one of them with `large` inputs, among gates and side by side."""
    size = order.table_bytes(large, 4) // 20
    component = {"small": (8, 8, 90), "pair": (2, 1, 9), "large": (large, 4, size), "gates": (12, 8, 40)}
    of: list[tuple[str, str, list[Any]]] = [
        ("s0", "small", ["x[0..5]", "y[0..3]"]),
        ("s1", "small", ["x[3..8]", "s0.o[0..3]"]),
        ("s2", "small", ["s1.o", ""]),
        ("s3", "small", ["y", ""]),
        ("p0", "pair", ["s0.o[2]", True]),
        ("l0", "large", [f"z[0..{large - 4}]", "s3.o[0..3]", "p0.o"]),
        ("g0", "gates", ["l0.o", "s2.o"]),
        ("g1", "gates", ["s1.o", "p0.o", "x[0..3]"]),
        ("s4", "small", [{"bits": "0110"}, "g0.o[0..2]", "g0.o[0]", "g0.o[0]"]),
        ("l1", "large", ["s4.o", f"z[8..{large}]"]),
    ]
    file = {
        "components": {
            name: {"inputs": {"a": f"bits{n}"}, "outputs": {"o": f"bits{m}"}, "gates": dense(n, m, ands)}
            for name, (n, m, ands) in component.items()
        },
        "inputs": {
            "x": {"type": "bits8", "owner": 0},
            "y": {"type": "bits8", "owner": 1},
            "z": {"type": f"bits{large}", "owner": 1},
        },
        "instances": {
            name: {"of": one, "in": {"a": [link for link in links if link != ""]}} for name, one, links in of
        },
        "outputs": {
            "all": {"type": "bits28", "from": ["s4", "l1", "g1", "s2"], "to": "all"},
            "first": {"type": "bits8", "from": "s3", "to": 0},
        },
    }
    return json.dumps(file)


def border() -> str:
    """A program file in which the 96th table of 8 inputs and 8 outputs begins a chunk: 11 AND gates and 95 times 43 places."""
    file = {
        "components": {
            name: {"inputs": {"a": f"bits{n}"}, "outputs": {"o": "bits8"}, "gates": dense(n, 8, ands)}
            for name, (n, ands) in {"gates": (17, 11), "table": (8, 90)}.items()
        },
        "inputs": {"x": {"type": "bits8", "owner": 0}, "y": {"type": "bits9", "owner": 1}},
        "instances": {"t0": {"of": "gates", "in": {"a": ["x", "y"]}}}
        | {f"t{i}": {"of": "table", "in": {"a": f"t{i - 1}.o"}} for i in range(1, 98)},
        "outputs": {"o": {"type": "bits16", "from": ["t95", "t97"], "to": "all"}},
    }
    return json.dumps(file)


BRISTOL = """# Bristol Fashion with every kind of gate, some before what they read
13 22
2 3 5
2 3 3

2 1 0 1 8 XOR
1 1 8 9 INV
2 1 10 11 12 AND
1 1 1 10 EQ
1 1 2 11 EQW
4 2 3 4 6 7 13 14 MAND
2 1 12 9 16 OR
2 1 13 14 17 NAND
2 1 16 17 18 XNOR
2 1 18 8 19 NOR
2 1 5 19 20 LOR
1 1 20 21 NOT
2 1 3 4 15 AND
"""
OLD_BRISTOL = "3 7\n2 2 1\n\n2 1 0 2 4 XOR\n2 1 1 3 5 XOR\n2 1 4 5 6 AND\n"

TYPES = {
    "components": {
        "pick": {
            "inputs": {"a": "{n: u5, l: [i3; ..4], e: enum {No, Yes(u4, bool), Other([u2; 3])}}", "f": "fixed<4, 5>"},
            "outputs": {"o": "u5", "p": "[bool; 3]"},
            "gates": ["t = a[0] ^ 1", "o[0] = t & !0", "o[1] = a[1]", "o[2] = a[2] & a[3]", "o[3] = 1 & 1", "o[4] = !0"]
            + [f"p[{i}] = !f[{i}] & a[{i + 9}]" for i in range(3)],
        }
    },
    "inputs": {
        "a": {"type": "{n: u5, l: [i3; ..4], e: enum {No, Yes(u4, bool), Other([u2; 3])}}", "owner": 1},
        "f": {"type": "fixed<4, 5>", "owner": 0},
    },
    "instances": {
        "k": {"of": "pick", "in": {"a": "a", "f": "f"}},
        "m": {"of": "pick", "in": {"a": "a", "f": ["k", "f[8]"]}},
    },
    "outputs": {"o": {"type": "[u5; 2]", "from": ["k.o", "m.o"]}, "p": {"type": "[bool; 3]", "from": "m.p", "to": 0}},
}

ALONE = {  # Party 0 has no input, as privacy-free needs it, and nobody else's output.
    "components": {
        "f": {
            "inputs": {"a": "u8", "b": "u8"},
            "outputs": {"o": "u8"},
            "gates": [f"o[{i}] = a[{i}] & !b[{i}]" for i in range(8)],
        }
    },
    "inputs": {"x": {"type": "u8", "owner": 1}, "y": {"type": "u8", "owner": 1}},
    "instances": {
        "k": {"of": "f", "in": {"a": "x", "b": "y"}},
        "l": {"of": "f", "in": {"a": "k.o", "b": [{"bits": "01100101"}]}},
    },
    "outputs": {"o": {"type": "u8", "from": "l.o"}, "i": {"type": "u8", "from": "x"}},
}
SECRETS_OF_0 = json.loads(json.dumps(ALONE).replace('"owner": 1', '"owner": 0'))
NO_GATES = {
    "components": {},
    "inputs": {"x": {"type": "u3", "owner": 1}, "y": {"type": "u3", "owner": 0}},
    "instances": {},
    "outputs": {"z": {"type": "u6", "from": ["y", "x"]}, "one": {"type": "u2", "from": [True, False], "to": 1}},
}


@dataclass
class Case:
    """A program, parameters for each role, and inputs where random ones do not do."""

    name: str
    source: str | dict[str, Any]
    parameters: tuple[dict[str, str], ...] = ({}, {}, {})
    values: dict[str, Any] = field(default_factory=dict)
    ending: str = ".json"
    answer: dict[str, str] = field(default_factory=dict)
    protocol: str = "yao"
    roles: tuple[int, ...] = (0, 1)
    parties: int = 2


def _both(**parameters: str) -> tuple[dict[str, str], dict[str, str]]:
    named = {name.replace("_", "-"): value for name, value in parameters.items()}
    return named, named


CASES = [
    Case("compare_u32", "lib:millionaires(32)", ({}, {"ot-k": "8"})),
    Case("mul_32", "lib:mul(32)", ({"scheme": "three-halves"}, {"build": "ahead", "ot-k": "2"})),
    Case(
        "aes128_fips197",
        "lib:aes128",
        ({"scheme": "three-halves"}, {}),
        {"key": {"hex": AES_KEY}, "block": {"hex": AES_BLOCK}},
        answer={"ciphertext": AES_ANSWER},
    ),
    Case("aes128_other_schemes", "lib:aes128", ({"scheme": "grr3"}, {"scheme": "four-row", "hash": "tmmo"})),
    Case("sha256", "lib:sha256", ({}, {"scheme": "three-halves", "build": "ahead"})),
    Case("wide_input_7808_ots", "lib:hamming(7808)", ({"hash": "fixed-key"}, {"ot-k": "8"})),
    Case("keyed_database", "lib:keyed-database(64,32,32)", ({"hash": "sha256"}, {"hash": "mitccrh"})),
    Case("many_copies", "lib:sort(16,8)", ({"scheme": "grr3", "hash": "fixed-key"}, {})),
    Case("4_copies", copies(4), ({}, {"scheme": "three-halves"})),
    Case("5_copies", copies(5), ({}, {"hash": "tmmo"})),
    Case("9_copies_chained", copies(9, True), ({"scheme": "four-row"}, {"scheme": "grr3"})),
    Case("tables", lookups(10), ({}, {"scheme": "three-halves"})),
    Case("tables_at_a_border", border(), _both(scheme="half-gates")),
    Case("tables_ahead", lookups(12), ({"scheme": "three-halves", "build": "ahead"}, {"build": "ahead"})),
    Case("tables_tmmo", lookups(9), ({"hash": "tmmo"}, {"hash": "mitccrh", "scheme": "three-halves"})),
    Case("tables_sha256", lookups(9), ({"hash": "sha256"}, {"hash": "fixed-key"})),
    Case("tables_as_gates", lookups(9), ({"scheme": "grr3"}, {"scheme": "four-row"})),
    Case("top_k", "lib:top-k(3,16,16)", ({}, {"hash": "mitccrh", "scheme": "three-halves"})),
    Case("bristol_fashion", BRISTOL, ({}, {"scheme": "four-row"}), ending=".txt"),
    Case("old_bristol", OLD_BRISTOL, ({"ot-k": "2"}, {}), ending=".txt"),
    Case(
        "types",
        TYPES,
        values={"a": {"n": 21, "l": [-3, 2], "e": {"Yes": [9, True]}}, "f": -3.40625},
    ),
    Case("no_gates", NO_GATES),
    Case("only_party_0_has_inputs", SECRETS_OF_0, ({"build": "ahead"}, {"scheme": "grr3"})),
    Case("privacy_free", ALONE, _both(scheme="privacy-free")),
    Case("privacy_free_ahead", ALONE, _both(scheme="privacy-free", hash="tmmo", build="ahead")),
]


def three_parties() -> dict[str, Any]:
    """The program of `copies(6)` with an input and an output for party 2."""
    file: dict[str, Any] = json.loads(copies(6))
    file["inputs"] = {"w": {"type": "[u8; 6]", "owner": 2}} | file["inputs"]
    for i in range(6):
        file["instances"][f"k{i}"]["in"]["b"] = [f"y[{8 * i}..{8 * i + 4}]", f"w[{8 * i}..{8 * i + 4}]"]
    file["outputs"]["last"]["to"] = [1, 2]
    file["outputs"]["nobody"]["to"] = 2
    return file


TRIPLES, OF_2012 = {"form": "triples"}, {"form": "2012"}
REVEAL, STREAM = {"check": "reveal"}, {"build": "stream"}
CASES += [
    Case("compare_u32", "lib:millionaires(32)", (TRIPLES, OF_2012 | {"ot-k": "8"}), protocol="gmw"),
    Case("copies_chained", copies(9, True), (OF_2012, TRIPLES), protocol="gmw"),
    Case("three_parties", three_parties(), (TRIPLES, OF_2012, TRIPLES), protocol="gmw", roles=(0, 1, 2), parties=3),
    Case("bristol_three", BRISTOL, (OF_2012,) * 3, protocol="gmw", roles=(1,), parties=3, ending=".txt"),
    Case("no_gates", NO_GATES, protocol="gmw", roles=(0,)),
    Case("wide_layers", "lib:hamming(7808)", protocol="gmw", roles=(1,)),
    Case("compare_u32", "lib:millionaires(32)", protocol="authenticated"),
    Case("reveal", "lib:mul(32)", (REVEAL, REVEAL), protocol="authenticated"),
    Case("stream", copies(9, True), (STREAM | {"ot-k": "8"}, STREAM | {"statistical": "64"}), protocol="authenticated"),
    Case("stream_reveal", copies(5), (STREAM | REVEAL, STREAM | REVEAL | {"ot-k": "2"}), protocol="authenticated"),
    Case("no_gates", NO_GATES, (STREAM, {}), protocol="authenticated"),
    Case("80_bits", ALONE, ({"statistical": "80"}, {"statistical": "80"}), protocol="authenticated", roles=(1,)),
]


def some_value(kind: Type, rng: random.Random) -> Any:
    match kind.kind:
        case "bool":
            return rng.random() < 0.5
        case "unsigned":
            return rng.getrandbits(kind.size)
        case "signed":
            return rng.getrandbits(kind.size) - (1 << kind.size - 1)
        case "bits":
            return {"bits": "".join(rng.choice("01") for _ in range(kind.size))}
        case "bytes":
            return {"hex": rng.randbytes(kind.size).hex()}
        case "array":
            return [some_value(kind.of(), rng) for _ in range(kind.size)]
        case "list":
            return [some_value(kind.of(), rng) for _ in range(kind.size)]
        case "record":
            return {name: some_value(part, rng) for name, part in kind.fields}
        case "fixed":
            return rng.getrandbits(kind.size) / 4
        case other:
            raise ValueError(f"no value of the kind {other}")


class Prepared:
    """A case's program, inputs and expected outputs, made once for both roles."""

    def __init__(self, case: Case, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / f"program{case.ending}"
        if isinstance(case.source, str) and case.source.startswith("lib:"):
            command.convert(case.source, self.file)
        else:
            self.file.write_text(case.source if isinstance(case.source, str) else json.dumps(case.source))
        self.program = program.load(self.file)
        rng = random.Random(case.name)
        values: dict[str, Any] = {port.name: case.values.get(port.name) for port in self.program.inputs}
        for port in self.program.inputs:
            if values[port.name] is None:
                values[port.name] = some_value(port.type, rng)
                if port.order is not None:
                    values[port.name] = in_order(values[port.name], port.order)
        self.files = command.write_inputs(self.program, values, folder)
        self.bits = {port.name: port.type.bits(values[port.name]) for port in self.program.inputs}
        self.expected = command.evaluate(self.file, self.files)


def in_order(rows: list[Any], which: int) -> list[Any]:
    """Rows in the order that the program relies on, by key (file 5, "Order and limits")."""
    return sorted(rows, key=lambda row: next(iter(row.values())) if isinstance(row, dict) else row, reverse=which == 2)


def outputs_of(result: dict[str, Any]) -> dict[str, str]:
    return {name: output["bits"] for name, output in result["outputs"].items()}


class Test(unittest.TestCase):
    """One method for each case and role; they are added below."""

    folder: tempfile.TemporaryDirectory[str]
    prepared: dict[str, Prepared]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.prepared = {}

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def case(self, case: Case) -> Prepared:
        name = f"{case.protocol} {case.name} {case.source if case.name == 'store' else ''}".strip()
        if name not in self.prepared:
            self.prepared.clear()
            self.prepared[name] = Prepared(case, Path(self.folder.name) / name)
        return self.prepared[name]

    def meet(self, case: Case, role: int) -> None:
        made = self.case(case)
        parameters = case.parameters[role]
        addresses = [command.free_address() for _ in range(case.parties)]
        more: tuple[str, ...] = ("--protocol", case.protocol)
        if case.protocol == "gmw":
            peers = Path(self.folder.name) / "peers.toml"
            peers.write_text("".join(f'[[party]]\naddress = "{address}"\n' for address in addresses))
            more += ("--peers", str(peers))
        address = "" if case.protocol == "gmw" else addresses[0]
        others = {
            party: command.Party(party, made.file, made.files, address, parameters, more=more)
            for party in range(case.parties)
            if party != role
        }
        try:
            if case.protocol == "gmw":
                channels = gmw.connect(addresses, role, None)
                ours = gmw.run(channels, role, made.program, made.bits, parameters)
            else:
                run = yao.run if case.protocol == "yao" else authenticated.run
                channel = wire.Channel(wire.connect(address))
                try:
                    ours = run(channel, role, made.program, made.bits, parameters)
                except Exception:
                    channel.abort()
                    print(f"{case.name}, role {role}: the command: {others[1 - role].wait()}", file=sys.stderr)
                    raise
            results = {party: other.wait() for party, other in others.items()}
        finally:
            for other in others.values():
                other.stop()
        for party, (status, result, errors) in results.items():
            self.assertEqual(status, 0, f"party {party}: {result} {errors}")
            self.assertEqual(result["program_digest"], made.program.digest().hex())
            for port in made.program.outputs:
                if port.reaches(party):
                    self.assertEqual(outputs_of(result)[port.name], made.expected[port.name], f"{party}: {port.name}")
        got = {name: "".join(map(str, bits)) for name, bits in ours.items()}
        for port in made.program.outputs:
            if port.reaches(role):
                self.assertEqual(got[port.name], made.expected[port.name], f"our output {port.name}")
        for name, answer in case.answer.items():
            data = bytes(int("".join(map(str, ours[name][i : i + 8][::-1])), 2) for i in range(0, len(ours[name]), 8))
            self.assertEqual(data.hex(), answer)

    def from_store(self, role: int, source: str, values: dict[str, str]) -> None:
        """Fill stores together, and run twice from them (file 12, "With a store")."""
        made = self.case(Case("store", source))
        folder = Path(self.folder.name) / f"store {role}"
        folder.mkdir()
        where: tuple[str, ...] = ("--store", str(folder / "store"), "--store-key", str(folder / "key"))
        address = command.free_address()
        ours = store.Store()
        filling = command.Preparation(1 - role, address, {"triples": 64, "masks": 200}, values, where)
        try:
            store.prepare(wire.Channel(wire.connect(address)), role, ours, 64, 200, values)
            status, _, errors = filling.wait()
        finally:
            filling.stop()
        self.assertEqual(status, 0, errors)
        for _ in range(2):
            address = command.free_address()
            more = ("--protocol", "authenticated", *where)
            other = command.Party(1 - role, made.file, made.files, address, values, more=more)
            try:
                channel = wire.Channel(wire.connect(address))
                outputs = store.run(channel, role, ours, made.program, made.bits, values)
                status, _, errors = other.wait()
            finally:
                other.stop()
            self.assertEqual(status, 0, errors)
            for name, bits in outputs.items():
                self.assertEqual("".join(map(str, bits)), made.expected[name])

    def test_authenticated_store_as_party_0(self) -> None:
        self.from_store(0, "lib:millionaires(32)", {})

    def test_authenticated_store_as_party_1(self) -> None:
        self.from_store(1, "lib:hamming(20)", {"build": "stream", "check": "reveal"})

    def test_tls_as_caller(self) -> None:
        """TLS with a session name, as the connecting side, after callers that are refused (file 3)."""
        made = self.case(Case("tls", "lib:millionaires(32)"))
        folder = Path(self.folder.name)
        theirs = tls.from_text(command.keygen(folder / "identity.pem"))
        key, stranger = tls.key_of(os.urandom(32)), tls.key_of(os.urandom(32))
        address = command.free_address()
        ours = tls.to_text(tls.fingerprint(tls.public_bytes(key)))
        more: tuple[str, ...] = ("--identity", str(folder / "identity.pem"), "--peer", ours)
        more += ("--trust", str(folder / "trust.toml"), "--session", "monday-1")
        old = tls.context_of(key)
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_2
        nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        nobody.check_hostname, nobody.verify_mode = False, ssl.CERT_NONE
        refused: list[tuple[str, ssl.SSLContext, str | None]] = [
            ("TLS 1.2", old, "monday-1"),
            ("no certificate", nobody, "monday-1"),
            ("another identity", tls.context_of(stranger), "monday-1"),
            ("another session", tls.context_of(key), "tuesday"),
            ("no session", tls.context_of(key), None),
        ]
        other = command.Party(0, made.file, made.files, address, {}, more=more)
        try:
            for what, context, name in refused:
                with self.assertRaises((tls.IdentityError, Gone), msg=what):
                    tls.connect(address, key, theirs, name, 0, context)
            expired = tls.context_of(key, -1000)
            channel = wire.Channel(tls.connect(address, key, theirs, "monday-1", context=expired))
            outputs = yao.run(channel, 1, made.program, made.bits, {}, "monday-1")
            status, _, errors = other.wait()
        finally:
            other.stop()
        self.assertEqual(status, 0, errors)
        self.assertEqual(errors.count("refused "), len(refused), errors)
        for word in ("another session: expected `monday-1`, got `tuesday`", "got one without a name"):
            self.assertIn(word, errors)
        for name, bits in outputs.items():
            self.assertEqual("".join(map(str, bits)), made.expected[name])

    def test_tls_as_listener(self) -> None:
        """TLS with a session name, as the accepting side, after callers that are dropped (files 3 and 4)."""
        made = self.case(Case("tls", "lib:millionaires(32)"))
        folder = Path(self.folder.name)
        theirs = tls.from_text(command.keygen(folder / "caller.pem"))
        command.keygen(folder / "stranger.pem")
        key = tls.key_of(os.urandom(32))
        ours = tls.to_text(tls.fingerprint(tls.public_bytes(key)))
        address = command.free_address()

        def call(identity: str, session: tuple[str, ...], patience: str) -> command.Party:
            more: tuple[str, ...] = ("--identity", str(folder / identity), "--peer", ours)
            more += ("--trust", str(folder / "trust.toml"), *session, "--timeout", patience)
            return command.Party(1, made.file, made.files, address, {}, listen=False, more=more)

        strangers = [
            call("stranger.pem", ("--session", "monday-1"), "2s"),
            call("caller.pem", ("--session", "tuesday"), "2s"),
            call("caller.pem", (), "2s"),
        ]
        dropped: list[str] = []
        found: list[tls.Accepted] = []

        def accept() -> None:
            found.append(tls.accept(address, key, theirs, "monday-1", 60.0, dropped.append))

        waiting = threading.Thread(target=accept)
        waiting.start()
        plain = wire.connect(address)
        plain.sendall(wire.frame(wire.CONTROL, wire.HELLO, b"garblet\0"))
        plain.close()
        for stranger in strangers:
            status, _, errors = stranger.wait()
            self.assertEqual(status, 1, errors)
        other = call("caller.pem", ("--session", "monday-1"), "60s")
        try:
            waiting.join()
            outputs = yao.run(wire.Channel(found[0]), 0, made.program, made.bits, {}, "monday-1")
            status, _, errors = other.wait()
        finally:
            other.stop()
        self.assertEqual(status, 0, errors)
        reasons = {what.split(":")[0] for what in dropped}
        self.assertEqual(reasons, {"TLS", "another identity", "another session"}, dropped)
        for name, bits in outputs.items():
            self.assertEqual("".join(map(str, bits)), made.expected[name])

    def test_tls_listeners_that_are_wrong(self) -> None:
        """The command ends its run at another welcome, at bytes that are not TLS, and at another identity (file 3)."""
        made = self.case(Case("tls", "lib:millionaires(32)"))
        folder = Path(self.folder.name)
        command.keygen(folder / "third.pem")
        key, another = tls.key_of(os.urandom(32)), tls.key_of(os.urandom(32))
        ours = tls.to_text(tls.fingerprint(tls.public_bytes(key)))
        more = ("--identity", str(folder / "third.pem"), "--peer", ours, "--trust", str(folder / "trust.toml"))
        for own, answer, said in (
            (key, b"\x5a", "the peer did not send its welcome"),
            (None, b"here is no TLS\r\n", "got bytes that are not TLS"),
            (another, tls.WELCOME, "the peer is unknown: expected the peer"),
        ):
            address = command.free_address()
            with wire.listen(address) as listener:
                caller = command.Party(1, made.file, made.files, address, {}, listen=False, more=more)
                stream = listener.accept()[0]
                if own is None:
                    stream.sendall(answer)
                else:
                    accepted = tls.Accepted(stream, tls.accepting_context(own))
                    accepted.settimeout(20)
                    try:
                        accepted.handshake()
                        accepted.sendall(answer)
                    except OSError:
                        self.assertIs(own, another)
                status, _, errors = caller.wait()
                stream.close()
            self.assertEqual(status, 1, errors)
            self.assertIn(said, errors)


class Alone(unittest.TestCase):
    """The peer without the command."""

    def test_values_are_open_only_where_the_specification_says_so(self) -> None:
        def judged(protocol: str, parties: int, ours: list[tuple[str, str]], theirs: list[tuple[str, str]]) -> int:
            of = (hello.Hello(k, parties, protocol, bytes(32), p) for k, p in enumerate((ours, theirs)))
            return len(hello.judge(*of))

        for protocol, parties, name, differences in (
            ("yao", 2, "scheme", 0),
            ("gmw", 2, "ot-k", 0),
            ("gmw", 3, "ot-k", 1),
            ("yao", 2, "hash", 1),
            ("yao", 2, "schedule", 1),
            ("authenticated", 2, "scheme", 1),
        ):
            pair = [(name, "a")], [(name, "auto 1 (a, b)")]
            for ours, theirs in (pair, pair[::-1]):
                self.assertEqual(judged(protocol, parties, ours, theirs), differences, (protocol, parties, name))
        self.assertEqual(judged("yao", 2, [("x", "a"), ("x", "b")], [("x", "a and b")]), 0)

    def test_what_no_hello_or_refusal_can_be_is_malformed(self) -> None:
        good = hello.Hello(0, 2, "yao", bytes(32), []).encode()
        later = hello.Hello(0, 2, "yao", bytes(32), [], version=1 << 40).encode()
        self.assertEqual(hello.decode(good).party, 0)
        self.assertRaises(Misbehaviour, hello.decode, later)
        for payload in (b"\4\2", b"\4\1" + b"\xff" * 5 + b"\1"):
            ours, theirs = socket.socketpair()
            theirs.sendall(wire.frame(wire.CONTROL, wire.REFUSAL, payload))
            self.assertRaises(Misbehaviour, hello.receive, wire.Channel(ours))
            theirs.close()

    def test_a_key_of_small_order_is_no_identity(self) -> None:
        one = bytes([1]) + bytes(31)
        for key in (*tls.SMALL_ORDER, one[:31] + b"\x80"):
            self.assertIsNone(tls.identity_of(Ed25519PublicKey.from_public_bytes(key)), key.hex())
        self.assertIsNotNone(tls.identity_of(tls.key_of(bytes(32)).public_key()))

    def test_silent_and_odd_strangers_keep_nobody_out(self) -> None:
        key, other = tls.key_of(os.urandom(32)), tls.key_of(os.urandom(32))
        ours, theirs = (tls.fingerprint(tls.public_bytes(k)) for k in (key, other))
        address = command.free_address()
        found: list[tls.Accepted] = []
        dropped: list[str] = []
        waiting = threading.Thread(
            target=lambda: found.append(tls.accept(address, key, theirs, "monday", 30.0, dropped.append))
        )
        waiting.start()
        silent = [wire.connect(address) for _ in range(5)]
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.use_privatekey(other)
        context.use_certificate(tls.certificate(other))
        stream = wire.connect(address)
        stream.setblocking(True)
        odd = SSL.Connection(context, stream)
        odd.set_tlsext_host_name(b"\xff\xfe")
        odd.set_connect_state()
        odd.do_handshake()
        tls.connect(address, other, ours, "monday").close()
        waiting.join()
        self.assertEqual(len(found), 1)
        self.assertEqual(dropped, ["another session"])
        for stream in [*silent, stream]:
            stream.close()


def _add(case: Case, role: int) -> None:
    setattr(Test, f"test_{case.protocol}_{case.name}_as_party_{role}", lambda self: self.meet(case, role))


# With CONFORM_SHORT in the environment: every protocol in every role, all schemes and ways to build, and no large circuit.
SHORT = {"compare_u32", "mul_32", "5_copies", "9_copies_chained", "bristol_fashion", "types", "privacy_free"}
SHORT |= {"three_parties", "stream_reveal", "80_bits"}

for _case in CASES:
    for _role in _case.roles:
        if _case.name in SHORT or not os.environ.get("CONFORM_SHORT"):
            _add(_case, _role)

if __name__ == "__main__":
    unittest.main()
