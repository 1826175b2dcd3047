"""Deep research on the real stack: sources are approved, one is replaced, and runners die at every step.

The site's log is the proof: no address is ever asked for that nobody approved.
"""

import asyncio
import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.story import People, Refused, Rest
from tests.fakes.outside.page_site import Answer, PageSite, article, serving

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

AT = "/api/v1/agent-workflows"
QUESTION = "How do watermills turn in winter, and who runs them?"
MILLS = (
    "The Mill Company runs nine mills in Lodz. It was founded in 1871, when the river was high. Its largest "
    "wheel is 12 metres wide and turns for 300 days a year. Anna Kowalska has directed it since 2015. "
) * 2
ICE = (
    "In winter the wheel is kept free of ice by warm water from the works. Below minus ten degrees the "
    "keepers stop the wheel at night. In 1929 the river froze for ninety days, and no mill turned. "
) * 2
CLUB = "The members of the mill club meet each winter. Jan Nowak has kept the keys of the mill since 2003."
ENDED = ("completed", "failed", "stopped")


@pytest.fixture(scope="module")
def site() -> Iterator[PageSite]:
    """Pages about mills: one for members, one that robots.txt closes, and one that nobody will approve."""
    pages = {
        "/mill": article("The Mill Company", MILLS),
        "/ice": article("Ice on wheels", ICE),
        "/secret": article("Watermills in winter, a secret", ICE),
        "/login": Answer(b"<h1>Log in</h1>", status=401),
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /closed/\n", headers={"content-type": "text/plain"}),
        "/closed/1": article("Closed", MILLS),
    }
    with serving(pages) as running:
        yield running


class Research:
    """One research, as Ann follows it."""

    def __init__(self, people: People, number: int) -> None:
        self.people = people
        self.number = number

    @classmethod
    async def begun(cls, people: People, **asked: Any) -> "Research":
        """Ask for one."""
        given = {"user_query": QUESTION, "topic": "macro", "config": {"language": "any"}} | asked
        answer = await people.request("ann", "POST", f"{AT}/start", given)
        return cls(people, answer["workflow_id"])

    async def get(self, what: str = "") -> Any:
        """How it stands, or a part of it."""
        return await self.people.request("ann", "GET", f"{AT}/{self.number}{what}")

    async def until(self, kind: str | None = None) -> Any:
        """How it stands once it waits at a gate of this kind, or has ended where none is named."""
        async with asyncio.timeout(600):
            while True:
                found = await self.get()
                if (
                    found["status"] in ENDED
                    if kind is None
                    else (found["approval"] or {}).get("kind") == kind
                ):
                    return found
                assert found["status"] not in ENDED, found
                await asyncio.sleep(0.2)  # asked again over HTTP, as a client does

    async def until_read(self, pages: int) -> None:
        """Wait until so many pages are done."""
        async with asyncio.timeout(120):
            while True:
                if (await self.get())["progress"]["urls_done"] >= pages:
                    return
                await asyncio.sleep(0.1)  # asked again over HTTP, as a client does

    async def decide(self, shown: Any, decision: str, **changes: Any) -> Any:
        """Decide on what was shown."""
        body = {"decision": decision, "digest": shown["approval"]["digest"]}
        return await self.people.request(
            "ann",
            "POST",
            f"{AT}/{self.number}/approve",
            body | ({"modifications": changes} if changes else {}),
        )


async def kill_at_each_step(cluster: Cluster, research: Research, killed: list[str]) -> None:
    """Kill all runners once at each step at which the research is seen at work, until it ends."""
    while True:
        found = await research.get()
        if found["status"] in ENDED:
            return
        if found["status"] == "in_progress" and found["current_step"] not in killed:
            killed.append(found["current_step"])
            await asyncio.to_thread(cluster.kill, "RunnerActor")
        await asyncio.sleep(0.1)  # asked again over HTTP, as a client does


async def checked_lineage(research: Research, site: PageSite) -> list[str]:
    """Follow each sentence back to bytes that are really there; the addresses that they were read at."""
    rest = Rest(research.people)
    project = (await research.get())["project_id"]
    lineage = await research.get("/lineage")
    points = {point["point_id"]: point for point in lineage["points"]}
    assert lineage["sentences"]
    used = []
    for point_id in {id_ for sentence in lineage["sentences"] for id_ in sentence["points"]}:
        point = points[point_id]
        source = lineage["sources"][point["source"]]
        got = await rest.call("ann", "get_source", project_id=project, source_id=source["source_id"])
        text = got["source"]["text"]
        assert got["characters"] == len(text)
        assert text[point["start"] : point["end"]] == point["quote"]
        assert hashlib.sha256(text.encode()).hexdigest() == source["text_sha256"]
        if source["url"].startswith(site.origin):
            page = site.pages[source["url"].removeprefix(site.origin)]
            assert isinstance(page, Answer)
            assert hashlib.sha256(page.body).hexdigest() == source["sha256"]
        approval = await research.people.request(
            "ann", "GET", f"/api/approvals/{source['let_in']['approval_id']}"
        )
        assert (approval["digest"], approval["status"]) == (source["let_in"]["digest"], "approved")
        assert source["let_in"]["by"] == "ann"
        used.append(source["url"])
    return used


