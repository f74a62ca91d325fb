"""Tables cut by key: the room of shards against exact probabilities, and joins in shards against plain Python."""

from __future__ import annotations

import array
import datetime
import decimal
import enum
import math
import pickle
import random
from fractions import Fraction
from typing import Any

import garblet
import numpy as np
import pytest
from conftest import both
from garblet.sharding import room_for

SEED = "drawn when both tables were fixed"


def sharding(shards: int, seed: str | bytes = SEED, failure_bits: int = 40, **rows: int) -> garblet.Sharding:
    return garblet.Sharding(shards=shards, rows=rows, seed=seed, failure_bits=failure_bits)


def overflow(rows: int, shards: int, room: int) -> Fraction:
    """The exact probability that one of the shards has more rows than there is room for: the arrangements that fit are counted shard by shard."""
    fitting = [1] + [0] * rows
    for _ in range(shards):
        fitting = [sum(math.comb(so_far, here) * fitting[so_far - here] for here in range(min(room, so_far) + 1)) for so_far in range(rows + 1)]
    return 1 - Fraction(fitting[rows], shards**rows)


def tails(rows: int, shards: int) -> list[Fraction]:
    """For each room, the exact probability that one given shard has more rows."""
    tail, terms = 0, []
    for here in range(rows, -1, -1):
        terms.append(Fraction(tail, shards**rows))
        tail += math.comb(rows, here) * (shards - 1) ** (rows - here)
    return terms[::-1]


@pytest.mark.parametrize("failure_bits", [1, 3, 10, 40])
def test_the_room_is_no_less_than_the_exact_probability_asks_for(failure_bits: int) -> None:
    for rows, shards in ((1, 1), (1, 7), (2, 2), (9, 3), (20, 2), (30, 7), (40, 64), (60, 5)):
        room = room_for(rows, shards, failure_bits)
        assert 1 <= room <= rows
        assert overflow(rows, shards, room) <= Fraction(1, 2**failure_bits), (rows, shards, room)


@pytest.mark.parametrize(("rows", "shards"), [(300, 2), (300, 10), (600, 64), (600, 500)])
def test_the_room_of_large_tables_is_near_the_least(rows: int, shards: int) -> None:
    room, wanted, known = room_for(rows, shards, 40), Fraction(1, 2**40), tails(rows, shards)
    assert shards * known[room] <= wanted
    # The least room that the sum of all shards' exact probabilities allows.
    least = next(less for less in range(rows) if shards * known[less] <= wanted)
    assert least <= room <= least + 3, (least, room)


def test_the_room_grows_with_rows_and_certainty_and_is_never_more_than_all() -> None:
    assert [room_for(100, 1, bits) for bits in (1, 40)] == [100, 100]
    assert [room_for(rows, 10**9, 40) for rows in (1, 2, 3)] == [1, 2, 2]
    rooms = [room_for(rows, 8, 40) for rows in range(1, 400)]
    assert rooms == sorted(rooms)
    assert room_for(1000, 8, 20) < room_for(1000, 8, 40) < room_for(1000, 8, 80)
    # A decimal context of the caller has no influence.
    with decimal.localcontext(decimal.Context(prec=3, rounding=decimal.ROUND_UP)):
        assert room_for(1000, 8, 40) == 212


def test_shards_overflow_as_often_as_the_exact_probability_says() -> None:
    rows, shards, room, seeds = 60, 4, 21, 1500
    loads = []
    for seed in range(seeds):
        cut = sharding(shards, seed=seed.to_bytes(16, "little"), a=rows)
        loads.append(max(map([cut.shard_of(key) for key in range(rows)].count, range(shards))))
    expected = float(overflow(rows, shards, room))
    frequency = sum(load > room for load in loads) / seeds
    assert abs(frequency - expected) < 4 * math.sqrt(expected * (1 - expected) / seeds), (frequency, expected)


@pytest.mark.parametrize("failure_bits", [1, 2, 3])
def test_tables_fit_as_often_as_is_stated(failure_bits: int) -> None:
    seeds, full = 400, 0
    for seed in range(seeds):
        try:
            sharding(5, seed=bytes(8) + seed.to_bytes(8, "big"), failure_bits=failure_bits, a=200).cut("a", range(200))
        except garblet.InputError as error:
            assert "more than the" in str(error)
            full += 1
    # Some do not fit, or this would test nothing.
    assert 0 < full <= seeds * 2**-failure_bits


