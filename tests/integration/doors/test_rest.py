"""The REST door: the seed's endpoints (000 §7.1), the rules of every door, and nothing undeclared."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from actors.platform import systems
from actors.systems.knowledge.parsing.page_reading import PageReading
from models.config import Config
from models.knowledge.pages import PageText, ScrapedPage
from models.people.scopes import ROLES
from models.store.database import Database
from tests.examples import examples
from tests.fakes.assistant import ScriptedAssistant
from tests.integration.doors.schemathesis_runs import schemathesis_given
from tests.integration.editorial.desk import Desk
from tests.integration.rest import client, served, token

Configure = Callable[..., Config]


@pytest.fixture
def config(configure: Configure) -> Config:
    """The configuration of the app."""
    return configure()


class NobodyFetches:
    """Agents for the tools: a scraper that reaches no page, and an index that finds nothing."""

    database_url = None

    def agent(self, role: str, *, shard: str | None = None) -> "NobodyFetches":
        """The one agent that is asked here."""
        assert role in ("scraper", "knowledge_index")
        return self

    async def scrape(self, url: str, engine: str) -> ScrapedPage:
        """A page that can't be had."""
        return ScrapedPage(url=url, fault="unreachable", reason="nothing is fetched in this test")

    async def read_text(self, page: PageText) -> PageReading:
        """A text as it is."""
        return PageReading(page=page, redacted={}, signs=None)

    async def put_source(self, source_id: int) -> int:
        """Nothing is indexed."""
        return 0

    async def search(self, project_id: int, query: str, limit: int) -> list[object]:
        """Nothing is found."""
        return []


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url, assistant=ScriptedAssistant(), agents=NobodyFetches()) as url:
        yield url


