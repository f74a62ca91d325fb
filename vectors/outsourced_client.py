#!/usr/bin/env python3
"""Makes `outsourced_client.json`: messages of a client of outsourced runs, by an implementation of their definition that shares no
code with the crate. AES and ChaCha20-Poly1305 are those of the package `cryptography`, BLAKE3 is below, after its paper.

    python3 vectors/outsourced_client.py > vectors/outsourced_client.json
"""

import json
import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
START, END, PARENT, ROOT, CONTEXT, MATERIAL = 1, 2, 4, 8, 32, 64
MASK = 0xFFFFFFFF


def compress(cv, words, counter, length, flags):
    v = cv[:8] + IV[:4] + [counter & MASK, counter >> 32, length, flags]

    def g(a, b, c, d, x, y):
        for word, first, second in ((x, 16, 12), (y, 8, 7)):
            v[a] = (v[a] + v[b] + word) & MASK
            v[d] ^= v[a]
            v[d] = (v[d] >> first | v[d] << (32 - first)) & MASK
            v[c] = (v[c] + v[d]) & MASK
            v[b] ^= v[c]
            v[b] = (v[b] >> second | v[b] << (32 - second)) & MASK

    for _ in range(7):
        for i in range(4):
            g(i, 4 + i, 8 + i, 12 + i, words[2 * i], words[2 * i + 1])
        for i in range(4):
            g(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, words[8 + 2 * i], words[9 + 2 * i])
        words = [words[i] for i in PERMUTATION]
    return [v[i] ^ v[i + 8] for i in range(8)]


