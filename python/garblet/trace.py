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

from .errors import CompileError, InputError, UsageError
from .program import Program, compile
from .secret import Line, Module, Secret, Tracer, Tracing, caller, can_change, home_of, parameter, result, result_as
from .types import Type, check_names, parse, returned

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
    return _traced(traced, {name: parse(type, names) for name, type in types.items()}, Module())[0]


def _traced(traced: Callable[..., Any], types: Mapping[str, Type], module: Module, is_called: bool = False) -> tuple[list[Line], Type]:
    """The lines of a source, and the type of the result."""
    check_names(types)
    body, result = _body(traced, types, Tracer(types, module), is_called)
    head = f"pub fn main({', '.join(f'{name}: {type.text}' for name, type in types.items())}) -> {result.text} {{"
    return [*module.lines(), Line(head, ""), *body, Line("}", "")], result


def _body(traced: Callable[..., Any], types: Mapping[str, Type], tracer: Tracer, is_called: bool = False) -> tuple[list[Line], Type]:
    """The lines of a function's body, and the type of its result."""
    with Tracing(tracer):
        given = {name: parameter(tracer, name, type) for name, type in types.items()}
        if is_called:
            # The caller's records and lists would not change with the arguments.
            tracer.share(tuple(given.values()))
        type, expression = result(traced(**given), tracer)
        tracer.check_shared()
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
    """A program that was a Python function. Another traced function can call it: it becomes a function of the source. Called with known values, it is evaluated in the clear."""

    def __init__(self, traced: Callable[..., Any], types: Mapping[str, Type], panics: bool, effort: int | None) -> None:
        self._traced = traced
        self._types = types
        self._panics = panics
        self._effort = effort
        self._lines = _traced(traced, types, Module(panics))[0]
        program = self._compiled(self._lines)
        super().__init__(program._native, program._made)
        self._places = program._places
        functools.update_wrapper(self, traced)

    def __call__(self, *values: Any, **more: Any) -> Any:
        bound = inspect.signature(self._traced).bind(*values, **more).arguments
        tracer = home_of(bound)
        if tracer is None:
            # It is traced again, because variables around it may have changed.
            lines, result = _traced(self._traced, self._types, Module(self._panics), is_called=True)
            program = self if text(lines) == text(self._lines) else self._compiled(lines)
            return returned(result, program.evaluate(**self._inputs(program, bound)))
        name, type = self._called(tracer.module)
        arguments = ", ".join(result_as(bound[parameter], of, tracer) for parameter, of in self._types.items())
        found = parameter(tracer, tracer.name(f"{name}({arguments})", type), type)
        if can_change(found):
            # It may have returned an argument.
            tracer.share((found, tuple(bound.values())))
        return found

    def _inputs(self, program: Program, bound: Mapping[str, Any]) -> Mapping[str, Any]:
        """The inputs of a program. The elements of a single array are inputs of several parties."""
        if len(bound) > 1 or next(iter(self._types.values())).kind != "array":
            return bound
        ((name, elements),) = bound.items()
        if not hasattr(elements, "__len__") or len(elements) != len(program.inputs):
            raise InputError(f"input `{name}`: expected {self._types[name].text}, got another number of elements")
        return dict(zip((port.name for port in program.inputs), elements, strict=True))

    def _compiled(self, lines: list[Line]) -> Program:
        return compiled(lines, getattr(self._traced, "__name__", "function"), self._panics, self._effort)

    def _called(self, module: Module) -> tuple[str, Type]:
        """The name and the result of this function in a source. It is traced for each call, because variables around it may have changed, and written once for each that differs."""
        if self in module.calls:
            raise TypeError(f"{self.name} calls itself: the length of a computation must not depend on secrets")
        if self._panics != module.panics:
            raise UsageError(
                f"{self.name}: panics={self._panics}, but the function that calls it has panics={module.panics}",
                "give both the same: a whole program panics, or wraps around",
            )
        module.calls.append(self)
        try:
            body, type = _body(self._traced, self._types, Tracer(self._types, module), is_called=True)
        finally:
            module.calls.pop()
        key = (self, type, *(line.text for line in body))
        if key not in module.bodies:
            own = re.sub(r"\W", "_", self._traced.__name__, flags=re.ASCII)
            name = f"f{len(module.functions)}_{own}"
            head = f"fn {name}({', '.join(f'{name}: {of.text}' for name, of in self._types.items())}) -> {type.text} {{"
            module.functions.append([Line(head, ""), *body, Line("}", "")])
            module.bodies[key] = name, type
        return module.bodies[key]


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
    advice = 'annotate it: a: garblet.u32, or as text, a: "[u32; 10]"'
    if parameter.annotation is parameter.empty:
        raise UsageError(f"{name}: parameter `{parameter.name}` has no type of the language", advice)
    try:
        return parse(parameter.annotation, names)
    except UsageError as error:
        raise UsageError(f"{name}: parameter `{parameter.name}`: {error}", error.hint) from None


def function(traced: Callable[..., Any] | None = None, /, *, panics: bool = True, effort: int | None = None) -> Any:
    """Makes a program from a function whose parameters are annotated with types of the language (`garblet.u32`, `"[u32; 10]"`, a dataclass). Party `k` provides parameter `k`. The elements of a returned tuple are separate outputs.

    Without `panics`, arithmetic wraps around, and nothing else is checked either: not the keys of `join`, nor an index.

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
    return Function(traced, types, panics, effort)


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
