"""Garblet: parties that do not trust one another compute a function of their private inputs with garbled circuits.

>>> import garblet
>>> richer = garblet.compile("pub fn main(a: u32, b: u32) -> bool { a > b }", name="richer")
>>> [report["out0"] for report in garblet.run_local(richer, [{"a": 5_000_000}, {"b": 3_000_000}])]
[True, True]
"""

import atexit
import os
import sys

from ._garblet import Identity, Port, forked, leave
from .errors import (
    CheatingError,
    CompileError,
    Diagnostic,
    GarbletError,
    InputError,
    NotPreparedError,
    Panicked,
    PeerError,
    StoreError,
    UsageError,
)
from .local import Params, Plan, Protocol, plan, run_local
from .program import Program, compile, load
from .progress import Progress
from .report import PhaseCost, Report
from .session import Session, Store
from .trace import Secret, SecretArray, function, i8, i16, i32, i64, map, u8, u16, u32, u64, where
from .values import Inputs, Value

# Exit handlers run in reverse order, so this one runs after all later ones.
atexit.register(leave)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=forked)
del atexit, forked, leave, os, sys

__all__ = [
    "CheatingError",
    "CompileError",
    "Diagnostic",
    "GarbletError",
    "Identity",
    "InputError",
    "Inputs",
    "NotPreparedError",
    "Panicked",
    "Params",
    "PeerError",
    "PhaseCost",
    "Plan",
    "Port",
    "Program",
    "Progress",
    "Protocol",
    "Report",
    "Secret",
    "SecretArray",
    "Session",
    "Store",
    "StoreError",
    "UsageError",
    "Value",
    "compile",
    "function",
    "i8",
    "i16",
    "i32",
    "i64",
    "load",
    "map",
    "plan",
    "run_local",
    "u8",
    "u16",
    "u32",
    "u64",
    "where",
]
