"""Limits of a research: where one is used up, or work fails, it ends with what it has, and says so."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import actors.systems.research.tree_steps as organizing
from models.config import Config
from models.errors import InputInvalid
from models.research.agent_workflows import AgentWorkflow
from models.runtime.workflows import Workflow
from models.store.database import Database
from models.store.research import spending
from tests.fakes.model.model_server import ModelServer, Rule
from tests.fakes.outside.page_site import PageSite
from tests.fakes.outside.search_providers import SearchServer
from tests.integration.research.breaking_off import break_off_after_each
from tests.integration.research.mill_site import FOUND, NOTHING
from tests.integration.research.research_desk import ResearchDesk, desk_config
from tests.integration.research.test_tree_tools import call

_WARM = {"statement": "Warm water keeps ice off.", "quote": "kept free of ice by warm water"}
MELTED = json.dumps(json.loads(NOTHING) | {"facts": [_WARM | {"sentence": 1, "score": 0.9}]})


@pytest.fixture
def limited(
    database: Database, configure: Callable[..., Config], model: ModelServer, search: SearchServer
) -> Callable[..., ResearchDesk]:
    """Make a desk whose plan has these limits, and room for much else."""
    model.script(
        Rule(contains="founded in 1871", reply=FOUND),
        Rule(contains="kept free of ice", reply=MELTED),
        Rule(contains="Extract as one", reply=NOTHING),
    )
    config = desk_config(configure, model.base_url, search.url)

    def make(**limits: Any) -> ResearchDesk:
        plan = config.research.limits.plans["standard"].model_copy(update=limits)
        plans = config.research.limits.model_copy(update={"plans": {"standard": plan}})
        research = config.research.model_copy(update={"limits": plans})
        return ResearchDesk(config.model_copy(update={"research": research}), database)

    return make


@pytest.fixture(params=["at one go", "broken off"])
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of what was kept: none where it is done at one go; else it is broken off after each of them."""
    return break_off_after_each(monkeypatch) if request.param == "broken off" else []


class Failing:
    """An agent whose verb raises for what is marked, and its other verbs."""

    def __init__(self, agent: Any, verb: str, fails: Callable[..., bool], error: Exception) -> None:
        self._agent = agent
        self._verb = verb
        self._fails = fails
        self._error = error
        self.failures = 0

    def __getattr__(self, verb: str) -> Any:
        return self._guarded if verb == self._verb else getattr(self._agent, verb)

    async def _guarded(self, *given: Any, **more: Any) -> Any:
        if self._fails(*given):
            self.failures += 1
            raise self._error
        return await getattr(self._agent, self._verb)(*given, **more)


def only(shown: dict[str, Any], *paths: str) -> dict[str, Any]:
    """The list with these pages alone, in this order, one read after the other."""
    urls = [next(url for url in shown["urls"] if url["url"].endswith(path)) for path in paths]
    return shown | {"urls": urls, "config": shown["config"] | {"scrape_parallel": False}}


async def admitted(desk: ResearchDesk, *paths: str, **request: Any) -> AgentWorkflow:
    """A research whose list was approved with these pages alone."""
    research = await desk.start(**request)
    shown = await desk.gate(research)
    await desk.amend(shown, only(shown.content, *paths))
    return research


def came_to(done: Workflow) -> dict[str, Any]:
    """The result, with paths for pages, and names for what else was left."""
    assert (done.status, done.error) == ("succeeded", None)
    assert done.result is not None
    missing = {"/" + one["url"].rpartition("/")[2]: one["fault"] for one in done.result["missing"]}
    left = [(one["what"], one["name"], one["limit"]) for one in done.result["left"]]
    keys = ("outcome", "pages", "points", "limit")
    return {key: done.result[key] for key in keys} | {"missing": missing, "left": left}


