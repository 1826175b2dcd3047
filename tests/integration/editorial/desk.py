"""What the tests of articles share: people with scopes who call tools, and articles to call them on."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from actors.platform import systems
from actors.platform.tools.registry import Registry
from models.config import Config
from models.content.articles import Article, ArticleStatus
from models.people.scopes import read_scopes
from models.people.users import Identity, UserContext
from models.runtime.approvals import Approval
from models.store import approval_inbox
from models.store.content import articles
from models.store.database import Database
from models.store.people import users
from tests.integration.workflows import ended


class NoSearch:
    """Finds nothing: for tests that search for nothing."""

    async def articles(self, query: str, **how: Any) -> Any:
        """No articles."""
        return SimpleNamespace(items=(), total=0, note=None)

    async def resources(self, query: str, **how: Any) -> Any:
        """No resources."""
        return SimpleNamespace(items=(), total=0, note=None)


class Desk:
    """The tools, as people use them."""

    def __init__(self, database: Database, config: Config) -> None:
        self.database = database
        self.config = config
        self.registry = Registry(systems.tools(), config=config, database=database, search=NoSearch())

    async def person(self, name: str, *scopes: str, at: datetime | None = None) -> UserContext:
        """Somebody who comes with a token that holds `scopes`."""
        now = at or datetime.now(UTC)
        identity = Identity(
            subject=name,
            name=name.capitalize(),
            email=f"{name}@example.com",
            scopes=read_scopes(scopes),
            issued_at=now,
            expires_at=now + timedelta(hours=1),
            decides=True,
        )
        async with self.database.connection() as connection:
            return await users.seen(
                connection, identity, grants_last_seconds=self.config.auth.grants_last_seconds
            )

    async def call(self, who: UserContext, tool: str, **arguments: Any) -> Any:
        """Call a tool."""
        return await self.registry.call(tool, arguments, caller=who, door="rest")

    async def article(self, article_id: int) -> Article:
        """An article as it is now."""
        async with self.database.connection() as connection:
            return await articles.get(connection, article_id)

    async def approval(self, article_id: int) -> Approval:
        """The newest request about an article."""
        async with self.database.connection() as connection:
            return (await approval_inbox.about(connection, f"article:{article_id}"))[0]

    async def with_editor(self, topic: str = "macro", content: str = "The Fed held rates.") -> int:
        """An article that was drafted, written and submitted."""
        ann = await self.person("ann", f"{topic}:analyst")
        made = await self.call(ann, "create_draft_article", topic=topic, headline="The Fed holds")
        await self.call(ann, "write_article_content", article_id=made.article_id, content=content)
        await self.call(ann, "submit_for_review", article_id=made.article_id)
        return int(made.article_id)

    async def decide(self, who: UserContext, approval: Approval, decision: str, **more: Any) -> Any:
        """Decide an approval by the digest it shows."""
        return await self.call(
            who,
            "decide_approval",
            approval_id=approval.id,
            decision=decision,
            **{"digest": approval.digest, **more},
        )


async def settled(desk: Desk, article_id: int, *statuses: ArticleStatus) -> None:
    """Wait until nobody works on its publication any more; then the article has one of `statuses`."""
    approval = await desk.approval(article_id)
    await ended(desk.database, approval.workflow_id)
    assert (await desk.article(article_id)).status in statuses
