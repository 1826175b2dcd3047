"""Research: only what a person approved is ever asked for, and nothing of what was found is lost."""

import errno
from typing import Any

import pytest

from actors.platform.runtime.run import Run
from tests.fakes.model.model_server import ModelServer, Rule
from tests.fakes.outside.page_site import Answer, PageSite, article, serving
from tests.fakes.outside.search_providers import SearchServer
from tests.integration.research.mill_site import ICE, MILL, NOTHING
from tests.integration.research.research_desk import ResearchDesk


def only(shown: dict[str, Any], *paths: str) -> dict[str, Any]:
    """The list with these pages alone."""
    kept = [url for url in shown["urls"] if url["url"].endswith(paths)]
    return shown | {"urls": kept}


async def test_only_what_was_approved_is_asked_for_and_each_page_leads_to_who_let_it_in(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start()
        approval = await desk.gate(research)
        assert approval.kind == "research_urls"
        assert {url["url"].removeprefix(site.origin) for url in approval.content["urls"]} == {
            "/mill",
            "/ice",
            "/secret",
            "/login",
        }
        assert site.hits == []
        await desk.amend(approval, only(approval.content, "/mill", "/ice"))
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert (done.result or {})["outcome"] == "done"
    assert {hit.path for hit in site.hits} == {"/mill", "/ice"}
    rows = await desk.rows(
        "SELECT url, user_approval, decided_by, source_id FROM url_candidates WHERE research_id = %s",
        research.id,
    )
    let_in = {row["url"].removeprefix(site.origin): row for row in rows}
    assert {path: row["user_approval"] for path, row in let_in.items()} == {
        "/mill": "approved",
        "/ice": "approved",
        "/secret": "rejected",
        "/login": "rejected",
    }
    assert let_in["/mill"]["decided_by"] == "ann"
    assert let_in["/mill"]["source_id"] is not None
    assert let_in["/secret"]["source_id"] is None


async def test_rejecting_the_list_ends_it_cleanly_and_nothing_is_fetched(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start()
        await desk.reject(await desk.gate(research))
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert done.result == {
        "outcome": "rejected",
        "pages": 0,
        "points": 0,
        "tree_id": None,
        "sentences": 0,
        "ended_at": "urls",
        "missing": [],
        "limit": None,
        "left": [],
    }
    assert site.hits == []
    tasks = await desk.rows(
        "SELECT step, status FROM research_tasks WHERE research_id = %s ORDER BY number", research.id
    )
    assert {row["step"]: row["status"] for row in tasks} == {
        "create_plan": "done",
        "discover_urls": "done",
        "await_user_review": "done",
        "scrape_urls": "skipped",
        "await_unreadable_review": "skipped",
        "extract_knowledge": "skipped",
        "build_tree": "skipped",
        "synthesize_results": "skipped",
    }


async def test_what_cannot_be_read_is_asked_about_and_replaced_by_an_address_or_a_text(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start(urls=[f"{site.origin}/gone"])
        first = await desk.gate(research)
        await desk.amend(first, only(first.content, "/mill", "/login", "/gone"))
        blocked = await desk.gate(research)
        assert blocked.kind == "research_unreadable"
        faults = {one["url"].removeprefix(site.origin): one for one in blocked.content["unreadable"]}
        assert {path: one["fault"] for path, one in faults.items()} == {
            "/login": "login",
            "/gone": "not_found",
        }
        instead = [
            {"number": faults["/login"]["number"], "url": None, "pasted": {"text": ICE, "title": "Ice"}},
            {"number": faults["/gone"]["number"], "url": f"{site.origin}/missing", "pasted": None},
        ]
        await desk.amend(blocked, blocked.content | {"instead": instead}, by="bob")
        # What was given in its place can't be read either: that is asked about, too.
        again = await desk.gate(research)
        assert [one["url"] for one in again.content["unreadable"]] == [f"{site.origin}/missing"]
        assert again.content["read"] == 2
        await desk.approve(again)
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert done.result is not None
    assert (done.result["outcome"], done.result["pages"], done.result["points"]) == ("done", 2, 1)
    assert {one["url"].removeprefix(site.origin) for one in done.result["missing"]} == {"/gone", "/missing"}
    rows = await desk.rows(
        """SELECT c.url, c.decided_by, s.url AS source, s.author FROM url_candidates c
           LEFT JOIN sources s ON s.id = c.source_id WHERE c.research_id = %s""",
        research.id,
    )
    of = {row["url"].removeprefix(site.origin): row for row in rows}
    assert of["/login"]["source"].startswith("urn:sha256:")
    assert of["/login"]["author"] == "bob"
    assert of["/missing"]["decided_by"] == "bob"
    assert "/secret" not in {hit.path for hit in site.hits}


async def test_a_page_that_leads_to_another_host_is_not_followed(
    desk: ResearchDesk, site: PageSite, search: SearchServer
) -> None:
    with serving({"/mill": article("The Mill Company", MILL)}, address="127.0.0.2") as elsewhere:
        site.pages["/mill"] = Answer(status=302, headers={"location": f"{elsewhere.origin}/mill"})
        async with desk.running():
            research = await desk.start(task_type="scrape", urls=[f"{site.origin}/mill"])
            await desk.approve(await desk.gate(research))
            blocked = await desk.gate(research)
            assert [one["fault"] for one in blocked.content["unreadable"]] == ["other_host"]
            await desk.approve(blocked)
            done = await desk.ended(research)
        assert elsewhere.hits == []
    assert done.result is not None
    assert done.result["outcome"] == "nothing_read"
    assert [(one["url"], one["fault"]) for one in done.result["missing"]] == [
        (f"{site.origin}/mill", "other_host")
    ]
    assert search.asked == []


async def test_broken_off_after_each_step_it_does_nothing_twice_and_loses_nothing(
    desk: ResearchDesk, site: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time that something new is kept the machine gives way under it; then it is resumed."""
    effect, keep = Run.effect, Run.keep
    tables = ("url_candidates", "agent_messages", "workflow_tools", "sources", "knowledge_points")
    found = dict.fromkeys(tables, 0)
    broken_off: list[str] = []

    async def break_off(key: str) -> None:
        broken_off.append(key)
        for table in tables:
            [row] = await desk.rows(f"SELECT count(*) AS n FROM {table}")
            assert row["n"] >= found[table]
            found[table] = row["n"]
        raise ConnectionRefusedError(errno.ECONNREFUSED, "the machine gives way")

    async def effect_and_break(self: Run, key: str, type_: Any, act: Any) -> Any:
        is_new = key not in self._kept
        made = await effect(self, key, type_, act)
        if is_new:
            await break_off(key)
        return made

    async def keep_and_break(self: Run, key: str, value: Any, **more: Any) -> None:
        await keep(self, key, value, **more)
        if not key.startswith("gate/"):
            await break_off(key)

    monkeypatch.setattr(Run, "effect", effect_and_break)
    monkeypatch.setattr(Run, "keep", keep_and_break)
    async with desk.running():
        urls = [f"{site.origin}/{page}" for page in ("mill", "ice", "login")]
        research = await desk.start(task_type="scrape", urls=urls)
        await desk.approve(await desk.gate(research))
        await desk.approve(await desk.gate(research))
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert len(broken_off) == len(set(broken_off)) >= 15
    assert done.result is not None
    assert (done.result["outcome"], done.result["pages"], done.result["points"]) == ("done", 2, 1)
    assert sorted(hit.path for hit in site.hits) == ["/ice", "/login", "/mill"]
    said = await desk.rows(
        "SELECT step, count(*) AS n FROM agent_messages WHERE research_id = %s GROUP BY step", research.id
    )
    assert {row["step"]: row["n"] for row in said} == {
        "classify_intent": 1,
        "create_plan": 1,
        "discover_urls": 1,
        "scrape_urls": 1,
        "extract_knowledge": 1,
    }
    calls = await desk.rows("SELECT input FROM workflow_tools WHERE tool_name = 'scrape_urls'")
    assert sorted(call["input"]["url"] for call in calls) == sorted(urls)


async def test_each_sentence_leads_to_words_that_are_there_and_to_who_let_them_in(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start(task_type="full_pipeline")
        urls = await desk.gate(research)
        await desk.amend(urls, only(urls.content, "/mill", "/ice"))
        tree = await desk.gate(research)
        assert tree.kind == "research_tree"
        [node] = tree.content["tree"]["nodes"]
        assert tree.content["examples"][node["id"]] == ["It has nine mills."]
        nodes = [node | {"name": "Who runs them", "named_by": "person"}]
        await desk.amend(tree, tree.content | {"tree": tree.content["tree"] | {"nodes": nodes}}, by="bob")
        result = await desk.gate(research)
        assert result.kind == "research_result"
        [section] = result.content["synthesis"]["sections"]
        assert section["heading"] == "Who runs them"
        await desk.approve(result)
        done = await desk.ended(research)
    assert (done.status, done.error) == ("succeeded", None)
    assert done.result is not None
    assert (done.result["outcome"], done.result["pages"], done.result["points"]) == ("done", 2, 1)
    lineage = await desk.rows(
        """SELECT t.text, p.quote, substr(s.text, p.start + 1, p."end" - p.start) AS there, c.url,
                  c.decided_by, a.decided_by AS approver, s.text_sha256 = p.text_sha256 AS same
           FROM research_sentences t JOIN research_points p
             ON p.research_id = t.research_id AND p.point_id = ANY(t.points)
           JOIN sources s ON s.id = p.source_id
           JOIN url_candidates c ON c.research_id = t.research_id AND c.source_id = s.id
           JOIN approvals a ON a.id = c.approval_id
           WHERE t.research_id = %s""",
        research.id,
    )
    assert len(lineage) == done.result["sentences"] >= 1
    for row in lineage:
        assert row["quote"] == row["there"]
        assert row["text"].startswith("The Mill Company runs nine mills in Łódź. It was founded in 1871")
        assert (row["same"], row["url"], row["approver"]) == (True, f"{site.origin}/mill", "ann")
    [kept] = await desk.rows("SELECT tree FROM knowledge_trees WHERE id = %s", done.result["tree_id"])
    assert [node["name"] for node in kept["tree"]["nodes"]] == ["Who runs them"]
    steps = await desk.rows("SELECT status FROM research_tasks WHERE research_id = %s", research.id)
    assert {row["status"] for row in steps} == {"done"}


INTENT = "SELECT task_type, intent FROM agent_workflows WHERE id = %s"
SAID = "SELECT content, reasoning FROM agent_messages WHERE research_id = %s AND step = 'classify_intent'"


async def test_what_the_request_says_is_its_intent(desk: ResearchDesk) -> None:
    async with desk.running():
        research = await desk.start(task_type="analyze")
        await desk.ended(research)
    [row] = await desk.rows(INTENT, research.id)
    assert (row["task_type"], row["intent"]["found"], row["intent"]["is_guess"]) == (
        "analyze",
        "given",
        False,
    )
    [said] = await desk.rows(SAID, research.id)
    assert said["reasoning"] == "the request asks for analyze"


@pytest.mark.parametrize(
    ("reply", "task_type", "found"),
    [
        ('{"reason": "It wants pages kept.", "task_type": "scrape", "complexity": "low"}', "scrape", "model"),
        ("I will not say.", "scrape", "measured"),
    ],
)
async def test_without_a_task_type_the_query_tells_it_and_the_plan_goes_by_it(
    desk: ResearchDesk,
    site: PageSite,
    search: SearchServer,
    model: ModelServer,
    reply: str,
    task_type: str,
    found: str,
) -> None:
    model.script(
        Rule(contains="Classify it as one", reply=reply), Rule(contains="Extract as one", reply=NOTHING)
    )
    query = "alles zum wasserstoff-kernnetz sammeln und ablegen bitte"
    async with desk.running():
        research = await desk.start(task_type=None, user_query=query, urls=[f"{site.origin}/mill"])
        assert (research.task_type, research.intent) == (None, None)
        await desk.reject(await desk.gate(research))
        await desk.ended(research)
    [row] = await desk.rows(INTENT, research.id)
    intent = row["intent"]
    assert (intent["found"], intent["is_guess"]) == (found, found == "measured")
    assert row["task_type"] == intent["task_type"] == task_type
    assert (search.asked == []) == (task_type == "scrape")
    [planned] = await desk.rows(
        "SELECT reasoning FROM agent_messages WHERE research_id = %s AND step = 'create_plan'", research.id
    )
    assert planned["reasoning"].startswith(f"{task_type} was asked for")


async def test_an_address_under_the_number_of_another_one_is_never_read(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start()
        approval = await desk.gate(research)
        swapped = only(approval.content, "/mill")
        [mill] = swapped["urls"]
        other = mill | {"url": f"{site.origin}/elsewhere"}
        await desk.amend(approval, swapped | {"urls": [other]})
        done = await desk.ended(research)
    assert done.status == "failed"
    assert f"number {mill['number']} of the approved list is another address here" in (done.error or "")
    assert site.hits == []


async def test_what_is_no_address_in_place_of_another_is_told_and_harms_nothing(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        research = await desk.start(task_type="scrape", urls=[f"{site.origin}/login", f"{site.origin}/mill"])
        await desk.approve(await desk.gate(research))
        blocked = await desk.gate(research)
        [one] = blocked.content["unreadable"]
        instead = [{"number": one["number"], "url": "http://mills.example:99999/", "pasted": None}]
        await desk.amend(blocked, blocked.content | {"instead": instead})
        again = await desk.gate(research)
        assert [each["fault"] for each in again.content["unreadable"]] == ["bad_url"]
        await desk.approve(again)
        done = await desk.ended(research)
    assert (done.status, (done.result or {})["outcome"]) == ("succeeded", "done")


async def test_to_analyze_reads_what_the_project_holds_and_fetches_nothing(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        first = await desk.start(task_type="scrape", urls=[f"{site.origin}/mill"])
        await desk.approve(await desk.gate(first))
        assert ((await desk.ended(first)).result or {})["points"] == 1
        asked = len(site.hits)
        second = await desk.start(task_type="analyze")
        await desk.approve(await desk.gate(second))
        await desk.approve(await desk.gate(second))
        done = await desk.ended(second)
    assert done.result is not None
    assert {key: done.result[key] for key in ("outcome", "pages", "points", "sentences", "missing")} == {
        "outcome": "done",
        "pages": 0,
        "points": 1,
        "sentences": 1,
        "missing": [],
    }
    assert len(site.hits) == asked
    tools = await desk.rows(
        "SELECT tool_name, duration_ms FROM workflow_tools WHERE research_id = %s", first.id
    )
    assert {row["tool_name"] for row in tools} == {"search_web", "scrape_urls"}
    assert all(row["duration_ms"] > 0 for row in tools)


async def test_the_next_list_says_what_of_the_project_was_not_searched(
    desk: ResearchDesk, site: PageSite
) -> None:
    async with desk.running():
        first = await desk.start()
        urls = await desk.gate(first)
        assert not any("not searched" in note for note in urls.content["notes"])
        mill = [url for url in urls.content["urls"] if url["url"].endswith("/mill")]
        await desk.amend(urls, urls.content | {"urls": mill})
        await desk.ended(first)
        notes = (await desk.gate(await desk.start())).content["notes"]
    assert notes[-1] == (
        "1 of the project's sources is not searched yet: "
        f"`signoff submit index_knowledge_base --project {first.project_id}` has them found"
    )
