"""Texts that people paste: what can't be read is asked about again, and each is of whoever gave it."""

import hashlib
from typing import Any

import pytest

from actors.systems.knowledge.parsing.page_reading import PageReading, UnreadablePage
from actors.systems.research.gate_changes import changed_content
from models.config import Config
from models.research.agent_workflows import AgentWorkflow
from models.research.gate_decisions import Modifications
from models.research.url_lists import InsteadOf, PastedText
from models.runtime.approvals import Approval
from models.store.database import Database
from models.store.research import lineage
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.mill_site import ICE, MILL
from tests.integration.research.research_desk import ResearchDesk, under
from tests.integration.research.test_what_was_let_in import UNASKED, give


class _Reading:
    """The agent `scraper`, whose readers make this of the first text that is pasted."""

    def __init__(self, scraper: Any, first: PageReading | Exception) -> None:
        self.scrape, self._read_text, self._first = scraper.scrape, scraper.read_text, [first]

    async def read_text(self, page: Any) -> Any:
        if not self._first:
            return await self._read_text(page)
        if isinstance(first := self._first.pop(), Exception):
            raise first
        return first


async def asked(desk: ResearchDesk, site: PageSite, **more: Any) -> tuple[AgentWorkflow, Approval]:
    """A research that has read one page, and asks about one that it can't."""
    urls = [f"{site.origin}/mill", f"{site.origin}/login"]
    research = await desk.start(task_type="scrape", urls=urls, **more)
    await desk.approve(await desk.gate(research), by="bob")
    return research, await desk.gate(research)


def pasting(shown: Approval, text: str) -> dict[str, Any]:
    """What is approved in place of what is shown: a text for its only page."""
    [one] = shown.content["unreadable"]
    instead = [{"number": one["number"], "url": None, "pasted": {"text": text, "title": "Ice"}}]
    return shown.content | {"instead": instead}


@pytest.mark.parametrize(
    ("first", "fault"),
    [
        (UnreadablePage("it can't be read within 20 s", "timeout"), "timeout"),
        (PageReading(), "no_text"),
        (RuntimeError("the reader broke"), "error"),
    ],
)
async def test_a_text_that_cant_be_read_is_asked_about_again_and_another_is_taken(
    desk: ResearchDesk, site: PageSite, first: PageReading | Exception, fault: str
) -> None:
    async with desk.running():
        desk.agents["scraper"] = _Reading(desk.agents["scraper"], first)
        research, shown = await asked(desk, site)
        await desk.amend(shown, pasting(shown, ICE))
        again = await desk.gate(research)
        [one] = again.content["unreadable"]
        assert (one["fault"], one["url"]) == (fault, f"{site.origin}/login")
        assert one["reason"]
        await desk.amend(again, pasting(again, ICE))
        done = await desk.ended(research)
    assert (done.status, (done.result or {})["pages"], (done.result or {})["missing"]) == ("succeeded", 2, [])
    texts = await desk.rows(
        "SELECT answer.output ->> 'source_id' AS source FROM workflow_tools AS answer "
        "WHERE tool_name = 'save_to_database' ORDER BY id"
    )
    assert [row["source"] is None for row in texts] == [True, False]


async def test_under_four_eyes_a_text_is_of_whoever_gave_it_and_let_in_by_another(
    config: Config, database: Database, site: PageSite
) -> None:
    strict = under(config, four_eyes=True)
    desk = ResearchDesk(strict, database)
    async with desk.running():
        research, shown = await asked(desk, site)
        amended = await desk.amend(shown, pasting(shown, MILL + " It is cold."), by="bob")
        await desk.approve(amended, by="carl")
        done = await desk.ended(research)
    assert done.status == "succeeded", done.error
    [given] = await desk.rows("SELECT id, author, url, text_sha256 FROM sources WHERE url LIKE 'urn:%%'")
    [url] = await desk.rows("SELECT metadata FROM url_candidates WHERE source_id = %s", given["id"])
    assert (given["author"], url["metadata"]["pasted_by"]) == ("bob", "bob")
    async with desk.database.connection() as connection:
        source = lineage.LineageSource(
            url=given["url"],
            final_url=None,
            title=None,
            source_id=given["id"],
            sha256=None,
            text_sha256=given["text_sha256"],
            let_in=None,
        )
        found = await lineage._let_in(connection, research, [source])
    assert (found[0].given_by, found[0].by) == ("bob", "carl")


async def test_what_two_people_give_is_taken_from_both(
    config: Config, database: Database, site: PageSite
) -> None:
    strict = under(config, four_eyes=True)
    desk = ResearchDesk(strict, database)
    async with desk.running():
        urls = [f"{site.origin}/{page}" for page in ("login", "gone")]
        research = await desk.start(task_type="scrape", urls=urls)
        await desk.approve(await desk.gate(research), by="bob")
        shown = await desk.gate(research)
        numbers = {one["url"].rpartition("/")[2]: one["number"] for one in shown.content["unreadable"]}
        for person, page, text in (("bob", "login", ICE), ("carl", "gone", MILL)):
            given = InsteadOf(number=numbers[page], pasted=PastedText(text=text))
            changed = changed_content(shown, Modifications(instead=(given,)), by=person, config=strict)
            shown = await desk.amend(shown, changed, by=person)
        assert [(one["number"], one["by"]) for one in shown.content["instead"]] == [
            (numbers["login"], "bob"),
            (numbers["gone"], "carl"),
        ]
        await desk.approve(shown, by="dora")
        done = await desk.ended(research)
    assert (done.result or {})["pages"] == 2
    given_by = await desk.rows("SELECT metadata ->> 'pasted_by' AS by FROM url_candidates ORDER BY number")
    assert [row["by"] for row in given_by] == ["bob", "carl"]


async def test_a_text_that_was_refused_was_let_in_by_nobody_though_it_comes_another_way(
    config: Config, database: Database, site: PageSite
) -> None:
    strict = under(config, four_eyes=True)
    desk = ResearchDesk(strict, database)
    text = MILL + " It is cold."
    urn = f"urn:sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    async with desk.running():
        research, shown = await asked(desk, site)
        await desk.reject(await desk.amend(shown, pasting(shown, text), by="bob"), by="carl")
        await desk.ended(research)
        await give(desk, research.project_id, urn, text)
        second = await desk.start("bob", task_type="analyze", config=UNASKED)
        await desk.ended(second)
    async with desk.database.connection() as connection:
        found = await lineage.of_research(connection, second)
    let_in = {source.url: source.let_in for source in found.sources}
    assert let_in[urn] is None
