"""Research over HTTP, on a real site: begun, followed, decided on, stopped; nobody else's is seen."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from cluster.cli.tokens import mint_token
from models.config import Config
from models.store.database import Database
from tests.fakes.outside.page_site import PageSite
from tests.integration.research.mill_site import ICE
from tests.integration.research.research_desk import QUESTION, ResearchDesk, under
from tests.integration.rest import client, served

AT = "/api/v1/agent-workflows"
ASKED = {"user_query": QUESTION, "topic": "macro", "config": {"language": "any"}}


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url) as url:
        yield url


@pytest.fixture
async def ann(config: Config, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Ann, who is an analyst of macro."""
    async with client(config, base, "ann", "macro:analyst") as made:
        yield made


@pytest.fixture
async def desk(config: Config, database: Database) -> AsyncIterator[ResearchDesk]:
    """A runner that works."""
    made = ResearchDesk(config, database)
    async with made.running():
        yield made


async def begun(who: httpx2.AsyncClient, **more: Any) -> int:
    """Begin a research; its number."""
    answer = await who.post(f"{AT}/start", json={"task_type": "research"} | ASKED | more)
    assert answer.status_code == 201, answer.text
    return int(answer.json()["workflow_id"])


async def until(who: httpx2.AsyncClient, number: int, *statuses: str, kind: str | None = None) -> Any:
    """How it stands once it has one of the statuses, and waits at a gate of this kind."""
    async with asyncio.timeout(60):
        while True:
            found = (await who.get(f"{AT}/{number}")).json()
            assert found["status"] in statuses or found["status"] not in ("failed", "completed"), found
            if found["status"] in statuses and (
                kind is None or (found["approval"] or {}).get("kind") == kind
            ):
                return found


async def decide(who: httpx2.AsyncClient, number: int, **said: Any) -> Any:
    """A decision that is taken."""
    answer = await who.post(f"{AT}/{number}/approve", json=said)
    assert answer.status_code == 200, answer.text
    return answer.json()


def number_of(found: Any, path: str) -> int:
    """The number of a page on the list that waits."""
    return int(
        next(url["number"] for url in found["approval"]["content"]["urls"] if url["url"].endswith(path))
    )


async def test_the_story_over_http(ann: httpx2.AsyncClient, desk: ResearchDesk, site: PageSite) -> None:
    answer = await ann.post(f"{AT}/start", json=ASKED | {"task_type": "full_pipeline"})
    began = answer.json()
    assert (answer.status_code, began["status"], began["current_step"]) == (201, "pending", "classify_intent")
    assert began["estimated_steps"] == 10
    number = began["workflow_id"]
    shown = await until(ann, number, "awaiting_approval", kind="research_urls")
    assert (shown["current_step"], shown["results"]["urls_discovered"]) == ("await_user_review", 4)
    assert site.hits == []
    mill = number_of(shown, "/mill")
    said = await decide(
        ann,
        number,
        decision="modify",
        digest=shown["approval"]["digest"],
        modifications={
            "remove_urls": [number_of(shown, "/secret"), number_of(shown, "/ice")],
            "add_urls": [f"{site.origin}/gone"],
            "notes": "the company's own page",
        },
    )
    assert (said["workflow_id"], said["next_step"]) == (number, "scrape_urls")
    shown = await until(ann, number, "awaiting_approval", kind="research_unreadable")
    assert {one["fault"] for one in shown["approval"]["content"]["unreadable"]} == {"login", "not_found"}
    login = next(one for one in shown["approval"]["content"]["unreadable"] if one["fault"] == "login")
    instead = [{"number": login["number"], "pasted": {"text": ICE, "title": "Ice"}}]
    await decide(
        ann,
        number,
        decision="modify",
        digest=shown["approval"]["digest"],
        modifications={"instead": instead},
    )
    shown = await until(ann, number, "awaiting_approval", kind="research_tree")
    node = shown["approval"]["content"]["tree"]["nodes"][0]["id"]
    said = await decide(
        ann,
        number,
        decision="modify",
        digest=shown["approval"]["digest"],
        modifications={"tree_edits": [{"edit": "rename", "node": node, "name": "Who runs them"}]},
    )
    assert said["next_step"] == "build_tree"
    shown = await until(ann, number, "awaiting_approval", kind="research_result")
    rests_on = shown["approval"]["content"]["sources"]
    said = await decide(ann, number, decision="approve", digest=shown["approval"]["digest"])
    assert said["next_step"] == "completed"
    done = await until(ann, number, "completed")
    assert (done["progress"]["percentage"], done["approval"], done["error"]) == (100, None, None)
    results = (await ann.get(f"{AT}/{number}/results")).json()
    assert (results["result"]["outcome"], results["approved"]) == ("done", True)
    assert [one["heading"] for one in results["sentences"]] == ["Who runs them"]
    assert [one["url"] for one in results["result"]["missing"]] == [f"{site.origin}/gone"]
    assert {url["url"]: url["pasted_by"] for url in results["urls"] if url["pasted_by"]} == {
        f"{site.origin}/login": "ann"
    }
    lineage = (await ann.get(f"{AT}/{number}/lineage")).json()
    [sentence] = lineage["sentences"]
    [point] = [one for one in lineage["points"] if one["point_id"] in sentence["points"]]
    let_in = lineage["sources"][point["source"]]["let_in"]
    assert (let_in["by"], let_in["number"]) == ("ann", mill)
    assert rests_on == [
        {
            "url": f"{site.origin}/mill",
            "title": lineage["sources"][0]["title"],
            "points": [point["point_id"]],
            "let_in_by": "ann",
            "approval_id": let_in["approval_id"],
            "given_by": None,
        }
    ]
    [listed] = (await ann.get(AT)).json()["workflows"]
    assert (listed["status"], listed["outcome"]) == ("completed", "done")
    assert point["quote"] == "runs nine mills in Łódź"
    messages = (await ann.get(f"{AT}/{number}/messages")).json()["messages"]
    assert {"researcher", "scraper", "analyzer", "organizer"} == {one["agent_type"] for one in messages}
    assert {hit.path for hit in site.hits} == {"/mill", "/login", "/gone"}

    made = (await ann.post(f"/api/tools/research/{number}/article", json={"headline": "Nine mills"})).json()
    assert (made["created"], made["topic"], len(made["resource_ids"])) == (True, "macro", 1)
    article = (await ann.get(f"/api/tools/articles/{made['article_id']}")).json()["article"]
    assert f"{sentence['text']}[^1]" in article["content"]
    resource = (await ann.get(f"/api/tools/resources/{made['resource_ids'][0]}")).json()["resource"]
    source = lineage["sources"][point["source"]]
    assert f"SHA-256 of its bytes: {source['sha256']}" in resource["content"]
    assert f"approval {let_in['approval_id']} of {let_in['digest']}" in resource["content"]
    again = (await ann.post(f"/api/tools/research/{number}/article", json={})).json()
    assert again == made | {"created": False}


