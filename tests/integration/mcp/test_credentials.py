"""How a server lets us in: a header, or tokens of client credentials; and whom a secret is never sent to."""

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

import pytest

from models.errors import McpServerAway, ServedToolRefused
from tests.fakes.mcp_servers import BadRequest, BadServer, HttpSite, TokenServer
from tests.integration.mcp.asking import call_of, opened


@pytest.fixture(name="server")
def make_server() -> Iterator[BadServer]:
    with BadServer() as running:
        yield running


@pytest.fixture(name="tokens")
def make_tokens() -> Iterator[TokenServer]:
    with TokenServer() as running:
        yield running


def credentials(tokens: HttpSite) -> dict[str, Any]:
    return {
        "client_credentials": {
            "token_url": tokens.url,
            "client_id": "sign off",
            "client_secret": "s3cret:/",
            "scopes": ("mail.read", "mail.send"),
        }
    }


def shown(server: HttpSite) -> list[str | None]:
    """What each request of its let itself in with."""
    return [headers.get("authorization") for _, _, headers, _ in server.requests]


async def test_a_header_goes_with_each_request(server: BadServer) -> None:
    header = {"header": {"name": "X-Api-Key", "value": "s3cret"}}
    async with opened(server.url, http=header) as servers:
        await servers.call(await call_of(servers, "look"))
    assert {headers.get("x-api-key") for _, _, headers, _ in server.requests} == {"s3cret"}


async def test_one_token_lets_all_requests_in(server: BadServer, tokens: TokenServer) -> None:
    async with opened(server.url, http=credentials(tokens)) as servers:
        call = await call_of(servers, "look")
        await asyncio.gather(*(servers.call(call) for _ in range(3)))
    assert set(shown(server)) == {"Bearer token-1"}
    assert tokens.forms == [
        {"grant_type": ["client_credentials"], "scope": ["mail.read mail.send"], "resource": [server.url]}
    ]
    basic = base64.b64decode(str(shown(tokens)[0]).removeprefix("Basic ")).decode()
    assert basic == "sign+off:s3cret%3A%2F"


async def test_a_token_that_is_over_is_asked_for_anew(
    server: BadServer, tokens: TokenServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("actors.platform.mcp.client_credentials.time.monotonic", lambda: now)
    async with opened(server.url, http=credentials(tokens)) as servers:
        await servers.listing("mail")
        now += 3600 - 31
        await servers.listing("mail")
        assert len(tokens.forms) == 1
        now += 2
        await servers.listing("mail")
    assert len(tokens.forms) == 2
    assert shown(server)[-1] == "Bearer token-2"


async def test_a_token_that_is_refused_is_asked_for_anew_once(server: BadServer, tokens: TokenServer) -> None:
    good = "Bearer token-2"

    def guarded(request: BadRequest) -> None:
        if request.handler.headers["Authorization"] != good:
            return request.body(b"", status=401)
        return request.result(tools=server.tools, ttlMs=0, cacheScope="private")

    server.does["tools/list"] = guarded
    async with opened(server.url, http=credentials(tokens)) as servers:
        assert (await servers.listing("mail")).state == "answers"
        good = "none is"
        listing = await servers.listing("mail")
    assert (listing.state, len(tokens.forms)) == ("refuses", 3)


async def test_a_write_is_not_sent_again_with_another_token(server: BadServer, tokens: TokenServer) -> None:
    server.does["tools/call"] = lambda request: request.body(b"", status=401)
    async with opened(server.url, http=credentials(tokens)) as servers:
        with pytest.raises(ServedToolRefused):
            await servers.call(await call_of(servers, "send"), confirmed=True)
        assert len(server.calls) == 1
        with pytest.raises(ServedToolRefused):
            await servers.call(await call_of(servers, "look"))
        assert len(server.calls) == 3


@pytest.mark.parametrize(
    ("status", "state", "reason"),
    [
        (401, "refuses", "its token_url answers 401 (invalid_client): check client_id"),
        (503, "away", "its token_url answers 503"),
    ],
)
async def test_without_a_token_nothing_is_sent(
    server: BadServer, tokens: TokenServer, status: int, state: str, reason: str
) -> None:
    tokens.status = status
    async with opened(server.url, http=credentials(tokens)) as servers:
        listing = await servers.listing("mail")
    assert listing.state == state
    assert reason in (listing.reason or "")
    assert "s3cret" not in (listing.reason or "")
    assert server.requests == []


async def test_a_client_may_show_itself_in_the_form_and_name_no_resource(
    server: BadServer, tokens: TokenServer
) -> None:
    settings = credentials(tokens)
    settings["client_credentials"] |= {"secret_in": "form", "sends_resource": False}
    async with opened(server.url, http=settings) as servers:
        assert (await servers.listing("mail")).state == "answers"
    assert tokens.forms == [
        {
            "grant_type": ["client_credentials"],
            "scope": ["mail.read mail.send"],
            "client_id": ["sign off"],
            "client_secret": ["s3cret:/"],
        }
    ]
    assert shown(tokens) == [None]


async def test_what_the_provider_says_is_shown_without_the_secret(
    server: BadServer, tokens: TokenServer
) -> None:
    basic = base64.b64encode(b"sign+off:s3cret%3A%2F").decode()
    tokens.status = 400
    tokens.refusal = {
        "error": "invalid_target",
        "error_description": "AADSTS9010010:\r\n resource \x1b[31mnot known, "
        f"for s3cret:/ s3cret%3A%2F {basic}",
    }
    async with opened(server.url, http=credentials(tokens)) as servers:
        listing = await servers.listing("mail")
    assert listing.state == "refuses"
    assert listing.reason == (
        "its token_url answers 400 (invalid_target: AADSTS9010010: resource not known, for *** *** ***): "
        "check client_id, client_secret, scopes, secret_in and sends_resource"
    )


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ({"error": "invalid_scope", "error_description": None, "error_codes": [70011]}, "invalid_scope"),
        ({"errorCode": "E0000011", "errorSummary": "Invalid token provided"}, "Invalid token provided"),
        ({"error": {"code": 400, "message": "bad audience"}}, "bad audience"),
        ({"title": "Bad Request", "detail": "no such client"}, "Bad Request: no such client"),
        ({"message": ["no"], "error": 7}, None),
    ],
)
async def test_what_other_providers_say_is_shown(
    server: BadServer, tokens: TokenServer, refusal: dict[str, Any], said: str | None
) -> None:
    tokens.status, tokens.refusal = 401, refusal
    async with opened(server.url, http=credentials(tokens)) as servers:
        listing = await servers.listing("mail")
    told = f"its token_url answers 401 ({said}):" if said else "its token_url answers 401: check"
    assert (listing.reason or "").startswith(told)


