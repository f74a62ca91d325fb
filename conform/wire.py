"""Frames, messages, abort and close over one stream of bytes: file 2 of the specification."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable
from typing import Protocol

from .notation import Gone, Misbehaviour

HEADER_BYTES = 6
BULK_FRAME_BYTES_MAX = 1 << 24
TIMEOUT_SECONDS = 60.0

CONTROL, BULK, ABORT, CLOSE = 0xC0, 0xC1, 0xC2, 0xC3
HELLO, PARTS, REFUSAL, OT_SETUP, TRIPLE_SUMMARY = 0x00, 0x01, 0x02, 0x40, 0x59
LIMITS = {HELLO: 16384, PARTS: 32768, REFUSAL: 16, OT_SETUP: 1, TRIPLE_SUMMARY: 1_112_806}


def frame(kind_of_frame: int, kind: int, payload: bytes) -> bytes:
    """One frame (file 2, "The header")."""
    return bytes([kind_of_frame, kind]) + len(payload).to_bytes(4, "little") + payload


# Called with the name of a step, and the frames that are about to be sent for it; returns what is sent in their place.
Tamper = Callable[[str, bytes, "Channel"], bytes]


class Stream(Protocol):
    """What a channel needs of a socket."""

    def settimeout(self, seconds: float | None, /) -> None: ...
    def recv(self, count: int, /) -> bytes: ...
    def sendall(self, data: bytes, /) -> None: ...
    def shutdown(self, how: int, /) -> None: ...
    def close(self) -> None: ...


class Channel:
    """One connection. `step` names what is sent or expected, for errors and for deviations."""

    def __init__(self, stream: Stream, tamper: Tamper | None = None) -> None:
        self._stream = stream
        self._tamper = tamper
        self._bulk = bytearray()
        self._received = bytearray()
        stream.settimeout(TIMEOUT_SECONDS)
        if isinstance(stream, socket.socket) and stream.family in (socket.AF_INET, socket.AF_INET6):
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent = 0
        self.received = 0
        self._queue: queue.SimpleQueue[bytes | None] | None = None
        self._writer: threading.Thread | None = None
        self._failure: Gone | None = None

    # Sending

    def write_in_background(self) -> None:
        """From now on, read while this party writes (file 2, "Sending and waiting")."""
        self._queue = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, args=(self._queue,), daemon=True)
        self._writer.start()

    def _write(self, waiting: queue.SimpleQueue[bytes | None]) -> None:
        while (data := waiting.get()) is not None:
            try:
                self._send(data)
            except Gone as error:
                self._failure = error
                return

    def flush(self) -> None:
        """Wait until everything is written."""
        if self._queue is not None and self._writer is not None:
            self._queue.put(None)
            self._writer.join(TIMEOUT_SECONDS)
            self._queue = None

    def raw(self, data: bytes) -> None:
        if self._failure is not None:
            raise self._failure
        if self._queue is not None:
            self._queue.put(data)
        else:
            self._send(data)

    def _send(self, data: bytes) -> None:
        try:
            self._stream.sendall(data)
        except OSError as error:
            raise Gone(f"sending {len(data)} bytes: the peer is gone ({error})") from None
        self.sent += len(data)

    def _frames(self, step: str, data: bytes) -> None:
        if self._tamper is not None:
            data = self._tamper(step, data, self)
        self.raw(data)

    def control(self, kind: int, payload: bytes, step: str) -> None:
        self._frames(step, frame(CONTROL, kind, payload))

    def bulk(self, data: bytes, step: str) -> None:
        """Send a part of the bulk stream; nothing sends no frame (file 2, "Order")."""
        pieces = range(0, len(data), BULK_FRAME_BYTES_MAX)
        self._frames(step, b"".join([frame(BULK, 0, data[i : i + BULK_FRAME_BYTES_MAX]) for i in pieces]))

    def abort(self) -> None:
        """Send an abort without a blame and close the connection (file 2, "Abort")."""
        try:
            self.flush()
            self.raw(frame(ABORT, 0, b""))
            self._finish(1.0)
        except (Gone, OSError):
            pass
        self._stream.close()

    def close(self) -> None:
        """Send a close, wait for that of the peer, and close the connection (file 2, "Close")."""
        self.send_close()
        self.await_close()

    def send_close(self) -> None:
        self._frames("close", frame(CLOSE, 0, b""))
        self.flush()

    def await_close(self) -> None:
        if self._bulk:
            raise Misbehaviour(f"close: expected a close, got {len(self._bulk)} more bytes of bulk data")
        kind_of_frame, _, _ = self._header("close")
        if kind_of_frame != CLOSE:
            raise Misbehaviour(f"close: expected frame c3, got {kind_of_frame:02x}")
        self._finish(1.0)
        self._stream.close()

    def drain(self) -> None:
        """Read and forget."""
        self._exactly(1, "the end")

    def hang_up(self) -> None:
        self.flush()
        self._stream.close()

    def _finish(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        try:
            self._stream.shutdown(socket.SHUT_WR)
            while (left := end - time.monotonic()) > 0:
                self._stream.settimeout(left)
                if not self._stream.recv(65536):
                    break
        except OSError:
            pass

    # Receiving

    def _exactly(self, count: int, step: str) -> bytes:
        while len(self._received) < count:
            try:
                piece = self._stream.recv(max(65536, count - len(self._received)))
            except TimeoutError:
                raise Gone(f"{step}: the peer is silent for {TIMEOUT_SECONDS:.0f} seconds") from None
            except OSError as error:
                raise Gone(f"{step}: the peer is gone ({error})") from None
            if not piece:
                raise Gone(f"{step}: expected {count} bytes, got {len(self._received)} and then the end of the stream")
            self._received += piece
        data = bytes(self._received[:count])
        del self._received[:count]
        self.received += count
        return data

    def _header(self, step: str) -> tuple[int, int, int]:
        """The next frame's type, kind and length; an abort ends the run (file 2, "The header")."""
        header = self._exactly(HEADER_BYTES, step)
        kind_of_frame, kind, length = header[0], header[1], int.from_bytes(header[2:], "little")
        if kind_of_frame == ABORT and kind == 0 and length in (0, 3, 5):
            self._exactly(length, step)
            raise Gone(f"{step}: the peer aborted")
        valid = (
            kind_of_frame == CONTROL
            or kind_of_frame == BULK
            and kind == 0
            and 1 <= length <= BULK_FRAME_BYTES_MAX
            or kind_of_frame == CLOSE
            and kind == 0
            and length == 0
        )
        if not valid:
            raise Misbehaviour(f"{step}: expected a header of file 2, got {header.hex(' ')}")
        return kind_of_frame, kind, length

    def receive_control(self, kinds: int | tuple[int, ...], step: str) -> tuple[int, bytes]:
        """The kind and payload of the next message, which is one of `kinds`."""
        expected = (kinds,) if isinstance(kinds, int) else kinds
        if self._bulk:
            raise Misbehaviour(f"{step}: expected a message, got {len(self._bulk)} more bytes of bulk data")
        kind_of_frame, kind, length = self._header(step)
        if kind_of_frame != CONTROL or kind not in expected:
            raise Misbehaviour(
                f"{step}: expected a message of kind {expected}, got frame {kind_of_frame:02x}, kind {kind}"
            )
        limit = LIMITS.get(kind, 1 << 16)
        if length > limit:
            raise Misbehaviour(f"{step}: expected at most {limit} bytes, got {length}")
        return kind, self._exactly(length, step)

    def receive_bulk(self, count: int, step: str) -> bytes:
        """The next `count` bytes of the bulk stream (file 2, "Order")."""
        while len(self._bulk) < count:
            kind_of_frame, _, length = self._header(step)
            if kind_of_frame != BULK:
                raise Misbehaviour(f"{step}: expected bulk data, got frame {kind_of_frame:02x}")
            self._bulk += self._exactly(length, step)
        data = bytes(self._bulk[:count])
        del self._bulk[:count]
        return data


def parse_address(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def connect(address: str, patience: float = 20.0) -> socket.socket:
    """Connect, and try again while nobody listens."""
    end = time.monotonic() + patience
    while True:
        try:
            return socket.create_connection(parse_address(address), timeout=TIMEOUT_SECONDS)
        except OSError as error:
            if time.monotonic() > end:
                raise Gone(f"{address}: cannot connect ({error})") from None
            time.sleep(0.03)


def listen(address: str) -> socket.socket:
    listener = socket.create_server(parse_address(address))
    listener.settimeout(TIMEOUT_SECONDS)
    return listener


def take(listener: socket.socket) -> socket.socket:
    """The first connection."""
    with listener:
        try:
            return listener.accept()[0]
        except OSError as error:
            raise Gone(f"nobody came ({error})") from None


def accept(address: str) -> socket.socket:
    """Listen, and take the first connection."""
    return take(listen(address))
