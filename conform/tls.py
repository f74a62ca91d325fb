"""TLS 1.3 between identities: file 3 of the specification. This peer is the connecting side only.

The accepting side has to ask for a certificate that no authority has signed, which the module `ssl` cannot do.
"""

from __future__ import annotations

import datetime
import socket
import ssl
import tempfile
import time
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from . import wire
from .notation import CallError, Gone, b3_derive

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
SPKI = bytes.fromhex("302a300506032b6570032100")
FINGERPRINT_BYTES = 20
WELCOME = b"\xa5"


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
        public = x509.load_der_x509_certificate(encoded).public_key()
        if not isinstance(public, Ed25519PublicKey) or fingerprint(public_bytes(public)) != peer:
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


def key_of(seed: bytes) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(seed)


__all__ = ["IdentityError", "connect", "fingerprint", "from_text", "key_of", "public_bytes", "to_text"]
