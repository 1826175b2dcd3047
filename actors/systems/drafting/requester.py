"""Whoever asked for an article, while they are not here: what is done, is done as them.

Used by the steps of drafting. Grants are looked up each time, so one that is taken away meanwhile stops the
work at its next step. All is done with what they have on the article's topic alone: what another topic
keeps from its readers is neither found nor attached, whatever else the requester may do there.
"""

from typing import Any

from actors.platform import systems
from actors.platform.runtime.run import Run
from actors.platform.search.hybrid import HybridSearch
from actors.platform.tools.registry import Registry
from models.content.articles import Article
from models.content.drafting import Finding
from models.errors import ArticleConflict, PermissionMissing
from models.people.scopes import Role
from models.people.users import UserContext
from models.runtime.event_catalogue import DraftingOutcome
from models.store.content import articles, drafting, resources
from models.store.database import Connection
from models.store.people import users

ROLE: Role = "analyst"


class Requester:
    """Who asked for `run`, an analyst of `topic`."""

    def __init__(self, *, run: Run, topic: str) -> None:
        self._run = run
        self._topic = topic
        search = HybridSearch(database=run.database, semantic=None, settings=run.config.search)
        self._registry = Registry(systems.tools(), config=run.config, database=run.database, search=search)

    async def caller(self) -> UserContext:
        """Who they are, and may do, at this moment. PermissionMissing: not what they asked for any more."""
        return await self._run.database.read(self.caller_in)

    async def caller_in(self, connection: Connection) -> UserContext:
        """The same as `caller`, in a step's own transaction."""
        caller = await users.context_of(connection, self._run.requested_by)
        if not caller.has(ROLE, self._topic):
            raise PermissionMissing(
                f"{caller.subject} asked for this research and no longer has {self._topic}:{ROLE}",
                scope=f"{self._topic}:{ROLE}",
            )
        return caller.on(self._topic)

    async def shareable(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """The findings without stored resources that another topic keeps; those are not even read."""
        stored = [finding.resource_id for finding in findings if finding.resource_id is not None]
        known: frozenset[int] = frozenset()
        if stored:
            known = await self._run.database.read(
                lambda connection: resources.of_topic(connection, stored, self._topic)
            )
        return tuple(each for each in findings if each.resource_id is None or each.resource_id in known)

    async def call(self, connection: Connection, tool: str, **arguments: Any) -> Any:
        """Call a tool in a step's own transaction; see `Registry.call` for what it raises."""
        caller = await self.caller_in(connection)
        return await self._registry.call(tool, arguments, caller=caller, door="agent", connection=connection)

    async def lock_draft(
        self, connection: Connection, article_id: int, *, version: int | None = None
    ) -> Article:
        """The draft, locked until the step ends.

        Raises:
            ArticleConflict: it is no draft any more, or not at `version`.
        """
        article = await articles.lock(connection, article_id)
        if article.status != "draft" or article.topic != self._topic:
            raise ArticleConflict(
                f"article {article_id} is {article.status} in {article.topic}: a research writes drafts of "
                f"{self._topic} only"
            )
        if version not in (None, article.version):
            raise ArticleConflict(
                f"article {article_id} was changed while its research was under way: it stays as it is, with "
                "the resources that were found"
            )
        return article

    async def tell(
        self,
        connection: Connection,
        outcome: DraftingOutcome,
        *,
        headline: str,
        article_id: int | None,
        reason: str | None = None,
    ) -> None:
        """Tell them what became of it; see `drafting.notify`."""
        await drafting.notify(
            connection,
            self._run.workflow_id,
            topic=self._topic,
            to=self._run.requested_by,
            outcome=outcome,
            article_id=article_id,
            headline=headline,
            reason=reason,
        )
