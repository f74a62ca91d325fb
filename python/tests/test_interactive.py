"""Secrets step by step, against plain Python."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

import garblet
import numpy as np
import pytest
from conftest import both


@dataclass
class Offer:
    id: garblet.u16
    price: garblet.u32


def test_steps_are_revealed_one_by_one() -> None:
    with garblet.interactive(parties=2) as mpc:
        a, b = mpc.input(0, -7, "i32"), mpc.input(1, 2, "i32")
        c = a // b
        assert mpc.reveal(c) == -7 // 2
        d = c * c + garblet.known(1, "i32")
        assert mpc.reveal((d, d > a, abs(a))) == (17, True, 7)
        values = mpc.input(1, np.array([3, 1, 2]), "[u16; 3]")
        assert mpc.reveal(garblet.sorted(values)) == [1, 2, 3]
        assert mpc.reveal(values[0]) == 3
        kept = garblet.keep(values > 1, values)
        kept.append(9)
        length = kept.length()
        kept.append(7, when=b > 5)
        assert mpc.reveal(kept) == [3, 2, 9] and mpc.reveal(length) == 3
        offer = mpc.input(0, {"id": 3, "price": 10}, Offer)
        assert mpc.reveal(offer) == Offer(3, 10)  # type: ignore[arg-type]
        assert mpc.report is not None and mpc.report.costs["online"].bytes_sent > 0


def test_only_what_a_value_needs_is_computed() -> None:
    with garblet.interactive() as mpc:
        a, b = mpc.input(0, 200, "u8"), mpc.input(1, 100, "u8")
        wrong, right = a + b, a - b
        assert mpc.reveal(right) == 100
        with pytest.raises(garblet.Panicked) as caught:
            mpc.reveal(wrong)
        assert caught.value.__notes__[-1].startswith("in Python at test_interactive.py:")
        # And it goes on.
        unused = mpc.input(1, 1, "u8")
        assert mpc.reveal(garblet.map(lambda x: x + a, garblet.SecretArray([b - 99]))[0]) == 201
        assert mpc.reveal(unused) == 1


def test_three_parties_and_functions() -> None:
    @garblet.function
    def fee(amount: garblet.u32, rate: garblet.u32) -> Any:
        return amount * rate // 100

    with garblet.interactive(parties=3, protocol="gmw") as mpc:
        a, b, c = (mpc.input(party, 1000 * (party + 1), "u32") for party in range(3))
        assert mpc.reveal(fee(a, 5) + fee(b, 5) + c) == 50 + 100 + 3000
        assert mpc.reveal(a + c, to=[1]) == 4000


def test_wrong_steps_are_told() -> None:
    mpc = garblet.interactive()
    with pytest.raises(garblet.UsageError, match="has not begun"):
        mpc.input(0, 1, "u8")
    with mpc:
        secret = mpc.input(0, 1, "u8")
        for party, value, words in [(2, 1, "a party from 0 to 1, got 2"), (0, None, "expected a value")]:
            with pytest.raises(garblet.UsageError, match=words):
                mpc.input(party, value, "u8")
        with pytest.raises(garblet.InputError, match="expected u8"):
            mpc.reveal(mpc.input(0, 256, "u8") + secret)
        with garblet.interactive() as other:
            with pytest.raises(TypeError, match="one of another"):
                other.reveal(secret)
    with pytest.raises(garblet.UsageError, match="the block is over"):
        mpc.reveal(secret)
    with pytest.raises(garblet.UsageError, match="listen without a party"):
        garblet.interactive(listen="127.0.0.1:0")
    with pytest.raises(garblet.UsageError, match="party: expected 0 to 1, got 5"):
        garblet.interactive(party=5)
    with garblet.interactive(party=1, connect="127.0.0.1:1") as alone, pytest.raises(garblet.UsageError, match="expected None"):
        alone.input(0, 5, "u8")


def free() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def test_two_that_do_the_same_steps_learn_the_values_and_others_refuse(identities: list[garblet.Identity]) -> None:
    address = free()
    way: list[dict[str, Any]] = [
        {"listen": address, "identity": identities[0], "trust": {"bob": identities[1].fingerprint}},
        {"connect": address, "identity": identities[1], "trust": {"alice": identities[0].fingerprint}},
    ]

    def part(party: int, last: int) -> Any:
        mine = (5_000_000, 3_000_000)[party]
        with garblet.interactive(party=party, session="may-5", timeout=20, **way[party]) as mpc:
            a, b = (mpc.input(of, mine if of == party else None, "u32") for of in range(2))
            richer = mpc.reveal(a > b)
            mean = mpc.reveal((a + b) // 2, to=[1])
            try:
                return richer, mean, mpc.reveal(a + b * last)
            except garblet.PeerError as error:
                return richer, mean, error

    assert both(lambda: part(0, 2), lambda: part(1, 2)) == [(True, None, 11_000_000), (True, 4_000_000, 11_000_000)]
    for richer, _, refused in both(lambda: part(0, 2), lambda: part(1, 3)):
        assert richer is True and isinstance(refused, garblet.PeerError)
