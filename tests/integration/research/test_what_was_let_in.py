"""What was let in is what is read: no text, number or redirect takes the place of what a person approved."""

from typing import Any

import pytest

import actors.systems.research.tree_steps as organizing
from actors.systems.research.gate_changes import changed_content
from models.research.gate_decisions import Modifications
from models.research.synthesis import SectionOffer, SynthesisSection
from models.runtime.approvals import Approval
from models.store.research import lineage
from tests.fakes.outside.page_site import Answer, PageSite, article
from tests.integration.research.mill_site import MILL, SECRET
from tests.integration.research.research_desk import ResearchDesk
from tests.integration.research.test_tree_tools import call, person

UNASKED = {"language": "any", "require_approval": False}
FOLDED = """
UPDATE url_candidates SET metadata = metadata || jsonb_build_object('folded', jsonb_build_array(%s::text))
WHERE url LIKE '%%/secret'
"""
POISON = "The company has poisoned the whole of the river with each of its many mills for all these years. "
# As a tool writes it that keeps a text which somebody has: without an engine that read it.
GIVEN = """
INSERT INTO sources (project_id, url, text, text_sha256, sha256, title, settled_at)
VALUES (%(project)s, %(url)s, %(text)s, encode(sha256(convert_to(%(text)s, 'UTF8')), 'hex'), 'f', 'T', now())
ON CONFLICT (project_id, url) DO UPDATE
SET text = excluded.text, text_sha256 = excluded.text_sha256, sha256 = 'f', engine = NULL,
    extracted_with = NULL
"""


def only_mill(shown: dict[str, Any]) -> dict[str, Any]:
    """The list with the page of the mills alone."""
    return shown | {"urls": [url for url in shown["urls"] if url["url"].endswith("/mill")]}


async def give(desk: ResearchDesk, project_id: int, url: str, text: str) -> None:
    """Have somebody keep a text under an address."""
    async with desk.database.connection() as connection:
        await connection.execute(GIVEN.encode(), {"project": project_id, "url": url, "text": text})


