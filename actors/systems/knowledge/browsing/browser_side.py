"""The browser's side of a connection to its proxy, as anyio has streams: plain, or with its TLS ended here.

The certificate is the proxy's own: made with it, known to its own Chromium alone by the digest of its key,
and good for every host. So the proxy reads whole addresses by https, too; servers' certificates it checks.
"""

import asyncio
import base64
import hashlib
import ssl
import tempfile
from datetime import UTC, datetime, timedelta

from anyio import EndOfStream
from anyio.abc import ByteStream
from anyio.streams.tls import TLSStream
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# How a TLS connection begins: a record of its handshake (RFC 8446 §5.1).
_HANDSHAKE = b"\x16"
_CHUNK = 65_536
_DAYS = 90


class BrowserSide(ByteStream):
    """What comes from Chromium, and goes there. What was read too early can be put back."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._early = b""

    def put_back(self, data: bytes) -> None:
        """Have that read first."""
        self._early = data + self._early

    async def receive(self, max_bytes: int = _CHUNK) -> bytes:
        """What is there, once something is. EndOfStream where nothing will be."""
        if self._early:
            data, self._early = self._early[:max_bytes], self._early[max_bytes:]
        else:
            data = await self._reader.read(max_bytes)
        if not data:
            raise EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        """Write, and wait until it is taken."""
        self._writer.write(item)
        await self._writer.drain()

    async def send_eof(self) -> None:
        """Say that nothing more comes."""
        self._writer.write_eof()

    async def aclose(self) -> None:
        """Close it."""
        self._writer.close()


class OwnCertificate:
    """A key of one proxy, held in its memory alone, and a certificate for it."""

    def __init__(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Signoff's browser")])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=_DAYS))
            .sign(key, hashes.SHA256())
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.digest = base64.b64encode(hashlib.sha256(public).digest()).decode()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.set_alpn_protocols(["http/1.1"])
        with tempfile.NamedTemporaryFile() as file:  # nobody else may read it, and it is gone at once
            file.write(
                key.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
            )
            file.write(certificate.public_bytes(serialization.Encoding.PEM))
            file.flush()
            self._context.load_cert_chain(file.name)

    async def end_tls(self, side: BrowserSide) -> ByteStream | None:
        """What is said within TLS; None where it is not TLS that is spoken."""
        first = await side.receive()
        side.put_back(first)
        if not first.startswith(_HANDSHAKE):
            return None
        return await TLSStream.wrap(
            side, server_side=True, ssl_context=self._context, standard_compatible=False
        )
