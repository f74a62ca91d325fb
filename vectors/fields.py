"""Sums, differences, products and inverses in the fields of three curves, as Python's integers give them: python3 vectors/fields.py.

Writes `fields.txt` beside it: a line for each pair of numbers a and b, with the field, a, b, a + b, a - b, a b and the inverse of a, in
hexadecimal. The first numbers are at the borders: near zero, near the prime, and near the power of two that has one bit more than it.
"""

import itertools
import pathlib
import random

FIELDS = {
    "curve25519": 2**255 - 19,
    "secp256k1": 2**256 - 2**32 - 977,
    "p256": 2**256 - 2**224 + 2**192 + 2**96 - 1,
}
PAIRS = 64


def pairs(prime, source):
    top = 1 << prime.bit_length()
    borders = [0, 1, prime - 1, prime, prime + 1, top - 1]
    yield from itertools.product(borders, borders)
    # Runs of ones and zeros, of which products and sums of residues have long carries.
    for _ in range(8):
        i, j = sorted(source.sample(range(top.bit_length()), 2))
        yield (1 << j) - (1 << i), (top - (1 << i)) % top
    while True:
        yield source.randrange(top), source.randrange(top)


def main():
    source = random.Random(39)
    lines = []
    for name, prime in FIELDS.items():
        for a, b in itertools.islice(pairs(prime, source), PAIRS):
            inverse = pow(a, -1, prime) if a % prime else 0
            results = [a, b, (a + b) % prime, (a - b) % prime, a * b % prime, inverse]
            lines.append(" ".join([name, *(f"{number:064x}" for number in results)]))
    (pathlib.Path(__file__).parent / "fields.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
