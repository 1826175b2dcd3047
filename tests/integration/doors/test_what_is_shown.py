"""What is answered stays with whoever asked, and what people read holds nothing that steers or hides."""

import asyncio
from collections.abc import Callable, Iterator

import httpx2
import pytest

from models.config import Config
from models.runtime.workflows import WorkflowRequest
from models.store.content import articles
from models.store.database import Database
from models.store.runtime import workflows
from tests.integration.rest import client, served


@pytest.fixture
def config(configure: Callable[..., Config]) -> Config:
    """The configuration of the app."""
    return configure()


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url) as url:
        yield url


async def test_no_cache_keeps_an_answer_and_no_browser_guesses_its_type(config: Config, base: str) -> None:
    async with client(config, base, "ann", "macro:analyst") as ann:
        stranger = httpx2.AsyncClient(base_url=base, trust_env=False)
        async with stranger:
            answers = await asyncio.gather(
                *(
                    ann.get(path)
                    for path in ("/api/me", "/api/nowhere", "/api/approvals", "/v1/models", "/health")
                ),
                ann.post("/api/chat", content=b"{"),
                stranger.get("/api/me"),
            )
    for answer in answers:
        assert (answer.headers["cache-control"], answer.headers["x-content-type-options"]) == (
            "no-store", "nosniff",
        ), answer.url  # fmt: skip


@pytest.mark.parametrize("mark", ["\x1b[2J", "\u202e", "\u200b", "\u2028", "\u3164", "\ufe0f"])
async def test_who_writes_to_be_read_by_others_hides_nothing(config: Config, base: str, mark: str) -> None:
    shown = f"Rates{mark} held"
    async with client(config, base, "ann", "macro:analyst") as ann:
        for path, body, field in (
            ("/api/tools/articles/create", {"topic": "macro", "headline": shown}, "headline"),
            (
                "/api/tools/articles/create",
                {"topic": "macro", "headline": "x", "keywords": shown},
                "keywords",
            ),
            ("/api/tools/resources/create/text", {"name": shown, "topic": "macro", "text": "t"}, "name"),
            ("/api/tools/projects", {"topic": "macro", "name": shown}, "name"),
            ("/api/operations", {"topic": "macro", "query": shown}, "query"),
            ("/api/v1/agent-workflows/start", {"topic": "macro", "user_query": shown}, "user_query"),
        ):
            refused = await ann.post(path, json=body)
            assert refused.status_code == 422, refused.text
            assert f"U+{ord(mark[0]):04X}" in refused.json()["detail"]
            assert field in refused.json()["detail"]


async def test_an_operation_is_called_as_its_question_is_seen(config: Config, base: str) -> None:
    asked = "Ile mamy\nniezapłaconych rachunków 👩\u200d👩\u200d👧?"
    async with client(config, base, "ann", "macro:analyst") as ann:
        begun = await ann.post("/api/operations", json={"topic": "macro", "query": asked})
        assert begun.status_code == 201, begun.text
        [listed] = (await ann.get("/api/operations")).json()["operations"]
    assert listed["name"] == "Ile mamy niezapłaconych rachunków 👩\u200d👩\u200d👧?"


async def test_a_headline_that_a_model_wrote_is_kept_as_it_is_seen(database: Database) -> None:
    async with database.transaction() as connection:
        made = await articles.create(
            connection, topic="macro", headline="Rates\u202e\x1b[2J\nheld", keywords=None, author="ann"
        )
        assert (await articles.get_version(connection, made.id, 1)).headline == "Rates [2J held"
        _, written = await articles.write(connection, made.id, by="ann", headline="Up\u2066")
        assert written.headline == "Up"


async def test_a_reader_can_not_try_whether_he_guesses_an_input(
    config: Config, database: Database, base: str
) -> None:
    async with database.transaction() as connection:
        request = WorkflowRequest(kind="editorial", input={"a": 1}, input_digest="d1", requested_by="ann")
        number = (await workflows.create(connection, request)).id
    for role, digest in (("reader", ""), ("editor", "d1")):
        async with client(config, base, "rita", f"global:{role}") as asking:
            for found in (
                (await asking.get(f"/api/workflows/{number}")).json(),
                (await asking.get("/api/workflows")).json()[0],
            ):
                assert found["input_digest"] == digest
