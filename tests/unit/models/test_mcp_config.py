"""MCP servers in the configuration: what is refused, and that no secret travels."""

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