async def test_a_text_that_somebody_gave_under_an_address_is_not_what_stands_there(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start()
        urls = await desk.gate(research)
        await give(desk, research.project_id, f"{site.origin}/mill", f"{MILL} It poisons the river.")
        await desk.amend(urls, only_mill(urls.content))
        await desk.ended(research)
    assert site.asked("/mill") == 1
    [source] = await desk.rows("SELECT text FROM sources WHERE url LIKE '%%/mill'")
    assert "poisons" not in source["text"]


@pytest.mark.parametrize("to", ["/secret/", "//secret", "/%73ecret?utm_source=x", "/copy"])
async def test_what_was_left_out_is_not_read_under_another_address_either(
    desk: ResearchDesk, site: PageSite, to: str
) -> None:
    site.pages["/mill"] = Answer(b"", status=302, headers={"location": f"{site.origin}{to}"})
    site.pages[to] = article("Not approved", SECRET)
    async with desk.running():
        research = await desk.start()
        urls = await desk.gate(research)
        async with desk.database.connection() as connection:  # as where the same text was found there, too
            await connection.execute(FOLDED, (f"{site.origin}/copy",))
        await desk.amend(urls, only_mill(urls.content))
        [page] = (await desk.gate(research)).content["unreadable"]
    assert page["fault"] == "other_host"
    assert site.asked(to) == 0


async def test_another_spelling_that_a_person_lets_in_is_read(desk: ResearchDesk, site: PageSite) -> None:
    site.pages["/mill/"] = article("Mills", MILL)
    async with desk.running():
        research = await desk.start()
        urls = await desk.gate(research)
        changes = Modifications(
            remove_urls=tuple(url["number"] for url in urls.content["urls"]),
            add_urls=(f"{site.origin}/mill/",),
        )
        await desk.amend(urls, changed_content(urls, changes, by="ann", config=desk.config))
        done = await desk.ended(research)
    assert (done.result or {})["pages"] == 1, done
    assert site.asked("/mill/") == 1


async def test_what_was_folded_into_a_page_that_was_left_out_is_read_where_a_person_adds_it(
    desk: ResearchDesk, site: PageSite
) -> None:
    site.pages["/mill"] = Answer(b"", status=302, headers={"location": f"{site.origin}/copy"})
    site.pages["/copy"] = article("Mills", MILL)
    async with desk.running():
        research = await desk.start()
        urls = await desk.gate(research)
        async with desk.database.connection() as connection:
            await connection.execute(FOLDED, (f"{site.origin}/copy",))
        out = [url["number"] for url in urls.content["urls"] if not url["url"].endswith("/mill")]
        changes = Modifications(remove_urls=tuple(out), add_urls=(f"{site.origin}/copy",))
        await desk.amend(urls, changed_content(urls, changes, by="ann", config=desk.config))
        done = await desk.ended(research)
    assert ((done.result or {})["pages"], (done.result or {})["missing"]) == (2, [])


async def test_who_let_a_page_in_did_not_let_in_what_was_put_in_its_place(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        first = await desk.start()
        urls = await desk.gate(first)
        await desk.amend(urls, only_mill(urls.content))
        await desk.ended(first)
        await give(desk, first.project_id, f"{site.origin}/mill", f"{MILL} It poisons the river.")
        second = await desk.start("bob", task_type="analyze", config=UNASKED)
        await desk.ended(second)
    async with desk.database.connection() as connection:
        honest = await lineage.of_research(connection, first)
        forged = await lineage.of_research(connection, second)
    assert [source.let_in.by for source in honest.sources if source.let_in] == ["ann"]
    assert forged.sources
    assert [source.let_in for source in forged.sources] == [None] * len(forged.sources)


async def test_what_is_put_in_a_page_s_place_once_its_points_are_kept_is_offered_to_no_writer(
    desk: ResearchDesk, site: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    quoted, offers = organizing.quoted_section, list[SectionOffer]()

    def writing(offer: SectionOffer, *, most: int) -> SynthesisSection:
        offers.append(offer)
        return quoted(offer, most=most)

    monkeypatch.setattr(organizing, "quoted_section", writing)
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        urls = await desk.gate(research)
        await desk.amend(urls, only_mill(urls.content))
        tree = await desk.gate(research)
        assert tree.kind == "research_tree"
        await give(desk, research.project_id, f"{site.origin}/mill", POISON * 20)
        await desk.approve(tree)
        await desk.gate(research)
    [[point]] = [offer.points for offer in offers]
    assert (point.quote, point.passage) == ("runs nine mills in Łódź", None)


async def test_an_approved_page_does_not_lead_to_one_that_was_left_out(
    desk: ResearchDesk, site: PageSite
) -> None:
    site.pages["/mill"] = Answer(status=302, headers={"location": "/secret"})
    async with desk.running():
        research = await desk.start()
        urls = await desk.gate(research)
        await desk.amend(urls, only_mill(urls.content))
        blocked = await desk.gate(research)
    [one] = blocked.content["unreadable"]
    assert (one["fault"], "was left out" in one["reason"]) == ("other_host", True)
    assert site.asked("/secret") == 0


async def test_an_address_keeps_its_number_whoever_takes_it_out_and_puts_it_back(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        urls = await desk.gate(await desk.start())
    first, *others = urls.content["urls"]
    without = changed(desk, urls, remove_urls=[first["number"]])
    again = urls.model_copy(update={"asked": urls.content, "content": without})
    back = changed(desk, again, add_urls=[first["url"], f"{site.origin}/other"])
    assert [url["number"] for url in back["urls"]] == [
        *(url["number"] for url in others),
        first["number"],
        len(others) + 2,
    ]
    last = urls.content["urls"][-1]["number"]
    without = changed(desk, urls, remove_urls=[last])
    again = urls.model_copy(update={"asked": urls.content, "content": without})
    assert changed(desk, again, add_urls=[f"{site.origin}/other"])["urls"][-1]["number"] == last + 1


def changed(desk: ResearchDesk, approval: Approval, **changes: Any) -> dict[str, Any]:
    """What somebody makes of a list."""
    return changed_content(approval, Modifications.model_validate(changes), by="bob", config=desk.config)


async def test_a_query_that_names_pages_or_has_nothing_to_go_by_is_no_analysis(
    desk: ResearchDesk, site: PageSite
) -> None:
    asked = "Compare the mills that we have with those of other towns."
    async with desk.running():
        research = await desk.start(task_type=None, user_query=asked, config=UNASKED)
        await desk.ended(research)
    [row] = await desk.rows("SELECT task_type, intent FROM agent_workflows WHERE id = %s", research.id)
    assert row["task_type"] == "research"
    assert site.hits


async def test_a_text_that_an_agent_gives_once_a_page_was_read_is_not_what_is_extracted(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        urls = [f"{site.origin}/mill", f"{site.origin}/login"]
        research = await desk.start(task_type="scrape", urls=urls)
        await desk.approve(await desk.gate(research))
        blocked = await desk.gate(research)
        forged = {"url": urls[0], "title": "Mills", "text": f"{MILL} It poisons the river."}
        given = {"project_id": research.project_id, "entity_type": "document", "data": forged}
        agent = person("eve", "macro:analyst").model_copy(update={"decides": False})
        await call(desk, "save_to_database", agent, **given)
        await desk.approve(blocked)
        await desk.ended(research)
    read = await desk.rows("SELECT metadata ->> 'text_sha256' AS text_sha256 FROM url_candidates")
    assert all(point in read for point in await desk.rows("SELECT text_sha256 FROM research_points"))
