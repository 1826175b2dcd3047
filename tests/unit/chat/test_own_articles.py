"""An own article as a research's source: what readers have of it, whole, and none that only quotes others."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from actors.platform.tools.articles import ArticleDetails, GetArticleResponse
from actors.platform.tools.web import WebSearchResponse
from actors.systems.chat.agents.web_search import WebSearch
from models.content.drafting import SearchBrief
from models.content.outside import SearchHit
from models.errors import ArticleNotFound
from models.people.users import UserContext

AT = datetime(2026, 11, 27, tzinfo=UTC)
LONG = " ".join(f"The ECB left rate number {n} alone." for n in range(40))


def details(version: int, content: str, **more: Any) -> ArticleDetails:
    told: dict[str, Any] = {"status": "published", "published_version": 1, "written": "prose", **more}
    return ArticleDetails(
        id=3, topic="macro", version=version, headline="ECB waits", keywords=None, content=content,
        author="ann", written_by="ann", written_at=AT, created_at=AT, published_at=AT, resources=(),
        editor_report=None, **told,
    )  # fmt: skip


class Tools:
    """Answers a search with article 3 and a resource, and gives the article's versions."""

    def __init__(self, *versions: ArticleDetails) -> None:
        self._versions = versions

    async def call(self, name: str, arguments: dict[str, Any], *, caller: UserContext) -> Any:
        if name == "get_article":
            wanted = arguments.get("version")
            found = [one for one in self._versions if wanted in (None, one.version)]
            if not found:
                raise ArticleNotFound("there is no article 3")
            return GetArticleResponse(article=found[0])
        told: dict[str, Any] = {"url": None, "published_at": None, "source": "local"}
        article = SearchHit(title="ECB waits", snippet="The ECB", stored_as="article:3", **told)
        stored = SearchHit(title="Note", snippet="The ECB was asked.", stored_as="resource:5", **told)
        return WebSearchResponse(provider="local", results=(article, stored), note="only what is stored")


async def found_by(*versions: ArticleDetails) -> Any:
    agent: Any = WebSearch.__new__(WebSearch)
    agent._context = SimpleNamespace(tools=Tools(*versions))
    outside, publishing = SimpleNamespace(results=6), SimpleNamespace(public_url="http://site", ui_url=None)
    agent._config = SimpleNamespace(outside=outside, publishing=publishing)
    caller = UserContext(user_id=1, subject="ann", name="Ann", email="", scopes=(), role=None)
    return await agent.find(SearchBrief(caller=caller, topic="macro", query="ECB"))


async def test_it_is_read_whole_as_it_was_published_without_its_footnotes() -> None:
    newest = details(2, "Nobody has signed this off.", status="draft")
    found = await found_by(newest, details(1, f"{LONG}[^1] Nobody objected.\n\n[^1]: Minutes (resource 1)\n"))
    own, stored = found.found
    assert (own.content, own.name, own.article_id) == (f"{LONG} Nobody objected.", "ECB waits", 3)
    assert (own.url, own.resource_id) == ("http://site/api/tools/articles/3", None)
    assert (stored.resource_id, stored.article_id, stored.content) == (5, None, "The ECB was asked.")
    assert found.note == "only what is stored"


@pytest.mark.parametrize(
    "versions", [(), (details(1, "Withdrawn.", published_version=None, status="draft"),)]
)
async def test_one_that_readers_have_no_more_is_no_source(versions: tuple[ArticleDetails, ...]) -> None:
    assert [one.resource_id for one in (await found_by(*versions)).found] == [5]


async def test_one_that_only_quotes_is_no_source_and_that_is_told() -> None:
    found = await found_by(details(1, "“Minutes”: “The ECB waits.”[^1]\n\n[^1]: Minutes", written="quotes"))
    assert [one.resource_id for one in found.found] == [5]
    assert found.note == (
        "only what is stored; article 3 is put together of quotations: its own sources are to be quoted"
    )