def test_a_number_is_in_the_same_shard_whatever_its_type() -> None:
    class Kind(enum.IntEnum):
        FIRST = 77

    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    cut = sharding(97, a=10)
    numbers = [77, 0, 1, 2**31, 2**63 - 1]
    places = [cut.shard_of(number) for number in numbers]
    assert len(set(places)) > 2
    columns: list[Any] = [numbers, tuple(numbers), array.array("Q", numbers), memoryview(array.array("q", numbers))]
    columns += [np.array(numbers, dtype=type) for type in ("int64", "uint64", ">i8", "object")] + [[np.int64(number) for number in numbers]]
    columns += [pandas.Series(numbers), pandas.Series(numbers, index=[4, 3, 2, 1, 0], dtype="UInt64"), pandas.Index(numbers)]
    columns += [polars.Series(numbers), polars.Series(numbers, dtype=polars.Int128), pyarrow.array(numbers), pyarrow.chunked_array([numbers[:2], numbers[2:]])]
    for column in columns:
        shards = cut.cut("a", column)
        assert [place for number in numbers for place, part in enumerate(shards) if number in list(part["a"])] == places, type(column)
    assert cut.shard_of(Kind.FIRST) == cut.shard_of(np.uint8(77)) == cut.shard_of(np.int64(77)) == places[0]
    # Negative numbers are others than positive ones of the same bits.
    assert cut.shard_of(-1) == cut.shard_of(np.int8(-1)) != cut.shard_of(255)
    assert cut.shard_of(-1) != cut.shard_of(2**64 - 1) and cut.shard_of(2**64) != cut.shard_of(0)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ([1, "2"], r"input `a`\[1\]: expected a whole number, got a str"),
        ([b"12"], r"\[0\]: expected a whole number, got a bytes"),
        ([1, 2.0], r"\[1\]: expected a whole number, got a float"),
        (np.array([1.0]), r"\[0\]: expected a whole number, got a float"),
        ([True], r"\[0\]: expected a whole number, got a bool"),
        (np.array([True, False]), r"\[0\]: expected a whole number, got a bool"),
        ([np.True_], r"\[0\]: expected a whole number, got a bool"),
        ([3, None], r"\[1\]: expected a whole number, got a NoneType"),
        ([decimal.Decimal(3)], "got a Decimal"),
        ([datetime.date(2026, 5, 1)], "got a date"),
        (np.array(["2026-05-01"], dtype="datetime64[D]"), "expected numbers, got times"),
        (np.ma.array([1, 2], mask=[False, True]), "expected a value in every row, got 1 masked"),
        ([[1, 2]], "got a list"),
        ([{"key": 1}], "got a dict"),
        (np.array([[1], [2]]), "got a list"),
        (np.array(7), "expected a column"),
        ({1, 2}, "expected a column, got a set"),
        (5, "expected a column, got a int"),
        ("12", "expected a column, got a str"),
    ],
)
def test_keys_that_are_no_numbers_are_refused(keys: Any, words: str) -> None:
    with pytest.raises(garblet.InputError, match=words) as caught:
        sharding(2, a=10).cut("a", keys)
    assert "2026" not in str(caught.value) and "12" not in str(caught.value)


def test_a_key_that_repeats_is_told_by_its_places_alone() -> None:
    cut = sharding(3, a=100)
    with pytest.raises(garblet.InputError, match=r"^input `a`\[4\]: expected each key once, got the key of \[1\] again") as caught:
        cut.cut("a", [30, 7001, 50, 60, 7001, 30, 50, 7001])
    assert "7001" not in str(caught.value)
    with pytest.raises(garblet.InputError, match=r"^input `a`, column `key`\[1\]: expected each key once, got the key of \[0\] again"):
        cut.cut("a", {"key": np.array([-1, -1], dtype=np.int8), "value": [1, 2]}, key="key")


@pytest.mark.parametrize(
    ("table", "key", "words"),
    [
        ({"key": [1], "value": [2]}, None, "expected the name of the column of keys, got None"),
        ({"key": [1], "value": [2]}, "id", "expected the name of the column of keys, got 'id'"),
        ([1, 2], "id", "expected a table with a column `id`, got a list"),
        ({"key": [1, 2], "value": [2]}, "key", "expected columns of one length"),
        ({"1": [1], 1: [2]}, "1", "expected columns of different names"),
        (list(range(5)), None, "expected at most 4 rows, got 5"),
    ],
)
def test_tables_that_cannot_be_cut_are_refused(table: Any, key: str | None, words: str) -> None:
    with pytest.raises(garblet.InputError, match=words):
        sharding(2, a=4).cut("a", table, key=key)