async def test_the_list_is_no_longer_than_the_plan_and_what_comes_in_place_of_others_counts(
    limited: Callable[..., ResearchDesk], site: PageSite
) -> None:
    desk = limited(max_urls=2)
    async with desk.running():
        research = await desk.start()
        shown = await desk.gate(research)
        assert len(shown.content["urls"]) == 2
        await desk.reject(shown)
        urls = [f"{site.origin}/mill", f"{site.origin}/login"]
        research = await desk.start(task_type="scrape", urls=urls)
        await desk.approve(await desk.gate(research))
        blocked = await desk.gate(research)
        [login] = blocked.content["unreadable"]
        instead = [{"number": login["number"], "url": f"{site.origin}/ice", "pasted": None}]
        await desk.amend(blocked, blocked.content | {"instead": instead})
        done = await desk.ended(research)
    assert came_to(done) == {
        "outcome": "done",
        "pages": 1,
        "points": 1,
        "limit": "max_urls",
        "missing": {"/login": "login", "/ice": "max_urls"},
        "left": [],
    }
    assert [one["reason"] for one in (done.result or {})["missing"]][1] == "max_urls is used up: 2 of 2"
    assert {hit.path for hit in site.hits} == {"/mill", "/login"}


async def test_more_in_place_of_others_than_the_plan_has_room_for_is_refused_at_once(
    limited: Callable[..., ResearchDesk], site: PageSite
) -> None:
    desk = limited(max_urls=2)
    async with desk.running():
        urls = [f"{site.origin}/mill", f"{site.origin}/login"]
        research = await desk.start(task_type="scrape", urls=urls)
        await desk.approve(await desk.gate(research))
        blocked = await desk.gate(research)
        [login] = blocked.content["unreadable"]
        instead = [{"number": login["number"], "url": f"{site.origin}/ice"}]
        said = {"decision": "modify", "digest": blocked.digest, "modifications": {"instead": instead}}
        with pytest.raises(InputInvalid, match=r"3 addresses would be asked for in all, .* allows 2"):
            await call(desk, "decide_research", workflow_id=research.id, **said)
        assert await desk.gate(research) == blocked


async def test_a_list_that_was_approved_with_more_is_read_as_far_as_the_plan_goes(
    limited: Callable[..., ResearchDesk], site: PageSite
) -> None:
    async with limited(max_urls=4).running():
        desk = limited(max_urls=4)
        research = await desk.start()
        shown = await desk.gate(research)
    desk = limited(max_urls=1)
    async with desk.running():
        await desk.amend(shown, only(shown.content, "/mill", "/ice"))
        done = await desk.ended(research)
    assert (came_to(done)["missing"], came_to(done)["limit"]) == ({"/ice": "max_urls"}, "max_urls")
    assert {hit.path for hit in site.hits} == {"/mill"}


async def test_once_all_calls_are_used_up_no_further_source_is_extracted(
    limited: Callable[..., ResearchDesk], kept: list[str]
) -> None:
    desk = limited(max_tool_calls=4)  # the search, two pages, one source
    async with desk.running():
        done = await desk.ended(await admitted(desk, "/mill", "/ice"))
    assert came_to(done) == {
        "outcome": "nothing_written",
        "pages": 2,
        "points": 1,
        "limit": "max_tool_calls",
        "missing": {},
        "left": [
            ("source", "Ice on wheels", "max_tool_calls"),
            ("section", "It has nine mills.", "max_tool_calls"),
        ],
    }
    assert [one["reason"] for one in (done.result or {})["left"]] == ["max_tool_calls is used up: 4 of 4"] * 2
    assert len(kept) == len(set(kept))


async def test_which_limit_left_a_source_is_known_though_nothing_comes_after_it(
    limited: Callable[..., ResearchDesk], site: PageSite, kept: list[str]
) -> None:
    desk = limited(max_tool_calls=3)
    async with desk.running():
        urls = [f"{site.origin}/mill", f"{site.origin}/ice"]
        research = await desk.start(task_type="scrape", urls=urls)
        await desk.approve(await desk.gate(research))
        found = came_to(await desk.ended(research))
    assert (found["outcome"], found["pages"], found["limit"]) == ("nothing_extracted", 2, "max_tool_calls")
    assert {(what, limit) for what, _, limit in found["left"]} == {("source", "max_tool_calls")}
    assert len(kept) == len(set(kept))


