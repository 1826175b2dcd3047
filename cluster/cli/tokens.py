"""Development tokens: HS256 JWTs (RFC 7519) signed with `auth.secret`. `signoff token` prints one."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from models.config import AuthConfig
from models.errors import ConfigInvalid
from models.people.scopes import parse_scope
from models.people.users import MAX_SUBJECT, is_internal, is_subject


def mint_token(
    auth: AuthConfig, *, user: str, scopes: Sequence[str], now: datetime, decides: bool = False
) -> str:
    """A token for `user` that holds `scopes` and ends after `auth.token_minutes`.

    Args:
        decides: a person decides on approvals with it; leave it out for agents and clients.

    Raises:
        ScopeInvalid: a scope is malformed.
        ConfigInvalid: the user or the scopes are missing or unusable, or there is no `auth.secret` to
            sign with.
    """
    import jwt

    if auth.secret is None:
        raise ConfigInvalid(
            "auth.secret is not set, so tokens can't be made here: get one from the issuer whose keys "
            "auth.jwks names, or set auth.secret"
        )
    if not user.strip():
        raise ConfigInvalid("--user is empty: name the person the token is for")
    if not is_subject(user):
        raise ConfigInvalid(
            f"--user {user!r} can't name a person: use 1 to {MAX_SUBJECT} printable characters, "
            "without spaces at the ends"
        )
    if is_internal(user):
        raise ConfigInvalid(f"--user {user!r} is a name that the site itself uses: take another")
    if not scopes:
        raise ConfigInvalid("--scopes is empty: give at least one, such as macro:analyst")
    claims: dict[str, object] = {
        "iss": auth.issuer,
        "aud": auth.audience,
        "sub": user,
        "scopes": [str(parse_scope(scope)) for scope in scopes],
        "iat": int(now.timestamp()),
        "exp": int((now + timedelta(minutes=auth.token_minutes)).timestamp()),
    }
    if decides and not isinstance(wanted := auth.decide, str):
        if wanted.claim is not None:
            claims[wanted.claim] = [wanted.values[0]]
        if wanted.audience is not None:
            claims["aud"] = [auth.audience, wanted.audience]
    return jwt.encode(claims, auth.secret.get_secret_value(), algorithm="HS256")
