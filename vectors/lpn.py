"""Bits of work of attacks on the parameter sets of silent OT: `python3 vectors/lpn.py`.

The cost models are those of the estimator of Wang and others (1234wangtr/Code_estimators, commit 41e013c): Gauss, SD-ISD and BJMM of Liu, Wang, Yang and Yu
(ePrint 2022/712) on the instance without its `t` parity checks, and regular ISD by permutation and by enumeration of Esser and Santini (ePrint 2023/1568).
Binomials are by `lgamma`, so the bits are good to about a hundredth. The hybrid attack (ePrint 2025/1284) and AGB 2 (ePrint 2025/1476) are not computed here.
"""

from math import ceil, floor, inf, lgamma, log, log2

SETS = {"default": (1_843_200, 139_264, 900), "large": (10_485_760, 524_288, 1_280)}


def choose(n, m):
    """The binary logarithm of a binomial coefficient."""
    if m < 0 or m > n:
        return -inf
    return (lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1)) / log(2)


def total(*terms):
    """The binary logarithm of a sum, from those of its terms."""
    largest = max(terms)
    return largest if largest == -inf else largest + log2(sum(2 ** (term - largest) for term in terms))


def lowest(cost, start, end):
    """The least value of a function that falls and then rises over whole numbers."""
    while end - start > 30:
        low, high = start + (end - start) // 3, end - (end - start) // 3
        if cost(low) > cost(high):
            start = low
        else:
            end = high
    return min(cost(at) for at in range(max(start - 10, 0), end + 10))


def gauss(n, k, t):
    return 2.8 * log2(min(k, n - k)) + choose(n, t) - choose(n - k, t)


def elimination(n, k, l):
    """The cost of one Gaussian elimination."""
    return log2(n - k - l) + log2(n) - log2(log2(n - k - l))


def sd_isd(n, k, t):
    def cost(l, p):
        l = (k + l) // 2 * 2 - k + 2
        if n - k - l < 2:
            return inf
        half = choose((k + l) // 2, p // 2)
        pairs = 2 * half - l
        if half > 999 or pairs > 999:
            return inf
        success = choose(n - k - l, t - p) - choose(n, t) + l + pairs
        return inf if success >= 0 else total(elimination(n, k, l), 1 + half, 1 + pairs) + log2(n) - success

    return min(lowest(lambda l: cost(l, p), 1, n // 64) for p in range(0, 40, 2))


def bjmm(n, k, t):
    def cost(l, p2, e1, e2):
        l_even = (k + l) // 2 * 2 - k + 2
        m, p1 = k + l, 2 * (p2 - e2)
        p = 2 * (p1 - e1)
        r2 = choose(p2, e2) + choose(m - p2, p2 - e2) - choose(m, p2) + 4 * choose(m // 2, p2 // 2) - choose(m, p1)
        if r2 == -inf:
            return inf
        r2 = min(max(int(r2), 0), l - 1)
        r1 = int(choose(p1, e1) + choose(m - p1, p1 - e1) + choose(m, p1) - choose(m, p)) - r2
        r1 = min(max(r1, 0), l - r2 - 1)
        m, l = k + l_even, l_even
        s3 = choose(m // 2, p2 // 2)
        c3 = 2 * s3 - r2
        c2 = 2 * c3 - r1
        s1 = min(choose(p2, e2) + choose(m - p2, p2 - e2) - choose(m, p2) + c2, choose(m, p1) - r1 - r2)
        c1 = 2 * s1 - l + r1 + r2
        s0 = min(choose(p1, e1) + choose(m - p1, p1 - e1) - choose(m, p1) + c1, choose(m, p) - l)
        success = choose(n - m, t - p) + l + s0 - choose(n, t)
        if not success < 0:
            return inf
        return total(elimination(n, k, l), 3 + s3, 2 + c3, 1 + c2, 1 + c1) + log2(n) - success

    def best(l, p2):
        shapes = ((e1, e2) for e2 in range(p2) for e1 in range(2 * (p2 - e2)))
        return min((cost(l, p2, e1, e2) for e1, e2 in shapes), default=inf)

    return min(lowest(lambda l: best(l, p2), 1, 400) for p2 in range(2, 9, 2))


def regular(n, k, t):
    """The blocks of the error, and the dimension without the parity checks."""
    blocks = n // t
    return blocks, blocks * t - (n - k) - t, blocks * t


def permutation(n, k, t):
    _, k, n = regular(n, k, t)
    return 2 * log2(n - k) + log2(n) - t * log2(1 - k / n)


def enumeration(n, k, t):
    b, k, n = regular(n, k, t)
    costs = []
    for p in range(0, 30, 2):
        about = max(choose(round(t / 2), p // 2) + p / 2 * log2(k / t), 0)
        for l in range(ceil(about * 0.5), min(round(about * 1.5), n - k)):
            v = (k + l) / t
            success = choose(floor(t / 2), p // 2) + choose(ceil(t / 2), p // 2)
            success += log2(v / b) * p + log2(1 - v / b) * (t - p)
            half = choose(round(t / 2), p // 2) + log2(v) * (p / 2)
            costs.append(log2(n) + max(2 * log2(n - k), 1 + half, 2 * half - l) - success)
    return min(costs)


def main():
    print("set       Gauss  SD-ISD    BJMM  permutation  enumeration")
    for name, (n, k, t) in SETS.items():
        exact = [attack(n - t, k - t, t) for attack in (gauss, sd_isd, bjmm)]
        print(f"{name:8}{exact[0]:7.1f}{exact[1]:8.1f}{exact[2]:8.1f}", end="")
        print(f"{permutation(n, k, t):13.1f}{enumeration(n, k, t):13.1f}")


if __name__ == "__main__":
    main()
