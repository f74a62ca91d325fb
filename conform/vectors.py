"""Checks the vectors of the specification. Their folder is in the environment variable VECTORS."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from functools import reduce
from operator import xor
from pathlib import Path
from typing import Any

from . import authenticated, base_ot, command, garble, gmw, notation, order, program, ristretto, softspoken, tls
from .notation import Aes, bits_of, block_of, bytes_of


def read(name: str) -> Any:
    folder = os.environ.get("VECTORS")
    if not folder:
        raise unittest.SkipTest("VECTORS: expected the folder of the vectors, got nothing")
    return json.loads((Path(folder) / name).read_text())


def block(source: str) -> int:
    return block_of(bytes.fromhex(source))


def scalar(source: str) -> int:
    """Twice the number in 64 bytes, modulo the order of the group (file 7, "Vectors")."""
    return 2 * int.from_bytes(bytes.fromhex(source), "little") % ristretto.ORDER


class Test(unittest.TestCase):
    def test_notation(self) -> None:
        found = read("notation.json")
        self.assertEqual(notation.double(block(found["double"]["a"])), block(found["double"]["double"]))
        self.assertEqual(notation.sigma(block(found["sigma"]["x"])), block(found["sigma"]["sigma"]))
        for one in found["products"]:
            self.assertEqual(notation.multiply(block(one["a"]), block(one["b"])), block(one["product"]))
            self.assertEqual(notation.Multiplier(block(one["b"]))(block(one["a"])), block(one["product"]))
        blocks = found["prg"]["blocks"]
        self.assertEqual(Aes(block(found["prg"]["seed"])).stream(0, len(blocks)).hex(), "".join(blocks))
        key = tls.key_of(bytes.fromhex(found["identity"]["private_key"]))
        self.assertEqual(tls.public_bytes(key).hex(), found["identity"]["public_key"])
        self.assertEqual(tls.to_text(tls.fingerprint(tls.public_bytes(key))), found["identity"]["fingerprint"])

    def test_programs_and_orders(self) -> None:
        orders = read("gate-orders.json")
        for name, one in read("programs.json").items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                if "file" in one:
                    made = program.from_json(one["file"])
                else:
                    made = program.load(command.convert(name, Path(folder) / "program.json"))
                self.assertEqual(made.digest().hex(), one["digest"])
                schedules = order.schedules(made)
                self.assertEqual(order.digest(schedules, [])[:16].hex(), orders[name]["schedule"])
                tabled = order.tables(made, schedules)
                self.assertEqual(tabled, orders[name]["tables"])
                self.assertEqual(order.digest(schedules, tabled)[:16].hex(), orders[name]["schedule_with_tables"])
                for schedule, expected in zip(schedules, orders[name]["components"], strict=True):
                    self.order(schedule, expected, False)
                self.order(order.schedule(gmw.flatten(made), by_depth=True), orders[name]["gmw"], True)
        two = read("programs.json")["two"]
        stated = program.from_json(two["file"].replace("{", '{"format": 1, ', 1))
        self.assertEqual(stated.digest().hex(), two["digest"])
        for other in ["2", "1.0", "true", '"1"', "null"]:
            with self.assertRaises(notation.CallError):
                program.from_json(two["file"].replace("{", f'{{"format": {other}, ', 1))

    def order(self, schedule: order.Schedule, expected: dict[str, Any], by_depth: bool) -> None:
        self.assertEqual(schedule.digest(by_depth).hex(), expected["digest"])
        self.assertEqual(schedule.ands, expected["ands"])
        self.assertEqual(schedule.slots, expected["slots"])
        self.assertEqual(len(schedule.steps), expected["steps"])
        steps = [[len(xors), len(ands)] for xors, ands in schedule.steps]
        self.assertEqual(steps[:40], expected["first_steps_xors_ands"])
        gates = [schedule.gates[g] for _, ands in schedule.steps for g in ands]
        negated = [[bool(a & 1), bool(b & 1)] for _, a, b in gates]
        self.assertEqual(negated[:40], [[bool(n) for n in pair] for pair in expected["first_ands_negated_operands"]])

    def test_base_ot(self) -> None:
        found = read("base-ot.json")
        r, seed, key = scalar(found["half_r_wide"]), bytes.fromhex(found["seed"]), bytes.fromhex(found["key"])
        t = base_ot.offset(seed)
        self.assertEqual(ristretto.encode(ristretto.multiply(r, ristretto.GENERATOR)).hex(), found["z"])

        def h(d: int, i: int = 0, v: int = 0, message: bytes = b"") -> bytes:
            return notation.b3_keyed(key, bytes([d]) + notation.u16(i) + bytes([v]) + message)

        choices = bits_of(block(found["choices"]), 128)
        for one in found["ots"]:
            i, a = one["ot"], scalar(one["half_a_wide"])
            self.assertEqual(choices[i], one["choice"])
            point = ristretto.multiply(a, ristretto.GENERATOR)
            point = ristretto.add(point, t) if one["choice"] else point
            self.assertEqual(ristretto.encode(point).hex(), one["point"])
            k0 = ristretto.multiply(r, point)
            k1 = ristretto.multiply(r, ristretto.add(point, ristretto.negate(t)))
            pads = [h(1, i, v, ristretto.encode(k))[:16] for v, k in enumerate((k0, k1))]
            self.assertEqual([pad.hex() for pad in pads], one["pads"])
            responses = [block_of(h(2, i, v, pad)[:16]) for v, pad in enumerate(pads)]
            self.assertEqual(responses[0] ^ responses[1], block(one["challenge"]))
        self.assertEqual(h(4, message=bytes.fromhex(found["answer"])).hex(), found["proof"])
        self.assertEqual(h(5)[:16].hex(), found["session"])

    def test_ot_extension(self) -> None:
        found = read("ot-extension.json")
        base = read("base-ot.json")
        delta, session = block(found["delta"]), block(found["session"])
        pads = [(block(one[0]), block(one[1])) for one in base["all_pads"]]
        for width in found["widths"]:
            k, extension = width["k"], width["extension"]
            leaves = [block(leaf) for leaf in width["leaves_of_tree_0"]]
            self.assertEqual(softspoken.full_tree(pads[:k])[0], leaves)
            self.assertEqual(softspoken.full_tree(pads[:k])[1], [block(c) for c in width["corrections_of_tree_0"]])
            rows = [int.from_bytes(Aes(leaf).stream(0, 3), "little") for leaf in leaves]
            u = reduce(xor, rows)
            v = reduce(xor, (row for x, row in enumerate(rows) if x & 1))
            self.assertEqual(notation.bytes_of_blocks([block(b) for b in extension["u_0"]]), u.to_bytes(48, "little"))
            self.assertEqual(notation.bytes_of_blocks([block(b) for b in extension["v_0"]]), v.to_bytes(48, "little"))
            self.assertEqual(notation.pack(bits_of(u, 300)).hex(), extension["choices"])
            for i in (0, 299):
                q, t = block(extension[f"q_{i}"]), block(extension[f"t_{i}"])
                self.assertEqual(q ^ (u >> i & 1) * delta, t)
            for one in width["random_ots"]:
                pad = softspoken.pad_hash(session, one["ot"], block(one["y"]))
                self.assertEqual(bytes_of(pad).hex(), one["pad"])
            tags = [softspoken.tag(session, 0, x, leaf) for x, leaf in enumerate(leaves)]
            total = reduce(xor, (int.from_bytes(tag, "little") for tag in tags)).to_bytes(32, "little")
            self.assertEqual(total.hex(), width["checked"]["tags_of_tree_0"])

    def test_garbling(self) -> None:
        for one in read("garbling.json")["gates"]:
            with self.subTest(f"{one['scheme']} {one['hash']}"):
                scheme, delta, g = garble.SCHEMES[one["scheme"]], block(one["delta"]), one["gate"]
                flip = 1 if scheme.name == "privacy-free" else 0
                zero, b = (block(label) for label in one["zero_labels"])
                a, result, table = zero ^ delta ^ flip, block(one["result_zero_label"]), bytes.fromhex(one["table"])
                hash_ = garble.GateHash(one["hash"], scheme, block(one["hash_seed"]))
                made = []
                for draws in ([0, 0], [0, 1], [1, 0], [1, 1]):
                    rest = [result] if scheme.name == "four-row" else list(draws)
                    gates = garble.Gates(scheme, hash_, delta, lambda count, rest=rest: rest.pop(0))  # type: ignore[misc]
                    tables, bits, c = gates.garble(g, a, b)
                    made.append((garble.chunk(scheme, [tables], bits), c))
                self.assertIn((table, result), made)
                further = int.from_bytes(table[scheme.table_bytes :], "little")
                evaluator = garble.Gates(scheme, hash_)
                for active in one["active"]:
                    x, y = (block(label) for label in active["labels"])
                    c = evaluator.evaluate(g, x ^ flip, y, table[: scheme.table_bytes], further)
                    self.assertEqual(c, block(active["result"]))

        for one in read("garbling.json")["tables"]:
            with self.subTest(f"table {one['scheme']} {one['hash']}"):
                self.table(one)

    def table(self, one: dict[str, Any]) -> None:
        """File 9, "Components as tables"."""
        zeros, delta, seed = (
            [block(label) for label in one["zero_labels"]],
            block(one["delta"]),
            block(one["hash_seed"]),
        )
        rows = [[row >> o & 1 for row in one["rows"]] for o in range(one["outputs"])]
        data, results = garble.garble_table(garble.TableHashes(one["hash"], seed, one["gate"]), rows, zeros, delta)
        scheme, sent = garble.SCHEMES[one["scheme"]], bytes.fromhex(one["table"])
        places = -(-len(data) // scheme.table_bytes)
        self.assertEqual(len(data), order.table_bytes(len(zeros), len(rows)))
        self.assertEqual(sent, data + bytes(garble.chunk_bytes(scheme, places) - len(data)))
        self.assertEqual(results, [block(label) for label in one["result_zero_labels"]])
        for active in one["active"]:
            hashes = garble.TableHashes(one["hash"], seed, one["gate"])
            found = garble.evaluate_table(hashes, [block(label) for label in active["labels"]], len(rows), sent)
            self.assertEqual(found, [block(label) for label in active["results"]])

    def test_authenticated(self) -> None:
        found = read("authenticated.json")
        names = found["names"]
        digest, *nonces = (bytes.fromhex(one) for one in (names["digest"], *names["nonces"]))
        id_ = authenticated.identifier(digest, *nonces)
        self.assertEqual(id_.hex(), names["id"])
        at, message = bytes.fromhex(names["place"]), bytes.fromhex(names["message"])
        self.assertEqual(notation.b3_keyed(id_, at + message).hex(), names["digest_of_message"])
        committed = authenticated.commitment(id_, at, message, bytes.fromhex(names["opening"]))
        self.assertEqual(committed.hex(), names["commitment"])
        blocks = [block(one) for one in found["power_sum"]["blocks"]]
        self.assertEqual(
            notation.power_sum(blocks, block(found["power_sum"]["point"])), block(found["power_sum"]["sum"])
        )
        for one in found["gates"]:
            self.gate(one)

    def gate(self, one: dict[str, Any]) -> None:
        """The gate of file 12, "Gates"; shares are of the left, the right and the result."""
        d0, d1, tags, g = block(one["delta_0"]), block(one["delta_1"]), one["with_tags"], one["gate"]
        own_0, own_1, peer_0, peer_1 = ([block(n) for n in one[k]] for k in ("own_0", "own_1", "peer_0", "peer_1"))
        tweaks, per_key = (4, 512) if tags else (2, 1024)
        hash_ = garble.GateHash("rekeyed", garble.Scheme("", per_key, tweaks, 32, 0), block(one["hash_seed"]))
        a, b = (block(label) for label in one["zero_labels"])
        a ^= d0 ^ 1
        h = hash_.of(g, [(a, 0), (a ^ d0, 0), (b, 1), (b ^ d0, 1)])
        table = bytes_of(h[0] ^ h[1] ^ own_0[1]) + bytes_of(h[2] ^ h[3] ^ a ^ own_0[0])
        self.assertEqual(table.hex(), one["table"])
        x = h[0] ^ h[2] ^ own_0[2]
        self.assertEqual((x & 1, bytes_of(x & ~1).hex()), (one["select"], one["result_zero_label"]))
        la, lb = (block(label) for label in one["active_labels"])
        la ^= 1
        i, j = la & 1, lb & 1
        active = hash_.of(g, [(la, 0), (lb, 1)])
        c = active[0] ^ active[1] ^ peer_1[2] ^ one["select"]
        c ^= i * (block_of(table[:16]) ^ peer_1[1]) ^ j * (block_of(table[16:]) ^ la ^ peer_1[0])
        self.assertEqual(bytes_of(c).hex(), one["result_active"])
        check = own_1[2] ^ i * own_1[1] ^ j * own_1[0] ^ ((i & j) ^ (c & 1)) * d1
        if tags:
            h = hash_.of(g, [(a, 2), (a ^ d0, 2), (b, 3), (b ^ d0, 3), (la, 2), (lb, 3)])
            kept = ((1 << 8 * one["tag_bytes"]) - 1) << 8 * (16 - one["tag_bytes"])  # the last bytes
            made = [(h[0] ^ h[1] ^ peer_0[1]) & kept, (h[2] ^ h[3] ^ peer_0[0]) & kept]
            self.assertEqual([bytes_of(tag).hex()[-2 * one["tag_bytes"] :] for tag in made], one["tags"])
            self.assertEqual(bytes_of((h[0] ^ h[2] ^ peer_0[2]) & kept).hex(), one["check_value_0"])
            check = (check ^ h[4] ^ h[5] ^ i * made[0] ^ j * made[1]) & kept
        self.assertEqual(bytes_of(check).hex(), one["check_value_1"])