async def test_a_decision_on_what_was_not_shown_changes_nothing(
    ann: httpx2.AsyncClient, desk: ResearchDesk, site: PageSite
) -> None:
    number = await begun(ann)
    shown = await until(ann, number, "awaiting_approval")
    for said in (
        {"decision": "approve", "digest": "0" * 64},
        {"decision": "modify", "digest": "0" * 64, "modifications": {"remove_urls": [99]}},
    ):
        answer = await ann.post(f"{AT}/{number}/approve", json=said)
        assert (answer.status_code, answer.json()["status"]) == (409, 409), answer.text
    digest = shown["approval"]["digest"]
    for said, field in (
        ({"decision": "modify"}, "modifications"),
        ({"decision": "approve", "modifications": {"remove_urls": [1]}}, "modifications"),
        ({"decision": "modify", "modifications": {"remove_urls": [99]}}, "modifications.remove_urls.0"),
        (
            {"decision": "modify", "modifications": {"add_urls": ["http://10.0.0.1/"]}},
            "modifications.add_urls",
        ),
        (
            {"decision": "modify", "modifications": {"modify_config": {"max_urls": 3}}},
            "modify_config.max_urls",
        ),
        (
            {"decision": "modify", "modifications": {"tree_edits": [{"edit": "drop", "node": "a"}]}},
            "modifications.tree_edits",
        ),
        ({"decision": "yes"}, "decision"),
        ({"decision": "reject"}, "reason"),
    ):
        answer = await ann.post(f"{AT}/{number}/approve", json=said | {"digest": digest})
        assert answer.status_code == 422, answer.text
        assert field in answer.text
    assert site.hits == []
    assert (await until(ann, number, "awaiting_approval"))["approval"]["digest"] == digest


