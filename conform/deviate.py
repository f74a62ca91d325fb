"""A peer that is wrong on purpose: changes to what an honest peer sends at one step, and the run of one case."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import authenticated, command, gmw, hello, program, store, wire, yao
from .notation import CallError, Disagreement, Gone, Misbehaviour
from .wire import ABORT, BULK, CLOSE, CONTROL, Channel, frame


class Stopped(Exception):
    """The deviating peer has ended its connection."""


# What a deviating peer sends in place of the frames of a step.
Change = Callable[[bytes, Channel], bytes]


@dataclass(frozen=True)
class Case:
    """One deviation: this peer's party, the step, the change, the class of the error, and words of its message.

    The class is "none" where the text lets the run succeed, and "close" where it fails after the result. "refused" is
    for a command that listens: it drops this connection and waits for another. For the other deviations of the hello
    this peer listens, so that the command ends.
    """

    name: str
    party: int
    step: str
    change: Change
    expected: str
    words: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    protocol: str = "yao"

    @property
    def listen(self) -> bool:
        return self.step == "hello" and self.expected != "refused"


# Changes


def payloads(data: bytes) -> list[tuple[int, int, bytes]]:
    """The frames in these bytes."""
    found = []
    while data:
        length = int.from_bytes(data[2:6], "little")
        found.append((data[0], data[1], data[6 : 6 + length]))
        data = data[6 + length :]
    return found


def on_payload(change: Callable[[bytes], bytes]) -> Change:
    """Change the payload of the one frame of the step, with a header that fits."""

    def apply(data: bytes, channel: Channel) -> bytes:
        ((kind_of_frame, kind, payload),) = payloads(data)
        return frame(kind_of_frame, kind, change(payload))

    return apply


def on_hello(change: Callable[[hello.Hello], None]) -> Change:
    """Change the fields of the hello."""

    def apply(payload: bytes) -> bytes:
        ours = hello.decode(payload)
        change(ours)
        return ours.encode()

    return on_payload(apply)


def fields(**values: Any) -> Change:
    """Set fields of the hello."""

    def change(ours: hello.Hello) -> None:
        for name, value in values.items():
            setattr(ours, name, value)

    return on_hello(change)


def parameter(name: str, *values: str) -> Change:
    """Give a parameter of the hello these values, one, none or several."""

    def change(ours: hello.Hello) -> None:
        ours.parameters = [pair for pair in ours.parameters if pair[0] != name] + [(name, value) for value in values]

    return on_hello(change)


def edit(old: bytes, new: bytes) -> Change:
    """Replace the first occurrence of some bytes in the payload."""
    return on_payload(lambda payload: payload.replace(old, new, 1))


def flip(byte: int, mask: int = 1) -> Change:
    """Turn bits of one byte of the payload; negative numbers count from the end."""

    def apply(payload: bytes) -> bytes:
        changed = bytearray(payload)
        changed[byte] ^= mask
        return bytes(changed)

    return on_payload(apply)


def put(start: int, new: bytes) -> Change:
    """Overwrite a part of the payload."""
    return on_payload(lambda payload: payload[:start] + new + payload[start + len(new) :])


def more(extra: bytes = b"\0") -> Change:
    return on_payload(lambda payload: payload + extra)


def less(count: int = 1) -> Change:
    return on_payload(lambda payload: payload[:-count])


def instead(raw: bytes) -> Change:
    return lambda data, channel: raw


def before(raw: bytes) -> Change:
    return lambda data, channel: raw + data


def after(raw: bytes) -> Change:
    return lambda data, channel: data + raw


def inside(raw: bytes) -> Change:
    """Put a frame between the two halves of the bulk data of the step."""

    def apply(data: bytes, channel: Channel) -> bytes:
        ((_, _, payload),) = payloads(data)
        half = len(payload) // 2
        return frame(BULK, 0, payload[:half]) + raw + frame(BULK, 0, payload[half:])

    return apply


def single_bytes(data: bytes, channel: Channel) -> bytes:
    """One frame for each byte of bulk data."""
    return b"".join(frame(BULK, 0, bytes([byte])) for _, _, payload in payloads(data) for byte in payload)


def then_end(change: Change) -> Change:
    """Send that, and end the connection."""

    def apply(data: bytes, channel: Channel) -> bytes:
        channel.raw(change(data, channel))
        channel.hang_up()
        raise Stopped

    return apply


def cut(count: int) -> Change:
    """Send some bytes of the step's frames, and end the connection; a negative count is from the end."""
    return then_end(lambda data, channel: data[:count])


