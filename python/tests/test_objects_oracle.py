"""Random statements on objects that change, on arrays of tuples and on repeated keys: with secrets, step by step, and with plain numbers of Python."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import garblet
import pytest
from garblet import trace
from garblet.types import parse
from test_oracle import Number, Unfit, literal

U8 = parse("u8")
TYPES = {"o": "[Row; 3]", "r": "Row", "t": "[(u8, u8); 3]", "w": "[(u8, u8); 3]", "v": "[u8; 3]", "a": "u8", "b": "u8"}


@dataclass
class Row:
    p: garblet.u8
    q: garblet.u8


class Statements:
    """Random statements, whose variables are the result."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.numbers = ["a", "b", "v[0]", "v[2]"]
        self.rows = ["o[0]", "o[1]", "o[2]", "r"]
        self.pairs = ["t", "w"]
        self.lists: list[str] = []
        self.made: list[str] = []

    def make(self, kind: str, names: list[str], value: str) -> None:
        """Adds a statement that gives a value a name, which later ones may use."""
        name = f"{kind}{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        self.made.append(name)
        names.append(name)

    def number(self) -> str:
        rng = self.rng
        one = rng.choice([rng.choice(self.numbers), f"{rng.choice(self.rows)}.{rng.choice('pq')}"])
        other = rng.choice([rng.choice(self.numbers), literal(rng, U8), f"{rng.choice(self.rows)}.{rng.choice('pq')}"])
        return rng.choice([one, one, f"({one} {rng.choice('+-|&^')} {other})", f"where({one} > {other}, {one}, {other})"])

    def condition(self) -> str:
        return f"({self.number()} {self.rng.choice(['<', '>=', '==', '!='])} {self.rng.choice(self.numbers)})"

    def key(self) -> str:
        return self.rng.choice(["x.p", "x.q", "(x.q, x.p)", f"x.p ^ {self.rng.choice(self.numbers)}"])

    def add(self) -> None:
        """Adds a statement."""
        rng = self.rng
        kind = rng.choice([*["change"] * 5, "every", "copy", "new", "number", "sum", "index", "sorted", "where", "loop", "map", "call", "same"] + ["pairs", "swap", "ranked", "join"] + ["keep", "grow", "grown"])
        if kind == "change":
            self.lines.append(f"{rng.choice(self.rows)}.{rng.choice('pq')} = {self.number()}")
        elif kind == "every":
            self.lines.append(f"for x in o: x.{rng.choice('pq')} = x.p {rng.choice('^|&')} {self.number()}")
        elif kind == "number":
            self.make("n", self.numbers, self.number())
        elif kind == "sum":
            rows = rng.choice(["o", "o[1:]", "A([o[0], r])"])
            self.make("n", self.numbers, f"total(gmap(lambda x: x.p & {rng.choice(self.numbers)}, {rows}))")
        elif kind in ("copy", "new", "index", "sorted", "where", "loop", "same"):
            made = {
                "copy": f"copy({rng.choice(self.rows)})",
                "new": f"Row({self.number()}, {rng.choice(self.numbers)})",
                "index": f"at(o, {rng.choice(self.numbers)} & 1)",
                "sorted": f"sorted({rng.choice(['o', 'A([o[2], r])'])}, key=lambda x: {self.key()}, reverse={rng.random() < 0.5})[{rng.randrange(2)}]",
                "where": f"where({self.condition()}, {rng.choice(self.rows)}, {rng.choice(self.rows)})",
                "loop": f"loop(lambda s, x: {rng.choice(['where(x.p > s.q, x, s)', 'Row(s.p ^ x.q, x.p)', 'x'])}, {rng.choice(self.rows)}, o)",
                "same": f"same({rng.choice(self.rows)}, {rng.choice(self.numbers)})",
            }[kind]
            self.make("r", self.rows, made)
        elif kind == "map":
            self.make("m", [], f"gmap(lambda x: x.{rng.choice('pq')} {rng.choice('+^')} {rng.choice(self.numbers)}, o)")
        elif kind == "call":
            self.lines.append(f"rate[0] = {rng.randrange(3)}")
            self.make("n", self.numbers, f"fee({rng.choice(self.rows)}, {self.number()})")
        elif kind in ("pairs", "swap", "ranked"):
            one, other = rng.choice(self.pairs), rng.choice(self.pairs)
            by_kind = {"pairs": f"where({self.condition()}, {one}, {other})", "swap": f"A([{one}[1], {other}[0], ({self.number()}, {one}[2][0])])", "ranked": f"sorted({one})"}
            self.make("p", self.pairs, by_kind[kind])
        elif kind == "join":
            self.make("j", [], f"join({rng.choice(self.pairs)}, {rng.choice(self.pairs)})")
        elif kind == "keep":
            self.make("l", self.lists, f"keep(gmap(lambda x: x > {rng.choice(self.numbers)}, v), v)")
        elif self.lists and kind == "grow":
            self.lines.append(f"append({rng.choice(self.lists)}, {self.number()}, {self.condition()})")
        elif self.lists:
            one, other = rng.choice(self.lists), rng.choice(self.lists)
            made = rng.choice([f"{one}.copy()", f"where({self.condition()}, {one}, {other})", f"loop(lambda s, x: append(s, x, x > a), {one}, v[:1])", one])
            self.make("l", self.lists, made)


def results(lines: list[str], made: list[str], names: dict[str, Any]) -> Any:
    """What the statements make of inputs, and the inputs afterwards."""
    exec("\n".join(lines), names)
    return tuple(names[name] for name in ["o", "r", *made])


