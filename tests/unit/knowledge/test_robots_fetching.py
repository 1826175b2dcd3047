"""Where a robots.txt may lead: to that of the same host, and nowhere else."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from actors.platform.web.politeness.robots import Robots
from actors.platform.web.url_guard import guarded_client
from actors.systems.knowledge.fetching.robots_fetching import fetch_robots
from models.config import OutgoingConfig
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver

OUTGOING = OutgoingConfig(allow_internal=("127.0.0.0/8",))


@pytest.fixture
async def site() -> AsyncIterator[WebhookReceiver]:
    """The host that is asked, by whatever name."""
    async with WebhookReceiver() as site:
        yield site


async def names(host: str) -> list[str]:
    """All of them here."""
    return ["127.0.0.1"]


async def fetched(site: WebhookReceiver) -> Robots:
    async with guarded_client(OUTGOING, timeout=10, resolve=names) as client:
        return await fetch_robots(
            client,
            f"http://site.test:{site.port}",
            user_agent="Signoff",
            seconds=10,
            allow_internal=OUTGOING.allow_internal,
        )


def hosts(site: WebhookReceiver) -> list[str]:
    return [got.headers["host"].partition(":")[0] + got.path for got in site.got]


@pytest.mark.parametrize(
    "path", ["/secret", "/secret?x", "/", "/secret/robots.txt", "/robots.txt?page=secret"]
)
async def test_it_never_leads_to_a_page(path: str, site: WebhookReceiver) -> None:
    site.always("/robots.txt", Reply(302, {"Location": path}, b""))
    assert await fetched(site) == Robots.everything_allowed()
    assert hosts(site) == ["site.test/robots.txt"]


async def test_it_never_leads_to_another_host_whose_rules_are_not_known_then(site: WebhookReceiver) -> None:
    for other in ("never.test", "sub.site.test", "site.test.never.test"):
        site.got.clear()
        location = f"http://{other}:{site.port}/robots.txt"
        site.always("/robots.txt", Reply(301, {"Location": location}, b""))
        robots = await fetched(site)
        assert hosts(site) == ["site.test/robots.txt"]
        assert robots.closed is not None
        assert other in robots.closed
        assert not robots.allows(f"http://site.test:{site.port}/", "Signoff")


async def test_it_leads_to_the_same_hosts_own(site: WebhookReceiver) -> None:
    said = Reply(200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /closed")
    site.script(
        "/robots.txt", Reply(301, {"Location": f"http://www.site.test:{site.port}/robots.txt"}, b""), said
    )
    robots = await fetched(site)
    assert hosts(site) == ["site.test/robots.txt", "www.site.test/robots.txt"]
    assert not robots.allows("http://site.test/closed", "Signoff")
    site.got.clear()
    site.always("/robots.txt", replace(said, status=302, headers={"Location": "/robots.txt"}))
    assert await fetched(site) == Robots.everything_allowed()
    assert len(site.got) == 6