def test_frames_that_have_no_rows_yet_or_rows_of_another_index_are_refused() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    cut = sharding(2, a=4)
    with pytest.raises(garblet.InputError, match="LazyFrame"):
        cut.cut("a", polars.LazyFrame({"key": [1]}), key="key")
    with pytest.raises(garblet.InputError, match="expected columns with one index"):
        cut.cut("a", {"key": pandas.Series([1, 2]), "value": pandas.Series([1, 2], index=[1, 0])}, key="key")
    with pytest.raises(garblet.InputError, match="expected a value in every row, got 1 missing"):
        cut.cut("a", pandas.DataFrame({"key": [1, None]}), key="key")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"shards": 0}, "shards: expected 1 to"),
        ({"shards": 2.0}, "shards: expected a whole number"),
        ({"rows": {}}, "rows: expected the most rows for each input"),
        ({"rows": 7}, "rows: expected the most rows for each input"),
        ({"rows": {"a": 0}}, "rows: `a`: expected 1 to"),
        ({"seed": "may-5"}, "seed: expected 16 bytes or more, got 5"),
        ({"seed": 7}, "seed: expected a text or bytes"),
        ({"failure_bits": 0}, "failure_bits: expected 1 to"),
    ],
)
def test_agreements_that_are_none_are_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(garblet.UsageError, match=words):
        garblet.Sharding(**{"shards": 2, "rows": {"a": 4}, "seed": SEED, **more})


def test_a_program_with_other_room_is_refused() -> None:
    cut = sharding(3, a=50, b=80)
    cut.check(garblet.load("lib:join({a},{b},16,16)".format(**cut.room)))
    for program, words in (
        (garblet.load("lib:join({b},{b},16,16)".format(**cut.room)), f"input `a`: expected a list of at most {cut.room['a']} rows"),
        (garblet.compile("pub fn main(a: [u8; 3], b: [u8; 3]) -> u8 { a[0] }"), "input `a`: expected a list"),
        (garblet.load("lib:millionaires(8)"), "input `a`: expected one of the program's inputs: alice, bob"),
    ):
        with pytest.raises(garblet.UsageError, match=words):
            cut.check(program)


def joined(cut: garblet.Sharding, ours: dict[int, int], theirs: dict[int, int], rng: random.Random) -> None:
    """Compares sums, joined rows and rows in the order of the table with plain Python."""
    keys, others = rng.sample(list(ours), len(ours)), rng.sample(list(theirs), len(theirs))
    table = {"value": np.array([theirs[key] for key in others], dtype=np.int64), "key": np.array(others, dtype=np.uint32)}
    a, b = cut.cut("a", keys), cut.cut("b", table, key="key")
    assert len(a) == len(b) == cut.shards
    programs = {name: garblet.load(f"lib:{name}({{a}},{{b}},16,{widths})".format(**cut.room)) for name, widths in (("intersection-sum", "16"), ("intersection", "0,16"), ("join", "16"))}
    known = {name: [program.evaluate(**one, **other) for one, other in zip(a, b, strict=True)] for name, program in programs.items()}
    assert all(outputs["in_order"] for of in known.values() for outputs in of)
    common = {key: theirs[key] for key in ours if key in theirs}
    assert sum(outputs["size"] for outputs in known["intersection-sum"]) == len(common)
    assert sum(outputs["sum"] for outputs in known["intersection-sum"]) == sum(common.values())
    assert {row["key"]: row["b"] for outputs in known["intersection"] for row in outputs["rows"]} == common
    rows = a.gather([outputs["rows"] for outputs in known["join"]])
    assert [row["value"] if row["found"] else None for row in rows] == [theirs.get(key) for key in keys]


@pytest.mark.parametrize("shards", [1, 2, 5, 40])
def test_joins_in_shards_are_those_of_plain_python(shards: int) -> None:
    rng = random.Random(shards)
    for sizes in ((0, 0), (0, 9), (1, 1), (7, 0), (13, 20), (20, 13)):
        tables = [dict.fromkeys(rng.sample(range(30), size)) for size in sizes]
        ours, theirs = ({key: rng.randrange(2**16) for key in table} for table in tables)
        joined(sharding(shards, a=20, b=20), ours, theirs, rng)