@pytest.fixture
async def analyst(config: Config, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Ann, who writes about macro."""
    async with client(config, base, "ann", "macro:analyst") as made:
        yield made


SEED = [  # seed 000 §7.1 and §6.1
    ("POST", "/api/tools/articles/search", "search_articles"),
    ("GET", "/api/tools/articles/{id}", "get_article"),
    ("POST", "/api/tools/articles/create", "create_draft_article"),
    ("POST", "/api/tools/articles/{id}/write", "write_article_content"),
    ("POST", "/api/tools/articles/{id}/submit", "submit_for_review"),
    ("POST", "/api/tools/articles/{id}/request-changes", "request_changes"),
    ("POST", "/api/tools/articles/{id}/publish", "publish_article"),
    ("POST", "/api/tools/resources/search/text", "search_text_resources"),
    ("POST", "/api/tools/resources/search/tables", "search_table_resources"),
    ("POST", "/api/tools/resources/create/text", "create_text_resource"),
    ("POST", "/api/tools/resources/create/table", "create_table_resource"),
    ("POST", "/api/tools/resources/{id}/attach", "attach_resource"),
    ("POST", "/api/tools/resources/{id}/detach", "detach_resource"),
    ("POST", "/api/tools/research/web-search", "web_search"),
    ("POST", "/api/tools/research/economic-data", "fetch_economic_data"),
    ("POST", "/api/tools/research/equity-data", "fetch_equity_data"),
    ("GET", "/api/tools/workflow/pending-approvals", "get_pending_approvals"),
    ("GET", "/api/tools/prompts/tonalities", "get_tonalities"),
    ("POST", "/api/tools/prompts/user-tonality", "set_user_tonality"),
    ("GET", "/api/tools/prompts/topic/{slug}", "get_topic_prompts"),
]


def test_the_seed_s_endpoints_are_there_and_every_tool_of_the_doors_has_one(base: str) -> None:
    described = httpx2.get(f"{base}/openapi.json", trust_env=False).json()["paths"]
    for method, path, name in SEED:
        assert described[path][method.lower()]["operationId"] == f"{name}_endpoint"
    assert set(described["/api/approvals/{id}"]) == {"get", "post"}
    for tool in systems.tools():
        if tool.route is not None:
            operation = described[tool.route.path][tool.route.method.lower()]
            assert operation["operationId"] == f"{tool.name}_endpoint"


async def test_the_answers_have_the_seed_s_fields(analyst: httpx2.AsyncClient) -> None:
    made = await analyst.post("/api/tools/articles/create", json={"topic": "macro", "headline": "H"})
    assert made.json() == {"success": True, "article_id": 1, "headline": "H", "status": "draft"}
    text = await analyst.post(
        "/api/tools/resources/create/text",
        json={"name": "Minutes", "content": "They met.", "topic": "macro", "article_id": 1},
    )
    assert text.json() == {
        "success": True,
        "resource_id": 1,
        "name": "Minutes",
        "chromadb_id": None,
        "attached_to_article": 1,
    }
    wrote = await analyst.post("/api/tools/articles/1/write", json={"content": "Words.", "resource_ids": [1]})
    answer = {"success": True, "article_id": 1, "content_length": 6, "attached_resources": [1]}
    assert answer.items() <= wrote.json().items()
    found = await analyst.post(
        "/api/tools/articles/search", json={"query": "words", "topic": "macro", "include_drafts": True}
    )
    [hit] = found.json()["articles"]
    assert {"id", "headline", "topic", "status", "author", "created_at", "similarity_score"} == set(hit)
    assert found.json()["total_count"] == 1


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("articles/create", {"topic": "macro", "headline": ""}, "headline"),
        ("articles/create", {"topic": "macro", "headline": "x" * 501}, "headline"),
        ("articles/create", {"topic": "macro", "headline": "a\u0000b"}, "headline"),
        ("articles/create", {"topic": "macro", "headline": "H", "colour": "red"}, "colour"),
        ("articles/create", {"headline": "H"}, "topic"),
        ("articles/create", {"topic": 7, "headline": "H"}, "topic"),
        ("articles/search", {"query": "x", "topic": "macro", "limit": 51}, "limit"),
        ("articles/search", {"query": "x", "topic": "macro", "limit": "many"}, "limit"),
        ("articles/1/write", {"content": None}, "content"),
        ("articles/1/write", {"content": "x", "resource_ids": [0]}, "resource_ids"),
        ("articles/99999999999999999999/write", {"content": "x"}, "id"),
        ("resources/create/text", {"name": "n", "content": "c"}, "topic"),
        (
            "resources/create/table",
            {"name": "n", "topic": "macro", "columns": ["a"], "rows": [[1, 2]]},
            "rows.0",
        ),
        ("resources/create/table", {"name": "n", "topic": "macro", "columns": [], "rows": []}, "columns"),
    ],
)
async def test_bad_input_names_the_field(
    analyst: httpx2.AsyncClient, path: str, body: dict[str, Any], field: str
) -> None:
    answer = await analyst.post(f"/api/tools/{path}", json=body)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert field in answer.json()["detail"]


async def test_a_body_that_is_not_json_or_holds_half_a_character_is_refused(
    analyst: httpx2.AsyncClient,
) -> None:
    for content in (b"{", b"[]", b"null", b'{"topic":"macro","headline":"\\ud800"}', b"\xff"):
        answer = await analyst.post(
            "/api/tools/articles/create", content=content, headers={"Content-Type": "application/json"}
        )
        assert (content, answer.status_code) == (content, 422)


async def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(
    config: Config, base: str, analyst: httpx2.AsyncClient
) -> None:
    piece = b"x" * (1024 * 1024)

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield piece

    for content in (piece * 33, endless()):
        answer = await analyst.post(
            "/api/tools/articles/create", content=content, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 413
        assert "send less" in answer.json()["detail"]


async def test_an_unknown_topic_says_which_there_are(config: Config, base: str) -> None:
    async with client(config, base, "root", "global:admin") as root:
        answer = await root.post("/api/tools/articles/create", json={"topic": "sports", "headline": "H"})
    assert answer.status_code == 422
    assert "use one of equity" in answer.json()["detail"]


async def test_drafts_take_the_role_and_asking_for_them_without_it_is_refused(
    config: Config, base: str
) -> None:
    body = {"query": "x", "topic": "macro", "include_drafts": True}
    async with client(config, base, "rita", "macro:reader", "equity:editor") as reader:
        answer = await reader.post("/api/tools/articles/search", json=body)
        assert answer.status_code == 403
        assert 'scope="macro:editor"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("role", ROLES)
async def test_the_list_of_tools_is_what_may_be_called(
    config: Config, base: str, database: Database, role: str
) -> None:
    """Listing and calling ask the same rule: what is not listed is refused for want of scope."""
    number = await Desk(database, config).with_editor()
    async with client(config, base, "pat", f"macro:{role}") as pat:
        listed = {tool["name"] for tool in (await pat.get("/api/tools")).json()}
        for tool, route in [(tool.name, tool.route) for tool in systems.tools() if tool.route]:
            numbers = dict.fromkeys(dict(route.in_path), 1) | {"id": number, "slug": "macro"}
            path = route.path.format(**numbers)
            answer = await pat.request(route.method, path, json={} if route.method == "POST" else None)
            # Without a body a permitted call is malformed, out of order, not found, or done.
            if answer.status_code != 422:
                assert (tool, answer.status_code == 403) == (tool, tool not in listed)


async def test_calling_too_often_gets_429_and_when_to_come_back(
    configure: Configure, database_url: str
) -> None:
    config = configure({"tools.rate_limits": {"get_tonalities": {"calls": 3, "per_seconds": 60}}})
    with served(config, database_url) as one, served(config, database_url) as other:
        async with (
            client(config, one, "ann", "macro:reader") as a,
            client(config, other, "ann", "macro:reader") as b,
        ):
            answers = [await c.get("/api/tools/prompts/tonalities") for c in (a, b, a, b, a)]
            assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
            assert 15 <= int(answers[-1].headers["retry-after"]) <= 21
            assert (await a.get("/api/tools/workflow/pending-approvals")).status_code == 403
        async with client(config, one, "bob", "macro:reader") as c:
            assert (await c.get("/api/tools/prompts/tonalities")).status_code == 200


async def test_the_record_of_calls_is_for_admins_of_the_topic(
    config: Config, base: str, analyst: httpx2.AsyncClient
) -> None:
    await analyst.post("/api/tools/articles/create", json={"topic": "macro", "headline": "A"})
    assert (await analyst.get("/api/audit")).status_code == 403
    async with (
        client(config, base, "moe", "macro:admin") as moe,
        client(config, base, "eli", "equity:admin") as eli,
    ):
        [call] = (await moe.get("/api/audit", params={"about": "article:1"})).json()
        assert (call["person"], call["tool"], call["door"], call["status"]) == (
            "ann", "create_draft_article", "rest", "ok",
        )  # fmt: skip
        assert (await eli.get("/api/audit")).json() == []


async def test_the_inbox_is_filtered_by_status(config: Config, base: str, database: Database) -> None:
    desk = Desk(database, config)
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    async with client(config, base, "bob", "macro:editor") as bob:
        wanted = {"pending": 1, "approved": 0, "all": 1}
        for status, count in wanted.items():
            found = await bob.get("/api/approvals", params={"status": status})
            assert (status, len(found.json())) == (status, count)
        answer = await bob.post(f"/api/approvals/{number}", json={"approved": "yes"})
        assert answer.status_code == 422
        answer = await bob.post(f"/api/approvals/{number}", json={"approved": False, "notes": " "})
        assert (answer.status_code, "reason" in answer.json()["detail"]) == (422, True)


async def test_a_publication_that_is_stopped_gives_the_article_back(
    config: Config, base: str, database: Database
) -> None:
    desk = Desk(database, config)
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    async with client(config, base, "root", "global:admin") as root:
        path = f"/api/workflows/{approval.workflow_id}/cancel"
        assert (await root.post(path, json={"reason": "wrong one"})).status_code == 200
    assert (await desk.article(number)).status == "editor"
    assert (await desk.approval(number)).status == "void"


# The live stream has no end, and its tests are elsewhere.
_CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)


@pytest.mark.timeout(900)
async def test_schemathesis_finds_no_server_error_and_no_undeclared_answer(
    config: Config, base: str, database: Database
) -> None:
    desk = Desk(database, config)
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    # One never ends, and one says with 503 what is away, as nearly all is here.
    described = schemathesis.openapi.from_url(f"{base}/openapi.json")
    schema = described.exclude(path="/api/events").exclude(path="/health/ready")
    scopes = ("global:admin", "macro:admin")
    headers = {"Authorization": f"Bearer {token(config, 'tester', *scopes)}"}
    tried = set()

    for result in schema.get_all_operations():
        operation = result.ok()

        @examples(12, suppress_health_check=list(HealthCheck), database=None)
        @schemathesis_given(operation)
        def probe(case: Any) -> None:
            answer = case.call(headers=headers)
            # Calling too often is declared, and hides everything else. So does an address on the web, which
            # can't be reached from here, or must not be.
            if answer.status_code not in (429, 502):
                case.validate_response(answer, checks=_CHECKS)
            tried.add(f"{case.method} {case.path}")

        probe()
    assert len(tried) >= 45
