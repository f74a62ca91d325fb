"""The group ristretto255 (RFC 9496), for base OT (file 7, "The group"). Not constant in time."""

from __future__ import annotations

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_M1 = 19681161376707505956807079304988542015446066515923890162744021073123829784752
SQRT_AD_MINUS_ONE = 25063068953384623474111414158702152701244531502492656460079210482610430750235
INVSQRT_A_MINUS_D = 54469307008909316920995813868745141605393597292927456921205312896311721017578
ONE_MINUS_D_SQ = (1 - D * D) % P
D_MINUS_ONE_SQ = (D - 1) ** 2 % P
D2 = 2 * D % P

# A point in extended coordinates X, Y, Z, T.
Point = tuple[int, int, int, int]
# A point prepared for addition: Y - X, Y + X, 2 d T, 2 Z.
Cached = tuple[int, int, int, int]

IDENTITY: Point = (0, 1, 1, 0)
ENCODED_IDENTITY = bytes(32)


def _sqrt_ratio(u: int, v: int) -> tuple[bool, int]:
    """SQRT_RATIO_M1 (RFC 9496, 4.2)."""
    v3 = v * v * v % P
    r = u * v3 * pow(u * v3 * v3 * v, (P - 5) // 8, P) % P
    check = v * r * r % P
    minus_u = -u % P
    flipped = check == minus_u
    if flipped or check == minus_u * SQRT_M1 % P:
        r = r * SQRT_M1 % P
    was_square = check == u % P or flipped
    return was_square, P - r if r & 1 else r


def _abs(x: int) -> int:
    x %= P
    return P - x if x & 1 else x


def decode(data: bytes) -> Point | None:
    """The point of a canonical encoding, else nothing (RFC 9496, 4.3.1)."""
    s = int.from_bytes(data, "little")
    if s >= P or s & 1:
        return None
    ss = s * s % P
    u1, u2 = (1 - ss) % P, (1 + ss) % P
    u2_sqr = u2 * u2 % P
    v = (-(D * u1 * u1) - u2_sqr) % P
    was_square, invsqrt = _sqrt_ratio(1, v * u2_sqr % P)
    den_x = invsqrt * u2 % P
    den_y = invsqrt * den_x * v % P
    x = _abs(2 * s * den_x)
    y = u1 * den_y % P
    t = x * y % P
    if not was_square or t & 1 or y == 0:
        return None
    return x, y, 1, t


def encode(point: Point) -> bytes:
    """The canonical encoding (RFC 9496, 4.3.2)."""
    x0, y0, z0, t0 = point
    u1 = (z0 + y0) * (z0 - y0) % P
    u2 = x0 * y0 % P
    _, invsqrt = _sqrt_ratio(1, u1 * u2 * u2 % P)
    den1, den2 = invsqrt * u1 % P, invsqrt * u2 % P
    z_inv = den1 * den2 * t0 % P
    if t0 * z_inv % P & 1:
        x, y, den_inv = y0 * SQRT_M1 % P, x0 * SQRT_M1 % P, den1 * INVSQRT_A_MINUS_D % P
    else:
        x, y, den_inv = x0, y0, den2
    if x * z_inv % P & 1:
        y = -y
    return _abs(den_inv * (z0 - y)).to_bytes(32, "little")


def _map(data: bytes) -> Point:
    t = (int.from_bytes(data, "little") & ((1 << 255) - 1)) % P
    r = SQRT_M1 * t * t % P
    u = (r + 1) * ONE_MINUS_D_SQ % P
    v = (-1 - r * D) * (r + D) % P
    was_square, s = _sqrt_ratio(u, v)
    c = P - 1
    if not was_square:
        s, c = -_abs(s * t) % P, r
    n = (c * (r - 1) * D_MINUS_ONE_SQ - v) % P
    w0, w1 = 2 * s * v % P, n * SQRT_AD_MINUS_ONE % P
    w2, w3 = (1 - s * s) % P, (1 + s * s) % P
    return w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P


def from_uniform(data: bytes) -> Point:
    """The element of 64 bytes (RFC 9496, 4.3.4)."""
    return add(_map(data[:32]), _map(data[32:64]))


def cache(p: Point) -> Cached:
    x, y, z, t = p
    return y - x, y + x, t * D2 % P, 2 * z


def add_cached(p: Point, q: Cached) -> Point:
    x, y, z, t = p
    a, b, c, d = (y - x) * q[0] % P, (y + x) * q[1] % P, t * q[2] % P, z * q[3] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def add(p: Point, q: Point) -> Point:
    return add_cached(p, cache(q))


def negate(p: Point) -> Point:
    return -p[0] % P, p[1], p[2], -p[3] % P


def double(p: Point) -> Point:
    x, y, z, _ = p
    a, b = x * x % P, y * y % P
    h = a + b
    e = (x + y) ** 2 % P - h
    g = b - a
    f = g - 2 * z * z % P
    return e * f % P, -g * h % P, f * g % P, -e * h % P


def multiply(scalar: int, point: Point) -> Point:
    """`scalar * point`, by windows of 4 bits."""
    table = [cache(IDENTITY), cache(point)]
    multiple = point
    for _ in range(14):
        multiple = add_cached(multiple, table[1])
        table.append(cache(multiple))
    result = IDENTITY
    scalar %= ORDER
    for shift in range((scalar.bit_length() + 3) // 4 * 4 - 4, -1, -4):
        result = double(double(double(double(result))))
        digit = scalar >> shift & 15
        if digit:
            result = add_cached(result, table[digit])
    return result


class Base:
    """A point with a table, for many products."""

    def __init__(self, point: Point) -> None:
        self._rows: list[list[Cached]] = []
        for _ in range(64):
            step = cache(point)
            row, multiple = [step], point
            for _ in range(14):
                multiple = add_cached(multiple, step)
                row.append(cache(multiple))
            self._rows.append(row)
            point = add_cached(multiple, step)

    def multiply(self, scalar: int) -> Point:
        result = IDENTITY
        scalar %= ORDER
        for row in self._rows:
            digit = scalar & 15
            if digit:
                result = add_cached(result, row[digit - 1])
            scalar >>= 4
            if not scalar:
                break
        return result


def _generator() -> Point:
    y = 4 * pow(5, -1, P) % P
    _, x = _sqrt_ratio((y * y - 1) % P, (D * y * y + 1) % P)
    return x, y, 1, x * y % P


GENERATOR = _generator()
