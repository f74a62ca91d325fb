"""TLS 1.3 between identities: file 3 of the specification.

The connecting side is the module `ssl`. The accepting side has to ask for a certificate that no authority has signed,
which that module cannot do, so it is pyOpenSSL.
"""

from __future__ import annotations

import contextlib
import datetime
import queue
import select
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from OpenSSL import SSL, crypto

from . import wire
from .notation import CallError, Gone, b3_derive

T = TypeVar("T")

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
SPKI = bytes.fromhex("302a300506032b6570032100")
FINGERPRINT_BYTES = 20
WELCOME = b"\xa5"
# With the top bit of the last byte cleared (file 3, "Certificates").
SMALL_ORDER = {
    *(y.to_bytes(32, "little") for y in (0, 1, 2**255 - 20, 2**255 - 19, 2**255 - 18)),
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
}


class IdentityError(Exception):
    """A party with an unexpected identity (file 2, "Classes of errors")."""


def fingerprint(public: bytes) -> bytes:
    """The fingerprint of a public key of 32 bytes (file 3, "Fingerprints")."""
    return b3_derive("garblet 2026 identity fingerprint", SPKI + public)[:FINGERPRINT_BYTES]


def to_text(data: bytes) -> str:
    """A fingerprint as text, with its check (file 3, "Fingerprints")."""
    check = int.from_bytes(b3_derive("garblet 2026 identity fingerprint check", data)[:3], "big") >> 4
    number = int.from_bytes(data, "big") << 20 | check
    digits = "".join(ALPHABET[number >> 5 * i & 31] for i in range(35, -1, -1))
    return "-".join(digits[i : i + 4] for i in range(0, 36, 4))


def from_text(source: str) -> bytes:
    """The fingerprint of a text; a wrong last group is refused (file 3, "Fingerprints")."""
    digits = source.lower().replace("-", "").replace(" ", "").replace("o", "0").replace("i", "1").replace("l", "1")
    if len(digits) != 36 or set(digits) - set(ALPHABET):
        raise CallError(f"fingerprint: expected 36 characters of {ALPHABET}, got {source!r}")
    number = 0
    for digit in digits:
        number = number << 5 | ALPHABET.index(digit)
    data = (number >> 20).to_bytes(FINGERPRINT_BYTES, "big")
    if to_text(data).replace("-", "") != digits:
        raise CallError(f"fingerprint: expected the last group {to_text(data)[-4:]}, got {digits[-4:]}")
    return data


def public_bytes(key: Ed25519PrivateKey | Ed25519PublicKey) -> bytes:
    public = key.public_key() if isinstance(key, Ed25519PrivateKey) else key
    return public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def identity_of(public: object) -> bytes | None:
    """The fingerprint of a key that may be an identity; none of another kind, and none of small order."""
    if not isinstance(public, Ed25519PublicKey):
        return None
    key = public_bytes(public)
    return None if key[:31] + bytes([key[31] & 0x7F]) in SMALL_ORDER else fingerprint(key)


def certificate(key: Ed25519PrivateKey, days: int = 0) -> x509.Certificate:
    """A self-signed certificate with an empty name (file 3, "Certificates"), valid around so many days from now."""
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    builder = x509.CertificateBuilder(x509.Name([]), x509.Name([]), key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
        now + datetime.timedelta(days=9)
    )
    return builder.sign(key, None)


def context_of(key: Ed25519PrivateKey, days: int = 0) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "identity.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file.write_bytes(private + certificate(key, days).public_bytes(serialization.Encoding.PEM))
        context.load_cert_chain(file)
    return context


def connect(
    address: str,
    key: Ed25519PrivateKey,
    peer: bytes,
    session: str | None,
    patience: float = 20.0,
    context: ssl.SSLContext | None = None,
) -> socket.socket:
    """Connect to the peer with this fingerprint, and wait for its welcome (file 3, "The welcome")."""
    end = time.monotonic() + patience
    while True:
        try:
            stream = (context or context_of(key)).wrap_socket(wire.connect(address), server_hostname=session)
        except OSError as error:
            raise IdentityError(f"TLS: the handshake failed ({error})") from None
        encoded = stream.getpeercert(binary_form=True)
        if encoded is None:
            stream.close()
            raise IdentityError("TLS: expected a certificate, got none")
        shown = crypto.load_certificate(crypto.FILETYPE_ASN1, encoded)
        if identity_of(shown.get_pubkey().to_cryptography_key()) != peer:
            stream.close()
            raise IdentityError(f"TLS: expected the peer {to_text(peer)}, got another")
        try:
            welcome = stream.recv(1)
        except OSError as error:
            stream.close()
            raise IdentityError(f"TLS: the peer refuses us ({error})") from None
        if welcome == WELCOME:
            return stream
        stream.close()
        if welcome:
            raise IdentityError(f"TLS: expected the welcome a5, got {welcome.hex()}")
        if time.monotonic() > end:
            raise Gone("TLS: expected the welcome a5, got the end of the stream")
        time.sleep(0.1)