async def test_an_error_under_200_is_told_as_one(server: BadServer, tokens: TokenServer) -> None:
    tokens.grants = {"access_token": None, "error": "invalid_client", "error_description": "AADSTS7000215"}
    async with opened(server.url, http=credentials(tokens)) as servers:
        listing = await servers.listing("mail")
    assert (listing.state, listing.reason) == (
        "refuses",
        "its token_url answers no token (invalid_client: AADSTS7000215)",
    )


@pytest.mark.parametrize(
    "grants",
    [
        {"expires_in": "3599"},
        {"expires_in": "1h"},
        {"expires_in": 0},
        {"expires_in": None},
        {"expires_in": {"seconds": 1}},
        {"token_type": None},
        {"token_type": "bearer"},
    ],
)
async def test_a_token_is_taken_however_its_time_is_told(
    server: BadServer, tokens: TokenServer, grants: dict[str, Any]
) -> None:
    tokens.grants = grants
    async with opened(server.url, http=credentials(tokens)) as servers:
        await servers.call(await call_of(servers, "look"))
    assert set(shown(server)) == {"Bearer token-1"}


async def test_a_token_url_that_redirects_is_named_and_not_followed(
    server: BadServer, tokens: TokenServer
) -> None:
    with HttpSite() as elsewhere:
        tokens.status, tokens.location = 307, f"{elsewhere.url}?secret=s3cret"
        async with opened(server.url, http=credentials(tokens)) as servers:
            listing = await servers.listing("mail")
        assert elsewhere.requests == []
        assert listing.reason == f"its token_url redirects (307) to {elsewhere.url}: check token_url"


async def test_a_write_without_a_token_is_an_outage(server: BadServer) -> None:
    with TokenServer(lasts=None) as tokens:
        async with opened(server.url, http=credentials(tokens)) as servers:
            call = await call_of(servers, "send")
            server.does["tools/list"] = lambda request: request.body(b"", status=401)
            tokens.status = 500
            with pytest.raises(McpServerAway, match="its token_url answers 500"):
                await servers.call(call, confirmed=True)
    assert server.calls == []


async def test_a_secret_is_sent_nowhere_that_a_server_names(tokens: TokenServer) -> None:
    """A server may say where tokens are to be had (RFC 9728); that is not where the secret goes."""
    with BadServer() as server, HttpSite() as elsewhere:
        where = {"WWW-Authenticate": f'Bearer resource_metadata="{elsewhere.url}"'}
        server.does["server/discover"] = lambda request: request.body(b"", status=401, headers=where)
        async with opened(server.url, http=credentials(tokens)) as servers:
            assert (await servers.listing("mail")).state == "refuses"
        assert elsewhere.requests == []
        assert {path for _, path, _, _ in server.requests} == {"/mcp"}
