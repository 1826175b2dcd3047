"""The way back: from each sentence to exact words of a text that is stored, and to whoever let that in."""

import hashlib
from typing import Any

from models.research.agent_workflows import AgentWorkflow
from models.research.following import LetIn, ResearchLineage, ResearchPoints, ResearchResults
from models.runtime.approvals import Approval
from models.runtime.workflows import Workflow
from models.store.knowledge import sources
from models.store.research import lineage, overviews
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.mill_knowledge import COLD, ask, make_desk, make_site, only
from tests.integration.research.research_desk import ResearchDesk

__all__ = ["make_desk", "make_site"]  # the fixtures

UNGATED = {"language": "any", "require_approval": False}


async def of_research(desk: ResearchDesk, research: AgentWorkflow) -> ResearchLineage:
    """The way back, as it is told."""
    found: ResearchLineage = await ask(desk, lambda c: lineage.of_research(c, research))
    return found


async def followed(desk: ResearchDesk, research: AgentWorkflow) -> ResearchLineage:
    """The way back, each span of which is looked up in the text that is stored."""
    found = await of_research(desk, research)
    assert found.sentences
    for point in found.points:
        source = found.sources[point.source]
        [stored] = await desk.rows("SELECT text, url FROM sources WHERE id = %s", source.source_id)
        assert stored["text"][point.start : point.end] == point.quote
        assert hashlib.sha256(stored["text"].encode()).hexdigest() == source.text_sha256
        assert stored["url"] == source.url
    cited = {point for sentence in found.sentences for point in sentence.points}
    assert sorted(cited) == [point.point_id for point in found.points]
    assert {point.source for point in found.points} == set(range(len(found.sources)))
    assert len({source.url for source in found.sources}) == len(found.sources)
    return found


async def to_the_end(desk: ResearchDesk, research: AgentWorkflow) -> Workflow:
    """Say yes to its tree and to its result."""
    await desk.approve(await desk.gate(research))
    await desk.approve(await desk.gate(research))
    done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    return done


async def read(desk: ResearchDesk, research: AgentWorkflow, path: str) -> Approval:
    """Let a research read one page, and nothing else; what let that in."""
    urls = await desk.gate(research)
    decided = await desk.amend(urls, only(urls.content, path))
    assert (await desk.ended(research)).status == "succeeded"
    return decided


def by_path(site: PageSite, found: ResearchLineage) -> dict[str, LetIn | None]:
    """Who let each page in, by its path."""
    return {source.url.removeprefix(site.origin): source.let_in for source in found.sources}


def number_of(approval: Approval, path: str) -> int:
    [number] = [url["number"] for url in approval.content["urls"] if url["url"].endswith(path)]
    return int(number)


def let_in(approval: Approval, research: AgentWorkflow, number: int, by: str = "ann") -> LetIn:
    """That an approval let an address in."""
    assert (approval.status, approval.decided_by) == ("approved", by)
    return LetIn(
        workflow_id=research.id,
        number=number,
        by=by,
        approval_id=approval.id,
        digest=approval.digest,
        at=approval.decided_at,
    )