def test_joins_are_right_where_all_keys_are_in_one_shard() -> None:
    cut = sharding(3, a=20, b=20)
    there = [key for key in range(200) if cut.shard_of(key) == 1][:20]
    assert cut.room["a"] == 20
    joined(cut, dict.fromkeys(there[:15], 0), {key: key for key in there[5:]}, random.Random(1))


def test_keys_chosen_for_a_known_seed_fill_only_the_shards_of_their_own_table() -> None:
    cut = sharding(8, a=400, b=400)
    there = [key for key in range(8 * 400) if cut.shard_of(key) == 3]
    assert len(there) > cut.room["a"]
    with pytest.raises(garblet.InputError, match=rf"^input `a`: shard 3 has more than the {cut.room['a']} rows for which it has room") as caught:
        cut.cut("a", there[: cut.room["a"] + 1])
    assert caught.value.hint is not None and "fewer shards= or another seed=" in caught.value.hint
    # The room of the other table is as before, and one seed more is as good as the first.
    cut.cut("b", range(400))
    sharding(8, seed="another one, drawn later", a=400).cut("a", there[: cut.room["a"] + 1])


def test_the_bytes_of_a_run_do_not_depend_on_rows() -> None:
    cut = sharding(2, a=40, b=40)
    program = garblet.load("lib:intersection-sum({a},{b},16,16)".format(**cut.room))
    counted = []
    for ours, theirs in ((range(0), range(0)), (range(40), range(40)), (range(1000, 1001), range(7))):
        a, b = cut.cut("a", ours), cut.cut("b", {"key": theirs, "value": theirs}, key="key")
        for parts in zip(a, b, strict=True):
            reports = garblet.run_local(program, parts)
            counted.append([[(cost.bytes_sent, cost.rounds) for cost in report.costs.values()] for report in reports])
    assert all(counts == counted[0] for counts in counted)


def test_parties_that_cut_in_different_ways_do_not_meet() -> None:
    mine = sharding(2, a=10, b=20)
    program = garblet.load("lib:intersection-sum({a},{b},16,16)".format(**mine.room))
    # Also where the other program would be the same.
    for theirs in (sharding(2, seed="another one, by mistake", a=10, b=20), sharding(3, a=10, b=20), sharding(2, failure_bits=41, a=10, b=20)):
        assert mine.agreement != theirs.agreement and mine != theirs
        alice = garblet.Session(program, 0, listen="127.0.0.1:0", insecure_plain_tcp=True, session=mine.session("may-5", 0), timeout=5)
        assert alice.address is not None
        bob = garblet.Session(program, 1, connect="{}:{}".format(*alice.address), insecure_plain_tcp=True, session=theirs.session("may-5", 0), timeout=5)
        a, b = mine.cut("a", [1, 2]), theirs.cut("b", {"key": [2], "value": [5]}, key="key")
        for error in both(lambda: alice.run(**a[0]), lambda: bob.run(**b[0])):
            assert isinstance(error, garblet.PeerError)
    assert mine.session("may-5", 1) == f"may-5-{mine.agreement}-1" and mine.agreement == sharding(2, SEED.encode(), b=20, a=10).agreement
    with pytest.raises(garblet.UsageError, match="shard: expected 0 to 1, got 2"):
        mine.session("may-5", 2)


def test_parties_that_cut_alike_meet_in_every_shard() -> None:
    results = []
    cut = sharding(2, a=10, b=10)
    program = garblet.load("lib:intersection-sum({a},{b},16,16)".format(**cut.room))
    a, b = cut.cut("a", range(8)), cut.cut("b", {"key": range(5, 15), "value": [10] * 10}, key="key")
    for shard in range(2):
        name = cut.session("may-5", shard)
        alice = garblet.Session(program, 0, listen="127.0.0.1:0", insecure_plain_tcp=True, session=name)
        assert alice.address is not None
        bob = garblet.Session(program, 1, connect="{}:{}".format(*alice.address), insecure_plain_tcp=True, session=name)
        with alice, bob:
            results.append(both(lambda: alice.run(**a[shard]), lambda: bob.run(**b[shard])))
    assert sum(one["sum"] for one, _ in results) == sum(other["sum"] for _, other in results) == 30


def test_an_agreement_shows_and_pickles_no_other_thing() -> None:
    cut = garblet.Sharding(shards=np.int64(2), rows={"a": np.int32(10)}, seed=SEED)  # type: ignore[arg-type,dict-item]
    assert SEED not in repr(cut) and SEED not in repr(cut.cut("a", [1])) and type(cut.shards) is int
    assert pickle.loads(pickle.dumps(cut)) == cut == sharding(2, a=10) != sharding(2, a=11)


