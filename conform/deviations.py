"""The cases of `conform run`: a table, one line a case. The class is what the text says."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .deviate import (
    ANSWER,
    Case,
    Change,
    Outcome,
    abort,
    after,
    before,
    bulk,
    close,
    control,
    cut,
    edit,
    fields,
    flip,
    inside,
    instead,
    less,
    more,
    on_hello,
    on_payload,
    parameter,
    put,
    run,
    single_bytes,
    then_end,
    then_read,
)
from .hello import Hello
from .notation import string, varint
from .store import MASKS, TRIPLES, kind_digest

NONE, CLOSING, REFUSED, NETWORK, DISAGREES, IDENTITY, MISBEHAVES = (
    "none",
    "close",
    "refused",
    "network",
    "disagreement",
    "identity",
    "misbehaviour",
)
STORE = "store"
MODULUS = (2**255 - 19).to_bytes(32, "little")
NOT_A_POINT = bytes.fromhex("26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371")
NEGATIVE = bytes.fromhex("0100000000000000000000000000000000000000000000000000000000000000")
TWICE_G = bytes.fromhex("6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919")
THREE_HALVES = {"scheme": "three-halves"}
MORE_TOLD = [(f"told {i}", "x") for i in range(27)]


def _parameters(change: Callable[[list[tuple[str, str]]], list[tuple[str, str]]]) -> Callable[[Hello], None]:
    def apply(ours: Hello) -> None:
        ours.parameters = change(ours.parameters)

    return apply


def other_program(then: bytes) -> Change:
    """A hello with another digest, and something behind it."""
    return lambda data, channel: fields(digest=b"\7" * 32)(data, channel) + then


H, P = "hello", "base OT points"
# fmt: off
CASES = [
    # The hello: its fields (file 4, "The message").
    Case("hello: magic of another program", 1, H, fields(magic=b"garbler\0"), MISBEHAVES, "another program's hello"),
    Case("hello: magic without its zero", 1, H, fields(magic=b"garblet1"), MISBEHAVES, "another program's hello"),
    Case("hello: wire version 1", 1, H, fields(version=1), DISAGREES, "wire version: ours 3"),
    Case("hello: wire version 4", 0, H, fields(version=4), DISAGREES, "wire version: ours 3"),
    Case("hello: wire version 2^32", 1, H, fields(version=1 << 32), MISBEHAVES, "malformed message"),
    Case("hello: wire version in a longer form", 1, H, on_payload(lambda p: p[:8] + b"\x83\0" + p[9:]), MISBEHAVES, "the shortest encoding"),
    Case("hello: length of a text in a longer form", 1, H, edit(b"\7conform", b"\x87\0conform"), MISBEHAVES, "the shortest encoding"),
    Case("hello: varint of eleven bytes", 1, H, on_payload(lambda p: p[:8] + b"\xff" * 10 + b"\1" + p[9:]), MISBEHAVES, "malformed message"),
    Case("hello: package version with a line break", 1, H, fields(package="1\n2"), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version with an escape", 1, H, fields(package="1\x1b[2J"), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version with U+0080", 1, H, fields(package="1\x80"), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version with U+00AD", 1, H, fields(package="1\xad"), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version with U+200B", 1, H, fields(package="1\u200b"), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version with U+202E", 1, H, fields(package="1\u202e"), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version with U+2060", 1, H, fields(package="1\u2060"), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version with U+FEFF", 1, H, fields(package="1\ufeff"), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version with U+E0001", 1, H, fields(package="1\U000e0001"), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version of 201 bytes", 1, H, fields(package="v" * 201), MISBEHAVES, "got a text that is longer"),
    Case("hello: package version of 200 bytes", 1, H, fields(package="v" * 200), NONE),
    Case("hello: package version with letters beyond ASCII", 0, H, fields(package="größer \u200c \u200d"), NONE),
    Case("hello: package version that is not UTF-8", 1, H, edit(b"conform", b"conf\xffrm"), MISBEHAVES, "malformed message"),
    Case("hello: no package version", 1, H, fields(package=""), NONE),
    Case("hello: the other's party number", 1, H, fields(party=0), DISAGREES, "party (must differ): ours 0, theirs 0"),
    Case("hello: party 2 of 2", 1, H, fields(party=2), DISAGREES, "party: ours 0, theirs 2 of 2"),
    Case("hello: party 65535", 1, H, fields(party=65535), DISAGREES, "party: ours 0, theirs 65535 of 2"),
    Case("hello: party 65536", 1, H, fields(party=65536), MISBEHAVES, "malformed message"),
    Case("hello: three parties", 1, H, fields(parties=3), DISAGREES, "number of parties: ours 2, theirs 3"),
    Case("hello: no parties", 1, H, fields(parties=0), DISAGREES, "number of parties: ours 2, theirs 0"),
    Case("hello: protocol gmw", 1, H, fields(protocol="gmw"), DISAGREES, "protocol: ours yao, theirs gmw"),
    Case("hello: no protocol", 1, H, fields(protocol=""), DISAGREES, "protocol: ours yao, theirs"),
    Case("hello: protocol with a tabulator", 1, H, fields(protocol="yao\t"), MISBEHAVES, "got a text that is longer"),
    Case("hello: protocol of 201 bytes", 1, H, fields(protocol="y" * 201), MISBEHAVES, "got a text that is longer"),
    Case("hello: digest of another program", 1, H, fields(digest=b"\7" * 32), DISAGREES, "program digest: ours"),
    Case("hello: digest of zeros", 0, H, fields(digest=bytes(32)), DISAGREES, "program digest: ours"),
    # Parameters (file 4, "Judging").
    Case("parameters: no scheme", 1, H, parameter("scheme"), DISAGREES, "scheme: ours half-gates, theirs nothing"),
    Case("parameters: another scheme", 1, H, parameter("scheme", "grr3"), DISAGREES, "scheme: ours half-gates, theirs grr3"),
    Case("parameters: an empty scheme", 1, H, parameter("scheme", ""), DISAGREES, "scheme: ours half-gates, theirs nothing"),
    Case("parameters: the same scheme twice", 1, H, parameter("scheme", "half-gates", "half-gates"), DISAGREES, "scheme: ours half-gates, theirs half-gates and half-gates"),
    Case("parameters: another hash", 0, H, parameter("hash", "tmmo"), DISAGREES, "hash: ours rekeyed, theirs tmmo"),
    Case("parameters: another ot-k", 1, H, parameter("ot-k", "8"), DISAGREES, "ot-k: ours 4, theirs 8"),
    Case("parameters: another build", 1, H, parameter("build", "ahead"), DISAGREES, "build: ours stream, theirs ahead"),
    Case("parameters: another schedule", 1, H, parameter("schedule", "0" * 32), DISAGREES, "schedule: ours"),
    Case("parameters: no schedule", 0, H, parameter("schedule"), DISAGREES, "schedule: ours"),
    Case("parameters: an unknown one", 1, H, parameter("colour", "blue"), DISAGREES, "colour: ours nothing, theirs blue"),
    Case("parameters: an unknown one without a value", 1, H, parameter("colour", ""), NONE),
    Case("parameters: told something", 1, H, parameter("told colour", "blue"), NONE),
    Case("parameters: a name told without a space", 1, H, parameter("told", "blue"), DISAGREES, "told: ours nothing, theirs blue"),
    Case("parameters: in another order", 1, H, on_hello(_parameters(lambda p: p[::-1])), NONE),
    Case("parameters: 32", 1, H, on_hello(_parameters(lambda p: p + MORE_TOLD)), NONE),
    Case("parameters: 33", 1, H, on_hello(_parameters(lambda p: p + [*MORE_TOLD, ("told", "x")])), MISBEHAVES, "malformed message `hello`"),
    Case("parameters: a name of 201 bytes", 1, H, parameter("told " + "x" * 196, "x"), MISBEHAVES, "got a text that is longer"),
    Case("parameters: a value of 201 bytes", 1, H, parameter("told x", "x" * 201), MISBEHAVES, "got a text that is longer"),
    Case("parameters: a value with a zero", 1, H, parameter("told x", "\0"), MISBEHAVES, "got a text that is longer"),
    Case("parameters: step prepare", 1, H, parameter("step", "prepare"), DISAGREES, "step: ours run, theirs prepare"),
    Case("parameters: step run", 1, H, parameter("step", "run"), NONE),
    Case("parameters: a session", 1, H, parameter("session", "monday"), DISAGREES, "session: ours nothing, theirs monday"),
    Case("parameters: a job", 1, H, parameter("job", "1" * 64), DISAGREES, "job: ours nothing, theirs"),
    Case("parameters: an open scheme", 1, H, parameter("scheme", "auto 1 (half-gates, three-halves)"), NONE),
    Case("parameters: an open scheme without ours", 1, H, parameter("scheme", "auto 1 (grr3, three-halves)"), DISAGREES, "scheme: ours half-gates, theirs auto 1 (grr3, three-halves)"),
    Case("parameters: an open scheme of nothing", 1, H, parameter("scheme", "auto 1 ()"), DISAGREES, "scheme: ours half-gates, theirs auto 1 ()"),
    Case("parameters: an open scheme of form 2", 1, H, parameter("scheme", "auto 2 (half-gates, grr3)"), DISAGREES, "scheme: ours half-gates, theirs auto 2 (half-gates, grr3)"),
    Case("parameters: an open hash", 1, H, parameter("hash", "auto 1 (rekeyed, tmmo)"), DISAGREES, "hash: ours rekeyed"),
    Case("parameters: an open scheme twice", 1, H, parameter("scheme", *["auto 1 (half-gates, grr3)"] * 2), DISAGREES, "scheme: ours"),
    # Parts of a program, behind a hello with another digest (file 4, "Parts").
    Case("parts: none", 1, H, other_program(control(1, b"\0")), DISAGREES, "program digest: ours"),
    Case("parts: a name and a text", 1, H, other_program(control(1, b"\1\1a\1b")), DISAGREES, "program digest: ours"),
    Case("parts: 65", 1, H, other_program(control(1, b"\x41" + b"\1a\1b" * 65)), DISAGREES, "program digest: ours"),
    Case("parts: a text with an escape", 1, H, other_program(control(1, b"\1\1a\1\x1b")), DISAGREES, "program digest: ours"),
    Case("parts: a text of 201 bytes", 1, H, other_program(control(1, b"\1\1a\xc9\1" + b"x" * 201)), DISAGREES, "program digest: ours"),
    Case("parts: a byte behind them", 1, H, other_program(control(1, b"\0\0")), DISAGREES, "program digest: ours"),
    Case("parts: longer than their limit", 1, H, then_read(other_program(b"\xc0\1\1\x80\0\0")), DISAGREES, "program digest: ours"),
    Case("parts: bulk in their place", 1, H, other_program(bulk()), DISAGREES, "program digest: ours"),
    Case("parts: an abort in their place", 1, H, then_end(other_program(abort())), DISAGREES, "program digest: ours"),
    Case("parts: an end in their place", 1, H, then_end(other_program(b"")), DISAGREES, "program digest: ours"),
    Case("parts: though the digests are equal", 1, H, after(control(1, b"\0")), MISBEHAVES, "more bytes of bulk data"),
    # The hello as a message (file 2, "Messages").
    Case("hello: one parameter more than there is", 1, H, edit(b"\5\6scheme", b"\6\6scheme"), MISBEHAVES, "malformed message"),
    Case("hello: one parameter less than there is", 1, H, edit(b"\5\6scheme", b"\4\6scheme"), MISBEHAVES, "malformed message `hello`"),
    Case("hello: 2^60 parameters", 1, H, edit(b"\5\6scheme", varint(1 << 60) + b"\6scheme"), MISBEHAVES, "malformed message"),
    Case("hello: a text longer than the message", 1, H, edit(b"\7conform", varint(1 << 40) + b"conform"), MISBEHAVES, "malformed message"),
    Case("hello: a byte behind it", 1, H, more(), MISBEHAVES, "malformed message `hello`"),
    Case("hello: a byte less", 1, H, less(), MISBEHAVES, "malformed message"),
    Case("hello: no byte", 1, H, instead(control(0)), MISBEHAVES, "malformed message"),
    Case("hello: longer than its limit", 1, H, then_read(instead(b"\xc0\0" + (16385).to_bytes(4, "little"))), MISBEHAVES, "hello too large: expected at most 16384 bytes, got 16385"),
    Case("hello: 2^32 - 1 bytes", 1, H, then_read(instead(b"\xc0\0\xff\xff\xff\xff")), MISBEHAVES, "hello too large: expected at most 16384 bytes, got 4294967295"),
    Case("hello: twice", 1, H, lambda data, channel: data + data, MISBEHAVES, "32 more bytes of bulk data, got a message"),
    # Frames in place of the hello (file 2).
    Case("frames: bulk in place of the hello", 1, H, instead(bulk()), MISBEHAVES, "got bulk data (1"),
    Case("frames: close in place of the hello", 1, H, instead(close()), MISBEHAVES, "got the end of"),
    Case("frames: parts in place of the hello", 1, H, instead(control(1, b"\0")), MISBEHAVES, "got a message of"),
    Case("frames: OT set-up in place of the hello", 1, H, instead(control(0x40, b"\4")), MISBEHAVES, "got a message of"),
    Case("frames: a message of kind 3", 1, H, instead(control(3)), MISBEHAVES, "got a message of"),
    Case("frames: a message of kind ff", 0, H, instead(control(255)), MISBEHAVES, "got a message of"),
    Case("frames: type c4", 1, H, instead(b"\xc4\0\0\0\0\0"), MISBEHAVES, "malformed frame header"),
    Case("frames: type 00", 1, H, instead(bytes(6)), MISBEHAVES, "malformed frame header"),
    Case("frames: a TLS handshake record", 1, H, instead(b"\x16\3\1\2\0\1"), IDENTITY, "malformed frame header"),
    Case("frames: a TLS alert record", 1, H, instead(b"\x15\3\3\0\2\2"), IDENTITY, "malformed frame header"),
    Case("frames: a TLS record of version 3.4", 1, H, instead(b"\x16\3\4\2\0\1"), IDENTITY, "malformed frame header"),
    Case("frames: a TLS record of version 3.5", 1, H, instead(b"\x16\3\5\2\0\1"), MISBEHAVES, "malformed frame header"),
    Case("frames: a TLS data record", 1, H, instead(b"\x17\3\3\2\0\1"), MISBEHAVES, "malformed frame header"),
    Case("frames: HTTP", 1, H, instead(b"GET / HTTP/1.1\r\n\r\n"), MISBEHAVES, "malformed frame header"),
    Case("frames: bulk of no bytes", 1, H, before(bulk(b"")), MISBEHAVES, "malformed frame header"),
    Case("frames: bulk with a kind", 0, P, before(bulk(b"\0", 1)), MISBEHAVES, "malformed frame header"),
    Case("frames: bulk of 2^24 + 1 bytes", 1, H, instead(b"\xc1\0\1\0\0\1"), MISBEHAVES, "malformed frame header"),
    Case("frames: close with a length", 1, H, instead(close(b"\0")), MISBEHAVES, "malformed frame header"),
    Case("frames: close with a kind", 1, H, instead(close(b"", 1)), MISBEHAVES, "malformed frame header"),
    # Aborts (file 2, "Abort").
    Case("abort: in place of the hello", 1, H, then_end(instead(abort())), NETWORK, "the peer aborted"),
    Case("abort: behind the hello", 1, H, then_end(after(abort())), NETWORK, "the peer aborted"),
    Case("abort: with a blame", 1, H, then_end(after(abort(b"\0\0\4"))), NETWORK, "the peer aborted"),
    Case("abort: with a blame of five bytes", 0, H, then_end(after(abort(b"\0\0\4\1\0"))), NETWORK, "the peer aborted"),
    Case("abort: with an unknown cause", 1, H, then_end(after(abort(b"\0\0\x63"))), NETWORK, "the peer aborted"),
    Case("abort: with a party beyond all", 1, H, then_end(after(abort(b"\x09\0\4"))), NETWORK, "the peer aborted"),
    Case("abort: of 1 byte", 1, H, instead(abort(b"\0")), MISBEHAVES, "malformed frame header"),
    Case("abort: of 2 bytes", 1, H, instead(abort(b"\0\0")), MISBEHAVES, "malformed frame header"),
    Case("abort: of 4 bytes", 1, H, instead(abort(b"\0\0\4\0")), MISBEHAVES, "malformed frame header"),
    Case("abort: of 6 bytes", 1, H, instead(abort(b"\0\0\4\0\0\0")), MISBEHAVES, "malformed frame header"),
    Case("abort: with a kind", 1, H, instead(abort(b"", 1)), MISBEHAVES, "malformed frame header"),
    Case("abort: in base OT", 0, P, then_end(inside(abort())), NETWORK, "the peer aborted"),
    Case("abort: in the tables", 0, "tables", then_end(inside(abort())), NETWORK, "the peer aborted"),
    Case("abort: in place of the close", 1, "close", then_end(instead(abort())), CLOSING, "the peer aborted"),
    # Ends of the stream (file 2, class network).
    Case("end: at once", 1, H, cut(0), NETWORK, "the peer closed the connection"),
    Case("end: in a header", 1, H, cut(3), NETWORK, "the peer closed the connection"),
    Case("end: behind a header", 1, H, cut(6), NETWORK, "the peer closed the connection"),
    Case("end: in the hello", 1, H, cut(-1), NETWORK, "the peer closed the connection"),
    Case("end: behind the hello", 1, H, then_end(after(b"")), NETWORK, "the peer closed the connection"),
    Case("end: in base OT", 0, P, cut(700), NETWORK, "the peer closed the connection"),
    Case("end: in the tables", 0, "tables", cut(-1), NETWORK, "the peer closed the connection"),
    Case("end: in place of the close", 0, "close", cut(0), CLOSING, "the peer closed the connection"),
    # Refusals (file 4).
    *[Case(f"refusal: {i}", 1, H, then_end(instead(control(2, bytes([i])) + abort())), DISAGREES, "the peer refuses: ") for i in (0, 1, 2, 3, 5, 6, 7, 8)],
    Case("refusal: 4, without a time", 1, H, then_end(instead(control(2, b"\4\0") + abort())), DISAGREES, "the peer refuses: the job has used up all its runs"),
    Case("refusal: 4, with a time", 1, H, then_end(instead(control(2, b"\4\1\x3c") + abort())), DISAGREES, "the peer refuses: the job has used up its runs; more are allowed in 60 s"),
    Case("refusal: 4, with an option of 2", 1, H, then_read(instead(control(2, b"\4\2"))), MISBEHAVES, "malformed message"),
    Case("refusal: 4, without an option", 1, H, then_read(instead(control(2, b"\4"))), MISBEHAVES, "malformed message"),
    Case("refusal: 9", 1, H, then_read(instead(control(2, b"\x09"))), MISBEHAVES, "malformed message"),
    Case("refusal: of no bytes", 1, H, then_read(instead(control(2))), MISBEHAVES, "malformed message"),
    Case("refusal: with a byte behind it", 1, H, then_read(instead(control(2, b"\0\0"))), MISBEHAVES, "malformed message `refusal`"),
    Case("refusal: of 17 bytes", 1, H, then_read(instead(control(2, bytes(17)))), MISBEHAVES, "refusal too large: expected at most 16 bytes, got 17"),
    Case("refusal: behind a hello", 1, H, then_read(after(control(2, b"\0"))), MISBEHAVES, "32 more bytes of bulk data, got a message"),
    # A command that listens refuses such callers, and goes on.
    Case("listener: magic of another program", 1, H, fields(magic=b"garbler\0"), REFUSED, "another program's hello"),
    Case("listener: party 65536", 1, H, fields(party=65536), REFUSED, "malformed message"),
    Case("listener: bulk in place of the hello", 1, H, instead(bulk()), REFUSED, "got bulk data (1"),
    Case("listener: HTTP", 0, H, instead(b"GET / HTTP/1.1\r\n\r\n"), REFUSED, "malformed frame header"),
    Case("listener: a TLS handshake record", 1, H, instead(b"\x16\3\1\2\0\1"), REFUSED, "malformed frame header"),
    Case("listener: a refusal", 1, H, instead(control(2, b"\0")), REFUSED),
    Case("listener: end at once", 1, H, cut(0), REFUSED, "the peer closed the connection"),
    Case("listener: abort in place of the hello", 1, H, then_end(instead(abort())), REFUSED, "the peer aborted"),
    # Set-up of OT extension (file 8).
    Case("set-up: k 8 in place of 4", 0, "OT set-up", put(0, b"\x08"), DISAGREES, "extends OTs in another form"),
    Case("set-up: checks of 40 bits", 0, "OT set-up", put(0, b"\x14"), DISAGREES, "extends OTs in another form"),
    Case("set-up: checks of 80 bits", 0, "OT set-up", put(0, b"\x24"), DISAGREES, "extends OTs in another form"),
    Case("set-up: k 3", 0, "OT set-up", put(0, b"\3"), MISBEHAVES, "malformed message `OT extension set-up`"),
    Case("set-up: k 0", 0, "OT set-up", put(0, b"\0"), MISBEHAVES, "malformed message `OT extension set-up`"),
    Case("set-up: checks of kind 3", 0, "OT set-up", put(0, b"\x34"), MISBEHAVES, "malformed message `OT extension set-up`"),
    Case("set-up: no form", 0, "OT set-up", less(), MISBEHAVES, "malformed message"),
    Case("set-up: a form of two bytes", 0, "OT set-up", more(), MISBEHAVES, "OT extension set-up too large: expected at most 1 bytes, got 2"),
    Case("set-up: bulk in place of the form", 0, "OT set-up", instead(bulk(b"\4")), MISBEHAVES, "message `OT extension set-up` (kind 64),"),
    Case("set-up: the form twice", 0, "OT set-up", after(control(0x40, b"\4")), MISBEHAVES, "32 more bytes of bulk data, got a message"),
    Case("set-up: another message", 0, "OT set-up", instead(control(0x50, b"\4")), MISBEHAVES, "message `OT extension set-up` (kind 64),"),
    # Base OT (file 7).
    Case("base OT: the first point is the identity", 0, P, put(0, bytes(32)), MISBEHAVES, "base OT point 0"),
    Case("base OT: the last point is the identity", 0, P, put(127 * 32, bytes(32)), MISBEHAVES, "base OT point 127"),
    Case("base OT: a point beyond the modulus", 0, P, put(64, MODULUS), MISBEHAVES, "base OT point 2"),
    Case("base OT: a negative point", 0, P, put(64, NEGATIVE), MISBEHAVES, "base OT point 2"),
    Case("base OT: a point of ones", 0, P, put(64, b"\xff" * 32), MISBEHAVES, "base OT point 2"),
    Case("base OT: a point with its top bit set", 0, P, flip(31, 0x80), MISBEHAVES, "base OT point 0"),
    Case("base OT: no point", 0, P, put(64, NOT_A_POINT), MISBEHAVES, "base OT point 2"),
    Case("base OT: a message within the points", 0, P, inside(control(0x40, b"\4")), MISBEHAVES, "2048 more bytes of bulk data, got a message"),
    Case("base OT: a close within the points", 0, P, inside(close()), MISBEHAVES, "2048 more bytes of bulk data, got the end"),
    Case("base OT: another answer", 0, "base OT answer", flip(31, 0x80), MISBEHAVES, "the base OT receiver cheats"),
    Case("base OT: z is the identity", 1, "base OT z", put(0, bytes(32)), MISBEHAVES, "base OT element 0"),
    Case("base OT: z beyond the modulus", 1, "base OT z", put(0, MODULUS), MISBEHAVES, "base OT element 0"),
    Case("base OT: z is no point", 1, "base OT z", put(0, NOT_A_POINT), MISBEHAVES, "base OT element 0"),
    Case("base OT: another z", 1, "base OT z", put(0, TWICE_G), MISBEHAVES, "the base OT sender cheats"),
    Case("base OT: other challenges", 1, "base OT challenges", on_payload(lambda p: bytes(b ^ 255 for b in p)), MISBEHAVES, "the base OT sender cheats"),
    Case("base OT: another proof", 1, "base OT proof", flip(0), MISBEHAVES, "the base OT sender cheats"),
    Case("base OT: a close in place of the proof", 1, "base OT proof", instead(close()), MISBEHAVES, "32 more bytes of bulk data, got the end of"),
    # OT extension (file 8) and the online phase (file 10).
    Case("corrections: a message in place of those of trees", 1, "OT corrections of trees", instead(control(0)), MISBEHAVES, "3072 more bytes of bulk data, got a message"),
    Case("corrections: a message within those of OTs", 1, "OT corrections", inside(control(1, b"\0")), MISBEHAVES, "248 more bytes of bulk data, got a message"),
    Case("corrections: end within those of OTs", 1, "OT corrections", cut(100), NETWORK, "the peer closed the connection"),
    Case("corrections: padding of those of choices", 1, "corrections of choices", flip(0, 0x20), MISBEHAVES, "choice corrections from the peer: expected zeros after bit 5, got others"),
    Case("corrections: top bit of those of choices", 1, "corrections of choices", flip(0, 0x80), MISBEHAVES, "choice corrections from the peer: expected zeros after bit 5, got others"),
    Case("corrections: a close in place of those of choices", 1, "corrections of choices", instead(close()), MISBEHAVES, "1 more bytes of bulk data, got the end of"),
    Case("labels: a message in place of them", 0, "labels of party 0", instead(control(2, b"\0")), MISBEHAVES, "80 more bytes of bulk data, got a message"),
    Case("tables: too short, and a close", 0, "tables", lambda data, channel: less()(data, channel) + close(), MISBEHAVES, "1 more bytes of bulk data, got the end of"),
    Case("tables: a hello within them", 0, "tables", inside(control(0)), MISBEHAVES, "80 more bytes of bulk data, got a message"),
    Case("tables: padding of further bits", 0, "tables", flip(-1, 0x80), NONE, parameters=THREE_HALVES),
    Case("select bits: padding, from party 0", 0, "select bits", flip(0, 0x20), MISBEHAVES, "where the last byte is filled up"),
    Case("select bits: padding, from party 1", 1, "select bits", flip(0, 0x80), MISBEHAVES, "where the last byte is filled up"),
    Case("select bits: a close in their place", 1, "select bits", instead(close()), MISBEHAVES, "1 more bytes of bulk data, got the end of"),
    Case("select bits: a message before them", 1, "select bits", before(control(0x40, b"\4")), MISBEHAVES, "1 more bytes of bulk data, got a message of"),
    # Bulk data is one stream (file 2, "Order").
    Case("stream: points, a frame a byte", 0, P, single_bytes, NONE),
    Case("stream: tables, a frame a byte", 0, "tables", single_bytes, NONE),
    Case("stream: corrections, a frame a byte", 1, "OT corrections of trees", single_bytes, NONE),
    # The close (file 2, "Close").
    Case("close: a bulk byte before it", 1, "close", before(bulk()), CLOSING, "the peer's end of the conversation, got"),
    Case("close: a message in its place", 0, "close", then_read(instead(control(0))), CLOSING, "the peer's end of the conversation, got a"),
    Case("close: with a length", 1, "close", then_read(instead(close(b"\0"))), CLOSING, "malformed frame header"),
    Case("close: an unknown frame in its place", 0, "close", then_read(instead(bytes(6))), CLOSING, "malformed frame header"),
    Case("close: one byte of select bits too many", 0, "select bits", more(), CLOSING, "the peer's end of the conversation, got"),
]


def a(name: str, party: int, step: str, change: Change, expected: str, words: str = "", **parameters: str) -> Case:
    """A case of `authenticated` (file 12)."""
    return Case(f"authenticated: {name}", party, step, change, expected, words, parameters, "authenticated")


def g(name: str, party: int, step: str, change: Change, expected: str, words: str = "", **parameters: str) -> Case:
    """A case of `gmw` between two parties (file 11)."""
    return Case(f"gmw: {name}", party, step, change, expected, words, parameters, "gmw")


def s(name: str, party: int, step: str, change: Change, expected: str, words: str = "") -> Case:
    """A case of stores that are filled (file 12, "With a store")."""
    return Case(f"store: {name}", party, step, change, expected, words, {}, "store")


def kind(ranges: bytes, following: int = 5, name: str = TRIPLES, digest: bytes | None = None) -> bytes:
    """A kind of a summary."""
    return string(name) + (digest or kind_digest(name)) + varint(following) + ranges


def summary(kinds: list[bytes], seen: bytes = b"\0", tail: bytes | None = None) -> Change:
    """A summary of these kinds, with no secrets, our nonce, and nothing unsettled unless `tail` says otherwise."""

    def apply(payload: bytes) -> bytes:
        end = b"\0" + payload[-33:-1] + b"\0" if tail is None else tail
        return payload[:16] + b"\0" + seen + varint(len(kinds)) + b"".join(kinds) + end

    return on_payload(apply)


INVERT = on_payload(lambda p: bytes(b ^ 255 for b in p))
CASES += [
    # Set-up with checks (files 8 and 12).
    a("a form without checks", 0, "OT set-up", put(0, b"\4"), DISAGREES, "the peer extends OTs in another form"),
    a("a form with checks of 40 bits", 1, "OT set-up", put(0, b"\x14"), DISAGREES, "the peer extends OTs in another form"),
    a("corrections of trees, from party 1", 1, "OT corrections of trees", INVERT, MISBEHAVES, "the leaves of its trees do not fit their tags"),
    a("corrections of trees, from party 0", 0, "OT corrections of trees", INVERT, MISBEHAVES, "the leaves of its trees do not fit their tags"),
    a("the first tag", 1, "OT tags", flip(0), MISBEHAVES, "the leaves of its trees do not fit their tags"),
    a("the hash of all tags", 0, "OT tags", flip(-1), MISBEHAVES, "the leaves of its trees do not fit their tags"),
    a("an identity in base OT", 1, P, put(0, bytes(32)), MISBEHAVES, "base OT point 0"),
    a("another answer of base OT", 0, "base OT answer", flip(0), MISBEHAVES, "the base OT receiver cheats: its answer to our challenges is wrong"),
    a("another nonce than used", 1, "nonce", flip(0), MISBEHAVES, "its choices are not the same in every tree"),
    # Preparation (file 12).
    a("corrections of OTs", 1, "OT corrections", INVERT, MISBEHAVES, "its choices are not the same in every tree"),
    a("corrections of OTs, from party 0", 0, "OT corrections", INVERT, MISBEHAVES, "its choices are not the same in every tree"),
    a("hash of the choices", 1, "OT check hashes", flip(0), MISBEHAVES, "its choices are not the same in every tree"),
    a("hash of the last column", 0, "OT check hashes", flip(-1), MISBEHAVES, "its choices are not the same in every tree"),
    a("leaky triples", 1, "leaky triples", on_payload(lambda p: bytes(b ^ 255 for b in p[:-64]) + p[-64:]), MISBEHAVES, "its leaky triples are not products"),
    a("commitment to equality coins", 0, "leaky triples", flip(-33), MISBEHAVES, "it opened other coins than it committed to"),
    a("commitment to shift coins", 1, "leaky triples", flip(-1), MISBEHAVES, "it opened other coins than it committed to"),
    a("commitment to product bits", 0, "commitment to product bits", flip(0), MISBEHAVES, "it sent other product bits than it committed to"),
    a("product bits", 1, "product bits", flip(0), MISBEHAVES, "it sent other product bits than it committed to"),
    a("randomness of product bits", 0, "product bits", flip(-1), MISBEHAVES, "it sent other product bits than it committed to"),
    a("share of equality coins", 1, "equality coins", flip(0), MISBEHAVES, "it opened other coins than it committed to"),
    a("commitment to the digest", 0, "commitment to the digest", flip(0), MISBEHAVES, "it opened another digest of its leaky triples than it committed to"),
    a("digest", 1, "digest", flip(31), MISBEHAVES, "its leaky triples are not products"),
    a("opening of the digest", 0, "opening of the digest", flip(0), MISBEHAVES, "it opened another digest of its leaky triples than it committed to"),
    a("randomness of the digest", 0, "opening of the digest", flip(63), MISBEHAVES, "it opened another digest of its leaky triples than it committed to"),
    a("share of shift coins, from party 0", 0, "shift coins", flip(0), MISBEHAVES, "it opened other coins than it committed to"),
    a("share of shift coins, from party 1", 1, "shift coins", flip(63), MISBEHAVES, "it opened other coins than it committed to"),
    a("bucket bits, from party 0", 0, "bucket bits", flip(0), MISBEHAVES, "it opened a bit of a bucket that it does not have"),
    a("bucket bits, from party 1", 1, "bucket bits", flip(0), MISBEHAVES, "it opened a bit of a bucket that it does not have"),
    a("proof of bucket bits", 1, "bucket bits", flip(-1), MISBEHAVES, "it opened a bit of a bucket that it does not have"),
    # Joining and online (file 12).
    a("mask bits, from party 0", 0, "mask bits", flip(0), MISBEHAVES, "it opened a bit of a mask that it does not have"),
    a("mask bits, from party 1", 1, "mask bits", flip(0), MISBEHAVES, "it opened a bit of a mask that it does not have"),
    a("proof of mask bits", 0, "mask bits", flip(-1), MISBEHAVES, "it opened a bit of a mask that it does not have"),
    a("padding of mask bits", 1, "mask bits", flip(1, 0x80), MISBEHAVES, "where the last byte is filled up"),
    a("hash seed", 0, "hash seed", flip(0), MISBEHAVES, "its gates or labels do not fit their tags"),
    a("first byte of the tables", 0, "tables", flip(0), MISBEHAVES, "its gates or labels do not fit their tags"),
    a("all of the tables", 0, "tables", on_payload(lambda p: bytes(b ^ 255 for b in p[:160]) + p[160:]), MISBEHAVES, "its gates or labels do not fit their tags"),
    a("all tags", 0, "tables", on_payload(lambda p: p[:160] + bytes(b ^ 255 for b in p[160:220]) + p[220:]), MISBEHAVES, "its gates or labels do not fit their tags"),
    a("a select bit", 0, "tables", flip(-1, 1), MISBEHAVES, "its gates or labels do not fit their tags"),
    a("padding of select bits", 0, "tables", flip(-1, 0x80), MISBEHAVES, "where the last byte is filled up"),
    a("number of the run, from party 1", 1, "masked inputs", flip(0), DISAGREES, "the prepared run: expected 0 of this session, got 1 of this session"),
    a("number of the run, from party 0", 0, "number of the run", flip(0), DISAGREES, "the prepared run: expected 0 of this session, got 1 of this session"),
    a("padding of masked inputs", 1, "masked inputs", flip(8, 0x80), MISBEHAVES, "where the last byte is filled up"),
    a("label of party 0's input", 0, "active labels", flip(1), MISBEHAVES, "its gates or labels do not fit their tags"),
    a("value of party 1's input", 0, "active labels", flip(16 * 5), MISBEHAVES, "a label of our input stands for another bit than the masked one that"),
    a("sum of check values", 0, "sum of check values", flip(15, 0x80), MISBEHAVES, "its gates or labels do not fit their tags"),
    a("output masks, from party 0", 0, "output masks", flip(0), MISBEHAVES, "it opened a mask of an output that it does not have"),
    a("output masks, from party 1", 1, "output masks", flip(0), MISBEHAVES, "it opened a mask of an output that it does not have"),
    a("proof of output masks", 0, "output masks", flip(-1), MISBEHAVES, "it opened a mask of an output that it does not have"),
    a("padding of output masks", 1, "output masks", flip(0, 0x80), MISBEHAVES, "where the last byte is filled up"),
    a("masked outputs", 1, "masked outputs", flip(0), MISBEHAVES, "it handed over an output without having its label"),
    a("padding of masked outputs", 1, "masked outputs", flip(0, 0x80), MISBEHAVES, "where the last byte is filled up"),
    a("digest of output labels", 1, "digest of labels", flip(0), MISBEHAVES, "it handed over an output without having its label"),
    a("end before the outputs", 1, "masked outputs", cut(0), NETWORK, "the peer closed the connection"),
    a("a message in place of the outputs", 1, "masked outputs", instead(control(0x59)), MISBEHAVES, "50 more bytes of bulk data, got a message of kind 89 with 0 bytes"),
    a("revealed values", 1, "masked values", flip(0), MISBEHAVES, "it sent masked values without having their labels", check="reveal"),
    a("padding of revealed values", 1, "masked values", flip(0, 0x80), MISBEHAVES, "where the last byte is filled up", check="reveal"),
    a("hash of revealed labels", 1, "hash of revealed labels", flip(0), MISBEHAVES, "it sent masked values without having their labels", check="reveal"),
    a("hash seed, streaming", 0, "hash seed", flip(0), MISBEHAVES, "its gates or labels do not fit their tags", build="stream"),
    a("mask bits, streaming", 1, "mask bits", flip(-1), MISBEHAVES, "it opened a bit of a mask that it does not have", build="stream"),
    a("triples of a store in the hello", 1, H, parameter("triples", "from a store"), DISAGREES, "triples: ours nothing, theirs from a store"),
    a("statistical 64 in place of 40", 1, H, parameter("statistical", "64"), DISAGREES, "statistical: ours 40, theirs 64"),
    # A mesh (file 4) and `gmw` (file 11).
    g("mesh hello of another number", 0, "mesh hello", fields(party=1), DISAGREES, "party (must differ): ours 1, theirs 1"),
    g("mesh hello of three parties", 0, "mesh hello", fields(parties=3), DISAGREES, "number of parties: ours 2, theirs 3"),
    g("mesh hello of another protocol", 0, "mesh hello", fields(protocol="gmw"), DISAGREES, "protocol: ours mesh, theirs gmw"),
    g("mesh hello with a digest", 0, "mesh hello", fields(digest=b"\7" * 32), DISAGREES, "program digest"),
    g("mesh hello with a session", 0, "mesh hello", parameter("session", "monday"), DISAGREES, "session: ours nothing, theirs monday"),
    g("mesh hello with a job", 0, "mesh hello", parameter("job", "1" * 64), NONE),
    g("hello of another form", 1, H, parameter("form", "2012"), DISAGREES, "form: ours triples, theirs 2012"),
    g("hello of silent OT", 1, H, parameter("ot", "silent"), DISAGREES, "ot: ours extension, theirs silent"),
    g("hello with open OT", 1, H, parameter("ot", "auto 1 (extension, silent)"), NONE),
    g("hello with an open ot-k", 0, H, parameter("ot-k", "auto 1 (4, 2, 8)"), NONE),
    g("hello of another digest", 1, H, fields(digest=b"\7" * 32), DISAGREES, "program digest"),
    g("hello of another schedule", 1, H, parameter("schedule", "0" * 32), DISAGREES, "schedule"),
    g("hello without a schedule", 1, H, parameter("schedule"), DISAGREES, "schedule"),
    g("a form with checks", 1, "OT set-up", put(0, b"\x14"), DISAGREES, "the peer extends OTs in another form"),
    g("an identity in base OT", 0, P, put(0, bytes(32)), MISBEHAVES, "base OT point 0"),
    g("another proof of base OT", 1, "base OT proof", flip(0), MISBEHAVES, "the base OT sender cheats: its challenges do not fit its proof"),
    g("padding of corrections of a", 0, "corrections of a", flip(0, 0x80), MISBEHAVES, "corrections of choices"),
    g("padding of corrections of b", 1, "corrections of b", flip(0, 0x20), MISBEHAVES, "where the last byte is filled up"),
    g("number of the run", 0, "number of the run", flip(0), DISAGREES, "the prepared run: expected 0 of this session, got 1 of this session"),
    g("number of the run with the bit of stores", 1, "number of the run", flip(7, 0x80), DISAGREES, "the prepared run: expected 0 of this session, got 0 of the stores"),
    g("padding of d", 0, "layer", flip(0, 0x80), MISBEHAVES, "where the last byte is filled up"),
    g("padding of e", 1, "layer", flip(1, 0x80), MISBEHAVES, "where the last byte is filled up"),
    g("padding of choices", 1, "choices of a layer", flip(0, 0x80), MISBEHAVES, "where the last byte is filled up", form="2012"),
    g("padding of the first masked bits", 0, "masked bits of a layer", flip(0, 0x80), MISBEHAVES, "where the last byte is filled up", form="2012"),
    g("padding of the second masked bits", 0, "masked bits of a layer", flip(1, 0x20), MISBEHAVES, "where the last byte is filled up", form="2012"),
    g("padding of shares of outputs", 1, "shares of outputs", flip(0, 0x80), MISBEHAVES, "where the last byte is filled up"),
    g("a close in place of the outputs", 1, "shares of outputs", instead(close()), MISBEHAVES, "1 more bytes of bulk data, got the end of the conversation"),
    g("an abort with a blame", 1, "layer", then_end(instead(abort(b"\0\0\4"))), NETWORK, "blames us: this party violated the protocol"),
    g("an abort with a blame of five bytes", 1, "layer", then_end(instead(abort(b"\0\0\2\0\0"))), NETWORK, "passes on that party 0 blames us: this party fell silent"),
    g("end before the outputs", 1, "shares of outputs", cut(0), NETWORK, "the peer closed the connection"),
    g("an abort in place of the close", 0, "close", then_end(instead(abort())), CLOSING, "the peer aborted"),
    # Stores (file 12).
    s("other amounts", 1, H, parameter("amounts", "32, 16"), DISAGREES, "amounts: ours 16 triples, 16 masks, theirs 32 triples, 16 masks"),
    s("a hello of a run", 1, H, parameter("step", "run"), DISAGREES, "step: ours prepare"),
    s("a byte behind the summary", 1, "summary", more(), MISBEHAVES, "got 1 bytes after them"),
    s("a byte less of the summary", 1, "summary", less(), MISBEHAVES, "malformed message"),
    s("the summary of another protocol", 0, "summary", instead(control(0x58, bytes(80))), MISBEHAVES, "message `summary of a store of triples`"),
    s("a summary longer than its limit", 1, "summary", then_read(instead(b"\xc0\x59" + (1112807).to_bytes(4, "little"))), MISBEHAVES, "too large"),
    s("pieces that the peer lacks", 1, "summary", summary([kind(b"\1\0\5")]), NONE),
    s("two ranges that do not touch", 0, "summary", summary([kind(b"\2\0\1\1\1")]), NONE),
    s("a next identifier of 2^40 - 99", 1, "summary", summary([kind(b"\0", (1 << 40) - 99)]), MISBEHAVES, "too far ahead of ours"),
    s("a next identifier of 2^30", 1, "summary", summary([kind(b"\0", (1 << 30))]), NONE),
    s("two kinds in order", 1, "summary", summary(sorted([kind(b"\0"), kind(b"\0", name=MASKS)], reverse=kind_digest(TRIPLES) > kind_digest(MASKS), key=lambda k: TRIPLES.encode() not in k)), NONE),
    s("a kind of 64 bytes", 1, "summary", summary([kind(b"\0", name="k" * 64)]), NONE),
    s("a kind with the digest of another", 1, "summary", summary([kind(b"\0", digest=b"\7" * 32)]), NONE),
    s("255 stores seen", 1, "summary", summary([], varint(255) + b"".join(bytes([i]) * 16 + b"\1" for i in range(255))), STORE, "our store is not the one that the peer's was filled with"),
    s("an empty range", 1, "summary", summary([kind(b"\1\1\0")]), MISBEHAVES, "malformed message"),
    s("ranges that touch", 1, "summary", summary([kind(b"\2\0\1\0\1")]), MISBEHAVES, "malformed message"),
    s("a range beyond the next identifier", 0, "summary", summary([kind(b"\1\0\6")]), MISBEHAVES, "malformed message"),
    s("a next identifier of 2^40 + 1", 1, "summary", summary([kind(b"\0", (1 << 40) + 1)]), MISBEHAVES, "malformed message"),
    s("kinds in another order", 1, "summary", summary(sorted([kind(b"\0"), kind(b"\0", name=MASKS)], reverse=kind_digest(TRIPLES) < kind_digest(MASKS), key=lambda k: TRIPLES.encode() not in k)), MISBEHAVES, "malformed message"),
    s("a kind twice", 1, "summary", summary([kind(b"\0"), kind(b"\0")]), MISBEHAVES, "malformed message"),
    s("a name of a kind of 65 bytes", 1, "summary", summary([kind(b"\0", name="k" * 65)]), MISBEHAVES, "malformed message"),
    s("256 stores seen", 1, "summary", summary([], varint(256) + b"".join(bytes([i]) * 16 + b"\1" for i in range(256))), MISBEHAVES, "malformed message"),
    s("an option of 2", 1, "summary", summary([], tail=b"\2" + bytes(32) + b"\0"), MISBEHAVES, "malformed message"),
    s("an unsettled batch that nobody knows", 1, "summary", summary([], tail=b"\0" + bytes(32) + b"\1" + bytes(64)), STORE, "is not settled"),
    s("hash of all tags", 1, "OT tags", flip(-1), MISBEHAVES, "do not fit their tags"),
    s("bucket bits", 0, "bucket bits", flip(0), MISBEHAVES, "it opened a bit of a bucket"),
    s("end before the opening of the digest", 0, "opening of the digest", cut(0), NETWORK, "the peer closed the connection"),
]
# fmt: on

# Cases in which the command is known to do something else than the text says: none.
DIFFERENT: dict[str, str] = {}

# Most of the time of a case is waiting for the command.
AT_ONCE = 6


def _is_good(case: Case, outcome: Outcome) -> bool:
    if case.expected == NONE:
        return outcome.status == 0 and outcome.bits == (None if case.protocol == "store" else ANSWER)
    if case.expected == REFUSED:
        return outcome.status == -1 and "refused" in outcome.message and case.words in outcome.message
    return case.words in outcome.message and (outcome.status == 1 or case.expected == CLOSING)


def _line(case: Case, outcome: Outcome) -> str:
    verdict = "ok   " if _is_good(case, outcome) else "known" if case.name in DIFFERENT else "WRONG"
    message = " ".join(outcome.message.split())
    return " | ".join(
        [verdict, case.name, case.expected, str(outcome.status), str(outcome.bits), message, outcome.hint]
    )


def _chosen(names: list[str]) -> list[Case]:
    """The cases with these names. With CONFORM_SHORT in the environment and no names, a few of each protocol and role."""
    if names or not os.environ.get("CONFORM_SHORT"):
        return [case for case in CASES if not names or any(name in case.name for name in names)]
    kinds: dict[tuple[str, int, str], list[Case]] = {}
    for case in CASES:
        kinds.setdefault((case.protocol, case.party, case.expected), []).append(case)
    return [case for several in kinds.values() for case in several[:: max(1, len(several) // 3)]]


def main(names: list[str]) -> int:
    """Run the cases; a line each, and the exit status 1 if one ends otherwise than the table says and is not known."""
    wrong = 0
    chosen = _chosen(names)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:

        def one(number: int, case: Case) -> str:
            own = Path(folder) / str(number)
            own.mkdir()
            return _line(case, run(case, own))

        for line in pool.map(one, range(len(chosen)), chosen):
            wrong += line.startswith("WRONG")
            print(line, flush=True)
    print(f"{len(chosen)} cases, {wrong} with another outcome")
    return 1 if wrong else 0