async def test_each_sentence_leads_to_exact_words_and_to_the_list_that_was_approved(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        assert await of_research(desk, research) == ResearchLineage(
            workflow_id=research.id, sentences=(), points=(), sources=()
        )
        urls = await desk.gate(research)
        decided = await desk.amend(urls, only(urls.content, "/mill", "/ice", "/login"))
        await desk.approve(await desk.gate(research))
        await to_the_end(desk, research)
    assert decided.digest != urls.digest
    found = await followed(desk, research)
    assert by_path(site, found) == {
        path: let_in(decided, research, number_of(urls, path)) for path in ("/mill", "/ice")
    }
    assert {point.quote for point in found.points} >= {
        "runs nine mills in Łódź",
        "kept free of ice by warm water",
    }
    assert "The Mill Company has mills in Łódź" in {point.statement for point in found.points}
    [ice] = [source for source in found.sources if source.url.endswith("/ice")]
    assert (ice.title, ice.final_url) == ("Ice on wheels", ice.url)
    assert ice.sha256 == hashlib.sha256(site.pages["/ice"].body).hexdigest()  # type: ignore[union-attr]
    every: ResearchPoints = await ask(desk, lambda c: lineage.of_points(c, research, after=0, limit=9))
    assert {point.quote for point in every.points} >= {point.quote for point in found.points}
    assert (len(every.points), every.next_after) == (5, None)
    assert {source.url: source.let_in for source in every.sources} == {
        source.url: source.let_in for source in found.sources
    }
    two: ResearchPoints = await ask(desk, lambda c: lineage.of_points(c, research, after=0, limit=2))
    assert [point.point_id for point in two.points] == [point.point_id for point in every.points[:2]]
    rest: ResearchPoints = await ask(
        desk, lambda c: lineage.of_points(c, research, after=two.next_after or 0, limit=3)
    )
    assert ([point.quote for point in rest.points], rest.next_after) == (
        [point.quote for point in every.points[2:]],
        None,
    )
    # What was dropped rests on nothing.
    first, *others = found.sentences
    async with desk.database.connection() as connection:
        await connection.execute(
            "UPDATE research_sentences SET outcome = 'dropped' WHERE number = %s", (first.number,)
        )
    assert (await followed(desk, research)).sentences == tuple(others)


async def test_what_was_given_in_place_of_a_page_leads_to_the_gate_that_let_that_in(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start(task_type="full_pipeline", urls=[f"{site.origin}/gone"])
        urls = await desk.gate(research)
        await desk.amend(urls, only(urls.content, "/login", "/gone"))
        login, gone = number_of(urls, "/login"), number_of(urls, "/gone")
        blocked = await desk.gate(research)
        pasted = {"text": COLD, "title": "Ice, as bob has it"}
        instead = [
            {"number": login, "url": None, "pasted": pasted},
            {"number": gone, "url": f"{site.origin}/mill", "pasted": None},
        ]
        decided = await desk.amend(blocked, blocked.content | {"instead": instead}, by="bob")
        await to_the_end(desk, research)
    found = await followed(desk, research)
    mill = number_of(urls, "/mill")
    urn = f"urn:sha256:{hashlib.sha256(COLD.encode()).hexdigest()}"
    there = {
        urn: let_in(decided, research, login, "bob").model_copy(update={"given_by": "bob"}),
        "/mill": let_in(decided, research, mill, "bob"),
    }
    assert by_path(site, found) == there
    shown: ResearchResults = await ask(desk, lambda c: overviews.results(c, research))
    rows = {one.number: (one.instead_of, one.decided_by, one.approval_id, one.fault) for one in shown.urls}
    assert rows[mill] == (gone, "bob", decided.id, None)
    assert rows[login] == (None, "ann", urls.id, None)
    assert rows[gone] == (None, "ann", urls.id, "not_found")
    # The same words lead back when the sources are gone.
    async with desk.database.transaction() as connection:
        for source in found.sources:
            assert source.source_id is not None
            await sources.delete(connection, research.project_id, source.source_id)
    after = await of_research(desk, research)
    assert (after.sentences, after.points) == (found.sentences, found.points)
    assert after.sources == tuple(source.model_copy(update={"source_id": None}) for source in found.sources)


async def test_where_no_gate_stood_it_was_whoever_asked(desk: ResearchDesk, site: PageSite) -> None:
    async with desk.running():
        research = await desk.start("bob", urls=[f"{site.origin}/mill"], config=UNGATED)
        await desk.ended(research)
    found = await followed(desk, research)
    rows: ResearchResults = await ask(desk, lambda c: overviews.results(c, research))
    numbers = {one.url.removeprefix(site.origin): one.number for one in rows.urls}
    nobody: dict[str, Any] = {"by": "bob", "approval_id": None, "digest": None, "at": None}
    assert by_path(site, found) == {
        path: LetIn(workflow_id=research.id, number=numbers[path], **nobody) for path in ("/mill", "/ice")
    }
    assert rows.approved is None


async def test_what_the_project_held_leads_to_the_research_that_let_it_in_before(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        first, second, late = await desk.start(), await desk.start(), await desk.start()
        before, decided = await read(desk, first, "/mill"), await read(desk, second, "/mill")
        # It came by no research.
        await desk.rows(
            """INSERT INTO sources (project_id, url, settled_at, text, text_sha256, title)
               VALUES (%s, 'https://example.org/ice', now(), %s, %s, 'Ice') RETURNING id""",
            first.project_id,
            COLD,
            hashlib.sha256(COLD.encode()).hexdigest(),
        )
        third = await desk.start(task_type="analyze")
        await to_the_end(desk, third)
        # Whoever lets it in later has not let in what was read before.
        later = await read(desk, late, "/mill")
    found = await followed(desk, third)
    assert by_path(site, found) == {
        "/mill": let_in(decided, second, number_of(decided, "/mill")),
        "https://example.org/ice": None,
    }
    own = await followed(desk, late)
    assert by_path(site, own) == {"/mill": let_in(later, late, number_of(later, "/mill"))}
    # Of a research of another project nothing is said.
    await desk.rows(
        """WITH other AS (INSERT INTO projects (topic, name, created_by) VALUES ('macro', 'Other', 'ann')
                          RETURNING id)
           UPDATE agent_workflows a SET project_id = other.id FROM other WHERE a.id = %s RETURNING a.id""",
        second.id,
    )
    again = await of_research(desk, third)
    assert by_path(site, again)["/mill"] == let_in(before, first, number_of(before, "/mill"))