def then_read(change: Change) -> Change:
    """Send that, then nothing more, and read until the command ends the connection."""

    def apply(data: bytes, channel: Channel) -> bytes:
        channel.raw(change(data, channel))
        try:
            while True:
                channel.drain()
        except Gone:
            channel.hang_up()
        raise Stopped

    return apply


def abort(payload: bytes = b"", kind: int = 0) -> bytes:
    return frame(ABORT, kind, payload)


def close(payload: bytes = b"", kind: int = 0) -> bytes:
    return frame(CLOSE, kind, payload)


def control(kind: int, payload: bytes = b"") -> bytes:
    return frame(CONTROL, kind, payload)


def bulk(payload: bytes = b"\0", kind: int = 0) -> bytes:
    return frame(BULK, kind, payload)


# The run of a case

PROGRAM = {
    "components": {
        "and": {
            "inputs": {"a": "u5", "b": "u5"},
            "outputs": {"o": "u5"},
            "gates": [f"o[{i}] = a[{i}] & !b[{i}]" for i in range(5)],
        }
    },
    "inputs": {"x": {"type": "u5", "owner": 0}, "y": {"type": "u5", "owner": 1}},
    "instances": {"k": {"of": "and", "in": {"a": "x", "b": "y"}}},
    "outputs": {"o": {"type": "u5", "from": "k.o", "to": "all"}},
}
VALUES = {"x": 21, "y": 6}
ANSWER = "10001"


@dataclass
class Outcome:
    """What the command did: its exit status, its message, the bits of its output if there are any, and its hint."""

    status: int
    message: str
    bits: str | None
    hint: str = ""


def _prepare(case: Case, address: str, folder: Path) -> Outcome:
    """Fill an empty store together with the command, with one deviation."""

    def tamper(step: str, data: bytes, channel: Channel) -> bytes:
        return case.change(data, channel) if step == case.step else data

    where = ("--store", tempfile.mkdtemp(dir=folder) + "/store", "--store-key", str(folder / "key"))
    other = command.Preparation(1 - case.party, address, {"triples": 16, "masks": 16}, case.parameters, where)
    channel = None
    try:
        try:
            channel = Channel(wire.connect(address), tamper)
            store.prepare(channel, case.party, store.Store(), 16, 16, case.parameters)
        except (Stopped, Gone):
            pass
        except (CallError, Disagreement, Misbehaviour, store.StoreError):
            if channel is not None:
                channel.abort()
        finally:
            if channel is not None:
                channel.hang_up()
        status, result, errors = other.wait(10)
    finally:
        other.stop()
    return Outcome(
        status, result.get("error", {}).get("message", "") or errors, None, result.get("error", {}).get("hint") or ""
    )


def run(case: Case, folder: Path) -> Outcome:
    """Meet the command with one deviation."""
    file = folder / "program.json"
    file.write_text(json.dumps(PROGRAM))
    made = program.load(file)
    files = command.write_inputs(made, VALUES, folder)
    address = command.free_address()
    if case.protocol == "store":
        return _prepare(case, address, folder)
    bits = {port.name: port.type.bits(VALUES[port.name]) for port in made.inputs}

    def tamper(step: str, data: bytes, channel: Channel) -> bytes:
        return case.change(data, channel) if step == case.step else data

    more: tuple[str, ...] = ("--protocol", case.protocol)
    if case.protocol == "gmw":
        addresses = [command.free_address() for _ in range(2)]
        (folder / "peers.toml").write_text("".join(f'[[party]]\naddress = "{one}"\n' for one in addresses))
        other = command.Party(
            1 - case.party, file, files, "", case.parameters, more=(*more, "--peers", str(folder / "peers.toml"))
        )
    else:
        listener = wire.listen(address) if case.listen else None
        other = command.Party(1 - case.party, file, files, address, case.parameters, not case.listen, more)
    channels: dict[int, Channel] = {}
    try:
        try:
            if case.protocol == "gmw":
                channels = gmw.connect(addresses, case.party, None, tamper)
                gmw.run(channels, case.party, made, bits, case.parameters)
            else:
                stream = wire.take(listener) if listener else wire.connect(address)
                channels = {0: Channel(stream, tamper)}
                honest = yao.run if case.protocol == "yao" else authenticated.run
                honest(channels[0], case.party, made, bits, case.parameters)
        except (Stopped, Gone):
            pass
        except (CallError, Disagreement, Misbehaviour):
            for channel in channels.values():
                channel.abort()
        finally:
            for channel in channels.values():
                channel.hang_up()
        status, result, errors = other.wait(3 if case.expected == "refused" else 10)
    finally:
        other.stop()
    message = result.get("error", {}).get("message", "") or errors
    outputs = result.get("outputs")
    return Outcome(
        status, message, outputs["o"]["bits"] if outputs else None, result.get("error", {}).get("hint") or ""
    )
