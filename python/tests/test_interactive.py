"""Secrets step by step, against plain Python."""

from __future__ import annotations

import socket
from collections.abc import Callable
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
    for parties in (0, 1, -2, True, 2.0):
        with pytest.raises(garblet.UsageError, match="parties: expected 2 or more"):
            garblet.interactive(parties)  # type: ignore[arg-type]
    with pytest.raises(garblet.UsageError, match="protocol: expected one of yao, .*, got 'x'"):
        garblet.interactive(protocol="x")  # type: ignore[arg-type]
    with garblet.interactive(party=1, connect="127.0.0.1:1") as alone, pytest.raises(garblet.UsageError, match="expected None"):
        alone.input(0, 5, "u8")


PAIRS = "[(u8, u8); 2]"


def test_no_check_is_lost() -> None:
    with garblet.interactive() as mpc:
        once, twice = mpc.input(0, [(1, 10), (2, 20)], PAIRS), mpc.input(1, [(1, 5), (1, 6)], PAIRS)
        assert mpc.reveal(garblet.join(once, once)) == [((1, 10), (1, 10)), ((2, 20), (2, 20))]
        for one, other in [(once, twice), (twice, once)]:
            for value in (garblet.join(one, other), garblet.join(one, other).length(), garblet.join(one, other)[0][0][1]):
                with pytest.raises(garblet.Panicked):
                    mpc.reveal(value)


def test_inputs_are_what_they_were() -> None:
    with garblet.interactive() as mpc:
        own, listed = np.array([1, 2, 3]), [{"id": 1, "price": 2}]
        a, b = mpc.input(0, own, "[u8; 3]"), mpc.input(1, listed, "[Offer; 1]")
        assert mpc.reveal((a.sum(), b[0].price)) == (6, 2)
        own += 10
        listed[0]["price"] = 9
        assert mpc.reveal((a.sum(), b[0].price)) == (6, 2)
        with pytest.raises(garblet.UsageError, match="can be given again in each run, got a generator"):
            mpc.input(0, (k for k in range(3)), "[u8; 3]")


def test_a_mistake_leaves_the_block_as_it_was() -> None:
    def oops(x: Any) -> Any:
        return x + "oops"

    with garblet.interactive() as mpc:
        a, b = mpc.input(0, [1, 2], "[u8; 2]"), mpc.input(1, 3, "u8")
        mistakes: list[Callable[[], Any]] = [lambda: garblet.map(oops, a), lambda: garblet.sorted(a, key=oops), lambda: garblet.loop(lambda s, x: oops(x), b, a)]
        for wrong in mistakes:
            with pytest.raises(TypeError):
                wrong()
        for inside in (lambda x: mpc.reveal(x), lambda x: mpc.input(0, 1, "u8") + x):
            with pytest.raises(garblet.UsageError, match="belong to the block itself"):
                garblet.map(inside, a)
        assert mpc.reveal(b + 1) == 4 and mpc.reveal(garblet.map(lambda x: x + b, a)) == [4, 5]


def test_records_change_and_come_back() -> None:
    with garblet.interactive() as mpc:
        offers, k = mpc.input(0, [{"id": 1, "price": 90}, {"id": 2, "price": 50}], "[Offer; 2]"), mpc.input(1, 1, "u8")
        offers[0].price = offers[0].price - 80
        made: Any = Offer
        assert mpc.reveal(offers) == [made(1, 10), made(2, 50)]
        assert mpc.reveal((garblet.sorted(offers, key=lambda offer: offer.price)[0], k)) == (made(1, 10), 1)
        offers[k].price = k.astype("u32")
        with pytest.raises(TypeError, match="the field `price` of a record Offer was changed"):
            mpc.reveal(offers[1].price)


def test_values_that_need_no_input_are_revealed() -> None:
    with garblet.interactive() as mpc:
        a = mpc.input(1, 7, "u8")
        assert (mpc.reveal(garblet.known(5, "u8")), mpc.reveal(a**0), mpc.reveal(garblet.known(6, "u8"), to=[0])) == (5, 1, 6)


def test_a_cell_with_a_dataclass_can_be_run_again() -> None:
    def cell(fields: dict[str, Any]) -> Any:
        return dataclass(type("Cell", (), {"__annotations__": fields}))

    with garblet.interactive() as mpc:
        first = mpc.input(0, {"x": 1, "y": 2}, cell({"x": "u8", "y": "u8"}))
        again = mpc.input(1, {"x": 3, "y": 4}, cell({"x": "u8", "y": "u8"}))
        assert mpc.reveal(first.x + again.y) == 5
        with pytest.raises(garblet.UsageError, match="two records are called Cell, with fields of different") as caught:
            mpc.input(1, {"x": 3}, cell({"x": "u8"}))
        assert "a new block" in str(caught.value.hint)


def test_every_reveal_counts() -> None:
    """A reveal that one party cannot even begin has been begun by the other."""
    with garblet.interactive() as mpc:
        a = mpc.input(0, 1, "u8")
        with pytest.raises(TypeError):
            mpc.reveal("text")
        with pytest.raises(garblet.CompileError):
            mpc.reveal(mpc._tracer.let("nonsense", "u8"))
        assert mpc.reveal(a) == 1 and mpc._runs == 3


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