def test_results_that_are_not_those_of_all_rows_are_refused() -> None:
    own = sharding(3, a=10).cut("a", range(10))
    with pytest.raises(garblet.UsageError, match="expected those of 3 shards, got 2"):
        own.gather([[], []])
    with pytest.raises(garblet.UsageError, match="shard 0: expected one for each of its"):
        own.gather([[], [], []])
    with pytest.raises(garblet.UsageError, match="expected another input, with a value for each of 3 shards, got 2"):
        own.beside(mask=[1, 2])
    with pytest.raises(garblet.UsageError, match="got the table's own input"):
        own.beside(a=[1, 2, 3])
    assert [part["x"] + part["y"] for part in own.beside(x=[1, 2, 3]).beside(y=[10, 20, 30])] == [11, 22, 33]
    assert sharding(4, a=10).cut("a", []).gather([[], [7], [], []]) == []


def test_the_mask_of_an_output_hides_it_and_the_sums_tell_the_total() -> None:
    cut = sharding(4, a=30, b=30)
    plain = garblet.load("lib:intersection-sum({a},{b},16,16)".format(**cut.room))
    masked = plain.masked("size", 0).masked("sum", 0)
    assert masked.and_gates == plain.and_gates + 2 * 63
    assert [(port.name, port.type, port.recipients) for port in masked.outputs[:2]] == [("size", "u64", [1]), ("sum", "u64", [1])]
    assert [(port.name, port.owner) for port in masked.inputs] == [("a", 0), ("b", 1), ("size_mask", 0), ("sum_mask", 0)]
    assert pickle.loads(pickle.dumps(masked)).digest == masked.digest != plain.digest
    rng = random.Random(3)
    masks = [rng.randrange(2**64) for _ in range(4)]
    a = cut.cut("a", range(0, 60, 2)).beside(size_mask=[0, 1, 2, 3], sum_mask=masks)
    b = cut.cut("b", {"key": range(0, 90, 3), "value": range(30)}, key="key")
    found = [garblet.run_local(masked, parts) for parts in zip(a, b, strict=True)]
    # Party 0 learns neither.
    assert all(set(one.outputs) == {"in_order"} for one, _ in found)
    assert (sum(other["sum"] for _, other in found) - sum(masks)) % 2**64 == sum(range(0, 20, 2))
    assert sum(other["size"] for _, other in found) == 10 + 6
    # A list that is not in order is refused as before.
    with pytest.raises(garblet.InputError, match="expected ascending order"):
        masked.evaluate(a=[2, 1], b=[], size_mask=0, sum_mask=0)


def test_masks_are_for_numbers_and_panics_stay_panics() -> None:
    program = garblet.compile("pub fn main(a: u8, b: u8) -> (u8, bool, i8) { (a + b, a > b, 1i8) }")
    masked = program.masked("out0", 1)
    rng = random.Random(5)
    for _ in range(20):
        a, b, mask = rng.randrange(128), rng.randrange(128), rng.randrange(2**64)
        assert masked.evaluate(a=a, b=b, out0_mask=mask) == {"out0": (a + b + mask) % 2**64, "out1": a > b, "out2": 1}
    with pytest.raises(garblet.Panicked, match="add with overflow|overflow"):
        masked.evaluate(a=200, b=100, out0_mask=0)
    for output, words in (("out1", "expected an unsigned number of at most 64 bits, got bool"), ("out2", "got i8"), ("out3", "no output `out3`")):
        with pytest.raises(garblet.UsageError, match=words):
            program.masked(output, 0)
    with pytest.raises(garblet.UsageError, match="output `out0`: a mask of party 0 would hide it from all"):
        masked.masked("out0", 0)
    taken = garblet.compile("pub fn main(a: u8, out0_mask: u8) -> u8 { a ^ out0_mask }")
    with pytest.raises(garblet.UsageError, match="clash|taken|twice|already|out0_mask"):
        taken.masked("out0", 0)
    with pytest.raises(garblet.UsageError, match="output `out0`: expected an unsigned number"):
        program.batch(2).masked("out0", 0)
    assert garblet.compile("pub fn main(a: u64, b: u64) -> u64 { a ^ b }").masked("out0", 0).evaluate(a=1, b=2, out0_mask=2**64 - 3) == {"out0": 0}
