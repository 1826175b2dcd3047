"""MCP servers in the configuration: what is refused, and that no secret travels."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from models.config import McpConfig, McpServer, lacks_secrets
from models.config.fields import WITHHELD

_HTTP: dict[str, Any] = {"url": "https://mail.internal/mcp"}
_CREDENTIALS = {
    "token_url": "https://login.internal/token",
    "client_id": "signoff",
    "client_secret": "s3cret",
}


def server(**changes: Any) -> McpServer:
    return McpServer.model_validate({"title": "Mail", "http": _HTTP, "tools": ["look"], **changes})


def test_a_server_is_read_only_and_newest_unless_it_says_otherwise() -> None:
    assert (server().writes, server().era, server().mock) == ((), "newest", None)
    assert McpConfig().servers == {}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"http": None}, "give http or stdio, and not both"),
        ({"stdio": {"command": ["a"]}}, "give http or stdio, and not both"),
        ({"tools": []}, "at least 1 item"),
        ({"writes": ["look"]}, "look is in tools and in writes"),
        ({"tools": ["two words"]}, "pattern"),
        ({"era": "2024-11-05"}, "newest"),
        ({"http": {**_HTTP, "header": {"value": "a"}, "client_credentials": _CREDENTIALS}}, "and not both"),
        ({"http": {"url": "ftp://mail"}}, "http://"),
        ({"timeout_seconds": 0.0}, "greater than 0"),
    ],
)
def test_what_can_not_be_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        server(**changes)


@pytest.mark.parametrize(
    ("http", "shown"),
    [
        ("https://mail.internal/mcp", "https://mail.internal/mcp"),
        ("https://ann:s3cret@mail.internal:8443/mcp", "https://mail.internal:8443/mcp (SIGN)"),
        ("https://mail.internal/mcp?key=s3cret#part", "https://mail.internal/mcp (SIGN)"),
        ("https://mail.internal/s/s3cret0123456789abcdef/mcp", "https://mail.internal/s/…/mcp (SIGN)"),
    ],
)
def test_an_address_is_shown_without_its_secrets(http: str, shown: str) -> None:
    address = server(http={"url": http}).address
    assert re.sub(r"\([0-9a-f]{8}\)", "(SIGN)", address) == shown
    assert server(http={"url": http}).address == address
    assert "s3cret" not in address


def test_each_address_is_told_from_others() -> None:
    urls = [f"https://mail.internal/mcp{more}" for more in ("", "/", "?tenant=a", "?tenant=b", "#a")]
    urls += ["http://mail.internal/mcp", "https://mail.internal:8443/mcp", "https://a:b@mail.internal/mcp"]
    made = [server(http={"url": url}).address for url in urls]
    for command in (["a"], ["a", "--to", "b"], ["a", "--to b"]):
        made += [server(http=None, stdio={"command": command}).address]
        made += [server(http=None, stdio={"command": command, "folder": "/srv"}).address]
    assert len(set(made)) == len(made)
    assert "--to" not in "".join(made)


@pytest.mark.parametrize("name", ["Mail", "mail server", "", "a.b"])
def test_a_name_is_a_word(name: str) -> None:
    with pytest.raises(ValidationError):
        McpConfig.model_validate({"servers": {name: server()}})


@pytest.mark.parametrize(
    "changes",
    [
        {"http": {**_HTTP, "header": {"value": "s3cret"}}},
        {"http": {**_HTTP, "client_credentials": _CREDENTIALS}},
        {"http": None, "stdio": {"command": ["mail"], "environment": {"KEY": "s3cret"}}},
    ],
)
def test_secrets_stay_where_the_site_was_brought_up(changes: dict[str, Any]) -> None:
    whole = McpConfig(servers={"mail": server(**changes)})
    assert "s3cret" not in repr(whole)
    settings = whole.model_dump_json()
    bare = McpConfig.model_validate_json(settings, context={"withheld": True})
    assert lacks_secrets(bare)
    assert not lacks_secrets(whole)
    assert WITHHELD not in repr(bare)
