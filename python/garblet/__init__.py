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
from ._garblet import version as _version
from .errors import (
    CheatingError,
    CompileError,
    Diagnostic,
    GarbletError,
    InputError,
    NotPreparedError,
    Panicked,
    PeerError,
    ReceiptError,
    StoreError,
    UsageError,
)
from .interactive import Interactive, interactive
from .job import Job, JobParty
from .local import Params, Plan, Protocol, plan, run_local
from .operations import join, keep, known, loop, map, max, min, rows, sorted, sqrt, where
from .program import Program, compile, load
from .progress import Progress
from .receipts import Comparison, Receipt, compare_receipts
from .report import PhaseCost, Report
from .secret import Secret, SecretArray, SecretList
from .service import Service, acall, call
from .session import Arrange, Session, Store
from .sharding import Sharding, Shards
from .trace import Function, function, i8, i16, i32, i64, u8, u16, u32, u64
from .values import Inputs, Value
from .visit import Agreement, Visit, aresume, avisit, resume, visit

__version__: str = _version()

# Exit handlers run in reverse order, so this one runs after all later ones.
atexit.register(leave)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=forked)
del atexit, forked, leave, os, sys

__all__ = [
    "Agreement",
    "Arrange",
    "CheatingError",
    "Comparison",
    "CompileError",
    "Diagnostic",
    "Function",
    "GarbletError",
    "Identity",
    "InputError",
    "Inputs",
    "Interactive",
    "Job",
    "JobParty",
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
    "Receipt",
    "ReceiptError",
    "Report",
    "Secret",
    "SecretArray",
    "SecretList",
    "Service",
    "Session",
    "Sharding",
    "Shards",
    "Store",
    "StoreError",
    "UsageError",
    "Value",
    "Visit",
    "__version__",
    "acall",
    "aresume",
    "avisit",
    "call",
    "compare_receipts",
    "compile",
    "function",
    "i8",
    "i16",
    "i32",
    "i64",
    "interactive",
    "join",
    "keep",
    "known",
    "load",
    "loop",
    "map",
    "max",
    "min",
    "plan",
    "resume",
    "rows",
    "run_local",
    "sorted",
    "sqrt",
    "u8",
    "u16",
    "u32",
    "u64",
    "visit",
    "where",
]
