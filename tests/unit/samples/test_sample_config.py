"""The samples in the configuration: where they are and what opens them is the site's own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.platform.systems import load
from models.config import Config, McpConfig, without_secrets
from models.config.yaml_layers import read_layers
from models.errors import ConfigInvalid
from serve.samples.data import load_samples
from tests.profile import local_profile, write_yaml
from tests.unit.samples.test_sample_tools import READS, WRITES

ROOT = Path(__file__).resolve().parents[3]
KEY = "the-site-s-own-key"
Changed = Callable[[dict[str, Any]], Config]


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """local.yaml with other sections."""

    def change(sections: dict[str, Any]) -> Config:
        raw = local_profile()
        raw["serving"]["api_key"] = KEY
        for name, section in sections.items():
            raw[name] = {**raw[name], **section}
        file = tmp_path / "config.yaml"
        write_yaml(file, raw)
        return load(file, root=ROOT)

    return change


def test_the_local_profile_uses_every_tool_of_its_three_servers(changed: Changed) -> None:
    config = changed({})
    assert config.mcp.samples is not None
    assert load_samples(config.mcp.samples).mail.messages
    assert {name: list(server.tools) for name, server in config.mcp.servers.items()} == READS
    assert {name: list(server.writes) for name, server in config.mcp.servers.items()} == WRITES


@pytest.mark.parametrize(
    ("http", "place"),
    [
        ({"port": 9100}, "http://127.0.0.1:9100"),
        ({"host": "0.0.0.0", "port": 9100}, "http://127.0.0.1:9100"),
        ({"host": "::1"}, "http://[::1]:8000"),
    ],
    ids=str,
)
def test_a_sample_is_where_the_site_serves_it_and_opens_to_the_site_s_key(
    http: dict[str, Any], place: str, changed: Changed
) -> None:
    secret = {"secret": "only-this-site-knows-it-and-it-is-long"}
    config = changed({"http": http, "auth": secret})
    for name, server in config.mcp.servers.items():
        assert server.http is not None
        assert server.http.url == f"{place}/samples/{name}/mcp"
        assert server.http.header is not None
        assert server.http.header.name == "Authorization"
        assert server.http.header.value.get_secret_value() == f"Bearer {KEY}"


def test_the_key_does_not_travel_with_the_settings(changed: Changed) -> None:
    config = changed({})
    settings = config.model_dump(mode="json")
    assert KEY not in str(settings)
    there = without_secrets(settings).mcp.servers["mail"].http
    assert there is not None
    assert there.url == "http://127.0.0.1:8000/samples/mail/mcp"


@pytest.mark.parametrize(
    ("http", "told"),
    [
        ({"sample": "mail", "url": "https://elsewhere.example/mcp"}, "leave url out"),
        ({"sample": "mail", "header": {"value": "theirs"}}, "leave header out"),
        ({"sample": "calendar"}, "mcp.servers.mail.http.sample: "),
        ({}, "mcp.servers.mail.http.url: is required"),
    ],
    ids=str,
)
def test_a_sample_names_no_other_place_or_key(http: dict[str, Any], told: str, changed: Changed) -> None:
    servers = {"mail": {"title": "Mail", "http": http, "tools": ["search_messages"]}}
    with pytest.raises(ConfigInvalid, match=told):
        changed({"mcp": {"servers": servers}})


def test_a_sample_that_is_not_served_is_told_at_its_place(changed: Changed) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        changed({"mcp": {"samples": None}})
    told = "http.sample: the sample servers are not served here: set mcp.samples"
    lines = str(refused.value).splitlines()
    assert [name for name in READS if any(f"mcp.servers.{name}.{told}" in line for line in lines)] == list(
        READS
    )


def test_without_the_section_there_are_none(changed: Changed) -> None:
    assert McpConfig() == McpConfig(samples=None, servers={})
    base = read_layers(ROOT / "configs/base.yaml").merged()
    assert McpConfig.model_validate(base["mcp"]) == McpConfig()


def test_the_examples_of_servers_elsewhere_are_settings() -> None:
    file = ROOT / "configs/samples/mcp_servers.yaml"
    raw = read_layers(file).merged()
    found = McpConfig.model_validate(raw["mcp"], context={"withheld": True, "root": ROOT})
    assert found.samples is None
    assert set(found.servers) == {"gmail", "salesforce", "bill_com"}
    with pytest.raises(ConfigInvalid, match="can't read the secret file /run/secrets/signoff/"):
        load(file, root=ROOT)
    gmail, salesforce, bills = (found.servers[name] for name in ("gmail", "salesforce", "bill_com"))
    assert gmail.http is not None
    assert gmail.http.url == "https://gmailmcp.googleapis.com/mcp/v1"
    assert salesforce.writes == ()
    assert bills.stdio is not None
    assert bills.stdio.environment["BILLCOM_PASSWORD"].get_secret_value() != ""