def tree(key, data, flags, first=0, root=True):
    """The chaining value of a subtree; chunks are numbered from `first`."""
    if len(data) > 1024:
        left = 1024
        while 2 * left < len(data):
            left *= 2
        children = tree(key, data[:left], flags, first, False) + tree(key, data[left:], flags, first + left // 1024, False)
        return compress(key, children, 0, 64, flags | PARENT | (ROOT if root else 0))
    blocks = [data[i : i + 64] for i in range(0, max(len(data), 1), 64)]
    cv = key
    for i, block in enumerate(blocks):
        last = i + 1 == len(blocks)
        kind = (START if i == 0 else 0) | (END if last else 0) | (ROOT if last and root else 0)
        words = list(struct.unpack("<16I", block.ljust(64, b"\0")))
        cv = compress(cv, words, first, len(block), flags | kind)
    return cv


def derive(context, material):
    """BLAKE3 in its mode for key derivation."""
    return struct.pack("<8I", *tree(tree(IV, context.encode(), CONTEXT), material, MATERIAL))


assert derive("a", b"").hex() != derive("b", b"").hex()
assert struct.pack("<8I", *tree(IV, b"", 0)).hex() == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"


class Stream:
    """Prg: AES-128 of 0, 1, 2 and so on as little-endian integers."""

    def __init__(self, seed):
        self.aes = Cipher(algorithms.AES(seed), modes.ECB()).encryptor()
        self.next, self.ready = 0, b""

    def bytes(self, count):
        while len(self.ready) < count:
            self.ready += self.aes.update(self.next.to_bytes(16, "little"))
            self.next += 1
        taken, self.ready = self.ready[:count], self.ready[count:]
        return taken

    def bits(self, count):
        return bits(self.bytes((count + 7) // 8))[:count]


def bits(data):
    return [byte >> i & 1 for byte in data for i in range(8)]


def packed(values):
    values = values + [0] * (-len(values) % 8)
    return bytes(sum(values[i + j] << j for j in range(8)) for i in range(0, len(values), 8))


def add(a, b):
    assert len(a) == len(b)
    return [x ^ y for x, y in zip(a, b)]


def text(value):
    return struct.pack("<H", len(value.encode())) + value.encode()


def encode_job(case, client=b"\xbb" * 32):
    """One port of either side for client 1; with a state, one that is read and one that is kept."""
    state = case["state"]
    job = b"\1" + bytes(range(32)) + struct.pack("<H", 2 if state else 1)
    job += text("x") + text(f"bits{case['inputs']}") + b"\0" + struct.pack("<H", 1)
    if state:
        job += text("before") + text("u32") + b"\1" + text("ledger") + text("after") + struct.pack("<Q", 4)
    job += struct.pack("<H", 2 if state else 1)
    job += text("y") + text(f"bits{case['outputs']}") + b"\1" + struct.pack("<HH", 1, 1)
    if state:
        job += text("after") + text("u32") + b"\2"
    job += b"\xaa" * 32 + struct.pack("<H", 2) + client + b"\xcc" * 32 + b"\xdd" * 32
    job += bytes([case["statistical"]]) + struct.pack("<H", 1) + text("base") + text("authenticated")
    job += b"\1" + text("ledger") + struct.pack("<Q", 5) if state else b"\0"
    return job + text("a label")


def toeplitz(seed, rows, z, mask):
    diagonals = Stream(seed).bits(rows + len(z))
    return [mask[t] ^ sum(diagonals[t + j] & z[j] for j in range(len(z))) % 2 for t in range(rows)]


def seal(secret, direction, server, case, digest, nonce, message, submission=b""):
    """A sealed message; one to the client is bound to the nonce of the submission that it answers."""
    assert len(submission) == 12 * direction
    header = bytes([1, direction]) + digest + struct.pack("<HQ", 1, case["counter"])
    key = derive("garblet 2026 outsourced message key v1", secret + header + bytes([server]) + submission)
    return header + nonce + ChaCha20Poly1305(key).encrypt(nonce, message, header + nonce)


def deal(case, digest, random, x):
    """Both messages, both pads and the run."""
    n, m, h = case["inputs"], case["outputs"], case["statistical"] + 8
    counter = struct.pack("<Q", case["counter"])
    seed_g, seed_c, mu_g, mu_c = (random[i : i + 16] for i in range(0, 64, 16))
    stream = Stream(seed_g)
    share_g, pad_g, mask_g = stream.bits(n), stream.bits(m), stream.bits(h)
    stream = Stream(seed_c)
    pad_c, mask_c = stream.bits(m), stream.bits(h)
    share_c = add(x, share_g)
    v_g = toeplitz(mu_g, h, share_g + pad_g, mask_g)
    v_c = toeplitz(mu_c, h, share_c + pad_c, mask_c)
    run = derive("garblet 2026 outsourced run v1", digest + struct.pack("<H", 1) + counter)
    d_g, d_c = (derive("garblet 2026 outsourced challenge v1", run + bytes([s]) + mu) for s, mu in ((0, mu_g), (1, mu_c)))
    to_g = digest + counter + seed_g + d_g + mu_c + packed(v_c)
    to_c = digest + counter + seed_c + d_c + mu_g + packed(v_g) + packed(share_c)
    return to_g, to_c, pad_g, pad_c, run


def receipt(state, counter, version, chain):
    return b"\1" + struct.pack("<QQ", counter, version) + chain + text(state)


def invitation(server, secret, server_name, client_name):
    body = b"\1" + server + secret + text(server_name) + text(client_name)
    return "garblet-invitation:" + (body + derive("garblet 2026 outsourced invitation check v1", body)[:4]).hex()


def visit(case):
    """A visit that follows from a seed: what the client sends, hears and gets."""
    n, m, counter = case["inputs"], case["outputs"], struct.pack("<Q", case["counter"])
    fresh = Stream(bytes([case["counter"] % 256 ^ 0x55] * 16))
    identity = derive("garblet 2026 outsourced client v1", case["name"].encode())
    job = encode_job(case, identity)
    digest = derive("garblet 2026 outsourced job v1", job)
    seed, x, secrets = fresh.bytes(32), fresh.bits(n), [fresh.bytes(32), fresh.bytes(32)]
    stream = Stream(derive("garblet 2026 outsourced visit v1", seed + digest + counter + packed(x))[:16])
    to_g, to_c, pad_g, pad_c, run = deal(case, digest, stream.bytes(64), x)
    nonces = [stream.bytes(12), stream.bytes(12)]
    frames = [
        b"\1\1" + identity + struct.pack("<I", len(job)) + job
        + seal(secrets[server], 0, server, case, digest, nonces[server], message)
        for server, message in enumerate([to_g, to_c])
    ]  # fmt: skip
    version, state = (5, "ledger") if case["state"] else (0, "")
    y, chain = fresh.bits(m), fresh.bytes(32) if case["state"] else bytes(32)
    answer = b"\1" + run + struct.pack("<Q", version) + chain + packed(add(y, add(pad_g, pad_c)))
    heard = [b"\1\3" + seal(secrets[s], 1, s, case, digest, fresh.bytes(12), answer, nonces[s]) for s in range(2)]
    refusal = b"\2" + run + struct.pack("<Q", 7) + bytes([8] * 32) + b"\7\0"
    refused = [b"\1\3" + seal(secrets[s], 1, s, case, digest, fresh.bytes(12), refusal, nonces[s]) for s in range(2)]
    before = receipt(state, case["counter"] - 1, 0, bytes(32))
    pending = b"\1" + digest + struct.pack("<HQI", 1, case["counter"], m) + packed(add(pad_g, pad_c))
    pending += (b"\2" + text(state) + struct.pack("<Q", version) if state else b"\0") + before
    hexed = {
        "job": job, "digest": digest, "seed": seed, "input": packed(x), "receipt": before, "pending": pending,
        "kept_receipt": receipt(state, case["counter"], 0, bytes(32)),
        "to_generator": frames[0], "to_cloud": frames[1], "from_generator": heard[0], "from_cloud": heard[1],
        "refused_generator": refused[0], "refused_cloud": refused[1], "output": packed(y),
        "next_receipt": receipt(state, case["counter"], version, chain),
    }  # fmt: skip
    invitations = {
        "invitation_generator": invitation(b"\xaa" * 32, secrets[0], "the generator", case["name"]),
        "invitation_cloud": invitation(b"\xdd" * 32, secrets[1], "the cloud", case["name"]),
    }
    return case | invitations | {name: value.hex() for name, value in hexed.items()}


def fill(case):
    n, m, h = case["inputs"], case["outputs"], case["statistical"] + 8
    fresh = Stream(bytes([case["counter"] % 256] * 16))
    job = encode_job(case)
    digest = derive("garblet 2026 outsourced job v1", job)
    random, x = fresh.bytes(64), fresh.bits(n)
    to_g, to_c, pad_g, pad_c, run = deal(case, digest, random, x)
    y, chain = fresh.bits(m), fresh.bytes(32) if case["state"] else bytes(32)
    answer = b"\1" + run + struct.pack("<Q", 5 if case["state"] else 0) + chain + packed(add(y, add(pad_g, pad_c)))
    secret, nonce, submission = fresh.bytes(32), fresh.bytes(12), fresh.bytes(12)
    assert len(to_g) + len(to_c) + 2 * len(answer) == 354 + 2 * (h // 8) + (n + 7) // 8 + 2 * ((m + 7) // 8)
    refusal = b"\2" + run + struct.pack("<Q", 4) + bytes([7] * 32) + b"\7\2" + struct.pack("<HH", 0, 2)
    refusal = refusal if case["state"] else b"\2" + run + bytes(40) + b"\4\0"
    identity = derive("garblet 2026 outsourced client v1", case["name"].encode())
    sealed_to_cloud = seal(secret, 0, 1, case, digest, nonce, to_c)
    sealed_from_generator = seal(secret, 1, 0, case, digest, nonce, answer, submission)
    pending = b"\1" + digest + struct.pack("<HQI", 1, case["counter"], m) + packed(add(pad_g, pad_c))
    pending += b"\2" + text("ledger") + struct.pack("<Q", 5) if case["state"] else b"\0"
    hexed = {
        "job": job, "digest": digest, "random": random, "input": packed(x), "to_generator": to_g, "to_cloud": to_c,
        "answer": answer, "output": packed(y), "secret": secret, "nonce": nonce,
        "submission_nonce": submission,
        "sealed_to_cloud": sealed_to_cloud, "sealed_from_generator": sealed_from_generator,
        "refusal": refusal, "identity": identity, "pending": pending,
        "frame_to_cloud": b"\1\1" + identity + struct.pack("<I", len(job)) + job + sealed_to_cloud,
        "frame_from_generator": b"\1\3" + sealed_from_generator,
    }  # fmt: skip
    return case | {name: value.hex() for name, value in hexed.items()}


SHAPES = [(40, 1, 1), (40, 64, 32), (40, 0, 9), (64, 13, 70), (80, 129, 0), (80, 200, 8)]
CASES = [
    {"statistical": s, "inputs": n, "outputs": m, "counter": 3 + 1000 * i, "state": i % 2 == 1, "name": f"Zoë {i}"}
    for i, (s, n, m) in enumerate(SHAPES)
]
NOTE = (
    "Messages of client 1 of 2 in outsourced runs, made by vectors/outsourced_client.py, which shares no code with the crate. "
    "All values are in hexadecimal; `random` is what the client draws, in order: s_G, s_C, mu_G, mu_C. "
    "`submission_nonce` is that of the generator's sealed submission, which is not here. "
    "`identity` is that of the client's name; the job has another, so the frames are for their form alone. `visits` are whole: "
    "all that the client draws follows from `seed`."
)
print(json.dumps({"note": NOTE, "cases": [fill(case) for case in CASES], "visits": [visit(case) for case in CASES]}, indent=2))
