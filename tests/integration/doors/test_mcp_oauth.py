"""MCP's authorization as the official client does it: discovery, a token, and more scopes when told so."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from fastapi import FastAPI, Request
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from models.config import Config
from serve.api import make_app
from tests.integration.doors.mcp_client import address, free_socket, mcp_client, serving

Configure = Callable[..., Config]

SECRET = "an-authorization-server-of-the-house-signs-with-this"
CALLBACK = "http://127.0.0.1:9/callback"


class AuthorizationServer:
    """An OAuth server (RFC 8414, 7636, 8707) that grants `ann` what she is allowed of what is asked."""

    def __init__(self, issuer: str, *allowed: str) -> None:
        self.asked: list[str] = []
        self._codes: dict[str, tuple[str, str]] = {}
        self.app = FastAPI()

        @self.app.get("/.well-known/oauth-authorization-server")
        async def metadata() -> dict[str, Any]:
            return {
                "issuer": issuer,
                "authorization_endpoint": f"{issuer}/authorize",
                "token_endpoint": f"{issuer}/token",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
            }

        @self.app.post("/token")
        async def token(request: Request) -> dict[str, Any]:
            form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
            scope, resource = self._codes.pop(form["code"])
            assert resource == form["resource"]
            granted = [text for text in scope.split() if text in allowed]
            now = datetime.now(UTC)
            claims = {
                "iss": issuer,
                "aud": resource,
                "sub": "ann",
                "scope": " ".join(granted),
                "iat": now,
                "exp": now + timedelta(hours=1),
            }
            return {
                "access_token": jwt.encode(claims, SECRET, algorithm="HS256"),
                "token_type": "Bearer",
                "expires_in": 3600,
                "scope": " ".join(granted),
            }

    def consent(self, url: str) -> AuthorizationCodeResult:
        """What happens in the person's browser at the authorization endpoint."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self.asked.append(query["scope"])
        code = secrets.token_urlsafe(8)
        self._codes[code] = (query["scope"], query["resource"])
        return AuthorizationCodeResult(code=code, state=query["state"])


class Kept:
    """A client's storage, with the registration that an administrator gave it."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep them."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull:
        """The registration."""
        return OAuthClientInformationFull(
            client_id="desk", redirect_uris=[CALLBACK], token_endpoint_auth_method="none"
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """There is nothing to keep."""


async def test_a_client_finds_the_issuer_and_asks_for_more_when_it_takes_more(
    configure: Configure, database_url: str
) -> None:
    door, issuing = free_socket(), free_socket()
    url, issuer = address(door), address(issuing)
    config = configure(
        {
            "publishing.public_url": url,
            "publishing.topics": {"esg": {"title": "Environment"}, "macro": {"title": "Macroeconomics"}},
            "auth.issuer": issuer,
            "auth.audience": f"{url}/mcp",
            "auth.secret": SECRET,
        }
    )
    server = AuthorizationServer(issuer, "macro:reader", "macro:analyst")
    visited: list[str] = []

    async def redirect(to: str) -> None:
        visited.append(to)

    async def callback() -> AuthorizationCodeResult:
        return server.consent(visited[-1])

    provider = OAuthClientProvider(
        f"{url}/mcp", OAuthClientMetadata(redirect_uris=[CALLBACK]), Kept(), redirect, callback
    )
    async with (
        serving(make_app(config, database_url), door),
        serving(server.app, issuing),
        mcp_client(url, auth=provider, mode="auto") as client,
    ):
        # The 401 led it to the issuer, with the scopes that a reader needs.
        assert server.asked == ["esg:reader macro:reader"]
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert "get_article" in listed
        assert "create_draft_article" not in listed
        # The 403 names what is missing; the client asks for that too, and sends the call again.
        made = await client.call_tool("create_draft_article", {"topic": "macro", "headline": "The Fed holds"})
        assert not made.is_error
        assert [set(asked.split()) for asked in server.asked[1:]] == [
            {"esg:reader", "macro:reader", "macro:analyst"}
        ]
        assert "create_draft_article" in {tool.name for tool in (await client.list_tools()).tools}