class Accepted:
    """A connection that was accepted, with what `wire.Channel` needs of a socket.

    A call of OpenSSL waits for nothing, so one thread may read while another one writes.
    """

    def __init__(self, stream: socket.socket, context: SSL.Context) -> None:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setblocking(False)
        self._stream = stream
        self._tls = SSL.Connection(context, stream)
        self._tls.set_accept_state()
        self._one_at_a_time = threading.Lock()
        self._patience: float | None = None

    def settimeout(self, seconds: float | None) -> None:
        self._patience = seconds

    def _until_done(self, work: Callable[[], T]) -> T:
        """Call until nothing has to be waited for; raises what a socket raises."""
        end = None if self._patience is None else time.monotonic() + self._patience
        while True:
            reading = True
            try:
                with self._one_at_a_time:
                    return work()
            except SSL.WantReadError:
                pass
            except SSL.WantWriteError:
                reading = False
            except SSL.ZeroReturnError:
                raise
            except SSL.Error as error:
                raise OSError(f"TLS: {error}") from None
            left = None if end is None else max(0.0, end - time.monotonic())
            waits = [self._stream]
            if not any(select.select(waits if reading else [], [] if reading else waits, [], left)):
                raise TimeoutError

    def handshake(self) -> None:
        self._until_done(self._tls.do_handshake)

    def caller(self) -> tuple[bytes | None, str | None]:
        """The fingerprint and the session of the caller, after the handshake."""
        # Of the certificate nothing but the key counts, so nothing else is read.
        certificate = self._tls.get_peer_certificate()
        name = self._tls.get_servername()
        own = identity_of(certificate.get_pubkey().to_cryptography_key()) if certificate is not None else None
        return own, None if name is None else name.decode(errors="replace")

    def recv(self, count: int) -> bytes:
        try:
            return self._until_done(partial(self._tls.recv, count))
        except SSL.ZeroReturnError:
            return b""

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            piece = bytes(rest[: 1 << 14])
            rest = rest[self._until_done(partial(self._tls.send, piece)) :]

    def shutdown(self, how: int) -> None:
        """Send `close_notify`, whatever `how` says (file 3, "Ends")."""
        self._until_done(self._tls.shutdown)

    def close(self) -> None:
        self._stream.close()


def accepting_context(key: Ed25519PrivateKey) -> SSL.Context:
    """TLS 1.3 that asks for a certificate, and takes any: what counts is its key."""
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.set_min_proto_version(SSL.TLS1_3_VERSION)
    context.use_privatekey(key)
    context.use_certificate(certificate(key))
    context.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, lambda *_: True)
    context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    context.set_options(SSL.OP_NO_TICKET)
    return context


def accept(
    address: str,
    key: Ed25519PrivateKey,
    peer: bytes,
    session: str | None,
    patience: float = 20.0,
    refused: Callable[[str], None] = lambda what: None,
) -> Accepted:
    """Listen until the peer with this fingerprint comes, and welcome it; every other caller is dropped and reported (file 4, "Callers").

    Callers are met side by side, so whoever is silent keeps nobody out.
    """
    end = time.monotonic() + patience
    come: queue.SimpleQueue[Accepted] = queue.SimpleQueue()

    def meet(stream: Accepted) -> None:
        try:
            stream.handshake()
            own, name = stream.caller()
            if own == peer and name == session:
                come.put(stream)
                return
            refused("another session" if own == peer else "another identity")
        except (OSError, SSL.Error, ValueError) as error:
            refused(f"TLS: the handshake failed ({error})")
        stream.close()

    with wire.listen(address) as listener:
        listener.settimeout(0.05)
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                stream = Accepted(listener.accept()[0], accepting_context(key))
                stream.settimeout(left)
                threading.Thread(target=meet, args=(stream,), daemon=True).start()
            with contextlib.suppress(queue.Empty):
                known = come.get_nowait()
                with contextlib.suppress(OSError):
                    known.sendall(WELCOME)
                    return known
    raise Gone(f"nobody came within {patience:.0f} seconds")


def key_of(seed: bytes) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(seed)


__all__ = [
    "Accepted",
    "IdentityError",
    "accept",
    "connect",
    "fingerprint",
    "from_text",
    "key_of",
    "public_bytes",
    "to_text",
]
