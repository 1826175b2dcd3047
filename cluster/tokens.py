"""Development tokens: HS256 JWTs (RFC 7519) signed with `auth.secret`. `signoff token` prints one."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from models.config import AuthConfig
from models.errors import ConfigInvalid
from models.scopes import parse_scope


def mint_token(auth: AuthConfig, *, user: str, scopes: Sequence[str], now: datetime) -> str:
    """A token for `user` that holds `scopes` and ends after `auth.token_minutes`.

    Raises:
        ScopeInvalid: a scope is malformed.
        ConfigInvalid: the user or the scopes are missing.
    """
    import jwt

    if not user.strip():
        raise ConfigInvalid("--user is empty: name the person the token is for")
    if not scopes:
        raise ConfigInvalid("--scopes is empty: give at least one, such as macro:analyst")
    claims = {
        "iss": auth.issuer,
        "aud": auth.audience,
        "sub": user,
        "scopes": [str(parse_scope(scope)) for scope in scopes],
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(minutes=auth.token_minutes)).timestamp()),
    }
    return jwt.encode(claims, auth.secret.get_secret_value(), algorithm="HS256")
