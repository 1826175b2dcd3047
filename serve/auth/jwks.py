"""The public keys that tokens are checked with: JSON Web Key Sets (RFC 7517) from a file or a URL.

`serve.auth.tokens` asks. Only keys of our three algorithms count, and each only for the one that its kind is
made for. A source that can't be read keeps the keys it has.
"""

import asyncio
import json
import logging
import os
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx2
import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from models.config.publishing import JwksConfig, JwtAlgorithm
from models.errors import KeysUnavailable

_log = logging.getLogger("signoff.jwks")

_FETCH_SECONDS = 5.0
# After a fetch that failed, and between two that an unknown key asked for: a stranger can't drive fetches.
_AGAIN_SECONDS = 10.0
_MAX_BYTES = 1 << 20
_MIN_RSA_BITS = 2048  # RFC 7518 §3.3

# What each kind of key is for, and its public members. A private one in a set is read as its public half.
_KINDS: dict[tuple[object, object], tuple[JwtAlgorithm, tuple[str, ...]]] = {
    ("RSA", None): ("RS256", ("n", "e")),
    ("EC", "P-256"): ("ES256", ("x", "y")),
    ("OKP", "Ed25519"): ("EdDSA", ("x",)),
    ("OKP", "Ed448"): ("EdDSA", ("x",)),
}


@dataclass(frozen=True)
class PublicKey:
    """A key of a set, for the one algorithm that it fits."""

    kid: str | None
    algorithm: JwtAlgorithm
    key: RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey | Ed448PublicKey


class KeySource(Protocol):
    """Where keys come from."""

    async def keys(self, *, unknown: bool = False) -> tuple[PublicKey, ...]:
        """The keys as they are; `unknown`: the last ones lacked one, so they may have changed.

        Raises KeysUnavailable where none were ever read.
        """
        ...


def source_of(config: JwksConfig, clock: Callable[[], float] = time.monotonic) -> KeySource:
    """The configured source; nothing is read yet."""
    if config.file is not None:
        return FileKeys(config.file)
    assert config.url is not None  # the configuration gives one of the two
    return UrlKeys(config.url, config.cache_seconds, clock)


def read_keys(text: str | bytes) -> tuple[PublicKey, ...]:
    """The keys of a set that can check our tokens. Raises ValueError where it is not a set."""
    if len(text) > _MAX_BYTES:
        raise ValueError(f"it is longer than {_MAX_BYTES} bytes")
    try:
        whole = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    members = whole.get("keys") if isinstance(whole, dict) else None
    if not isinstance(members, list):
        raise ValueError("it is not a JSON Web Key Set: `keys` is missing or not a list")
    return tuple(key for member in members if isinstance(member, dict) and (key := _read_key(member)))


def _read_key(member: dict[str, object]) -> PublicKey | None:
    """A key, unless it is symmetric, of another algorithm, for another use, weak or malformed."""
    kty, crv, kid = member.get("kty"), member.get("crv"), member.get("kid")
    kind = next((kind for names, kind in _KINDS.items() if names == (kty, crv)), None)
    if kind is None or not (kid is None or isinstance(kid, str)):
        return None
    algorithm, names = kind
    operations = member.get("key_ops", ["verify"])
    if member.get("alg", algorithm) != algorithm or member.get("use", "sig") != "sig":
        return None
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    public = {name: member.get(name) for name in names}
    if not all(isinstance(value, str) for value in public.values()):
        return None
    try:
        key = jwt.PyJWK({**public, "kty": kty, **({"crv": crv} if crv else {})}, algorithm).key
    except (jwt.PyJWTError, ValueError, UnsupportedAlgorithm):
        return None
    if isinstance(key, RSAPublicKey) and key.key_size < _MIN_RSA_BITS:
        return None
    return PublicKey(kid, algorithm, key)


class FileKeys:
    """A key set in a file, read again whenever the file is another than before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys: tuple[PublicKey, ...] | None = None
        self._seen: tuple[int, ...] = ()
        self._fault = ""

    async def keys(self, *, unknown: bool = False) -> tuple[PublicKey, ...]:
        """See `KeySource`. The file is looked at each time, so `unknown` changes nothing."""
        try:
            found = os.stat(self._path)
            seen = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
            if seen != self._seen:
                self._seen = seen
                self._keys = read_keys(self._path.read_bytes())
                self._fault = ""
        except (OSError, ValueError) as error:
            if str(error) != self._fault:
                _log.warning("auth.jwks.file %s can't be read: %s", self._path, error)
            self._fault = str(error)
        if self._keys is None:
            raise KeysUnavailable(f"the keys in auth.jwks.file {self._path} can't be read: {self._fault}")
        return self._keys


class UrlKeys:
    """A key set at a URL, kept for `cache_seconds`, and fetched once however many ask at a time."""

    def __init__(self, url: str, cache_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._cache_seconds = cache_seconds
        self._clock = clock
        self._keys: tuple[PublicKey, ...] | None = None
        self._fault = ""
        self._due_at = self._unknown_at = clock()
        self._lock = asyncio.Lock()

    async def keys(self, *, unknown: bool = False) -> tuple[PublicKey, ...]:
        """See `KeySource`. While another fetch renews keys that are there, they are what is answered."""
        due = self._clock() >= self._due_at
        if unknown or (due and (self._keys is None or not self._lock.locked())):
            await self._fetch_in_turn(unknown)
        if self._keys is None:
            raise KeysUnavailable(f"the keys at auth.jwks.url {self._url} can't be fetched: {self._fault}")
        return self._keys

    async def _fetch_in_turn(self, unknown: bool) -> None:
        """Fetch, unless somebody else has while we waited for our turn."""
        async with self._lock:
            now = self._clock()
            if now < (self._unknown_at if unknown else self._due_at):
                return
            if unknown:
                self._unknown_at = now + _AGAIN_SECONDS
            try:
                self._keys = read_keys(await fetched(self._url, _MAX_BYTES, _FETCH_SECONDS))
                self._due_at = self._clock() + self._cache_seconds
            except (httpx2.HTTPError, TimeoutError, ValueError) as error:
                self._due_at = self._clock() + _AGAIN_SECONDS
                self._fault = str(error) or type(error).__name__
                _log.warning("auth.jwks.url %s can't be fetched: %s", self._url, self._fault)


async def fetched(url: str, max_bytes: int, seconds: float) -> bytes:
    """What the address answers with, cut one part after `max_bytes`.

    Raises:
        httpx2.HTTPError, TimeoutError, and ValueError: it answers with another status than 200.
    """
    store = ssl.create_default_context()
    async with (
        asyncio.timeout(seconds),
        httpx2.AsyncClient(trust_env=False, verify=store, timeout=seconds) as client,
        client.stream("GET", url, headers={"Accept": "application/json"}) as answer,
    ):
        if answer.status_code != httpx2.codes.OK:
            raise ValueError(f"it answered with status {answer.status_code}")
        body = bytearray()
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > max_bytes:
                break
        return bytes(body)