async def test_the_story_while_runners_die_at_every_step(cluster: Cluster, site: PageSite) -> None:
    people = People(cluster)
    paths = ("mill", "ice", "login", "secret")
    urls = [f"{site.origin}/{path}" for path in paths]
    research = await Research.begun(people, task_type="full_pipeline", urls=urls)
    killed: list[str] = []
    killing = asyncio.create_task(kill_at_each_step(cluster, research, killed))

    shown = await research.until("research_urls")
    numbers = {url["url"]: url["number"] for url in shown["approval"]["content"]["urls"]}
    assert set(urls) == set(numbers)
    assert site.hits == []
    await research.decide(
        shown,
        "modify",
        remove_urls=[numbers[f"{site.origin}/secret"]],
        add_urls=[f"{site.origin}/closed/1"],
    )
    shown = await research.until("research_unreadable")
    faults = {one["url"]: one for one in shown["approval"]["content"]["unreadable"]}
    assert {url: one["fault"] for url, one in faults.items()} == {
        f"{site.origin}/login": "login",
        f"{site.origin}/closed/1": "refused_by_robots",
    }
    pasted = {"number": faults[f"{site.origin}/login"]["number"], "pasted": {"text": CLUB, "title": "Club"}}
    await research.decide(shown, "modify", instead=[pasted])
    shown = await research.until("research_tree")
    node = shown["approval"]["content"]["tree"]["nodes"][0]["id"]
    renamed = {"edit": "rename", "node": node, "name": "Mills in winter"}
    await research.decide(shown, "modify", tree_edits=[renamed])
    shown = await research.until("research_result")
    assert "Mills in winter" in {
        one["heading"] for one in shown["approval"]["content"]["synthesis"]["sections"]
    }
    await research.decide(shown, "approve")
    done = await research.until()
    await killing

    assert (done["status"], done["error"]) == ("completed", None)
    assert {"extract_knowledge"} <= set(killed)
    results = await research.get("/results")
    assert (results["result"]["outcome"], results["result"]["pages"], results["approved"]) == (
        "done",
        3,
        True,
    )
    assert [one["url"] for one in results["result"]["missing"]] == [f"{site.origin}/closed/1"]
    await checked_lineage(research, site)
    # Each page was asked for once, but for one that was on its way when a runner died.
    asked = [hit.path for hit in site.hits]
    assert set(asked) == {"/robots.txt", "/mill", "/ice", "/login"}
    steps = [message["step"] for message in (await research.get("/messages"))["messages"]]
    assert len(steps) == len(set(steps)), "an agent says once what it did, however often it was begun"


async def test_what_was_stopped_reads_nothing_more_and_what_it_found_is_kept(
    cluster: Cluster, site: PageSite
) -> None:
    people = People(cluster)
    site.pages |= {f"/slow/{n}": article(f"Wheel {n}", f"Wheel {n} turns in winter. " * 20) for n in range(6)}
    urls = [f"{site.origin}/slow/{n}" for n in range(6)]
    first = await Research.begun(people, task_type="scrape", urls=urls)
    shown = await first.until("research_urls")
    before = len(site.hits)
    await first.decide(shown, "approve")
    await first.until_read(2)
    await people.request("ann", "POST", f"{AT}/{first.number}/stop", {"reason": "enough"})
    kept = await first.get("/results")
    read = [url["url"] for url in kept["urls"] if url["source_id"] is not None]
    assert 2 <= len(read) < len(urls)
    with pytest.raises(Refused, match="409"):
        await first.decide(shown, "approve")

    again = await Research.begun(
        people,
        task_type="scrape",
        urls=urls,
        parent_workflow_id=first.number,
        config={"require_approval": False},
    )
    done = await again.until()
    assert (done["status"], done["parent_workflow_id"]) == ("completed", first.number)
    assert await first.get("/results") == kept, "nothing was written after it was stopped"
    asked = [hit.path for hit in site.hits[before:] if hit.path.startswith("/slow/")]
    assert set(asked) == {f"/slow/{n}" for n in range(6)}
    twice = {path for path in asked if asked.count(path) > 1}
    assert not {f"{site.origin}{path}" for path in twice} & set(read), "what was read was not fetched again"
