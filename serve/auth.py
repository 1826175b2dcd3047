"""Who is calling: a verified token becomes a `UserContext`. Identity comes from nowhere else."""

from typing import Annotated

import jwt
from fastapi import Depends, Request
from pydantic import BaseModel, ConfigDict

from models.config import AuthConfig
from models.errors import PermissionMissing, Unauthenticated
from models.scopes import Role, Scope, ScopeInvalid, parse_scope


class UserContext(BaseModel):
    """The caller, as the token says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: str
    scopes: tuple[Scope, ...]

    def require_global(self, role: Role) -> None:
        """Raise PermissionMissing unless the caller has `role`, or one above it, on all topics."""
        wanted = Scope(topic="global", role=role)
        if not any(scope.is_global and scope.rank >= wanted.rank for scope in self.scopes):
            raise PermissionMissing(f"this takes the scope {wanted}")


def verify(token: str, auth: AuthConfig) -> UserContext:
    """Check signature, algorithm, issuer, audience and expiry of an HS256 JWT (RFC 7519, RFC 8725).

    Raises:
        Unauthenticated: the token is not one of ours, or is over. Malformed scopes grant nothing.
    """
    try:
        claims = jwt.decode(
            token,
            auth.secret.get_secret_value(),
            algorithms=["HS256"],
            issuer=auth.issuer,
            audience=auth.audience,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
    except jwt.InvalidTokenError as error:
        raise Unauthenticated(f"the token is refused: {error}: get one with `signoff token`") from error
    user, granted = claims["sub"], claims.get("scopes")
    if not isinstance(user, str) or not user.strip():
        raise Unauthenticated("the token is refused: sub is empty")
    scopes = []
    for text in granted if isinstance(granted, list) else []:
        try:
            scopes.append(parse_scope(text if isinstance(text, str) else ""))
        except ScopeInvalid:
            continue
    return UserContext(user=user, scopes=tuple(scopes))


async def caller(request: Request) -> UserContext:
    """The caller of this request, from its `Authorization: Bearer` header."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("a bearer token is missing: get one with `signoff token`")
    auth: AuthConfig = request.app.state.auth
    return verify(token.strip(), auth)


Caller = Annotated[UserContext, Depends(caller)]
