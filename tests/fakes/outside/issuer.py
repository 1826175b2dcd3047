"""An issuer of tokens, as an on-prem Keycloak is: keys of every kind, and their set over real HTTP.

`sign` makes tokens, good and forged; `with KeyServer(jwk(...)) as server:` serves a key set at `server.url`
and counts the requests.
"""

import base64
import hashlib
import hmac
import json
import threading
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from models.config import AuthConfig

ISSUER, AUDIENCE = "https://keycloak.internal/realms/signoff", "signoff"
ALGORITHMS = ("RS256", "ES256", "EdDSA")
_READERS = {"RS256": jwt.algorithms.RSAAlgorithm, "ES256": jwt.algorithms.ECAlgorithm}


@cache
def private_key(name: str, algorithm: str) -> Any:
    """A key of a name, made once: RSA keys take a while."""
    if algorithm == "RS256":
        return rsa.generate_private_key(65537, 1024 if name == "weak" else 2048)
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP384R1() if name == "long" else ec.SECP256R1())
    return (ed448.Ed448PrivateKey if name == "long" else ed25519.Ed25519PrivateKey).generate()


def jwk(name: str, algorithm: str, /, *, private: bool = False, **changes: Any) -> dict[str, Any]:
    """A key as a member of a set, its `kid` being `{name}-{algorithm}`; a None is left out."""
    key = private_key(name, algorithm)
    reader = _READERS.get(algorithm, jwt.algorithms.OKPAlgorithm)
    member = reader.to_jwk(key if private else key.public_key(), as_dict=True)
    member.pop("key_ops", None)
    member |= {"kid": f"{name}-{algorithm}", "alg": algorithm, "use": "sig", **changes}
    return {field: value for field, value in member.items() if value is not None}


def public_pem(name: str, algorithm: str) -> str:
    """A public key as anyone may have it."""
    return (
        private_key(name, algorithm)
        .public_key()
        .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def claims(**changes: Any) -> dict[str, Any]:
    """The claims of a good token; what is changed to None is left out."""
    now = datetime.now(UTC)
    whole = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ann",
        "scopes": ["global:admin"],
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(hours=1)).timestamp()),
        **changes,
    }
    return {name: value for name, value in whole.items() if value is not None}


def sign(name: str, algorithm: str, header: dict[str, Any] | None = None, /, **changes: Any) -> str:
    """A token signed with a key, which its header names unless `header` says otherwise."""
    headers = {"kid": f"{name}-{algorithm}", **(header or {})}
    key = private_key(name, algorithm)
    return jwt.encode(claims(**changes), key, algorithm, {k: v for k, v in headers.items() if v is not None})


def sign_symmetrically(secret: bytes, header: dict[str, Any], payload: bytes | None = None) -> str:
    """An HMAC-SHA256 token with whatever header and secret; PyJWT itself refuses to make the bad ones."""
    parts = [json.dumps(header).encode(), json.dumps(claims()).encode() if payload is None else payload]
    text = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    mac = hmac.new(secret, text, hashlib.sha256).digest()
    return (text + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()


def good_keys() -> tuple[dict[str, Any], ...]:
    """A set with a key of each kind, all of them named good."""
    return tuple(jwk("good", algorithm) for algorithm in ALGORITHMS)


def auth(*, secret: str | None = None, **jwks: Any) -> AuthConfig:
    """How tokens are checked: with the secret, with a key set, or with both."""
    return AuthConfig.model_validate(
        {
            "issuer": ISSUER,
            "audience": AUDIENCE,
            "token_minutes": 60,
            "grants_last_seconds": 3600,
            "decide": {"claim": "amr", "values": ["user"]},
            "secret": secret,
            "jwks": jwks or None,
        }
    )


def key_file(folder: Path, *members: dict[str, Any]) -> Path:
    """A key set in a file."""
    path = folder / "keys.json"
    path.write_text(json.dumps({"keys": members}))
    return path


def bearer(token: str) -> dict[str, str]:
    """The header that carries a token."""
    return {"Authorization": f"Bearer {token}"}


class KeyServer:
    """Serves `members` as a key set, or `body`, with `status`, over HTTP on loopback; a context manager.

    While `held` is clear, requests wait; `until(count)` returns when so many have come.
    """

    def __init__(self, *members: dict[str, Any]) -> None:
        self.members: tuple[dict[str, Any], ...] = members
        self.body: str | None = None
        self.status = 200
        self.requests = 0
        self._came = threading.Condition()
        self.held = threading.Event()
        self.held.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with outer._came:
                    outer.requests += 1
                    outer._came.notify_all()
                outer.held.wait(30)
                body = (outer.body or json.dumps({"keys": outer.members})).encode()
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/certs"

    def until(self, count: int) -> None:
        """Wait until so many requests have come."""
        with self._came:
            assert self._came.wait_for(lambda: self.requests >= count, 20), f"only {self.requests} came"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.held.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
