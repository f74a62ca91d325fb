"""Python functions as programs: tracing a function writes a source in the function language.

The function is called once, with placeholders for secrets. Its operations are recorded line by line and compiled, so types, overflow,
optimisation and messages are the language's own. Python loops unroll, and a Python condition must not be secret: use `where` for that.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from .errors import CompileError, UsageError
from .operations import _home_of
from .program import Program, compile
from .secret import Line, Secret, Tracer, Tracing, caller, parameter, result, result_as
from .types import Type, parse

#: Parameter types, which a type checker sees as secrets. Write other types as `Annotated[SecretArray, "[u32; 10]"]`, or as plain text.
u8 = Annotated[Secret, "u8"]
u16 = Annotated[Secret, "u16"]
u32 = Annotated[Secret, "u32"]
u64 = Annotated[Secret, "u64"]
i8 = Annotated[Secret, "i8"]
i16 = Annotated[Secret, "i16"]
i32 = Annotated[Secret, "i32"]
i64 = Annotated[Secret, "i64"]


def trace(traced: Callable[..., Any], types: Mapping[str, Any], names: Mapping[str, Any] | None = None) -> list[Line]:
    """Traces a function with parameters of these types to the lines of a source. `names` has the dataclasses and sizes that the types mention."""
    tracer = Tracer(types)
    of = {name: parse(type, names) for name, type in types.items()}
    body, type = _body(traced, of, tracer)
    head = f"pub fn main({', '.join(f'{name}: {type.text}' for name, type in of.items())}) -> {type.text} {{"
    return [*tracer.module.lines(), Line(head, ""), *body, Line("}", "")]


def _body(traced: Callable[..., Any], types: Mapping[str, Type], tracer: Tracer) -> tuple[list[Line], Type]:
    """The lines of a function's body, and the type of its result."""
    with Tracing(tracer):
        type, expression = result(traced(**{name: parameter(tracer, name, type) for name, type in types.items()}), tracer)
    tracer.module.declare(type)
    return [*tracer.lines, Line(f"    {expression}", "")], type


def source(traced: Callable[..., Any], types: Mapping[str, Any]) -> str:
    """Traces a function with parameters of these types to a source."""
    return text(trace(traced, types))


def text(lines: list[Line]) -> str:
    """The text of a source."""
    return "".join(f"{line.text}\n" for line in lines)


def compiled(lines: list[Line], name: str, panics: bool = True, effort: int | None = None) -> Program:
    """Compiles a source that was traced. What goes wrong in it, also later, names the line of Python."""
    places = {number: line.place for number, line in enumerate(lines, 1) if line.place}
    try:
        program = compile(text(lines), name=name, panics=panics, effort=effort)
    except CompileError as error:
        for line in dict.fromkeys(diagnostic.line for diagnostic in error.diagnostics):
            error.add_note(f"in Python at {places.get(line, '?')}")
        error.add_note("the source was written by garblet.function, a line for each operation")
        raise
    program._places = places
    return program


class Function(Program):
    """A program that was a Python function. Another traced function can call it: it becomes a function of the source, compiled once. Called with known values, it is the Python function."""

    def __init__(self, program: Program, traced: Callable[..., Any], types: Mapping[str, Type]) -> None:
        super().__init__(program._native, program._made)
        self._places = program._places
        self._traced = traced
        self._types = types
        functools.update_wrapper(self, traced)

    def __call__(self, *values: Any, **more: Any) -> Any:
        bound = inspect.signature(self._traced).bind(*values, **more).arguments
        tracer = _home_of(tuple(bound.values()))
        if tracer is None:
            return self._traced(*values, **more)
        name, type = self._called(tracer)
        arguments = ", ".join(result_as(bound[parameter], of, tracer) for parameter, of in self._types.items())
        return parameter(tracer, tracer.name(f"{name}({arguments})", type), type)

    def _called(self, tracer: Tracer) -> tuple[str, Type]:
        """The name and the result of this function in a source, where it is written once."""
        module = tracer.module
        if self not in module.called:
            module.called[self] = None
            body, type = _body(self._traced, self._types, Tracer(self._types, module))
            own = re.sub(r"\W", "_", self._traced.__name__, flags=re.ASCII)
            name = f"f{len(module.functions)}_{own}"
            head = f"fn {name}({', '.join(f'{name}: {of.text}' for name, of in self._types.items())}) -> {type.text} {{"
            module.functions.append([Line(head, ""), *body, Line("}", "")])
            module.called[self] = name, type
        called = module.called[self]
        if called is None:
            raise TypeError(f"{self.name} calls itself: the length of a computation must not depend on secrets")
        return called


def _annotated(name: str, parameter: inspect.Parameter, names: Mapping[str, Any]) -> Type:
    """The type of a parameter, from its annotation. Every parameter is a party's input, so optional parameters are not allowed."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise UsageError(f"{name}: parameter `{parameter}` stands for several", "write them one by one: each is an input")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise UsageError(f"{name}: parameter `{parameter.name}` is taken by place alone", "leave the `/` out: inputs are given by name")
    if parameter.default is not parameter.empty:
        raise UsageError(
            f"{name}: parameter `{parameter.name}` has a default value, but each parameter is an input, which a party gives",
            "take what all know from outside: let the function use a variable of a function around it",
        )
    try:
        return parse(parameter.annotation, names)
    except UsageError:
        advice = 'annotate it: a: garblet.u32, or as text, a: "[u32; 10]"'
        raise UsageError(f"{name}: parameter `{parameter.name}` has no type of the language", advice) from None


def function(traced: Callable[..., Any] | None = None, /, *, panics: bool = True, effort: int | None = None) -> Any:
    """Makes a program from a function whose parameters are annotated with types of the language (`garblet.u32`, `"[u32; 10]"`, a dataclass). Party `k` provides parameter `k`. The elements of a returned tuple are separate outputs.

    >>> import garblet
    >>> @garblet.function
    ... def auction(a: garblet.u32, b: garblet.u32):
    ...     return garblet.where(a > b, a, b), a > b
    >>> auction.evaluate(a=7, b=9)
    {'out0': 9, 'out1': False}
    """
    if traced is None:
        return functools.partial(function, panics=panics, effort=effort)
    frame = caller()
    # A dataclass may be local to the function around.
    names = {**getattr(traced, "__globals__", {}), **(frame.f_locals if frame is not None else {}), **_around(traced)}
    name = getattr(traced, "__name__", "function")
    types = {parameter.name: _annotated(name, parameter, names) for parameter in inspect.signature(traced).parameters.values()}
    return Function(compiled(trace(traced, types), name, panics, effort), traced, types)


def _around(traced: Callable[..., Any]) -> Mapping[str, Any]:
    """The variables of the functions around that a function uses."""
    code = getattr(traced, "__code__", None)
    cells = getattr(traced, "__closure__", None) or ()
    found = {}
    for name, cell in zip(code.co_freevars if code is not None else (), cells, strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            # It is assigned later.
            continue
    return found


__all__ = ["Function", "compiled", "function", "i16", "i32", "i64", "i8", "source", "text", "trace", "u16", "u32", "u64", "u8"]
