"""The hello: file 4 of the specification."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass

from .notation import Disagreement, Gone, Misbehaviour, Reader, string, varint
from .wire import HELLO, PARTS, REFUSAL, Channel

MAGIC = b"garblet\0"
WIRE_VERSION = 3
PARAMETERS_MAX = 32
PARTS_MAX = 64
TEXT_BYTES_MAX = 200
PACKAGE_VERSION = "conform"

_CONTROLS = re.compile(
    "[\0-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_OPEN = re.compile(r"auto 1 \((.*)\)")
_MAY_BE_OPEN = {("yao", "scheme"), ("gmw", "ot-k"), ("gmw", "ot")}

REFUSALS = [
    "busy: too many sessions",
    "too many sessions of this caller",
    "stopping",
    "unknown job",
    "the job is used up",
    "no inputs",
    "a session of this name is running",
    "the session has no name",
    "closed to everybody",
]


@dataclass
class Hello:
    """All fields of a hello (file 4, "The message")."""

    party: int
    parties: int
    protocol: str
    digest: bytes
    parameters: list[tuple[str, str]]
    version: int = WIRE_VERSION
    package: str = PACKAGE_VERSION
    magic: bytes = MAGIC

    def encode(self) -> bytes:
        fields = [self.magic, varint(self.version), string(self.package), varint(self.party), varint(self.parties)]
        fields += [string(self.protocol), self.digest, varint(len(self.parameters))]
        fields += [string(name) + string(value) for name, value in self.parameters]
        return b"".join(fields)

    def values(self) -> dict[str, list[str]]:
        """The values of each parameter that has any (file 4, "Judging", 6)."""
        found: dict[str, list[str]] = {}
        for name, value in self.parameters:
            if value:
                found.setdefault(name, []).append(value)
        return found


def text_from(reader: Reader, what: str) -> str:
    text = reader.string()
    if len(text.encode()) > TEXT_BYTES_MAX or _CONTROLS.search(text):
        raise Misbehaviour(f"{what}: expected at most {TEXT_BYTES_MAX} bytes without control characters, got {text!r}")
    return text


def decode(data: bytes) -> Hello:
    reader = Reader(data, "hello")
    magic = reader.take(8)
    if magic != MAGIC:
        raise Misbehaviour(f"hello: expected the magic {MAGIC!r}, got {magic!r}")
    version = reader.varint((1 << 32) - 1)
    package = text_from(reader, "package version")
    party, parties = reader.varint(0xFFFF), reader.varint(0xFFFF)
    protocol, digest = text_from(reader, "protocol"), reader.take(32)
    count = reader.varint()
    if count > PARAMETERS_MAX:
        raise Misbehaviour(f"hello: expected at most {PARAMETERS_MAX} parameters, got {count}")
    parameters = [(text_from(reader, "name"), text_from(reader, "value")) for _ in range(count)]
    reader.end()
    return Hello(party, parties, protocol, digest, parameters, version, package, magic)


def _fits(ours: list[str], theirs: list[str], may_be_open: bool) -> bool:
    if " and ".join(ours) == " and ".join(theirs):
        return True
    if not may_be_open or len(ours) != 1 or len(theirs) != 1:
        return False
    for one, other in (ours[0], theirs[0]), (theirs[0], ours[0]):
        if (match := _OPEN.fullmatch(one)) and other in match[1].split(", "):
            return True
    return False


def judge(ours: Hello, theirs: Hello) -> list[str]:
    """What keeps two parties from running together (file 4, "Judging")."""
    found = []

    def differ(what: str, our: object, their: object) -> None:
        if our != their:
            found.append(f"{what}: ours {our}, theirs {their}")

    differ("wire version", ours.version, theirs.version)
    differ("protocol", ours.protocol, theirs.protocol)
    differ("parties", ours.parties, theirs.parties)
    our_values, their_values = ours.values(), theirs.values()
    our_step, their_step = our_values.get("step", ["run"]), their_values.get("step", ["run"])
    differ("step", our_step, their_step)
    if our_step == their_step:
        differ("program digest", ours.digest.hex(), theirs.digest.hex())
        for name in sorted({*our_values, *their_values} - {"step"}):
            may_be_open = ours.parties == 2 and (ours.protocol, name) in _MAY_BE_OPEN
            our, their = our_values.get(name, []), their_values.get(name, [])
            if not name.startswith("told ") and not _fits(our, their, may_be_open):
                found.append(f"{name}: ours {our}, theirs {their}")
    if ours.party == theirs.party:
        found.append(f"party: both are {ours.party}")
    for hello in (ours, theirs):
        if hello.party >= hello.parties:
            found.append(f"party: {hello.party} is not below the number of parties, {hello.parties}")
    return found


def receive(channel: Channel) -> Hello:
    kind, data = channel.receive_control((HELLO, REFUSAL), "hello")
    if kind == REFUSAL:
        reader = Reader(data, "refusal")
        variant = reader.varint(len(REFUSALS) - 1)
        seconds = reader.varint((1 << 32) - 1) if variant == 4 and reader.varint(1) else None
        reader.end()
        raise Disagreement(f"the service refuses: {REFUSALS[variant]}" + (f" for {seconds} seconds" if seconds else ""))
    return decode(data)


def meet(channel: Channel, ours: Hello) -> Hello:
    """Exchange hellos and judge them; the parts of a program are sent empty (file 4, "Parts")."""
    send(channel, ours)
    return conclude(channel, ours, receive(channel))


def send(channel: Channel, ours: Hello, step: str = "hello") -> None:
    channel.control(HELLO, ours.encode(), step)


def conclude(channel: Channel, ours: Hello, theirs: Hello) -> Hello:
    found = judge(ours, theirs)
    if found:
        same = ours.version == theirs.version and ours.protocol == theirs.protocol
        same = same and ours.values().get("step") == theirs.values().get("step")
        if same and ours.digest != theirs.digest:
            # Whatever comes in place of the peer's parts, the run has ended by now.
            with contextlib.suppress(Gone, Misbehaviour):
                channel.control(PARTS, varint(0), "parts")
                channel.receive_control(PARTS, "parts")
        raise Disagreement("; ".join(found))
    return theirs


def join(channel: Channel, party: int, parties: int, called: int | None, session: str | None = None) -> int:
    """The hello of a mesh (file 4, "Joining a mesh"); the number of the peer. `called` is None at the accepting party."""
    parameters = [("session", session)] if session else []
    ours = Hello(party, parties, "mesh", bytes(32), parameters)
    send(channel, ours, "mesh hello")
    theirs = receive(channel)
    found = [] if theirs.party != party else [f"party: both are {party}"]
    found += judge(ours, theirs)
    if called is not None and theirs.party != called:
        found.append(f"party: called {called}, got {theirs.party}")
    if called is None and theirs.party <= party:
        found.append(f"party: expected a higher number than {party}, got {theirs.party}")
    if found:
        raise Disagreement("; ".join(found))
    return theirs.party