async def test_who_changes_it_under_four_eyes_is_told_and_the_rejection_says_whose_it_was(
    config: Config, database: Database, database_url: str, site: PageSite
) -> None:
    strict = under(config, four_eyes=True, quorum=2)
    desk = ResearchDesk(strict, database)
    with served(strict, database_url) as base:
        async with (
            desk.running(),
            client(strict, base, "ann", "macro:analyst") as ann,
            client(strict, base, "bob", "macro:analyst") as bob,
            client(strict, base, "eve", "macro:analyst") as eve,
        ):
            answer = await ann.post(f"{AT}/start", json=ASKED)
            assert answer.json()["estimate_is_learnt"] is False
            number = answer.json()["workflow_id"]
            first = (await until(ann, number, "awaiting_approval"))["approval"]
            assert first["amended_by"] is None
            removed = {"remove_urls": [number_of({"approval": first}, "/secret")]}
            said = await decide(bob, number, decision="modify", digest=first["digest"], modifications=removed)
            now = (await until(bob, number, "awaiting_approval"))["approval"]
            assert (now["amended_by"], now["may_decide"], now["digest"]) == ("bob", False, said["digest"])
            assert said["message"] == (
                "bob changed the list: the changed list is shown now, and 2 other people must approve it."
            )
            blind = await eve.post(f"{AT}/{number}/approve", json={"decision": "approve"})
            assert (blind.status_code, "send the digest" in blind.text) == (409, True)
            said = await decide(eve, number, decision="approve", digest=now["digest"])
            assert said["message"] == (
                "Your yes is kept: approved by 1 of 2 so far, and another person must approve it."
            )
            barred = {"decision": "approve", "digest": now["digest"]}
            answer = await bob.post(f"{AT}/{number}/approve", json=barred)
            assert (answer.status_code, "bob asked for this, or" in answer.text) == (403, True)
            said = await decide(ann, number, decision="reject", digest=now["digest"], notes="too thin")
            assert (said["message"], said["digest"]) == ("Rejected: the research ends.", None)
            await until(ann, number, "completed")
            results = (await ann.get(f"{AT}/{number}/results")).json()
            [listed] = (await ann.get(AT)).json()["workflows"]
    assert (results["ended_by"], results["result"]["ended_at"], listed["outcome"]) == (
        "ann",
        "urls",
        "rejected",
    )
    assert site.hits == []


async def test_the_next_gate_is_not_decided_by_an_answer_without_its_digest(
    ann: httpx2.AsyncClient, desk: ResearchDesk
) -> None:
    number = await begun(ann)
    await until(ann, number, "awaiting_approval", kind="research_urls")
    await decide(ann, number, decision="approve")  # the only thing that was ever shown
    await until(ann, number, "awaiting_approval", kind="research_unreadable")
    answer = await ann.post(f"{AT}/{number}/approve", json={"decision": "approve"})
    assert answer.status_code == 409
    assert "send the digest" in answer.text


async def test_a_research_is_for_the_analysts_of_its_topic(
    ann: httpx2.AsyncClient, config: Config, base: str, desk: ResearchDesk
) -> None:
    number = await begun(ann)
    await until(ann, number, "awaiting_approval")
    async with client(config, base, "eve", "equity:admin", "macro:reader") as eve:
        for path in ("", "/messages", "/tools", "/results", "/lineage"):
            assert (await eve.get(f"{AT}/{number}{path}")).status_code == 404
        assert (await eve.post(f"{AT}/{number}/stop")).status_code == 404
        assert (await eve.post(f"{AT}/{number}/approve", json={"decision": "approve"})).status_code == 404
        assert (await eve.get(AT)).json()["workflows"] == []
        assert (await eve.post(f"{AT}/start", json=ASKED)).status_code == 403
    async with client(config, base, "bob", "macro:analyst") as bob:
        assert [one["id"] for one in (await bob.get(AT)).json()["workflows"]] == [number]
        assert (await bob.get(AT, params={"mine": True})).json()["workflows"] == []
        assert (await bob.post(f"{AT}/{number}/stop")).status_code == 403


async def test_the_same_request_is_the_same_research_and_what_is_asked_is_checked(
    ann: httpx2.AsyncClient,
) -> None:
    first = await begun(ann, request_id="mills-1")
    assert await begun(ann, request_id="mills-1") == first
    for more, field in (
        ({"request_id": "mills-1", "user_query": "How do windmills turn in summer?"}, "request_id"),
        ({"user_query": "too short"}, "user_query"),
        ({"topic": "nothing"}, "topic"),
        ({"topic": None}, "project_id"),
        ({"config": {"max_urls": 201}}, "max_urls"),
        ({"config": {"category_id": 3}}, "category_id"),
        ({"task_type": "guess"}, "task_type"),
        ({"more": 1}, "more"),
    ):
        answer = await ann.post(f"{AT}/start", json=ASKED | more)
        assert answer.status_code == 422, answer.text
        assert field in answer.text
    assert (await ann.post(f"{AT}/start", json=ASKED | {"parent_workflow_id": 99})).status_code == 404
    assert (await ann.post(f"{AT}/start", json=ASKED | {"project_id": 99})).status_code == 404
    assert [one["id"] for one in (await ann.get(AT)).json()["workflows"]] == [first]


