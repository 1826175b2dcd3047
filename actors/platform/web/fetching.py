"""Fetching from outside: one GET through the URL guard, bounded in time and size, for every provider.

Redirects are followed here, each through the guard again, and keys go to nobody but whom they were meant
for. What goes wrong is told with the provider's name and a little of what it said, never with a key.
"""

import asyncio
import json
import logging
import re
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from actors.platform.web.plain_text import plain_text
from actors.platform.web.unpacking import NotUnpacked, unpacked
from actors.platform.web.url_guard import guarded_client
from models.config import Config
from models.errors import AddressRefused, ProviderFailed, ProviderLimited, SignoffError
from models.redaction import without
from models.retry_after import retry_after

Shape = TypeVar("Shape", bound=BaseModel)

_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
# Of what a server says with an error, this much is read.
_MOST_SAID = 20_000
# A pause that a server asks for, at most; in seconds.
_LONGEST_WAIT = 31 * 24 * 3600.0
# What may go on to another host that a server redirects to.
_NEUTRAL = ("accept", "accept-encoding", "accept-language", "user-agent")

_NAMES = re.compile(r"key|token|secret|passw|auth|cookie", re.IGNORECASE)


class Keys:
    """The values of those parameters and headers whose names speak of keys, tokens or secrets."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._values = frozenset(value for name, value in given.items() if _NAMES.search(name) and value)

    def scrubbed(self, text: str) -> str:
        """A text without them."""
        return without(text, self._values)


class _WithoutQuery(logging.Filter):
    """httpx2 logs each request with its whole URL, and some keys are sent in the query."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(
                arg.copy_with(query=None) if isinstance(arg, httpx2.URL) else arg for arg in record.args
            )
        return True


@dataclass(frozen=True)
class Fetched:
    """An answer. `url` is where it was read in the end, without the parameters that were given."""

    status: int
    headers: httpx2.Headers
    body: bytes
    url: str


@dataclass(frozen=True)
class _Request:
    """What is asked for, and how much of it is taken."""

    provider: str
    max_bytes: int
    oversized: SignoffError
    accept_statuses: Collection[int]
    keys: Keys

    def failed(self, what: str) -> ProviderFailed:
        return ProviderFailed(f"{self.provider}: {self.keys.scrubbed(what)}")


async def fetch(
    url: str,
    *,
    config: Config,
    provider: str,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    max_bytes: int | None = None,
    timeout: float | None = None,
    accept_statuses: Collection[int] = (),
    oversized: SignoffError | None = None,
) -> Fetched:
    """What is at a URL, after at most five redirects.

    Args:
        provider: what errors call the other side.
        params: added to the query of `url`. Values of parameters and headers whose names speak of keys,
            tokens or secrets are never told, and never sent to another host.
        max_bytes: of the body, also when it is unpacked; `outside.max_bytes` if absent.
        timeout: seconds for all of it; `outside.timeout_seconds` if absent.
        accept_statuses: of 400 and above, those that the caller understands.
        oversized: raised where the body is larger; ProviderFailed if absent.

    Raises:
        AddressRefused: the URL, or one it redirects to, may not be reached from here.
        ProviderLimited: 429, or 503 that says when to come back; `retry_after_seconds` where it said so.
        ProviderFailed: no whole answer in time, another status, or a body that can't be unpacked.
    """
    seconds = config.outside.timeout_seconds if timeout is None else timeout
    most = config.outside.max_bytes if max_bytes is None else max_bytes
    wanted = _Request(
        provider=provider,
        max_bytes=most,
        oversized=oversized
        or ProviderFailed(f"{provider}: the answer is over {most:,} bytes (outside.max_bytes)"),
        accept_statuses=accept_statuses,
        keys=Keys({**(params or {}), **(headers or {})}),
    )
    sent = httpx2.Headers({"Accept": "*/*", "User-Agent": "Signoff"})
    sent.update({**(headers or {}), "Accept-Encoding": "gzip"})
    keep_queries_out_of_logs()
    try:
        async with (
            asyncio.timeout(seconds),
            guarded_client(config.outgoing, timeout=seconds, ssl_context=_trusted()) as client,
        ):
            return await _follow(client, url, params or {}, sent, wanted)
    except (TimeoutError, httpx2.TimeoutException) as error:
        setting = " (outside.timeout_seconds)" if timeout is None else ""
        raise wanted.failed(f"no whole answer within {seconds:g} s{setting}") from error
    except httpx2.HTTPError as error:
        raise wanted.failed(f"can't be reached, or broke off: {plain_text(str(error), 200)}") from error
    except AddressRefused as error:
        raise AddressRefused(f"{provider}: {wanted.keys.scrubbed(str(error))}") from error