async def test_what_was_extracted_is_shown_at_the_gates_though_nothing_more_may_be_written(
    limited: Callable[..., ResearchDesk], kept: list[str]
) -> None:
    desk = limited(max_tool_calls=5)  # the search, two pages, two sources
    namer = Failing(desk.agents["organizer"], "name", lambda *_: True, ValueError("it costs tokens"))
    desk.agents["organizer"] = namer
    async with desk.running():
        research = await admitted(desk, "/mill", "/ice", task_type="full_pipeline")
        tree = await desk.gate(research)
        assert tree.kind == "research_tree"
        await desk.approve(tree)
        result = await desk.gate(research)
        assert result.kind == "research_result"
        sections = result.content["synthesis"]["sections"]
        assert {section["left"]["limit"] for section in sections} == {"max_tool_calls"}
        await desk.approve(result)
        done = await desk.ended(research)
    found = came_to(done)
    assert (found["outcome"], found["points"], found["limit"]) == ("nothing_written", 2, "max_tool_calls")
    assert {what for what, _, _ in found["left"]} == {"section"}
    assert (done.result or {})["tree_id"] is not None
    calls = await desk.rows("SELECT DISTINCT split_part(step, '/', 1) AS step FROM model_calls")
    assert [call["step"] for call in calls] == ["source"]
    assert len(kept) == len(set(kept))


async def test_once_all_tokens_are_used_up_no_model_is_asked_again(
    limited: Callable[..., ResearchDesk], kept: list[str]
) -> None:
    desk = limited(max_llm_tokens=1)
    async with desk.running():
        done = await desk.ended(await admitted(desk, "/mill", "/ice"))
    found = came_to(done)
    assert (found["points"], found["limit"]) == (1, "max_llm_tokens")
    assert [what for what, _, limit in found["left"] if limit == "max_llm_tokens"] == ["source", "section"]
    calls = await desk.rows("SELECT step FROM model_calls")
    assert len(calls) == 1
    said = await desk.rows("SELECT content, reasoning FROM agent_messages WHERE step = 'extract_knowledge'")
    assert said[0]["content"] == "1 point is known from 1 of 2 sources"
    assert "Ice on wheels was left: max_llm_tokens is used up" in said[0]["reasoning"]


async def test_once_its_time_is_used_up_no_page_is_fetched_and_nobody_is_asked_about_them(
    limited: Callable[..., ResearchDesk], site: PageSite
) -> None:
    desk = limited(max_duration_seconds=1e-6)
    async with desk.running():
        research = await admitted(desk, "/mill", "/ice")
        done = await desk.ended(research)
    assert came_to(done) == {
        "outcome": "nothing_read",
        "pages": 0,
        "points": 0,
        "limit": "max_duration_seconds",
        "missing": {"/mill": "max_duration_seconds", "/ice": "max_duration_seconds"},
        "left": [],
    }
    assert site.hits == []


async def test_time_is_that_of_tools_and_models_and_not_what_it_waited(
    limited: Callable[..., ResearchDesk],
) -> None:
    desk = limited()
    async with desk.running():
        research = await admitted(desk, "/mill")
        await desk.ended(research)
    await desk.rows(
        "UPDATE workflows SET created_at = created_at - interval '3 weeks' WHERE id = %s RETURNING id",
        research.workflow_id,
    )
    await desk.rows("UPDATE workflow_tools SET duration_ms = 1500 RETURNING id")
    await desk.rows("UPDATE model_calls SET latency_seconds = 0 RETURNING id")
    await desk.rows(
        """UPDATE model_calls SET latency_seconds = 2, prompt_tokens = 30, completion_tokens = 12
           WHERE step LIKE 'source/%%' RETURNING id"""
    )
    async with desk.database.connection() as connection:
        spent = await spending.so_far(connection, research)
    # A search and a page; the only model call that has tokens here.
    assert spent.seconds == 5.0
    assert spent.tokens >= 42


async def test_what_was_left_stays_so_when_the_plan_has_more_room_and_what_follows_is_done(
    limited: Callable[..., ResearchDesk], site: PageSite
) -> None:
    desk = limited(max_tool_calls=3)
    async with desk.running():
        research = await admitted(desk, "/login", "/mill", "/ice")
        blocked = await desk.gate(research)
    # Nobody is asked about the page that was left.
    assert [one["fault"] for one in blocked.content["unreadable"]] == ["login"]
    roomy = limited(max_tool_calls=500)
    async with roomy.running():
        await roomy.approve(blocked)
        done = await roomy.ended(research)
    found = came_to(done)
    assert (found["outcome"], found["pages"], found["points"]) == ("done", 1, 1)
    assert (found["missing"], found["limit"]) == (
        {"/login": "login", "/ice": "max_tool_calls"},
        "max_tool_calls",
    )
    assert "/ice" not in {hit.path for hit in site.hits}


