"""Errors of what lies outside: providers, MCP servers, pages, addresses."""

from models.errors.base import SignoffError


class ProviderMissing(SignoffError):
    """No provider is configured that could answer; the message names the setting to add."""

    http_status = 422


class ProviderFailed(SignoffError):
    """An outside provider did not answer usefully: the message says which and what it said."""

    http_status = 502


class ProviderLimited(SignoffError):
    """An outside provider refuses more calls for now; `retry_after_seconds` where it said how long."""

    http_status = 503


class McpServerAway(SignoffError):
    """An MCP server can't be reached, or does not answer in time. `waits_for` names it."""

    http_status = 503
    outage = True


class ServedToolChanged(SignoffError):
    """An MCP server declares a tool otherwise than as it was approved, or not at all; it was not called."""

    http_status = 409


class ServedToolRefused(SignoffError):
    """A call of an MCP server's tool may not be made, or its server does not let us in; nothing was done."""

    http_status = 422


class ServedToolInvalid(SignoffError):
    """An MCP server broke the protocol, or the schema of its own tool."""

    http_status = 502


class WriteAnswerLost(SignoffError):
    """A tool that writes was called and its answer can't be had: whether it did so is not known."""

    http_status = 502


class NotSent(SignoffError):
    """A request did not go out: whether it may could not be told any more. It may be tried again."""

    http_status = 503
    outage = True


class DocumentUnreadable(SignoffError):
    """A fetched document is not what it should be, too large, or can't be read in time."""

    http_status = 422


class PageFailed(SignoffError):
    """A page has no text to give: `facts["fault"]` is one of `models.knowledge.pages.PageFault`."""

    http_status = 422


class BrowserUnavailable(SignoffError):
    """Chromium is missing here, or does not start. `waits_for` names it."""

    http_status = 503
    outage = True

    def __init__(self, message: str) -> None:
        super().__init__(message, waits_for="browser")


class AddressRefused(SignoffError):
    """An address that a user gave may not be reached from here (the URL guard)."""

    http_status = 422
