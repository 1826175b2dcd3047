"""Tokens: a signed JWT (RFC 7519, RFC 8725) becomes an `Identity`. `serve.auth.caller` asks, for every door.

The header's `alg` only chooses among the configured algorithms, and each of these has its own keys, so
that none is ever checked with another's. No key or address that a token names is ever used.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import jwt

from models.config import AuthConfig
from models.config.publishing import AnyToken, DecideConfig
from models.errors import Unauthenticated
from models.people.lookalikes import fault_of
from models.people.scopes import Scope, read_scopes
from models.people.users import MAX_SUBJECT, Identity, is_internal, is_subject
from serve.auth.jwks import source_of

_MAX_BYTES = 16 * 1024
_REQUIRED = ["exp", "iss", "aud", "sub"]


class TokenVerifier:
    """Checks tokens as `auth` in the configuration says. One per process; `clock` times its key cache."""

    def __init__(self, auth: AuthConfig, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._auth = auth
        self._source = source_of(auth.jwks, clock) if auth.jwks else None
        self.grants_last_seconds = auth.grants_last_seconds

    async def verify(self, token: str) -> Identity:
        """Who a token speaks for: algorithm, signature, issuer, audience and times are checked.

        Raises:
            Unauthenticated: the token is not one of ours, or is over. Malformed scopes grant nothing.
            KeysUnavailable: the configured keys could never be read.
        """
        if len(token) > _MAX_BYTES:
            raise _refused(f"it is longer than {_MAX_BYTES} characters")
        try:
            header = jwt.get_unverified_header(token)
            algorithm, key = await self._key(header)
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                issuer=self._auth.issuer,
                audience=self._auth.audience,
                leeway=self._auth.leeway_seconds,
                options={"require": _REQUIRED},
            )
        except (jwt.PyJWTError, ValueError) as error:
            raise _refused(str(error)) from error
        return _identity(claims, self._auth.decide)

    async def _key(self, header: dict[str, Any]) -> tuple[str, Any]:
        """The algorithm and the key to check with, both of them from the configuration."""
        if "crit" in header or "b64" in header:
            raise _refused("it asks for extensions (crit), and there are none here")
        if not _is_token_type(header.get("typ")):
            raise _refused(f"its typ is {header['typ']!r:.40}: it must be JWT or at+jwt, or absent")
        wanted, accepted = header.get("alg"), []
        if self._auth.secret is not None:
            accepted.append("HS256")
            if wanted == "HS256":
                return "HS256", self._auth.secret.get_secret_value().encode()
        if self._source is not None and self._auth.jwks is not None:
            accepted += self._auth.jwks.algorithms
            for algorithm in self._auth.jwks.algorithms:
                if wanted == algorithm:
                    return algorithm, await self._public_key(algorithm, header.get("kid"))
        raise _refused(f"its alg is {wanted!r:.40}, and this site takes {', '.join(accepted)}")

    async def _public_key(self, algorithm: str, kid: str | None) -> Any:
        """The one key that fits. A token without `kid` is accepted where only one can be meant."""
        assert self._source is not None
        for unknown in (False, True):
            fitting = [
                key
                for key in await self._source.keys(unknown=unknown)
                if key.algorithm == algorithm and (kid is None or key.kid == kid)
            ]
            if len(fitting) == 1:
                return fitting[0].key
            if fitting:
                raise _refused(f"several keys fit {algorithm}: its kid must name one of them")
        raise _refused(f"no key for {algorithm} has its kid" if kid else f"there is no key for {algorithm}")


def _is_token_type(typ: object) -> bool:
    """Other JWTs of an issuer, such as its logout tokens, are no access tokens (RFC 8725 §3.11, RFC 9068)."""
    if typ is None:
        return True
    return isinstance(typ, str) and typ.lower().removeprefix("application/") in ("jwt", "at+jwt")


def _refused(reason: str) -> Unauthenticated:
    # What a stranger wrote may be no text at all (a lone surrogate), and then no answer could hold it.
    shown = reason.encode("ascii", "backslashreplace").decode()[:200]
    return Unauthenticated(
        f"the token is refused: {shown}: get one from your issuer, or with `signoff token`",
        error="invalid_token",
    )


def _identity(claims: dict[str, Any], decide: DecideConfig | AnyToken) -> Identity:
    subject = claims["sub"]
    if not isinstance(subject, str) or not is_subject(subject):
        reason = fault_of(subject[:MAX_SUBJECT]) if isinstance(subject, str) else None
        shape = "must be 1 to 255 printable characters, without spaces at its ends"
        raise _refused(f"sub {reason or shape}")
    if is_internal(subject):
        raise _refused(f"sub is {subject!r}, which the site calls its own work: name the person another way")
    expires_at = _time(claims, "exp")
    assert expires_at is not None  # it is required
    return Identity(
        subject=subject,
        name=_text(claims.get("name")) or _text(claims.get("preferred_username")),
        email=_text(claims.get("email")),
        scopes=_scopes(claims),
        issued_at=_time(claims, "iat"),
        expires_at=expires_at,
        client=(_text(claims.get("azp")) or _text(claims.get("client_id")))[:MAX_SUBJECT],
        decides=_decides(claims, decide),
    )


def _decides(claims: dict[str, Any], wanted: DecideConfig | AnyToken) -> bool:
    """Whether the token is one to decide with: it has the claim, and is for the audience, that this takes."""
    if isinstance(wanted, str):
        return True
    said = _texts(claims.get(wanted.claim)) if wanted.claim else set()
    claimed = wanted.claim is None or bool(said & set(wanted.values))
    return claimed and (wanted.audience is None or wanted.audience in _texts(claims.get("aud")))


def _texts(claim: object) -> set[str]:
    """A claim that is a text, or a list of them, such as `amr` (RFC 8176)."""
    return {each for each in (claim if isinstance(claim, list) else [claim]) if isinstance(each, str)}


def _time(claims: dict[str, Any], name: str) -> datetime | None:
    if name not in claims:
        return None
    seconds = claims[name]
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise _refused(f"{name} must be a number")
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise _refused(f"{name} is no time that there is") from error


def _text(claim: object) -> str:
    return claim if isinstance(claim, str) and claim.isprintable() else ""


def _scopes(claims: dict[str, Any]) -> tuple[Scope, ...]:
    """Those of `scopes`, a list of texts, and of `scope`, one text with spaces between (RFC 8693 §4.2)."""
    listed, spaced = claims.get("scopes"), claims.get("scope")
    texts = [*(listed if isinstance(listed, list) else ())]
    return read_scopes([*texts, *(spaced.split(" ") if isinstance(spaced, str) else ())])