async def test_a_source_that_fails_is_left_and_the_rest_goes_on(
    limited: Callable[..., ResearchDesk], kept: list[str]
) -> None:
    desk = limited()
    extraction = desk.config.knowledge.extraction.model_copy(update={"chunk_tokens": 64})
    knowledge = desk.config.knowledge.model_copy(update={"extraction": extraction})
    desk.config = desk.config.model_copy(update={"knowledge": knowledge})

    def fails(title: str, url: str, text: str, start: int) -> bool:
        return url.endswith("/ice") and start > 0

    failing = Failing(desk.agents["extractor"], "extract", fails, ValueError("bad text"))
    desk.agents["extractor"] = failing
    async with desk.running():
        done = await desk.ended(await admitted(desk, "/ice", "/mill"))
    found = came_to(done)
    assert (found["outcome"], found["limit"], found["missing"]) == ("done", None, {})
    assert found["points"] >= 1
    assert found["left"] == [("source", "Ice on wheels", None)]
    assert "ValueError: bad text" in (done.result or {})["left"][0]["reason"]
    points = await desk.rows("SELECT DISTINCT url FROM research_points")
    assert [point["url"].rpartition("/")[2] for point in points] == ["mill"]
    # Some of its chunks were read, and the failure was kept: it is not tried again by each run.
    chunks = await desk.rows("SELECT count(*) AS n FROM documents WHERE key LIKE 'source/%%/chunk/%%'")
    assert chunks[0]["n"] >= 3
    if kept:
        assert len(kept) == len(set(kept))
        assert any(key.endswith("/left") for key in kept)


async def test_where_each_source_fails_the_outcome_says_so(limited: Callable[..., ResearchDesk]) -> None:
    desk = limited()
    error = ValueError("bad text")
    desk.agents["extractor"] = Failing(desk.agents["extractor"], "extract", lambda *_: True, error)
    async with desk.running():
        done = await desk.ended(await admitted(desk, "/mill", "/ice", task_type="full_pipeline"))
    found = came_to(done)
    assert (found["outcome"], found["pages"], found["points"]) == ("nothing_extracted", 2, 0)
    assert len(found["left"]) == 2


async def test_a_page_that_the_scraper_fails_on_is_told_as_one_that_cannot_be_read(
    limited: Callable[..., ResearchDesk],
) -> None:
    desk = limited()
    async with desk.running():
        error = RuntimeError("no such engine")
        desk.agents["scraper"] = Failing(
            desk.agents["scraper"], "scrape", lambda url, *_: url.endswith("/ice"), error
        )
        research = await admitted(desk, "/mill", "/ice")
        blocked = await desk.gate(research)
        [ice] = blocked.content["unreadable"]
        assert (ice["fault"], ice["reason"].partition(" (")[0]) == ("error", "RuntimeError: no such engine")
        await desk.approve(blocked)
        found = came_to(await desk.ended(research))
    assert (found["outcome"], found["pages"], found["missing"]) == ("done", 1, {"/ice": "error"})


async def test_a_section_that_fails_is_left_and_the_others_are_approved(
    limited: Callable[..., ResearchDesk], kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = organizing.standing

    def failing(text: str, spans: Any) -> Any:
        if "free of ice" in text:
            raise ValueError("no sentence ends")
        return standing(text, spans)

    monkeypatch.setattr(organizing, "standing", failing)
    desk = limited()
    async with desk.running():
        research = await admitted(desk, "/mill", "/ice", task_type="full_pipeline")
        shown = await desk.gate(research)
        points = sorted(point for node in shown.content["tree"]["nodes"] for point in node["points"])
        nodes = [
            {"id": f"n{place}", "position": place, "name": f"Node {place}", "named_by": "person"}
            | {"parent": None, "points": [point]}
            for place, point in enumerate(points)
        ]
        assert len(nodes) == 2
        tree = shown.content["tree"] | {"nodes": nodes, "relations": []}
        await desk.amend(shown, shown.content | {"tree": tree, "examples": {}})
        result = await desk.gate(research)
        written, left = result.content["synthesis"]["sections"]
        assert (written["left"], len(written["sentences"])) == (None, 1)
        assert (left["left"]["name"], left["sentences"]) == ("Node 1", [])
        await desk.approve(result)
        done = await desk.ended(research)
    found = came_to(done)
    assert (found["outcome"], found["limit"]) == ("done", None)
    assert found["left"] == [("section", "Node 1", None)]
    assert "ValueError: no sentence ends" in (done.result or {})["left"][0]["reason"]
    assert len(kept) == len(set(kept))