def read_json(answer: Fetched, shape: type[Shape], provider: str) -> Shape:
    """The body as a record. ProviderFailed where it is no JSON, or not in the provider's format."""
    try:
        return shape.model_validate_json(answer.body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in fault["loc"])
        kind = plain_text(answer.headers.get("content-type"), 60) or "no content type"
        raise ProviderFailed(
            f"{provider}: the answer ({answer.status}, {kind}) is not JSON in its format: "
            f"{f'{where}: ' if where else ''}{plain_text(fault['msg'], 120)}"
        ) from error


async def _follow(
    client: httpx2.AsyncClient,
    url: str,
    params: Mapping[str, str],
    headers: httpx2.Headers,
    wanted: _Request,
) -> Fetched:
    try:
        at = httpx2.URL(url).copy_merge_params(params).copy_with(fragment=None) if params else httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise AddressRefused(f"url: {error}") from error
    asked = at
    for _ in range(_MOST_REDIRECTS + 1):
        async with client.stream("GET", at, headers=headers) as answer:
            if answer.status_code not in _REDIRECTS or "location" not in answer.headers:
                # Whoever gave parameters knows the address; and a server may have put them into another.
                told = at.copy_with(query=None) if params else at
                return await _read(answer, str(told.copy_with(fragment=None)), wanted)
            target = _target(at, answer.headers["location"], wanted)
        if not _same_site(asked, target):
            headers = httpx2.Headers({name: headers[name] for name in _NEUTRAL if name in headers})
        at = target
    raise wanted.failed(f"redirects more than {_MOST_REDIRECTS} times")


def _target(at: httpx2.URL, location: str, wanted: _Request) -> httpx2.URL:
    try:
        target = at.join(location)
    except (httpx2.InvalidURL, ValueError) as error:
        raise wanted.failed("redirects to what is no URL") from error
    if at.scheme == "https" and target.scheme == "http":
        raise wanted.failed("redirects from https to http, where anyone on the way could read along")
    if not _same_site(at, target) and wanted.keys.scrubbed(str(target)) != str(target):
        raise wanted.failed(
            f"redirects with the key to another host, {plain_text(target.host, 100)}: not followed; "
            "set the provider's url to where it is now"
        )
    return target


def _same_site(one: httpx2.URL, other: httpx2.URL) -> bool:
    """The same scheme, host and port, or its https on the usual ports."""
    ports = {"http": 80, "https": 443}
    if one.raw_host != other.raw_host:
        return False
    was, now = (url.port or ports.get(url.scheme) for url in (one, other))
    upgraded = (one.scheme, was, other.scheme, now) == ("http", 80, "https", 443)
    return upgraded or (one.scheme, was) == (other.scheme, now)


async def _read(answer: httpx2.Response, url: str, wanted: _Request) -> Fetched:
    status = answer.status_code
    if 200 <= status < 300 or status in wanted.accept_statuses:
        body = bytearray()
        try:
            async for part in unpacked(answer, wanted.max_bytes):
                body += part
                if len(body) > wanted.max_bytes:
                    raise wanted.oversized
        except NotUnpacked as error:
            raise wanted.failed(str(error)) from error
        return Fetched(status=status, headers=answer.headers, body=bytes(body), url=url)
    said = bytearray()
    try:
        async for part in unpacked(answer, _MOST_SAID):
            said += part
            if len(said) > _MOST_SAID:
                break
    except NotUnpacked as error:
        raise wanted.failed(str(error)) from error
    phrase = httpx2.codes.get_reason_phrase(status)
    # Keys are looked for once it is plain, and before it is cut, or half of one could be left.
    words = plain_text(wanted.keys.scrubbed(plain_text(message_of(bytes(said)), _MOST_SAID)), 200)
    what = f"answered {status} {phrase}".rstrip() + (f": {words}" if words else "")
    wait = retry_after(answer.headers.get("retry-after"), longest=_LONGEST_WAIT)
    if status == 429 or (status == 503 and wait is not None):
        facts = {} if wait is None else {"retry_after_seconds": wait}
        when = "later" if wait is None else f"in {wait:g} s"
        told = wanted.keys.scrubbed(f"{what}; try again {when}")
        raise ProviderLimited(f"{wanted.provider}: {told}", **facts)
    raise wanted.failed(what)


@cache
def _trusted() -> ssl.SSLContext:
    """Whose certificates are believed; loading them takes 40 ms, in which nothing else would run."""
    context = httpx2.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


@cache
def keep_queries_out_of_logs() -> None:
    """Have httpx2 log requests without their queries, in this process."""
    logging.getLogger("httpx2").addFilter(_WithoutQuery())


def message_of(said: bytes) -> str:
    """What a server said with an error: of a JSON problem its message, of all else the text."""
    text = said.decode(errors="replace")
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail", "error_message"):
        if isinstance(told, dict) and isinstance(told.get(name), str | dict):
            told = told[name]
    # Written anew, because a key may be spelt with escapes.
    return told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