def append(grown: Any, value: Any, when: Any) -> Any:
    if isinstance(grown, list):
        # As many as the list in the program may have.
        if when and len(grown) == 3:
            raise Unfit
        grown.extend([value] if when else [])
    else:
        grown.append(value, when=when)
    return grown


def at(rows: Any, index: Any) -> Any:
    return rows[int(index.value) if isinstance(index, Number) else index]


def names_of_secrets() -> dict[str, Any]:
    rate = [0]

    @garblet.function
    def fee(x: Row, y: garblet.u8) -> Any:
        return x.p + (y & rate[0])

    @garblet.function
    def same(x: Row, y: garblet.u8) -> Any:
        return garblet.where(x.p > y, x, Row(y, y))

    made = {"where": garblet.where, "gmap": garblet.map, "sorted": garblet.sorted, "loop": garblet.loop, "join": garblet.join, "keep": garblet.keep, "copy": copy.copy}
    return {**made, "A": garblet.SecretArray, "total": lambda of: of.sum(), "at": at, "append": append, "Row": Row, "fee": fee, "same": same, "rate": rate}


def names_of_numbers() -> dict[str, Any]:
    rate = [0]

    def total(numbers: list[Any]) -> Any:
        found = numbers[0]
        for number in numbers[1:]:
            found = found + number
        return found

    def row(p: Any, q: Any) -> Row:
        return Row(*(side if isinstance(side, Number) else Number(side, U8) for side in (p, q)))  # type: ignore[arg-type]

    def where(condition: Any, one: Any, other: Any) -> Any:
        chosen = one if condition else other
        return Number(chosen, U8) if isinstance(chosen, int) else chosen

    made = {"where": where, "gmap": garblet.map, "sorted": garblet.sorted, "loop": garblet.loop, "join": garblet.join, "keep": garblet.keep, "copy": copy.copy, "A": list}
    same = lambda x, y: x if x.p > y else row(y, y)  # noqa: E731
    return {**made, "total": total, "at": at, "append": append, "Row": row, "fee": lambda x, y: x.p + (y & rate[0]), "same": same, "rate": rate}


def plain(value: Any) -> Any:
    """A result of numbers or of a program, without classes."""
    if isinstance(value, (Row, dict)):
        return [plain(part) for part in (vars(value) if isinstance(value, Row) else value).values()]
    if isinstance(value, (list, tuple, bytes)):
        return [plain(part) for part in value]
    return int(value.value) if isinstance(value, Number) else value


def number(value: Any) -> Any:
    """An input as numbers of Python."""
    if isinstance(value, dict):
        return Row(**{name: number(part) for name, part in value.items()})
    return type(value)(map(number, value)) if isinstance(value, (list, tuple)) else Number(value, U8)


def inputs(rng: random.Random) -> Iterator[dict[str, Any]]:
    def word() -> int:
        return rng.choice([0, 1, 2, 3, 5, 100, 255, rng.randrange(256), rng.randrange(8)])

    for _ in range(6):
        rows = [{"p": word(), "q": word()} for _ in range(4)]
        pairs = [[(word() if rng.random() < 0.3 else k + 7 * (j > 1), word()) for k in range(3)] for j in range(2)]
        yield {"o": rows[:3], "r": rows[3], "t": pairs[0], "w": pairs[1], "v": [word() for _ in range(3)], "a": word(), "b": rng.choice([0, 1, 3])}


def expected(lines: list[str], made: list[str], row: dict[str, Any]) -> Any:
    try:
        return plain(results(lines, made, {**names_of_numbers(), **{name: number(value) for name, value in row.items()}}))
    except (Unfit, ArithmeticError):
        return "panicked"


def evaluated(program: garblet.Program, row: dict[str, Any]) -> Any:
    try:
        return plain(tuple(program.evaluate(**row).values()))
    except garblet.Panicked:
        return "panicked"


def step_by_step(lines: list[str], made: list[str]) -> tuple[garblet.Program, dict[str, str]]:
    """The program of the last step, and the names of its inputs."""
    with garblet.interactive() as mpc:
        given = {name: mpc.input(0, 0, type) for name, type in TYPES.items()}
        names = dict(zip(given, mpc._inputs, strict=True))
        value = results(lines, made, {**names_of_secrets(), **given})
        mpc._tracer.check_shared()
        type, text = garblet.secret.result(value, mpc._tracer)
        return mpc._program(type, text, None)[0], names


@pytest.mark.parametrize("seed", range(4))
def test_random_statements_compute_what_python_computes(seed: int) -> None:
    rng = random.Random(f"objects {seed}")
    right = panics = refused = 0
    for _ in range(16):
        statements = Statements(rng)
        while len(statements.lines) < 5:
            statements.add()
        lines, made = statements.lines, statements.made

        def traced(lines: list[str] = lines, made: list[str] = made, **given: Any) -> Any:
            return results(lines, made, {**names_of_secrets(), **given})

        try:
            program = trace.compiled(trace.trace(traced, TYPES, {"Row": Row}), "objects")
        except TypeError as error:
            # Python has one object where the program has copies.
            assert "another copy" in str(error) or "has another one" in str(error), lines
            refused += 1
            continue
        except OverflowError:
            continue
        steps, names = step_by_step(lines, made)
        for row in inputs(rng):
            wanted = expected(lines, made, row)
            assert evaluated(program, row) == wanted, (lines, row)
            right, panics = right + (wanted != "panicked"), panics + (wanted == "panicked")
            found = evaluated(steps, {names[name]: value for name, value in row.items() if names[name] in {port.name for port in steps.inputs}})
            # It computes only what the values need.
            assert found == wanted or wanted == "panicked" and "join" not in "".join(lines), (lines, row)
    assert right > 20 and panics > 5 and refused < 10, (right, panics, refused)
