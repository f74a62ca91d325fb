"""Arguments as the native module takes them. A mistake is told with the argument's name, here and not there."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, SupportsFloat, SupportsIndex, TypeVar

from .errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")


def wrong(name: str, expected: str, value: object) -> UsageError:
    """The error for a value that is no such argument. It has the type of the value: the value may be a secret."""
    return UsageError(f"{name}: expected {expected}, got {type(value).__name__}")


def one_of(kind: type[T], expected: str) -> Callable[[str, object], T]:
    """The check that a value has this type."""

    def check(name: str, value: object) -> T:
        if not isinstance(value, kind):
            raise wrong(name, expected, value)
        return value

    return check


def within(least: int, most: int) -> Callable[[str, object], int]:
    """The check for a whole number in this range."""

    def check(name: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, SupportsIndex):
            raise wrong(name, "a whole number", value)
        number = operator.index(value)
        if not least <= number <= most:
            raise UsageError(f"{name}: expected {least} to {most}, got {number}")
        return number

    return check


#: The number of a party.
party = within(0, 2**16 - 1)
#: A number of rows.
rows = within(1, 2**32 - 1)
#: A text.
text = one_of(str, "a text")
#: An address, whose form the native module checks.
address = one_of(str, 'an address as text, "HOST:PORT"')


def path(name: str, value: object) -> Path:
    """A path, which stays what it is when the working folder changes."""
    if not isinstance(value, (str, os.PathLike)):
        raise wrong(name, "a path", value)
    # Not `abspath`: it takes `..` away before links are followed, which the system does not.
    return Path(os.fsdecode(value)).absolute()


def seconds(name: str, value: object) -> float:
    """A number of seconds, whose range the native module checks."""
    if isinstance(value, bool) or not isinstance(value, (SupportsFloat, SupportsIndex)):
        raise wrong(name, "seconds", value)
    return float(value)


def texts(name: str, value: object) -> list[tuple[str, str]]:
    """A mapping from names to texts or whole numbers, as pairs of texts. None is an empty one."""
    if value is None:
        return []
    if not isinstance(value, Mapping):
        raise wrong(name, "a mapping", value)
    for key, item in value.items():
        if not isinstance(key, str) or not isinstance(item, (str, SupportsIndex)):
            raise UsageError(f"{name}: expected texts or whole numbers by name, got {type(item).__name__} by {type(key).__name__}")
    return [(key, str(item)) for key, item in value.items()]


def names(name: str, value: object) -> list[str]:
    """A sequence of texts. A text alone is none: its letters would be the names."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(item, str) for item in value):
        raise wrong(name, "a list of texts", value)
    return list(value)


def pair(check: Callable[[str, object], T], name: str, value: object) -> tuple[T, T]:
    """Two of a kind, the generator's first."""
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != 2:
        raise UsageError(f"{name}: expected two, the generator's first", f"write {name}=(generator, cloud)")
    return check(name, value[0]), check(name, value[1])


def optional(check: Callable[[str, object], T], name: str, value: object) -> T | None:
    """The same, or None."""
    return None if value is None else check(name, value)


async def beside(call: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
    """Waits for a call in a thread of its own. `asyncio.to_thread` has few threads: parties in one loop that wait for one another would take them all."""
    threads = ThreadPoolExecutor(1, "garblet")
    try:
        work = functools.partial(contextvars.copy_context().run, call, *args, **more)
        return await asyncio.get_running_loop().run_in_executor(threads, work)
    finally:
        threads.shutdown(wait=False)
