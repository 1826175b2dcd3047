"""A research searches on the right of whoever asked for it: as it is then, and on its own topic alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

from models.errors import ModelUnavailable
from models.people.scopes import read_scopes
from models.people.users import Identity, UserContext
from models.research.candidates import Discovery
from models.store.people import users
from tests.fakes.outside.page_site import PageSite
from tests.fakes.outside.search_providers import SearchServer
from tests.integration.research.research_desk import ResearchDesk


class _Asked:
    """The researcher; whom it searches for is noted."""

    def __init__(self, researcher: Any) -> None:
        self._researcher = researcher
        self.callers: list[UserContext] = []

    async def discover(self, *of: Any, asked_by: UserContext, **how: Any) -> Discovery:
        self.callers.append(asked_by)
        found: Discovery = await self._researcher.discover(*of, asked_by=asked_by, **how)
        return found


async def test_a_scope_taken_away_before_the_search_stops_it_before_anybody_is_asked(
    desk: ResearchDesk, site: PageSite, search: SearchServer
) -> None:
    research = await desk.start()
    async with desk.database.transaction() as connection:
        await users.revoke(connection, "ann", "macro:analyst", reason="left", revoked_by="root")
    async with desk.running():
        done = await desk.ended(research)
    assert (done.status, done.error) == (
        "failed",
        "ann asked for this research, and is no analyst of the topic macro any more",
    )
    assert search.asked == []
    assert await desk.rows("SELECT 1 FROM url_candidates") == []


async def test_nothing_is_searched_that_another_topic_keeps(desk: ResearchDesk, site: PageSite) -> None:
    research = await desk.start("bob")
    now = datetime.now(UTC)
    identity = Identity(
        subject="bob",
        name="bob",
        email="bob@example.com",
        scopes=read_scopes(["macro:analyst", "equity:admin", "global:reader"]),
        issued_at=now,
        expires_at=now + timedelta(hours=1),
    )
    async with desk.database.connection() as connection:
        await users.seen(connection, identity, grants_last_seconds=3600)
    desk.agents["researcher"] = asked = _Asked(desk.agents["researcher"])
    async with desk.running():
        await desk.gate(research)
    [caller] = asked.callers
    assert (caller.subject, caller.decides) == ("bob", False)
    assert caller.has("analyst", "macro")
    assert {scope.topic for scope in caller.scopes} == {"macro"}


UNASKED = {"language": "any", "require_approval": False}


async def take_away(desk: ResearchDesk) -> None:
    """Ann's scope."""
    async with desk.database.transaction() as connection:
        await users.revoke(connection, "ann", "macro:analyst", reason="left", revoked_by="root")


class _AwayOnce:
    """The extractor, which is away at first; meanwhile Ann's scope is taken away."""

    def __init__(self, desk: ResearchDesk, extractor: Any) -> None:
        self._desk, self._extractor, self.asked = desk, extractor, 0

    async def extract(self, *given: Any, **more: Any) -> Any:
        self.asked += 1
        if self.asked == 1:
            await take_away(self._desk)
            raise ModelUnavailable("the model is away")
        return await self._extractor.extract(*given, **more)


async def test_a_scope_taken_away_while_it_is_parked_stops_one_that_asks_nobody(
    desk: ResearchDesk, site: PageSite
) -> None:
    desk.agents["extractor"] = _AwayOnce(desk, desk.agents["extractor"])
    async with desk.running():
        research = await desk.start(task_type="scrape", urls=[f"{site.origin}/mill"], config=UNASKED)
        done = await desk.ended(research)
    assert done.status == "failed"
    assert await desk.rows("SELECT 1 FROM research_points") == []


async def test_a_scope_taken_away_before_an_analysis_begins_stops_it(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        first = await desk.start("bob", task_type="scrape", urls=[f"{site.origin}/mill"], config=UNASKED)
        await desk.ended(first)
    research = await desk.start(task_type="analyze", config=UNASKED)
    await take_away(desk)
    async with desk.running():
        done = await desk.ended(research)
    assert done.status == "failed"
    assert await desk.rows("SELECT 1 FROM knowledge_trees") == []