async def test_what_is_stopped_stays_stopped(
    ann: httpx2.AsyncClient, desk: ResearchDesk, site: PageSite
) -> None:
    number = await begun(ann)
    shown = await until(ann, number, "awaiting_approval")
    answer = await ann.post(f"{AT}/{number}/stop", json={"reason": "not needed"})
    assert (answer.status_code, answer.json()["status"]) == (200, "stopped")
    found = (await ann.get(f"{AT}/{number}")).json()
    assert (found["status"], found["approval"], found["error"]) == ("stopped", None, "not needed (ann)")
    answer = await ann.post(f"/api/tools/research/{number}/article", json={})
    assert (answer.status_code, "only a completed one" in answer.text) == (409, True)
    late = {"decision": "approve", "digest": shown["approval"]["digest"]}
    assert (await ann.post(f"{AT}/{number}/approve", json=late)).status_code == 409
    assert (await ann.post(f"{AT}/{number}/stop")).status_code == 409
    assert site.hits == []


async def test_what_only_the_store_knows_is_checked_before_it_is_approved(
    ann: httpx2.AsyncClient, desk: ResearchDesk, site: PageSite
) -> None:
    number = await begun(ann, urls=[f"{site.origin}/gone"])
    shown = await until(ann, number, "awaiting_approval", kind="research_urls")
    said = {"decision": "modify", "digest": shown["approval"]["digest"]}
    tree = {"modifications": {"modify_config": {"category_id": 77}}}
    assert (await ann.post(f"{AT}/{number}/approve", json=said | tree)).status_code == 404
    await decide(ann, number, decision="approve", digest=shown["approval"]["digest"])
    shown = await until(ann, number, "awaiting_approval", kind="research_unreadable")
    gone = next(one for one in shown["approval"]["content"]["unreadable"] if one["url"].endswith("/gone"))
    said = {"decision": "modify", "digest": shown["approval"]["digest"]}
    for url, told in (
        (f"{site.origin}/mill", "approved before"),
        (f"{site.origin}/gone", "could not be read"),
    ):
        instead = {"modifications": {"instead": [{"number": gone["number"], "url": url}]}}
        answer = await ann.post(f"{AT}/{number}/approve", json=said | instead)
        assert (answer.status_code, told in answer.text) == (422, True), answer.text


async def test_that_nobody_is_asked_takes_a_person_and_a_site_where_one_is_enough(
    config: Config, base: str, database_url: str, ann: httpx2.AsyncClient
) -> None:
    unasked = ASKED | {"config": {"require_approval": False}}
    assert (await ann.post(f"{AT}/start", json=unasked)).status_code == 201
    agents = mint_token(config.auth, user="ann", scopes=["macro:analyst"], now=datetime.now(UTC))
    headers = {"Authorization": f"Bearer {agents}"}
    async with httpx2.AsyncClient(base_url=base, headers=headers, trust_env=False) as agent:
        answer = await agent.post(f"{AT}/start", json=unasked)
        assert (answer.status_code, "takes a person" in answer.text) == (403, True)
        assert (await agent.post(f"{AT}/start", json=ASKED)).status_code == 201
    strict = under(config, four_eyes=True)
    with served(strict, database_url) as other:
        async with client(strict, other, "bob", "macro:analyst") as bob:
            answer = await bob.post(f"{AT}/start", json=unasked)
            assert (answer.status_code, "has others decide" in answer.text) == (422, True)


async def test_under_a_small_plan_one_that_says_no_number_gets_as_many_as_the_plan_allows(
    configure: Callable[..., Config], config: Config, database_url: str
) -> None:
    limits = config.research.limits
    plan = limits.plans["standard"].model_copy(update={"max_urls": 5})
    small = limits.model_copy(update={"plans": {"standard": plan}})
    strict = config.model_copy(update={"research": config.research.model_copy(update={"limits": small})})
    with served(strict, database_url) as base:
        async with client(strict, base, "ann", "macro:analyst") as ann:
            assert (await ann.post(f"{AT}/start", json=ASKED)).status_code == 201
            answer = await ann.post(f"{AT}/start", json=ASKED | {"config": {"max_urls": 6}})
            assert (answer.status_code, "config.max_urls" in answer.text) == (422, True)


async def test_who_may_not_decide_is_told_so_before_his_changes_are_looked_at(
    ann: httpx2.AsyncClient, desk: ResearchDesk, config: Config, base: str
) -> None:
    number = await begun(ann)
    shown = await until(ann, number, "awaiting_approval", kind="research_urls")
    changes = {"decision": "modify", "modifications": {"remove_urls": [99]}}
    async with client(config, base, "ed", "macro:editor") as ed:
        for digest in ("0" * 64, shown["approval"]["digest"]):
            answer = await ed.post(f"{AT}/{number}/approve", json=changes | {"digest": digest})
            assert answer.status_code == 403, answer.text
