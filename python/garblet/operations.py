"""What functions of secrets have in place of Python's branches and loops. On values that are known, each computes the same, so a function can be tested without secrets."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import itertools
import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

from .secret import (
    Secret,
    SecretArray,
    SecretList,
    Tracer,
    can_change,
    check_depth,
    check_home,
    current,
    fields_of,
    home_of,
    is_condition,
    is_record,
    lists_of,
    named,
    parameter,
    result,
    result_as,
)
from .types import BOOL, USIZE, Type, array_of, list_of, parse, rebuilt, tuple_of


def known(value: Any, type: Any) -> Any:
    """A known value of a type of the language, such as `known(0, "u32")`, where no secret beside it tells the type."""
    tracer = current()
    if tracer is None:
        return value
    of = parse(type)
    made = parameter(tracer, tracer.name(result_as(value, of, tracer), of), of) if of.parts else Secret(tracer, result_as(value, of, tracer), of)
    tracer.share((value, made) if home_of(value) is not None else value)
    return made


def where(condition: Any, one: Any, other: Any) -> Any:
    """Chooses `one` where the secret `condition` holds, and `other` elsewhere. Both are computed, and a panic in either counts. Arrays choose elementwise."""
    if is_condition(condition):
        return one if condition else other
    if home_of((condition, one, other)) is None and hasattr(condition, "__len__"):
        import numpy

        return numpy.where(condition, one, other)
    if isinstance(condition, (list, tuple)) or hasattr(condition, "ndim") and condition.ndim > 0:
        condition = SecretArray(condition)
    chosen = _chosen(condition, one, other)
    tracer = home_of((condition, one, other))
    if tracer is not None:
        tracer.share((one, other, chosen))
    return chosen


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    if isinstance(condition, SecretArray):
        for side in (one, other):
            if isinstance(side, SecretArray):
                check_depth("a condition and choices", condition, side)
        choices = [side if isinstance(side, SecretArray) else [side] * len(condition) for side in (one, other)]
        return SecretArray.of_rows(_chosen(*three) for three in zip(condition, *choices, strict=True))
    if is_condition(condition):
        return one if condition else other
    if not isinstance(condition, Secret) or condition.type != "bool":
        raise TypeError(f"garblet.where: expected a condition, got {getattr(condition, 'type', type(condition).__name__)}")
    if isinstance(one, SecretArray) and isinstance(other, SecretArray):
        check_depth("two arrays", one, other)
    if isinstance(one, SecretArray) or isinstance(other, SecretArray):
        count = len(one if isinstance(one, SecretArray) else other)
        pairs = zip(*(side if isinstance(side, SecretArray) else [side] * count for side in (one, other)), strict=True)
        return SecretArray.of_rows(_chosen(condition, *pair) for pair in pairs)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return tuple(_chosen(condition, *pair) for pair in zip(one, other, strict=True))
    if is_record(one) and type(one) is type(other):
        return rebuilt(type(one), {name: _chosen(condition, part, getattr(other, name)) for name, part in fields_of(one).items()})
    tracer, chosen = condition._tracer, one if isinstance(one, (Secret, SecretList)) else other
    check_home(condition, tracer)
    if not isinstance(chosen, (Secret, SecretList)):
        raise TypeError("garblet.where: expected a secret to choose, got two known values, which have no type: garblet.known(1, \"u32\") has one")
    for side in (one, other):
        if isinstance(side, (Secret, SecretList)):
            check_home(side, tracer)
    try:
        sides = [result_as(side, chosen._of, tracer) for side in (one, other)]
    except TypeError:
        raise TypeError(f"garblet.where: expected two of one type, got {one!r} and {other!r}") from None
    choice = f"if {condition._expression} {{ {sides[0]} }} else {{ {sides[1]} }}"
    return SecretList(tracer, choice, chosen._of) if isinstance(chosen, SecretList) else tracer.let(choice, chosen._of)


def _extreme(name: str, values: tuple[Any, ...]) -> Any:
    of = list(values[0]) if len(values) == 1 else list(values)
    if not any(isinstance(value, Secret) for value in of):
        return getattr(builtins, name)(of)

    def pick(one: Any, other: Any) -> Any:
        secret = one if isinstance(one, Secret) else other
        if not isinstance(secret, Secret):
            return getattr(builtins, name)(one, other)
        sides = [result_as(side, secret._number(f"garblet.{name}")._of, secret._tracer) for side in (one, other)]
        return secret._tracer.let(f"{name}({', '.join(sides)})", secret._of)

    array = values[0]
    if len(values) == 1 and isinstance(array, SecretArray) and array.whole is not None and len(of) > 1:
        return loop(pick, of[0], array)
    return functools.reduce(pick, of)


def max(*values: Any) -> Any:
    """The greatest of some values, or of an array."""
    return _extreme("max", values)


def min(*values: Any) -> Any:
    """The least of some values, or of an array."""
    return _extreme("min", values)


def sqrt(value: Any) -> Any:
    """The square root, rounded down: for whole numbers `math.isqrt`. The root of a negative number panics."""
    if isinstance(value, Secret):
        check_home(value, value._tracer)
        return value._tracer.let(f"sqrt({value._number('garblet.sqrt')._expression})", value._of)
    return math.isqrt(value) if isinstance(value, numbers.Integral) else math.sqrt(value)


def sorted(values: Any, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> Any:
    """The values in ascending order, as Python's `sorted`: equal ones keep their order. Keys are numbers, conditions, or tuples of them.

    A list of secret length has numbers only, and no key.
    """
    if isinstance(values, SecretList):
        if key is not None or reverse or not values._of.parts[0].is_number:
            raise TypeError("garblet.sorted: a list of secret length has numbers only, and neither key nor reverse")
        check_home(values, values._tracer)
        return SecretList(values._tracer, f"sort({values._name})", values._of)
    if not isinstance(values, SecretArray):
        return builtins.sorted(values, key=key, reverse=reverse)
    if len(values) == 0:
        return values
    tracer = _tracer(values)
    with tracer.together():
        ordered = _in_order(tracer, values, key, reverse)
    tracer.share((values, ordered))
    return ordered


def _in_order(tracer: Tracer, values: SecretArray, key: Callable[[Any], Any] | None, reverse: bool) -> SecretArray:
    name, type = named(tracer, values)
    count = len(values)
    if key is None and type.is_number:
        ranked = tracer.name(f"sort({name})", array_of(type, count))
        ordered: SecretArray = parameter(tracer, ranked, array_of(type, count))
        return ordered[::-1] if reverse else ordered
    # Equal keys are in the order of their rows.
    rows, keyed = _keyed(tracer, name, type, count, key, reverse)
    ranked = tracer.name(f"sort({rows})", array_of(keyed, count))
    out = tracer.name(array_of(type, count).zero(), array_of(type, count), "let mut")
    at = tracer.begin(f"0usize..{count}usize")
    tracer.end((out, f"[{at}]", f"{ranked}[{f'{count - 1}usize - {at}' if reverse else at}].1"))
    made: SecretArray = parameter(tracer, out, array_of(type, count))
    return made


def _keyed(tracer: Tracer, name: str, type: Type, count: int, key: Callable[[Any], Any] | None, reverse: bool) -> tuple[str, Type]:
    """The name of an array of rows behind their keys and numbers, and the type of its elements."""
    start = len(tracer.lines)
    at = tracer.begin(f"0usize..{count}usize")

    def keyed_row() -> tuple[Type, str]:
        row = parameter(tracer, f"{name}[{at}]", type)
        tracer.share(row)
        return result(_ordered(row if key is None else key(row)), tracer)

    of, expression = tracer.body(keyed_row)
    keyed = tuple_of((tuple_of((of, USIZE)), type))
    rows = tracer.fresh()
    tracer.lines.insert(start, dataclasses.replace(tracer.lines[start], text=f"    let mut {rows}: [{keyed.text}; {count}] = {array_of(keyed, count).zero()};", makes=(rows,)))
    place = f"{count - 1}usize - {at}" if reverse else at
    tracer.end((rows, f"[{at}]", f"(({expression}, {place}), {name}[{at}])"))
    return rows, keyed


def _ordered(key: Any) -> Any:
    """A key of numbers."""
    if isinstance(key, Secret):
        return key.astype("u8") if key._of is BOOL else key
    if isinstance(key, tuple):
        return tuple(_ordered(part) for part in key)
    raise TypeError(f"garblet.sorted: expected a number, a condition or a tuple of them as the key, got {key!r}; give key=")


def keep(condition: Any, values: Any) -> Any:
    """The values whose condition holds, in their order: a list of secret length. `itertools.compress(values, condition)` in Python."""
    if not isinstance(condition, SecretArray):
        return list(itertools.compress(values, condition))
    tracer = _tracer(condition)
    (marks, of), (name, type) = named(tracer, condition), named(tracer, values if isinstance(values, SecretArray) else SecretArray(values))
    if of is not BOOL or len(condition) != len(values):
        raise TypeError(f"garblet.keep: expected {len(values)} conditions, got {len(condition)} of {of.text}")
    marked = tuple_of((BOOL, type))
    with tracer.together():
        rows = tracer.name(array_of(marked, len(values)).zero(), array_of(marked, len(values)), "let mut")
        at = tracer.begin(f"0usize..{len(values)}usize")
        tracer.end((rows, f"[{at}]", f"({marks}[{at}], {name}[{at}])"))
        tracer.share(values)
        return SecretList(tracer, f"keep({rows})", list_of(type, len(values)))


def rows(*columns: Any) -> Any:
    """Columns of equal length as an array of tuples, such as `sorted` and `join` take. `list(zip(*columns))` in Python."""
    found = list(zip(*columns, strict=True))
    return found if home_of(found) is None else SecretArray.of_rows(found)


def join(one: Any, other: Any) -> Any:
    """The pairs of rows of two arrays whose first fields are equal, by ascending key: a list of secret length. Rows are tuples, in any order.

    Both arrays are sorted first. A key that an array has twice panics, because the language joins arrays without repeats. `rows` makes rows of columns.
    """
    if home_of((one, other)) is None:
        for side in (one, other):
            if len({row[0] for row in side}) < len(side):
                raise ArithmeticError("garblet.join: expected each key once")
        keys = {row[0]: row for row in other}
        return [(row, keys[row[0]]) for row in builtins.sorted(one) if row[0] in keys]
    if not isinstance(one, SecretArray) or not isinstance(other, SecretArray):
        raise TypeError("garblet.join: expected two arrays of secrets: garblet.rows(keys, values) makes one of columns")
    tracer = _tracer((one, other))
    sides = [named(tracer, side) for side in (one, other)]
    ranked = []
    for (name, type), side in zip(sides, (one, other), strict=True):
        if type.kind != "tuple" or not type.parts[0].is_number:
            raise TypeError(f"garblet.join: expected rows that are tuples and begin with a number, got {type.text}")
        in_order, at, same = (tracer.fresh() for _ in range(3))
        # It overflows exactly if a key repeats. The check is part of what it guards, so nobody has the rows without it.
        once = f"let {same}: u8 = 255u8 + (({in_order}[{at} - 1usize].0 == {in_order}[{at}].0) as u8);"
        array = array_of(type, len(side))
        ranked.append(tracer.name(f"{{ let {in_order}: {array.text} = sort({name}); for {at} in 1usize..{len(side)}usize {{ {once} }} {in_order} }}", array))
    tracer.share((one, other))
    pair = tuple_of((sides[0][1], sides[1][1]))
    return SecretList(tracer, f"keep(join({ranked[0]}, {ranked[1]}))", list_of(pair, len(one) + len(other) - 1))


def map(mapped: Callable[..., Any], *columns: Any) -> Any:
    """Calls a function for each row of columns of equal length, as a loop of the language. `mapped` is traced only once, so a million rows make no longer a source than one.

    Returns an array, or one array for each element of the tuple that `mapped` returns.

    >>> import garblet
    >>> @garblet.function
    ... def fees(amounts: "[u32; 1000]", rate: garblet.u32):
    ...     return garblet.map(lambda amount: garblet.where(amount > 50, amount * rate, 0), amounts).sum()
    >>> fees.evaluate(amounts=range(1000), rate=2)
    {'out0': 996450}
    """
    if columns and not any(isinstance(column, (Secret, SecretArray, SecretList)) for column in columns):
        rows = [mapped(*row) for row in zip(*columns, strict=True)]
        return tuple(list(column) for column in zip(*rows, strict=True)) if rows and isinstance(rows[0], tuple) else rows
    lengths = builtins.sorted({len(column) if isinstance(column, SecretArray) else -1 for column in columns})
    if len(lengths) != 1 or lengths[0] < 1:
        raise TypeError("garblet.map: expected secret arrays of one length, and not of none")
    (count,) = lengths
    tracer = _tracer(columns[0])
    appended = tracer.appended
    with tracer.together():
        arrays, is_single = _mapped(tracer, mapped, columns, count)
    if can_change(arrays) or tracer.appended > appended:
        tracer.share((arrays, columns))
    return arrays[0] if is_single else arrays


def _mapped(tracer: Tracer, mapped: Callable[..., Any], columns: Sequence[Any], count: int) -> tuple[tuple[Any, ...], bool]:
    """The arrays of a map, and whether `mapped` returns no tuple of several."""
    taken = [named(tracer, column) for column in columns]
    start = len(tracer.lines)
    index = tracer.begin(f"0usize..{count}usize")

    def mapped_row() -> tuple[list[tuple[Type, str]], bool]:
        row = tuple(parameter(tracer, f"{name}[{index}]", type) for name, type in taken)
        tracer.share(row)
        made = mapped(*row)
        parts = made if isinstance(made, tuple) else (made,)
        tracer.share(parts)
        return [result(part, tracer) for part in parts], not isinstance(made, tuple)

    parts, is_single = tracer.body(mapped_row)
    wholes = [(tracer.fresh(), array_of(type, count)) for type, _ in parts]
    opening = tracer.lines[start]
    tracer.lines[start:start] = [
        dataclasses.replace(opening, text=f"{'    ' * (opening.depth + 1)}let mut {name}: {type.text} = {type.zero()};", makes=(name,))
        for name, type in wholes
    ]
    tracer.end(*((name, f"[{index}]", expression) for (name, _), (_, expression) in zip(wholes, parts, strict=True)))
    return tuple(parameter(tracer, name, type) for name, type in wholes), is_single


def loop(step: Callable[..., Any], first: Any, *columns: Any) -> Any:
    """A loop of the language: `state = first`, then `state = step(state, *row)` for each row of columns of equal length, and the last state.

    `step` is written once, so it changes nothing but its state: it returns a new one, or the one that it was given, with elements appended to a list of it. A column is an array, a `range`, or, alone, a list of secret length. A state is a secret, an array, a record, or a tuple of them.

    >>> import garblet
    >>> @garblet.function
    ... def longest_rise(days: "[u16; 7]", least: garblet.u16):
    ...     def step(state, today):
    ...         yesterday, run, best = state
    ...         run = garblet.where(today >= yesterday + least, run + 1, 0)
    ...         return today, run, garblet.max(best, run)
    ...     return garblet.loop(step, (days[0], garblet.known(0, "u8"), garblet.known(0, "u8")), days)[2]
    >>> longest_rise.evaluate(days=[3, 4, 6, 5, 6, 7, 9], least=1)
    {'out0': 3}
    """
    tracer = home_of((first, *columns))
    if tracer is None:
        return functools.reduce(lambda state, row: step(state, *row), zip(*columns, strict=True), first)
    if not columns:
        raise TypeError("garblet.loop: expected columns or a range to go through")
    with tracer.together():
        return _looped(tracer, step, first, columns)


def _looped(tracer: Tracer, step: Callable[..., Any], first: Any, columns: Sequence[Any]) -> Any:
    type, expression = result(first, tracer)
    state = tracer.name(expression, type, "let mut")
    takes = _begin(tracer, columns)
    states, appended = [], tracer.appended
    lists = lists_of(first)
    if len(set(builtins.map(id, lists))) < len(lists):
        raise TypeError("garblet.loop: the state has one list twice: give the second as list.copy()")

    def stepped() -> str:
        now, row = parameter(tracer, tracer.name(state, type), type), [take() for take in takes]
        # A list of the state is the first one, which may grow.
        tracer.share(now, lists=False)
        tracer.share(row)
        later = step(now, *row)
        tracer.share(later, lists=False)
        states.append((now, later))
        return result_as(later, type, tracer)

    for one in lists:
        one._is_state = True
    try:
        tracer.end((state, "", tracer.body(stepped)))
    finally:
        for one in lists:
            one._is_state = False
    # A copy of the current value: the named one may change.
    last = parameter(tracer, tracer.name(state, type), type)
    if can_change(last) or tracer.appended > appended:
        tracer.share(columns)
    last = _with_grown_lists(first, *states[0], last)
    tracer.share((first, last), lists=False)
    return last


def _with_grown_lists(first: Any, now: Any, later: Any, last: Any) -> Any:
    """The last state of a loop, where a list that grew is the list of the first state, as in Python."""
    if isinstance(last, SecretList):
        if not now._is_changed:
            last._tracer.share((first, later, last))
            return last
        if later is not now:
            raise TypeError("garblet.loop: a list of the state grew, and the next state has another one: return the same list, or append to list.copy()")
        first._grow(last)
        return first
    if not can_change(last):
        return last
    if is_record(last):
        parts = (fields_of(state).values() for state in (first, now, later, last))
        return rebuilt(type(last), dict(zip(fields_of(last), builtins.map(_with_grown_lists, *parts), strict=True)))
    elements = builtins.map(_with_grown_lists, first, now, later, last)
    return tuple(elements) if isinstance(last, tuple) else SecretArray.of_rows(elements)


def _begin(tracer: Tracer, columns: Sequence[Any]) -> list[Callable[[], Any]]:
    """Begins a loop through columns, and returns what makes the stand-ins for a row."""
    if isinstance(columns[0], SecretList) and len(columns) == 1:
        (column,) = columns
        check_home(column, tracer)
        element = tracer.begin(column._name)
        return [lambda: parameter(tracer, element, column._of.parts[0])]
    lengths = {len(column) if isinstance(column, (SecretArray, range)) else -1 for column in columns}
    if len(lengths) != 1 or -1 in lengths:
        raise TypeError("garblet.loop: expected arrays of secrets or ranges of one length, or one list")
    if any(isinstance(column, range) and (column.step != 1 or column.start < 0) for column in columns):
        raise TypeError("garblet.loop: expected ranges of step 1, from 0 or more")
    taken = [column if isinstance(column, range) else named(tracer, column) for column in columns]
    at = tracer.begin(f"0usize..{lengths.pop()}usize")

    def take(of: range | tuple[str, Type]) -> Any:
        if isinstance(of, range):
            return Secret(tracer, f"({at} + {of.start}usize)" if of.start else at, USIZE)
        return parameter(tracer, f"{of[0]}[{at}]", of[1])

    return [functools.partial(take, of) for of in taken]


def _tracer(value: Any) -> Tracer:
    """The function to which an array of secrets belongs."""
    home = home_of(value)
    if home is None:
        first = value.elements[0] if isinstance(value, SecretArray) and value.elements else value
        raise TypeError(f"expected an array of secrets, got one of {type(first).__name__}")
    return home
