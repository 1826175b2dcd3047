"""Edited articles become drafts of the article lifecycle, and their publication is asked for.

Called by the editorial batch. One draft per editorial workflow, whichever batch edited it, so that
submitting again drafts nothing twice. A batch has no token: whoever may submit jobs may draft with it,
and a human still decides on every publication.
"""

from psycopg.errors import UniqueViolation

from models.articles import Article, findings_of
from models.config import Config
from models.editorial import ArticleGenerationResult
from models.errors import TopicUnknown
from models.store import articles, publishing
from models.store.database import Database


class Drafts:
    """Where a batch's articles go: into `topic`, a subject area of the site, asked for by its submitter."""

    def __init__(self, *, config: Config, database: Database, topic: str, submitter: str) -> None:
        if topic not in config.publishing.topics:
            known = ", ".join(config.publishing.topics)
            raise TopicUnknown(
                f"--draft-in: there is no topic {topic!r} in publishing.topics: use one of {known}"
            )
        self._settings = config.publishing
        self._database = database
        self._topic = topic
        self._submitter = submitter
        self._made: dict[str, int] = {}

    async def file(self, name: str, workflow_id: str, result: ArticleGenerationResult | None) -> str | None:
        """Make a draft of an edited article, its report with it; a line that says so, or None without one."""
        if result is None or result.article is None:
            return None
        article, fresh = await self._database.steadily(lambda: self._draft(workflow_id, result))
        self._made[name] = article.id
        return f"article {article.id}, {'a new draft' if fresh else f'drafted before, {article.status}'}"

    async def _draft(self, workflow_id: str, result: ArticleGenerationResult) -> tuple[Article, bool]:
        edited = result.article
        assert edited is not None, "only an edited article is drafted"
        try:
            async with self._database.transaction() as connection:
                if found := await articles.drafted_by(connection, workflow_id):
                    return found, False
                made = await articles.create(
                    connection,
                    topic=self._topic,
                    headline=edited.headline[:500],
                    keywords=None,
                    author=self._submitter,
                    content=edited.articleBody,
                    editor_report=findings_of(result),
                    drafted_by=workflow_id,
                )
                return made, True
        except UniqueViolation:
            # Another batch, or our own attempt whose answer was lost.
            async with self._database.connection() as connection:
                drafted = await articles.drafted_by(connection, workflow_id)
            assert drafted is not None, "it was there a moment ago"
            return drafted, False

    async def request_publication(self, at_most: int | None) -> list[str]:
        """Ask for the publication of the drafts, by name, that nobody has taken further; a line for each.

        With `at_most`, those that wait already count.
        """
        lines: list[str] = []
        room = len(self._made) if at_most is None else at_most
        async with self._database.connection() as connection:
            found = {name: await articles.get(connection, n) for name, n in sorted(self._made.items())}
        room -= sum(article.status == "pending_approval" for article in found.values())
        for name, article in found.items():
            if room > 0 and article.status == "draft" and article.published_version is None:
                lines.append(f"{name}: {await self._ask(article.id)}")
                room -= 1
        return lines

    async def _ask(self, article_id: int) -> str:
        async with self._database.transaction() as connection:
            await publishing.submit(connection, article_id, by=self._submitter)
            _, approval, _ = await publishing.ask(
                connection,
                article_id,
                by=self._submitter,
                editor_notes="Drafted by the editorial desk.",
                settings=self._settings,
                permission=None,
            )
        return f"article {article_id} waits for approval {approval.id}"
