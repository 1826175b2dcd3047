"""Tokens for a server that takes OAuth client credentials (RFC 6749 §4.4), from the configured `token_url`.

The SDK's own provider goes where the MCP server says that tokens are to be had; a secret of the site's is
sent to nobody but whom the configuration names, and a server that is broken into can't ask for it.
"""

import asyncio
import base64
import json
import math
import time
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote_plus

import httpx2
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from actors.platform.mcp.exchange import Unanswered
from actors.platform.mcp.redirects import redirected, told
from models.config import ClientCredentials
from models.error_lines import error_line
from models.redaction import without

_MOST_BYTES = 100_000
# Of the provider's own words: the reason and the names of what to check come after them in one line.
_MOST_SAID = 160
# Where it may stand: RFC 6749 §5.2, and as Okta, gateways and RFC 9457 have it.
_SAID = ("error", "error_description", "errorSummary", "message", "title", "detail")
# A token is asked for anew so long before it is over, so that none is over on its way; at most half its time.
_EARLY_SECONDS = 30.0


class TokenSource:
    """The token of one server. It is asked for when it is needed, by one request for all that wait."""

    def __init__(self, settings: ClientCredentials, *, resource: str, http: httpx2.AsyncClient) -> None:
        self._settings = settings
        self._resource = resource
        self._http = http
        self._token: str | None = None
        self._good_until: float | None = None
        self._asking = asyncio.Lock()

    async def token(self, *, refused: str | None = None) -> str:
        """A token that is good now; another than the one that was refused.

        Raises:
            Unanswered: there is none to be had. Nothing was sent to the MCP server.
        """
        async with self._asking:
            over = self._good_until is not None and time.monotonic() >= self._good_until
            if self._token is None or self._token == refused or over:
                self._token = None
                asked = time.monotonic()
                granted = await self._ask()
                self._token = granted.access_token
                lasts = granted.expires_in
                self._good_until = None if lasts is None else asked + max(lasts - _EARLY_SECONDS, lasts / 2)
            return self._token

    async def _ask(self) -> "_Granted":
        form = {"grant_type": "client_credentials"}
        if self._settings.sends_resource:
            form["resource"] = self._resource
        if self._settings.scopes:
            form["scope"] = " ".join(self._settings.scopes)
        status, body = await self._post(form)
        if status in (408, 429) or status >= 500:
            raise Unanswered("away", f"its token_url answers {status}{self._said(body)}")
        if status != 200:
            raise Unanswered(
                "refuses",
                f"its token_url answers {status}{self._said(body)}: check client_id, client_secret, scopes, "
                "secret_in and sends_resource",
            )
        try:
            return _Granted.model_validate_json(body)
        except ValidationError as error:
            if said := self._said(body):
                raise Unanswered("refuses", f"its token_url answers no token{said}") from None
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in fault["loc"])
            why = f"{where}: {fault['msg']}" if where else "it is no JSON"
            raise Unanswered("invalid", f"its token_url answers no token ({why})") from None

    async def _post(self, form: dict[str, str]) -> tuple[int, bytes]:
        body = bytearray()
        # Packed, a small answer could be a huge one.
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if self._settings.secret_in == "header":
            headers["Authorization"] = self._basic()
        else:
            form = form | {"client_id": self._settings.client_id, "client_secret": self._secret()}
        try:
            async with self._http.stream(
                "POST", self._settings.token_url, data=form, headers=headers
            ) as answer:
                if 300 <= answer.status_code < 400:
                    where = redirected(httpx2.URL(self._settings.token_url), answer)
                    to = "nowhere" if where is None else told(where)
                    raise Unanswered(
                        "invalid", f"its token_url redirects ({answer.status_code}) to {to}: check token_url"
                    )
                async for part in answer.aiter_raw():
                    body += part
                    if len(body) > _MOST_BYTES:
                        raise Unanswered("invalid", f"its token_url answers over {_MOST_BYTES:,} bytes")
                return answer.status_code, bytes(body)
        except httpx2.HTTPError as error:
            raise Unanswered("away", f"its token_url can't be reached ({type(error).__name__})") from error

    def _secret(self) -> str:
        return self._settings.client_secret.get_secret_value()

    def _said(self, body: bytes) -> str:
        """What the provider says went wrong, without what we sent, should it repeat that."""
        words = ": ".join(_words(body))
        words = without(words, (self._secret(), self._basic().removeprefix("Basic ")))
        line = error_line(" ".join(words.split()), _MOST_SAID)
        return f" ({line})" if line else ""

    def _basic(self) -> str:
        """RFC 6749 §2.3.1: both parts are spelt as in a form first."""
        pair = ":".join(map(quote_plus, (self._settings.client_id, self._secret())))
        return f"Basic {base64.b64encode(pair.encode()).decode()}"


def _words(body: bytes) -> list[str]:
    """The texts by which an answer tells of an error; none where it tells of none."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return []
    if not isinstance(said, Mapping):
        return []
    places = [said, inner] if isinstance(inner := said.get("error"), Mapping) else [said]
    return [text for place in places for name in _SAID if isinstance(text := place.get(name), str) and text]


def _seconds(value: Any) -> float | None:
    """How long a token lasts; None where that is not said so that it can be read: until it is refused."""
    try:
        lasts = float(value)
    except (TypeError, ValueError):
        return None
    return lasts if math.isfinite(lasts) and lasts > 0 else None


class _Granted(BaseModel):
    """RFC 6749 §5.1. Some leave out the type."""

    access_token: str = Field(min_length=1, max_length=20_000, pattern=r"^[\x21-\x7e]+$")
    token_type: str = Field(default="bearer", pattern=r"^[Bb][Ee][Aa][Rr][Ee][Rr]$")
    expires_in: Annotated[float | None, BeforeValidator(_seconds)] = None
